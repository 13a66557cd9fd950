import { useApi, useList } from '../lib/api';
import { oldestFirst, pointOf } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { A, Address, Amount, Card, Count, Facts, Pill, Time, Tx, Waiting, short } from '../ui/bits';
import { XyPlot } from '../ui/series';
import { Table } from '../ui/table';


function Epoch({ id }: { id: string }) {
  const path = `/api/earnings/epochs/${encodeURIComponent(id)}`;
  const answer = useApi(path, {}, ['earnings_distributor_']);
  const partners = useList(`${path}/partners`, { limit: 100 }, ['earnings_distributor_']);
  const e = answer.data;
  return (
    <Card title={`Epoch ${id}`} wide aside={<button type="button" onClick={() => setQuery({ epoch: null })}>Close</button>}>
      <Waiting answer={answer}>{e && <>
        <Facts about="epoch" rows={[['State', e.finalized ? <Pill tone="good">closed</Pill> : <Pill tone="info">open</Pill>], ['From', <Time of={e} name="startsAt" />], ['To', <Time of={e} name="endsAt" />],
          ['All revenue', <Amount of={e} name="totalRevenue" full />], ['Partners', <Amount of={e} name="partnerRevenue" full />], ['Protocol', <Amount of={e} name="protocolRevenue" full />], ['Stake when closed', <Amount of={e} name="stakerSnapshot" full />]]} />
        <Table caption="Revenue by token" file={`epoch-${id}-tokens`} items={e.revenue ?? []} keyOf={(r) => r.token} columns={[
          { label: 'Token', cell: (r) => <><Address of={r.token} /> {r.tokenSymbol}</>, text: (r) => r.token },
          { label: 'Revenue', right: true, cell: (r) => <Amount of={r} name="amount" full />, text: (r) => r.amountScaled }]} />
        <Table caption="Partners" file={`epoch-${id}-partners`} items={partners.items} list={partners} keyOf={(r) => r.partnerId} columns={[
          { label: 'Partner', cell: (r) => <A to={`/partners/${r.partnerId}`}><Count of={r} name="partnerId" /></A>, text: (r) => r.partnerId },
          { label: 'Revenue', right: true, cell: (r) => <Amount of={r} name="revenue" full />, text: (r) => r.revenueScaled }]} />
      </>}</Waiting>
    </Card>
  );
}

export default function Earnings() {
  const epoch = useQuery('epoch'), live = ['earnings_distributor_'];
  const list = useList('/api/earnings/epochs', { limit: 50 }, live);
  const claims = useList('/api/earnings/claims', { limit: 20 }, live);
  const rows = oldestFirst(list.items);
  return (
    <>
      {epoch && <Epoch key={epoch} id={epoch} />}
      <Card><Waiting answer={list}><XyPlot title="Revenue by epoch" units="the contract's own sums, of different tokens" rows={rows} file="epochs-chart" empty="No epochs yet."
        plot={{ x: rows.map((e) => Number(e.epoch)), time: false, series: [
          { name: 'Protocol', colour: 'accent', bars: true, values: rows.map((e) => pointOf(e, 'protocolRevenue')) }, { name: 'Partners', colour: 'second', values: rows.map((e) => pointOf(e, 'partnerRevenue')) }] }}
        legend={[{ name: 'Protocol', colour: 'accent' }, { name: 'Partners', colour: 'second' }]}
        columns={[{ label: 'Epoch', cell: (e) => <Count of={e} name="epoch" />, text: (e) => e.epoch }, { label: 'Protocol', right: true, cell: (e) => <Amount of={e} name="protocolRevenue" />, text: (e) => e.protocolRevenueScaled },
          { label: 'Partners', right: true, cell: (e) => <Amount of={e} name="partnerRevenue" />, text: (e) => e.partnerRevenueScaled }]}
        describe={(e) => `epoch ${e.epoch}: protocol ${e.protocolRevenueScaled}, partners ${e.partnerRevenueScaled}`} /></Waiting></Card>
      <Card title="Epochs"><Waiting answer={list}>
        <Table caption="Epochs" file="epochs" items={list.items} list={list} keyOf={(e) => e.epoch} columns={[
          { label: 'Epoch', right: true, cell: (e) => <button type="button" onClick={() => setQuery({ epoch: e.epoch })} aria-label={`Epoch ${e.epoch}`}><Count of={e} name="epoch" /></button>, text: (e) => e.epoch },
          { label: 'State', cell: (e) => (e.finalized ? <Pill tone="good">closed</Pill> : <Pill tone="info">open</Pill>), text: (e) => (e.finalized ? 'closed' : 'open') },
          { label: 'From', cell: (e) => <Time of={e} name="startsAt" />, text: (e) => e.startsAt }, { label: 'To', cell: (e) => <Time of={e} name="endsAt" />, text: (e) => e.endsAt },
          { label: 'All revenue', right: true, cell: (e) => <Amount of={e} name="totalRevenue" />, text: (e) => e.totalRevenueScaled },
          { label: 'Partners', right: true, cell: (e) => <Amount of={e} name="partnerRevenue" />, text: (e) => e.partnerRevenueScaled },
          { label: 'Protocol', right: true, cell: (e) => <Amount of={e} name="protocolRevenue" />, text: (e) => e.protocolRevenueScaled },
          { label: 'Stake when closed', right: true, cell: (e) => <Amount of={e} name="stakerSnapshot" />, text: (e) => e.stakerSnapshotScaled }]} />
      </Waiting></Card>
      <Card title="Claims"><Waiting answer={claims}>
        <Table caption="Claims" file="claims" items={claims.items} list={claims} columns={[
          { label: 'Time (UTC)', cell: (c) => <Time of={c} name="closedAt" />, text: (c) => c.closedAt },
          { label: 'Claimer', cell: (c) => <Address of={c.claimer} />, text: (c) => c.claimer },
          { label: 'Paid', right: true, cell: (c) => <Amount of={c} name="total" />, text: (c) => c.totalScaled },
          { label: 'Transaction', cell: (c) => <Tx of={c.txHash} />, text: (c) => short(c.txHash ?? '') }]} />
      </Waiting></Card>
    </>
  );
}
