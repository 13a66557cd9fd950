import { useApi, useList, type Item } from '../lib/api';
import { chartNumber } from '../lib/amount';
import { Address, Amount, Bps, Card, Count, Facts, Failed, Kpi, Kpis, Pill, Time, Tx, Waiting, symbolOf } from '../ui/bits';
import { XyPlot } from '../ui/series';
import { Table } from '../ui/table';
import type { PageProps } from '.';

const COLOURS = ['accent', 'second', 'third', 'up', 'down', 'warn'];

export default function PartnerPage({ args }: PageProps) {
  const path = `/api/partners/${encodeURIComponent(args.partner)}`, live = ['partner_registry_', 'earnings_distributor_'];
  const answer = useApi(path, {}, live);
  const catalog = useList(`${path}/catalog`, { limit: 100 }, live);
  const epochs = useList(`${path}/revenue/epochs`, { limit: 100 }, live);
  const claims = useList(`${path}/claims`, { limit: 20 }, live);
  const p = answer.data;
  if (!p) return answer.error ? <Failed problem={answer.error} /> : <Waiting answer={answer}>{null}</Waiting>;
  const numbers = [...new Set(epochs.items.map((e) => e.epoch as string))].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const tokens = [...new Set(epochs.items.map((e) => e.token as string))];
  const of = (epoch: string, token: string) => epochs.items.find((e) => e.epoch === epoch && e.token === token);
  const nameOf = (token: string) => symbolOf(epochs.items.find((e) => e.token === token), 'token');
  const rows: Item[] = numbers.map((epoch) => ({ epoch }));
  return (
    <>
      <p class="break"><strong>{p.name ?? '(its name is not readable)'}</strong> {p.active ? <Pill tone="good">active</Pill> : <Pill>inactive</Pill>}</p>
      <Kpis>
        <Kpi label="Earned ever"><Amount of={p} name="totalEarned" /></Kpi>
        <Kpi label="Pending"><Amount of={p} name="pendingRevenue" /></Kpi>
        <Kpi label="A claim would pay" note={p.claimRefused ? `refused: ${p.claimRefused}` : undefined}><Amount of={p} name="claimable" unit="USDC" /></Kpi>
        <Kpi label="Part of fees"><Bps of={p} name="revenueShareBps" /></Kpi>
      </Kpis>
      <div class="grid">
        <Card><Waiting answer={epochs}>
          <XyPlot title="Revenue by epoch" units="tokens, as they arrived" rows={rows} file={`partner-${args.partner}-revenue`} empty="No revenue yet."
            plot={{ x: numbers.map(Number), time: false, series: tokens.map((t, i) => ({ name: nameOf(t), colour: COLOURS[i % COLOURS.length], values: numbers.map((n) => chartNumber(of(n, t)?.amountScaled)) })) }}
            legend={tokens.map((t, i) => ({ name: nameOf(t), colour: COLOURS[i % COLOURS.length] }))}
            columns={[{ label: 'Epoch', cell: (r) => <Count of={r} name="epoch" />, text: (r) => r.epoch },
              ...tokens.map((t) => ({ label: nameOf(t), right: true, cell: (r: Item) => <Amount of={of(r.epoch, t)} name="amount" as={`${t}.amount`} />, text: (r: Item) => of(r.epoch, t)?.amountScaled }))]}
            describe={(r) => `epoch ${r.epoch}: ${tokens.map((t) => `${nameOf(t)} ${of(r.epoch, t)?.amountScaled ?? '0'}`).join(', ')}`} />
        </Waiting></Card>
        <Card title="About"><Facts rows={[['Number', <Count of={p} name="partnerId" />], ['Owner', <Address of={p.owner} />], ['Registered', <Time of={p} name="registeredAt" />], ['Volume ever', <Amount of={p} name="totalVolume" />], ['Changed', <Time of={p} name="changedAt" />]]} /></Card>
        <Card title="Catalog" wide><Waiting answer={catalog}>
          <Table caption="Catalog" file={`partner-${args.partner}-catalog`} items={catalog.items} list={catalog} keyOf={(c) => `${c.symbol}.${c.token}`} columns={[
            { label: 'Symbol', cell: (c) => <span class="says">{c.symbol}</span>, text: (c) => c.symbol, order: (c) => c.symbol },
            { label: 'Token', cell: (c) => <><Address of={c.token} /> {c.tokenSymbol}</>, text: (c) => c.token },
            { label: 'Price feed', cell: (c) => <span class="says">{c.oracleSymbol}</span>, text: (c) => c.oracleSymbol },
            { label: 'Debt ceiling', right: true, cell: (c) => <Amount of={c} name="debtCeiling" />, text: (c) => c.debtCeilingScaled },
            { label: 'State', cell: (c) => (c.live ? <Pill tone="good">live</Pill> : <Pill>not live</Pill>), text: (c) => (c.live ? 'live' : 'not live') },
            { label: 'Registered', cell: (c) => <Time of={c} name="deployedAt" />, text: (c) => c.deployedAt }]} />
        </Waiting></Card>
        <Card title="Claims" wide><Waiting answer={claims}>
          <Table caption="Claims" file={`partner-${args.partner}-claims`} items={claims.items} list={claims} columns={[
            { label: 'Time (UTC)', cell: (c) => <Time of={c} name="closedAt" />, text: (c) => c.closedAt },
            { label: 'Paid', right: true, cell: (c) => <Amount of={c} name="claimed" unit="USDC" />, text: (c) => c.claimedScaled },
            { label: 'Owner', cell: (c) => <Address of={c.owner} />, text: (c) => c.owner },
            { label: 'Transaction', cell: (c) => <Tx of={c.txHash} />, text: (c) => c.txHash }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
