-- one: deployment at
-- none: the compliance registry is not there yet
-- tag: Compliance
-- summary: The registry
-- about: How it is set up, and how long its logs are.
-- answer: ComplianceRegistry
--   contract         Address   the contract
--   admin            Address?  its administrator; null: it is not initialised
--   dao              Address?  the DAO it obeys
--   verifier         Address?  the first verifier
--   verifierCount    Count     entries of its log of verifiers: those removed, and those added twice, too
--   travelRuleCount  Count     number of travel-rule records
--   changedLedger    Ledger    in which this was last written
--   changedAt        Time      when that ledger closed
-- example: {"contract":"CAV5BJGAMLTXCHYKF3WKDR2KJEWEEIJW6MGUDX7KX5KKEDA2SVFRTFUS",
--   "admin":"GBQRQ7HNYZBVGQEXWTRCWJQXX7V2DNXMD5D4EJJMWBZPQBMA6AY4OLBT",
--   "dao":"GCN4SYEYDBES7ST4ERJQRVOWGMZGKAK4NY5L2YQD3DMD3IUQ2UBHJP3C",
--   "verifier":"GCR72P6IUNBAK4EULVZUPNS7755CAAOMFYEU6U2HOYJRH26TACH23O4Y", "verifierCount":17, "travelRuleCount":0,
--   "changedLedger":"1521", "changedAt":"2026-01-31T07:22:54Z"}
--
-- The compliance registry's configuration.
SELECT row_to_json(x)::text
FROM (
    SELECT s.key_hash FROM state.compliance_registry_instance AS s WHERE s.deployment = $1
    UNION
    SELECT h.key_hash FROM history.compliance_registry_instance AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
  ) AS k, LATERAL (
    SELECT s.contract, s.admin, s.dao, s.verifier, s.verifier_count, s.travel_rule_count, s.ledger, s.closed_at,
      false AS removed FROM state.compliance_registry_instance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.key_hash = k.key_hash
    UNION ALL
    (SELECT h.contract, h.admin, h.dao, h.verifier, h.verifier_count, h.travel_rule_count, h.ledger, h.closed_at,
      h.removed FROM history.compliance_registry_instance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS v, LATERAL (SELECT
    v.contract AS "contract",
    v.admin AS "admin",
    v.dao AS "dao",
    v.verifier AS "verifier",
    coalesce(v.verifier_count, 0) AS "verifierCount",
    least(coalesce(v.travel_rule_count, 0), 9007199254740991) AS "travelRuleCount",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
WHERE NOT v.removed
LIMIT 1
