import { useApi, useList, type Item } from '../lib/api';
import { scale } from '../lib/amount';
import { nearestVault, netValue } from '../lib/fields';
import { setQuery, useMe } from '../lib/router';
import { Address, Amount, Bps, Card, Count, Facts, Failed, Kpi, Kpis, Ledger, Pill, Pool, State, Time, Tx, Vault, Waiting, symbolOf } from '../ui/bits';
import { Whole } from '../ui/copy';
import { Activity } from '../ui/events';
import { MayTrade } from '../ui/standing';
import { Table } from '../ui/table';
import type { PageProps } from '.';

const COUNTED = 200; // the API counts no further
const Counted = ({ of, name }: { of: Item; name: string }) => <><Count of={of} name={name} />{of[name] >= COUNTED && ' or more'}</>;
const more = (shown: unknown[], of: Item, name: string) => (of[name] > shown.length ? <p class="dim">{shown.length} of <Counted of={of} name={name} />.</p> : null);
const NOT_KNOWN: Record<string, string> = { stale: 'not known: the index is stale', incomplete: 'not known: the registry is not indexed whole' };

export default function AddressPage({ args }: PageProps) {
  const a = encodeURIComponent(args.address);
  const me = useMe();
  const answer = useApi(`/api/addresses/${a}/portfolio`, {}, []);
  const history = useList(`/api/compliance/${a}/history`, { limit: 20 }, ['compliance_registry_']);
  const p = answer.data, c = p?.compliance, d = p?.stabilityDeposit;
  const ends = new Map<string, Item>(history.items.filter((h) => h.expiresAt).map((h) => [h.txHash, { until: h.expiresAt }]));
  const net = p && netValue(p), near = p && nearestVault(p.vaults);
  if (!p && answer.error && answer.error.status === 400) return <Failed problem={answer.error} />;
  return (
    <>
      <div class="row"><Whole of={args.address} label="the address" />
        <button type="button" aria-pressed={me === args.address} onClick={() => setQuery({ me: me === args.address ? null : args.address }, true)} title="It is kept in the address of the page, marked wherever it stands, and told to no server but this one.">{me === args.address ? 'This is me' : 'Is this me?'}</button></div>
      <Waiting answer={answer}>{p && <>
        <Kpis>
          <Kpi label="Net value in contracts" note={p.balances.length < p.balancesCount || p.vaults.length < p.vaultsCount || p.positions.length < p.positionsCount ? 'of what is listed here' : net?.unpriced ? <><Count raw={net.unpriced} name="unpricedCount" /> without a price</> : args.address.startsWith('G') ? 'an account\u2019s own USDC and XLM are not indexed' : 'less the debt of vaults'}><Amount of={net && { net: net.value, netScaled: scale(net.value, 7) }} name="net" as="netValue" unit="USD" /></Kpi>
          <Kpi label="Nearest liquidation" note={near ? <Vault market={near.market} owner={args.address} /> : 'no vault with debt and a price'}><Bps of={near} name="distanceBps" /></Kpi>
          <Kpi label="Compliance" note={c?.expiresAt ? <>until <Time of={c} name="expiresAt" /></> : undefined}>{c?.status ? <State of={c.status} /> : <Pill tone="warn">{NOT_KNOWN[c?.unknownBecause] ?? 'not known'}</Pill>}</Kpi>
          <Kpi label="May trade" note="by the registry's rule">{c?.compliant === true ? <Pill tone="good">yes</Pill> : c?.compliant === false ? <Pill tone="bad" title={c.reasonCode ?? undefined}>no</Pill> : <Pill tone="warn">not known</Pill>}</Kpi>
          <Kpi label="Vaults"><Counted of={p} name="vaultsCount" /></Kpi>
          <Kpi label="Pool positions"><Counted of={p} name="positionsCount" /></Kpi>
          <Kpi label="Claimable earnings" note={p.claimable?.refused ? 'no stake' : undefined}><Amount of={p.claimable} name="total" /></Kpi>
          <Kpi label="Stability deposit"><Amount of={d} name="compoundedDeposit" unit="USDC" /></Kpi>
        </Kpis>
        <div class="grid">
          <MayTrade address={args.address} />
          <Card title="Balances">
            <Table caption="Balances" file={`${args.address}-balances`} items={p.balances} keyOf={(b) => b.token} columns={[
              { label: 'Token', cell: (b) => symbolOf(b, 'token'), text: (b) => b.tokenSymbol },
              { label: 'Balance', right: true, cell: (b) => <Amount of={b} name="balance" full />, text: (b) => b.balanceScaled, order: (b) => (b.balance == null ? null : BigInt(b.balance)) },
              { label: 'Value, USD', right: true, cell: (b) => <Amount of={b} name="value" why="no fresh price" />, text: (b) => b.valueScaled, order: (b) => (b.value == null ? null : BigInt(b.value)) },
              { label: 'Contract', cell: (b) => <Address of={b.token} />, text: (b) => b.token }]} />{more(p.balances, p, 'balancesCount')}</Card>
          <Card title="Vaults">
            <Table caption="Vaults" file={`${args.address}-vaults`} items={p.vaults} keyOf={(v) => v.market} columns={[
              { label: 'Vault', cell: (v) => <Vault market={v.market} owner={args.address} />, text: (v) => v.market },
              { label: 'State', cell: (v) => <State of={v.state} />, text: (v) => v.state },
              { label: 'Ratio', right: true, percent: true, cell: (v) => <Bps of={v} name="ratioBps" />, text: (v) => v.ratioBps },
              { label: 'Distance', right: true, percent: true, cell: (v) => <Bps of={v} name="distanceBps" />, text: (v) => v.distanceBps },
              { label: 'Debt', right: true, cell: (v) => <Amount of={v} name="debt" unit={v.synthTokenSymbol} />, text: (v) => v.debtScaled },
              { label: 'Collateral', right: true, cell: (v) => <Amount of={v} name="collateral" unit={v.collateralTokenSymbol} />, text: (v) => v.collateralScaled }]} />{more(p.vaults, p, 'vaultsCount')}</Card>
          <Card title="Pool positions">
            <Table caption="Pool positions" file={`${args.address}-positions`} items={p.positions} keyOf={(i) => i.pool} columns={[
              { label: 'Pool', cell: (i) => <Pool of={i.pool} />, text: (i) => i.pool },
              { label: 'Token A', right: true, cell: (i) => <Amount of={i} name="underlyingA" />, text: (i) => i.underlyingAScaled },
              { label: 'Token B', right: true, cell: (i) => <Amount of={i} name="underlyingB" />, text: (i) => i.underlyingBScaled },
              { label: 'Value, USDC', right: true, cell: (i) => <Amount of={i} name="valueQuote" why="neither token is USDC" />, text: (i) => i.valueQuoteScaled },
              { label: 'Claimable A', right: true, cell: (i) => <Amount of={i} name="claimableA" />, text: (i) => i.claimableAScaled },
              { label: 'Claimable B', right: true, cell: (i) => <Amount of={i} name="claimableB" />, text: (i) => i.claimableBScaled }]} />{more(p.positions, p, 'positionsCount')}</Card>
          {d && <Card title="Stability deposit"><Facts about="deposit" rows={[['Now', <Amount of={d} name="compoundedDeposit" unit="USDC" full />], ['When last touched', <Amount of={d} name="initialValue" unit="USDC" full />],
            ['Unclaimed collateral', <Amount of={d} name="collateralGain" full />], ['Since', <Time of={d} name="depositedAt" />]]} /></Card>}
          <Card title="Votes">
            <Table caption="Votes" file={`${args.address}-votes`} items={p.votes} columns={[
              { label: 'Time (UTC)', cell: (v) => <Time of={v} name="closedAt" />, text: (v) => v.closedAt },
              { label: 'Proposal', right: true, cell: (v) => <Count of={v} name="proposalId" />, text: (v) => v.proposalId },
              { label: 'Vote', cell: (v) => (v.support ? 'yes' : 'no'), text: (v) => (v.support ? 'yes' : 'no') },
              { label: 'Weight', right: true, cell: (v) => <Count of={v} name="weight" />, text: (v) => v.weight },
              { label: 'Transaction', cell: (v) => <Tx of={v.txHash} />, text: (v) => v.txHash }]} /></Card>
          <Card title="Claims of earnings" wide={!d}>
            <Table caption="Claims of earnings" file={`${args.address}-claims`} items={p.claims} columns={[
              { label: 'Time (UTC)', cell: (v) => <Time of={v} name="closedAt" />, text: (v) => v.closedAt },
              { label: 'Paid', right: true, cell: (v) => <Amount of={v} name="total" full />, text: (v) => v.totalScaled },
              { label: 'Transaction', cell: (v) => <Tx of={v.txHash} />, text: (v) => v.txHash }]} /></Card>
        </div>
      </>}</Waiting>
      <Card title="Compliance history"><Waiting answer={history}>
        <Table caption="Compliance history" file={`${args.address}-compliance`} items={history.items} list={history} keyOf={(h, i) => `${h.ledger}.${i}`} columns={[
          { label: 'Time (UTC)', cell: (h) => <Time of={h} name="closedAt" />, text: (h) => h.closedAt },
          { label: 'Entry', cell: (h) => `${h.entry}${h.removed ? ' removed' : ''}`, text: (h) => `${h.entry}${h.removed ? ' removed' : ''}` },
          { label: 'Status', cell: (h) => <State of={h.status} />, text: (h) => h.status },
          { label: 'Reason', cell: (h) => h.reason ?? '–', text: (h) => h.reason },
          { label: 'Ends', cell: (h) => <Time of={h} name="expiresAt" />, text: (h) => h.expiresAt },
          { label: 'Verifier', cell: (h) => <Address of={h.provider} />, text: (h) => h.provider },
          { label: 'Ledger', right: true, cell: (h) => <Ledger of={h} name="ledger" />, text: (h) => h.ledger },
          { label: 'Transaction', cell: (h) => <Tx of={h.txHash} />, text: (h) => h.txHash }]} />
      </Waiting></Card>
      <Card title="Activity"><Activity address={a} params={{ limit: 50 }} live={[]} caption="Activity" file={`${args.address}-activity`} also={ends} /></Card>
    </>
  );
}
