/** A chart with its units, keyboard access and the same figures as a table. The drawing library is loaded on demand. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { theme } from '../lib/theme';
import { useStore } from '../lib/store';
import { get, type Item } from '../lib/api';
import { startOf } from '../lib/fields';
import { setQuery } from '../lib/router';
import { Table, type Column } from './table';

export interface Drawing {
  /** Moves the cursor to the point; null hides it. */
  point: (index: number | null) => void;
  /** Shows other figures in the same chart; false if it takes another chart. */
  update: (data: never) => boolean;
  remove: () => void;
}

/** The index of a point, null: of none; picked by a click or tap. */
export type At = (index: number | null, picked?: boolean) => void;

export interface FigureProps {
  title: string;
  units: string;
  /** Rows from left to right; what is drawn and what the table shows. */
  rows: Item[];
  columns: Column[];
  /** Loads the library and draws into the element; tells the point that a mouse or finger is at. */
  draw: (element: HTMLElement, data: never, at: At) => Promise<Drawing>;
  /** What is drawn, for `draw` and the drawing's `update`. */
  data: unknown;
  describe: (row: Item) => string;
  file: string;
  aside?: ComponentChildren;
  legend?: { name: string; colour: string }[];
  empty?: string;
}

const DAY_S = 86400;

/** The ledger at whose close a point holds: the last of a candle, or of a day. */
async function ledgerAt(row: Item): Promise<string | null> {
  const known = row.lastLedger ?? row.ledger;
  return known ?? (await get('/api/ledgers', { to: startOf(row) + DAY_S, limit: 1 })).items[0]?.ledger ?? null;
}
const nameOf = (row: Item): string => row.startsAt ?? row.day ?? row.closedAt ?? JSON.stringify(row);
const hasLedger = (row: Item | undefined) => row !== undefined && (row.lastLedger ?? row.ledger ?? row.day) != null;

export function Figure(props: FigureProps) {
  const { title, units, rows, columns, draw, data, describe, file, aside, legend, empty = 'No data yet.' } = props;
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number | null>(null); // pointed at
  const [picked, setPicked] = useState<string | null>(null); // its time: stays when the mouse leaves and when newer figures come
  const [spoken, setSpoken] = useState(false); // the keys read; a mouse would make a screen reader talk without end
  const travel = useRef<HTMLButtonElement>(null);
  const [failed, setFailed] = useState(false);
  const colours = useStore(theme);
  const none = rows.length === 0;
  const current = useRef(rows);
  current.current = rows;
  const version = JSON.stringify(data);
  const latest = useRef({ version, data });
  latest.current = { version, data };
  const [other, setOther] = useState(0); // charts that could not be updated
  const drawn = useRef('');
  const update = () => {
    if (!drawing.current || drawn.current === latest.current.version) return;
    drawn.current = latest.current.version;
    if (!drawing.current.update(latest.current.data as never)) setOther((n) => n + 1);
  };
  useEffect(() => {
    if (asTable || none || !box.current) return undefined;
    let gone = false;
    const begun = latest.current;
    const point: At = (index, pick) => { setSpoken(false); setAt(index); if (pick && index !== null) setPicked(nameOf(current.current[index])); };
    draw(box.current, begun.data as never, point).then((made) => {
      if (gone) { made.remove(); return; }
      drawing.current = made;
      drawn.current = begun.version;
      update(); // newer figures may have come while the library was loading
    }, () => setFailed(true));
    return () => { gone = true; drawing.current?.remove(); drawing.current = null; };
  }, [other, colours, asTable, none]);
  useEffect(update, [version]);
  useEffect(() => setAt(null), [rows.length]);
  const kept = picked === null ? -1 : rows.findIndex((one) => nameOf(one) === picked);
  const here = at ?? (kept < 0 ? null : kept), row = rows[here ?? rows.length - 1];
  const go = (to: number | null) => {
    setSpoken(true);
    setAt(to);
    drawing.current?.point(to);
  };
  const onKey = (event: KeyboardEvent) => {
    const last = rows.length - 1, now = here ?? last;
    const to = { ArrowLeft: Math.max(0, now - 1), ArrowRight: here === null ? last : Math.min(last, now + 1), Home: 0, End: last }[event.key];
    if (event.key === 'Escape') { setPicked(null); go(null); } else if (event.key === 'Enter') { setPicked(nameOf(rows[now])); travel.current?.focus(); event.preventDefault(); }
    else if (to !== undefined) { go(to); event.preventDefault(); }
  };
  return (
    <figure class="figure">
      <figcaption>
        <h2>{title} <span class="units">{units}</span></h2>
        <div class="figure-aside">
          {aside}
          {!none && <button type="button" aria-pressed={asTable} onClick={() => { setAsTable(!asTable); setAt(null); }} aria-label={`Show ${title} as a table`}>Table</button>}
        </div>
      </figcaption>
      {legend && !asTable && <ul class="legend">{legend.map((entry) => <li key={entry.name}><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" class={`fill-${entry.colour}`} /></svg>{entry.name}</li>)}</ul>}
      {!none && !asTable && <div class="readout">
        <p class={here === null ? 'dim' : undefined} aria-live={spoken ? 'polite' : 'off'}>{row && (here !== null || hasLedger(row)) ? describe(row) : ''}</p>
        {hasLedger(row) && <button type="button" ref={travel} onClick={() => void ledgerAt(row).then((ledger) => ledger && setQuery({ ledger }), () => {})}>Everything as of here</button>}
      </div>}
      {none ? <p class="notice">{empty}</p> : asTable
        ? <Table caption={title} columns={columns} items={[...rows].reverse()} file={file} limit={200} />
        : <div class="canvas" ref={box} tabIndex={0} role="application" aria-roledescription="chart" onKeyDown={onKey} onBlur={() => { setAt(null); drawing.current?.point(null); }}
            aria-label={`${title}, ${units}. ${rows.length} points. Arrow keys read them, Enter offers everything as of one; the button "Table" lists them.`} />}
      {failed && <p class="notice warn">The chart could not be drawn. The table has its figures.</p>}
    </figure>
  );
}
