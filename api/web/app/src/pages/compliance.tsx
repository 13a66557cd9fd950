import { useApi, useList, type Item } from '../lib/api';
import { oldestFirst } from '../lib/fields';
import { seconds } from '../lib/time';
import { setQuery, useQuery } from '../lib/router';
import { Address, Card, Count, Facts, Kpi, Kpis, State, Time, Until, Waiting } from '../ui/bits';
import { TimePlot } from '../ui/series';
import { CheckMany } from '../ui/standing';
import { Table } from '../ui/table';

const SPANS: [string, string][] = [['86400', '1 day'], ['604800', '7 days'], ['2592000', '30 days'], ['7776000', '90 days']];
const COLOURS: Record<string, string> = { Verified: 'up', Pending: 'warn', Suspended: 'second', Sanctioned: 'down', Expired: 'dim', Unknown: 'third', Frozen: 'link' };

const statusOf = (item: Item): string => item.status ?? 'Undefined';

/** Rows of status and provider as one sum for each status. */
function byStatus(items: Item[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const item of items) sums.set(statusOf(item), (sums.get(statusOf(item)) ?? 0) + item.addresses);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** The records by status at the end of each of the last days. */
function OverTime() {
  const days = useList('/api/compliance/daily', { limit: 60 }, ['compliance_registry_']);
  const rows = oldestFirst(days.items).map((day) => ({ ...day, ...Object.fromEntries(byStatus(day.counts)) }));
  const seen = [...new Set(rows.flatMap((day: Item) => (day.counts as Item[]).map(statusOf)))].sort();
  const partly = days.items.some((day) => day.complete === false);
  return (
    <Waiting answer={days}>
      {partly && <p class="notice warn">There are so many records that not all are counted on every day.</p>}
      <TimePlot title="Records by status" units="addresses, end of day" rows={rows} file="compliance-over-time"
        series={seen.map((status) => ({ name: status, field: status, colour: COLOURS[status] ?? 'accent' }))} />
    </Waiting>
  );
}

export default function Compliance() {
  const live = ['compliance_registry_'];
  const within = useQuery('within', '2592000');
  const registry = useApi('/api/compliance', {}, live);
  const counts = useApi('/api/compliance/counts', {}, live);
  const expiring = useList('/api/compliance/expiring', { within, limit: 50 }, live);
  const verifiers = useList('/api/compliance/verifiers', { limit: 50 }, live);
  const items: Item[] = counts.data?.items ?? [];
  const statuses = byStatus(items);
  const r = registry.data;
  return (
    <>
      <Waiting answer={counts}>
        {counts.data?.complete === false && <p class="notice warn">There are so many records that not all are counted.</p>}
        <Kpis>
          {statuses.map(([status, n]) => <Kpi key={status} label={status}><Count raw={n} name={`addresses${status}`} /></Kpi>)}
          <Kpi label="Verifiers ever added" note="repeats and removed ones too"><Count of={r} name="verifierCount" /></Kpi>
        </Kpis>
      </Waiting>
      <div class="grid">
        <CheckMany />
        <Card><OverTime /></Card>
        <Card title="By provider"><Waiting answer={counts}>
          <Table caption="Records by provider and status" file="compliance-providers" items={items} keyOf={(i) => `${i.provider}.${i.status}`} columns={[
            { label: 'Provider', cell: (i) => <Address of={i.provider} />, text: (i) => i.provider, order: (i) => i.provider ?? '' },
            { label: 'Status', cell: (i) => <State of={statusOf(i)} />, text: statusOf, order: statusOf },
            { label: 'Addresses', right: true, cell: (i) => <Count of={i} name="addresses" />, text: (i) => i.addresses, order: (i) => i.addresses }]} />
        </Waiting></Card>
        <Card title="Expiring soon" aside={<label>within <select value={within} onChange={(event) => setQuery({ within: event.currentTarget.value === '2592000' ? null : event.currentTarget.value }, true)}>{SPANS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>}>
          <Waiting answer={expiring}>
            <Table caption="Attestations that expire soon" file="compliance-expiring" items={expiring.items} list={expiring} keyOf={(e) => e.address} empty="None expires in that time." columns={[
              { label: 'Address', cell: (e) => <Address of={e.address} />, text: (e) => e.address },
              { label: 'Status', cell: (e) => <State of={e.status} />, text: (e) => e.status },
              { label: 'Provider', cell: (e) => <Address of={e.provider} />, text: (e) => e.provider },
              { label: 'Ends (UTC)', cell: (e) => <Time of={e} name="expiresAt" />, text: (e) => e.expiresAt },
              { label: 'In', right: true, cell: (e) => <Until at={e.expiresAt} from={expiring.data?.closedAt} name="endsIn" />, text: (e) => seconds(e.expiresAt) - seconds(expiring.data?.closedAt) }]} />
          </Waiting></Card>
        <Card title="Verifiers"><Waiting answer={verifiers}>
          {r && <Facts rows={[['Contract', <Address of={r.contract} />], ['Administrator', <Address of={r.admin} />], ['DAO', <Address of={r.dao} />], ['Travel-rule records', <Count of={r} name="travelRuleCount" />]]} />}
          <Table caption="Verifiers" file="verifiers" items={verifiers.items} list={verifiers} keyOf={(v) => String(v.index)} columns={[
            { label: 'Place', right: true, cell: (v) => <Count of={v} name="index" />, text: (v) => v.index },
            { label: 'Verifier', cell: (v) => <Address of={v.verifier} />, text: (v) => v.verifier },
            { label: 'Since', cell: (v) => <Time of={v} name="changedAt" />, text: (v) => v.changedAt }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
