/** A chart with its units, keyboard access and the same figures as a table. The drawing library is loaded on demand. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { theme } from '../lib/theme';
import { useStore } from '../lib/store';
import type { Item } from '../lib/api';
import { Table, type Column } from './table';

export interface Drawing {
  /** Moves the cursor to the point; null hides it. */
  point: (index: number | null) => void;
  /** Shows other figures in the same chart; false if it takes another chart. */
  update: (data: never) => boolean;
  remove: () => void;
}

export interface FigureProps {
  title: string;
  units: string;
  /** Rows from left to right; what is drawn and what the table shows. */
  rows: Item[];
  columns: Column[];
  /** Loads the library and draws into the element. */
  draw: (element: HTMLElement, data: never) => Promise<Drawing>;
  /** What is drawn, for `draw` and the drawing's `update`. */
  data: unknown;
  describe: (row: Item) => string;
  file: string;
  aside?: ComponentChildren;
  legend?: { name: string; colour: string }[];
  empty?: string;
}

export function Figure(props: FigureProps) {
  const { title, units, rows, columns, draw, data, describe, file, aside, legend, empty = 'No data yet.' } = props;
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const [failed, setFailed] = useState(false);
  const colours = useStore(theme);
  const none = rows.length === 0;
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
    draw(box.current, begun.data as never).then((made) => {
      if (gone) { made.remove(); return; }
      drawing.current = made;
      drawn.current = begun.version;
      update(); // newer figures may have come while the library was loading
    }, () => setFailed(true));
    return () => { gone = true; drawing.current?.remove(); drawing.current = null; };
  }, [other, colours, asTable, none]);
  useEffect(update, [version]);
  const go = (to: number | null) => {
    setAt(to);
    drawing.current?.point(to);
  };
  const onKey = (event: KeyboardEvent) => {
    const last = rows.length - 1, now = at ?? last;
    const to = { ArrowLeft: Math.max(0, now - 1), ArrowRight: at === null ? last : Math.min(last, now + 1), Home: 0, End: last }[event.key];
    if (event.key === 'Escape') go(null);
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
      {none ? <p class="notice">{empty}</p> : asTable
        ? <Table caption={title} columns={columns} items={[...rows].reverse()} file={file} limit={200} />
        : <div class="canvas" ref={box} tabIndex={0} role="application" aria-roledescription="chart" onKeyDown={onKey} onBlur={() => go(null)}
            aria-label={`${title}, ${units}. ${rows.length} points. Arrow keys read them; the button "Table" lists them.`} />}
      {failed && <p class="notice warn">The chart could not be drawn. The table has its figures.</p>}
      <p class={at === null ? 'readout hidden' : 'readout'} aria-live="polite">{at === null || !rows[at] ? '' : describe(rows[at])}</p>
    </figure>
  );
}
