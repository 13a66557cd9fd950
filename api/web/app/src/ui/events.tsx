/** Lists of events, and what an event says. */
import type { Item, ListAnswer } from '../lib/api';
import { exact } from '../lib/amount';
import { kindText } from '../lib/fields';
import { Address, Ledger, Time, Tx, short } from './bits';
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

const columnsOf = (caller?: string): Column[] => [
  { label: 'Time (UTC)', cell: (e) => <Time of={e} name="closedAt" />, text: (e) => e.closedAt },
  { label: 'Event', cell: (e) => kindText(e.kind ?? (e.function ? `call ${e.function}` : null)), text: (e) => e.kind ?? e.function },
  { label: 'Of', cell: (e) => e.subject ?? (e.ok === false ? 'refused' : ''), text: (e) => e.subject },
  { label: 'By', cell: (e) => <Address of={e.addresses?.[0] ?? (e.function ? caller : null)} />, text: (e) => (e.addresses ?? (e.function ? [caller] : [])).join(' ') },
  { label: 'What', wrap: true, cell: (e) => <span class="dim says">{fieldsText(e.fields)}</span>, text: (e) => JSON.stringify(e.fields ?? {}) },
  { label: 'Transaction', cell: (e) => <Tx of={e.txHash} />, text: (e) => e.txHash },
  { label: 'Ledger', cell: (e) => <Ledger of={e} name="ledger" />, text: (e) => e.ledger, right: true },
];

/** `caller`: whose calls are among the events. */
export function Events({ list, caption, file, limit, caller }: { list: ListAnswer; caption: string; file: string; limit?: number; caller?: string }) {
  return <Table caption={caption} columns={columnsOf(caller)} items={list.items} list={limit ? undefined : list} file={file} limit={limit} empty={list.loading ? 'Loading…' : 'Nothing happened.'} />;
}
