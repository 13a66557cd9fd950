-- The quote asset, and the ledgers whose close was the state of 24 hours and of 7 days ago: null where the index does not
-- have the ledger after it, so that the state may have changed in between.
  SELECT w.usdc,
    CASE WHEN w.day >= w.newest OR EXISTS (SELECT FROM chain.ledger AS l
      WHERE l.deployment = $1::smallint AND l.ledger = w.day + 1) THEN w.day END AS day,
    CASE WHEN w.week >= w.newest OR EXISTS (SELECT FROM chain.ledger AS l
      WHERE l.deployment = $1 AND l.ledger = w.week + 1) THEN w.week END AS week
  FROM (SELECT least(c.ledger, $2::integer) AS newest,
      CASE WHEN $2 = 2147483647 THEN greatest(now(), c.closed_at) ELSE l.closed_at END + interval '1 microsecond' AS at
    FROM chain.cursor AS c LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2
    WHERE c.deployment = $1 AND c.ledger > 0) AS t,
    LATERAL (SELECT t.newest, chain.ledger_before($1, t.at - interval '24 hours') AS day,
      chain.ledger_before($1, t.at - interval '7 days') AS week,
      (SELECT j.address FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
        WHERE d.id = $1 AND j.role = 'usdc' LIMIT 1) AS usdc) AS w
