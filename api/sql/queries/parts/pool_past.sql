-- The quote asset, and the ledgers whose close was the state of 24 hours and of 7 days ago (chain.spans).
  SELECT (SELECT j.address FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
      WHERE d.id = $1::smallint AND j.role = 'usdc' LIMIT 1) AS usdc,
    max(s.ledger) FILTER (WHERE s.span = '24h') AS day, max(s.ledger) FILTER (WHERE s.span = '7d') AS week
  FROM chain.spans($1, $2::integer) AS s
