import { useList } from '../lib/api';
import { A, Address, Amount, Bps, Card, Count, Pill, Time, Waiting } from '../ui/bits';
import { Table } from '../ui/table';

export default function Partners() {
  const list = useList('/api/partners', { limit: 100 }, ['partner_registry_', 'earnings_distributor_partner']);
  return (
    <Card><Waiting answer={list}>
      <Table caption="Partners" file="partners" items={list.items} list={list} keyOf={(p) => p.partnerId} columns={[
        { label: 'Partner', cell: (p) => <A to={`/partners/${encodeURIComponent(p.partnerId)}`}><span class="clip says">{p.name?.trim() === '' ? '(no name)' : p.name ?? '(name not readable)'}</span></A>, text: (p) => p.name, order: (p) => p.name },
        { label: 'Number', right: true, cell: (p) => <Count of={p} name="partnerId" />, text: (p) => p.partnerId, order: (p) => BigInt(p.partnerId) },
        { label: 'State', cell: (p) => (p.active ? <Pill tone="good">active</Pill> : <Pill>inactive</Pill>), text: (p) => (p.active ? 'active' : 'inactive') },
        { label: 'Part of fees', right: true, percent: true, cell: (p) => <Bps of={p} name="revenueShareBps" />, text: (p) => p.revenueShareBps },
        { label: 'Earned ever', right: true, cell: (p) => <Amount of={p} name="totalEarned" />, text: (p) => p.totalEarnedScaled, order: (p) => BigInt(p.totalEarned) },
        { label: 'Pending', right: true, cell: (p) => <Amount of={p} name="pendingRevenue" />, text: (p) => p.pendingRevenueScaled, order: (p) => BigInt(p.pendingRevenue) },
        { label: 'Assets', right: true, cell: (p) => <Count raw={(p.deployedAssets ?? []).length} name="deployedAssets" />, text: (p) => (p.deployedAssets ?? []).join(' ') },
        { label: 'Owner', cell: (p) => <Address of={p.owner} />, text: (p) => p.owner },
        { label: 'Registered', cell: (p) => <Time of={p} name="registeredAt" />, text: (p) => p.registeredAt }]} />
      <p class="dim">Earned and pending are the contract's own sums, which add up different tokens.</p>
    </Waiting></Card>
  );
}
