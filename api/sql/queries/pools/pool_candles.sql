-- list: deployment at after limit pool interval from to
-- of: pool
-- tag: Pools
-- summary: Candles of a pool
-- about: Newest first; an interval without a trade has no candle. Prices are what the pool's own entry says after a
--   transaction that traded: token A in B, 14 decimals, cut. With `ledger` those intervals that were over when it
--   closed.
-- answer: PoolCandles of Candle
-- schema: Candle
--   at           Time      beginning of the interval
--   open         Scaled?   token A in B after the first transaction that traded; null: the pool was empty then
--   high         Scaled?   the highest of them
--   low          Scaled?   the lowest of them
--   close        Scaled?   token A in B after the last transaction that traded
--   swaps        U64       trades
--   volumeA      Amount+   token A that trades moved, in or out, raw units
--   volumeB      Amount+   token B that trades moved, in or out, raw units
--   feesA        Amount?+  fees paid in token A, the protocol's part included, raw units; null: the pool's tier is not
--                          indexed
--   feesB        Amount?+  fees paid in token B, the same way
--   volumeQuote  Amount?+  volume in USDC, raw units; null: neither token is USDC
--   feesQuote    Amount?+  fees in USDC, those in the other token at their trade's own rate; null: neither token is
--                          USDC
--   firstLedger  Ledger    of the first trade
--   lastLedger   Ledger    of the last trade
-- example: {"at":"2026-01-31T07:00:00Z", "open":"0.35815114039476", "high":"0.36610188405606",
--   "low":"0.34803544628953", "close":"0.36551844344021", "swaps":"33", "volumeA":"4178355430662",
--   "volumeAScaled":"417835.5430662", "volumeB":"1496406158573", "volumeBScaled":"149640.6158573",
--   "feesA":"5408383930", "feesAScaled":"540.8383930", "feesB":"2561940020", "feesBScaled":"256.1940020",
--   "volumeQuote":"1496406158573", "volumeQuoteScaled":"149640.6158573", "feesQuote":"4489218457",
--   "feesQuoteScaled":"448.9218457", "firstLedger":"1512", "lastLedger":"1534"}
--
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
