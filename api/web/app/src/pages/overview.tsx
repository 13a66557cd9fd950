import { useApi, useList } from '../lib/api';
import { ANY } from '../lib/live';
import { deviationWhy, marketDeviation, marketOf, oldestFirst, pointOf } from '../lib/fields';
import { useLedger } from '../lib/router';
import { A, Amount, Bps, Card, Count, Kpi, Kpis, Market, Pill, Pool, Price, Spark, Waiting, symbolOf } from '../ui/bits';
import { Activity } from '../ui/events';
import { TimePlot } from '../ui/series';
import { Table } from '../ui/table';

const LIVE = ['liquidity_pool_', 'synthetic_engine_', 'stability_pool_'];
const SHOWN = 8;

export default function Overview() {
  const past = useLedger() !== null;
  const stats = useApi('/api/stats', {}, [...LIVE, 'oracle_']);
  const daily = useList('/api/stats/daily', { limit: 200 }, LIVE);
  const markets = useApi('/api/markets', { limit: SHOWN }, ['synthetic_engine_', 'oracle_', 'liquidity_pool_']);
  const pools = useApi('/api/pools', { limit: SHOWN }, ['liquidity_pool_']);
  const stability = useApi('/api/stability-pool', {}, ['stability_pool_', 'synthetic_engine_liquidate']);
  const now = stats.data, days = oldestFirst(daily.items);
  const line = (field: string) => days.map((d) => pointOf(d, field));
  return (
    <>
      <Waiting answer={stats}>
        <Kpis>
          <Kpi label="Total value locked" note={<>{now?.stalePrices > 0 && <Pill tone="warn" title="The oracle calls these prices stale; the sum has them all the same"><Count of={now} name="stalePrices" /> at a stale price</Pill>}<Spark values={line('tvl')} label="Total value locked by day" /></>}><Amount of={now} name="tvl" unit="USDC" /></Kpi>
          <Kpi label="Debt at average prices (TWAP)" note={now?.unpricedDebts > 0 ? <><Count of={now} name="unpricedDebts" /> of <Count of={now} name="indebtedMarkets" /> markets with debt left out: no fresh price</> : <>in <Count of={now} name="indebtedMarkets" /> markets</>}><Amount of={now} name="debtValue" unit="USD" why="no market with debt has a fresh price" /></Kpi>
          <Kpi label="Volume 24 h" note={<Spark values={line('volumeQuote')} label="Volume by day" />}><Amount of={now} name="volumeQuote24h" unit="USDC" /></Kpi>
          <Kpi label="Fees 24 h" note={<Spark values={line('feesQuote')} label="Fees by day" />}><Amount of={now} name="feesQuote24h" unit="USDC" /></Kpi>
          <Kpi label="Stability pool" note={<><Count of={stability.data} name="liquidationCount" /> debts absorbed</>}><Amount of={stability.data} name="totalDeposits" unit="USDC" /></Kpi>
          <Kpi label="Swaps 24 h" note={<Spark values={days.map((d) => Number(d.swaps))} label="Swaps by day" />}><Count of={now} name="swaps24h" /></Kpi>
          {past ? <Kpi label="Vaults liquidated ever"><Count of={now} name="liquidations" /></Kpi>
            : <Kpi label="Addresses ever active" note={<><Count of={now} name="liquidations" /> vaults liquidated ever</>}><Count of={now} name="users" /></Kpi>}
        </Kpis>
      </Waiting>
      <div class="grid">
        <Card><Waiting answer={daily}><TimePlot title="Total value locked" units="USDC, end of day" rows={days} file="tvl" series={[
          { name: 'Pools', field: 'tvlPools', colour: 'accent' }, { name: 'Collateral', field: 'tvlCollateral', colour: 'second' },
          { name: 'Stability pool', field: 'tvlStability', colour: 'third' }, { name: 'Total', field: 'tvl', colour: 'dim' }]} /></Waiting></Card>
        <Card><Waiting answer={daily}><TimePlot title="Volume" units="USDC a day" rows={days} file="volume" series={[{ name: 'Volume', field: 'volumeQuote', colour: 'accent', bars: true }]} /></Waiting></Card>
        <Card title="Markets" aside={<A to="/markets">{markets.data?.next ? 'The first 8; all markets' : 'All markets'}</A>}>
          <Waiting answer={markets}>
            <Table caption="Markets" file="markets" items={markets.data?.items ?? []} keyOf={marketOf} columns={[
              { label: 'Market', cell: (m) => <Market of={marketOf(m)} />, text: marketOf },
              { label: 'Oracle', right: true, cell: (m) => <Price of={m.oracle} name="latestPrice" />, text: (m) => m.oracle?.latestPriceScaled },
              { label: 'Pool against it', right: true, percent: true, cell: (m) => <Bps raw={marketDeviation(m)} name="deviationBps" why={deviationWhy(m)} signed tone />, text: (m) => marketDeviation(m) },
              { label: 'Debt', right: true, cell: (m) => <Amount of={m} name="debt" />, text: (m) => m.debtScaled },
              { label: 'Change 24 h', right: true, percent: true, cell: (m) => <Bps of={m} name="change24hBps" signed tone />, text: (m) => m.change24hBps },
            ]} />
          </Waiting>
        </Card>
        <Card title="Pools" aside={<A to="/pools">{pools.data?.next ? 'The first 8; all pools' : 'All pools'}</A>}>
          <Waiting answer={pools}>
            <Table caption="Pools" file="pools" items={pools.data?.items ?? []} keyOf={(p) => p.pool} columns={[
              { label: 'Pool', cell: (p) => <Pool of={p.pool} label={`${symbolOf(p, 'tokenA')} / ${symbolOf(p, 'tokenB')}`} />, text: (p) => p.pool },
              { label: 'Price', right: true, cell: (p) => <Amount of={p} name="spotPrice" digits={4} />, text: (p) => p.spotPriceScaled },
              { label: 'TVL', right: true, cell: (p) => <Amount of={p} name="tvlQuote" />, text: (p) => p.tvlQuoteScaled },
              { label: 'Volume 24 h', right: true, cell: (p) => <Amount of={p} name="volumeQuote24h" />, text: (p) => p.volumeQuote24hScaled },
              { label: 'APR, 7 days', right: true, percent: true, cell: (p) => <Bps of={p} name="providerReturnBps" />, text: (p) => p.providerReturnBps },
            ]} />
          </Waiting>
        </Card>
        <Card title={past ? 'Activity up to this ledger' : 'Recent activity'} wide><Activity caption="Recent activity" file="activity" live={ANY} show={12} /></Card>
      </div>
    </>
  );
}
