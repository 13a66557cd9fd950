-- list: deployment after limit
-- tag: Activity
-- summary: Undecoded entries
-- about: Each entry whose newest version does not fit the catalogue. Its bytes are kept, and not shown; what was read
--   before stays in its own list. A page may be short, or empty, and have a `next` all the same.
-- answer: UndecodedEntries of UndecodedEntry
-- schema: UndecodedEntry
--   keyHash           Hash                    SHA-256 of the ledger key
--   ledger            Ledger                  that wrote this version
--   closedAt          Time                    when that ledger closed
--   contract          Address                 that owns it
--   durability        "temporary|persistent"  of the entry
--   undecodedBecause  string                  why it could not be decoded
--
-- The newest version of each entry, where it could not be decoded, by contract and key. Their bytes are kept, and not
-- shown. How many versions a page looks at is bounded, not how many of those were decoded since: a page may be short.
SELECT CASE WHEN k.key_hash IS NOT NULL THEN row_to_json(x)::text END, k.place
FROM chain.undecoded_page($1::smallint, $2::text, $3::integer) AS k
  LEFT JOIN state.raw AS r ON r.deployment = $1 AND r.key_hash = k.key_hash, LATERAL (SELECT
    encode(r.key_hash, 'hex') AS "keyHash",
    r.ledger::text AS "ledger",
    chain.rfc3339(r.closed_at) AS "closedAt",
    r.contract AS "contract",
    CASE r.durability WHEN 0 THEN 'temporary' ELSE 'persistent' END AS "durability",
    r.reason AS "undecodedBecause"
  ) AS x
ORDER BY r.contract, r.key_hash
LIMIT $3
