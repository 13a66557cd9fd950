import { useApi, useList, type Item } from '../lib/api';
import { chartNumber, cut, deviationBps, percent, ratioBps, toSeven } from '../lib/amount';
import { collateralBps, collateralWhy, deviationWhy, engineDeviation, marketDeviation, oldestFirst, priceOf, startOf, twapDeviation, twapDeviationWhy } from '../lib/fields';
import { A, Address, Amount, Bps, Card, Count, Facts, Failed, Kpi, Kpis, Meter, Millionths, Pool, Price, State, Time, Vault, Waiting, symbolOf } from '../ui/bits';
import { Prices, TimePlot, XyPlot, useInterval } from '../ui/series';
import { Table } from '../ui/table';
import { Liquidations } from '../ui/vaults';
import type { PageProps } from '.';

/** Oracle, TWAP and pool by the hour: the rows are the oracle's. */
function PriceChart({ market, history, candles }: { market: Item; history: Item[]; candles: Item[] }) {
  const pool = new Map(candles.map((c) => [startOf(c), c]));
  const rows: Item[] = history.map((h) => {
    const c = pool.get(startOf(h));
    return { ...h, pool: c?.close ?? null, poolScaled: c ? priceOf(c, 'close') : null };
  });
  const dev = (r: Item) => (r.poolScaled ? deviationBps(toSeven(r.poolScaled), r.close) : null);
  const points = (list: Item[], value: (r: Item) => string | null | undefined) => list.map((r) => ({ time: startOf(r), value: chartNumber(value(r)) }));
  return (
    <Prices title="Price" units="USD, UTC" rows={rows} file={`${market.market}-price`} empty="No rounds yet."
      lines={[
        { name: 'Oracle', colour: 'accent', points: points(rows, (r) => r.closeScaled) },
        { name: 'TWAP', colour: 'third', dashed: true, points: points(rows, (r) => r.twapCloseScaled) },
        { name: 'Pool', colour: 'second', points: points(candles, (c) => priceOf(c, 'close')) }]}
      columns={[
        { label: 'Time (UTC)', cell: (r) => <Time of={{ at: startOf(r) }} name="at" />, text: (r) => r.startsAt },
        { label: 'Oracle', right: true, cell: (r) => <Amount of={r} name="close" digits={5} />, text: (r) => r.closeScaled },
        { label: 'TWAP', right: true, cell: (r) => <Amount of={r} name="twapClose" digits={5} />, text: (r) => r.twapCloseScaled },
        { label: 'Pool', right: true, cell: (r) => <Amount of={r} name="pool" digits={5} />, text: (r) => r.poolScaled },
        { label: 'Pool against oracle', right: true, percent: true, cell: (r) => <Bps raw={dev(r)} name="deviationBps" signed tone />, text: (r) => dev(r) }]}
      describe={(r) => `${r.startsAt.slice(0, 16).replace('T', ' ')} · oracle ${cut(r.closeScaled, 4)} · TWAP ${r.twapCloseScaled ? cut(r.twapCloseScaled, 4) : 'none'} · pool ${r.poolScaled ? cut(r.poolScaled, 4) : 'no trade'}`} />
  );
}

const bySymbol = (items: Item[]) => [...items].sort((a, b) => (symbolOf(a, 'token') < symbolOf(b, 'token') ? -1 : 1));

export const ratioRange = (b: Item) => (b.toRatioBps == null ? `${percent(b.fromRatioBps)} and more` : `${percent(b.fromRatioBps)} to ${percent(b.toRatioBps)}`);

export function Histogram({ buckets, market }: { buckets: Item[]; market: string }) {
  return <XyPlot title="Vaults by collateral ratio" units="number of vaults with debt" rows={buckets} file={`${market}-ratios`} empty="No vault has debt and a price."
    plot={{ x: buckets.map((_b, i) => i), time: false, labels: buckets.map((b) => `${Math.floor(Number(b.fromRatioBps) / 100)} %`), series: [{ name: 'Vaults', colour: 'accent', bars: true, values: buckets.map((b) => Number(b.vaults)) }] }}
    columns={[
      { label: 'Ratio', cell: (b) => <><Bps of={b} name="fromRatioBps" /> {b.toRatioBps == null ? 'and more' : <>to <Bps of={b} name="toRatioBps" /></>}</>, text: ratioRange },
      { label: 'Vaults', right: true, cell: (b) => <Count of={b} name="vaults" />, text: (b) => b.vaults },
      { label: 'Debt', right: true, cell: (b) => <Amount of={b} name="debt" />, text: (b) => b.debtScaled }]}
    describe={(b) => `${ratioRange(b)}: ${b.vaults} vaults, debt ${b.debtScaled}`} />;
}

export default function MarketPage({ args }: PageProps) {
  const name = encodeURIComponent(args.market);
  const answer = useApi(`/api/markets/${name}`, {}, ['synthetic_engine_', 'oracle_', 'liquidity_pool_']);
  const m = answer.data;
  const asset = m?.oracle?.asset, pool = m?.pool, interval = useInterval();
  const history = useList(asset ? `/api/prices/${encodeURIComponent(asset)}/history` : null, { interval, limit: 200 }, ['oracle_']);
  const candles = useList(pool ? `/api/pools/${encodeURIComponent(pool)}/candles` : null, { interval, limit: 200 }, ['liquidity_pool_']);
  const changes = useApi(`/api/markets/${name}/changes`, {}, ['synthetic_engine_', 'liquidity_pool_']);
  const days = useList(`/api/markets/${name}/daily`, { limit: 200, fill: 'previous' }, ['synthetic_engine_']);
  const risk = useApi(`/api/markets/${name}/risk`, {}, ['synthetic_engine_', 'oracle_']);
  const vaults = useList('/api/vaults', { market: args.market, sort: 'risk', limit: 20 }, ['synthetic_engine_', 'oracle_']);
  if (!m) return answer.error ? <Failed problem={answer.error} /> : <Waiting answer={answer}>{null}</Waiting>;
  const since = (span: string): Item | null => changes.data?.items.find((i: Item) => i.span === span) ?? null;
  return (
    <>
      <Waiting answer={changes.data || changes.error ? answer : changes}>
        <Kpis>
          <Kpi label={`Oracle, ${asset ?? 'no feed'}`} note={<Time of={m.oracle} name="latestAt" />}><Price of={m.oracle} name="latestPrice" unit="USD" /></Kpi>
          <Kpi label="TWAP" note={<>the price against it <Bps raw={twapDeviation(m.oracle)} name="twapDeviationBps" why={twapDeviationWhy(m.oracle)} signed /></>}><Price of={m.oracle} name="twapPrice" unit="USD" /></Kpi>
          <Kpi label="Pool" note={<>against the oracle <Bps raw={marketDeviation(m)} name="deviationBps" why={deviationWhy(m)} signed tone /></>}><Amount of={m} name="spotPrice" digits={4} unit="USDC" /></Kpi>
          <Kpi label="Pool price 24 h · 7 d" note={<>volume 24 h <Amount of={m} name="volume24h" unit="USDC" /></>}><Bps of={m} name="change24hBps" signed tone /> <span class="dim">·</span> <Bps raw={since('7d')?.spotPriceChangeBps} name="change7dBps" signed tone /></Kpi>
          <Kpi label="Debt" note={<Meter name="ceilingBps" bps={ratioBps(m.debt, m.debtCeiling)} label="Debt against ceiling" some={m.debt !== '0'} />}><Amount of={m} name="debt" /></Kpi>
          <Kpi label="Debt 24 h · 7 d" note={<>ceiling <Amount of={m} name="debtCeiling" /></>}><Bps raw={since('24h')?.debtChangeBps} name="debt24hBps" signed tone /> <span class="dim">·</span> <Bps raw={since('7d')?.debtChangeBps} name="debt7dBps" signed tone /></Kpi>
          <Kpi label="Collateral" note={<>ratio of all <Bps raw={collateralBps(m)} name="collateralBps" why={collateralWhy(m)} /></>}><Amount of={m} name="collateralValue" unit="USD to the engine" why={collateralWhy(m)} /></Kpi>
          <Kpi label="Vaults" note={<><Count of={m} name="indebtedVaultCount" /> with debt</>}><Count of={m} name="vaultCount" /></Kpi>
        </Kpis>
      </Waiting>
      {m.paused && <p class="banner bad">The engine is paused.</p>}
      {!m.enabled && <p class="banner past">This market takes no new debt.</p>}
      <div class="grid">
        <Card wide><Waiting answer={asset ? history : answer}><PriceChart market={m} history={oldestFirst(history.items)} candles={oldestFirst(candles.items)} /></Waiting></Card>
        <Card><Waiting answer={days}><TimePlot title="Debt" units="synthetic tokens, end of day" rows={oldestFirst(days.items).map((d) => ({ ...d, ceiling: m.debtCeiling, ceilingScaled: m.debtCeilingScaled }))} file={`${args.market}-debt`}
          series={[{ name: 'Debt', field: 'debt', colour: 'accent', area: true }]} /></Waiting></Card>
        <Card><Waiting answer={risk}><Histogram buckets={risk.data?.buckets ?? []} market={args.market} /></Waiting></Card>
        <Card title="Nearest to liquidation" aside={<A to="/vaults" query={{ market: args.market }}>All vaults</A>}><Waiting answer={vaults}>
          <Table caption="Vaults nearest to liquidation" file={`${args.market}-vaults`} items={vaults.items} limit={10} keyOf={(v) => v.owner} columns={[
            { label: 'Vault', cell: (v) => <Vault market={v.market} owner={v.owner} />, text: (v) => v.market },
            { label: 'Owner', cell: (v) => <Address of={v.owner} />, text: (v) => v.owner },
            { label: 'State', cell: (v) => <State of={v.state} />, text: (v) => v.state },
            { label: 'Ratio', right: true, percent: true, cell: (v) => <Bps of={v} name="ratioBps" />, text: (v) => v.ratioBps },
            { label: 'Distance', right: true, percent: true, cell: (v) => <Bps of={v} name="distanceBps" />, text: (v) => v.distanceBps },
            { label: 'Debt', right: true, cell: (v) => <Amount of={v} name="debt" />, text: (v) => v.debtScaled }]} />
        </Waiting></Card>
        <Card title="Collateral">
          <Table caption="Collateral by token" file={`${args.market}-collateral`} items={bySymbol(m.collaterals)} keyOf={(c) => c.token} columns={[
            { label: 'Token', cell: (c) => <Address of={c.token} label={symbolOf(c, 'token')} />, text: (c) => c.tokenSymbol ?? c.token },
            { label: 'Amount', right: true, cell: (c) => <Amount of={c} name="amount" />, text: (c) => c.amountScaled },
            { label: 'To the engine, USD', right: true, cell: (c) => <Amount of={c} name="engineValue" why="no fresh average" />, text: (c) => c.engineValueScaled },
            { label: 'In the pool, USDC', right: true, cell: (c) => <Amount of={c} name="poolValue" why="no pool" />, text: (c) => c.poolValueScaled },
            { label: 'Engine against pool', right: true, percent: true, cell: (c) => <Bps raw={engineDeviation(c)} name="engineDeviationBps" signed tone why="one of them is not known" />, text: engineDeviation },
            { label: 'Vaults', right: true, cell: (c) => <Count of={c} name="vaultCount" />, text: (c) => c.vaultCount }]} />
          <p class="dim">The engine prices every token of collateral as {m.collateralOracle?.asset ?? 'its feed'}. Where its value is far from the pool's, a liquidation takes more or less than it seems.</p></Card>
        <Card title="Terms"><Facts about="terms" rows={[
          ['Token', <Address of={m.synthToken} />], ['Collateral for new debt', <Bps of={m} name="minCollRatioBps" />], ['Liquidated below', <Bps of={m} name="liqRatioBps" />],
          ['Liquidation penalty', <Bps of={m} name="liqPenaltyBps" />], ['Fee of new debt', <Millionths of={m} name="mintFeeMillionths" />], ['Debt ceiling', <Amount of={m} name="debtCeiling" full />],
          ['Pool', <Pool of={m.pool} />], ['Oracle feed', asset ? <A to="/oracle" query={{ asset }}>{asset}</A> : '–']]} /></Card>
        <Card title="Liquidations" wide><Liquidations params={{ market: args.market }} file={`${args.market}-liquidations`} /></Card>
      </div>
    </>
  );
}
