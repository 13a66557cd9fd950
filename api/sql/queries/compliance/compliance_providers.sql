-- list: deployment at after limit address
-- tag: Compliance
-- summary: Verifiers that attested an address
-- about: In the order of the contract's list.
-- answer: ComplianceProviders of AttestationProvider
-- schema: AttestationProvider
--   index          U64      its place in the contract's list
--   provider       Address  the provider
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"index":"0", "provider":"GDFD5JM7EUSJMXRV4WQTP47NF2JPOW6IFV6LAWF4ZODPU62RMH4MOZWF",
--   "changedLedger":"1041", "changedAt":"2026-01-01T00:01:30Z"}
--
-- Verifiers that attested an address, in the contract's order: each once, also if it revoked since.
SELECT row_to_json(x)::text, v.index::text
FROM (
    (SELECT s.index, s.value, s.ledger, s.closed_at FROM state.compliance_registry_attestation AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.address = $5::text
      AND ($3::text IS NULL OR s.index > $3::bigint)
    ORDER BY s.index LIMIT $4::integer)
    UNION ALL
    (SELECT k.index, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.index, s.key_hash FROM state.compliance_registry_attestation AS s
          WHERE s.deployment = $1::smallint AND s.address = $5::text AND ($3::text IS NULL OR s.index > $3::bigint)
        UNION
        SELECT h.index, h.key_hash FROM history.compliance_registry_attestation AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.address = $5::text
          AND ($3::text IS NULL OR h.index > $3::bigint)
        ORDER BY index
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.compliance_registry_attestation AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.index LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.index::text AS "index",
    v.value AS "provider",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.index
LIMIT $4::integer
