-- Compliance records by status and provider: the change of their number on each day.
--
-- A version of a record counts from its day up to the day of the next version. A verified one counts as expired (5) from the day
-- of its end on. The sums therefore follow from the last version of each record on each day (compliance_version).
-- line has the versions before this fold (sign -1) and after it (sign 1), from the version before the range to the one behind it.
-- Their difference is the change of the sums.
--
-- A record's versions are found by its key. day + 0 keeps PostgreSQL from using the index of days: by it
-- PostgreSQL would read all records of a day again for each record. Sums that end at 0 are rows to delete (gone). Folds run without
-- nested loops: a join would read all sums of the past.
WITH latest AS (
  SELECT DISTINCT ON (h.key_hash, h.day) h.key_hash, h.day, h.ledger, h.tx, h.seq,
    CASE WHEN NOT h.removed THEN least(h.status, 6)::smallint END AS status, CASE WHEN NOT h.removed THEN h.provider_key END AS provider_key,
    CASE WHEN NOT h.removed AND h.status = 2 AND h.expires_at BETWEEN 1 AND 253402300798 THEN h.expires_at::bigint + 1 END AS ends
  FROM (SELECT *, (closed_at AT TIME ZONE 'UTC')::date AS day
    FROM {!history.compliance_registry_compliance_rec}
    WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer) AS h
  ORDER BY h.key_hash, h.day, h.ledger DESC, h.tx DESC, h.seq DESC
), fresh AS MATERIALIZED (
  SELECT key_hash, day, ledger, tx, seq, status, (SELECT w.word FROM chain.word AS w WHERE w.id = provider_key) AS provider, ends
  FROM latest
), old AS MATERIALIZED (
  SELECT v.key_hash, v.day, v.ledger, v.tx, v.seq, v.status, v.provider, v.ends
  FROM (SELECT f.key_hash, min(f.day) AS first, max(f.day) AS last FROM fresh AS f GROUP BY f.key_hash) AS s
    CROSS JOIN LATERAL (
      (SELECT * FROM {=compliance_version} AS k
      WHERE k.deployment = $1::smallint AND k.key_hash = s.key_hash AND k.day + 0 < s.first ORDER BY k.day + 0 DESC LIMIT 1)
      UNION ALL
      (SELECT * FROM {=compliance_version} AS k
      WHERE k.deployment = $1::smallint AND k.key_hash = s.key_hash AND k.day + 0 BETWEEN s.first AND s.last OFFSET 0)
      UNION ALL
      (SELECT * FROM {=compliance_version} AS k
      WHERE k.deployment = $1::smallint AND k.key_hash = s.key_hash AND k.day + 0 > s.last ORDER BY k.day + 0 LIMIT 1)
    ) AS v
), newer AS MATERIALIZED (
  SELECT f.* FROM fresh AS f WHERE NOT EXISTS (SELECT FROM old AS o
    WHERE o.key_hash = f.key_hash AND o.day = f.day AND (o.ledger, o.tx, o.seq) >= (f.ledger, f.tx, f.seq))
), line AS (
  SELECT -1 AS sign, o.key_hash, o.day, o.status, o.provider, o.ends FROM old AS o
  UNION ALL
  SELECT 1, o.key_hash, o.day, o.status, o.provider, o.ends FROM old AS o
  WHERE NOT EXISTS (SELECT FROM newer AS n WHERE n.key_hash = o.key_hash AND n.day = o.day)
  UNION ALL
  SELECT 1, n.key_hash, n.day, n.status, n.provider, n.ends FROM newer AS n
), phase AS MATERIALIZED (
  SELECT sign, status, provider, ends, day,
    coalesce(lead(day) OVER (PARTITION BY sign, key_hash ORDER BY day), 'infinity') AS until,
    (to_timestamp(ends) AT TIME ZONE 'UTC')::date AS end_day
  FROM line
), step AS (
  SELECT day, CASE WHEN end_day < day THEN 5 ELSE status END AS status, provider, sign
  FROM phase WHERE status IS NOT NULL
  UNION ALL
  SELECT until, CASE WHEN end_day < until THEN 5 ELSE status END, provider, -sign
  FROM phase WHERE status IS NOT NULL AND until < 'infinity'
  UNION ALL
  SELECT end_day, w.status, provider, sign * w.change
  FROM phase CROSS JOIN (VALUES (2, -1), (5, 1)) AS w (status, change) WHERE end_day >= day AND end_day < until
), changed AS MATERIALIZED (
  SELECT c.*, (SELECT d.ctid FROM {=compliance_day} AS d WHERE d.deployment = $1::smallint AND d.day = c.day AND d.status = c.status
      AND d.provider = c.provider AND d.change + c.change = 0) AS gone
  FROM (SELECT day, status::smallint AS status, provider, sum(sign) AS change FROM step GROUP BY 1, 2, 3 HAVING sum(sign) <> 0) AS c
), ended AS MATERIALIZED (
  SELECT e.*, (SELECT d.ctid FROM {=compliance_end} AS d WHERE d.deployment = $1::smallint AND d.ends = e.ends AND d.provider = e.provider
      AND d.records + e.records = 0) AS gone
  FROM (SELECT ends, provider, sum(sign) AS records FROM phase WHERE end_day >= day AND end_day < until
    GROUP BY ends, provider HAVING sum(sign) <> 0) AS e
), kept AS (
  INSERT INTO {=compliance_version} (deployment, key_hash, day, ledger, tx, seq, status, provider, ends)
  SELECT $1::smallint, key_hash, day, ledger, tx, seq, status, provider, ends FROM newer
  ON CONFLICT (deployment, key_hash, day) DO UPDATE SET
    ledger = excluded.ledger,
    tx = excluded.tx,
    seq = excluded.seq,
    status = excluded.status,
    provider = excluded.provider,
    ends = excluded.ends
), day_gone AS (
  DELETE FROM {=compliance_day} WHERE ctid = ANY (ARRAY(SELECT gone FROM changed WHERE gone IS NOT NULL))
), end_gone AS (
  DELETE FROM {=compliance_end} WHERE ctid = ANY (ARRAY(SELECT gone FROM ended WHERE gone IS NOT NULL))
), end_put AS (
  INSERT INTO {=compliance_end} AS d (deployment, ends, provider, records)
  SELECT $1::smallint, ends, provider, records FROM ended WHERE gone IS NULL
  ON CONFLICT (deployment, ends, provider) DO UPDATE SET records = d.records + excluded.records
)
INSERT INTO {=compliance_day} AS d (deployment, day, status, provider, change)
SELECT $1::smallint, day, status, provider, change FROM changed WHERE gone IS NULL
ON CONFLICT (deployment, day, status, provider) DO UPDATE SET change = d.change + excluded.change
