/** Tables: a caption, columns, CSV, further pages. */
import { Fragment, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Item, ListAnswer } from '../lib/api';
import { scale } from '../lib/amount';
import { csv, download } from '../lib/csv';
import { fresh } from '../lib/fresh';
import { ledgerOf, place } from '../lib/router';
import { InTable } from './bits';

export interface Column {
  label: string;
  cell: (item: Item, index: number) => ComponentChildren;
  /** The field's text in a file; without it `cell` is a text by itself. */
  text: (item: Item) => unknown;
  right?: boolean;
  /** The text is basis points: a file has percent. */
  percent?: boolean;
  /** Long texts: they take several lines. */
  wrap?: boolean;
  /** Left out on a phone. */
  roomy?: boolean;
  /** Sorts the rows that are there. */
  order?: (item: Item) => bigint | string | number | null;
}

const compare = (a: bigint | string | number | null, b: bigint | string | number | null) => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
};

/** `detail`: what is unfolded below a row. */
interface Props { caption: string; columns: Column[]; items: Item[]; file: string; list?: ListAnswer; empty?: string; keyOf?: (item: Item, i: number) => string; limit?: number; detail?: (item: Item) => ComponentChildren }

const fileText = (column: Column, item: Item): string => {
  const text = String(column.text(item) ?? '');
  return column.percent && /^-?\d+$/.test(text) ? scale(text, 2) : text;
};

const classOf = ({ right, wrap, roomy }: Column) => [right && 'right', wrap && 'wrap', roomy && 'roomy'].filter(Boolean).join(' ') || undefined;

export function Table({ caption, columns, items, file, list, empty = 'None.', keyOf, limit, detail }: Props) {
  const [sort, setSort] = useState<{ at: number; down: boolean } | null>(null);
  const [saving, setSaving] = useState('');
  const sorted = (all: Item[]): Item[] => {
    if (!sort) return all;
    const by = columns[sort.at].order as NonNullable<Column['order']>;
    return [...all].sort((a, b) => (sort.down ? -1 : 1) * compare(by(a), by(b)));
  };
  const rows = sorted(items);
  const shown = limit ? rows.slice(0, limit) : rows;
  const write = (all: Item[], ledger = ledgerOf(place.get())) => {
    const lines = all.map((item) => columns.map((c) => fileText(c, item)));
    download(`tidemark-${file}${ledger ? `-ledger-${ledger}` : ''}.csv`, csv([columns.map((c) => (c.percent ? `${c.label} (%)` : c.label)), ...lines]));
  };
  /** All rows of the question at one ledger, not those alone that were loaded. */
  const save = () => {
    if (!list?.more || !list.all) return write(rows);
    setSaving('Loading…');
    const newest = fresh.get().ledger, ledger = ledgerOf(place.get()) ?? (newest ? String(newest) : null);
    list.all(ledger).then((whole) => {
      write(sorted(whole.items), ledger);
      setSaving(whole.more ? `The file has the first ${whole.items.length} rows.` : '');
    }, (error) => setSaving(`Not exported: ${error.message}`));
  };
  return (
    <div class="table">
      <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead><tr>{columns.map((column, i) => (
            <th key={column.label} scope="col" class={classOf(column)}
              aria-sort={sort?.at === i ? (sort.down ? 'descending' : 'ascending') : undefined}>
              {column.order
                ? <button type="button" class="sort" onClick={() => setSort(sort?.at === i ? (sort.down ? { at: i, down: false } : null) : { at: i, down: true })}>
                    {column.label}<span aria-hidden="true">{sort?.at === i ? (sort.down ? ' ↓' : ' ↑') : ' ↕'}</span></button>
                : column.label}
            </th>))}</tr></thead>
          <tbody>
            <InTable.Provider value>{shown.map((item, i) => {
              const more = detail?.(item);
              return (
                <Fragment key={keyOf ? keyOf(item, i) : (item.id ?? i)}>
                  <tr>{columns.map((column) => <td key={column.label} class={classOf(column)}>{column.cell(item, i)}</td>)}</tr>
                  {more && <tr class="detail"><td colSpan={columns.length}>{more}</td></tr>}
                </Fragment>
              );
            })}</InTable.Provider>
            {shown.length === 0 && <tr><td colSpan={columns.length} class="dim">{list?.loading ? 'Loading…' : empty}</td></tr>}
          </tbody>
        </table>
      </div>
      <div class="table-foot">
        <span class="dim">{rows.length === 0 ? '' : `${shown.length} row${shown.length === 1 ? '' : 's'}${list?.more ? ', more exist' : ''}`}</span>
        {list?.more && <button type="button" onClick={list.more} disabled={list.loadingMore}>{list.loadingMore ? 'Loading…' : 'Show more'}</button>}
        {saving && <span class="dim" role="status">{saving}</span>}
        <button type="button" onClick={save} disabled={rows.length === 0 || saving === 'Loading…'} aria-label={`Export CSV: ${caption}`}>Export CSV</button>
      </div>
    </div>
  );
}
