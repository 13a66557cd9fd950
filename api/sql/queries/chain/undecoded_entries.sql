-- list: deployment after limit
-- tag: Activity
-- summary: Undecoded entries
-- about: Each entry whose newest version does not fit the catalogue. Its bytes are kept, and not shown; what was read
--   before stays in its own list.
-- answer: UndecodedEntries of UndecodedEntry
-- schema: UndecodedEntry
--   keyHash           Hash                    SHA-256 of the ledger key
--   ledger            Ledger                  that wrote this version
--   closedAt          Time                    when that ledger closed
--   contract          Address                 that owns it
--   durability        "temporary|persistent"  of the entry
--   undecodedBecause  string                  why it could not be decoded
--
-- The newest version of each entry, where it could not be decoded. Contract by contract, each over an index. Their bytes are
-- kept, and not shown.
SELECT row_to_json(x)::text, encode(r.key_hash, 'hex')
FROM (
    SELECT j.address AS contract FROM chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j (address text)
    WHERE d.id = $1::smallint
    UNION
    SELECT s.contract FROM chain.contract_seen AS s WHERE s.deployment = $1 AND s.what = 'discovered'
  ) AS c
  LEFT JOIN chain.role AS o ON o.deployment = $1 AND o.contract = c.contract
  CROSS JOIN LATERAL chain.undecoded_keys($1, c.contract, coalesce(o.role, 'synth_token'), decode($2::text, 'hex'), $3::integer) AS k
  JOIN state.raw AS r ON r.deployment = $1 AND r.key_hash = k.key_hash, LATERAL (SELECT
    encode(r.key_hash, 'hex') AS "keyHash",
    r.ledger::text AS "ledger",
    chain.rfc3339(r.closed_at) AS "closedAt",
    r.contract AS "contract",
    CASE r.durability WHEN 0 THEN 'temporary' ELSE 'persistent' END AS "durability",
    r.reason AS "undecodedBecause"
  ) AS x
ORDER BY r.key_hash
LIMIT $3
