-- schema: Pool
--   pool               Symbol    id of the pool
--   contract           Address   the contract
--   tokenA             Address   the first token
--   tokenASymbol       string?   its symbol, where it is known; with `?ledger=` too it is the present one
--   tokenB             Address   the second token
--   tokenBSymbol       string?   its symbol, where it is known; with `?ledger=` too it is the present one
--   reserveA           Amount+   the first token in the pool
--   reserveB           Amount+   the second token in the pool
--   spotPrice          Amount?+  price of A in B, 7 decimals; null: the pool is empty
--   totalShares        Amount    shares of all providers
--   feeTierBps         Bps       fee of a swap
--   cumulativeVolumeA  Amount+   traded in total, in A
--   cumulativeVolumeB  Amount+   traded in total, in B
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
--   "totalShares":"272447952563", "feeTierBps":"5", "cumulativeVolumeA":"54561154065",
--   "cumulativeVolumeAScaled":"5456.1154065", "cumulativeVolumeB":"174525490087",
--   "cumulativeVolumeBScaled":"17452.5490087", "feeAccumulatorA":"93602449", "feeAccumulatorB":"288238469",
--   "paused":false, "changedLedger":"1534", "changedAt":"2026-01-31T07:23:59Z"}
FROM k, LATERAL (
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
  ) AS p, LATERAL (SELECT
    k.pool_id AS "pool",
    k.contract AS "contract",
    p.token_a AS "tokenA",
    (SELECT t.symbol FROM chain.token AS t WHERE t.deployment = $1 AND t.token = p.token_a) AS "tokenASymbol",
    p.token_b AS "tokenB",
    (SELECT t.symbol FROM chain.token AS t WHERE t.deployment = $1 AND t.token = p.token_b) AS "tokenBSymbol",
    p.reserve_a::text AS "reserveA",
    analyst.scaled(p.reserve_a)::text AS "reserveAScaled",
    p.reserve_b::text AS "reserveB",
    analyst.scaled(p.reserve_b)::text AS "reserveBScaled",
    div(p.reserve_b * 10000000, nullif(p.reserve_a, 0))::text AS "spotPrice",
    analyst.scaled(div(p.reserve_b * 10000000, nullif(p.reserve_a, 0)))::text AS "spotPriceScaled",
    p.total_shares::text AS "totalShares",
    p.fee_tier::text AS "feeTierBps",
    p.cumulative_vol_a::text AS "cumulativeVolumeA",
    analyst.scaled(p.cumulative_vol_a)::text AS "cumulativeVolumeAScaled",
    p.cumulative_vol_b::text AS "cumulativeVolumeB",
    analyst.scaled(p.cumulative_vol_b)::text AS "cumulativeVolumeBScaled",
    p.fee_a_accum::text AS "feeAccumulatorA",
    p.fee_b_accum::text AS "feeAccumulatorB",
    p.paused AS "paused",
    p.ledger::text AS "changedLedger",
    chain.rfc3339(p.closed_at) AS "changedAt"
  ) AS x
