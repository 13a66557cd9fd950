// Every figure that a page of the dashboard shows, by plain SQL over the tables of state, history and events: none of the API's
// statements, functions or sums. A page may show no figure that is not here, and there is no page that is not here.
//
// wanted(ledger, some): by path the figures at its heads and the rows of its tables, those behind charts too; ledger null: now.
// Null is a figure that is shown as none, or only where there is one. A column "*" has figures by name.

export function wanted(ledger, some) {
  const N = ledger ?? '(SELECT ledger FROM chain.cursor)';
  const close = `(SELECT closed_at FROM chain.ledger WHERE ledger = ${N})`;
  const at = ledger ? close : `(SELECT greatest(now(), ${close}))`;
  const T = `extract(epoch FROM ${at})`;
  // A table of entries as it was at the close of a ledger.
  const then = (table, n) => `(SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.${table} WHERE ledger <= ${n}
    ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h WHERE NOT removed)`;
  const state = (table) => (ledger ? then(table, N) : `state.${table}`);
  const events = (table) => `(SELECT * FROM event.${table} WHERE ledger <= ${N})`;
  const newest = 'ORDER BY ledger DESC, tx DESC, op DESC, event DESC';
  const unix = (column) => `extract(epoch FROM ${column})::bigint`;
  // Transactions of the newest events of a page, but the last one if further events exist: it may go on there.
  const byTransaction = (of, page, lines = page) => `SELECT ${unix('min(closed_at)')} AS "closedAt", ledger FROM (SELECT e.*, count(*) OVER () AS n FROM (SELECT * FROM ${of} AS e ${newest} LIMIT ${page + 1}) AS e ${newest} LIMIT ${page}) AS e
    GROUP BY ledger, tx, n HAVING n <= ${page} OR (ledger, tx) <> (SELECT ledger, tx FROM ${of} AS e ${newest} OFFSET ${page - 1} LIMIT 1) ORDER BY ledger DESC, tx DESC LIMIT ${lines}`;
  const usdc = "(SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = 'usdc')";
  const role = (name) => `(SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = '${name}')`;

  const feeds = `(SELECT *, ${T} - latest_ts > 300 AS stale, ${T} - twap_ts > 600 AS twap_stale FROM ${state('oracle_feed')} AS f)`;
  // The last ledger before 24 hours and 7 days ago; the first minute of the last 24 hours.
  const before = (span) => `(SELECT max(ledger) FROM chain.ledger WHERE closed_at <= ${at} - interval '${span}')`;
  const since = `date_trunc('minute', ${at} - interval '24 hours') + interval '1 minute'`;
  // Swaps with their USDC: the fee is of the token that goes in, at the swap's own price.
  const allSwaps = `(SELECT s.*, CASE WHEN (p.token_a = ${usdc}) = s.a_to_b THEN s.amount_in ELSE s.amount_out END AS volume,
      CASE WHEN (p.token_a = ${usdc}) = s.a_to_b THEN div(s.amount_in * p.fee_tier, 10000)
        ELSE div(div(s.amount_in * p.fee_tier, 10000) * s.amount_out, s.amount_in) END AS fee
    FROM event.liquidity_pool_swap AS s JOIN state.liquidity_pool_pool AS p USING (pool_id)
    WHERE s.ledger <= ${N})`;
  const swaps = `(SELECT * FROM ${allSwaps} AS s WHERE s.closed_at >= ${since})`;
  const spot = (t) => `div(${t}.reserve_b * 10000000, nullif(${t}.reserve_a, 0))`;
  const pools = `(SELECT p.*, ${spot('p')} AS spot, ${spot('d')} AS spot_then,
      CASE ${usdc} WHEN p.token_a THEN 2 * p.reserve_a WHEN p.token_b THEN 2 * p.reserve_b END AS tvl,
      CASE WHEN w.total_shares > 0 THEN div(((p.fee_a_accum - w.fee_a_accum) * p.reserve_b + (p.fee_b_accum - w.fee_b_accum) * p.reserve_a)
        * p.total_shares * 365 * 10000, 2 * p.reserve_a * p.reserve_b * 7 * 1000000000000) END AS yearly,
      coalesce(v.volume, 0) AS volume, coalesce(v.fees, 0) AS fees, coalesce(v.swaps, 0) AS swaps
    FROM ${state('liquidity_pool_pool')} AS p
      LEFT JOIN ${then('liquidity_pool_pool', before('24 hours'))} AS d USING (pool_id)
      LEFT JOIN ${then('liquidity_pool_pool', before('7 days'))} AS w USING (pool_id)
      LEFT JOIN (SELECT pool_id, sum(volume) AS volume, sum(fee) AS fees, count(*) AS swaps FROM ${swaps} AS s GROUP BY 1) AS v USING (pool_id))`;
  const change = 'div((p.spot - p.spot_then) * 10000, p.spot_then)';
  const poolColumns = `p.spot AS "spotPrice", p.tvl AS "tvlQuote", p.volume AS "volumeQuote24h", p.yearly AS "providerReturnBps"`;
  const poolMore = `${change} AS "change24hBps", p.fees AS "feesQuote24h", p.swaps AS "swaps24h", p.fee_tier AS "feeTierBps",
    p.reserve_a AS "reserveA", p.reserve_b AS "reserveB"`;

  const vaults = state('synthetic_engine_vault');
  const markets = `(SELECT m.*, coalesce(v.debt, 0) AS debt, coalesce(v.collateral, 0) AS collateral, coalesce(v.vaults, 0) AS vaults, coalesce(v.indebted, 0) AS indebted,
      f.latest_price, f.latest_ts, f.stale, f.twap_price, f.twap_stale, c.twap_price AS coll_twap, c.twap_stale AS coll_stale,
      p.pool_id, p.spot, ${change} AS change, p.volume, CASE WHEN NOT f.stale THEN div((p.spot - f.latest_price) * 10000, f.latest_price) END AS deviation,
      div(coalesce(v.debt, 0) * 10000, nullif(m.debt_ceiling, 0)) AS filled,
      CASE WHEN NOT f.twap_stale AND NOT c.twap_stale THEN div(div(v.collateral * c.twap_price, 10000000) * 10000,
        nullif(div(v.debt * f.twap_price, 10000000), 0)) END AS ratio
    FROM ${state('synthetic_engine_asset_config')} AS m LEFT JOIN ${feeds} AS f ON f.asset = m.oracle_symbol LEFT JOIN ${feeds} AS c ON c.asset = m.coll_oracle_sym
      LEFT JOIN (SELECT synth_asset AS symbol, sum(debt) AS debt, sum(collateral) AS collateral, count(*) AS vaults, count(*) FILTER (WHERE debt > 0) AS indebted
        FROM ${vaults} AS v GROUP BY 1) AS v USING (symbol)
      LEFT JOIN LATERAL (SELECT * FROM ${pools} AS p WHERE p.token_a = m.token AND p.token_b = ${usdc} ORDER BY p.reserve_b DESC LIMIT 1) AS p ON true)`;
  // The engine's own arithmetic of a vault: ratio, the lowest price at which it may not be liquidated, the way there.
  const priced = `(SELECT v.*, m.liq_ratio, m.min_coll_ratio, m.liq_penalty, m.cp, m.sp, m.token, m.symbol, r.ratio, CASE WHEN r.ratio IS NOT NULL AND v.collateral > 0 THEN l.price END AS liq_price
    FROM ${vaults} AS v LEFT JOIN (SELECT m.symbol, m.token, m.liq_ratio, m.min_coll_ratio, m.liq_penalty, CASE WHEN NOT f.twap_stale THEN f.twap_price END AS sp,
        CASE WHEN NOT c.twap_stale THEN c.twap_price END AS cp
      FROM ${state('synthetic_engine_asset_config')} AS m LEFT JOIN ${feeds} AS f ON f.asset = m.oracle_symbol LEFT JOIN ${feeds} AS c ON c.asset = m.coll_oracle_sym) AS m
        ON m.symbol = v.synth_asset,
      LATERAL (SELECT CASE WHEN v.debt > 0 THEN div(div(v.collateral * m.cp, 10000000) * 10000, nullif(div(v.debt * m.sp, 10000000), 0)) END AS ratio) AS r,
      LATERAL (SELECT ceil(div(v.debt * m.sp, 10000000) * m.liq_ratio / 10000) AS least) AS e,
      LATERAL (SELECT ceil(e.least * 10000000 / nullif(v.collateral, 0)) AS price) AS l)`;
  const vaultRatio = `v.ratio AS "ratioBps", CASE WHEN v.ratio < v.liq_ratio THEN 0 WHEN v.ratio IS NOT NULL AND v.liq_price IS NOT NULL
    THEN ceil((v.cp - v.liq_price + 1) * 10000 / v.cp) END AS "distanceBps"`;
  const riskOrder = 'ORDER BY v.synth_asset COLLATE "C", CASE WHEN v.debt > 0 THEN v.collateral / v.debt END NULLS LAST, v.key_hash';
  const liquidations = (where) => `SELECT ${unix('e.closed_at')} AS "closedAt", b.amount AS "debtRepaid", e.collateral_seized AS "collateralSeized",
      g.amount AS "collateralToStabilityPool", u.repaid AS "debtValue", u.seized AS "collateralValue", div((u.seized - u.repaid) * 10000, u.seized) AS "discountBps"
    FROM ${events('synthetic_engine_liquidate')} AS e
      LEFT JOIN LATERAL (SELECT * FROM event.synth_token_burn AS b WHERE (b.ledger, b.tx, b.op) = (e.ledger, e.tx, e.op) AND b.event < e.event ORDER BY b.event DESC LIMIT 1) AS b ON true
      LEFT JOIN LATERAL (SELECT amount FROM event.stellar_asset_transfer AS g WHERE (g.ledger, g.tx, g.op, g.event) = (e.ledger, e.tx, e.op, b.event + 2)
        AND g.from_address = e.contract AND g.event < e.event) AS g ON true
      LEFT JOIN LATERAL (SELECT * FROM history.synthetic_engine_asset_config AS m WHERE m.symbol = e.synth_asset AND m.ledger <= e.ledger ORDER BY m.ledger DESC, m.tx DESC LIMIT 1) AS m ON true
      LEFT JOIN LATERAL (SELECT twap_price FROM history.oracle_feed AS f WHERE f.asset = m.oracle_symbol AND (f.ledger, f.tx) <= (e.ledger, e.tx) ORDER BY f.ledger DESC, f.tx DESC, f.seq DESC LIMIT 1) AS s ON true
      LEFT JOIN LATERAL (SELECT twap_price FROM history.oracle_feed AS f WHERE f.asset = m.coll_oracle_sym AND (f.ledger, f.tx) <= (e.ledger, e.tx) ORDER BY f.ledger DESC, f.tx DESC, f.seq DESC LIMIT 1) AS c ON true,
      LATERAL (SELECT div(b.amount * s.twap_price, 10000000) AS repaid, div(e.collateral_seized * c.twap_price, 10000000) AS seized) AS u
    WHERE ${where} ORDER BY e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC LIMIT 20`;
  // The market of the page of vaults: the first with debt. Its vaults whose distance the fall reaches.
  const fallOf = `(SELECT m.symbol, NOT m.twap_stale AND NOT m.coll_stale AS priced FROM ${markets} AS m ORDER BY m.debt = 0, m.symbol COLLATE "C" LIMIT 1)`;
  const fallen = (percent) => `SELECT count(*) AS vaults, coalesce(sum(v.debt), 0) AS debt, coalesce(sum(v.collateral), 0) AS collateral
    FROM (SELECT ${vaultRatio}, v.* FROM ${priced} AS v WHERE v.debt > 0) AS v WHERE v.synth_asset = m.symbol AND v."distanceBps" <= ${percent} * 100`;
  const debts = `(SELECT o.value, f.twap_price, f.twap_stale FROM ${state('synthetic_engine_debt_total')} AS o JOIN ${state('synthetic_engine_asset_config')} AS m ON m.symbol = o.synth
    LEFT JOIN ${feeds} AS f ON f.asset = m.oracle_symbol WHERE o.value > 0)`;
  const backing = `(SELECT b.contract, b.amount, f.twap_price, f.twap_stale FROM ${state('stellar_asset_balance')} AS b LEFT JOIN chain.token AS t ON t.token = b.contract
    LEFT JOIN ${feeds} AS f ON f.asset = t.symbol WHERE b.address = ${role('synthetic_engine')})`;
  const stability = state('stability_pool_state');
  const position = `div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000)`;

  // Addresses that trade, add or remove liquidity, use a vault or the stability pool.
  const active = `(${[['liquidity_pool_swap', 'trader'], ['liquidity_pool_add_liquidity', 'provider'], ['liquidity_pool_remove_liquidity', 'provider'], ['liquidity_pool_claim', 'provider'],
    ...['open', 'deposit', 'mint', 'burn', 'withdraw', 'liquidate'].map((one) => [`synthetic_engine_${one}`, 'owner']),
    ...['deposit', 'withdraw', 'claim'].map((one) => [`stability_pool_${one}`, 'depositor'])].map(([table, column]) => `SELECT ${column} AS a FROM event.${table}`).join(' UNION ')})`;

  const partnerRevenue = `(SELECT f.epoch, t.token, sum(f.partner_cut) AS amount FROM ${events('earnings_distributor_partner_revenue_forwarded')} AS f,
      LATERAL (SELECT t.token FROM event.earnings_distributor_revenue_received AS t WHERE (t.ledger, t.tx, t.op) = (f.ledger, f.tx, f.op) AND t.event > f.event ORDER BY t.event LIMIT 1) AS t
    WHERE f.partner_id = ${some.partner} GROUP BY 1, 2)`;
  const txPlace = `(SELECT ledger, tx FROM chain.tx WHERE hash = '\\x${some.tx}')`;
  const proposals = state('dao_governance_proposal'), wallets = state('dao_governance_multi_sig_wallet');
  const governing = `(SELECT threshold FROM ${wallets} AS w WHERE wallet_id = 0)`;
  const votes = `(SELECT v.* FROM ${events('dao_governance_voted')} AS v, (SELECT * FROM ${events('dao_governance_proposed')} AS p WHERE proposal_id = ${some.proposal} ${newest} LIMIT 1) AS p
    WHERE v.proposal_id = ${some.proposal} AND (v.ledger, v.tx, v.op, v.event) > (p.ledger, p.tx, p.op, p.event))`;
  const multisig = `(SELECT t.*, w.threshold FROM ${state('dao_governance_multi_sig_tx')} AS t LEFT JOIN ${wallets} AS w USING (wallet_id))`;

  // A verified record whose end has passed counts as expired.
  const STATUSES = "ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired']";
  const statusAt = (time) => `CASE WHEN r.status = 2 AND r.expires_at > 0 AND r.expires_at < ${time} THEN 5 ELSE r.status END`;
  const records = `(SELECT ${statusAt(T)} AS now, r.* FROM ${state('compliance_registry_compliance_rec')} AS r)`;

  // Amount that a claim would credit: 35 % of the protocol's part of each closed epoch, by stake.
  // The contract takes votes while a proposal is active, and executes what has enough of yes once its time has come.
  const stillPossible = (p, before_) => `CASE WHEN ${p}.status IN ('Active', 'Passed') AND ${governing} > ${p}.yes_votes THEN ${governing} - ${p}.yes_votes END AS "${before_}lacks",
    CASE WHEN ${p}.status IN ('Active', 'Passed') AND ${p}.yes_votes >= ${governing} AND ${T} < ${p}.execute_after THEN ${p}.execute_after END AS "${before_}executableFrom"`;
  const ofVault = `key_owner = '${some.address}' AND synth = '${some.vault}' AND ledger <= ${N}`, versions = 'ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 100';
  const who = `'${some.address}'`;
  const deposit = `(SELECT CASE WHEN d.snapshot_epoch = s.epoch THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000) ELSE 0 END AS compounded,
      d.initial_value, div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000) AS gain, d.deposited_at
    FROM ${state('stability_pool_deposit')} AS d, ${stability} AS s WHERE d.depositor = ${who})`;
  const collateralFeeds = `(SELECT t.token, f.twap_price FROM chain.token AS t JOIN ${feeds} AS f ON f.asset = t.symbol AND NOT f.twap_stale
    WHERE t.token IN (SELECT token FROM history.synthetic_engine_collateral_allowed AS c WHERE ledger <= ${N}) AND t.symbol IN (SELECT coll_oracle_sym FROM ${state('synthetic_engine_asset_config')} AS m))`;
  const marketFeeds = `(SELECT m.token, f.twap_price FROM ${state('synthetic_engine_asset_config')} AS m JOIN ${feeds} AS f ON f.asset = m.oracle_symbol AND NOT f.twap_stale)`;
  const holdings = `(SELECT b.contract, b.balance, CASE WHEN b.contract = ${usdc} THEN b.balance ELSE div(b.balance * coalesce((SELECT twap_price FROM ${marketFeeds} AS m WHERE m.token = b.contract),
      (SELECT twap_price FROM ${collateralFeeds} AS c WHERE c.token = b.contract)), 10000000) END AS value
    FROM (SELECT contract, value AS balance FROM ${state('synth_token_balance')} AS b WHERE address = '${some.address}'
      UNION ALL SELECT contract, amount FROM ${state('stellar_asset_balance')} AS b WHERE address = '${some.address}') AS b)`;
  const quoteOfShares = `2 * CASE ${usdc} WHEN p.token_a THEN div(l.shares * p.reserve_a, p.total_shares) WHEN p.token_b THEN div(l.shares * p.reserve_b, p.total_shares) END`;
  // What the address has, part by part; what is nothing has no price either.
  const parts = `(SELECT value FROM ${holdings} AS b WHERE balance <> 0 UNION ALL SELECT CASE WHEN v.debt = 0 OR v.sp IS NOT NULL THEN div(v.collateral * v.cp, 10000000) END FROM ${priced} AS v WHERE v.owner = '${some.address}' AND v.collateral <> 0
    UNION ALL SELECT CASE WHEN v.collateral = 0 OR v.cp IS NOT NULL THEN -div(v.debt * v.sp, 10000000) END FROM ${priced} AS v WHERE v.owner = '${some.address}' AND v.debt <> 0
    UNION ALL SELECT ${quoteOfShares} FROM ${state('liquidity_pool_lp_pos')} AS l JOIN ${state('liquidity_pool_pool')} AS p USING (pool_id) WHERE l.provider = '${some.address}' AND l.shares <> 0
    UNION ALL SELECT compounded FROM ${deposit} AS d WHERE compounded <> 0)`;

  // Locked at the close of a ledger, by kind, in USDC.
  const heldAt = (n) => `SELECT (SELECT coalesce(sum(CASE ${usdc} WHEN p.token_a THEN 2 * p.reserve_a WHEN p.token_b THEN 2 * p.reserve_b END), 0) FROM ${then('liquidity_pool_pool', n)} AS p) AS pools,
    (SELECT coalesce(sum(CASE b.contract WHEN ${usdc} THEN b.amount ELSE div(b.amount * f.twap_price, 10000000) END), 0) FROM ${then('stellar_asset_balance', n)} AS b LEFT JOIN chain.token AS t ON t.token = b.contract
      LEFT JOIN ${then('oracle_feed', n)} AS f ON f.asset = t.symbol WHERE b.address = ${role('synthetic_engine')}) AS collateral,
    (SELECT coalesce(sum(total_deposits), 0) FROM ${then('stability_pool_state', n)} AS s) AS stability`;
  // Days at whose end something is counted: with activity; as of a ledger those that were over.
  const day = (column) => `(${column} AT TIME ZONE 'UTC')::date`;
  const over = (column) => (ledger ? `${day(column)} < ${day(close)}` : 'true');
  const days = (query) => `(SELECT d.day, (SELECT max(l.ledger) FROM chain.ledger AS l WHERE ${day('l.closed_at')} <= d.day) AS ledger FROM (SELECT DISTINCT day FROM ${query} AS q) AS d ORDER BY d.day DESC LIMIT 60)`;
  const anyDay = `(SELECT ${day('closed_at')} AS day FROM event.log AS e WHERE ${over('closed_at')})`;

  const everStatus = `(SELECT DISTINCT (${STATUSES})[r.status + 1] AS s FROM history.compliance_registry_compliance_rec AS r WHERE r.status IS NOT NULL UNION SELECT 'Expired')`;
  const complianceDays = days(`(SELECT g::date AS day FROM generate_series((SELECT min(${day('closed_at')}) FROM history.compliance_registry_compliance_rec), ${day(close)} - ${ledger ? 1 : 0}, interval '1 day') AS g)`);
  const poolDay = `(${['swap', 'add_liquidity', 'remove_liquidity', 'claim'].map((one) => `SELECT ${day('closed_at')} AS day FROM event.liquidity_pool_${one} AS e WHERE pool_id = '${some.pool}' AND ${over('closed_at')}`).join(' UNION ')})`;
  const marketEvents = `(${['open', 'deposit', 'mint', 'burn', 'withdraw', 'liquidate'].map((one) => `SELECT closed_at FROM event.synthetic_engine_${one} AS e WHERE synth_asset = '${some.market}'`).join(' UNION ')})`;
  const RATIOS = '0, 10000, 10500, 11000, 11500, 12000, 12500, 13000, 13500, 14000, 14500, 15000, 16000, 17000, 18000, 19000, 20000, 22500, 25000, 27500, 30000, 35000, 40000, 50000, 75000, 100000';
  const hour = (column) => `${unix(`date_trunc('hour', ${column}, 'UTC')`)}`;
  const overHour = (column) => (ledger ? `${hour(column)} < ${hour(close)}` : 'true');
  // Candles and prices show a week: up to now, or to the newest of a past ledger.
  const spanOf = (newest) => `${ledger ? newest : unix(close)} - 604800`;
  // Swaps of a pool by the hour: prices are those of the reserves that a transaction left, in units of 10^-14.
  const candles = (pool) => `(SELECT at, (array_agg(price ORDER BY ledger, tx, op, event))[1] AS open, max(price) AS high, min(price) AS low,
      (array_agg(price ORDER BY ledger DESC, tx DESC, op DESC, event DESC))[1] AS close, sum(volume) AS volume, count(*) AS swaps
    FROM (SELECT s.*, ${hour('s.closed_at')} AS at, (SELECT div(p.reserve_b * 100000000000000, p.reserve_a) FROM history.liquidity_pool_pool AS p
        WHERE p.pool_id = s.pool_id AND (p.ledger, p.tx) = (s.ledger, s.tx) ORDER BY p.seq DESC LIMIT 1) AS price
      FROM ${allSwaps} AS s WHERE s.pool_id = ${pool} AND ${overHour('s.closed_at')}) AS s GROUP BY at)`;

  const pages = {
    '/': {
      heads: `SELECT (SELECT sum(tvl) FROM ${pools} AS p) + (SELECT total_deposits FROM ${stability} AS s)
          + (SELECT sum(CASE b.contract WHEN ${usdc} THEN b.amount ELSE div(b.amount * b.twap_price, 10000000) END) FROM ${backing} AS b) AS tvl,
        (SELECT nullif(count(*), 0) FROM ${backing} AS b WHERE b.amount > 0 AND b.twap_stale AND b.contract <> ${usdc}) AS "stalePrices",
        (SELECT sum(div(value * twap_price, 10000000)) FROM ${debts} AS d WHERE NOT twap_stale) AS "debtValue",
        (SELECT count(*) FROM ${debts} AS d) AS "indebtedMarkets", (SELECT nullif(count(*), 0) FROM ${debts} AS d WHERE twap_stale) AS "unpricedDebts",
        (SELECT coalesce(sum(volume), 0) FROM ${swaps} AS s) AS "volumeQuote24h", (SELECT coalesce(sum(fee), 0) FROM ${swaps} AS s) AS "feesQuote24h",
        (SELECT count(*) FROM ${swaps} AS s) AS "swaps24h", (SELECT total_deposits FROM ${stability} AS s) AS "totalDeposits",
        (SELECT total_liq_count FROM ${stability} AS s) AS "liquidationCount", (SELECT count(*) FROM ${events('synthetic_engine_liquidate')} AS e) AS liquidations,
        ${ledger ? 'NULL' : `(SELECT count(DISTINCT a) FROM ${active} AS a)`} AS users`,
      tables: {
        Markets: `SELECT latest_price AS "latestPrice", deviation AS "deviationBps", debt, change AS "change24hBps" FROM ${markets} AS m ORDER BY symbol COLLATE "C" LIMIT 8`,
        Pools: `SELECT ${poolColumns} FROM ${pools} AS p ORDER BY pool_id COLLATE "C" LIMIT 8`,
        'Total value locked': `SELECT d.day, h.pools AS "tvlPools", h.collateral AS "tvlCollateral", h.stability AS "tvlStability", h.pools + h.collateral + h.stability AS tvl
          FROM ${days(anyDay)} AS d, LATERAL (${heldAt('d.ledger')}) AS h ORDER BY d.day DESC`,
        Volume: `SELECT d.day, (SELECT coalesce(sum(volume), 0) FROM ${allSwaps} AS s WHERE ${day('s.closed_at')} = d.day) AS "volumeQuote" FROM ${days(anyDay)} AS d ORDER BY d.day DESC`,
        'Recent activity': byTransaction(events('log'), 60, 12),
      },
    },
    '/markets': { tables: {
      Markets: `SELECT latest_price AS "latestPrice", twap_price AS "twapPrice", spot AS "spotPrice", deviation AS "deviationBps", change AS "change24hBps", volume AS "volume24h",
        debt, CASE WHEN NOT twap_stale THEN div(debt * twap_price, 10000000) END AS "debtValue", filled AS "ceilingBps", ratio AS "collateralBps", indebted AS "indebtedVaultCount", vaults AS "vaultCount" FROM ${markets} AS m ORDER BY symbol COLLATE "C"`,
    } },
    [`/markets/${some.market}`]: {
      heads: `SELECT m.latest_price AS "latestPrice", m.latest_ts AS "latestAt", m.twap_price AS "twapPrice",
          CASE WHEN NOT m.stale AND NOT m.twap_stale THEN div((m.latest_price - m.twap_price) * 10000, m.twap_price) END AS "twapDeviationBps", m.spot AS "spotPrice", m.deviation AS "deviationBps",
          m.change AS "change24hBps", m.volume AS "volume24h", m.debt, m.filled AS "ceilingBps", m.debt_ceiling AS "debtCeiling", CASE WHEN NOT m.coll_stale THEN div(m.collateral * m.coll_twap, 10000000) END AS "collateralValue", m.ratio AS "collateralBps",
          m.vaults AS "vaultCount", m.indebted AS "indebtedVaultCount", m.min_coll_ratio AS "terms.minCollRatioBps", m.liq_ratio AS "terms.liqRatioBps",
          m.liq_penalty AS "terms.liqPenaltyBps", m.stab_fee_bps AS "terms.mintFeeMillionths", m.debt_ceiling AS "terms.debtCeiling",
          (SELECT div((m.spot - ${spot('p')}) * 10000, nullif(${spot('p')}, 0)) FROM ${then('liquidity_pool_pool', before('7 days'))} AS p WHERE p.pool_id = m.pool_id) AS "change7dBps",
          ${[['debt24hBps', '24 hours'], ['debt7dBps', '7 days']].map(([name, span]) => `(SELECT div((m.debt - o.value) * 10000, nullif(o.value, 0))
            FROM ${then('synthetic_engine_debt_total', before(span))} AS o WHERE o.synth = m.symbol) AS "${name}"`).join(', ')}
        FROM ${markets} AS m WHERE m.symbol = '${some.market}'`,
      tables: {
        Debt: `SELECT d.day, (SELECT h.value FROM history.synthetic_engine_debt_total AS h WHERE h.synth = '${some.market}' AND ${day('h.closed_at')} <= d.day ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS debt
          FROM (SELECT g::date AS day FROM generate_series((SELECT min(${day('closed_at')}) FROM ${marketEvents} AS e), ${day(close)} - ${ledger ? 1 : 0}, interval '1 day') AS g) AS d ORDER BY d.day DESC LIMIT 200`,
        'Collateral by token': `SELECT h.amount, e.value AS "engineValue", e.pool AS "poolValue", div((e.value - e.pool) * 10000, nullif(e.pool, 0)) AS "engineDeviationBps", h.vaults AS "vaultCount"
          FROM ${markets} AS m, LATERAL (SELECT v.collateral_tok AS token, sum(v.collateral) AS amount, count(*) AS vaults FROM ${vaults} AS v WHERE v.synth_asset = m.symbol GROUP BY 1) AS h
            JOIN chain.token AS t ON t.token = h.token
            LEFT JOIN LATERAL (SELECT CASE WHEN p.token_a = h.token THEN div(h.amount * p.reserve_b, p.reserve_a) ELSE div(h.amount * p.reserve_a, p.reserve_b) END AS worth FROM ${state('liquidity_pool_pool')} AS p
              WHERE h.token IN (p.token_a, p.token_b) AND ${usdc} IN (p.token_a, p.token_b) AND h.token <> ${usdc}
              ORDER BY CASE WHEN p.token_a = h.token THEN p.reserve_b ELSE p.reserve_a END DESC LIMIT 1) AS p ON true,
            LATERAL (SELECT CASE WHEN NOT m.coll_stale THEN div(h.amount * m.coll_twap, 10000000) END AS value, CASE WHEN h.token = ${usdc} THEN h.amount ELSE p.worth END AS pool) AS e
          WHERE m.symbol = '${some.market}' ORDER BY t.symbol COLLATE "C"`,
        'Vaults by collateral ratio': `SELECT e.low AS "fromRatioBps", e.high AS "toRatioBps", count(v.ratio) AS vaults, coalesce(sum(v.debt), 0) AS debt
          FROM (SELECT r AS low, lead(r) OVER (ORDER BY r) AS high FROM unnest(ARRAY[${RATIOS}]) AS r) AS e LEFT JOIN (SELECT * FROM ${priced} AS v WHERE v.synth_asset = '${some.market}' AND v.debt > 0) AS v
            ON v.ratio >= e.low AND v.ratio < coalesce(e.high, v.ratio + 1) WHERE EXISTS (SELECT FROM ${markets} AS m WHERE m.symbol = '${some.market}' AND NOT m.twap_stale AND NOT m.coll_stale)
          GROUP BY e.low, e.high ORDER BY e.low DESC`,
        Price: `SELECT h.at, h.price AS close, (SELECT t.twap_price FROM history.oracle_feed AS t WHERE t.asset = h.asset AND ${hour('t.closed_at')} <= h.at ORDER BY t.ledger DESC, t.tx DESC, t.seq DESC LIMIT 1) AS "twapClose",
            c.close AS pool, div((div(c.close, 10000000) - h.price) * 10000, h.price) AS "deviationBps"
          FROM (SELECT *, max(at) OVER () AS newest FROM (SELECT DISTINCT ON (${hour('closed_at')}) ${hour('closed_at')} AS at, asset, median_price AS price FROM ${events('oracle_price_aggregate')} AS e
            WHERE asset = (SELECT oracle_symbol FROM ${state('synthetic_engine_asset_config')} AS m WHERE m.symbol = '${some.market}') AND ${overHour('closed_at')} ORDER BY ${hour('closed_at')}, ledger DESC, tx DESC, op DESC, event DESC) AS h) AS h
            LEFT JOIN (SELECT * FROM ${candles(`(SELECT pool_id FROM ${markets} AS m WHERE m.symbol = '${some.market}')`)} AS c ORDER BY c.at DESC LIMIT 200) AS c USING (at) WHERE h.at > ${spanOf('h.newest')} ORDER BY h.at DESC LIMIT 200`,
        'Vaults nearest to liquidation': `SELECT ${vaultRatio}, v.debt FROM ${priced} AS v WHERE v.synth_asset = '${some.market}' ${riskOrder} LIMIT 10`,
        Liquidations: liquidations(`e.synth_asset = '${some.market}'`),
      },
    },
    '/pools': { tables: { Pools: `SELECT ${poolColumns}, ${poolMore} FROM ${pools} AS p ORDER BY pool_id COLLATE "C"` } },
    [`/pools/${some.pool}`]: {
      heads: `SELECT ${poolColumns}, ${poolMore}, total_shares AS "totalShares", cumulative_vol_a AS "cumulativeVolumeA", cumulative_vol_b AS "cumulativeVolumeB", ${unix('closed_at')} AS "changedAt"
        FROM ${pools} AS p WHERE pool_id = '${some.pool}'`,
      tables: {
        'XLM in USDC': `SELECT at, open, high, low, close, volume, swaps FROM (SELECT c.*, max(at) OVER () AS newest FROM ${candles(`'${some.pool}'`)} AS c) AS c WHERE at > ${spanOf('newest')} ORDER BY at DESC LIMIT 200`,
        Reserves: `SELECT d.day, p.reserve_a AS "reserveA", p.reserve_b AS "reserveB" FROM ${days(poolDay)} AS d, LATERAL ${then('liquidity_pool_pool', 'd.ledger')} AS p WHERE p.pool_id = '${some.pool}' ORDER BY d.day DESC`,
        Fees: `SELECT d.day, (SELECT sum(fee) FROM ${allSwaps} AS s WHERE s.pool_id = '${some.pool}' AND ${day('s.closed_at')} = d.day) AS "feesQuote" FROM ${days(poolDay)} AS d ORDER BY d.day DESC`,
        'Liquidity providers': `SELECT ${quoteOfShares} AS "valueQuote", div(l.shares * 10000, p.total_shares) AS "shareBps", div(l.shares * p.reserve_a, p.total_shares) AS "underlyingA", div(l.shares * p.reserve_b, p.total_shares) AS "underlyingB",
            l.pending_a + ${position} AS "claimableA", l.pending_b + ${position.replaceAll('_a_', '_b_')} AS "claimableB", l.deposited_at AS "depositedAt"
          FROM ${state('liquidity_pool_lp_pos')} AS l JOIN ${state('liquidity_pool_pool')} AS p USING (pool_id) WHERE l.pool_id = '${some.pool}' ORDER BY l.provider COLLATE "C" LIMIT 50`,
        Swaps: `SELECT ${unix('closed_at')} AS "closedAt", amount_in AS "amountIn", amount_out AS "amountOut" FROM ${events('liquidity_pool_swap')} AS e WHERE pool_id = '${some.pool}' ${newest} LIMIT 20`,
      },
    },
    '/vaults': { heads: `SELECT CASE WHEN m.priced THEN v.vaults END AS "vaultsAtFall", CASE WHEN m.priced THEN v.debt END AS "debtAtFall", CASE WHEN m.priced THEN v.collateral END AS "collateralAtFall"
        FROM ${fallOf} AS m, LATERAL (${fallen(20)}) AS v`,
      tables: {
      [`Debt that may be liquidated`]: `SELECT g * 100 AS "fallBps", v.vaults, v.debt, v.collateral FROM ${fallOf} AS m, generate_series(100, 0, -1) AS g, LATERAL (${fallen('g')}) AS v WHERE m.priced`,
      Vaults: `SELECT ${vaultRatio}, v.liq_ratio AS "liqRatioBps", v.liq_price AS "liquidationPrice", v.debt, div(v.debt * v.sp, 10000000) AS "debtValue", v.collateral,
        div(v.collateral * v.cp, 10000000) AS "collateralValue", ${unix('v.closed_at')} AS "changedAt" FROM ${priced} AS v ${riskOrder} LIMIT 50`,
      Liquidations: liquidations('true'),
    } },
    '/stability-pool': {
      heads: `SELECT total_deposits AS "totalDeposits", total_coll_gained AS "totalCollateralGained", total_liq_count AS "liquidationCount", epoch, scale, ${unix('closed_at')} AS "changedAt" FROM ${stability} AS s`,
      tables: {
        Deposits: `SELECT d.day, h.stability AS "tvlStability" FROM ${days(anyDay)} AS d, LATERAL (${heldAt('d.ledger')}) AS h ORDER BY d.day DESC`,
        Depositors: `SELECT CASE WHEN d.snapshot_epoch = s.epoch THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000) ELSE 0 END AS "compoundedDeposit",
            d.initial_value AS "initialValue", div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000) AS "collateralGain", d.deposited_at AS "depositedAt"
          FROM ${state('stability_pool_deposit')} AS d, ${stability} AS s ORDER BY d.depositor COLLATE "C" LIMIT 50`,
        'Events of the stability pool': `SELECT closed AS "closedAt", amount, absorbed AS "debtAbsorbed", reward AS "collateralReward" FROM (
            ${['deposit', 'withdraw', 'claim'].map((kind) => `SELECT ledger, tx, op, event, ${unix('closed_at')} AS closed, amount, NULL::numeric AS absorbed, NULL::numeric AS reward FROM ${events(`stability_pool_${kind}`)} AS e`).join(' UNION ALL ')}
            UNION ALL SELECT ledger, tx, op, event, ${unix('closed_at')}, NULL, debt_absorbed, collateral_reward FROM ${events('stability_pool_absorb')} AS e) AS e ${newest} LIMIT 20`,
      },
    },
    '/oracle': {
      heads: `SELECT min_providers AS "minProviders", twap_window AS "twapWindow" FROM ${state('oracle_instance')} AS o`,
      tables: {
        Feeds: `SELECT f.latest_price AS "latestPrice", f.latest_ts AS "latestAt", f.twap_price AS "twapPrice",
            CASE WHEN NOT stale AND NOT twap_stale THEN div((latest_price - twap_price) * 10000, twap_price) END AS "twapDeviationBps", observation_count AS "observationCount",
            coalesce(jsonb_array_length(p.value::jsonb), 0) AS waiting
          FROM ${feeds} AS f LEFT JOIN ${state('oracle_pending_observations')} AS p USING (asset) ORDER BY f.asset COLLATE "C"`,
        [`Rounds of ${some.feed}`]: `SELECT ${unix('r.closed_at')} AS "closedAt", r.median_price AS "medianPrice", (SELECT jsonb_object_agg(o.provider || '.' || o.n || '.' || x.name, x.value) FROM (SELECT o.*, row_number() OVER (PARTITION BY provider ORDER BY o.ledger, o.tx, o.op, o.event) - 1 AS n
            FROM ${events('oracle_price_observation')} AS o
            WHERE o.asset = r.asset AND (o.ledger, o.tx, o.op, o.event) < (r.ledger, r.tx, r.op, r.event) AND (r.before IS NULL OR ARRAY[o.ledger, o.tx, o.op, o.event] > r.before)) AS o,
            LATERAL (VALUES ('price', o.price), ('deviationBps', div((o.price - r.median_price) * 10000, r.median_price))) AS x (name, value)) AS "*"
          FROM (SELECT *, lag(ARRAY[ledger, tx, op, event]) OVER (ORDER BY ledger, tx, op, event) AS before FROM ${events('oracle_price_aggregate')} AS e WHERE asset = '${some.feed}') AS r ${newest} LIMIT 50`,
        Observations: `SELECT ${unix('closed_at')} AS "closedAt", price FROM ${events('oracle_price_observation')} AS e WHERE asset = (SELECT min(asset COLLATE "C") FROM ${feeds} AS f) ${newest} LIMIT 20`,
        Providers: `SELECT ${unix('closed_at')} AS "changedAt" FROM ${state('oracle_provider')} AS p ORDER BY address COLLATE "C"`,
      },
    },
    '/partners': { tables: {
      Partners: `SELECT key_id AS "partnerId", revenue_share AS "revenueShareBps", total_earned AS "totalEarned", pending_revenue AS "pendingRevenue", cardinality(deployed_assets) AS "deployedAssets",
        registered_at AS "registeredAt" FROM ${state('partner_registry_partner')} AS p ORDER BY key_id LIMIT 100`,
    } },
    [`/partners/${some.partner}`]: {
      heads: `SELECT p.key_id AS "partnerId", p.total_earned AS "totalEarned", p.pending_revenue AS "pendingRevenue", p.revenue_share AS "revenueShareBps", p.registered_at AS "registeredAt", p.total_volume AS "totalVolume",
          ${unix('p.closed_at')} AS "changedAt",
          CASE WHEN p.active AND p.pending_revenue > 0 AND (SELECT b.amount FROM ${state('stellar_asset_balance')} AS b WHERE b.contract = ${usdc} AND b.address = ${role('partner_registry')}) >= p.pending_revenue
            THEN p.pending_revenue ELSE 0 END AS claimable
        FROM ${state('partner_registry_partner')} AS p WHERE p.key_id = ${some.partner}`,
      tables: {
        'Revenue by epoch': `SELECT r.epoch, (SELECT jsonb_object_agg(t.token || '.amount', (SELECT sum(x.amount) FROM ${partnerRevenue} AS x WHERE (x.epoch, x.token) = (r.epoch, t.token)))
            FROM (SELECT DISTINCT token FROM ${partnerRevenue} AS x) AS t) AS "*" FROM (SELECT DISTINCT epoch FROM ${partnerRevenue} AS x) AS r ORDER BY r.epoch DESC`,
        Catalog: `SELECT debt_ceiling AS "debtCeiling", deployed_at AS "deployedAt" FROM ${state('partner_registry_partner_asset')} AS a WHERE partner_id = ${some.partner} ORDER BY key_symbol COLLATE "C"`,
        Claims: `SELECT ${unix('closed_at')} AS "closedAt", claimable AS claimed FROM ${events('partner_registry_claim')} AS e
          WHERE partner_owner = (SELECT owner FROM ${state('partner_registry_partner')} AS p WHERE p.key_id = ${some.partner}) ${newest} LIMIT 20`,
      },
    },
    [`/governance?proposal=${some.proposal}&multisig=${some.multisig}`]: {
      heads: `SELECT p.yes_votes AS "proposal.yesVotes", p.no_votes AS "proposal.noVotes", ${governing} AS "proposal.threshold", p.start_time AS "proposal.startsAt", p.end_time AS "proposal.endsAt",
          p.execute_after AS "proposal.executableAt", p.ledger AS "proposal.changedLedger", ${stillPossible('p', 'proposal.')},
          (SELECT array_to_string(x.value, ',') FROM ${state('dao_governance_proposal_multi_sig_txs')} AS x WHERE x.proposal_id = p.key_id) AS "proposal.multisigTxIds",
          m.approvals AS "multisig.approvals", m.threshold AS "multisig.threshold", m.rejections AS "multisig.rejections", m.created_at AS "multisig.createdAt"
        FROM ${proposals} AS p, ${multisig} AS m WHERE p.key_id = ${some.proposal} AND m.tx_id = ${some.multisig}`,
      tables: {
        'Votes over time': `SELECT ${unix('closed_at')} AS "closedAt", coalesce(sum(weight) FILTER (WHERE support) OVER w, 0) AS yes, coalesce(sum(weight) FILTER (WHERE NOT support) OVER w, 0) AS no
          FROM ${votes} AS v WINDOW w AS (ORDER BY ledger, tx, op, event) ${newest}`,
        Votes: `SELECT ${unix('closed_at')} AS "closedAt", weight FROM ${votes} AS v ${newest}`,
        'Decisions of the signers': `SELECT ${unix('closed_at')} AS "changedAt" FROM ${state('dao_governance_multi_sig_approval')} AS a WHERE tx_id = ${some.multisig} ORDER BY ledger, signer COLLATE "C"`,
        Proposals: `SELECT key_id AS "proposalId", yes_votes AS "yesVotes", no_votes AS "noVotes", ${governing} AS threshold, end_time AS "endsAt", ${stillPossible('p', '')} FROM ${proposals} AS p ORDER BY key_id DESC LIMIT 20`,
        'Multisig transactions': `SELECT tx_id AS "txId", wallet_id AS "walletId", approvals, threshold, rejections, proposal_id AS "proposalId", created_at AS "createdAt" FROM ${multisig} AS m ORDER BY tx_id DESC LIMIT 20`,
        Wallets: `SELECT wallet_id AS "walletId", threshold, cardinality(signers) AS "signerCount" FROM ${wallets} AS w ORDER BY wallet_id LIMIT 20`,
      },
    },
    '/compliance': {
      heads: `SELECT i.verifier_count AS "verifierCount", i.travel_rule_count AS "travelRuleCount",
          (SELECT jsonb_object_agg('addresses' || (${STATUSES})[r.now + 1], r.n) FROM (SELECT now, count(*) AS n FROM ${records} AS r GROUP BY 1) AS r) AS "*"
        FROM ${state('compliance_registry_instance')} AS i`,
      tables: {
        'Records by status': `SELECT d.day, (SELECT jsonb_object_agg(all_of.s, coalesce(c.n::text, '')) FROM ${everStatus} AS all_of LEFT JOIN (SELECT (${STATUSES})[${statusAt('(SELECT extract(epoch FROM l.closed_at) FROM chain.ledger AS l WHERE l.ledger = d.ledger)')} + 1] AS s,
            count(*) AS n FROM ${then('compliance_registry_compliance_rec', 'd.ledger')} AS r GROUP BY 1) AS c USING (s)) AS "*" FROM ${complianceDays} AS d ORDER BY d.day DESC`,
        'Records by provider and status': `SELECT count(*) AS addresses FROM ${records} AS r GROUP BY now, provider ORDER BY now, provider COLLATE "C"`,
        'Attestations that expire soon': `SELECT expires_at AS "expiresAt", expires_at - floor(extract(epoch FROM ${close})) AS "endsIn" FROM ${state('compliance_registry_compliance_rec')} AS r
          WHERE expires_at >= floor(${T}) AND expires_at <= floor(${T}) + 2592000 ORDER BY expires_at, key_hash LIMIT 50`,
        Verifiers: `SELECT index, ${unix('closed_at')} AS "changedAt" FROM ${state('compliance_registry_verifier_list')} AS l
          WHERE value IN (SELECT address FROM ${state('compliance_registry_verifier')} AS v) ORDER BY index LIMIT 50`,
      },
    },
    [`/vaults/${some.vault}/${some.address}`]: {
      heads: `SELECT v.liq_ratio AS "liqRatioBps", ${vaultRatio.replace('v.ratio AS "ratioBps", ', '')}, v.ratio AS "ratioBps", v.liq_price AS "liquidationPrice", v.cp AS "collateralPrice", v.debt, v.collateral,
          div(v.debt * v.sp, 10000000) AS "debtValue", div(v.collateral * v.cp, 10000000) AS "collateralValue", v.opened_at AS "openedAt", v.last_update AS "updatedAt",
          CASE WHEN v.debt > 0 THEN q.place END AS "queuePosition", q.length AS "queueLength", v.cp AS "ifPrice", CASE WHEN v.sp IS NOT NULL AND v.cp IS NOT NULL THEN v.collateral END AS "ifCollateral",
          CASE WHEN v.sp IS NOT NULL AND v.cp IS NOT NULL THEN v.debt END AS "ifDebt", v.ratio AS "ifRatioBps", v.liq_price AS "ifLiquidationPrice",
          jsonb_build_object('remedy.minCollRatioBps', v.min_coll_ratio, 'remedy.toMinimum.collateral', nullif(e.add, 0), 'remedy.toMinimum.debt', nullif(e.repay, 0),
            'remedy.toSafety.collateral', nullif(e.add_safe, 0), 'remedy.toSafety.debt', nullif(e.repay_safe, 0), 'loss.collateralPrice', l.price, 'loss.liqPenaltyBps', v.liq_penalty,
            'loss.debt', CASE WHEN l.price IS NOT NULL THEN v.debt END, 'loss.collateralToLiquidator', l.award, 'loss.collateralToStabilityPool', v.collateral - l.award) AS "*"
        FROM ${priced} AS v, LATERAL (SELECT count(*) AS length, count(*) FILTER (WHERE (o.collateral / o.debt, o.key_hash) <= (v.collateral / nullif(v.debt, 0), v.key_hash)) AS place
            FROM ${vaults} AS o WHERE o.synth_asset = v.synth_asset AND o.debt > 0) AS q,
          LATERAL (SELECT greatest(ceil(v.debt * v.sp * v.min_coll_ratio / (v.cp * 10000)) - v.collateral, 0) AS add, greatest(v.debt - floor(v.collateral * v.cp * 10000 / (v.sp * v.min_coll_ratio)), 0) AS repay,
            CASE WHEN v.ratio < v.liq_ratio THEN ceil(ceil(div(v.debt * v.sp, 10000000) * v.liq_ratio / 10000) * 10000000 / v.cp) - v.collateral ELSE 0 END AS add_safe,
            CASE WHEN v.ratio < v.liq_ratio THEN v.debt - (ceil((floor(div(v.collateral * v.cp, 10000000) * 10000 / v.liq_ratio) + 1) * 10000000 / v.sp) - 1) ELSE 0 END AS repay_safe) AS e,
          LATERAL (SELECT CASE WHEN v.ratio < v.liq_ratio THEN v.cp WHEN v.ratio IS NOT NULL THEN v.liq_price - 1 END AS price) AS p,
          LATERAL (SELECT p.price, least(div((div(v.debt * v.sp, 10000000) + div(div(v.debt * v.sp, 10000000) * v.liq_penalty, 10000)) * 10000000, nullif(p.price, 0)), v.collateral) AS award) AS l
        WHERE v.owner = ${who} AND v.synth_asset = '${some.vault}'`,
      tables: {
        'Collateral over time': `(SELECT ${unix(close)} AS at, collateral FROM ${vaults} AS v WHERE owner = ${who} AND synth = '${some.vault}') UNION ALL (SELECT ${unix('closed_at')}, collateral FROM history.synthetic_engine_vault AS h WHERE ${ofVault} ${versions})`,
        'Debt over time': `(SELECT ${unix(close)} AS at, debt FROM ${vaults} AS v WHERE owner = ${who} AND synth = '${some.vault}') UNION ALL (SELECT ${unix('closed_at')}, debt FROM history.synthetic_engine_vault AS h WHERE ${ofVault} ${versions})`,
        'History of the vault': `SELECT ${unix('closed_at')} AS "closedAt", collateral, debt FROM history.synthetic_engine_vault AS h WHERE ${ofVault} ${versions}`,
      },
    },
    [`/address/${some.address}`]: {
      heads: `SELECT (SELECT coalesce(sum(value), 0) FROM ${parts} AS p) AS "netValue", (SELECT nullif(count(*), 0) FROM ${parts} AS p WHERE value IS NULL) AS "unpricedCount",
          (SELECT min("distanceBps") FROM (SELECT ${vaultRatio} FROM ${priced} AS v WHERE v.owner = ${who}) AS v) AS "distanceBps",
          (SELECT count(*) FROM ${vaults} AS v WHERE owner = ${who}) AS "vaultsCount", (SELECT count(*) FROM ${state('liquidity_pool_lp_pos')} AS l WHERE provider = ${who}) AS "positionsCount",
          (SELECT compounded FROM ${deposit} AS d) AS "compoundedDeposit", (SELECT nullif(expires_at, 0) FROM ${state('compliance_registry_compliance_rec')} AS r WHERE address = ${who}) AS "expiresAt",
          (SELECT jsonb_build_object('deposit.compoundedDeposit', compounded, 'deposit.initialValue', initial_value, 'deposit.collateralGain', gain, 'deposit.depositedAt', deposited_at) FROM ${deposit} AS d) AS "*",
          (SELECT nullif(expires_at, 0) FROM ${state('compliance_registry_compliance_rec')} AS r WHERE address = ${who} AND status = 2 AND (expires_at = 0 OR expires_at >= ${T})) AS "standing.validUntil",
          coalesce((SELECT sum(div(e.protocol_revenue * 3500 * d.compounded, e.staker_snapshot * 10000)) FROM ${deposit} AS d, ${state('earnings_distributor_epoch')} AS e
            WHERE e.finalized AND e.staker_snapshot > 0 AND NOT EXISTS (SELECT FROM ${state('earnings_distributor_claimed')} AS c WHERE c.epoch = e.key_id AND c.claimer = ${who} AND c.value)), 0) AS total`,
      tables: {
        Balances: `SELECT b.balance, b.value FROM ${holdings} AS b LEFT JOIN chain.token AS t ON t.token = b.contract ORDER BY t.symbol COLLATE "C", b.contract COLLATE "C"`,
        Vaults: `SELECT ${vaultRatio}, v.debt, v.collateral FROM ${priced} AS v WHERE v.owner = ${who} ORDER BY v.synth_asset COLLATE "C"`,
        'Pool positions': `SELECT div(l.shares * p.reserve_a, p.total_shares) AS "underlyingA", div(l.shares * p.reserve_b, p.total_shares) AS "underlyingB", ${quoteOfShares} AS "valueQuote",
            l.pending_a + ${position} AS "claimableA", l.pending_b + ${position.replaceAll('_a_', '_b_')} AS "claimableB"
          FROM ${state('liquidity_pool_lp_pos')} AS l JOIN ${state('liquidity_pool_pool')} AS p USING (pool_id) WHERE l.provider = ${who} ORDER BY l.pool_id COLLATE "C"`,
        Votes: `SELECT ${unix('closed_at')} AS "closedAt", proposal_id AS "proposalId", weight FROM ${events('dao_governance_voted')} AS e WHERE voter = ${who} ${newest} LIMIT 20`,
        'Claims of earnings': `SELECT ${unix('closed_at')} AS "closedAt", total FROM ${events('earnings_distributor_revenue_claimed')} AS e WHERE claimer = ${who} ${newest} LIMIT 20`,
        'Compliance history': `SELECT ${unix('h.closed_at')} AS "closedAt", h.expires_at AS "expiresAt", h.ledger FROM (
            SELECT ledger, tx, seq, closed_at, nullif(expires_at, 0) AS expires_at FROM history.compliance_registry_compliance_rec AS h WHERE address = ${who}
            UNION ALL SELECT ledger, tx, seq, closed_at, nullif(expires_at, 0) FROM history.compliance_registry_kyc AS h WHERE key_address = ${who}
            ${['frozen', 'whitelist'].map((one) => `UNION ALL SELECT ledger, tx, seq, closed_at, NULL FROM history.compliance_registry_${one} AS h WHERE address = ${who}`).join(' ')}) AS h
          WHERE h.ledger <= ${N} ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 20`,
        Activity: byTransaction(`(SELECT * FROM (SELECT ledger, tx, op, event, closed_at FROM event.log AS e WHERE ${who} = ANY (addresses)
            UNION ALL SELECT ledger, tx, op, -1, closed_at FROM chain.call AS c WHERE source = ${who}) AS e WHERE ledger <= ${N})`, 50),
      },
    },
    [`/tx/${some.tx}`]: {
      heads: `SELECT ledger, ${unix('closed_at')} AS "closedAt", tx, fee_charged AS "feeCharged" FROM chain.tx AS t WHERE hash = '\\x${some.tx}'`,
      tables: {
        'Calls of the protocol': `SELECT op, events, changed AS changes FROM chain.call AS c WHERE (ledger, tx) IN ${txPlace} ORDER BY op`,
        'Events of the protocol': `SELECT FROM event.log AS e WHERE (ledger, tx) IN ${txPlace}`,
      },
    },
    [`/ledger/${some.ledger}`]: {
      heads: `SELECT ${unix('closed_at')} AS "closedAt", protocol, tx_count AS transactions, our_txs AS "protocolTransactions", events, changes, raw_events AS "rawEvents", raw_states AS "rawStates", raw_calls AS "rawCalls",
        calls_verified AS "callsVerified", calls_rewritten AS "callsRewritten", calls_unverified AS "callsUnverified" FROM chain.ledger AS l WHERE ledger = ${some.ledger}`,
      tables: { [`Activity of ledger ${some.ledger}`]: byTransaction(`(SELECT * FROM event.log AS e WHERE ledger = ${some.ledger})`, 100) },
    },
    [`/earnings?epoch=${some.epoch}`]: { heads: `SELECT start_time AS "epoch.startsAt", end_time AS "epoch.endsAt", total_revenue AS "epoch.totalRevenue", partner_revenue AS "epoch.partnerRevenue",
        protocol_revenue AS "epoch.protocolRevenue", staker_snapshot AS "epoch.stakerSnapshot" FROM ${state('earnings_distributor_epoch')} AS e WHERE key_id = ${some.epoch}`,
      tables: {
      'Revenue by token': `SELECT r.value AS amount FROM ${state('earnings_distributor_epoch_token_list')} AS l, unnest(l.value) WITH ORDINALITY AS u (token, n),
          ${state('earnings_distributor_epoch_revenue')} AS r WHERE l.epoch = ${some.epoch} AND r.epoch = l.epoch AND r.token = u.token ORDER BY u.n`,
      Partners: `SELECT partner_id AS "partnerId", value AS revenue FROM ${state('earnings_distributor_epoch_partner_revenue')} AS r WHERE epoch = ${some.epoch} ORDER BY partner_id`,
      'Revenue by epoch': `SELECT key_id AS epoch, protocol_revenue AS "protocolRevenue", partner_revenue AS "partnerRevenue" FROM ${state('earnings_distributor_epoch')} AS e ORDER BY key_id DESC LIMIT 50`,
      Epochs: `SELECT key_id AS epoch, start_time AS "startsAt", end_time AS "endsAt", total_revenue AS "totalRevenue", partner_revenue AS "partnerRevenue", protocol_revenue AS "protocolRevenue",
        staker_snapshot AS "stakerSnapshot" FROM ${state('earnings_distributor_epoch')} AS e ORDER BY key_id DESC LIMIT 50`,
      Claims: `SELECT ${unix('closed_at')} AS "closedAt", total FROM ${events('earnings_distributor_revenue_claimed')} AS e ${newest} LIMIT 20`,
    } },
  };
  return pages;
}

/** What a page shows, asked inside of it: figures at heads by name, tables by caption, numbers that are no figures, and figures whose text is not their raw value. */
export function shown() {
  const heads = {}, tables = {}, loose = [], wrong = [];
  const put = (to, name, raw) => { if (name in to && to[name] !== raw) wrong.push(`${name} is both ${to[name]} and ${raw}`); to[name] = raw; };
  for (const node of document.querySelectorAll('main [data-figure]')) {
    const { figure, raw } = node.dataset;
    if (node.closest('table')) continue;
    const about = node.closest('[data-about]')?.dataset.about;
    put(heads, about ? `${about}.${figure}` : figure, raw);
  }
  for (const table of document.querySelectorAll('main .table table')) {
    tables[table.caption.textContent] = [...table.tBodies[0].rows].filter((row) => row.cells.length > 1 || row.querySelector('[data-figure]')).map((row) => {
      const figures = {};
      for (const node of row.querySelectorAll('[data-figure]')) put(figures, node.dataset.figure, node.dataset.raw);
      return figures;
    });
  }
  for (const node of document.querySelectorAll('main .table td, main dd')) {
    const rest = node.cloneNode(true);
    for (const part of rest.querySelectorAll('[data-figure], .mono, .says, .unit, a, svg, [title]:not(.num)')) part.remove();
    if (/\d/.test(rest.textContent.replace(/\b(24 h|7 d(ays)?)\b/g, ''))) loose.push(rest.textContent);
  }
  const units = { K: 3, M: 6, B: 9, T: 12 };
  for (const node of document.querySelectorAll('main .num[data-figure]')) {
    const [, exact, raw] = /^([−\d,.]+)(?: [^·]*)? · raw (-?\d+)$/.exec(node.title) ?? [];
    if (exact === undefined) continue;
    const digits = exact.replace(/[,.]/g, '').replace('−', '-').replace(/^(-?)0+(?=\d)/, '$1');
    if (raw !== node.dataset.raw || !(raw.startsWith(digits) && /^0*$/.test(raw.slice(digits.length)))) wrong.push(`${node.title}: raw is ${node.dataset.raw}`);
    // The page shows the first of the exact digits.
    const [, sign, whole, fraction = '', unit] = /^(−?)([\d,]+)(?:\.(\d+))?([KMBT])?/.exec(node.textContent) ?? [];
    const seen = (whole ?? '').replace(/,/g, '') + fraction, [w, f = ''] = exact.replace(/[−,]/g, '').split('.');
    const power = units[unit] ?? 0, want = (w + f.padEnd(40, '0')).slice(0, w.length - power + fraction.length);
    if (sign !== (exact.startsWith('−') ? '−' : '') || seen.replace(/^0+(?=\d)/, '') !== (want || '0').replace(/^0+(?=\d)/, '')) wrong.push(`"${node.textContent}" is shown for ${exact}`);
  }
  return { heads, tables, loose, wrong };
}
