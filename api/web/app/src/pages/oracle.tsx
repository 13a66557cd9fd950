import { useMemo } from 'preact/hooks';
import { useApi, useList, type Item } from '../lib/api';
import { chartNumber, deviationBps } from '../lib/amount';
import { oldestFirst, twapDeviation, twapDeviationWhy } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { Address, Amount, Bps, Card, Count, Facts, Pill, Time, Tx, Waiting, short } from '../ui/bits';
import { XyPlot } from '../ui/series';
import { Table } from '../ui/table';
import type { Series } from '../charts/plot';

const COLOURS = ['second', 'third', 'up', 'down', 'warn', 'link'];

/** The newest rounds of a feed: each provider's observation against the median. */
function Rounds({ asset }: { asset: string }) {
  const list = useList('/api/oracle/rounds', { asset, limit: 50 }, ['oracle_']);
  const rows = oldestFirst(list.items);
  const providers = useMemo(() => [...new Set(rows.flatMap((r) => (r.observations as Item[]).map((o) => o.provider as string)))].sort(), [list.items]);
  // A provider may send several in a round: the table has each, the chart the newest.
  const of = (row: Item, provider: string): Item[] => (row.observations as Item[]).filter((o) => o.provider === provider);
  const series: Series[] = [
    { name: 'Median', colour: 'accent', values: rows.map((r) => chartNumber(r.medianPriceScaled)) },
    ...providers.map((p, i) => ({ name: short(p), colour: COLOURS[i % COLOURS.length], dots: true, values: rows.map((r) => chartNumber(of(r, p).at(-1)?.priceScaled)) })),
  ];
  return (
    <Waiting answer={list}>
      <XyPlot title={`Rounds of ${asset}`} units="USD, each provider's observation against the median; 0 is the newest round" rows={rows} file={`${asset}-rounds`} empty="No rounds yet."
        plot={{ x: rows.map((_r, i) => i - rows.length + 1), time: false, series }} legend={series.map((s) => ({ name: s.name, colour: s.colour }))}
        columns={[
          { label: 'Time (UTC)', cell: (r) => <Time of={r} name="closedAt" />, text: (r) => r.closedAt },
          { label: 'Median', right: true, cell: (r) => <Amount of={r} name="medianPrice" digits={5} />, text: (r) => r.medianPriceScaled },
          ...providers.map((p) => ({ label: short(p), right: true, cell: (r: Item) => of(r, p).map((o, i) => <div key={i}><Amount of={o} name="price" as={`${p}.${i}.price`} digits={5} /> <Bps raw={deviationBps(o.price, r.medianPrice)} name={`${p}.${i}.deviationBps`} signed /></div>), text: (r: Item) => of(r, p).map((o) => o.priceScaled).join(' ') })),
          { label: 'Transaction', cell: (r) => <Tx of={r.txHash} />, text: (r) => r.txHash }]}
        describe={(r) => `${r.closedAt}: median ${r.medianPriceScaled}, ${r.observationCount} observations`} />
    </Waiting>
  );
}

export default function Oracle() {
  const prices = useList('/api/prices', {}, ['oracle_']);
  const feeds = useList('/api/oracle/feeds', { limit: 100 }, ['oracle_']);
  const about = useApi('/api/oracle', {}, ['oracle_']);
  const providers = useList('/api/oracle/providers', { limit: 100 }, ['oracle_']);
  const asset = useQuery('asset') || prices.items[0]?.asset || '';
  const observations = useList(asset ? '/api/oracle/observations' : null, { asset, limit: 20 }, ['oracle_']);
  const waiting = new Map(feeds.items.map((f) => [f.asset as string, f.pendingObservations as Item[]]));
  return (
    <>
      <Card title="Feeds"><Waiting answer={prices}>
        <Table caption="Feeds" file="feeds" items={prices.items} list={prices} keyOf={(f) => f.asset} columns={[
          { label: 'Feed', cell: (f) => <button type="button" aria-pressed={f.asset === asset} onClick={() => setQuery({ asset: f.asset })}>{f.asset}</button>, text: (f) => f.asset, order: (f) => f.asset },
          { label: 'Price', right: true, cell: (f) => <Amount of={f} name="latestPrice" digits={5} unit="USD" />, text: (f) => f.latestPriceScaled },
          { label: 'State', cell: (f) => (f.stale ? <Pill tone="warn" title="The contract refuses it">stale</Pill> : <Pill tone="good">fresh</Pill>), text: (f) => (f.stale ? 'stale' : 'fresh') },
          { label: 'Of (UTC)', cell: (f) => <Time of={f} name="latestAt" />, text: (f) => f.latestAt },
          { label: 'TWAP', right: true, cell: (f) => <Amount of={f} name="twapPrice" digits={5} unit="USD" />, text: (f) => f.twapPriceScaled },
          { label: 'TWAP state', cell: (f) => (f.twapStale ? <Pill tone="warn">stale</Pill> : <Pill tone="good">fresh</Pill>), text: (f) => (f.twapStale ? 'stale' : 'fresh') },
          { label: 'Price against TWAP', right: true, percent: true, cell: (f) => <Bps raw={twapDeviation(f)} name="twapDeviationBps" why={twapDeviationWhy(f)} signed />, text: twapDeviation },
          { label: 'Observations', right: true, cell: (f) => <Count of={f} name="observationCount" />, text: (f) => f.observationCount },
          { label: 'Waiting', right: true, cell: (f) => <Count raw={waiting.get(f.asset)?.length} name="waiting" />, text: (f) => waiting.get(f.asset)?.length }]} />
      </Waiting></Card>
      <div class="grid">
        {asset && <Card wide><Rounds key={asset} asset={asset} /></Card>}
        <Card title={`Newest observations${asset ? ` of ${asset}` : ''}`}><Waiting answer={observations}>
          <Table caption="Observations" file={`${asset}-observations`} items={observations.items} list={observations} columns={[
            { label: 'Time (UTC)', cell: (o) => <Time of={o} name="closedAt" />, text: (o) => o.closedAt },
            { label: 'Provider', cell: (o) => <Address of={o.provider} />, text: (o) => o.provider },
            { label: 'Price', right: true, cell: (o) => <Amount of={o} name="price" digits={5} />, text: (o) => o.priceScaled },
            { label: 'Transaction', cell: (o) => <Tx of={o.txHash} />, text: (o) => o.txHash }]} />
        </Waiting></Card>
        <Card title="Providers"><Waiting answer={providers}>
          {about.data && <Facts rows={[['Observations that a round needs', <Count of={about.data} name="minProviders" />], ['Seconds of the average', <Count of={about.data} name="twapWindow" />], ['Contract', <Address of={about.data.contract} />]]} />}
          <Table caption="Providers" file="oracle-providers" items={providers.items} list={providers} keyOf={(p) => p.provider} columns={[
            { label: 'Provider', cell: (p) => <Address of={p.provider} />, text: (p) => p.provider },
            { label: 'Changed', cell: (p) => <Time of={p} name="changedAt" />, text: (p) => p.changedAt }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
