import { useApi } from '../lib/api';
import { setQuery } from '../lib/router';
import { A, Card, Count, Facts, Failed, Pill, Time, Waiting } from '../ui/bits';
import { Copy } from '../ui/copy';
import { Activity } from '../ui/events';
import type { PageProps } from '.';

export default function LedgerPage({ args }: PageProps) {
  const n = args.ledger;
  const valid = /^[1-9]\d{0,9}$/.test(n);
  const answer = useApi(valid ? `/api/ledgers/${n}` : null);
  const l = answer.data?.item;
  if (!valid) return <p class="notice">A ledger is a number.</p>;
  if (answer.error && !l) return <Failed problem={answer.error} />;
  return (
    <>
      <div class="row"><A to={`/ledger/${Math.max(1, Number(n) - 1)}`}>‹ {Number(n) - 1}</A> <A to={`/ledger/${Number(n) + 1}`}>{Number(n) + 1} ›</A>
        <button type="button" onClick={() => setQuery({ ledger: n })}>See everything as of this ledger</button></div>
      <Waiting answer={answer}>{l && <Card title="Ledger"><Facts rows={[
        ['Closed (UTC)', <Time of={l} name="closedAt" />], ['Hash', <><span class="mono">{l.hash}</span> <Copy text={l.hash} label="the hash" /></>], ['Previous hash', <><span class="mono">{l.previousHash}</span> <Copy text={l.previousHash} label="the previous hash" /></>], ['Protocol version', <Count of={l} name="protocol" />],
        ['Transactions', <Count of={l} name="transactions" />], ['Transactions of the protocol', <Count of={l} name="protocolTransactions" />], ['Events', <Count of={l} name="events" />], ['Entries changed', <Count of={l} name="changes" />],
        ['Not decoded', <><Count of={l} name="rawEvents" /> events, <Count of={l} name="rawStates" /> entries, <Count of={l} name="rawCalls" /> calls</>],
        ['Proved', <Pill tone={l.proof === 'events' ? 'good' : 'plain'}>{l.proof}</Pill>], ['Calls verified', <Count of={l} name="callsVerified" />], ['Calls rewritten', <Count of={l} name="callsRewritten" />], ['Calls that no hash covers', <Count of={l} name="callsUnverified" />]]} /></Card>}</Waiting>
      <Card title="Activity"><Activity caption={`Activity of ledger ${n}`} file={`ledger-${n}`} live={null} params={{ fromLedger: n, toLedger: n, limit: 100 }} filters={false} /></Card>
    </>
  );
}
