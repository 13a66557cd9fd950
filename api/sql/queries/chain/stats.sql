-- one: deployment at
-- none: nothing is indexed yet
-- tag: Statistics
-- summary: Totals of the protocol
-- about: Totals now, and of the last 24 hours.
-- answer: Stats
--   users           Count         different addresses that were ever active
--   swaps           Count         trades ever
--   volumeQuote     Amount+       volume of pools with USDC ever, in USDC
--   feesQuote       Amount+       fees of pools with USDC ever, in USDC
--   liquidations    Count         vaults liquidated ever, each time
--   swaps24h        Count         trades since `since24hAt`
--   volumeQuote24h  Amount+       volume since `since24hAt`, in USDC
--   feesQuote24h    Amount+       fees since `since24hAt`, in USDC
--   since24hAt      Time          24 hours before the later of the clock and the newest close, up to the next minute
--   tvl             Amount?+      what the protocol holds, in USDC: the next three together
--   tvlPools        Amount?+      twice the USDC in pools with USDC
--   tvlCollateral   Amount?+      tokens that the vault engine holds, at the feed of their symbol
--   tvlStability    Amount?+      deposits in the stability pool
--   unpriced        Count?        pools without USDC and tokens without a feed, which are not in the sums
--   debts           MarketDebt[]
-- example: {"users":64, "swaps":1100, "volumeQuote":"24072013958154", "volumeQuoteScaled":"2407201.3958154",
--   "feesQuote":"74588489381", "feesQuoteScaled":"7458.8489381", "liquidations":2, "swaps24h":0,
--   "volumeQuote24h":"0", "volumeQuote24hScaled":"0.0000000", "feesQuote24h":"0", "feesQuote24hScaled":"0.0000000",
--   "since24hAt":"2026-11-20T11:40:00Z", "tvl":"76862248863463", "tvlScaled":"7686224.8863463",
--   "tvlPools":"40685422559828", "tvlPoolsScaled":"4068542.2559828", "tvlCollateral":"30881246786548",
--   "tvlCollateralScaled":"3088124.6786548", "tvlStability":"5295579517087", "tvlStabilityScaled":"529557.9517087",
--   "unpriced":0, "debts":[{"market":"sBTC", "debt":"4075344843545", "debtScaled":"407534.4843545"},
--   {"market":"sGOLD", "debt":"1203640063117", "debtScaled":"120364.0063117"}, {"market":"sTSLA",
--   "debt":"974655702716", "debtScaled":"97465.5702716"}]}
-- schema: MarketDebt
--   market  Symbol   symbol of the market
--   debt    Amount+  debt of all its vaults
--
-- Totals now; of the last 24 hours as /api/pools sums them.
WITH last_day AS MATERIALIZED (
-- part: last_day
)
SELECT row_to_json(x)::text
FROM (SELECT c.deployment FROM chain.cursor AS c WHERE c.deployment = $1 AND c.ledger > 0) AS t
  CROSS JOIN LATERAL (SELECT min(i.begins) AS minute FROM last_day AS i) AS b
  CROSS JOIN LATERAL (SELECT coalesce(sum(k.swaps), 0) AS swaps, coalesce(sum(k.volume_quote), 0) AS volume,
      coalesce(sum(k.fees_quote), 0) AS fees
    FROM state.liquidity_pool_pool AS p, last_day AS i, rollup.candle AS k
    WHERE p.deployment = t.deployment AND k.deployment = t.deployment AND k.pool_id = p.pool_id AND k.seconds = i.seconds
      AND k.at >= i.begins AND k.at < i.ends) AS l
  CROSS JOIN LATERAL (SELECT coalesce(sum(d.swaps), 0) AS swaps, coalesce(sum(d.volume_quote), 0) AS volume,
      coalesce(sum(d.fees_quote), 0) AS fees, coalesce(sum(d.liquidations), 0) AS liquidations
    FROM rollup.day AS d WHERE d.deployment = t.deployment) AS a
  LEFT JOIN LATERAL (SELECT * FROM rollup.held AS r WHERE r.deployment = t.deployment AND r.day = 'infinity') AS h ON true
  CROSS JOIN LATERAL (SELECT
    coalesce((SELECT u.users FROM rollup.total AS u WHERE u.deployment = t.deployment), 0) AS "users",
    a.swaps AS "swaps",
    a.volume::text AS "volumeQuote",
    analyst.scaled(a.volume)::text AS "volumeQuoteScaled",
    a.fees::text AS "feesQuote",
    analyst.scaled(a.fees)::text AS "feesQuoteScaled",
    a.liquidations AS "liquidations",
    l.swaps AS "swaps24h",
    l.volume::text AS "volumeQuote24h",
    analyst.scaled(l.volume)::text AS "volumeQuote24hScaled",
    l.fees::text AS "feesQuote24h",
    analyst.scaled(l.fees)::text AS "feesQuote24hScaled",
    chain.rfc3339(b.minute) AS "since24hAt",
    h.total::text AS "tvl",
    analyst.scaled(h.total)::text AS "tvlScaled",
    h.pools::text AS "tvlPools",
    analyst.scaled(h.pools)::text AS "tvlPoolsScaled",
    h.collateral::text AS "tvlCollateral",
    analyst.scaled(h.collateral)::text AS "tvlCollateralScaled",
    h.stability::text AS "tvlStability",
    analyst.scaled(h.stability)::text AS "tvlStabilityScaled",
    h.unpriced AS "unpriced",
    (SELECT '[' || coalesce(string_agg(row_to_json(d)::text, ',' ORDER BY d.market), '') || ']' FROM (
      SELECT m.synth AS "market", m.value::text AS "debt", analyst.scaled(m.value)::text AS "debtScaled"
      FROM state.synthetic_engine_debt_total AS m WHERE m.deployment = t.deployment) AS d)::json AS "debts"
  ) AS x
