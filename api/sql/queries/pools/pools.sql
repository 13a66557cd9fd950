-- list: deployment at after limit
-- tag: Pools
-- summary: All pools
-- about: By id.
-- answer: Pools of Pool
-- Pools by id, keys are those of now, over an index of the state, and those that went since.
WITH last_day AS MATERIALIZED (
-- part: last_day
), past AS MATERIALIZED (
-- part: pool_past
), k AS NOT MATERIALIZED (
    SELECT s.contract, s.pool_id, s.key_hash FROM state.liquidity_pool_pool AS s
    WHERE s.deployment = $1 AND ($3::text IS NULL OR s.pool_id > $3)
    UNION ALL
    (SELECT DISTINCT h.contract, h.pool_id, h.key_hash FROM history.liquidity_pool_pool AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $2::integer AND ($3::text IS NULL OR h.pool_id > $3)
      AND NOT EXISTS (SELECT FROM state.liquidity_pool_pool AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash))
  )
SELECT row_to_json(x)::text, k.pool_id
-- part: pool_item
WHERE NOT p.removed
ORDER BY k.pool_id
LIMIT $4::integer
