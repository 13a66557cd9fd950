-- one: deployment at pool
-- none: there is no such pool
-- tag: Pools
-- summary: One pool
-- about: Tokens, reserves, fee, shares and price.
-- answer: PoolAnswer
--   ...Pool
WITH last_day AS MATERIALIZED (
-- part: last_day
), past AS MATERIALIZED (
-- part: pool_past
), k AS (
  SELECT s.key_hash, s.contract, s.pool_id FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1::smallint AND s.pool_id = $3::text
  UNION
  SELECT h.key_hash, h.contract, h.pool_id FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.pool_id = $3::text
)
SELECT row_to_json(x)::text
-- part: pool_item
WHERE NOT p.removed
