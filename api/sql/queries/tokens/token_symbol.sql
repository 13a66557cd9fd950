-- one: deployment token
-- none: there is no token of that symbol
-- Tokens that call themselves so now, for requests that name a token by its symbol (api/sql/token_symbol.h): two tell that it
-- is not unique, more are named in the refusal. Any account can make a token with any symbol: one of the deployment file wins over
-- one of a market or a pool, which only the protocol's administrators list, and no other token has a symbol here.
SELECT n.contract
FROM (
    SELECT t.contract, k.rank, min(k.rank) OVER () AS first
    FROM (
        SELECT s.contract FROM state.synth_token_instance AS s
        WHERE s.deployment = $1::smallint AND s.symbol = convert_to($2::text, 'UTF8')
        UNION
        SELECT s.contract FROM state.stellar_asset_instance AS s
        WHERE s.deployment = $1 AND CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END = $2
      ) AS t
      CROSS JOIN LATERAL (SELECT CASE
          WHEN EXISTS (SELECT FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text)
            WHERE d.id = $1 AND j.address = t.contract) THEN 1
          WHEN EXISTS (SELECT FROM state.synthetic_engine_asset_config AS c WHERE c.deployment = $1 AND c.token = t.contract)
            OR EXISTS (SELECT FROM state.liquidity_pool_pool AS p
              WHERE p.deployment = $1 AND t.contract IN (p.token_a, p.token_b)) THEN 2
        END AS rank) AS k
    WHERE k.rank IS NOT NULL
  ) AS n
WHERE n.rank = n.first
ORDER BY n.contract
LIMIT 8
