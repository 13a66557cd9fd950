-- list: deployment at after limit owner market state sort
-- Vaults as of a ledger, in the order of now. Of few vaults (20000, or those of an owner) each is looked up: what did
-- not change since N is as it is now, the rest is in history. Of more, versions up to N are read in the order of their
-- index, and those that were the newest at N are vaults. No more than 20 versions are read for each item of a page: a page
-- of vaults that changed often may end early.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
a AS MATERIALIZED (
  SELECT split_part($3::text, '.', 1) AS symbol, nullif(split_part($3, '.', 2), '')::numeric AS rank,
    decode(split_part($3, '.', 3) || '=', 'base64') AS key
), gone AS MATERIALIZED (
  SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND ($5::text IS NULL OR h.key_owner_key = chain.word_key($5))
  LIMIT CASE WHEN $5 IS NULL THEN 20001 END
), few AS MATERIALIZED (
  SELECT $5 IS NOT NULL OR (SELECT count(*) FROM gone) <= 20000 AND (SELECT count(*)
    FROM (SELECT FROM state.synthetic_engine_vault AS s WHERE s.deployment = $1 AND ($6::text IS NULL OR s.synth = $6)
      LIMIT 20001) AS s) <= 20000 AS here
), symbol AS MATERIALIZED (
  WITH RECURSIVE s AS (
    (SELECT h.synth_key AS key FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND NOT h.removed AND ($6 IS NULL OR h.synth_key = chain.word_key($6))
    ORDER BY h.synth_key LIMIT 1)
    UNION ALL
    SELECT (SELECT h.synth_key FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND NOT h.removed AND h.synth_key > s.key ORDER BY h.synth_key LIMIT 1)
    FROM s WHERE $6 IS NULL AND s.key IS NOT NULL
  ) SELECT w.word AS name, s.key FROM s JOIN chain.word AS w ON w.id = s.key
  WHERE NOT (SELECT f.here FROM few AS f) AND ($3 IS NULL OR w.word >= (SELECT a.symbol FROM a))
), place AS MATERIALIZED (
  SELECT s.name AS symbol, s.key AS symbol_key, p.by, p.low, p.high, a.rank, a.key
  FROM symbol AS s LEFT JOIN m ON m.symbol = s.name LEFT JOIN a ON a.symbol = s.name,
    LATERAL (SELECT 'order' AS by, -1e117 AS low, 1e118 AS high WHERE $7::text IS NULL
      UNION ALL SELECT g.by, g.low, g.high FROM chain.vault_ranges($7, m.liq_ratio, m.min_coll_ratio, m.collateral_price, m.synth_price) AS g
        WHERE $7 IS NOT NULL) AS p
  WHERE ($7 IS NULL OR $7 IN ('open', 'unpriced')
    OR m.liq_ratio IS NOT NULL AND m.collateral_price IS NOT NULL AND m.synth_price IS NOT NULL)
), version AS MATERIALIZED (
  (SELECT p.symbol, h.rank, h.key_hash
  FROM (SELECT * FROM place AS p WHERE coalesce($8::text, 'risk') = 'risk' ORDER BY p.symbol) AS p, LATERAL (
      (SELECT chain.vault_order(h.collateral, h.debt) AS rank, h.key_hash
      FROM history.synthetic_engine_vault AS h
      WHERE p.by = 'order' AND h.deployment = $1 AND NOT h.removed AND h.synth_key = p.symbol_key AND h.ledger <= $2
        AND chain.vault_order(h.collateral, h.debt) BETWEEN p.low AND p.high
        AND (chain.vault_order(h.collateral, h.debt), h.key_hash) > (coalesce(p.rank, -1e118), coalesce(p.key, ''::bytea))
      ORDER BY chain.vault_order(h.collateral, h.debt), h.key_hash LIMIT 20 * $4::integer)
      UNION ALL
      (SELECT chain.vault_order(h.collateral, h.debt) AS rank, h.key_hash
      FROM history.synthetic_engine_vault AS h
      WHERE p.by = 'small' AND h.deployment = $1 AND NOT h.removed AND h.synth_key = p.symbol_key AND h.ledger <= $2
        AND h.debt > 0 AND h.debt < 10000000 AND chain.vault_order(h.collateral, h.debt) BETWEEN p.low AND p.high
        AND (chain.vault_order(h.collateral, h.debt), h.key_hash) > (coalesce(p.rank, -1e118), coalesce(p.key, ''::bytea))
      ORDER BY chain.vault_order(h.collateral, h.debt), h.key_hash LIMIT 20 * $4::integer)
      UNION ALL
      (SELECT chain.vault_order(h.collateral, h.debt) AS rank, h.key_hash
      FROM history.synthetic_engine_vault AS h
      WHERE p.by = 'debt' AND h.deployment = $1 AND NOT h.removed AND h.synth_key = p.symbol_key AND h.ledger <= $2
        AND -h.debt BETWEEN p.low AND p.high
        AND (chain.vault_order(h.collateral, h.debt), h.key_hash) > (coalesce(p.rank, -1e118), coalesce(p.key, ''::bytea))
      ORDER BY chain.vault_order(h.collateral, h.debt), h.key_hash LIMIT 20 * $4::integer)
      UNION ALL
      (SELECT chain.vault_order(h.collateral, h.debt) AS rank, h.key_hash
      FROM history.synthetic_engine_vault AS h
      WHERE p.by = 'collateral' AND h.deployment = $1 AND NOT h.removed AND h.synth_key = p.symbol_key AND h.ledger <= $2
        AND -h.collateral BETWEEN p.low AND p.high
        AND (chain.vault_order(h.collateral, h.debt), h.key_hash) > (coalesce(p.rank, -1e118), coalesce(p.key, ''::bytea))
      ORDER BY chain.vault_order(h.collateral, h.debt), h.key_hash LIMIT 20 * $4::integer)
    ) AS h
  ORDER BY p.symbol, h.rank, h.key_hash LIMIT 20 * $4)
  UNION ALL
  (SELECT p.symbol, h.rank, h.key_hash
  FROM (SELECT * FROM place AS p ORDER BY p.symbol, p.low) AS p, LATERAL (SELECT CASE $8 WHEN 'debt' THEN -h.debt ELSE -h.collateral END AS rank, h.key_hash
      FROM history.synthetic_engine_vault AS h
      WHERE $8 IN ('debt', 'collateral') AND h.deployment = $1 AND NOT h.removed AND h.synth_key = p.symbol_key AND h.ledger <= $2
        AND (CASE $8 WHEN 'debt' THEN -h.debt ELSE -h.collateral END, h.key_hash)
          > (coalesce(p.rank, '-infinity'::numeric), coalesce(p.key, ''::bytea))
      ORDER BY CASE $8 WHEN 'debt' THEN -h.debt ELSE -h.collateral END, h.key_hash LIMIT 20 * $4::integer) AS h
  ORDER BY p.symbol, h.rank, h.key_hash LIMIT 20 * $4)
), v AS MATERIALIZED (
  (SELECT h.key_hash, h.synth, h.key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at, n.rank
  FROM (SELECT DISTINCT n.symbol, n.rank, n.key_hash FROM version AS n ORDER BY n.symbol, n.rank, n.key_hash) AS n
    LEFT JOIN m ON m.symbol = n.symbol, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = n.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed AND h.synth = n.symbol
    AND n.rank = CASE $8 WHEN 'debt' THEN -h.debt WHEN 'collateral' THEN -h.collateral ELSE chain.vault_order(h.collateral, h.debt) END
    AND ($7 IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY n.symbol, n.rank, n.key_hash LIMIT $4::integer)
  UNION ALL
  (SELECT h.key_hash, h.synth, h.key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at, o.rank
  FROM (
      SELECT s.key_hash, s.synth, s.key_owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger,
        s.closed_at, false AS removed
      FROM state.synthetic_engine_vault AS s
      WHERE (SELECT f.here FROM few AS f) AND s.deployment = $1 AND s.ledger <= $2 AND ($5 IS NULL OR s.key_owner = $5)
        AND ($6 IS NULL OR s.synth = $6)
      UNION ALL
      SELECT k.key_hash, h.synth, h.key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
        h.closed_at, h.removed
      FROM (
          SELECT s.key_hash FROM state.synthetic_engine_vault AS s
          WHERE (SELECT f.here FROM few AS f) AND s.deployment = $1 AND s.ledger > $2 AND ($5 IS NULL OR s.key_owner = $5)
            AND ($6 IS NULL OR s.synth = $6)
          UNION
          SELECT g.key_hash FROM gone AS g WHERE (SELECT f.here FROM few AS f)
        ) AS k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
          WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
          ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    ) AS h LEFT JOIN m ON m.symbol = h.synth,
    LATERAL (SELECT CASE $8 WHEN 'debt' THEN -h.debt WHEN 'collateral' THEN -h.collateral
      ELSE chain.vault_order(h.collateral, h.debt) END AS rank) AS o
  WHERE NOT h.removed AND ($5 IS NULL OR h.key_owner = $5) AND ($6 IS NULL OR h.synth = $6)
    AND ($3 IS NULL OR (h.synth, o.rank, h.key_hash) > ((SELECT a.symbol FROM a), (SELECT a.rank FROM a), (SELECT a.key FROM a)))
    AND ($7 IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
  ORDER BY h.synth, o.rank, h.key_hash LIMIT $4)
), edge AS (
  SELECT n.symbol, n.rank, n.key_hash FROM version AS n
  WHERE (SELECT count(*) FROM v) < $4 AND (SELECT count(*) FROM version) = 20 * $4
  ORDER BY n.symbol DESC, n.rank DESC, n.key_hash DESC LIMIT 1
)
SELECT i.item, i.symbol || '.' || i.rank || '.' || rtrim(encode(i.key_hash, 'base64'), '=')
FROM (
  (SELECT row_to_json(x)::text AS item, v.synth AS symbol, v.rank, v.key_hash
-- part: vault_item
  )
  UNION ALL
  SELECT NULL, e.symbol, e.rank, e.key_hash FROM edge AS e
) AS i
ORDER BY i.symbol, i.rank, i.key_hash, i.item IS NULL
LIMIT $4
