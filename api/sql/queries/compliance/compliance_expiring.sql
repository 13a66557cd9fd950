-- list: deployment at after limit within
-- tag: Compliance
-- summary: Attestations that expire soon
-- about: Records that end within `within` seconds from now on, the soonest first; with `ledger` from its close on. A record that
--   ended already, or that never ends, is not among them.
-- answer: ComplianceExpiring of ExpiringRecord
-- schema: ExpiringRecord
--   address        Address   whose record it is
--   status         "Unknown|Pending|Verified|Suspended|Sanctioned|Expired"?
--                            as stored; null: a number that the protocol does not define
--   provider       Address   the verifier that wrote it
--   expiresAt      Time?     when it ends; null: not before the year 10000
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"address":"GA25OGO7D4AFPW4G3P6IC7C6MLR42B54U62WNNWKFEGHRC3XEA5ANBRC", "status":"Verified",
--   "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD", "expiresAt":"2027-02-25T17:27:41Z",
--   "changedLedger":"1140", "changedAt":"2026-01-21T17:27:41Z"}
--
-- By end and key: over an index of the state, or as of a ledger over one of history, past versions that another one followed up
-- to that ledger. Where a person lives is in none of it.
WITH n AS MATERIALIZED (SELECT chain.moment($1::smallint, $2::integer) AS now),
a AS (SELECT split_part($3::text, '.', 1)::numeric AS expires_at, decode(split_part($3, '.', 2), 'hex') AS key WHERE $3 IS NOT NULL)
SELECT row_to_json(x)::text, v.expires_at || '.' || encode(v.key_hash, 'hex')
FROM (
    (SELECT s.key_hash, s.address, s.status, s.provider, s.expires_at, s.ledger, s.closed_at
    FROM state.compliance_registry_compliance_rec AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND s.expires_at >= (SELECT n.now FROM n) AND s.expires_at <= (SELECT n.now FROM n) + $5::bigint
      AND ($3 IS NULL OR (s.expires_at, s.key_hash) > ((SELECT a.expires_at FROM a), (SELECT a.key FROM a)))
    ORDER BY s.expires_at, s.key_hash LIMIT $4::integer)
    UNION ALL
    (SELECT h.key_hash, h.address, h.status, h.provider, h.expires_at, h.ledger, h.closed_at
    FROM history.compliance_registry_compliance_rec AS h
    WHERE $2 < 2147483647 AND h.deployment = $1 AND h.ledger <= $2 AND h.expires_at >= (SELECT n.now FROM n)
      AND h.expires_at <= (SELECT n.now FROM n) + $5::bigint
      AND ($3 IS NULL OR (h.expires_at, h.key_hash) > ((SELECT a.expires_at FROM a), (SELECT a.key FROM a)))
      AND (h.ledger, h.tx, h.seq) = (SELECT o.ledger, o.tx, o.seq FROM history.compliance_registry_compliance_rec AS o
        WHERE o.deployment = $1 AND o.key_hash = h.key_hash AND o.ledger <= $2 ORDER BY o.ledger DESC, o.tx DESC, o.seq DESC LIMIT 1)
    ORDER BY h.expires_at, h.key_hash LIMIT $4)
  ) AS v, LATERAL (SELECT
    v.address AS "address",
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(v.status, 99) + 1] AS "status",
    v.provider AS "provider",
    chain.rfc3339(analyst.at(v.expires_at)) AS "expiresAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.expires_at, v.key_hash
LIMIT $4
