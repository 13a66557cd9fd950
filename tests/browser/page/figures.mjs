// Every figure that a page of the dashboard shows, by plain SQL over the tables of state, history and events: none of the API's
// statements, functions or sums. A page may show no figure that is not here.
//
// wanted(ledger, some): by path the figures at its heads and the rows of its tables; ledger null: now.

/** Figures that a page shows under conditions only. */
export const SOMETIMES = new Set(['stalePrices', 'unpricedDebts', 'users', 'vaultsAtFall', 'debtAtFall', 'collateralAtFall']);

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
  const usdc = "(SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = 'usdc')";
  const role = (name) => `(SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = '${name}')`;

  const feeds = `(SELECT *, ${T} - latest_ts > 300 AS stale, ${T} - twap_ts > 600 AS twap_stale FROM ${state('oracle_feed')} AS f)`;
  // The last ledger before 24 hours and 7 days ago; the first minute of the last 24 hours.
  const before = (span) => `(SELECT max(ledger) FROM chain.ledger WHERE closed_at <= ${at} - interval '${span}')`;
  const since = `date_trunc('minute', ${at} - interval '24 hours') + interval '1 minute'`;
  // Swaps with their USDC: the fee is of the token that goes in, at the swap's own price.
  const swaps = `(SELECT s.*, CASE WHEN (p.token_a = ${usdc}) = s.a_to_b THEN s.amount_in ELSE s.amount_out END AS volume,
      CASE WHEN (p.token_a = ${usdc}) = s.a_to_b THEN div(s.amount_in * p.fee_tier, 10000)
        ELSE div(div(s.amount_in * p.fee_tier, 10000) * s.amount_out, s.amount_in) END AS fee
    FROM event.liquidity_pool_swap AS s JOIN state.liquidity_pool_pool AS p USING (pool_id)
    WHERE s.ledger <= ${N} AND s.closed_at >= ${since} AND s.closed_at < ${at} + interval '1 day')`;
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
  const priced = `(SELECT v.*, m.liq_ratio, m.cp, m.sp, m.token, m.symbol, r.ratio, CASE WHEN r.ratio IS NOT NULL AND v.collateral > 0 THEN l.price END AS liq_price
    FROM ${vaults} AS v LEFT JOIN (SELECT m.symbol, m.token, m.liq_ratio, CASE WHEN NOT f.twap_stale THEN f.twap_price END AS sp,
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
    FROM ${events('synthetic_engine_liq')} AS e
      LEFT JOIN LATERAL (SELECT * FROM event.synth_token_burn AS b WHERE (b.ledger, b.tx, b.op) = (e.ledger, e.tx, e.op) AND b.event < e.event ORDER BY b.event DESC LIMIT 1) AS b ON true
      LEFT JOIN LATERAL (SELECT amount FROM event.stellar_asset_transfer AS g WHERE (g.ledger, g.tx, g.op, g.event) = (e.ledger, e.tx, e.op, b.event + 2)
        AND g.from_address = e.contract AND g.event < e.event) AS g ON true
      LEFT JOIN LATERAL (SELECT * FROM history.synthetic_engine_asset_config AS m WHERE m.symbol = e.synth_asset AND m.ledger <= e.ledger ORDER BY m.ledger DESC, m.tx DESC LIMIT 1) AS m ON true
      LEFT JOIN LATERAL (SELECT twap_price FROM history.oracle_feed AS f WHERE f.asset = m.oracle_symbol AND (f.ledger, f.tx) <= (e.ledger, e.tx) ORDER BY f.ledger DESC, f.tx DESC, f.seq DESC LIMIT 1) AS s ON true
      LEFT JOIN LATERAL (SELECT twap_price FROM history.oracle_feed AS f WHERE f.asset = m.coll_oracle_sym AND (f.ledger, f.tx) <= (e.ledger, e.tx) ORDER BY f.ledger DESC, f.tx DESC, f.seq DESC LIMIT 1) AS c ON true,
      LATERAL (SELECT div(b.amount * s.twap_price, 10000000) AS repaid, div(e.collateral_seized * c.twap_price, 10000000) AS seized) AS u
    WHERE ${where} ORDER BY e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC LIMIT 20`;
  const debts = `(SELECT o.value, f.twap_price, f.twap_stale FROM ${state('synthetic_engine_debt_total')} AS o JOIN ${state('synthetic_engine_asset_config')} AS m ON m.symbol = o.synth
    LEFT JOIN ${feeds} AS f ON f.asset = m.oracle_symbol WHERE o.value > 0)`;
  const backing = `(SELECT b.contract, b.amount, f.twap_price, f.twap_stale FROM ${state('stellar_asset_balance')} AS b LEFT JOIN chain.token AS t ON t.token = b.contract
    LEFT JOIN ${feeds} AS f ON f.asset = t.symbol WHERE b.address = ${role('synthetic_engine')})`;
  const stability = state('stability_pool_state');
  const position = `div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000)`;

  const pages = {
    '/': {
      heads: `SELECT (SELECT sum(tvl) FROM ${pools} AS p) + (SELECT total_deposits FROM ${stability} AS s)
          + (SELECT sum(CASE b.contract WHEN ${usdc} THEN b.amount ELSE div(b.amount * b.twap_price, 10000000) END) FROM ${backing} AS b) AS tvl,
        (SELECT count(*) FROM ${backing} AS b WHERE b.amount > 0 AND b.twap_stale AND b.contract <> ${usdc}) AS "stalePrices",
        (SELECT sum(div(value * twap_price, 10000000)) FROM ${debts} AS d WHERE NOT twap_stale) AS "debtValue",
        (SELECT count(*) FROM ${debts} AS d) AS "indebtedMarkets", (SELECT count(*) FROM ${debts} AS d WHERE twap_stale) AS "unpricedDebts",
        (SELECT coalesce(sum(volume), 0) FROM ${swaps} AS s) AS "volumeQuote24h", (SELECT coalesce(sum(fee), 0) FROM ${swaps} AS s) AS "feesQuote24h",
        (SELECT count(*) FROM ${swaps} AS s) AS "swaps24h", (SELECT total_deposits FROM ${stability} AS s) AS "totalDeposits",
        (SELECT total_liq_count FROM ${stability} AS s) AS "liquidationCount", (SELECT count(*) FROM ${events('synthetic_engine_liq')} AS e) AS liquidations,
        (SELECT count(DISTINCT address) FROM rollup.active) AS users`,
      tables: {
        Markets: `SELECT latest_price AS "latestPrice", deviation AS "deviationBps", debt, change AS "change24hBps" FROM ${markets} AS m ORDER BY symbol COLLATE "C" LIMIT 8`,
        Pools: `SELECT ${poolColumns} FROM ${pools} AS p ORDER BY pool_id COLLATE "C" LIMIT 8`,
        'Recent events': `SELECT ${unix('closed_at')} AS "closedAt", ledger FROM ${events('log')} AS e ${newest} LIMIT 12`,
      },
    },
    '/markets': { tables: {
      Markets: `SELECT latest_price AS "latestPrice", twap_price AS "twapPrice", spot AS "spotPrice", deviation AS "deviationBps", change AS "change24hBps", volume AS "volume24h",
        debt, filled AS "ceilingBps", ratio AS "collateralBps", indebted AS "indebtedVaultCount", vaults AS "vaultCount" FROM ${markets} AS m ORDER BY symbol COLLATE "C"`,
    } },
    [`/markets/${some.market}`]: {
      heads: `SELECT m.latest_price AS "latestPrice", m.latest_ts AS "latestAt", m.twap_price AS "twapPrice",
          CASE WHEN NOT m.stale AND NOT m.twap_stale THEN div((m.latest_price - m.twap_price) * 10000, m.twap_price) END AS "twapDeviationBps", m.spot AS "spotPrice", m.deviation AS "deviationBps",
          m.change AS "change24hBps", m.volume AS "volume24h", m.debt, m.filled AS "ceilingBps", m.debt_ceiling AS "debtCeiling", m.collateral, m.ratio AS "collateralBps",
          m.vaults AS "vaultCount", m.indebted AS "indebtedVaultCount", m.min_coll_ratio AS "terms.minCollRatioBps", m.liq_ratio AS "terms.liqRatioBps",
          m.liq_penalty AS "terms.liqPenaltyBps", m.stab_fee_bps AS "terms.mintFeeMillionths", m.debt_ceiling AS "terms.debtCeiling",
          ${[['change7dBps', null], ['debt24hBps', 1], ['debt7dBps', 7]].map(([name, days]) => `(${days === null
            ? `SELECT div((m.spot - d.price) * 10000, d.price) FROM (SELECT trunc(c.close_price * 10000000) AS price FROM rollup.candle AS c
                WHERE c.pool_id = m.pool_id AND c.seconds = 86400 AND c.at <= ${ledger ? `date_trunc('day', ${at} - interval '1 day', 'UTC')` : `date_trunc('day', ${close}, 'UTC')`} - interval '7 days' ORDER BY c.at DESC LIMIT 1) AS d`
            : `SELECT div((x.now - x.old) * 10000, nullif(x.old, 0)) FROM (SELECT (${debtOn('m.symbol', 0)}) AS now, (${debtOn('m.symbol', days)}) AS old) AS x`}) AS "${name}"`).join(', ')}
        FROM ${markets} AS m WHERE m.symbol = '${some.market}'`,
      tables: {
        'Vaults nearest to liquidation': `SELECT ${vaultRatio}, v.debt FROM ${priced} AS v WHERE v.synth_asset = '${some.market}' ${riskOrder} LIMIT 10`,
        Liquidations: liquidations(`e.synth_asset = '${some.market}'`),
      },
    },
    '/pools': { tables: { Pools: `SELECT ${poolColumns}, ${poolMore} FROM ${pools} AS p ORDER BY pool_id COLLATE "C"` } },
    [`/pools/${some.pool}`]: {
      heads: `SELECT ${poolColumns}, ${poolMore}, total_shares AS "totalShares", cumulative_vol_a AS "cumulativeVolumeA", cumulative_vol_b AS "cumulativeVolumeB", ${unix('closed_at')} AS "changedAt"
        FROM ${pools} AS p WHERE pool_id = '${some.pool}'`,
      tables: {
        'Liquidity providers': `SELECT div(l.shares * 10000, p.total_shares) AS "shareBps", div(l.shares * p.reserve_a, p.total_shares) AS "underlyingA", div(l.shares * p.reserve_b, p.total_shares) AS "underlyingB",
            l.pending_a + ${position} AS "claimableA", l.pending_b + ${position.replaceAll('_a_', '_b_')} AS "claimableB", l.deposited_at AS "depositedAt"
          FROM ${state('liquidity_pool_lp_pos')} AS l JOIN ${state('liquidity_pool_pool')} AS p USING (pool_id) WHERE l.pool_id = '${some.pool}' ORDER BY l.provider COLLATE "C" LIMIT 50`,
        Swaps: `SELECT ${unix('closed_at')} AS "closedAt", amount_in AS "amountIn", amount_out AS "amountOut" FROM ${events('liquidity_pool_swap')} AS e WHERE pool_id = '${some.pool}' ${newest} LIMIT 20`,
      },
    },
    '/vaults': { tables: {
      Vaults: `SELECT ${vaultRatio}, v.liq_ratio AS "liqRatioBps", v.liq_price AS "liquidationPrice", v.debt, div(v.debt * v.sp, 10000000) AS "debtValue", v.collateral,
        div(v.collateral * v.cp, 10000000) AS "collateralValue", ${unix('v.closed_at')} AS "changedAt" FROM ${priced} AS v ${riskOrder} LIMIT 50`,
      Liquidations: liquidations('true'),
    } },
    '/stability-pool': {
      heads: `SELECT total_deposits AS "totalDeposits", total_coll_gained AS "totalCollateralGained", total_liq_count AS "liquidationCount", epoch, scale, ${unix('closed_at')} AS "changedAt" FROM ${stability} AS s`,
      tables: {
        Depositors: `SELECT CASE WHEN d.snapshot_epoch = s.epoch THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000) ELSE 0 END AS "compoundedDeposit",
            d.initial_value AS "initialValue", div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000) AS "collateralGain", d.deposited_at AS "depositedAt"
          FROM ${state('stability_pool_deposit')} AS d, ${stability} AS s ORDER BY d.depositor COLLATE "C" LIMIT 50`,
        'Events of the stability pool': `SELECT closed AS "closedAt", amount, absorbed AS "debtAbsorbed", reward AS "collateralReward" FROM (
            ${['deposit', 'withdraw', 'claim'].map((kind) => `SELECT ledger, tx, op, event, ${unix('closed_at')} AS closed, amount, NULL::numeric AS absorbed, NULL::numeric AS reward FROM ${events(`stability_pool_${kind}`)} AS e`).join(' UNION ALL ')}
            UNION ALL SELECT ledger, tx, op, event, ${unix('closed_at')}, NULL, debt_absorbed, collateral_reward FROM ${events('stability_pool_liqabs')} AS e) AS e ${newest} LIMIT 20`,
      },
    },
    '/oracle': {
      heads: `SELECT min_providers AS "minProviders", twap_window AS "twapWindow" FROM ${state('oracle_instance')} AS o`,
      tables: {
        Feeds: `SELECT f.latest_price AS "latestPrice", f.latest_ts AS "latestAt", f.twap_price AS "twapPrice",
            CASE WHEN NOT stale AND NOT twap_stale THEN div((latest_price - twap_price) * 10000, twap_price) END AS "twapDeviationBps", observation_count AS "observationCount",
            coalesce(jsonb_array_length(p.value::jsonb), 0) AS waiting
          FROM ${feeds} AS f LEFT JOIN ${state('oracle_pending_observations')} AS p USING (asset) ORDER BY f.asset COLLATE "C"`,
        Observations: `SELECT ${unix('closed_at')} AS "closedAt", price FROM ${events('oracle_price_observation')} AS e WHERE asset = (SELECT min(asset COLLATE "C") FROM ${feeds} AS f) ${newest} LIMIT 20`,
        Providers: `SELECT ${unix('closed_at')} AS "changedAt" FROM ${state('oracle_provider')} AS p ORDER BY address COLLATE "C"`,
      },
    },
    '/partners': { tables: {
      Partners: `SELECT key_id AS "partnerId", revenue_share AS "revenueShareBps", total_earned AS "totalEarned", pending_revenue AS "pendingRevenue", cardinality(deployed_assets) AS "deployedAssets",
        registered_at AS "registeredAt" FROM ${state('partner_registry_partner')} AS p ORDER BY key_id LIMIT 100`,
    } },
    '/earnings': { tables: {
      Epochs: `SELECT key_id AS epoch, start_time AS "startsAt", end_time AS "endsAt", total_revenue AS "totalRevenue", partner_revenue AS "partnerRevenue", protocol_revenue AS "protocolRevenue",
        staker_snapshot AS "stakerSnapshot" FROM ${state('earnings_distributor_epoch')} AS e ORDER BY key_id DESC LIMIT 50`,
      Claims: `SELECT ${unix('closed_at')} AS "closedAt", total FROM ${events('earnings_distributor_revenue_claimed')} AS e ${newest} LIMIT 20`,
    } },
  };
  return pages;

  /** A market's debt at the close of the day so many days before the newest whole one (now: before today). */
  function debtOn(symbol, days) {
    const day = ledger ? `date_trunc('day', ${at}, 'UTC') - interval '${days} days'` : `date_trunc('day', ${close}, 'UTC') + interval '1 day' - interval '${days} days'`;
    return `SELECT h.value FROM history.synthetic_engine_debt_total AS h WHERE h.synth = ${symbol} AND h.closed_at < ${day} ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1`;
  }
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
    // What is seen is the beginning of the exact digits.
    const [, sign, whole, fraction = '', unit] = /^(−?)([\d,]+)(?:\.(\d+))?([KMBT])?/.exec(node.textContent) ?? [];
    const seen = (whole ?? '').replace(/,/g, '') + fraction, [w, f = ''] = exact.replace(/[−,]/g, '').split('.');
    const power = units[unit] ?? 0, want = (w + f.padEnd(40, '0')).slice(0, w.length - power + fraction.length);
    if (sign !== (exact.startsWith('−') ? '−' : '') || seen.replace(/^0+(?=\d)/, '') !== (want || '0').replace(/^0+(?=\d)/, '')) wrong.push(`"${node.textContent}" is shown for ${exact}`);
  }
  return { heads, tables, loose, wrong };
}
