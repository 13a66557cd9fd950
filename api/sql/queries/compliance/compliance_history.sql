-- list: deployment at after limit address
-- tag: Compliance
-- summary: Compliance history of an address
-- about: Newest first: its record, attestation, freezing, whitelisting, each version. Where the person lives is in
--   none of it.
-- answer: ComplianceHistory of ComplianceChange
-- schema: ComplianceChange
--   ledger     Ledger    in which it happened
--   closedAt   Time      when that ledger closed
--   txHash     Hash?     of the transaction; null where the index does not hold it
--   entry      "record|attestation|frozen|whitelisted"  which entry
--   removed    boolean   whether the entry was taken away
--   status     "Unknown|Pending|Verified|Suspended|Sanctioned|Expired"?  of a record
--   provider   Address?  the verifier that wrote it
--   reason     Symbol?   as the verifier wrote it
--   expiresAt  Time?     when it ends; null: it does not
--   updatedAt  Time?     when the registry says it was written
-- example: {"ledger":"1140", "closedAt":"2026-01-21T17:27:41Z",
--   "txHash":"65427e87a7e1992dffe17f81f5097062da4385202c685911198985866abb8930", "entry":"record", "removed":false,
--   "status":"Verified", "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD", "reason":"attest",
--   "expiresAt":"2027-02-25T17:27:41Z", "updatedAt":"2026-01-21T17:27:41Z"}
--
-- What the registry has written about an address, the newest first: its record, attestation, freezing and
-- whitelisting, each version, changes without an event too. Where the person lives is in none of it.
WITH k AS MATERIALIZED (
  SELECT chain.entry_key(i.contract, 'ComplianceRec', $5::text) AS record, chain.entry_key(i.contract, 'Kyc', $5) AS kyc,
    chain.entry_key(i.contract, 'Frozen', $5) AS frozen, chain.entry_key(i.contract, 'Whitelist', $5) AS whitelist
  FROM chain.role AS i WHERE i.deployment = $1::smallint AND i.role = 'compliance_registry'
), page AS (
  (SELECT y.ledger, y.tx, y.seq, y.closed_at, 'record' AS entry, y.removed, y.status, y.provider, y.reason, y.expires_at,
    y.updated_at
  FROM history.compliance_registry_compliance_rec AS y
  WHERE y.deployment = $1 AND y.key_hash = (SELECT k.record FROM k) AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger, y.tx, y.seq) < (split_part($3, '.', 1)::integer,
      split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer))
  ORDER BY y.ledger DESC, y.tx DESC, y.seq DESC LIMIT $4::integer)
  UNION ALL
  (SELECT y.ledger, y.tx, y.seq, y.closed_at, 'attestation', y.removed, NULL, y.verifier, NULL, y.expires_at, y.issued_at
  FROM history.compliance_registry_kyc AS y
  WHERE y.deployment = $1 AND y.key_hash = (SELECT k.kyc FROM k) AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger, y.tx, y.seq) < (split_part($3, '.', 1)::integer,
      split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer))
  ORDER BY y.ledger DESC, y.tx DESC, y.seq DESC LIMIT $4::integer)
  UNION ALL
  (SELECT y.ledger, y.tx, y.seq, y.closed_at, 'frozen', y.removed, NULL, NULL, NULL, NULL, NULL
  FROM history.compliance_registry_frozen AS y
  WHERE y.deployment = $1 AND y.key_hash = (SELECT k.frozen FROM k) AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger, y.tx, y.seq) < (split_part($3, '.', 1)::integer,
      split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer))
  ORDER BY y.ledger DESC, y.tx DESC, y.seq DESC LIMIT $4::integer)
  UNION ALL
  (SELECT y.ledger, y.tx, y.seq, y.closed_at, 'whitelisted', y.removed, NULL, NULL, NULL, NULL, NULL
  FROM history.compliance_registry_whitelist AS y
  WHERE y.deployment = $1 AND y.key_hash = (SELECT k.whitelist FROM k) AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger, y.tx, y.seq) < (split_part($3, '.', 1)::integer,
      split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer))
  ORDER BY y.ledger DESC, y.tx DESC, y.seq DESC LIMIT $4::integer)
)
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.seq
FROM page AS y, LATERAL (SELECT
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.entry AS "entry",
    y.removed AS "removed",
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(y.status, 99) + 1] AS "status",
    y.provider AS "provider",
    y.reason AS "reason",
    chain.rfc3339(analyst.at(y.expires_at)) AS "expiresAt",
    chain.rfc3339(analyst.at(y.updated_at)) AS "updatedAt"
  ) AS x
ORDER BY y.ledger DESC, y.tx DESC, y.seq DESC
LIMIT $4::integer
