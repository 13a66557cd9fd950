import { useApi, useList, type Item } from '../lib/api';
import { chartNumber, count, cut, deviationBps, percent, ratioBps } from '../lib/amount';
import { collateralBps, marketDeviation, oldestFirst, priceOf, startOf } from '../lib/fields';
import { A, Address, Amount, Bps, Card, Facts, Failed, Kpi, Kpis, Meter, Pill, Pool, State, Time, Waiting } from '../ui/bits';
import { Prices, TimePlot, XyPlot } from '../ui/series';
import { Table } from '../ui/table';
import { Liquidations } from '../ui/vaults';
import type { PageProps } from '.';

/** Oracle, TWAP and pool by the hour: the rows are the oracle's. */
function PriceChart({ market, history, candles }: { market: Item; history: Item[]; candles: Item[] }) {
  const pool = new Map(candles.map((c) => [startOf(c), c]));
  const rows: Item[] = history.map((h) => {
    const c = pool.get(startOf(h));
    return { ...h, pool: c ? priceOf(c, 'close') : null };
  });
  const dev = (r: Item) => (r.pool ? deviationBps(toSeven(r.pool), r.close) : null);
  const points = (list: Item[], value: (r: Item) => string | null | undefined) => list.map((r) => ({ time: startOf(r), value: chartNumber(value(r)) }));
  return (
    <Prices title="Price" units={`USD, by the hour, UTC`} rows={rows} file={`${market.market}-price`} empty="No rounds yet."
      lines={[
        { name: 'Oracle', colour: 'accent', points: points(rows, (r) => r.closeScaled) },
        { name: 'TWAP', colour: 'third', dashed: true, points: points(rows, (r) => r.twapCloseScaled) },
        { name: 'Pool', colour: 'second', points: points(candles, (c) => priceOf(c, 'close')) }]}
      columns={[
        { label: 'Time (UTC)', cell: (r) => <Time of={startOf(r)} />, text: (r) => r.startsAt },
        { label: 'Oracle', right: true, cell: (r) => cut(r.closeScaled ?? '–', 5), text: (r) => r.closeScaled },
        { label: 'TWAP', right: true, cell: (r) => (r.twapCloseScaled ? cut(r.twapCloseScaled, 5) : '–'), text: (r) => r.twapCloseScaled },
        { label: 'Pool', right: true, cell: (r) => (r.pool ? cut(r.pool, 5) : '–'), text: (r) => r.pool },
        { label: 'Pool against oracle', right: true, cell: (r) => <Bps of={dev(r)} signed tone />, text: (r) => dev(r) }]}
      describe={(r) => `${r.startsAt}: oracle ${r.closeScaled}, TWAP ${r.twapCloseScaled ?? 'none'}, pool ${r.pool ?? 'no trade'}`} />
  );
}
/** A decimal text as raw units of 7 decimals, cut. */
const toSeven = (text: string) => { const [whole, fraction = ''] = text.split('.'); return whole + fraction.slice(0, 7).padEnd(7, '0'); };

export const ratioRange = (b: Item) => (b.toRatioBps == null ? `${percent(b.fromRatioBps)} and more` : `${percent(b.fromRatioBps)} to ${percent(b.toRatioBps)}`);

export function Histogram({ buckets, market }: { buckets: Item[]; market: string }) {
  return <XyPlot title="Vaults by collateral ratio" units="number of vaults with debt" rows={buckets} file={`${market}-ratios`} empty="No vault has debt and a price."
    plot={{ x: buckets.map((_b, i) => i), time: false, labels: buckets.map((b) => `${Math.floor(Number(b.fromRatioBps) / 100)} %`), series: [{ name: 'Vaults', colour: 'accent', bars: true, values: buckets.map((b) => Number(b.vaults)) }] }}
    columns={[
      { label: 'Ratio', cell: ratioRange, text: ratioRange },
      { label: 'Vaults', right: true, cell: (b) => count(b.vaults), text: (b) => b.vaults },
      { label: 'Debt', right: true, cell: (b) => <Amount of={b} name="debt" />, text: (b) => b.debtScaled }]}
    describe={(b) => `${ratioRange(b)}: ${b.vaults} vaults, debt ${b.debtScaled}`} />;
}

function change(days: Item[], n: number): bigint | null {
  const now = days[0], then = days[n];
  return now && then ? deviationBps(now.debt, then.debt) : null;
}

export default function MarketPage({ args }: PageProps) {
  const name = encodeURIComponent(args.market);
  const answer = useApi(`/api/markets/${name}`, {}, ['synthetic_engine_', 'oracle_', 'liquidity_pool_']);
  const m = answer.data;
  const asset = m?.oracle?.asset, pool = m?.pool;
  const history = useList(asset ? `/api/prices/${encodeURIComponent(asset)}/history` : null, { interval: '1h', limit: 200 }, ['oracle_']);
  const candles = useList(pool ? `/api/pools/${encodeURIComponent(pool)}/candles` : null, { interval: '1h', limit: 200 }, ['liquidity_pool_']);
  const week = useList(pool ? `/api/pools/${encodeURIComponent(pool)}/candles` : null, { interval: '1d', limit: 8, fill: 'previous' }, ['liquidity_pool_']);
  const days = useList(`/api/markets/${name}/daily`, { limit: 60, fill: 'previous' }, ['synthetic_engine_']);
  const risk = useApi(`/api/markets/${name}/risk`, {}, ['synthetic_engine_', 'oracle_']);
  const vaults = useList('/api/vaults', { market: args.market, sort: 'risk', limit: 20 }, ['synthetic_engine_', 'oracle_']);
  if (!m) return answer.error ? <Failed problem={answer.error} /> : <Waiting answer={answer}>{null}</Waiting>;
  const weekAgo = week.items[7] ? priceOf(week.items[7], 'close') : null;
  return (
    <>
      <Waiting answer={answer}>
        <Kpis>
          <Kpi label={`Oracle, ${asset ?? 'no feed'}`} note={<>{m.oracle?.stale && <Pill tone="warn">stale</Pill>} <Time of={m.oracle?.latestAt} /></>}><Amount of={m.oracle} name="latestPrice" digits={4} unit="USD" /></Kpi>
          <Kpi label="TWAP" note={m.oracle?.twapStale ? <Pill tone="warn">stale</Pill> : <>against it <Bps of={deviationBps(m.oracle?.latestPrice, m.oracle?.twapPrice)} signed /></>}><Amount of={m.oracle} name="twapPrice" digits={4} unit="USD" /></Kpi>
          <Kpi label="Pool" note={<>against the oracle <Bps of={marketDeviation(m)} signed tone /></>}><Amount of={m} name="spotPrice" digits={4} unit="USDC" /></Kpi>
          <Kpi label="Pool price 24 h · 7 d" note={<>volume 24 h <Amount of={m} name="volume24h" unit="USDC" /></>}><Bps of={m.change24hBps} signed tone /> <span class="dim">·</span> <Bps of={weekAgo ? deviationBps(m.spotPrice, toSeven(weekAgo)) : null} signed tone /></Kpi>
          <Kpi label="Debt" note={<Meter bps={ratioBps(m.debt, m.debtCeiling)} label="Debt against ceiling" />}><Amount of={m} name="debt" /></Kpi>
          <Kpi label="Debt 24 h · 7 d" note={<>ceiling <Amount of={m} name="debtCeiling" /></>}><Bps of={change(days.items, 1)} signed tone /> <span class="dim">·</span> <Bps of={change(days.items, 7)} signed tone /></Kpi>
          <Kpi label="Collateral" note={<>ratio of all <Bps of={collateralBps(m)} /></>}><Amount of={m} name="collateral" unit={m.collateralOracle?.asset} /></Kpi>
          <Kpi label="Vaults" note={<>{count(m.indebtedVaultCount)} with debt</>}><span class="num" data-raw={String(m.vaultCount)}>{count(m.vaultCount)}</span></Kpi>
        </Kpis>
      </Waiting>
      {m.paused && <p class="banner bad">The engine is paused.</p>}
      {!m.enabled && <p class="banner past">This market takes no new debt.</p>}
      <div class="grid">
        <Card wide><PriceChart market={m} history={oldestFirst(history.items)} candles={oldestFirst(candles.items)} /></Card>
        <Card><TimePlot title="Debt" units="synthetic tokens, end of day" rows={oldestFirst(days.items).map((d) => ({ ...d, ceiling: m.debtCeiling, ceilingScaled: m.debtCeilingScaled }))} file={`${args.market}-debt`}
          series={[{ name: 'Debt', field: 'debt', colour: 'accent', area: true }]} /></Card>
        <Card><Waiting answer={risk}><Histogram buckets={risk.data?.buckets ?? []} market={args.market} /></Waiting></Card>
        <Card title="Nearest to liquidation" aside={<A to="/vaults" query={{ market: args.market }}>All vaults</A>}><Waiting answer={vaults}>
          <Table caption="Vaults nearest to liquidation" file={`${args.market}-vaults`} items={vaults.items} limit={10} keyOf={(v) => v.owner} columns={[
            { label: 'Owner', cell: (v) => <Address of={v.owner} />, text: (v) => v.owner },
            { label: 'State', cell: (v) => <State of={v.state} />, text: (v) => v.state },
            { label: 'Ratio', right: true, cell: (v) => <Bps of={v.ratioBps} />, text: (v) => v.ratioBps },
            { label: 'Distance', right: true, cell: (v) => <Bps of={v.distanceBps} />, text: (v) => v.distanceBps },
            { label: 'Debt', right: true, cell: (v) => <Amount of={v} name="debt" />, text: (v) => v.debtScaled }]} />
        </Waiting></Card>
        <Card title="Terms"><Facts rows={[
          ['Token', <Address of={m.synthToken} />], ['Collateral for new debt', <Bps of={m.minCollRatioBps} />], ['Liquidated below', <Bps of={m.liqRatioBps} />],
          ['Liquidation penalty', <Bps of={m.liqPenaltyBps} />], ['Stability fee', <Bps of={m.stabFeeBps} />], ['Debt ceiling', <Amount of={m} name="debtCeiling" full />],
          ['Pool', <Pool of={m.pool} />], ['Oracle feed', asset ? <A to="/oracle" query={{ asset }}>{asset}</A> : '–']]} /></Card>
        <Card title="Liquidations" wide><Liquidations params={{ market: args.market }} file={`${args.market}-liquidations`} /></Card>
      </div>
    </>
  );
}
