/** Charts of the pages: each loads its library when it is drawn. */
import type { ComponentChildren } from 'preact';
import type { Item } from '../lib/api';
import { cut } from '../lib/amount';
import { pointOf, priceOf, startOf } from '../lib/fields';
import { stamp } from '../lib/time';
import { Figure, type FigureProps } from './figure';
import type { Column } from './table';
import type { Plot } from '../charts/plot';
import type { Candle, Line } from '../charts/candles';
import { Amount, Count, Time } from './bits';

export interface SeriesOf { name: string; field: string; colour: string; bars?: boolean; area?: boolean; step?: boolean }

const when = (row: Item) => (row.day ? row.day : stamp(startOf(row)).slice(0, 16));
const timeColumn: Column = { label: 'Time (UTC)', cell: (r) => (r.day ? <span class="num" data-figure="day" data-raw={r.day}>{r.day}</span> : <Time of={{ at: startOf(r) }} name="at" />), text: when };
const valueColumn = (s: SeriesOf): Column => ({
  label: s.name, right: true,
  cell: (r) => (r[`${s.field}Scaled`] === undefined ? <Count of={r} name={s.field} /> : <Amount of={r} name={s.field} digits={4} />),
  text: (r) => r[`${s.field}Scaled`] ?? r[s.field],
});
const numberOf = (row: Item, field: string) => pointOf(row, field) ?? (typeof row[field] === 'number' ? (row[field] as number) : row[field] != null && row[`${field}Scaled`] === undefined ? Number(row[field]) : null);

const drawPlot = async (element: HTMLElement, plot: Plot) => (await import('../charts/plot')).drawPlot(element, plot);
const drawCandles = async (element: HTMLElement, candles: Candle[]) => (await import('../charts/candles')).drawCandles(element, candles);
const drawPrices = async (element: HTMLElement, lines: Line[]) => (await import('../charts/candles')).drawPrices(element, lines);

interface Common { title: string; units: string; rows: Item[]; file: string; aside?: ComponentChildren; empty?: string }

/** Fields of rows over time (oldest first). */
export function TimePlot({ title, units, rows, file, series, aside, empty }: Common & { series: SeriesOf[] }) {
  const plot: Plot = {
    x: rows.map(startOf), time: true,
    series: series.map((s) => ({ name: s.name, colour: s.colour, bars: s.bars, area: s.area, step: s.step, values: rows.map((r) => numberOf(r, s.field)) })),
  };
  return <Figure title={title} units={units} rows={rows} file={file} aside={aside} empty={empty} data={plot}
    columns={[timeColumn, ...series.map(valueColumn)]}
    legend={series.length > 1 ? series.map((s) => ({ name: s.name, colour: s.colour })) : undefined}
    describe={(r) => `${when(r)}: ${series.map((s) => `${s.name} ${r[`${s.field}Scaled`] == null ? (r[`${s.field}Scaled`] === null ? 'not known' : r[s.field] ?? 'none') : cut(r[`${s.field}Scaled`], 4)}`).join(', ')}`}
    draw={drawPlot} />;
}

/** Anything over a number that is no time. */
export function XyPlot(props: Omit<FigureProps, 'draw' | 'data'> & { plot: Plot }) {
  const { plot, ...rest } = props;
  return <Figure {...rest} data={plot} draw={drawPlot} />;
}

/** Candles with volume (oldest first). */
export function Candles({ title, units, rows, file, aside, empty }: Common) {
  const price = (name: string): Column => ({ label: name[0].toUpperCase() + name.slice(1), right: true, cell: (r) => <Amount of={r} name={name} digits={6} />, text: (r) => priceOf(r, name) });
  const number = (text: string | null) => (text === null ? null : Number(text));
  const candles = rows.map((r) => ({ time: startOf(r), open: number(priceOf(r, 'open')), high: number(priceOf(r, 'high')), low: number(priceOf(r, 'low')), close: number(priceOf(r, 'close')), volume: pointOf(r, 'volumeQuote') ?? pointOf(r, 'volumeB') }));
  return <Figure title={title} units={units} rows={rows} file={file} aside={aside} empty={empty} data={candles}
    columns={[timeColumn, price('open'), price('high'), price('low'), price('close'),
      { label: 'Volume', right: true, cell: (r) => <Amount of={r} name={r.volumeQuoteScaled != null ? 'volumeQuote' : 'volumeB'} as="volume" />, text: (r) => r.volumeQuoteScaled ?? r.volumeBScaled },
      { label: 'Swaps', right: true, cell: (r) => <Count of={r} name="swaps" />, text: (r) => r.swaps }]}
    describe={(r) => `${when(r)}: open ${priceOf(r, 'open') ?? 'none'}, high ${priceOf(r, 'high') ?? 'none'}, low ${priceOf(r, 'low') ?? 'none'}, close ${priceOf(r, 'close') ?? 'none'}, ${r.swaps} swaps`}
    draw={drawCandles} />;
}

/** Prices of several sources over time: rows are of the first one; each line has points of its own. */
export function Prices({ lines, ...rest }: Omit<FigureProps, 'draw' | 'data'> & { lines: Line[] }) {
  return <Figure {...rest} data={lines} legend={lines.map((l) => ({ name: l.name, colour: l.colour }))}
    draw={drawPrices} />;
}
