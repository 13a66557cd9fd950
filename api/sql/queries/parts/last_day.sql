-- The last 24 hours, up to the next minute, as intervals that are stored: short ones at both ends, at most 47. As of a
-- ledger they end with the minute in which it closed; the candles' last trade tells which of them reach beyond it (chain.trades).
  SELECT i.seconds, i.begins, i.ends
  FROM (SELECT $2::integer < 2147483647 AS past,
      CASE WHEN $2 = 2147483647 THEN greatest(now(), c.closed_at) ELSE l.closed_at END AS at
    FROM chain.cursor AS c LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2
    WHERE c.deployment = $1::smallint AND c.ledger > 0) AS t,
    LATERAL (SELECT chain.interval_start(60, t.at - interval '24 hours') + interval '1 minute' AS minute) AS m,
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
