-- one: deployment at asset
-- none: there is no such feed
-- Whether there is a feed of that symbol. What it says, /api/prices/{asset} tells from the hot cache.
SELECT '{}'
FROM (
    SELECT s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1::smallint AND s.asset = $3::text
    UNION
    SELECT h.key_hash FROM history.oracle_feed AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2::integer AND h.asset = $3
  ) AS k, LATERAL (SELECT h.removed FROM history.oracle_feed AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
WHERE NOT v.removed
LIMIT 1
