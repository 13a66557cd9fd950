-- list: deployment at after limit from to order
-- tag: Compliance
-- summary: Addresses by status and provider, by day
-- about: What /api/compliance/counts with `ledger` answers at the last ledger of each day (UTC). Each day since the first record
--   has an item, also without a change, so there is no `fill`. A verified record whose end has passed when that ledger closed
--   counts as Expired. Without `ledger` the newest day is the present one, up to the newest ledger; with it those days that were
--   over when it closed.
-- answer: ComplianceDays of ComplianceDay
-- schema: ComplianceDay
--   day       date               the day, UTC
--   ledger    Ledger             the last ledger of the day; of a day without one, the last before it
--   counts    ComplianceCount[]  by status and provider; those with no address have no item
--   complete  boolean            false: more than 200 pairs of status and provider, and only so many are counted; or more than
--                                200000 changes, and nothing is
-- example: {"day":"2026-01-31", "ledger":"1521", "counts":[{"status":"Verified",
--   "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD", "addresses":41}], "complete":true}
--
-- Sums of the changes by day, over their key: one row for each status and provider that changed on a day, however many records
-- did. Records that end on a day, but after its last ledger, are not expired yet (late). b has the page's bounds: its first day,
-- and the one behind its last.
WITH b AS MATERIALIZED (
  SELECT greatest(s.first, chain.day(to_timestamp(ceil($5::numeric) + 86399)), CASE WHEN $7::text = 'asc' THEN $3::date + 1 END) AS lo,
    least(s.ends, chain.day(to_timestamp(ceil($6::numeric) + 86399)), CASE WHEN $7 = 'desc' THEN $3::date END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT CASE WHEN $2 = 2147483647 THEN chain.day(c.closed_at) + 1 ELSE chain.day(l.closed_at) END AS ends,
      (SELECT k.day FROM rollup.compliance_day AS k WHERE k.deployment = $1 ORDER BY k.day LIMIT 1) AS first) AS s
  WHERE c.deployment = $1::smallint AND s.first IS NOT NULL
), page AS MATERIALIZED (
  SELECT g.day, l.ledger, l.closed_at
  FROM b, generate_series(0, $4::integer - 1) AS n,
    LATERAL (SELECT CASE WHEN $7 = 'asc' THEN b.lo + n ELSE b.hi - 1 - n END AS day) AS g,
    LATERAL (SELECT l.ledger, l.closed_at FROM chain.ledger AS l WHERE l.deployment = $1 AND l.closed_at < chain.day_start(g.day + 1)
      ORDER BY l.closed_at DESC, l.ledger DESC LIMIT 1) AS l
  WHERE g.day >= b.lo AND g.day < b.hi
), e AS MATERIALIZED (
  SELECT min(p.day) AS first, max(p.day) AS last FROM page AS p
), change AS MATERIALIZED (
  SELECT greatest(d.day, e.first) AS day, d.status, d.provider, sum(d.change) AS change, count(*) AS days
  FROM e, LATERAL (SELECT * FROM rollup.compliance_day AS d WHERE d.deployment = $1 AND d.day <= e.last LIMIT 200001) AS d
  GROUP BY 1, 2, 3
), late AS MATERIALIZED (
  SELECT p.day, w.status, k.provider, sum(k.records * w.sign) AS change
  FROM page AS p, rollup.compliance_end AS k, (VALUES (2, 1), (5, -1)) AS w (status, sign)
  WHERE k.deployment = $1 AND k.ends > chain.unix(p.closed_at)
    AND k.ends < extract(epoch FROM chain.day_start(p.day + 1))::bigint
  GROUP BY 1, 2, 3
), pair AS MATERIALIZED (
  SELECT c.status, c.provider FROM change AS c UNION SELECT l.status, l.provider FROM late AS l ORDER BY status, provider LIMIT 201
), whole AS MATERIALIZED (
  SELECT coalesce(sum(c.days), 0) <= 200000 AS known, (SELECT count(*) FROM pair) <= 200 AS shown FROM change AS c
), day AS (
  SELECT s.day, to_json(array_agg(i ORDER BY s.status, s.provider)) AS counts
  FROM (
      SELECT p.day, q.status, q.provider,
        sum(coalesce(c.change, 0)) OVER (PARTITION BY q.status, q.provider ORDER BY p.day) + coalesce(l.change, 0) AS addresses
      FROM page AS p CROSS JOIN (SELECT * FROM pair LIMIT 200) AS q
        LEFT JOIN change AS c ON c.day = p.day AND c.status = q.status AND c.provider = q.provider
        LEFT JOIN late AS l ON l.day = p.day AND l.status = q.status AND l.provider = q.provider
    ) AS s, LATERAL (SELECT
      (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[s.status + 1] AS "status",
      s.provider AS "provider",
      s.addresses AS "addresses"
    ) AS i
  WHERE s.addresses > 0 AND (SELECT w.known FROM whole AS w)
  GROUP BY s.day
)
SELECT row_to_json(x)::text, p.day::text
FROM page AS p CROSS JOIN whole AS w LEFT JOIN day AS d ON d.day = p.day, LATERAL (SELECT
    p.day::text AS "day",
    p.ledger::text AS "ledger",
    coalesce(d.counts, '[]') AS "counts",
    w.known AND w.shown AS "complete"
  ) AS x
ORDER BY CASE WHEN $7 = 'asc' THEN p.day END, p.day DESC
LIMIT $4
