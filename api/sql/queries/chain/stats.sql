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
--   unpriced         Count?        pools without USDC and collateral without a feed or decimals, which are not in the sums
--   stalePrices      Count         tokens in `tvlCollateral` whose average price the oracle calls stale; they are in the sum
--                                  all the same
--   debtValue        Amount?+      debt of all markets at the oracle's average prices, in US dollars, 7 decimals; markets
--                                  without a fresh one, or decimals, are left out; null: all of them
--   indebtedMarkets  Count         markets with debt
--   unpricedDebts    Count         of these, markets without a fresh price or decimals
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
-- Totals now, or as of a ledger, by the same sums. Flows are sums of whole days, and as of a ledger of the days before it and of the
-- intervals of its day; those of the last 24 hours as /api/pools sums them. Holdings come from the entries, or from the newest
-- version of each up to the ledger, computed like rollup.held.
WITH last_day AS MATERIALIZED (
-- part: last_day
), moment AS MATERIALIZED (
  SELECT t.past, t.at, CASE WHEN t.past THEN (t.at AT TIME ZONE 'UTC')::date ELSE 'infinity' END AS day,
    chain.interval_start(86400, t.at) AS midnight,
    (SELECT q.token FROM chain.quote AS q WHERE q.deployment = $1) AS usdc, (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS decimals
  FROM (SELECT $2::integer < 2147483647 AS past, s.begins + interval '24 hours' AS at
    FROM chain.spans($1::smallint, $2) AS s WHERE s.span = '24h') AS t
  WHERE t.at IS NOT NULL
), span AS MATERIALIZED (
  SELECT true AS newest, i.seconds, i.begins, i.ends FROM last_day AS i
  UNION ALL
  SELECT false, i.seconds, i.begins, i.ends
  FROM moment AS m, LATERAL (SELECT chain.interval_start(14400, m.at) AS hours, chain.interval_start(3600, m.at) AS hour,
      chain.interval_start(900, m.at) AS quarter) AS b,
    LATERAL (VALUES (14400, m.midnight, b.hours), (3600, b.hours, b.hour), (900, b.hour, b.quarter),
      (60, b.quarter, 'infinity'::timestamptz)) AS i (seconds, begins, ends)
  WHERE m.past AND i.begins < i.ends
), traded AS MATERIALIZED (
  -- Every pool that ever traded, by one index probe each: one whose entry is gone, or was never decoded, has its trades all the same.
  WITH RECURSIVE n AS (
    (SELECT c.pool_id FROM rollup.candle AS c WHERE c.deployment = $1 ORDER BY c.pool_id LIMIT 1)
    UNION ALL
    SELECT c.pool_id FROM n, LATERAL (SELECT c.pool_id FROM rollup.candle AS c
      WHERE c.deployment = $1 AND c.pool_id > n.pool_id ORDER BY c.pool_id LIMIT 1) AS c
  )
  SELECT n.pool_id FROM n
), pool AS MATERIALIZED (
-- part: pools_then
), trade AS MATERIALIZED (
  SELECT i.newest, sum(c.swaps) AS swaps, coalesce(sum(c.volume_quote), 0) AS volume, coalesce(sum(c.fees_quote), 0) AS fees,
    bool_and(c.known) AS known
  FROM traded AS p, span AS i, LATERAL (
      SELECT c.swaps, c.volume_quote, c.fees_quote, true AS known
      FROM rollup.candle AS c
      WHERE c.deployment = $1 AND c.pool_id = p.pool_id AND c.seconds = i.seconds AND c.at >= i.begins AND c.at < i.ends
        AND c.last_place < ($2::bigint + 1) * 1048576
      UNION ALL
      SELECT m.swaps, m.volume_quote, m.fees_quote, NOT EXISTS (SELECT FROM chain.archive AS a
        WHERE a.deployment = $1 AND a.from_ledger <= $2 AND a.end_ledger > b.ledger)
      FROM rollup.candle AS c, LATERAL (SELECT (c.first_place / 1048576)::integer AS ledger) AS b,
        LATERAL chain.trades($1::smallint, p.pool_id, b.ledger, $2) AS m
      WHERE $2::integer < 2147483647 AND i.ends = 'infinity' AND c.deployment = $1 AND c.pool_id = p.pool_id AND c.seconds = i.seconds
        AND c.at >= i.begins AND c.first_place < ($2::bigint + 1) * 1048576 AND c.last_place >= ($2::bigint + 1) * 1048576
    ) AS c
  GROUP BY i.newest
), owed AS MATERIALIZED (
  SELECT s.synth, s.value
  FROM state.synthetic_engine_debt_total AS s WHERE $2::integer = 2147483647 AND s.deployment = $1
  UNION ALL
  SELECT k.synth, h.value
  FROM (SELECT s.synth, s.key_hash FROM state.synthetic_engine_debt_total AS s WHERE s.deployment = $1
      UNION
      SELECT h.synth, h.key_hash FROM history.synthetic_engine_debt_total AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.value, h.removed FROM history.synthetic_engine_debt_total AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE $2::integer < 2147483647 AND NOT h.removed
), feed AS MATERIALIZED (
  SELECT s.asset, s.twap_price, s.twap_ts
  FROM state.oracle_feed AS s WHERE $2::integer = 2147483647 AND s.deployment = $1
  UNION ALL
  SELECT k.asset, h.twap_price, h.twap_ts
  FROM (SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1
      UNION
      SELECT h.asset, h.key_hash FROM history.oracle_feed AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.twap_price, h.twap_ts, h.removed FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE $2::integer < 2147483647 AND NOT h.removed
), backing AS MATERIALIZED (
  SELECT h.amount, y.token = m.usdc AS quoted, f.twap_price, f.twap_ts,
    chain.quoted(h.amount, f.twap_price, (SELECT d.decimals FROM chain.decimals_at($1::smallint, y.token, $2::integer) AS d), m.decimals) AS value
  FROM moment AS m
    CROSS JOIN (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine') AS e
    CROSS JOIN chain.collateral AS y
    CROSS JOIN LATERAL (
      SELECT s.amount, false AS removed FROM state.stellar_asset_balance AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = chain.entry_key(y.token, 'Balance', e.contract)
      UNION ALL
      (SELECT h.amount, h.removed FROM asof.stellar_asset_balance AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = chain.entry_key(y.token, 'Balance', e.contract) AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)) AS h
    LEFT JOIN feed AS f ON f.asset = y.feed AND y.priced_at <= m.at
  WHERE y.deployment = $1 AND y.accepted_at <= m.at AND NOT h.removed
)
SELECT row_to_json(x)::text
FROM moment AS t
  CROSS JOIN LATERAL (SELECT min(i.begins) AS minute FROM last_day AS i) AS b
  CROSS JOIN LATERAL (SELECT sum(k.swaps) AS swaps, sum(k.volume) AS volume, sum(k.fees) AS fees,
      bool_and(k.known) AS known
    FROM (SELECT * FROM trade AS k WHERE k.newest UNION ALL SELECT true, 0, 0, 0, true) AS k) AS y
  CROSS JOIN LATERAL (SELECT sum(k.swaps) AS swaps, sum(k.volume) AS volume, sum(k.fees) AS fees, bool_and(k.known) AS known
    FROM (SELECT * FROM trade AS k WHERE NOT k.newest UNION ALL SELECT false, 0, 0, 0, true) AS k) AS n
  CROSS JOIN LATERAL (SELECT CASE WHEN y.known THEN y.swaps END AS swaps, CASE WHEN y.known THEN y.volume END AS volume,
      CASE WHEN y.known THEN y.fees END AS fees) AS l
  CROSS JOIN LATERAL (SELECT CASE WHEN n.known THEN coalesce(sum(d.swaps), 0) + n.swaps END AS swaps,
      CASE WHEN n.known THEN coalesce(sum(d.volume_quote), 0) + n.volume END AS volume,
      CASE WHEN n.known THEN coalesce(sum(d.fees_quote), 0) + n.fees END AS fees,
      CASE WHEN NOT t.past THEN coalesce((SELECT u.users FROM rollup.total AS u WHERE u.deployment = $1), 0) END AS users,
      CASE WHEN NOT t.past THEN coalesce(sum(d.liquidations), 0)
        WHEN NOT EXISTS (SELECT FROM chain.archive AS r WHERE r.deployment = $1 AND r.from_ledger <= $2
          AND r.end_ledger > chain.ledger_before($1, t.midnight) + 1)
        THEN coalesce(sum(d.liquidations), 0) + (SELECT count(*) FROM event.synthetic_engine_liquidate AS e
          WHERE e.deployment = $1 AND e.ledger > chain.ledger_before($1, t.midnight) AND e.ledger <= $2) END AS liquidations
    FROM rollup.day AS d WHERE d.deployment = $1 AND d.day < t.day) AS a
  CROSS JOIN LATERAL (SELECT p.amount AS pools, c.amount AS collateral, s.amount AS stability,
      p.amount + c.amount + s.amount AS total, p.unpriced + c.unpriced AS unpriced, t.decimals
    FROM (SELECT coalesce(sum(2 * CASE t.usdc WHEN h.token_a THEN h.reserve_a WHEN h.token_b THEN h.reserve_b END), 0) AS amount,
        count(*) FILTER (WHERE t.usdc IS NULL OR t.usdc NOT IN (h.token_a, h.token_b)) AS unpriced
      FROM pool AS h) AS p,
      (SELECT coalesce(sum(CASE WHEN k.quoted THEN k.amount ELSE k.value END), 0) AS amount,
        count(*) FILTER (WHERE k.amount > 0 AND k.value IS NULL AND k.quoted IS NOT TRUE) AS unpriced FROM backing AS k) AS c,
      (SELECT coalesce(sum(h.total_deposits), 0) AS amount
      FROM (SELECT s.total_deposits FROM state.stability_pool_state AS s WHERE $2::integer = 2147483647 AND s.deployment = $1
        UNION ALL
        SELECT h.total_deposits
        FROM (SELECT s.key_hash FROM state.stability_pool_state AS s WHERE s.deployment = $1
            UNION
            SELECT h.key_hash FROM history.stability_pool_state AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
          LATERAL (SELECT h.total_deposits, h.removed FROM history.stability_pool_state AS h
            WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
            ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
        WHERE $2::integer < 2147483647 AND NOT h.removed) AS h) AS s) AS h
  CROSS JOIN LATERAL (SELECT count(*) AS tokens FROM backing AS k
    WHERE k.amount > 0 AND k.quoted IS NOT TRUE AND chain.moment($1, $2) - k.twap_ts > 600) AS s
-- part: stats_item
