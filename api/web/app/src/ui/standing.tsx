/** Whether an address may trade, why not, and what to do: of one, and of a list of many. */
import { useState } from 'preact/hooks';
import { post, useApi, type Item, type Problem } from '../lib/api';
import { Address, Card, Facts, Failed, Pill, State, Time, Waiting } from './bits';
import { Table } from './table';

/** By the registry's step that decided: why, and what helps. */
const REASONS: Record<string, [string, string]> = {
  compliant: ['A verified record that has not ended.', ''],
  frozen: ['The registry has frozen this address.', 'Only the registry\u2019s administrator lifts it.'],
  no_record: ['The registry has no record of this address.', 'An identity check brings one.'],
  revoked: ['Its attestation was taken back.', 'A new identity check may bring another.'],
  pending: ['Its identity check is not decided yet.', 'Wait for the decision.'],
  suspended: ['Its record is suspended.', 'Ask the verifier that suspended it.'],
  sanctioned: ['Its record says sanctioned.', 'Ask the verifier that wrote it.'],
  expired: ['Its record says expired.', 'A new identity check renews it.'],
  lapsed: ['Its attestation has ended.', 'A new identity check renews it.'],
  jurisdiction: ['Its jurisdiction is blocked.', 'Nothing that it does itself helps.'],
  undefined: ['Its record has a status that the contract does not know.', 'Ask the verifier that wrote it.'],
};
const why = (s: Item) => REASONS[s.reasonCode]?.[0] ?? s.reasonCode;
const remedy = (s: Item) => REASONS[s.reasonCode]?.[1] ?? '';
const yes = (ok: boolean) => (ok ? <Pill tone="good">yes</Pill> : <Pill tone="bad">no</Pill>);

export function MayTrade({ address }: { address: string }) {
  const answer = useApi(`/api/sdk/kyc/status/${encodeURIComponent(address)}`, {}, ['compliance_registry_']);
  const s = answer.data;
  return (
    <Card title="May it trade?"><Waiting answer={answer}>{s && <>
      <p>{yes(s.compliant)} <State of={s.status} /> {why(s)} {remedy(s)} {s.needsKyc && <a href="/kyc">Start an identity check</a>}</p>
      <Facts about="standing" rows={[['In swaps and liquidity', yes(s.gates.liquidityPool)], ['In vaults', yes(s.gates.syntheticEngine)], ['In stability deposits', yes(s.gates.stabilityPool)],
        ['Until', <Time of={s} name="validUntil" />], ['On the whitelist', s.whitelisted ? 'yes' : 'no'], ['Record by', <Address of={s.record?.provider} />]]} />
      <p class="dim">Each contract asks by itself and lets the whitelist pass. <a href={`/api/sdk/kyc/status/${encodeURIComponent(address)}?receipt=1`} download={`${address}.jwt`}>Signed receipt</a></p>
    </>}</Waiting></Card>
  );
}

const MOST = 1000; // the API takes no more at once

/** A pasted list, answered at one ledger. */
export function CheckMany() {
  const [text, setText] = useState('');
  const [got, setGot] = useState<Item | null>(null);
  const [failed, setFailed] = useState<Problem | null>(null);
  const addresses = [...new Set(text.split(/[\s,;"']+/).filter(Boolean))];
  const send = () => {
    setFailed(null);
    post('/api/sdk/kyc/status', { addresses }).then((answer) => {
      setGot({ ...answer, items: answer.items.map((item: Item, i: number) => ({ ...item, asked: addresses[i] })) });
    }, setFailed);
  };
  return (
    <Card title="Check a list of addresses" wide>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); send(); }}>
        <textarea aria-label="Addresses" rows={4} placeholder="G… or C…, one a line" spellcheck={false} autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <span class="row"><button type="submit" disabled={addresses.length === 0 || addresses.length > MOST}>Check</button>
          {addresses.length > MOST && <span class="notice warn">{`At most ${MOST} at once.`}</span>}</span>
      </form>
      {failed && <Failed problem={failed} />}
      {got && <Table caption="Checked addresses" file={`compliance-ledger-${got.ledger}`} items={got.items} keyOf={(s) => s.asked} columns={[
        { label: 'Address', cell: (s) => (s.address ? <Address of={s.address} /> : <span class="mono break">{s.asked}</span>), text: (s) => s.asked },
        { label: 'May trade', cell: (s) => (s.error ? <Pill tone="warn">no address</Pill> : yes(s.compliant)), text: (s) => (s.error ? 'no address' : s.compliant ? 'yes' : 'no') },
        { label: 'Status', cell: (s) => <State of={s.status} />, text: (s) => s.status },
        { label: 'Why', cell: (s) => (s.error ? s.error.detail : why(s)), text: (s) => (s.error ? s.error.detail : why(s)), wrap: true },
        { label: 'What helps', cell: (s) => (s.error ? '' : remedy(s)), text: (s) => (s.error ? '' : remedy(s)), wrap: true },
        { label: 'Until (UTC)', cell: (s) => <Time of={s} name="validUntil" />, text: (s) => s.validUntil },
        { label: 'Ledger', cell: () => got.ledger, text: () => got.ledger }]} />}
    </Card>
  );
}
