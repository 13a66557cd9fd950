/** What happened: a line for each transaction in words, and its events as they are. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useApi, useList, type Item, type Live, type Params } from '../lib/api';
import { exact } from '../lib/amount';
import { kindText } from '../lib/fields';
import { names, wantNames, type Names } from '../lib/names';
import { setQuery, useLedger, useQuery } from '../lib/router';
import { useStore } from '../lib/store';
import { seconds } from '../lib/time';
import { WORDS, plain, sentenceOf, type Part } from '../lib/words';
import { A, Address, Ago, Ledger, Pill, Tx, Waiting, short } from './bits';
import { Table, type Column } from './table';

const words = (name: string) => name.replace(/([A-Z])/g, ' $1').toLowerCase();

/** The fields of an event or the arguments of a call, one line; amounts with their decimals. */
export function fieldsText(fields: Item | null | undefined, cutAt = 140): string {
  if (!fields) return '';
  const all: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (name.endsWith('Scaled') || value === null) continue;
    const scaled = fields[`${name}Scaled`];
    const text = scaled != null ? exact(String(scaled)) : scaled === null ? `${value} raw units` : typeof value === 'object' ? JSON.stringify(value) : String(value);
    all.push(`${words(name)} ${text.replace(/\b[GC][A-Z2-7]{55}\b/g, (address) => short(address))}`);
  }
  const text = all.join(', ');
  return text.length > cutAt ? `${text.slice(0, cutAt)}…` : text;
}

/** A list's events by transaction. The last one may go on in the next page: it is left out until that is there. */
function byTransaction(items: Item[], more: boolean): Item[] {
  const all: Item[] = [];
  for (const e of items) {
    const last = all[all.length - 1];
    if (last && last.ledger === e.ledger && last.tx === e.tx) last.events.push(e);
    else all.push({ ledger: e.ledger, tx: e.tx, closedAt: e.closedAt, txHash: e.txHash, events: [e] });
  }
  if (more && all.length > 1) all.pop();
  return all;
}

const isCall = (e: Item) => e.type === 'call';

/** What is told where the table of words has nothing: the kind and its fields, or a call. */
const without = (t: Item): string => {
  const e = t.events.find((one: Item) => !isCall(one));
  if (!e) return t.events.map((call: Item) => `${call.ok ? 'Called' : 'Tried'} ${(call.function ?? 'to create a contract').replace(/_/g, ' ')}`).join('; ');
  return [kindText(e.kind), e.subject, fieldsText(e.fields)].filter(Boolean).join(' ');
};
const refused = (t: Item) => t.events.some((e: Item) => isCall(e) && !e.ok);
const partsOf = (t: Item, all: Names, also?: Map<string, Item>): Part[] =>
  sentenceOf(t.events.map((e: Item) => (also?.has(t.txHash) ? { ...e, fields: e.fields && { ...also.get(t.txHash), ...e.fields } } : e)), all) ?? [without(t)];

export function Sentence({ parts }: { parts: Part[] }) {
  return <span class="says">{parts.map((part, i) => (typeof part === 'string' ? part
    : part.to ? <A key={i} to={part.to} class={part.address ? 'mono' : undefined} data-copy={part.address}>{part.text}</A>
      : <b key={i} class="num" data-copy={part.exact} title={part.exact}>{part.text}</b>))}</span>;
}

const rawColumns: Column[] = [
  { label: 'Event', cell: (e) => kindText(e.kind), text: (e) => e.kind },
  { label: 'Of', cell: (e) => e.subject ?? '', text: (e) => e.subject },
  { label: 'Contract', cell: (e) => <Address of={e.contract} />, text: (e) => e.contract },
  { label: 'Addresses', cell: (e) => (e.addresses ?? []).map((x: string) => <span key={x}><Address of={x} /> </span>), text: (e) => (e.addresses ?? []).join(' ') },
  { label: 'What', wrap: true, cell: (e) => <span class="dim says">{e.undecodedBecause ?? fieldsText(e.fields, 400)}</span>, text: (e) => JSON.stringify(e.fields ?? {}) },
];
export const RawEvents = ({ events, caption, file }: { events: Item[]; caption: string; file: string }) => <Table caption={caption} file={file} items={events} columns={rawColumns} />;

function Unfolded({ hash }: { hash: string }) {
  const answer = useApi(`/api/transactions/${hash}`);
  const t = answer.data?.transaction;
  return <Waiting answer={answer}>{t && <><p>Transaction <Tx of={hash} /> in ledger <Ledger of={t} name="ledger" /></p><RawEvents events={t.events} caption={`Events of transaction ${short(hash, 6, 4)}`} file={`tx-${hash}-events`} /></>}</Waiting>;
}

const ACTIONS = Object.entries(WORDS).map(([kind, { label }]) => [kind, label]).sort((a, b) => (a[1] < b[1] ? -1 : 1));

/** By kind of action, and by pool or market, as the URL has them. */
function Filters({ all }: { all: Names }) {
  const action = useQuery('action'), pool = useQuery('pool'), market = useQuery('market');
  const where = pool ? `pool ${pool}` : market ? `market ${market}` : '';
  const choose = (value: string) => {
    const [kind, name] = value.split(/ (.*)/);
    setQuery({ pool: kind === 'pool' ? name : null, market: kind === 'market' ? name : null, open: null }, true);
  };
  const options = (kind: string, list: string[], chosen: string) => [...new Set([...list, ...(chosen ? [chosen] : [])])].map((name) => <option key={name} value={`${kind} ${name}`}>{name}</option>);
  return (
    <div class="row" role="group" aria-label="Which activity">
      <label>Action <select value={action} onChange={(event) => setQuery({ action: event.currentTarget.value, open: null }, true)}><option value="">all</option>
        {ACTIONS.map(([kind, label]) => <option key={kind} value={kind}>{label}</option>)}</select></label>
      <label>Where <select value={where} onChange={(event) => choose(event.currentTarget.value)}><option value="">everywhere</option>
        <optgroup label="Pools">{options('pool', [...all.pools.keys()], pool)}</optgroup><optgroup label="Markets">{options('market', all.markets, market)}</optgroup></select></label>
    </div>
  );
}

const ENGINE = /^synthetic_engine_/;
const SEARCHED = 1000; // events of all markets that are read for one

/** Which route and parameters: the API selects kinds and pools, and the engine's events for a market. */
function useQuestion(params: Params, address: string | undefined, filters: boolean): { path: string | null; params: Params; market: string } {
  const action = useQuery('action'), pool = useQuery('pool'), market = useQuery('market');
  const contracts = useApi(filters && market && !action ? '/api/sdk/contracts' : null);
  if (!filters || !(action || pool || market)) return { path: address ? `/api/addresses/${address}/activity` : '/api/events', params, market: '' };
  const engine = contracts.data?.contracts?.syntheticEngine?.address ?? null;
  return { path: market && !action && !engine ? null : '/api/events', params: { ...params, address, kind: action, pool: pool || null, contract: market && !action ? engine : null, limit: market ? 200 : params.limit }, market };
}

interface ActivityProps { caption: string; file: string; live: Live; params?: Params; address?: string; show?: number; filters?: boolean; also?: Map<string, Item> }

/** `show`: so many lines at first. `also`: fields that a transaction's events get from elsewhere. */
export function Activity({ caption, file, live, params = { limit: 60 }, address, show, filters = true, also }: ActivityProps) {
  const all = useStore(names), past = useLedger() !== null, open = useQuery('open');
  const question = useQuestion(params, address, filters);
  const list = useList(question.path, question.params, live);
  useEffect(() => { if (list.data) wantNames(); }, [list.data === null]); // a slow line carries figures first
  const [shown, setShown] = useState(show);
  const lines = useMemo(() => byTransaction(list.items, list.more !== null).filter((t) => !question.market || t.events.some((e: Item) => ENGINE.test(e.kind ?? '') && e.subject === question.market)),
    [list.items, list.more === null, question.market]);
  const few = question.market !== '' && lines.length < 12 && list.items.length < SEARCHED;
  useEffect(() => { if (few && list.more && !list.loadingMore) list.more(); }, [few, list.items]);
  const from = past && list.data ? seconds(list.data.closedAt) : undefined;
  const next = shown !== undefined && lines.length > shown ? () => setShown(undefined) : list.more && (() => { setShown(undefined); list.more?.(); });
  const columns: Column[] = [
    { label: 'Age', cell: (t) => <Ago of={t} name="closedAt" from={from} />, text: (t) => t.closedAt },
    { label: 'What happened', wrap: true, cell: (t) => <><Sentence parts={partsOf(t, all, also)} />{refused(t) && <> <Pill tone="bad">refused</Pill></>}</>, text: (t) => plain(partsOf(t, all, also)) },
    { label: 'Transaction', cell: (t) => <Tx of={t.txHash} />, text: (t) => t.txHash, roomy: true },
    { label: 'Ledger', cell: (t) => <Ledger of={t} name="ledger" />, text: (t) => t.ledger, right: true, roomy: true },
    { label: 'Raw', cell: (t) => t.txHash && <button type="button" class="fold" aria-expanded={open === t.txHash} aria-label={`Events of transaction ${short(t.txHash, 6, 4)}`}
      onClick={() => setQuery({ open: open === t.txHash ? null : t.txHash }, true)}>{open === t.txHash ? '▾' : '▸'}</button>, text: (t) => t.events.map((e: Item) => e.kind ?? e.function).join(' ') },
  ];
  return (
    <>
      {filters && <Filters all={all} />}
      <Waiting answer={all.loaded || !list.data ? list : { ...list, data: null }} lines={show ?? 8}>
        <Table caption={caption} columns={columns} items={lines} list={{ ...list, more: next, all: undefined }} limit={shown} file={file} keyOf={(t) => `${t.ledger}.${t.tx}`}
          detail={(t) => t.txHash === open && <Unfolded hash={open} />} empty={few && list.more ? 'Loading…' : 'Nothing happened.'} />
        {question.market && <p class="dim">Found among the newest {list.items.length} events of {question.params.kind ? 'this kind' : 'vaults'}.</p>}
      </Waiting>
    </>
  );
}

/** What a transaction did, from all of its events in their order. */
export function Summary({ events }: { events: Item[] }) {
  const all = useStore(names);
  useEffect(wantNames, []);
  const parts = sentenceOf([...events].reverse(), all);
  if (!all.loaded) return <div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><div /></div>;
  return parts && <p class="lead"><Sentence parts={parts} /></p>;
}
