-- list: deployment at after limit
-- tag: Compliance
-- summary: Verifiers
-- about: In the order of the contract's list.
-- answer: ComplianceVerifiers of Verifier
-- schema: Verifier
--   index          U64      its place in the contract's list
--   verifier       Address  a verifier
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"index":"0", "verifier":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD",
--   "changedLedger":"1036", "changedAt":"2026-01-01T00:01:05Z"}
--
-- Verifiers in the contract's order. The contract lists a verifier again that was added again.
SELECT row_to_json(x)::text, v.index::text
FROM (
    (SELECT s.index, s.value, s.ledger, s.closed_at FROM state.compliance_registry_verifier_list AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
      AND ($3::text IS NULL OR s.index > $3::bigint) AND EXISTS (SELECT
      FROM state.compliance_registry_verifier AS o WHERE o.deployment = $1 AND o.address = s.value)
    ORDER BY s.index LIMIT $4::integer)
    UNION ALL
    (SELECT k.index, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.index, s.key_hash FROM state.compliance_registry_verifier_list AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.index > $3::bigint)
        UNION
        SELECT h.index, h.key_hash FROM history.compliance_registry_verifier_list AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.index > $3::bigint)
        ORDER BY index
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.compliance_registry_verifier_list AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed AND EXISTS (
      SELECT FROM (
          SELECT o.key_hash FROM state.compliance_registry_verifier AS o WHERE o.deployment = $1
            AND o.address = h.value
          UNION
          SELECT o.key_hash FROM history.compliance_registry_verifier AS o
          WHERE o.deployment = $1 AND o.removed AND o.ledger > $2 AND o.address = h.value
        ) AS o, LATERAL (
          SELECT z.removed FROM history.compliance_registry_verifier AS z
          WHERE z.deployment = $1 AND z.key_hash = o.key_hash AND z.ledger <= $2
          ORDER BY z.ledger DESC, z.tx DESC, z.seq DESC LIMIT 1
        ) AS z WHERE NOT z.removed)
    ORDER BY k.index LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.index::text AS "index",
    v.value AS "verifier",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.index
LIMIT $4::integer
