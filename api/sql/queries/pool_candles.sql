-- list: deployment at after limit pool interval from to
-- of: pool
-- Trade of a pool by interval, the newest first, over the key of the candles: no trade, no item. As of a ledger those
-- that were over when it closed.
SELECT row_to_json(x)::text, extract(epoch FROM c.at)::bigint::text
FROM rollup.candle AS c, LATERAL (SELECT
    chain.rfc3339(c.at) AS "at",
    c.open_price::text AS "open",
    c.high_price::text AS "high",
    c.low_price::text AS "low",
    c.close_price::text AS "close",
    c.swaps::text AS "swaps",
    c.volume_a::text AS "volumeA",
    analyst.scaled(c.volume_a)::text AS "volumeAScaled",
    c.volume_b::text AS "volumeB",
    analyst.scaled(c.volume_b)::text AS "volumeBScaled",
    c.fees_a::text AS "feesA",
    analyst.scaled(c.fees_a)::text AS "feesAScaled",
    c.fees_b::text AS "feesB",
    analyst.scaled(c.fees_b)::text AS "feesBScaled",
    c.volume_quote::text AS "volumeQuote",
    analyst.scaled(c.volume_quote)::text AS "volumeQuoteScaled",
    c.fees_quote::text AS "feesQuote",
    analyst.scaled(c.fees_quote)::text AS "feesQuoteScaled",
    (c.first_place >> 20)::text AS "firstLedger",
    (c.last_place >> 20)::text AS "lastLedger"
  ) AS x
WHERE c.deployment = $1::smallint AND c.pool_id = $5::text
  AND c.seconds = CASE $6::text WHEN '1m' THEN 60 WHEN '5m' THEN 300 WHEN '1d' THEN 86400 ELSE 3600 END
  AND ($7::text IS NULL OR c.at >= to_timestamp($7::bigint)) AND ($8::text IS NULL OR c.at < to_timestamp($8::bigint))
  AND ($2::integer = 2147483647 OR c.at <= (SELECT l.closed_at FROM chain.ledger AS l
    WHERE l.deployment = $1 AND l.ledger = $2) - c.seconds * interval '1 second')
  AND ($3::text IS NULL OR c.at < to_timestamp($3::bigint))
ORDER BY c.at DESC
LIMIT $4::integer
