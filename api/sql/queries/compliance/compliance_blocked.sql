-- list: deployment at after limit
-- tag: Compliance
-- summary: Blocked jurisdictions
-- about: By code. No answer tells where a person lives.
-- answer: ComplianceBlocked of BlockedJurisdiction
-- schema: BlockedJurisdiction
--   code           integer  ISO 3166-1 numeric
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"code":40, "changedLedger":"1473", "changedAt":"2026-01-27T16:00:24Z"}
--
-- Countries whose residents are blocked: ISO 3166-1 numeric codes, in order.
SELECT row_to_json(x)::text, v.code::text
FROM (
    (SELECT s.code, s.value, s.ledger, s.closed_at FROM state.compliance_registry_blocked_jurisdiction AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.code > $3::bigint)
    ORDER BY s.code LIMIT $4::integer)
    UNION ALL
    (SELECT k.code, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.code, s.key_hash FROM state.compliance_registry_blocked_jurisdiction AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.code > $3::bigint)
        UNION
        SELECT h.code, h.key_hash FROM history.compliance_registry_blocked_jurisdiction AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.code > $3::bigint)
        ORDER BY code
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.compliance_registry_blocked_jurisdiction AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.code LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.code AS "code",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.code
LIMIT $4::integer
