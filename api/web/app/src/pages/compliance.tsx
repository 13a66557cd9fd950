import { useApi, useList, type Item } from '../lib/api';
import { count } from '../lib/amount';
import { oldestFirst } from '../lib/fields';
import { seconds, span } from '../lib/time';
import { setQuery, useQuery } from '../lib/router';
import { Address, Card, Facts, Kpi, Kpis, State, Time, Waiting } from '../ui/bits';
import { TimePlot } from '../ui/series';
import { Table } from '../ui/table';

const SPANS: [string, string][] = [['86400', '1 day'], ['604800', '7 days'], ['2592000', '30 days'], ['7776000', '90 days']];
const COLOURS: Record<string, string> = { Verified: 'up', Pending: 'warn', Suspended: 'second', Sanctioned: 'down', Expired: 'dim', Unknown: 'third', Frozen: 'link' };

/** Rows of status and provider as one sum for each status. */
export function byStatus(items: Item[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const item of items) sums.set(item.status, (sums.get(item.status) ?? 0) + Number(item.addresses));
  return [...sums].sort((a, b) => b[1] - a[1]);
}

export default function Compliance() {
  const live = ['compliance_registry_'];
  const within = useQuery('within', '2592000');
  const registry = useApi('/api/compliance', {}, live);
  const counts = useApi('/api/compliance/counts', {}, live);
  const daily = useList('/api/compliance/daily', { limit: 90 }, live);
  const expiring = useList('/api/compliance/expiring', { within, limit: 50 }, live);
  const verifiers = useList('/api/compliance/verifiers', { limit: 50 }, live);
  const items: Item[] = counts.data?.items ?? [];
  const statuses = byStatus(items);
  const days: Item[] = oldestFirst(daily.items).map((d) => ({ ...d, ...Object.fromEntries(byStatus(d.counts ?? [])) }));
  const seen = [...new Set(days.flatMap((d) => (d.counts ?? []).map((c: Item) => c.status as string)))].sort();
  const r = registry.data;
  return (
    <>
      <Waiting answer={counts}>
        <Kpis>
          {statuses.map(([status, n]) => <Kpi key={status} label={status}><span class="num" data-raw={String(n)}>{count(n)}</span></Kpi>)}
          <Kpi label="Verifiers"><span class="num" data-raw={String(r?.verifierCount)}>{count(r?.verifierCount)}</span></Kpi>
        </Kpis>
      </Waiting>
      <div class="grid">
        <Card><TimePlot title="Records by status" units="addresses, end of day" rows={days} file="compliance-days" empty={daily.error ? daily.error.message : 'No data yet.'}
          series={seen.map((status) => ({ name: status, field: status, colour: COLOURS[status] ?? 'accent', step: true }))} /></Card>
        <Card title="By provider"><Waiting answer={counts}>
          <Table caption="Records by provider and status" file="compliance-providers" items={items} keyOf={(i) => `${i.provider}.${i.status}`} columns={[
            { label: 'Provider', cell: (i) => <Address of={i.provider} />, text: (i) => i.provider, order: (i) => i.provider ?? '' },
            { label: 'Status', cell: (i) => <State of={i.status} />, text: (i) => i.status, order: (i) => i.status },
            { label: 'Addresses', right: true, cell: (i) => <span class="num">{count(i.addresses)}</span>, text: (i) => i.addresses, order: (i) => Number(i.addresses) }]} />
        </Waiting></Card>
        <Card title="Expiring soon" aside={<label>within <select value={within} onChange={(event) => setQuery({ within: event.currentTarget.value === '2592000' ? null : event.currentTarget.value }, true)}>{SPANS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>}>
          <Waiting answer={expiring}>
            <Table caption="Attestations that expire soon" file="compliance-expiring" items={expiring.items} list={expiring} keyOf={(e) => e.address} empty="None expires in that time." columns={[
              { label: 'Address', cell: (e) => <Address of={e.address} />, text: (e) => e.address },
              { label: 'Status', cell: (e) => <State of={e.status} />, text: (e) => e.status },
              { label: 'Provider', cell: (e) => <Address of={e.provider} />, text: (e) => e.provider },
              { label: 'Ends (UTC)', cell: (e) => <Time of={e.expiresAt} />, text: (e) => e.expiresAt },
              { label: 'In', right: true, cell: (e) => span(seconds(e.expiresAt) - seconds(expiring.data?.closedAt)), text: (e) => seconds(e.expiresAt) - seconds(expiring.data?.closedAt) }]} />
          </Waiting></Card>
        <Card title="Verifiers"><Waiting answer={verifiers}>
          {r && <Facts rows={[['Contract', <Address of={r.contract} />], ['Administrator', <Address of={r.admin} />], ['DAO', <Address of={r.dao} />], ['Travel-rule records', count(r.travelRuleCount)]]} />}
          <Table caption="Verifiers" file="verifiers" items={verifiers.items} list={verifiers} keyOf={(v) => String(v.index)} columns={[
            { label: 'Place', right: true, cell: (v) => v.index, text: (v) => v.index },
            { label: 'Verifier', cell: (v) => <Address of={v.verifier} />, text: (v) => v.verifier },
            { label: 'Since', cell: (v) => <Time of={v.changedAt} />, text: (v) => v.changedAt }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
