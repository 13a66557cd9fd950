-- list: deployment at after limit owner market state sort
-- Vaults as of a ledger, by key. Keys are those of now and those that went since. What did not change since N is
-- as it is now, and only the rest is looked up in history. When the next 2000 keys do not fill the page (few vaults are
-- in that state), what did not change is looked for where such vaults can stand (chain.vault_range), and what changed
-- one by one, or the whole history up to N is read once, whichever is less (a probe costs as much as 8 rows read).
-- With sort, what did not change since N comes in the order of its index, and what changed is looked up and sorted.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
a AS (
  SELECT split_part($3::text, '.', 1) AS symbol, CASE WHEN $8::text IS NOT NULL THEN nullif(split_part($3, '.', 2), '')::numeric END AS rank,
    CASE WHEN $8 = 'risk' THEN nullif(split_part($3, '.', 2), '')::bigint END AS place,
    CASE WHEN $8 IS NOT NULL THEN decode(split_part($3, '.', 3) || '=', 'base64') END AS key
), near AS MATERIALIZED (
  SELECT v.* FROM (SELECT * FROM state.synthetic_engine_vault AS s
    WHERE $8 IS NULL AND s.deployment = $1 AND ($5::text IS NULL OR s.owner = $5) AND ($6::text IS NULL OR s.synth_asset = $6)
      AND ($3::text IS NULL OR s.key_hash > decode($3, 'hex'))
    ORDER BY s.key_hash LIMIT 2000) AS s,
    LATERAL (
      SELECT s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger, s.closed_at
      WHERE s.ledger <= $2
      UNION ALL
      SELECT h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger, h.closed_at
      FROM (SELECT * FROM history.synthetic_engine_vault AS h
        WHERE h.deployment = $1 AND h.key_hash = s.key_hash AND h.ledger <= $2 AND s.ledger > $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
      WHERE NOT h.removed
    ) AS h LEFT JOIN m ON m.symbol = h.synth_asset, LATERAL (SELECT s.key_hash, h.*) AS v
  WHERE ($7::text IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  LIMIT $4::integer
), edge AS MATERIALIZED (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE $8 IS NULL AND (SELECT count(*) FROM near) < $4 AND s.deployment = $1 AND ($5 IS NULL OR s.owner = $5)
    AND ($6 IS NULL OR s.synth_asset = $6) AND ($3 IS NULL OR s.key_hash > decode($3, 'hex'))
  ORDER BY s.key_hash OFFSET 2000 LIMIT 1
), whole AS MATERIALIZED (
  SELECT FROM edge WHERE CASE WHEN edge.key_hash IS NOT NULL THEN NOT EXISTS (
      SELECT FROM history.synthetic_engine_vault AS h WHERE h.deployment = $1 AND h.ledger <= $2
      OFFSET (SELECT 8 * count(*) FROM state.synthetic_engine_vault AS s
        WHERE s.deployment = $1 AND s.ledger > $2 AND ($6 IS NULL OR s.synth_asset = $6))) END
), place AS MATERIALIZED (
  SELECT k.symbol, m.liq_ratio, m.min_coll_ratio, m.collateral_price, m.synth_price, p.low, p.high
  FROM (
      SELECT c.symbol FROM state.synthetic_engine_asset_config AS c WHERE c.deployment = $1
      UNION
      SELECT h.symbol FROM history.synthetic_engine_asset_config AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
    ) AS k
    LEFT JOIN m ON m.symbol = k.symbol,
    LATERAL chain.vault_range($7::text, m.liq_ratio, m.min_coll_ratio, m.collateral_price, m.synth_price) AS g,
    LATERAL (SELECT 0::bigint AS low, 100000000000::bigint AS high WHERE $7 IS NULL
      UNION ALL SELECT p.low, p.high FROM (VALUES (0::bigint, 0::bigint), (g.low, g.high)) AS p(low, high)
        WHERE $7 IS NOT NULL AND p.low <= p.high) AS p
  WHERE ($6 IS NULL OR k.symbol = $6) AND ($7 IS NULL OR $7 IN ('open', 'unpriced')
    OR m.liq_ratio IS NOT NULL AND m.collateral_price IS NOT NULL AND m.synth_price IS NOT NULL)
), v AS (
  SELECT * FROM near WHERE NOT EXISTS (SELECT FROM whole)
  UNION ALL
  (SELECT s.key_hash, s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger,
    s.closed_at
  FROM place AS m JOIN state.synthetic_engine_vault AS s
    ON s.synth_asset = m.symbol AND chain.vault_order(s.collateral, s.debt) BETWEEN m.low AND m.high
  WHERE EXISTS (SELECT FROM edge) AND NOT EXISTS (SELECT FROM whole) AND s.deployment = $1 AND s.ledger <= $2
    AND ($5 IS NULL OR s.owner = $5) AND s.key_hash >= (SELECT edge.key_hash FROM edge)
    AND ($7 IS NULL OR chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY s.key_hash LIMIT $4)
  UNION ALL
  (SELECT g.key_hash, h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM (SELECT DISTINCT h.key_hash FROM history.synthetic_engine_vault AS h
      WHERE $8 IS NULL AND NOT EXISTS (SELECT FROM whole) AND h.deployment = $1 AND h.removed AND h.ledger > $2) AS g,
    LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = g.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h LEFT JOIN m ON m.symbol = h.synth_asset
  WHERE $8 IS NULL AND NOT h.removed AND ($5 IS NULL OR h.owner = $5) AND ($6 IS NULL OR h.synth_asset = $6)
    AND NOT EXISTS (SELECT FROM state.synthetic_engine_vault AS s WHERE s.deployment = $1 AND s.key_hash = g.key_hash)
    AND ($3 IS NULL OR g.key_hash > decode($3, 'hex'))
    AND ($7 IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY g.key_hash LIMIT $4)
  UNION ALL
  (SELECT h.key_hash, h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM (
      (SELECT DISTINCT ON (h.key_hash) h.key_hash, h.synth_asset, h.collateral, h.debt, h.ledger, h.tx, h.seq, h.removed
      FROM history.synthetic_engine_vault AS h
      WHERE $8 IS NULL AND EXISTS (SELECT FROM whole) AND h.deployment = $1 AND h.ledger <= $2
        AND ($3 IS NULL OR h.key_hash > decode($3, 'hex'))
      ORDER BY h.key_hash, h.ledger DESC, h.tx DESC, h.seq DESC)
      UNION ALL
      SELECT h.key_hash, h.synth_asset, h.collateral, h.debt, h.ledger, h.tx, h.seq, h.removed
      FROM (SELECT s.key_hash FROM state.synthetic_engine_vault AS s
          WHERE EXISTS (SELECT FROM edge) AND NOT EXISTS (SELECT FROM whole) AND s.deployment = $1 AND s.ledger > $2
            AND ($5 IS NULL OR s.owner = $5) AND ($6 IS NULL OR s.synth_asset = $6) OFFSET 0) AS c, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
        WHERE h.deployment = $1 AND h.key_hash = c.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
      WHERE c.key_hash >= (SELECT edge.key_hash FROM edge)
    ) AS w
    JOIN place AS m ON m.symbol = w.synth_asset AND chain.vault_order(w.collateral, w.debt) BETWEEN m.low AND m.high,
    LATERAL (SELECT * FROM history.synthetic_engine_vault AS h WHERE h.deployment = $1 AND h.key_hash = w.key_hash
      AND h.ledger = w.ledger AND h.tx = w.tx AND h.seq = w.seq OFFSET 0) AS h
  WHERE NOT w.removed AND ($5 IS NULL OR h.owner = $5)
    AND ($7 IS NULL OR chain.vault_state(w.debt, chain.vault_ratio(w.collateral, w.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY w.key_hash LIMIT $4)
  UNION ALL
  (SELECT s.key_hash, s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger, s.closed_at
  FROM state.synthetic_engine_vault AS s
  WHERE $8 = 'risk' AND s.deployment = $1 AND s.ledger <= $2 AND ($5 IS NULL OR s.owner = $5) AND ($6 IS NULL OR s.synth_asset = $6)
    AND ($3 IS NULL OR (s.synth_asset, chain.vault_order(s.collateral, s.debt), s.key_hash)
      > ((SELECT symbol FROM a), (SELECT place FROM a), (SELECT key FROM a)))
  ORDER BY s.synth_asset, chain.vault_order(s.collateral, s.debt), s.key_hash
  LIMIT $4)
  UNION ALL
  (SELECT s.key_hash, s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger, s.closed_at
  FROM state.synthetic_engine_vault AS s
  WHERE $8 IN ('debt', 'collateral') AND s.deployment = $1 AND s.ledger <= $2 AND ($5 IS NULL OR s.owner = $5)
    AND ($6 IS NULL OR s.synth_asset = $6)
    AND ($3 IS NULL OR (s.synth_asset, CASE $8 WHEN 'debt' THEN -s.debt ELSE -s.collateral END, s.key_hash)
      > ((SELECT symbol FROM a), (SELECT rank FROM a), (SELECT key FROM a)))
  ORDER BY s.synth_asset, CASE $8 WHEN 'debt' THEN -s.debt ELSE -s.collateral END, s.key_hash
  LIMIT $4)
  UNION ALL
  (SELECT g.key_hash, h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM (
      SELECT s.key_hash FROM state.synthetic_engine_vault AS s
      WHERE $8 IS NOT NULL AND s.deployment = $1 AND s.ledger > $2 AND ($5 IS NULL OR s.owner = $5)
        AND ($6 IS NULL OR s.synth_asset = $6)
      UNION
      SELECT h.key_hash FROM history.synthetic_engine_vault AS h
      WHERE $8 IS NOT NULL AND h.deployment = $1 AND h.removed AND h.ledger > $2
    ) AS g,
    LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = g.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE $8 IS NOT NULL AND NOT h.removed AND ($5 IS NULL OR h.owner = $5) AND ($6 IS NULL OR h.synth_asset = $6)
    AND ($3 IS NULL OR (h.synth_asset, CASE $8 WHEN 'debt' THEN -h.debt WHEN 'collateral' THEN -h.collateral
      ELSE chain.vault_order(h.collateral, h.debt) END, h.key_hash)
      > ((SELECT symbol FROM a), (SELECT rank FROM a), (SELECT key FROM a)))
  ORDER BY h.synth_asset, CASE $8 WHEN 'debt' THEN -h.debt WHEN 'collateral' THEN -h.collateral
      ELSE chain.vault_order(h.collateral, h.debt) END, h.key_hash
  LIMIT $4)
)
SELECT row_to_json(x)::text, CASE WHEN $8 IS NULL THEN encode(v.key_hash, 'hex')
  ELSE v.synth_asset || '.' || o.rank || '.' || rtrim(encode(v.key_hash, 'base64'), '=') END
-- part: vault_item
  , LATERAL (SELECT CASE $8 WHEN 'debt' THEN -v.debt WHEN 'collateral' THEN -v.collateral
      WHEN 'risk' THEN chain.vault_order(v.collateral, v.debt) END AS rank) AS o
ORDER BY CASE WHEN $8 IS NOT NULL THEN v.synth_asset END, o.rank, v.key_hash
LIMIT $4
