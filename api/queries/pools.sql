-- list: deployment at after limit
-- Pools by id, over the key of the state's index. Pools never go, so those of the past are among today's.
SELECT row_to_json(x)::text, k.pool_id
-- part: pool_item
WHERE k.deployment = $1::smallint AND ($3::text IS NULL OR k.pool_id > $3) AND NOT p.removed
ORDER BY k.pool_id
LIMIT $4::integer
