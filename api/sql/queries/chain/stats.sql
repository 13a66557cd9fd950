-- one: deployment at
-- none: nothing is indexed yet
-- tag: Statistics
-- summary: Totals of the protocol
-- about: Totals now or as of a ledger, and of the 24 hours before. If the index began with the state of a checkpoint (`History-From`), totals
--   of all time are null, and so are those of 24 hours until the index has followed the network for 24 hours.
-- answer: Stats
--   users            Count?        different addresses that were ever active; with `?ledger=` null
--   swaps            Count?        trades ever; null: as of a ledger whose last trades are archived, as the next five
--   volumeQuote      Amount?+      volume of pools with USDC ever, in USDC
--   feesQuote        Amount?+      fees of pools with USDC ever, in USDC
--   liquidations     Count?        vaults liquidated ever, each time; with `?ledger=` null where that day's events are archived
--   swaps24h         Count?        trades since `since24hAt`
--   volumeQuote24h   Amount?+      volume since `since24hAt`, in USDC
--   feesQuote24h     Amount?+      fees since `since24hAt`, in USDC
--   since24hAt       Time          24 hours before the later of the clock and the newest close, up to the next minute; with
--                                  `?ledger=` before its close
--   tvl              Amount?+      what the protocol holds, in USDC: the next three together
--   tvlPools         Amount?+      twice the USDC in pools with USDC
--   tvlCollateral    Amount?+      collateral that the vault engine holds, at the feed of each token's symbol if a market
--                                  prices collateral by that feed; tokens never accepted as collateral do not count
--   tvlStability     Amount?+      deposits in the stability pool
--   unpriced         Count?        pools without USDC and collateral without a feed, which are not in the sums
--   stalePrices      Count         tokens in `tvlCollateral` whose average price the oracle calls stale; they are in the sum
--                                  all the same
--   debtValue        Amount?+      debt of all markets at the oracle's average prices, in US dollars, 7 decimals; markets
--                                  without a fresh one are left out; null: all of them
--   indebtedMarkets  Count         markets with debt
--   unpricedDebts    Count         of these, markets without a fresh price
--   debts            MarketDebt[]
-- example: {"users":64, "swaps":1100, "volumeQuote":"24072013958154", "volumeQuoteScaled":"2407201.3958154",
--   "feesQuote":"74588489381", "feesQuoteScaled":"7458.8489381", "liquidations":2, "swaps24h":0,
--   "volumeQuote24h":"0", "volumeQuote24hScaled":"0.0000000", "feesQuote24h":"0", "feesQuote24hScaled":"0.0000000",
--   "since24hAt":"2026-11-20T11:40:00Z", "tvl":"76862248863463", "tvlScaled":"7686224.8863463",
--   "tvlPools":"40685422559828", "tvlPoolsScaled":"4068542.2559828", "tvlCollateral":"30881246786548",
--   "tvlCollateralScaled":"3088124.6786548", "tvlStability":"5295579517087", "tvlStabilityScaled":"529557.9517087",
--   "unpriced":0, "stalePrices":0,
--   "debtValue":"6231000000000", "debtValueScaled":"623100.0000000", "indebtedMarkets":3, "unpricedDebts":0, "debts":[{"market":"sBTC",
--   "debt":"4075344843545", "debtScaled":"407534.4843545"},
--   {"market":"sGOLD", "debt":"1203640063117", "debtScaled":"120364.0063117"}, {"market":"sTSLA",
--   "debt":"974655702716", "debtScaled":"97465.5702716"}]}
--
-- Totals now; of the last 24 hours as /api/pools sums them.
WITH last_day AS MATERIALIZED (
-- part: last_day
), owed AS MATERIALIZED (
  SELECT m.synth, m.value FROM state.synthetic_engine_debt_total AS m WHERE m.deployment = $1
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
      coalesce(sum(d.fees_quote), 0) AS fees, coalesce(sum(d.liquidations), 0) AS liquidations,
      coalesce((SELECT u.users FROM rollup.total AS u WHERE u.deployment = t.deployment), 0) AS users
    FROM rollup.day AS d WHERE d.deployment = t.deployment) AS a
  LEFT JOIN LATERAL (SELECT * FROM rollup.held AS r WHERE r.deployment = t.deployment AND r.day = 'infinity') AS h ON true
  CROSS JOIN LATERAL (SELECT count(*) AS tokens
    FROM (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine') AS e
      JOIN state.stellar_asset_balance AS b ON b.deployment = $1 AND b.address = e.contract AND b.amount > 0
      JOIN chain.collateral AS y ON y.deployment = $1 AND y.token = b.contract
      JOIN state.oracle_feed AS f ON f.deployment = $1 AND f.asset = y.feed
    WHERE chain.moment($1, $2) - f.twap_ts > 600) AS s
-- part: stats_item
