-- list: deployment at after limit
-- tag: Oracle
-- summary: Price providers
-- about: By address.
-- answer: OracleProviders of OracleProvider
-- schema: OracleProvider
--   provider       Address  the provider
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"provider":"GANS2HBIBB3FM55DLJMSOO43WXJBVGIUO6DTMWALOJWLFBKAE4W3RLF2", "changedLedger":"1034",
--   "changedAt":"2026-01-01T00:00:55Z"}
--
-- Providers that may report prices now: those that have an entry, by address.
SELECT row_to_json(x)::text, v.address
FROM (
    (SELECT s.address, s.value, s.ledger, s.closed_at FROM state.oracle_provider AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.address > $3)
    ORDER BY s.address LIMIT $4::integer)
    UNION ALL
    (SELECT k.address, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.address, s.key_hash FROM state.oracle_provider AS s WHERE s.deployment = $1::smallint
          AND ($3::text IS NULL OR s.address > $3)
        UNION
        SELECT h.address, h.key_hash FROM history.oracle_provider AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.address > $3)
        ORDER BY address
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.oracle_provider AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.address LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.address AS "provider",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.address
LIMIT $4::integer
