/** The operator console: one page of lists, and the actions of the person whose certificate the proxy saw. */
import { render, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import '../style.css';
import './console.css';
import '../lib/theme';
import type { Item } from '../lib/api';
import { Card, Failed, Pill, State, Time, short } from '../ui/bits';
import { Table, type Column } from '../ui/table';
import { span } from '../lib/time';

const REASONS = ['reviewed', 'provider_confirmed', 'person_request', 'legal_request', 'key_corrected', 'mistake', 'fraud'];
const AT_ONCE = ['attended', 'replay', 'suspend', 'key_end'];
const REVIEWERS = ['requeue', 'revoke'];
const PERSONAL = ['requeue', 'revoke', 'erase'];
const RANK: Record<string, number> = { viewer: 0, reviewer: 1, operator: 2 };
const REFRESH_MS = 15000;

class Refused extends Error {
  constructor(readonly status: number, readonly code: string, message: string) { super(message); }
}

async function ask(path: string, body?: Item): Promise<Item> {
  const answer = await fetch(`/console/api/${path}`, body
    ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : {});
  const said: Item = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, said.code ?? 'no_answer', said.detail ?? `The console answered ${answer.status}.`);
  return said;
}

interface List { items: Item[]; head: Item | null; error: Refused | null; old: boolean; more: (() => void) | null }

/** A list of the console: its first page, asked again when `turn` changes, and further pages on demand. If the first page cannot be
 * had again, what is shown is marked as old. */
function useList(path: string, turn: number): List {
  const [pages, setPages] = useState<Item[]>([]);
  const [error, setError] = useState<Refused | null>(null);
  useEffect(() => {
    let gone = false;
    ask(path).then((page) => { if (!gone) { setPages([page]); setError(null); } }, (e) => { if (!gone) setError(e); });
    return () => { gone = true; };
  }, [path, turn]);
  const last = pages[pages.length - 1];
  const more = !last?.next ? null : () => {
    ask(`${path}?after=${encodeURIComponent(last.next)}`).then((page) => setPages([...pages, page]), setError);
  };
  return { items: pages.flatMap((page) => page.items), head: pages[0] ?? null, error, old: error !== null && pages.length > 0, more };
}

type Act = (path: string, body: Item) => void;
interface Props { act: Act; rank: number; turn: number; me: string }

function Section({ title, list, columns, empty, keyOf, note }: { title: string; list: List; columns: Column[]; empty: string; keyOf: (item: Item) => string; note?: string }) {
  return (
    <Card title={title} wide>
      {note && <p class="dim">{note}</p>}
      {list.error && <Failed problem={list.error} />}
      {list.old && list.head && <p class="notice warn">{`Not refreshed: this is as of ledger ${list.head.ledger}, closed ${list.head.closedAt}.`}</p>}
      <Table caption={title} columns={columns} items={list.items} file={title.toLowerCase().replace(/ /g, '-')} empty={list.error && !list.head ? 'Not known.' : empty} keyOf={keyOf}
        list={{ data: list.head, error: null, loading: !list.head && !list.error, old: list.old, items: list.items, more: list.more, loadingMore: false }} />
    </Card>
  );
}

const text = (label: string, name: string, cell?: (item: Item) => ComponentChildren): Column =>
  ({ label, text: (item) => item[name], cell: cell ?? ((item) => item[name] ?? '–') });
const time = (label: string, name: string) => text(label, name, (item) => <Time of={item} name={name} />);
const id = (label: string, name: string) => text(label, name, (item) => <span class="mono" title={item[name]}>{short(item[name] ?? '–')}</span>);
const chain: Column = {
  label: 'Chain now', text: (item) => item.chain?.status ?? '',
  cell: ({ chain: now }) => (now
    ? <span title={`as of ledger ${now.ledger}, its last change`}><State of={now.status} />{now.frozen && <> <Pill tone="bad">frozen</Pill></>}{now.expired && <> <Pill tone="warn">expired</Pill></>}</span>
    : <span class="dim">no record</span>),
};

/** A member of an action's detail. As texts in the form; `send` makes the value, undefined where it is wrong. */
interface Field { name: string; label: string; value: string; size?: number; send: (text: string) => unknown }
const words = (text_: string) => text_.split(/[\s,]+/).filter(Boolean);
const number = (text_: string) => (/^\d{1,9}$/.test(text_) ? Number(text_) : undefined);
const perhaps = (text_: string) => (text_ === '' ? null : number(text_));

/** A fixed word and a ticket: a free text might name a person, and the audit keeps it for ever. */
function Ask({ label, action, target, act, fields }: { label: string; action: string; target: string; act: Act; fields?: Field[] }) {
  const [open, setOpen] = useState(false);
  const [given, setGiven] = useState<Record<string, string>>({});
  const [reason, setReason] = useState('');
  const [ticket, setTicket] = useState('');
  if (!open) return <button type="button" onClick={() => setOpen(true)}>{label}</button>;
  const values = fields?.map((f) => [f.name, f.send((given[f.name] ?? f.value).trim())] as const);
  const wrong = fields?.filter((_, i) => values?.[i][1] === undefined).map((f) => f.label);
  const send = () => {
    act('actions', { action, target, reason, ...(ticket ? { ticket } : {}), ...(values ? { detail: Object.fromEntries(values) } : {}) });
    setOpen(false);
    setGiven({});
    setReason('');
  };
  return (
    <span class="row ask">
      {fields?.map((f) => <label key={f.name}>{f.label} <input size={f.size ?? 10} value={given[f.name] ?? f.value} onInput={(e) => setGiven({ ...given, [f.name]: e.currentTarget.value })} /></label>)}
      <select aria-label="Reason" value={reason} onChange={(e) => setReason(e.currentTarget.value)}><option value="" disabled>Reason …</option>{REASONS.map((r) => <option key={r} value={r}>{r.replace(/_/g, ' ')}</option>)}</select>
      <input aria-label="Ticket" placeholder="KYC-123" value={ticket} onInput={(e) => setTicket(e.currentTarget.value)} />
      <button type="button" class="send" onClick={send} disabled={!!wrong?.length || !target || !reason} title={wrong?.length ? `to be corrected: ${wrong.join(', ')}` : reason ? undefined : 'choose a reason'}>{AT_ONCE.includes(action) ? 'Confirm' : 'Propose'}</button>
      <button type="button" onClick={() => { setOpen(false); setReason(''); setTicket(''); }}>Cancel</button>
    </span>
  );
}

/** How a session leaves the list, by its reason; null: the provider's own people review. */
const ENDS: Record<string, string> = {
  null: 'Decide in the provider\u2019s dashboard.',
  no_country: 'Enter the country at the provider, or decline there.', country_unknown: 'Correct the country at the provider, or decline there.',
  end_unknown: 'Correct the end of the document at the provider, or decline there.',
  level: 'Approve with the level of the KYC file, or decline at the provider.', environment: 'Correct apiKey or environment in the KYC file; the next check decides.',
  reference: 'The provider has another reference for this check: decline there, and let the person start again.',
  status_unknown: 'The provider sends a status that this version does not know: decide at the provider, or update.',
};
const ends = (item: Item) => (item.kind === 'session' ? ENDS[String(item.reason)] ?? 'Decide at the provider.' : item.kind === 'parked' ? 'Requeue, or let the provider decide anew.' : 'Attended.');

function Review({ act, rank, turn }: Props) {
  const button: Column = {
    label: 'Action', text: () => '',
    cell: (item) => (rank < 1 ? '–' : <span class="row">
      {item.kind === 'parked' && <Ask label="Requeue" action="requeue" target={item.id} act={act} />}
      {item.kind === 'attention' && <Ask label="Attended" action="attended" target={item.id} act={act} />}
      {item.sessionState === 'approved' && <Ask label="Revoke" action="revoke" target={item.sessionId} act={act} />}
      {rank > 1 && <Ask label="Erase" action="erase" target={item.sessionId} act={act} />}</span>),
  };
  return <Section title="Needs review" list={useList('review', turn)} keyOf={(item) => item.id ?? item.sessionId} empty="Nothing needs review."
    columns={[text('Intent', 'id'), text('Kind', 'kind', (item) => <Pill tone={item.kind === 'attention' ? 'bad' : 'warn'}>{item.kind}</Pill>), text('Would', 'action'),
      text('Reason', 'reason'), text('Detail', 'detail'), text('State', 'sessionState', (item) => item.sessionState.replace(/_/g, ' ')), id('Address', 'address'), text('Provider', 'provider'), chain,
      time('Since', 'since'), text('Age', 'ageS', (item) => span(item.ageS)), { label: 'Ends by', text: ends, cell: ends, wrap: true }, button]} />;
}

const shown = (value: unknown) => (Array.isArray(value) ? value.join(' ') || 'any' : value === null ? 'none' : String(value));
/** Texts are quoted: a name must not look like further members to the person who confirms. */
const detail = (of: Item) => Object.entries(of).map(([name, value]) => `${name}: ${typeof value === 'string' ? JSON.stringify(value) : shown(value)}`).join(', ');

/** What a confirmation does. */
const EFFECTS: Record<string, (item: Item) => string> = {
  requeue: (item) => `The parked ${item.would ?? 'intent'} of this address is sent to the chain.`,
  revoke: () => 'What this address has on the chain is taken back: it may no longer trade.',
  erase: () => 'What is kept of this person\u2019s checks is erased for good.',
  integrator_put: (item) => `The integrator ${item.target} gets these values.`,
  key_add: (item) => `A new key of the integrator ${item.target} works from now on.`,
  key_rotate: (item) => `A new key works from now on; ${item.target} ends after the overlap.`,
};
const effect = (item: Item) => EFFECTS[item.action]?.(item) ?? item.action;

/** The second person's decision: first what will happen to whom, then the button that does it. */
function Confirm({ item, act }: { item: Item; act: Act }) {
  const [open, setOpen] = useState(false);
  const gone = PERSONAL.includes(item.action) && !item.address;
  if (!open) return <button type="button" onClick={() => setOpen(true)}>Confirm …</button>;
  return (
    <div class="stack confirm" role="group" aria-label={`Confirm proposal ${item.id}`}>
      <p>{gone ? 'Its target is no longer there.' : effect(item)}</p>
      {item.address && <p class="mono break">{item.address}</p>}
      {item.address && <p>Session {item.sessionState?.replace(/_/g, ' ') ?? 'not known'}; on the chain now: {chain.cell(item, 0)}</p>}
      {item.detail && <p>{detail(item.detail)}</p>}
      <span class="row"><button type="button" class="send" disabled={gone} onClick={() => act('confirm', { proposal: Number(item.id) })}>{`Yes: ${item.action.replace(/_/g, ' ')}`}</button>
        <button type="button" onClick={() => setOpen(false)}>No</button></span>
    </div>
  );
}

function Proposals({ act, rank, turn, me }: Props) {
  const decide: Column = {
    label: 'Action', text: () => '',
    cell: (item) => {
      if (item.state !== 'open' || rank < 1) return '–';
      return <span class="row">{item.proposedBy !== me && (rank > 1 || REVIEWERS.includes(item.action)) && <Confirm item={item} act={act} />}
        <button type="button" onClick={() => act('withdraw', { proposal: Number(item.id) })}>Withdraw</button></span>;
    },
  };
  return <Section title="Proposals" list={useList('proposals', turn)} keyOf={(item) => item.id} empty="None."
    note="Another person confirms, within 24 hours. It counts only if nothing about the target has changed."
    columns={[text('Number', 'id'), text('Action', 'action'), text('Target', 'target', (item) => <span class="mono" title={item.target}>{short(item.target)}</span>), id('Address', 'address'),
      text('Session', 'sessionState', (item) => item.sessionState?.replace(/_/g, ' ') ?? '–'), chain, { label: 'Effect', text: effect, cell: effect, wrap: true },
      { label: 'Detail', text: (item) => (item.detail ? JSON.stringify(item.detail) : ''), cell: (item) => (item.detail ? detail(item.detail) : '–'), wrap: true },
      text('Reason', 'reason'), text('State', 'state', (item) => <Pill>{item.state}</Pill>), text('Proposed by', 'proposedBy'), time('At', 'proposedAt'),
      text('Decided by', 'decidedBy'), { ...decide, label: 'Decide' }]} />;
}

const revoke = ({ act, rank }: Props): Column => ({
  label: 'Action', text: () => '',
  cell: (item) => (rank < 1 || (item.state ?? 'approved') !== 'approved' ? '–' : <Ask label="Revoke" action="revoke" target={item.sessionId} act={act} />),
});

/** Sessions of one address: what is proposed of one concerns all of the address. */
function Address(props: Props) {
  const [text_, setText] = useState('');
  const [address, setAddress] = useState('');
  return (
    <>
      <Card title="Find an address" wide>
        <form class="row" onSubmit={(e) => { e.preventDefault(); setAddress(text_.trim()); }}>
          <input aria-label="Address" placeholder="G… or C…" size={60} value={text_} onInput={(e) => setText(e.currentTarget.value)} />
          <button type="submit">Find</button>
        </form>
        <p class="dim">To revoke takes back what the address has on the chain. It is no ban: a check that the provider decides later counts again.</p>
      </Card>
      {address && <Found key={address} address={address} {...props} />}
    </>
  );
}

const Found = ({ address, ...props }: Props & { address: string }) => <Section title="Sessions of the address" list={useList(`address/${encodeURIComponent(address)}`, props.turn)} keyOf={(item) => item.sessionId} empty="No session of this address is kept."
  columns={[id('Session', 'sessionId'), text('Provider', 'provider'), text('Integrator', 'integrator'), text('State', 'state', (item) => <>{item.state.replace(/_/g, ' ')}{item.revocationOrderedAt && <> <Pill tone="warn">revocation ordered</Pill></>}</>),
    text('Reason', 'reason'), time('Opened', 'openedAt'), time('Ends', 'attestedUntil'), chain, revoke(props)]} />;

const Expiring = (props: Props) => <Section title="Attestations that end within 30 days" list={useList('expiring', props.turn)} keyOf={(item) => item.sessionId} empty="None."
  columns={[id('Session', 'sessionId'), id('Address', 'address'), text('Provider', 'provider'), time('Ends', 'attestedUntil'), chain, revoke(props)]} />;

const integratorFields = (item?: Item): Field[] => [
  { name: 'name', label: 'Name', value: item?.name ?? '', size: 20, send: (t) => t || undefined },
  { name: 'origins', label: 'Origins', value: item?.origins.join(' ') ?? '', size: 30, send: words },
  { name: 'sessionsPerHour', label: 'Sessions an hour', value: String(item?.sessionsPerHour ?? 200), send: number },
  { name: 'state', label: 'State', value: 'active', send: (t) => (t === 'active' || t === 'suspended' ? t : undefined) },
];
const keyFields: Field[] = [
  { name: 'scopes', label: 'Scopes', value: 'kyc', size: 24, send: (t) => (words(t).length ? words(t) : undefined) },
  { name: 'rate', label: 'Requests a second', value: '', send: perhaps },
  { name: 'burst', label: 'Burst', value: '', send: perhaps },
  { name: 'networks', label: 'Networks', value: '', size: 24, send: words },
  { name: 'endsAt', label: 'Ends (2027-01-31T00:00:00Z)', value: '', size: 20, send: (t) => (t === '' ? null : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/.test(t) ? t : undefined) },
];

function Integrators({ act, rank, turn }: Props) {
  const [name, setName] = useState('');
  const button: Column = {
    label: 'Action', text: () => '',
    cell: (item) => (rank < 2 ? '–' : <span class="row">
      <Ask label="Add key" action="key_add" target={item.id} act={act} fields={keyFields} />
      <Ask label="Change" action="integrator_put" target={item.id} act={act} fields={integratorFields(item)} />
      {item.state === 'active' && <Ask label="Suspend" action="suspend" target={item.id} act={act} />}</span>),
  };
  return (
    <>
      <Section title="Integrators" list={useList('integrators', turn)} keyOf={(item) => item.id} empty="None."
        note="What gives rights (a new key, other origins) is proposed, and another operator confirms. What takes rights away happens at once."
        columns={[text('Id', 'id'), text('Name', 'name'), text('Origins', 'origins', (item) => shown(item.origins)), text('Sessions an hour', 'sessionsPerHour'), text('State', 'state', (item) => <Pill>{item.state}</Pill>),
          text('Keys', 'keys'), time('Changed', 'updatedAt'), button]} />
      {rank > 1 && <Card title="New integrator" wide><span class="row">
        <input aria-label="Id of the integrator" placeholder="acme" value={name} onInput={(e) => setName(e.currentTarget.value.trim())} />
        <Ask label="New integrator" action="integrator_put" target={name} act={act} fields={integratorFields()} /></span></Card>}
    </>
  );
}

function Keys({ act, rank, turn }: Props) {
  const button: Column = {
    label: 'Action', text: () => '',
    cell: (item) => (rank < 2 || item.state === 'ended' ? '–' : <span class="row">
      <Ask label="Rotate" action="key_rotate" target={item.id} act={act} fields={[{ name: 'overlapS', label: 'Both hold for seconds', value: '86400', send: number }]} />
      <Ask label="End" action="key_end" target={item.id} act={act} /></span>),
  };
  return <Section title="Keys" list={useList('keys', turn)} keyOf={(item) => item.id} empty="None."
    columns={[text('Key', 'id', (item) => <span class="mono">{item.id}</span>), text('Integrator', 'integrator'), text('State', 'state', (item) => <Pill>{item.state}</Pill>), text('Scopes', 'scopes', (item) => shown(item.scopes)),
      text('Rate', 'rate', (item) => (item.rate === null ? 'default' : `${item.rate} a second, ${item.burst} at once`)), text('Networks', 'networks', (item) => shown(item.networks)),
      text('Made by', 'createdBy'), time('Made', 'createdAt'), time('Ends', 'endsAt'), time('Ended', 'revokedAt'), text('Last used on', 'lastUsedOn'), button]} />;
}

function Webhooks(props: Props) {
  const [hook, setHook] = useState<Item | null>(null);
  return (
    <>
      <Section title="Webhooks" list={useList('webhooks', props.turn)} keyOf={(item) => item.id} empty="No integrator has registered one."
        columns={[id('Webhook', 'id'), text('Integrator', 'integrator'), text('Host', 'host'), text('State', 'state', (item) => <Pill tone={item.state === 'enabled' ? 'good' : 'bad'}>{item.state}</Pill>), text('Reason', 'reason'),
          text('Failures in a row', 'failures'), time('Paused until', 'pausedUntil'), text('Addresses', 'addresses'), text('Waiting', 'queued'), time('Oldest', 'oldest'),
          { label: 'Action', text: () => '', cell: (item) => <button type="button" onClick={() => setHook(item)}>Deliveries</button> }]} />
      {hook && <Deliveries key={hook.id} hook={hook} {...props} />}
    </>
  );
}

function Deliveries({ hook, act, rank, turn }: Props & { hook: Item }) {
  const button: Column = { label: 'Action', text: () => '', cell: (item) => (rank < 1 ? '–' : <Ask label={item.state === 'queued' ? 'Try now' : 'Send again'} action="replay" target={item.id} act={act} />) };
  return <Section title={`Deliveries to ${hook.host}`} list={useList(`webhooks/${hook.id}/deliveries`, turn)} keyOf={(item) => item.id} empty="None in 30 days."
    note="What was sent is not shown. Sent again, a notification has the same id, and the integrator may take it for the same."
    columns={[text('Delivery', 'id'), id('Notification', 'eventId'), text('Type', 'type'), text('State', 'state', (item) => <Pill tone={item.state === 'delivered' ? 'good' : 'warn'}>{item.state}</Pill>), text('Attempts', 'attempts'),
      text('Last status', 'status'), text('Last error', 'error'), time('Next attempt', 'nextAttemptAt'), time('Made', 'createdAt'), time('Delivered', 'deliveredAt'), button]} />;
}

/** A key as its proposer sees it, once. It is in no list, and gone with this page. */
function Secret({ value, done }: { value: string; done: () => void }) {
  return (
    <Card title="The new key" aside={<button type="button" onClick={done}>Close</button>} wide>
      <p>Shown once: hand it to the integrator over a safe channel. It works after another operator has confirmed the proposal.</p>
      <p><code id="new-key">{value}</code></p>
    </Card>
  );
}

const states = (item: Item) => Object.entries(item.states).map(([state, n]) => `${state.replace(/_/g, ' ')} ${n}`).join(', ');
const Sessions = ({ turn }: Props) => <Section title="Sessions of 30 days" list={useList('sessions', turn)} keyOf={(item) => item.day + item.provider} empty="None."
  columns={[text('Opened on', 'day'), text('Provider', 'provider'), { label: 'State now', text: states, cell: states, wrap: true }]} />;

const Providers = ({ turn }: Props) => <Section title="Providers" list={useList('providers', turn)} keyOf={(item) => item.provider} empty="No session waits for a provider."
  columns={[text('Provider', 'provider'), text('Sessions asked about', 'sessions'), text('Failing', 'failing'), text('Most attempts', 'attempts'), time('Last decision', 'decisionAt'),
    text('Webhooks waiting', 'webhooksWaiting'), time('Oldest', 'oldestWaiting'), text('Given up', 'webhooksFailed')]} />;

const Attesters = ({ turn }: Props) => <Section title="Attesters" list={useList('attesters', turn)} keyOf={(item) => item.verifier} empty="No attester has run."
  columns={[id('Key', 'verifier'), text('State', 'state'), time('Heard of', 'heartbeatAt'), text('Ledger', 'ledger'), text('Confirmed', 'confirmed'), text('Parked', 'parked'),
    text('Failures', 'failures'), text('Standing revocations', 'standing')]} />;

function Audit({ turn }: Props) {
  const [said, setSaid] = useState<ComponentChildren>(null);
  const check = () => {
    setSaid('Reading the audit from its first row …');
    ask('audit/check').then(({ items: [item] }) => setSaid(item.intact
      ? <Pill tone="good">{`intact: ${item.rows} rows, head ${item.head}`}</Pill> : <Pill tone="bad">{`altered: row ${item.broken} does not follow from the one before`}</Pill>),
    (error) => setSaid(error.message));
  };
  return (
    <>
      <Card title="Audit chain" aside={<button type="button" onClick={check}>Check</button>} wide><p id="audit-check" role="status">{said ?? 'Each row includes the hash of the row before.'}</p></Card>
      <Section title="Audit" list={useList('audit', turn)} keyOf={(item) => item.id} empty="Empty."
        columns={[text('Row', 'id'), time('At', 'at'), text('Who', 'actor'), text('What', 'what'), text('About', 'about', (item) => <span class="mono" title={item.about}>{short(item.about, 8, 4)}</span>),
          { label: 'Detail', text: (item) => JSON.stringify(item.detail), cell: (item) => JSON.stringify(item.detail), wrap: true }]} />
    </>
  );
}

function App() {
  const [turn, setTurn] = useState(0);
  const [said, setSaid] = useState<{ text: string; bad: boolean } | null>(null);
  const [secret, setSecret] = useState('');
  const { head, error } = useList('review', turn);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) setTurn((n) => n + 1); }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const act: Act = (path, body) => {
    ask(path, body).then((answer) => {
      setSaid({ text: `${path === 'actions' && !AT_ONCE.includes(answer.action) ? 'Proposed' : 'Done'}: ${answer.action}.`, bad: false });
      if (answer.key) setSecret(answer.key);
    }, (e) => setSaid({ text: e.message, bad: true })).finally(() => setTurn((n) => n + 1));
  };
  const props: Props = { act, rank: RANK[head?.you.role] ?? 0, turn, me: head?.you.name ?? '' };
  return (
    <div class="console">
      <header class="row">
        <h1>Tidemark console</h1>
        {head && <>
          {/simulated/i.test(head.network) && <Pill tone="warn" title={head.network}>Simulated data</Pill>}
          <span class="dim" id="as-of">ledger {head.ledger}, closed {span(head.ageMs / 1000)} ago</span>
          <span id="me">{head.you.name} <Pill tone="info">{head.you.role}</Pill></span>
        </>}
      </header>
      <main>
        {error && <Failed problem={error} />}
        <p id="said" role="status" class={said ? `notice${said.bad ? ' warn' : ''}` : 'hidden'}>{said?.text}</p>
        {secret && <Secret value={secret} done={() => setSecret('')} />}
        {head && <><Review {...props} /><Proposals {...props} /><Address {...props} /><Expiring {...props} /><Sessions {...props} /><Providers {...props} /><Attesters {...props} /><Integrators {...props} /><Keys {...props} /><Webhooks {...props} /><Audit {...props} /></>}
      </main>
    </div>
  );
}

render(<App />, document.getElementById('app') as HTMLElement);
