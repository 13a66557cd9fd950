-- one: deployment at token
-- none: there is no token of that symbol
-- Tokens that call themselves so, for requests that name a token by its symbol (api/sql/token_symbol.h): two tell that it
-- is not unique, more are named in the refusal. Any account can make a token with any symbol: one of the deployment file wins over
-- one of a market or a pool, which only the protocol's administrators list, and no other token has a symbol here. As of a ledger
-- those that were listed then are looked at one by one.
WITH listed AS NOT MATERIALIZED (
  SELECT j.address AS token, 1 AS rank
  FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text) WHERE d.id = $1::smallint
  UNION ALL
  SELECT s.token, 2 FROM state.synthetic_engine_asset_config AS s WHERE $2::integer = 2147483647 AND s.deployment = $1
  UNION ALL
  SELECT t.token, 2 FROM state.liquidity_pool_pool AS s, LATERAL (VALUES (s.token_a), (s.token_b)) AS t (token)
  WHERE $2 = 2147483647 AND s.deployment = $1
  UNION ALL
  SELECT m.token, 2 FROM chain.vault_market($1::smallint, $2) AS m WHERE $2 < 2147483647
  UNION ALL
  SELECT t.token, 2 FROM (
      SELECT s.key_hash FROM state.liquidity_pool_pool AS s WHERE $2 < 2147483647 AND s.deployment = $1
      UNION
      SELECT h.key_hash FROM history.liquidity_pool_pool AS h WHERE $2 < 2147483647 AND h.deployment = $1 AND h.removed AND h.ledger > $2
    ) AS k, LATERAL (SELECT * FROM history.liquidity_pool_pool AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h, LATERAL (VALUES (h.token_a), (h.token_b)) AS t (token)
  WHERE NOT h.removed
)
SELECT n.contract
FROM (
    SELECT t.contract, k.rank, min(k.rank) OVER () AS first
    FROM (
        SELECT s.contract FROM state.synth_token_instance AS s
        WHERE $2 = 2147483647 AND s.deployment = $1 AND chain.token_text(s.symbol, s.metadata, 'symbol') = $3::text
        UNION
        SELECT s.contract FROM state.stellar_asset_instance AS s
        WHERE $2 = 2147483647 AND s.deployment = $1
          AND CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END = $3
        UNION
        SELECT l.token FROM (SELECT DISTINCT l.token FROM listed AS l WHERE $2 < 2147483647) AS l,
          LATERAL chain.token_at($1::smallint, l.token, $2) AS s
        WHERE s.symbol = $3
      ) AS t
      CROSS JOIN LATERAL (SELECT min(l.rank) AS rank FROM listed AS l WHERE l.token = t.contract) AS k
    WHERE k.rank IS NOT NULL
  ) AS n
WHERE n.rank = n.first
ORDER BY n.contract
LIMIT 8
