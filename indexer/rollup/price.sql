-- Prices of feeds by interval: the medians of the rounds, and the feed's last average.
WITH minute AS (
  SELECT asset_key, chain.interval_start(60, closed_at) AS at, min(ARRAY[ledger, tx, op, event, median_price]) AS first,
    max(ARRAY[ledger, tx, op, event, median_price]) AS last, max(median_price) AS high, min(median_price) AS low,
    count(*) AS rounds, NULL::numeric[] AS feed
  FROM {!event.oracle_price_aggregate} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  GROUP BY 1, 2
  UNION ALL
  SELECT asset_key, chain.interval_start(60, closed_at), NULL, NULL, NULL, NULL, 0, max(ARRAY[ledger, tx, seq, twap_price])
  FROM {!history.oracle_feed} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  GROUP BY 1, 2
)
INSERT INTO {=price} AS p (deployment, asset, seconds, at, open_price, high_price, low_price, close_price, first_ledger,
  last_ledger, rounds, twap_price, twap_ledger)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = m.asset_key), i.seconds,
  chain.interval_start(i.seconds, m.at) AS began, (min(m.first))[5], max(m.high), min(m.low),
  (max(m.last))[5], (min(m.first))[1]::integer, (max(m.last))[1]::integer, sum(m.rounds), (max(m.feed))[4],
  (max(m.feed))[1]::integer
FROM minute AS m CROSS JOIN (VALUES (60), (300), (900), (3600), (14400), (86400), (604800)) AS i (seconds)
GROUP BY m.asset_key, i.seconds, began
ON CONFLICT (deployment, asset, seconds, at) DO UPDATE SET
  open_price = CASE WHEN excluded.first_ledger < coalesce(p.first_ledger, 2147483647) THEN excluded.open_price
    ELSE p.open_price END,
  close_price = CASE WHEN excluded.last_ledger > coalesce(p.last_ledger, 0) THEN excluded.close_price ELSE p.close_price END,
  first_ledger = least(p.first_ledger, excluded.first_ledger),
  last_ledger = greatest(p.last_ledger, excluded.last_ledger),
  high_price = greatest(p.high_price, excluded.high_price),
  low_price = least(p.low_price, excluded.low_price),
  rounds = p.rounds + excluded.rounds,
  twap_price = CASE WHEN excluded.twap_ledger > coalesce(p.twap_ledger, 0) THEN excluded.twap_price ELSE p.twap_price END,
  twap_ledger = greatest(p.twap_ledger, excluded.twap_ledger)
