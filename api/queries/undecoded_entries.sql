-- list: deployment at after limit
-- The newest version of each entry that could not be decoded, over the primary key. Their bytes are kept, and not shown.
SELECT row_to_json(x)::text, encode(r.key_hash, 'hex')
FROM state.raw AS r, LATERAL (SELECT
    encode(r.key_hash, 'hex') AS "keyHash",
    r.ledger::text AS "ledger",
    chain.rfc3339(r.closed_at) AS "closedAt",
    r.contract AS "contract",
    CASE r.durability WHEN 0 THEN 'temporary' ELSE 'persistent' END AS "durability",
    r.reason AS "undecodedBecause"
  ) AS x
WHERE r.deployment = $1::smallint AND r.ledger <= $2::integer AND ($3::text IS NULL OR r.key_hash > decode($3, 'hex'))
ORDER BY r.key_hash
LIMIT $4::integer
