-- The last 24 hours, up to the next minute, as intervals that are stored: short ones at both ends, at most 47. As of a
-- ledger they end with the minute in which it closed; the candles' last trade tells which of them reach beyond it (chain.trades).
  SELECT i.seconds, i.begins, i.ends
  FROM (SELECT $2::integer < 2147483647 AS past, s.begins, s.begins + interval '24 hours' AS at
    FROM chain.spans($1::smallint, $2) AS s WHERE s.span = '24h') AS t,
    LATERAL (SELECT chain.interval_start(60, t.begins) + interval '1 minute' AS minute) AS m,
    LATERAL (SELECT chain.interval_start(900, m.minute + interval '14 minutes') AS quarter,
      chain.interval_start(3600, m.minute + interval '59 minutes') AS hour,
      chain.interval_start(14400, m.minute + interval '239 minutes') AS hours,
      CASE WHEN t.past THEN chain.interval_start(14400, t.at) ELSE 'infinity' END AS last_hours,
      CASE WHEN t.past THEN chain.interval_start(3600, t.at) ELSE 'infinity' END AS last_hour,
      CASE WHEN t.past THEN chain.interval_start(900, t.at) ELSE 'infinity' END AS last_quarter) AS b,
    LATERAL (VALUES (60, m.minute, b.quarter), (900, b.quarter, b.hour), (3600, b.hour, b.hours),
      (14400, b.hours, b.last_hours), (3600, b.last_hours, b.last_hour), (900, b.last_hour, b.last_quarter),
      (60, b.last_quarter, 'infinity'::timestamptz)) AS i (seconds, begins, ends)
  WHERE i.begins < i.ends
