import { useApi, useList, type Item } from '../lib/api';
import { setQuery, useQuery } from '../lib/router';
import { seconds } from '../lib/time';
import { Address, Card, Count, Facts, Ids, Ledger, State, Time, Tx, Waiting } from '../ui/bits';
import { fieldsText } from '../ui/events';
import { XyPlot } from '../ui/series';
import { Table } from '../ui/table';

const actionText = (action: Item | null | undefined) => (!action ? '–' : action.undecodable ? 'not decodable' : String(action.name ?? action.action).replace(/_/g, ' '));

const DONE: Record<string, string> = { executed: 'It is executed.', cancelled: 'It is cancelled.', failed: 'It has failed.' };

interface Possible { vote: boolean; lacks: string | null; execute: 'now' | 'later' | null }
function possible(p: Item): Possible {
  const open = !DONE[p.state] && p.threshold > 0, missing = open ? BigInt(p.threshold) - BigInt(p.yesVotes) : 0n;
  return { vote: p.status === 'Active', lacks: missing > 0n ? missing.toString() : null, execute: !open || missing > 0n ? null : p.state === 'executable' ? 'now' : 'later' };
}

/** What can still be done with a proposal, by what the contract enforces: it takes votes as long as the proposal is active, whatever its stated end. */
function StillPossible({ p }: { p: Item }) {
  const can = possible(p);
  if (!can.vote && !can.execute && !can.lacks) return <span>{DONE[p.state] ?? 'Nothing: no wallet governs.'}</span>;
  return (
    <span>{can.vote && 'Signers may vote, also after the stated end. '}{can.lacks && <>It lacks <Count raw={can.lacks} name="lacks" /> of yes.</>}
      {can.execute && <>It has enough of yes to be executed {can.execute === 'now' ? 'now' : <>from <Time of={p} name="executableAt" as="executableFrom" /></>}.</>}</span>
  );
}
const possibleText = (p: Item) => { const can = possible(p); return [can.vote && 'vote', can.lacks && `lacks ${can.lacks}`, can.execute && (can.execute === 'now' ? 'execute' : 'wait')].filter(Boolean).join(', ') || 'nothing'; };

/** Yes and no after each vote, oldest first. */
function VoteChart({ votes, id }: { votes: Item[]; id: string }) {
  let yes = 0n, no = 0n;
  const rows: Item[] = [...votes].reverse().map((v, i) => {
    if (v.support) yes += BigInt(v.weight); else no += BigInt(v.weight);
    return { ...v, yes: yes.toString(), no: no.toString(), x: seconds(v.closedAt) + i * 1e-3 };
  });
  return <XyPlot title="Votes over time" units="weight" rows={rows} file={`proposal-${id}-votes`} empty="No votes."
    plot={{ x: rows.map((r) => r.x), time: true, series: [{ name: 'Yes', colour: 'up', step: true, values: rows.map((r) => Number(r.yes)) }, { name: 'No', colour: 'down', step: true, values: rows.map((r) => Number(r.no)) }] }}
    legend={[{ name: 'Yes', colour: 'up' }, { name: 'No', colour: 'down' }]}
    columns={[
      { label: 'Time (UTC)', cell: (r) => <Time of={r} name="closedAt" />, text: (r) => r.closedAt },
      { label: 'Yes', right: true, cell: (r) => <Count of={r} name="yes" />, text: (r) => r.yes },
      { label: 'No', right: true, cell: (r) => <Count of={r} name="no" />, text: (r) => r.no }]}
    describe={(r) => `${r.closedAt}: yes ${r.yes}, no ${r.no}`} />;
}

function Proposal({ id }: { id: string }) {
  const answer = useApi(`/api/dao/proposals/${encodeURIComponent(id)}`, {}, ['dao_governance_']);
  const votes = useList(`/api/dao/proposals/${encodeURIComponent(id)}/votes`, { limit: 200 }, ['dao_governance_']);
  const p = answer.data;
  return (
    <Card title={`Proposal ${id}`} wide aside={<button type="button" onClick={() => setQuery({ proposal: null })}>Close</button>}>
      <Waiting answer={answer}>{p && <>
        <p class="break says"><strong>{p.title ?? '(its title is not readable)'}</strong></p>
        {p.description && <p class="break">{p.description}</p>}
        <Facts about="proposal" rows={[
          ['State', <State of={p.state} />], ['What can be done', <StillPossible p={p} />], ['Proposer', <Address of={p.proposer} />], ['Action', actionText(p.action)], ['Arguments', <span class="break says">{fieldsText(p.action?.args, 2000) || 'none'}</span>],
          ['Yes', <Count of={p} name="yesVotes" />], ['No', <Count of={p} name="noVotes" />], ['Needs', <Count of={p} name="threshold" />],
          ['Votes from', <Time of={p} name="startsAt" />], ['Votes until', <Time of={p} name="endsAt" />], ['Executable from', <Time of={p} name="executableAt" />],
          ['Multisig transactions', <Ids of={p} name="multisigTxIds" />], ['Changed in ledger', <Ledger of={p} name="changedLedger" />]]} />
        <Waiting answer={votes}><VoteChart votes={votes.items} id={id} /></Waiting>
        <Table caption="Votes" file={`proposal-${id}-each-vote`} items={votes.items} list={votes} columns={[
          { label: 'Time (UTC)', cell: (v) => <Time of={v} name="closedAt" />, text: (v) => v.closedAt },
          { label: 'Voter', cell: (v) => <Address of={v.voter} />, text: (v) => v.voter },
          { label: 'Vote', cell: (v) => (v.support ? 'yes' : 'no'), text: (v) => (v.support ? 'yes' : 'no') },
          { label: 'Weight', right: true, cell: (v) => <Count of={v} name="weight" />, text: (v) => v.weight },
          { label: 'Transaction', cell: (v) => <Tx of={v.txHash} />, text: (v) => v.txHash }]} />
      </>}</Waiting>
    </Card>
  );
}

function Multisig({ id }: { id: string }) {
  const answer = useApi(`/api/multisig/transactions/${encodeURIComponent(id)}`, {}, ['dao_governance_']);
  const t = answer.data;
  return (
    <Card title={`Multisig transaction ${id}`} wide aside={<button type="button" onClick={() => setQuery({ multisig: null })}>Close</button>}>
      <Waiting answer={answer}>{t && <>
        <Facts about="multisig" rows={[['Status', <State of={t.status} />], ['Target', <Address of={t.target} />], ['Function', t.functionName], ['Action', actionText(t.action)], ['Arguments', <span class="break says">{fieldsText(t.action?.args, 2000) || 'none'}</span>],
          ['Approvals', <><Count of={t} name="approvals" /> of <Count of={t} name="threshold" /></>], ['Rejections', <Count of={t} name="rejections" />], ['Created', <Time of={t} name="createdAt" />]]} />
        <Table caption="Decisions of the signers" file={`multisig-${id}`} items={t.decisions ?? []} keyOf={(d) => d.signer} columns={[
          { label: 'Signer', cell: (d) => <Address of={d.signer} />, text: (d) => d.signer },
          { label: 'Decision', cell: (d) => (d.approve ? 'approves' : 'rejects'), text: (d) => (d.approve ? 'approves' : 'rejects') },
          { label: 'When', cell: (d) => <Time of={d} name="changedAt" />, text: (d) => d.changedAt }]} />
      </>}</Waiting>
    </Card>
  );
}

export default function Governance() {
  const proposal = useQuery('proposal'), multisig = useQuery('multisig');
  const proposals = useList('/api/dao/proposals', { limit: 20 }, ['dao_governance_']);
  const transactions = useList('/api/multisig/transactions', { limit: 20 }, ['dao_governance_']);
  const wallets = useList('/api/multisig/wallets', { limit: 20 }, ['dao_governance_']);
  return (
    <>
      {proposal && <Proposal key={proposal} id={proposal} />}
      {multisig && <Multisig key={multisig} id={multisig} />}
      <Card title="Proposals"><Waiting answer={proposals}>
        <Table caption="Proposals" file="proposals" items={proposals.items} list={proposals} keyOf={(p) => String(p.proposalId)} columns={[
          { label: 'Number', right: true, cell: (p) => <button type="button" onClick={() => setQuery({ proposal: p.proposalId })} aria-label={`Proposal ${p.proposalId}`}><Count of={p} name="proposalId" /></button>, text: (p) => p.proposalId },
          { label: 'Title', cell: (p) => <span class="clip says" title={p.title ?? ''}>{p.title?.trim() ? p.title : '(no title)'}</span>, text: (p) => p.title },
          { label: 'Action', cell: (p) => <span title={fieldsText(p.action?.args, 500)}>{actionText(p.action)}</span>, text: (p) => `${actionText(p.action)} ${JSON.stringify(p.action?.args ?? {})}` },
          { label: 'State', cell: (p) => <State of={p.state} />, text: (p) => p.state },
          { label: 'Yes', right: true, cell: (p) => <Count of={p} name="yesVotes" />, text: (p) => p.yesVotes },
          { label: 'No', right: true, cell: (p) => <Count of={p} name="noVotes" />, text: (p) => p.noVotes },
          { label: 'Needs', right: true, cell: (p) => <Count of={p} name="threshold" />, text: (p) => p.threshold },
          { label: 'What can be done', cell: (p) => <StillPossible p={p} />, text: possibleText, wrap: true },
          { label: 'Stated end', cell: (p) => <Time of={p} name="endsAt" />, text: (p) => p.endsAt },
          { label: 'Proposer', cell: (p) => <Address of={p.proposer} />, text: (p) => p.proposer }]} />
      </Waiting></Card>
      <Card title="Multisig transactions"><Waiting answer={transactions}>
        <Table caption="Multisig transactions" file="multisig" items={transactions.items} list={transactions} keyOf={(t) => t.txId} columns={[
          { label: 'Number', right: true, cell: (t) => <button type="button" onClick={() => setQuery({ multisig: t.txId })} aria-label={`Multisig transaction ${t.txId}`}><Count of={t} name="txId" /></button>, text: (t) => t.txId },
          { label: 'Wallet', right: true, cell: (t) => <Count of={t} name="walletId" />, text: (t) => t.walletId },
          { label: 'Function', cell: (t) => <span title={fieldsText(t.action?.args, 500)}>{t.functionName}</span>, text: (t) => t.functionName },
          { label: 'Status', cell: (t) => <State of={t.status} />, text: (t) => t.status },
          { label: 'Approvals', right: true, cell: (t) => <><Count of={t} name="approvals" /> of <Count of={t} name="threshold" /></>, text: (t) => t.approvals },
          { label: 'Rejections', right: true, cell: (t) => <Count of={t} name="rejections" />, text: (t) => t.rejections },
          { label: 'Proposal', right: true, cell: (t) => <Count of={t} name="proposalId" />, text: (t) => t.proposalId },
          { label: 'Created', cell: (t) => <Time of={t} name="createdAt" />, text: (t) => t.createdAt },
          { label: 'Target', cell: (t) => <Address of={t.target} />, text: (t) => t.target }]} />
      </Waiting></Card>
      <Card title="Wallets"><Waiting answer={wallets}>
        <Table caption="Wallets" file="wallets" items={wallets.items} list={wallets} keyOf={(w) => w.walletId} columns={[
          { label: 'Number', right: true, cell: (w) => <Count of={w} name="walletId" />, text: (w) => w.walletId },
          { label: 'Approvals needed', right: true, cell: (w) => <><Count of={w} name="threshold" /> of <Count of={w} name="signerCount" /></>, text: (w) => w.threshold },
          { label: 'Decides', cell: (w) => w.scope, text: (w) => w.scope },
          { label: 'Active', cell: (w) => (w.active ? 'yes' : 'no'), text: (w) => w.active },
          { label: 'Signers', cell: (w) => (w.signers ?? []).map((s: string) => <span key={s}><Address of={s} /> </span>), text: (w) => (w.signers ?? []).join(' ') }]} />
      </Waiting></Card>
    </>
  );
}
