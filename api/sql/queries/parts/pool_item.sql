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
