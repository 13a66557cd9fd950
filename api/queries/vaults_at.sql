-- list: deployment at after limit owner market state
-- Vaults as of a ledger, by key. Keys are those of now and those that went since. What did not change since N is
-- as it is now, and only the rest is looked up in history.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
v AS (
  (SELECT s.key_hash, h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM state.synthetic_engine_vault AS s LEFT JOIN m ON m.symbol = s.synth_asset, LATERAL (
    SELECT s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger, s.closed_at
    WHERE s.ledger <= $2
    UNION ALL
    SELECT h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger, h.closed_at
    FROM (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = s.key_hash AND h.ledger <= $2 AND s.ledger > $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE NOT h.removed
  ) AS h
  WHERE s.deployment = $1 AND ($5::text IS NULL OR s.owner = $5) AND ($6::text IS NULL OR s.synth_asset = $6)
    AND ($3::text IS NULL OR s.key_hash > decode($3, 'hex'))
    AND ($7::text IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY s.key_hash LIMIT $4::integer)
  UNION ALL
  (SELECT g.key_hash, h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM (SELECT DISTINCT h.key_hash FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS g,
    LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = g.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h LEFT JOIN m ON m.symbol = h.synth_asset
  WHERE NOT h.removed AND ($5 IS NULL OR h.owner = $5) AND ($6 IS NULL OR h.synth_asset = $6)
    AND NOT EXISTS (SELECT FROM state.synthetic_engine_vault AS s WHERE s.deployment = $1 AND s.key_hash = g.key_hash)
    AND ($3 IS NULL OR g.key_hash > decode($3, 'hex'))
    AND ($7 IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY g.key_hash LIMIT $4)
)
SELECT row_to_json(x)::text, encode(v.key_hash, 'hex')
-- part: vault_item
ORDER BY v.key_hash
LIMIT $4
