import { useApi, useList, type Item } from '../lib/api';
import { count } from '../lib/amount';
import { ANY } from '../lib/live';
import { debtValue, marketDeviation, marketOf, oldestFirst, pointOf, sum } from '../lib/fields';
import { useLedger } from '../lib/router';
import { A, Amount, Bps, Card, Kpi, Kpis, Market, Pool, Spark, Sum, Waiting, symbolOf } from '../ui/bits';
import { Events } from '../ui/events';
import { TimePlot } from '../ui/series';
import { Table } from '../ui/table';

const ACTIVITY = ['liquidity_pool_', 'synthetic_engine_', 'stability_pool_'];

/** A past ledger has no sliding day: its totals are those of the last whole day before it. */
function useTotals() {
  const past = useLedger() !== null;
  const stats = useApi(past ? null : '/api/stats', {}, ACTIVITY);
  const days = useList('/api/stats/daily', { limit: 60 }, ACTIVITY);
  const day: Item | null = days.items[0] ?? null;
  const now: Item | null = past
    ? day && { ...day, swaps24h: day.swaps, volumeQuote24h: day.volumeQuote, volumeQuote24hScaled: day.volumeQuoteScaled, feesQuote24h: day.feesQuote, feesQuote24hScaled: day.feesQuoteScaled }
    : stats.data;
  return { past, answer: past ? days : stats, now, days: oldestFirst(days.items), day };
}

export default function Overview() {
  const { past, answer, now, days, day } = useTotals();
  const markets = useApi('/api/markets', { limit: 200 }, ['synthetic_engine_', 'oracle_', 'liquidity_pool_']);
  const pools = useApi('/api/pools', { limit: 10 }, ['liquidity_pool_']);
  const stability = useApi('/api/stability-pool', {}, ['stability_pool_', 'synthetic_engine_liq']);
  const events = useList('/api/events', { limit: 12 }, ANY);
  const items: Item[] = markets.data?.items ?? [];
  const priced = items.filter((m) => debtValue(m) !== null);
  const debt = markets.data ? sum(priced.map(debtValue)) : null;
  const line = (field: string) => days.map((d) => pointOf(d, field));
  const of = past && day ? `on ${day.day}` : '24 h';
  return (
    <>
      <Waiting answer={answer}>
        <Kpis>
          <Kpi label={past && day ? `Total value locked, end of ${day.day}` : 'Total value locked'} note={<Spark values={line('tvl')} label="Total value locked by day" />}><Amount of={now} name="tvl" unit="USDC" /></Kpi>
          <Kpi label="Debt at oracle prices" note={<>in {markets.data?.next ? 'the first ' : ''}{items.length} market{items.length === 1 ? '' : 's'}{priced.length < items.length ? `, ${items.length - priced.length} without a price left out` : ''}</>}><Sum raw={debt} unit="USD" /></Kpi>
          <Kpi label={`Volume ${of}`} note={<Spark values={line('volumeQuote')} label="Volume by day" />}><Amount of={now} name="volumeQuote24h" unit="USDC" /></Kpi>
          <Kpi label={`Fees ${of}`} note={<Spark values={line('feesQuote')} label="Fees by day" />}><Amount of={now} name="feesQuote24h" unit="USDC" /></Kpi>
          <Kpi label="Stability pool" note={stability.data ? <>{count(stability.data.liquidationCount)} liquidations absorbed</> : undefined}><Amount of={stability.data} name="totalDeposits" unit="USDC" /></Kpi>
          <Kpi label={`Swaps ${of}`} note={<Spark values={days.map((d) => Number(d.swaps))} label="Swaps by day" />}><span class="num" data-raw={String(now?.swaps24h)}>{count(now?.swaps24h)}</span></Kpi>
          <Kpi label={past ? `Active addresses ${of}` : 'Addresses ever active'} note={past || !now ? undefined : <>{count(now.liquidations)} vaults liquidated ever</>}><span class="num">{count(now?.users)}</span></Kpi>
        </Kpis>
      </Waiting>
      <div class="grid">
        <Card><TimePlot title="Total value locked" units="USDC, end of day" rows={days} file="tvl" series={[
          { name: 'Pools', field: 'tvlPools', colour: 'accent' }, { name: 'Collateral', field: 'tvlCollateral', colour: 'second' },
          { name: 'Stability pool', field: 'tvlStability', colour: 'third' }, { name: 'Total', field: 'tvl', colour: 'dim' }]} /></Card>
        <Card><TimePlot title="Volume" units="USDC a day" rows={days} file="volume" series={[{ name: 'Volume', field: 'volumeQuote', colour: 'accent', bars: true }]} /></Card>
        <Card title="Markets" aside={<A to="/markets">All markets</A>}>
          <Waiting answer={markets}>
            <Table caption="Markets" file="markets" items={items} limit={8} keyOf={marketOf} columns={[
              { label: 'Market', cell: (m) => <Market of={marketOf(m)} />, text: marketOf },
              { label: 'Oracle', right: true, cell: (m) => <Amount of={m.oracle} name="latestPrice" digits={4} />, text: (m) => m.oracle?.latestPriceScaled },
              { label: 'Pool against it', right: true, cell: (m) => <Bps of={marketDeviation(m)} signed tone />, text: (m) => marketDeviation(m) },
              { label: 'Debt', right: true, cell: (m) => <Amount of={m} name="debt" />, text: (m) => m.debtScaled },
              { label: 'Change 24 h', right: true, cell: (m) => <Bps of={m.change24hBps} signed tone />, text: (m) => m.change24hBps },
            ]} />
          </Waiting>
        </Card>
        <Card title="Pools" aside={<A to="/pools">All pools</A>}>
          <Waiting answer={pools}>
            <Table caption="Pools" file="pools" items={pools.data?.items ?? []} limit={8} keyOf={(p) => p.pool} columns={[
              { label: 'Pool', cell: (p) => <Pool of={p.pool} label={`${symbolOf(p, 'tokenA')} / ${symbolOf(p, 'tokenB')}`} />, text: (p) => p.pool },
              { label: 'Price', right: true, cell: (p) => <Amount of={p} name="spotPrice" digits={4} />, text: (p) => p.spotPriceScaled },
              { label: 'TVL', right: true, cell: (p) => <Amount of={p} name="tvlQuote" />, text: (p) => p.tvlQuoteScaled },
              { label: 'Volume 24 h', right: true, cell: (p) => <Amount of={p} name="volumeQuote24h" />, text: (p) => p.volumeQuote24hScaled },
              { label: 'Return a year', right: true, cell: (p) => <Bps of={p.providerReturnBps} />, text: (p) => p.providerReturnBps },
            ]} />
          </Waiting>
        </Card>
        <Card title={past ? 'Events up to this ledger' : 'Recent events'} wide><Waiting answer={events}><Events list={events} caption="Recent events" file="events" limit={12} /></Waiting></Card>
      </div>
    </>
  );
}
