-- list: deployment at after limit from to order address
-- tag: Compliance
-- summary: Compliance history of an address
-- about: By time: its record, attestation, freezing, whitelisting, each version. Where the person lives is in
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
--   expiresAt  Time?     when it ends; null: it does not, or not before the year 10000
--   updatedAt  Time?     when the registry says it was written
-- example: {"ledger":"1140", "closedAt":"2026-01-21T17:27:41Z",
--   "txHash":"65427e87a7e1992dffe17f81f5097062da4385202c685911198985866abb8930", "entry":"record", "removed":false,
--   "status":"Verified", "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD", "reason":"attest",
--   "expiresAt":"2027-02-25T17:27:41Z", "updatedAt":"2026-01-21T17:27:41Z"}
--
-- Everything that the registry has written about an address, by time: its record, attestation, freezing and
-- whitelisting, each version, changes without an event too. Where the person lives is in none of it.
WITH k AS MATERIALIZED (
  SELECT chain.entry_key(i.contract, 'ComplianceRec', $8::text) AS record, chain.entry_key(i.contract, 'Kyc', $8) AS kyc,
    chain.entry_key(i.contract, 'Frozen', $8) AS frozen, chain.entry_key(i.contract, 'Whitelist', $8) AS whitelist
  FROM chain.role AS i WHERE i.deployment = $1::smallint AND i.role = 'compliance_registry'
), page AS (
  (SELECT h.ledger, h.tx, h.seq, h.closed_at, 'record' AS entry, h.removed, h.status, h.provider, h.reason, h.expires_at,
    h.updated_at
  FROM history.compliance_registry_compliance_rec AS h
  WHERE h.key_hash = (SELECT k.record FROM k) AND
-- part: version_where
-- part: version_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT h.ledger, h.tx, h.seq, h.closed_at, 'attestation', h.removed, NULL, h.verifier, NULL, h.expires_at, h.issued_at
  FROM history.compliance_registry_kyc AS h
  WHERE h.key_hash = (SELECT k.kyc FROM k) AND
-- part: version_where
-- part: version_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT h.ledger, h.tx, h.seq, h.closed_at, 'frozen', h.removed, NULL, NULL, NULL, NULL, NULL
  FROM history.compliance_registry_frozen AS h
  WHERE h.key_hash = (SELECT k.frozen FROM k) AND
-- part: version_where
-- part: version_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT h.ledger, h.tx, h.seq, h.closed_at, 'whitelisted', h.removed, NULL, NULL, NULL, NULL, NULL
  FROM history.compliance_registry_whitelist AS h
  WHERE h.key_hash = (SELECT k.whitelist FROM k) AND
-- part: version_where
-- part: version_order
  LIMIT $4::integer)
)
SELECT row_to_json(x)::text, h.ledger || '.' || h.tx || '.' || h.seq
FROM page AS h, LATERAL (SELECT
    h.ledger::text AS "ledger",
    chain.rfc3339(h.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = h.ledger AND t.tx = h.tx) AS "txHash",
    h.entry AS "entry",
    h.removed AS "removed",
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(h.status, 99) + 1] AS "status",
    h.provider AS "provider",
    h.reason AS "reason",
    chain.rfc3339(analyst.at(h.expires_at)) AS "expiresAt",
    chain.rfc3339(analyst.at(h.updated_at)) AS "updatedAt"
  ) AS x
-- part: version_order
LIMIT $4::integer
