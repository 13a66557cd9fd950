-- list: deployment at after limit owner market state sort
-- tag: Vaults
-- summary: Vaults
-- about: By market, and in each by `sort`: the riskiest first, by the exact quotient of collateral and debt, those without debt
--   last (`risk`), or the largest debt or collateral first. Amounts of different markets do not compare. `state=liquidatable` names those that may be liquidated
--   now. Vaults of a state come riskiest first: `sort` cannot be given with `state`. As of a ledger, where there are more
--   than 20000 vaults, a page may hold fewer items than asked for, or none, and `next`: go on with it.
-- answer: Vaults of Vault
-- Vaults by market, in each the riskiest first, those without debt last. A state is looked for where its vaults can
-- stand (chain.vault_ranges) and judged by the engine's own arithmetic, market by market until the page is full.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
a AS (
  SELECT split_part($3::text, '.', 1) AS symbol, nullif(split_part($3, '.', 2), '')::numeric AS rank,
    decode(split_part($3, '.', 3) || '=', 'base64') AS key
), symbol AS MATERIALIZED (
  WITH RECURSIVE s AS (
    (SELECT v.synth FROM state.synthetic_engine_vault AS v
    WHERE $5::text IS NULL AND $7::text IS NOT NULL AND v.deployment = $1 AND ($6::text IS NULL OR v.synth = $6)
      AND ($3 IS NULL OR v.synth >= (SELECT symbol FROM a))
    ORDER BY v.synth LIMIT 1)
    UNION ALL
    SELECT (SELECT v.synth FROM state.synthetic_engine_vault AS v
      WHERE v.deployment = $1 AND v.synth > s.synth ORDER BY v.synth LIMIT 1)
    FROM s WHERE $6 IS NULL AND s.synth IS NOT NULL
  ) SELECT s.synth AS name FROM s WHERE s.synth IS NOT NULL
), v AS (
  (SELECT s.* FROM state.synthetic_engine_vault AS s
  WHERE $5::text IS NULL AND $7::text IS NULL AND coalesce($8::text, 'risk') = 'risk' AND s.deployment = $1 AND ($6::text IS NULL OR s.synth = $6)
    AND ($3 IS NULL OR (s.synth, chain.vault_order(s.collateral, s.debt), s.key_hash)
      > ((SELECT symbol FROM a), (SELECT rank FROM a), (SELECT key FROM a)))
  ORDER BY s.synth, chain.vault_order(s.collateral, s.debt), s.key_hash
  LIMIT $4::integer)
  UNION ALL
  (SELECT s.* FROM state.synthetic_engine_vault AS s
  WHERE $5 IS NULL AND $7 IS NULL AND $8 IN ('debt', 'collateral') AND s.deployment = $1 AND ($6 IS NULL OR s.synth = $6)
    AND ($3 IS NULL OR (s.synth, CASE $8 WHEN 'debt' THEN -s.debt ELSE -s.collateral END, s.key_hash)
      > ((SELECT symbol FROM a), (SELECT rank FROM a), (SELECT key FROM a)))
  ORDER BY s.synth, CASE $8 WHEN 'debt' THEN -s.debt ELSE -s.collateral END, s.key_hash
  LIMIT $4)
  UNION ALL
  SELECT s.* FROM state.synthetic_engine_vault AS s LEFT JOIN m ON m.symbol = s.synth
  WHERE s.deployment = $1 AND s.key_owner = $5 AND ($6 IS NULL OR s.synth = $6)
    AND ($7 IS NULL OR chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
    AND ($3 IS NULL OR (s.synth, CASE $8 WHEN 'debt' THEN -s.debt WHEN 'collateral' THEN -s.collateral
      ELSE chain.vault_order(s.collateral, s.debt) END, s.key_hash)
      > ((SELECT symbol FROM a), (SELECT rank FROM a), (SELECT key FROM a)))
  UNION ALL
  (SELECT s.* FROM (
      SELECT y.name AS symbol, m.liq_ratio, m.min_coll_ratio, m.collateral_price, m.synth_price, g.by, g.low, g.high,
        coalesce(a.rank, -1e118) AS rank, coalesce(a.key, ''::bytea) AS key
      FROM symbol AS y LEFT JOIN m ON m.symbol = y.name LEFT JOIN a ON a.symbol = y.name,
        LATERAL chain.vault_ranges($7, m.liq_ratio, m.min_coll_ratio, m.collateral_price, m.synth_price) AS g
      WHERE $7 IN ('open', 'unpriced')
        OR m.liq_ratio IS NOT NULL AND m.collateral_price IS NOT NULL AND m.synth_price IS NOT NULL
      ORDER BY y.name
    ) AS m, LATERAL (
      (SELECT s.* FROM state.synthetic_engine_vault AS s
      WHERE m.by = 'order' AND s.deployment = $1 AND s.synth = m.symbol
        AND chain.vault_order(s.collateral, s.debt) BETWEEN m.low AND m.high
        AND (chain.vault_order(s.collateral, s.debt), s.key_hash) > (m.rank, m.key)
        AND chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price, m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7
      ORDER BY chain.vault_order(s.collateral, s.debt), s.key_hash LIMIT $4)
      UNION ALL
      (SELECT s.* FROM state.synthetic_engine_vault AS s
      WHERE m.by = 'small' AND s.deployment = $1 AND s.synth = m.symbol
        AND s.debt > 0 AND s.debt < 10000000 AND chain.vault_order(s.collateral, s.debt) BETWEEN m.low AND m.high
        AND (chain.vault_order(s.collateral, s.debt), s.key_hash) > (m.rank, m.key)
        AND chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price, m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7
      ORDER BY chain.vault_order(s.collateral, s.debt), s.key_hash LIMIT $4)
      UNION ALL
      (SELECT s.* FROM state.synthetic_engine_vault AS s
      WHERE m.by = 'debt' AND s.deployment = $1 AND s.synth = m.symbol
        AND -s.debt BETWEEN m.low AND m.high
        AND (chain.vault_order(s.collateral, s.debt), s.key_hash) > (m.rank, m.key)
        AND chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price, m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7
      ORDER BY chain.vault_order(s.collateral, s.debt), s.key_hash LIMIT $4)
      UNION ALL
      (SELECT s.* FROM state.synthetic_engine_vault AS s
      WHERE m.by = 'collateral' AND s.deployment = $1 AND s.synth = m.symbol
        AND -s.collateral BETWEEN m.low AND m.high AND s.debt > 0 AND greatest(s.debt, m.synth_price) >= 10000000
        AND s.debt * m.synth_price <= 170141183460469231731687303715884105727
        AND (chain.vault_order(s.collateral, s.debt), s.key_hash) > (m.rank, m.key)
        AND chain.vault_state(s.debt, chain.vault_ratio(s.collateral, s.debt, m.collateral_price, m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7
      ORDER BY chain.vault_order(s.collateral, s.debt), s.key_hash LIMIT $4)
    ) AS s
  ORDER BY m.symbol, chain.vault_order(s.collateral, s.debt), s.key_hash
  LIMIT $4)
)
SELECT row_to_json(x)::text, v.synth || '.' || o.rank || '.' || rtrim(encode(v.key_hash, 'base64'), '=')
-- part: vault_item
  , LATERAL (SELECT CASE $8 WHEN 'debt' THEN -v.debt WHEN 'collateral' THEN -v.collateral
      ELSE chain.vault_order(v.collateral, v.debt) END AS rank) AS o
ORDER BY v.synth, o.rank, v.key_hash
LIMIT $4
