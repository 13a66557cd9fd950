-- schema: MarketDebt
--   market  Symbol   symbol of the market
--   debt    Amount+?  debt of all its vaults
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE o.value > 0) AS markets,
      count(*) FILTER (WHERE o.value > 0 AND u.value IS NULL AND (m.synth_price IS NULL OR unit.debt IS NULL)) AS unpriced,
      CASE WHEN count(*) FILTER (WHERE o.value > 0) = 0 THEN 0
        ELSE sum(u.value) FILTER (WHERE o.value > 0) END AS value,
      ('[' || coalesce(string_agg(row_to_json(i)::text, ',' ORDER BY i.market), '') || ']')::json AS items
    FROM owed AS o LEFT JOIN chain.vault_market($1::smallint, $2::integer) AS m ON m.symbol = o.synth,
      LATERAL (SELECT (SELECT d.decimals FROM chain.market_decimals($1::smallint, o.synth, $2::integer) AS d) AS debt OFFSET 0) AS unit,
      LATERAL (SELECT chain.quoted(chain.vault_value(o.value, m.synth_price), 10000000, unit.debt, 7) AS value) AS u,
      LATERAL (SELECT o.synth AS "market", o.value::text AS "debt", analyst.scaled(o.value, unit.debt)::text AS "debtScaled") AS i
  ) AS d
  -- ever: the whole past is known, lately: the last day is
  CROSS JOIN LATERAL (SELECT NOT EXISTS (SELECT FROM chain.start AS o WHERE o.deployment = $1) AS ever,
      NOT EXISTS (SELECT FROM chain.start AS o WHERE o.deployment = $1 AND o.closed_at >= b.minute) AS lately) AS g
  CROSS JOIN LATERAL (SELECT
    CASE WHEN g.ever THEN a.users END AS "users",
    CASE WHEN g.ever THEN a.swaps END AS "swaps",
    CASE WHEN g.ever THEN a.volume::text END AS "volumeQuote",
    CASE WHEN g.ever THEN analyst.scaled(a.volume, h.decimals)::text END AS "volumeQuoteScaled",
    CASE WHEN g.ever THEN a.fees::text END AS "feesQuote",
    CASE WHEN g.ever THEN analyst.scaled(a.fees, h.decimals)::text END AS "feesQuoteScaled",
    CASE WHEN g.ever THEN a.liquidations END AS "liquidations",
    CASE WHEN g.lately THEN l.swaps END AS "swaps24h",
    CASE WHEN g.lately THEN l.volume::text END AS "volumeQuote24h",
    CASE WHEN g.lately THEN analyst.scaled(l.volume, h.decimals)::text END AS "volumeQuote24hScaled",
    CASE WHEN g.lately THEN l.fees::text END AS "feesQuote24h",
    CASE WHEN g.lately THEN analyst.scaled(l.fees, h.decimals)::text END AS "feesQuote24hScaled",
    chain.rfc3339(b.minute) AS "since24hAt",
    h.total::text AS "tvl",
    analyst.scaled(h.total, h.decimals)::text AS "tvlScaled",
    h.pools::text AS "tvlPools",
    analyst.scaled(h.pools, h.decimals)::text AS "tvlPoolsScaled",
    h.collateral::text AS "tvlCollateral",
    analyst.scaled(h.collateral, h.decimals)::text AS "tvlCollateralScaled",
    h.stability::text AS "tvlStability",
    analyst.scaled(h.stability, h.decimals)::text AS "tvlStabilityScaled",
    h.unpriced AS "unpriced",
    s.tokens AS "stalePrices",
    d.value::text AS "debtValue",
    analyst.scaled(d.value, 7)::text AS "debtValueScaled",
    d.markets AS "indebtedMarkets",
    d.unpriced AS "unpricedDebts",
    d.items AS "debts"
  ) AS x
