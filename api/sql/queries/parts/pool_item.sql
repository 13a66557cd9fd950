-- schema: Pool
--   pool               Symbol    id of the pool
--   contract           Address   the contract
--   tokenA             Address   the first token
--   tokenASymbol       string?   its symbol, where it is known
--   tokenB             Address   the second token
--   tokenBSymbol       string?   its symbol, where it is known
--   reserveA           Amount+?  the first token in the pool
--   reserveB           Amount+?  the second token in the pool
--   spotPrice          Amount?+  price of A in B: the contract's, units of B for one of A, 7 decimals; null: the pool is
--                                empty. Scaled: the price in whole tokens, 7 decimals, cut
--   change24hBps       Bps?      change of that price in 24 hours; null: it had no price then, or that is not indexed
--   tvlQuote           Amount?+  twice its USDC; null: neither token is USDC
--   volumeQuote24h     Amount?+  volume of the last 24 hours in USDC, from the next minute on; null: neither token is
--                                USDC, or as `swaps24h`
--   feesQuote24h       Amount?+  fees of these trades in USDC, the protocol's part included
--   swaps24h           Count?    number of these trades; null: as of a ledger whose last trades are archived, or where the
--                                past before `History-From` counts
--   providerReturnBps  Bps?      what a share earned in fees in the last 7 days, against its value now, times 365 / 7;
--                                fees in A count at the spot price; null: the pool was empty or not indexed then
--   totalShares        Amount    shares of all providers
--   feeTierBps         Bps       fee of a swap
--   cumulativeVolumeA  Amount+?  traded in total, in A
--   cumulativeVolumeB  Amount+?  traded in total, in B
--   feeAccumulatorA    Amount    fees in A for one share, times 10^12
--   feeAccumulatorB    Amount    fees in B for one share, times 10^12
--   paused             boolean   whether it is paused
--   changedLedger      Ledger    in which this was last written
--   changedAt          Time      when that ledger closed
-- example: {"pool":"SBTCUSDC", "contract":"CAPI6GJZBFPXFHEAHG5236JYOCGMVD4F73BCSUC5L64IBT4R2HH5KJRL",
--   "tokenA":"CAHNC4T473GZWSNB3YOY6QREKECN7F3X5IVQQB2J4MCPFKLTASN57RS4", "tokenASymbol":"sBTC",
--   "tokenB":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "tokenBSymbol":"USDC",
--   "reserveA":"205350158051", "reserveAScaled":"20535.0158051", "reserveB":"361730943937",
--   "reserveBScaled":"36173.0943937", "spotPrice":"17615323", "spotPriceScaled":"1.7615323",
--   "change24hBps":"-36", "tvlQuote":"723461887874", "tvlQuoteScaled":"72346.1887874", "volumeQuote24h":"1824106021",
--   "volumeQuote24hScaled":"182.4106021", "feesQuote24h":"912053", "feesQuote24hScaled":"0.0912053", "swaps24h":7,
--   "providerReturnBps":"182",
--   "totalShares":"272447952563", "feeTierBps":"5", "cumulativeVolumeA":"54561154065",
--   "cumulativeVolumeAScaled":"5456.1154065", "cumulativeVolumeB":"174525490087",
--   "cumulativeVolumeBScaled":"17452.5490087", "feeAccumulatorA":"93602449", "feeAccumulatorB":"288238469",
--   "paused":false, "changedLedger":"1534", "changedAt":"2026-01-31T07:23:59Z"}
FROM k, past, LATERAL (
    SELECT s.token_a, s.token_b, s.reserve_a, s.reserve_b, s.total_shares, s.fee_tier, s.cumulative_vol_a, s.cumulative_vol_b,
      s.fee_a_accum, s.fee_b_accum, s.paused, s.ledger, s.closed_at, false AS removed
    FROM state.liquidity_pool_pool AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = k.key_hash
    UNION ALL
    (SELECT h.token_a, h.token_b, h.reserve_a, h.reserve_b, h.total_shares, h.fee_tier, h.cumulative_vol_a,
      h.cumulative_vol_b, h.fee_a_accum, h.fee_b_accum, h.paused, h.ledger, h.closed_at, h.removed
    FROM history.liquidity_pool_pool AS h
    WHERE $2 < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS p
  LEFT JOIN LATERAL (SELECT h.reserve_a, h.reserve_b, h.removed FROM history.liquidity_pool_pool AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= past.day
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS d ON NOT d.removed
  LEFT JOIN LATERAL (SELECT h.total_shares, h.fee_a_accum, h.fee_b_accum, h.removed FROM history.liquidity_pool_pool AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= past.week
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS w ON NOT w.removed AND w.total_shares > 0,
  LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_a, $2::integer) AS d) AS a, (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_b, $2::integer) AS d) AS b OFFSET 0) AS o,
  LATERAL (SELECT o.a, o.b, CASE past.usdc WHEN p.token_a THEN o.a WHEN p.token_b THEN o.b END AS quote,
      CASE WHEN o.a + o.b IS NULL THEN 0 ELSE o.a END AS known_a, CASE WHEN o.a + o.b IS NULL THEN 0 ELSE o.b END AS known_b) AS unit,
  LATERAL (SELECT
    CASE past.usdc WHEN p.token_a THEN 2 * p.reserve_a WHEN p.token_b THEN 2 * p.reserve_b END AS tvl,
    div(p.reserve_b * 10000000, nullif(p.reserve_a, 0)) AS spot,
    chain.price(p.reserve_b, unit.b, p.reserve_a, unit.a) AS price,
    chain.price(p.reserve_b, unit.known_b, p.reserve_a, unit.known_a) AS now,
    chain.price(d.reserve_b, unit.known_b, d.reserve_a, unit.known_a) AS day_ago,
    p.fee_a_accum - w.fee_a_accum AS earned_a,
    p.fee_b_accum - w.fee_b_accum AS earned_b,
    least(p.reserve_a, p.reserve_b, p.total_shares) > 0 AS filled
  ) AS v,
  LATERAL (SELECT
    div((v.now - v.day_ago) * 10000, nullif(v.day_ago, 0)) AS change,
    CASE WHEN v.filled AND least(v.earned_a, v.earned_b) >= 0 THEN
      div((v.earned_a * p.reserve_b + v.earned_b * p.reserve_a) * p.total_shares * 3650000,
        2 * p.reserve_a * p.reserve_b * 7000000000000) END AS provider_return
  ) AS r,
  LATERAL (SELECT coalesce(sum(c.swaps), 0) AS swaps, coalesce(sum(c.volume_quote), 0) AS volume, coalesce(sum(c.fees_quote), 0) AS fees,
      coalesce(bool_and(c.known), true) AND NOT EXISTS (SELECT FROM chain.start AS o WHERE o.deployment = $1
        AND o.closed_at >= (SELECT min(i.begins) FROM last_day AS i)) AS known
    FROM (
        SELECT c.swaps, c.volume_quote, c.fees_quote, true AS known
        FROM last_day AS i, rollup.candle AS c
        WHERE c.deployment = $1 AND c.pool_id = k.pool_id AND c.seconds = i.seconds AND c.at >= i.begins AND c.at < i.ends
          AND c.last_place < ($2::bigint + 1) * 1048576
        UNION ALL
        SELECT m.swaps, m.volume_quote, m.fees_quote, NOT EXISTS (SELECT FROM chain.archive AS a
          WHERE a.deployment = $1 AND a.from_ledger <= $2 AND a.end_ledger > b.ledger)
        FROM last_day AS i, rollup.candle AS c, LATERAL (SELECT (c.first_place / 1048576)::integer AS ledger) AS b,
          LATERAL chain.trades($1, k.pool_id, b.ledger, $2) AS m
        WHERE $2 < 2147483647 AND i.ends = 'infinity' AND c.deployment = $1 AND c.pool_id = k.pool_id AND c.seconds = i.seconds
          AND c.at >= i.begins AND c.first_place < ($2::bigint + 1) * 1048576 AND c.last_place >= ($2::bigint + 1) * 1048576
      ) AS c) AS t,
  LATERAL (SELECT
    k.pool_id AS "pool",
    k.contract AS "contract",
    p.token_a AS "tokenA",
    (SELECT t.symbol FROM chain.token_at($1::smallint, p.token_a, $2::integer) AS t) AS "tokenASymbol",
    p.token_b AS "tokenB",
    (SELECT t.symbol FROM chain.token_at($1::smallint, p.token_b, $2::integer) AS t) AS "tokenBSymbol",
    p.reserve_a::text AS "reserveA",
    analyst.scaled(p.reserve_a, unit.a)::text AS "reserveAScaled",
    p.reserve_b::text AS "reserveB",
    analyst.scaled(p.reserve_b, unit.b)::text AS "reserveBScaled",
    v.spot::text AS "spotPrice",
    analyst.scaled(v.price, 7)::text AS "spotPriceScaled",
    CASE WHEN abs(r.change) < 1e39 THEN r.change::text END AS "change24hBps",
    v.tvl::text AS "tvlQuote",
    analyst.scaled(v.tvl, unit.quote)::text AS "tvlQuoteScaled",
    CASE WHEN v.tvl IS NOT NULL AND t.known THEN t.volume::text END AS "volumeQuote24h",
    CASE WHEN v.tvl IS NOT NULL AND t.known THEN analyst.scaled(t.volume, unit.quote)::text END AS "volumeQuote24hScaled",
    CASE WHEN v.tvl IS NOT NULL AND t.known THEN t.fees::text END AS "feesQuote24h",
    CASE WHEN v.tvl IS NOT NULL AND t.known THEN analyst.scaled(t.fees, unit.quote)::text END AS "feesQuote24hScaled",
    CASE WHEN t.known THEN t.swaps END AS "swaps24h",
    CASE WHEN r.provider_return < 1e39 THEN r.provider_return::text END AS "providerReturnBps",
    p.total_shares::text AS "totalShares",
    p.fee_tier::text AS "feeTierBps",
    p.cumulative_vol_a::text AS "cumulativeVolumeA",
    analyst.scaled(p.cumulative_vol_a, unit.a)::text AS "cumulativeVolumeAScaled",
    p.cumulative_vol_b::text AS "cumulativeVolumeB",
    analyst.scaled(p.cumulative_vol_b, unit.b)::text AS "cumulativeVolumeBScaled",
    p.fee_a_accum::text AS "feeAccumulatorA",
    p.fee_b_accum::text AS "feeAccumulatorB",
    p.paused AS "paused",
    p.ledger::text AS "changedLedger",
    chain.rfc3339(p.closed_at) AS "changedAt"
  ) AS x
