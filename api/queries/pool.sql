-- one: deployment at pool
-- none: there is no such pool
SELECT row_to_json(x)::text
-- part: pool_item
WHERE k.deployment = $1::smallint AND k.pool_id = $3::text AND NOT p.removed
