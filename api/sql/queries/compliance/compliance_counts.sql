-- one: deployment at
-- none: the compliance registry is not there yet
-- tag: Compliance
-- summary: Addresses by status and provider
-- about: How many addresses have a record of each status of each provider. A verified record whose end has passed counts as
--   Expired. Blocked jurisdictions and freezing are not considered: /api/sdk/kyc/status tells whether one address may trade.
-- answer: ComplianceCounts
--   items     ComplianceCount[]  by status and provider
--   complete  boolean            false: there are more than 100000 records, and only so many are counted
-- schema: ComplianceCount
--   status     "Unknown|Pending|Verified|Suspended|Sanctioned|Expired"?
--                        evaluated at the answer's time; null: a number that the protocol does not define
--   provider   Address   the verifier that wrote the records
--   addresses  Count     addresses with such a record
-- example: {"items":[{"status":"Verified", "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD",
--   "addresses":41}], "complete":true}
--
-- Over an index that has all columns, at most 100000 entries of it. As of a ledger, what did not change since, and what did,
-- looked up in history.
WITH n AS MATERIALIZED (SELECT chain.moment($1::smallint, $2::integer) AS now),
v AS MATERIALIZED (
  SELECT v.status, v.provider, v.expires_at FROM (
    (SELECT s.status, s.provider, s.expires_at FROM state.compliance_registry_compliance_rec AS s
    WHERE s.deployment = $1 AND s.ledger <= $2 LIMIT 100001)
    UNION ALL
    (SELECT h.status, h.provider, h.expires_at
    FROM (SELECT DISTINCT h.key_hash FROM history.compliance_registry_compliance_rec AS h
        WHERE $2 < 2147483647 AND h.deployment = $1 AND h.ledger > $2) AS k,
      LATERAL (SELECT h.status, h.provider, h.expires_at, h.removed FROM history.compliance_registry_compliance_rec AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE NOT h.removed LIMIT 100001)
  ) AS v LIMIT 100001
)
SELECT row_to_json(x)::text
FROM (SELECT
    to_json(ARRAY(SELECT row_to_json(i)
      FROM (
        SELECT CASE WHEN v.status = 2 AND v.expires_at > 0 AND v.expires_at < n.now THEN 5 ELSE least(v.status, 6) END AS status,
          v.provider, count(*) AS addresses
        FROM n, (SELECT * FROM v LIMIT 100000) AS v GROUP BY 1, 2
      ) AS c, LATERAL (SELECT
        (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[c.status + 1] AS "status",
        c.provider AS "provider",
        c.addresses AS "addresses"
      ) AS i
      ORDER BY c.status, c.provider)) AS "items",
    (SELECT count(*) FROM v) <= 100000 AS "complete"
  ) AS x
