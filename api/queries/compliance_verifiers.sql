-- list: deployment at after limit
-- Who may attest, in the contract's order: it lists again who was added again.
WITH there AS MATERIALIZED (
  SELECT s.address FROM state.compliance_registry_verifier AS s
  WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
  UNION ALL
  SELECT k.address
  FROM (
      SELECT s.address, s.key_hash FROM state.compliance_registry_verifier AS s WHERE s.deployment = $1
      UNION
      SELECT h.address, h.key_hash FROM history.compliance_registry_verifier AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
    ) AS k, LATERAL (
      SELECT h.removed FROM history.compliance_registry_verifier AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
    ) AS h
  WHERE $2 < 2147483647 AND NOT h.removed
)
SELECT row_to_json(x)::text, v.index::text
FROM (
    (SELECT s.index, s.value, s.ledger, s.closed_at FROM state.compliance_registry_verifier_list AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND ($3::text IS NULL OR s.index > $3::bigint)
      AND s.value IN (SELECT t.address FROM there AS t)
    ORDER BY s.index LIMIT $4::integer)
    UNION ALL
    (SELECT k.index, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.index, s.key_hash FROM state.compliance_registry_verifier_list AS s
        WHERE s.deployment = $1 AND ($3::text IS NULL OR s.index > $3::bigint)
        UNION
        SELECT h.index, h.key_hash FROM history.compliance_registry_verifier_list AS h
        WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND ($3::text IS NULL OR h.index > $3::bigint)
        ORDER BY index
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.compliance_registry_verifier_list AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2 < 2147483647 AND NOT h.removed AND h.value IN (SELECT t.address FROM there AS t)
    ORDER BY k.index LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.index::text AS "index",
    v.value AS "verifier",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.index
LIMIT $4::integer
