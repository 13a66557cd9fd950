import { useApi } from '../lib/api';
import { Address, Amount, Card, Count, Facts, Failed, Ledger, Pill, Time, Waiting } from '../ui/bits';
import { Whole } from '../ui/copy';
import { RawEvents, Summary } from '../ui/events';
import { Table } from '../ui/table';
import type { PageProps } from '.';

export default function TransactionPage({ args }: PageProps) {
  const answer = useApi(`/api/transactions/${encodeURIComponent(args.hash)}`);
  const t = answer.data?.transaction;
  if (answer.error && !t) return <Failed problem={answer.error} />;
  return (
    <>
      <Whole of={args.hash} label="the hash" />
      <Waiting answer={answer}>{t && <>
        <Summary events={t.events} />
        <Card title="Transaction"><Facts rows={[
          ['Outcome', t.ok ? <Pill tone="good">succeeded</Pill> : <Pill tone="bad">failed, code {t.resultCode}</Pill>], ['Ledger', <Ledger of={t} name="ledger" />], ['Closed (UTC)', <Time of={t} name="closedAt" />],
          ['Place in the ledger', <Count of={t} name="tx" />], ['Sent by', <Address of={t.source} />], ['Fee', <Amount of={t} name="feeCharged" unit="XLM" full />]]} /></Card>
        <Card title="Calls">
          <Table caption="Calls of the protocol" file={`tx-${args.hash}-calls`} items={t.calls} keyOf={(c, i) => `${c.op}.${i}`} columns={[
            { label: 'Operation', right: true, cell: (c) => <Count of={c} name="op" />, text: (c) => c.op },
            { label: 'Function', cell: (c) => c.function ?? '(created)', text: (c) => c.function },
            { label: 'Contract', cell: (c) => <Address of={c.contract} />, text: (c) => c.contract },
            { label: 'By', cell: (c) => <Address of={c.source} />, text: (c) => c.source },
            { label: 'Outcome', cell: (c) => (c.ok ? <Pill tone="good">succeeded</Pill> : <Pill tone="bad">refused</Pill>), text: (c) => (c.ok ? 'succeeded' : `refused ${c.resultCode}`) },
            { label: 'Events', right: true, cell: (c) => <Count of={c} name="events" />, text: (c) => c.events },
            { label: 'Entries changed', right: true, cell: (c) => <Count of={c} name="changes" />, text: (c) => c.changes },
            { label: 'Proof', cell: (c) => c.proof ?? '–', text: (c) => c.proof }]} /></Card>
        <Card title="Events">
          <RawEvents caption="Events of the protocol" file={`tx-${args.hash}-events`} events={t.events} /></Card>
      </>}</Waiting>
    </>
  );
}
