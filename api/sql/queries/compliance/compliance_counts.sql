-- one: deployment at
-- none: the compliance registry is not there yet
-- tag: Compliance
-- summary: Addresses by status and provider
-- about: How many addresses have a record of each status of each provider. A verified record whose end has passed counts as
--   Expired. Blocked jurisdictions and freezing are not considered: /api/sdk/kyc/status tells whether one address may trade.
-- answer: ComplianceCounts
--   items     ComplianceCount[]  by status and provider
--   complete  boolean            false: there are more than 200000 changes by day, or with `ledger` more than 20000 records that
--                                changed on its day, and only so many are counted
-- schema: ComplianceCount
--   status     "Unknown|Pending|Verified|Suspended|Sanctioned|Expired"?
--                        evaluated at the answer's time; null: a number that the protocol does not define
--   provider   Address   the verifier that wrote the records
--   addresses  Count     addresses with such a record
-- example: {"items":[{"status":"Verified", "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD",
--   "addresses":41}], "complete":true}
--
-- Adds up the changes by day, as /api/compliance/daily does: up to today, without records that end later than now. As of a ledger,
-- the days before its day are added up (base). Then records that ended on its day up to the ledger are moved to Expired. For
-- records that changed on that day, the value at the day's beginning is subtracted and the value at the ledger is added.
WITH n AS MATERIALIZED (
  SELECT t.now, t.day, $2::integer < 2147483647 AS past, extract(epoch FROM chain.day_start(t.day))::bigint AS begins,
    extract(epoch FROM chain.day_start(t.day + 1))::bigint AS ends
  FROM (SELECT m.now, chain.day(to_timestamp(m.now)) AS day FROM (SELECT chain.moment($1::smallint, $2) AS now) AS m) AS t
), base AS MATERIALIZED (
  SELECT d.status, d.provider, sum(d.change) AS records, count(*) AS days
  FROM n, LATERAL (SELECT * FROM rollup.compliance_day AS d WHERE d.deployment = $1 AND d.day <= n.day - n.past::integer LIMIT 200001) AS d
  GROUP BY 1, 2
), today AS MATERIALIZED (
  SELECT k.key_hash, k.provider, k.ends FROM n, rollup.compliance_version AS k
  WHERE n.past AND k.deployment = $1 AND k.day = n.day LIMIT 20001
), change AS (
  SELECT b.status, b.provider, b.records FROM base AS b
  UNION ALL
  SELECT w.status, e.provider, w.sign * e.records
  FROM n, rollup.compliance_end AS e, (VALUES (2, 1), (5, -1)) AS w (status, sign)
  WHERE NOT n.past AND e.deployment = $1 AND e.ends > n.now AND e.ends < n.ends
  UNION ALL
  SELECT w.status, e.provider, w.sign * e.records
  FROM n, (
      SELECT e.ends, e.provider, e.records FROM n, rollup.compliance_end AS e
      WHERE n.past AND e.deployment = $1 AND e.ends >= n.begins AND e.ends <= n.now
      UNION ALL
      SELECT k.ends, k.provider, -1 FROM today AS k WHERE k.ends IS NOT NULL
    ) AS e, (VALUES (2, -1), (5, 1)) AS w (status, sign)
  WHERE e.ends >= n.begins AND e.ends <= n.now
  UNION ALL
  SELECT CASE WHEN v.ends < n.begins THEN 5 ELSE v.status END, v.provider, -1
  FROM n, today AS k, LATERAL (SELECT v.status, v.provider, v.ends FROM rollup.compliance_version AS v
    WHERE v.deployment = $1 AND v.key_hash = k.key_hash AND v.day < n.day ORDER BY v.day DESC LIMIT 1) AS v
  WHERE v.status IS NOT NULL
  UNION ALL
  SELECT CASE WHEN h.status = 2 AND h.expires_at > 0 AND h.expires_at < n.now THEN 5 ELSE least(h.status, 6) END, h.provider, 1
  FROM n, today AS k, LATERAL (SELECT h.status, h.provider, h.expires_at, h.removed FROM history.compliance_registry_compliance_rec AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
)
SELECT row_to_json(x)::text
FROM (SELECT
    to_json(ARRAY(SELECT row_to_json(i)
      FROM (SELECT c.status, c.provider, sum(c.records) AS addresses FROM change AS c GROUP BY 1, 2) AS c, LATERAL (SELECT
        (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[c.status + 1] AS "status",
        c.provider AS "provider",
        c.addresses AS "addresses"
      ) AS i
      WHERE c.addresses > 0
      ORDER BY c.status, c.provider)) AS "items",
    (SELECT coalesce(sum(b.days), 0) FROM base AS b) <= 200000 AND (SELECT count(*) FROM today) <= 20000 AS "complete"
  ) AS x
