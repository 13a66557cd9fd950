-- 0042_rollup_views: what the protocol held at the close of each day, in USDC, and the rollups for
-- analysts.

-- Valued is what has a price in the protocol itself: pools with USDC (twice their USDC), the
-- engine's USDC, its other tokens by the feed that bears their symbol, the stability pool's USDC.
-- A day's row holds what had last been said by its end.
CREATE VIEW rollup.held AS
  SELECT
    d.deployment,
    d.day,
    p.amount AS pools,
    c.amount AS collateral,
    s.amount AS stability,
    p.amount + c.amount + s.amount AS total,
    p.unpriced + c.unpriced AS unpriced
  FROM (
    SELECT r.deployment, r.day FROM rollup.day AS r
    UNION ALL
    SELECT x.id, 'infinity'::date FROM chain.deployment AS x
  ) AS d
    LEFT JOIN LATERAL (
      SELECT j.address FROM chain.deployment AS x
        CROSS JOIN LATERAL jsonb_to_recordset(x.contracts) AS j (address text, role text)
      WHERE x.id = d.deployment AND j.role = 'usdc' LIMIT 1
    ) AS usdc ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(2 * CASE usdc.address WHEN k.token_a THEN v.amount WHEN k.token_b THEN v.amount_b END), 0) AS amount,
        count(*) FILTER (WHERE usdc.address IS NULL OR usdc.address NOT IN (k.token_a, k.token_b)) AS unpriced
      FROM state.liquidity_pool_pool AS k
        CROSS JOIN LATERAL (SELECT q.amount, q.amount_b FROM rollup.closing AS q
          WHERE q.deployment = k.deployment AND q.what = 'pool' AND q.name = k.pool_id AND q.day <= d.day
          ORDER BY q.day DESC LIMIT 1) AS v
      WHERE k.deployment = d.deployment
    ) AS p
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN b.contract = usdc.address THEN v.amount ELSE div(v.amount * f.amount, 10000000) END), 0)
          AS amount,
        count(*) FILTER (WHERE v.amount > 0 AND f.amount IS NULL AND b.contract IS DISTINCT FROM usdc.address) AS unpriced
      FROM chain.deployment AS x
        CROSS JOIN LATERAL jsonb_to_recordset(x.contracts) AS j (address text, role text)
        JOIN state.stellar_asset_balance AS b ON b.deployment = x.id AND b.address = j.address
        CROSS JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
          WHERE q.deployment = x.id AND q.what = 'collateral' AND q.name = b.contract AND q.day <= d.day
          ORDER BY q.day DESC LIMIT 1) AS v
        LEFT JOIN LATERAL (SELECT CASE i.metadata ->> 'symbol' WHEN 'native' THEN 'XLM' ELSE i.metadata ->> 'symbol' END AS symbol
          FROM state.stellar_asset_instance AS i WHERE i.deployment = x.id AND i.contract = b.contract LIMIT 1) AS t ON true
        LEFT JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
          WHERE q.deployment = x.id AND q.what = 'price' AND q.name = t.symbol AND q.day <= d.day
          ORDER BY q.day DESC LIMIT 1) AS f ON true
      WHERE x.id = d.deployment AND j.role = 'synthetic_engine'
    ) AS c
    CROSS JOIN LATERAL (
      SELECT coalesce((SELECT q.amount FROM rollup.closing AS q
        WHERE q.deployment = d.deployment AND q.what = 'stability' AND q.name = '' AND q.day <= d.day
        ORDER BY q.day DESC LIMIT 1), 0) AS amount
    ) AS s;
COMMENT ON VIEW rollup.held IS 'What the protocol held at the close of each day on which somebody did something, in USDC; day infinity: now';
COMMENT ON COLUMN rollup.held.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.held.day IS 'Day, UTC; infinity: now';
COMMENT ON COLUMN rollup.held.pools IS 'Twice the USDC in pools with USDC, raw units';
COMMENT ON COLUMN rollup.held.collateral IS 'Tokens that the vault engine holds, at the feed of their symbol, in USDC, raw units';
COMMENT ON COLUMN rollup.held.stability IS 'Deposits in the stability pool, USDC, raw units';
COMMENT ON COLUMN rollup.held.total IS 'The three together';
COMMENT ON COLUMN rollup.held.unpriced IS 'Pools without USDC and tokens without a feed, which are not in the sums';

CREATE VIEW analyst.candles AS
  SELECT
    c.deployment,
    c.pool_id,
    CASE c.seconds WHEN 60 THEN '1m' WHEN 300 THEN '5m' WHEN 3600 THEN '1h' ELSE '1d' END AS length,
    c.at,
    c.open_price AS open,
    c.high_price AS high,
    c.low_price AS low,
    c.close_price AS close,
    c.swaps,
    c.volume_a AS volume_a_raw,
    analyst.scaled(c.volume_a) AS volume_a,
    c.volume_b AS volume_b_raw,
    analyst.scaled(c.volume_b) AS volume_b,
    c.fees_a AS fees_a_raw,
    analyst.scaled(c.fees_a) AS fees_a,
    c.fees_b AS fees_b_raw,
    analyst.scaled(c.fees_b) AS fees_b,
    c.volume_quote AS volume_usdc_raw,
    analyst.scaled(c.volume_quote) AS volume_usdc,
    c.fees_quote AS fees_usdc_raw,
    analyst.scaled(c.fees_quote) AS fees_usdc
  FROM rollup.candle AS c;
COMMENT ON VIEW analyst.candles IS 'Trade of a pool by interval; one without a trade has no row';
COMMENT ON COLUMN analyst.candles.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.candles.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.candles.length IS '1m, 5m, 1h or 1d';
COMMENT ON COLUMN analyst.candles.at IS 'Beginning of the interval, UTC';
COMMENT ON COLUMN analyst.candles.open IS 'Token A in B, as the pool said it after the first transaction that traded';
COMMENT ON COLUMN analyst.candles.high IS 'Highest of them';
COMMENT ON COLUMN analyst.candles.low IS 'Lowest of them';
COMMENT ON COLUMN analyst.candles.close IS 'Token A in B, after the last transaction that traded';
COMMENT ON COLUMN analyst.candles.swaps IS 'Trades';
COMMENT ON COLUMN analyst.candles.volume_a_raw IS 'Token A that trades moved, in or out, raw units';
COMMENT ON COLUMN analyst.candles.volume_a IS 'Token A that trades moved, in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.volume_b_raw IS 'Token B that trades moved, in or out, raw units';
COMMENT ON COLUMN analyst.candles.volume_b IS 'Token B that trades moved, in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_a_raw IS 'Fees paid in token A, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.candles.fees_a IS 'Fees paid in token A, protocol''s part included, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_b_raw IS 'Fees paid in token B, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.candles.fees_b IS 'Fees paid in token B, protocol''s part included, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.volume_usdc_raw IS 'Volume in USDC, raw units; null: the pool has none';
COMMENT ON COLUMN analyst.candles.volume_usdc IS 'Volume in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_usdc_raw IS 'Fees in USDC, those in the other token at their trade''s own rate, raw units';
COMMENT ON COLUMN analyst.candles.fees_usdc IS 'Fees in USDC, those in the other token at their trade''s own rate, 7 decimals applied';

CREATE VIEW analyst.daily_protocol AS
  SELECT
    d.deployment,
    d.day,
    d.users,
    d.swaps,
    d.volume_quote AS volume_usdc_raw,
    analyst.scaled(d.volume_quote) AS volume_usdc,
    d.fees_quote AS fees_usdc_raw,
    analyst.scaled(d.fees_quote) AS fees_usdc,
    d.liquidations,
    h.total AS held_usdc_raw,
    analyst.scaled(h.total) AS held_usdc,
    analyst.scaled(h.pools) AS held_in_pools,
    analyst.scaled(h.collateral) AS held_as_collateral,
    analyst.scaled(h.stability) AS held_for_stability
  FROM rollup.day AS d JOIN rollup.held AS h ON h.deployment = d.deployment AND h.day = d.day;
COMMENT ON VIEW analyst.daily_protocol IS 'The protocol by day; a day on which nobody did anything has no row';
COMMENT ON COLUMN analyst.daily_protocol.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_protocol.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_protocol.users IS 'Different addresses that traded, gave or took liquidity, used a vault or the stability pool';
COMMENT ON COLUMN analyst.daily_protocol.swaps IS 'Trades';
COMMENT ON COLUMN analyst.daily_protocol.volume_usdc_raw IS 'Volume of pools with USDC, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.volume_usdc IS 'Volume of pools with USDC, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.fees_usdc_raw IS 'Fees of pools with USDC, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.fees_usdc IS 'Fees of pools with USDC, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.liquidations IS 'Vaults liquidated, each time';
COMMENT ON COLUMN analyst.daily_protocol.held_usdc_raw IS 'What the protocol held at the close of the day, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.held_usdc IS 'What the protocol held at the close of the day, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.held_in_pools IS 'Of this, twice the USDC in pools with USDC';
COMMENT ON COLUMN analyst.daily_protocol.held_as_collateral IS 'Of this, tokens of the vault engine at the feed of their symbol';
COMMENT ON COLUMN analyst.daily_protocol.held_for_stability IS 'Of this, deposits in the stability pool';

CREATE VIEW analyst.daily_liquidity AS
  SELECT
    p.deployment,
    p.day,
    p.pool_id,
    p.traders,
    p.additions,
    p.removals,
    p.claims,
    analyst.scaled(p.added_a) AS added_a,
    analyst.scaled(p.added_b) AS added_b,
    analyst.scaled(p.removed_a) AS removed_a,
    analyst.scaled(p.removed_b) AS removed_b,
    analyst.scaled(p.claimed_a) AS claimed_a,
    analyst.scaled(p.claimed_b) AS claimed_b,
    analyst.scaled(c.amount) AS reserve_a,
    analyst.scaled(c.amount_b) AS reserve_b
  FROM rollup.pool_day AS p
    LEFT JOIN rollup.closing AS c ON c.deployment = p.deployment AND c.what = 'pool' AND c.name = p.pool_id AND c.day = p.day;
COMMENT ON VIEW analyst.daily_liquidity IS 'Traders and liquidity of a pool by day; trade is in daily_pools and candles';
COMMENT ON COLUMN analyst.daily_liquidity.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_liquidity.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_liquidity.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.daily_liquidity.traders IS 'Different traders';
COMMENT ON COLUMN analyst.daily_liquidity.additions IS 'Times that liquidity was added';
COMMENT ON COLUMN analyst.daily_liquidity.removals IS 'Times that liquidity was removed';
COMMENT ON COLUMN analyst.daily_liquidity.claims IS 'Times that fees were claimed';
COMMENT ON COLUMN analyst.daily_liquidity.added_a IS 'Token A added, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.added_b IS 'Token B added, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.removed_a IS 'Token A removed, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.removed_b IS 'Token B removed, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.claimed_a IS 'Fees claimed in token A, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.claimed_b IS 'Fees claimed in token B, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.reserve_a IS 'Book reserve of token A at the close of the day, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.reserve_b IS 'Book reserve of token B at the close of the day, 7 decimals applied';

CREATE VIEW analyst.daily_closings AS
  SELECT
    c.deployment,
    c.day,
    c.what,
    c.name,
    c.amount AS amount_raw,
    analyst.scaled(c.amount) AS amount,
    c.amount_b AS amount_b_raw,
    analyst.scaled(c.amount_b) AS amount_b,
    c.ledger
  FROM rollup.closing AS c;
COMMENT ON VIEW analyst.daily_closings IS 'The last word of a day on what is held, owed and priced; a day without a change has no row';
COMMENT ON COLUMN analyst.daily_closings.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_closings.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_closings.what IS 'pool: reserves; debt: of a market; stability: total deposits; collateral: the engine''s balance of a token; price: a feed';
COMMENT ON COLUMN analyst.daily_closings.name IS 'Pool, market, nothing, token contract, feed';
COMMENT ON COLUMN analyst.daily_closings.amount_raw IS 'Amount (a pool: of token A; a feed: its time-weighted price), raw units';
COMMENT ON COLUMN analyst.daily_closings.amount IS 'The same, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_closings.amount_b_raw IS 'A pool''s reserve of token B, raw units';
COMMENT ON COLUMN analyst.daily_closings.amount_b IS 'A pool''s reserve of token B, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_closings.ledger IS 'Ledger of the last change';

DO $$
BEGIN
  CALL chain.grant_api();
  CALL analyst.grant_access();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'tidemark_api and tidemark_analyst were not given what is new (%): as a superuser, CALL chain.grant_api() and CALL analyst.grant_access()', SQLERRM;
END $$;
