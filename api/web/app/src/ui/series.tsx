/** Charts of the pages: each loads its library when it is drawn. */
import type { ComponentChildren } from 'preact';
import type { Item } from '../lib/api';
import { compact, cut } from '../lib/amount';
import { fresh } from '../lib/fresh';
import { pointOf, priceOf, startOf } from '../lib/fields';
import { stamp } from '../lib/time';
import { ledgerOf, place, setQuery, useQuery } from '../lib/router';
import { Figure, type At, type FigureProps } from './figure';
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

const drawPlot = async (element: HTMLElement, plot: Plot, at: At) => (await import('../charts/plot')).drawPlot(element, plot, at);
const drawCandles = async (element: HTMLElement, candles: Candle[], at: At) => (await import('../charts/candles')).drawCandles(element, candles, at);
const drawPrices = async (element: HTMLElement, lines: Line[], at: At) => (await import('../charts/candles')).drawPrices(element, lines, at);

const SPANS = [['24h', '24 h', 1, '15m'], ['7d', '7 d', 7, '1h'], ['30d', '30 d', 30, '4h'], ['all', 'All', Infinity, '1d']] as const;
type Span = (typeof SPANS)[number];

/** The span that the URL names for all charts of the page. Those of days begin with a week; without one, candles have a week and days all. */
function useSpan(days: boolean): Span {
  const named = SPANS.find(([name]) => name === useQuery('span'));
  return !named ? SPANS[days ? 3 : 1] : days && named[0] === '24h' ? SPANS[1] : named;
}

/** How long a candle of the page's span is. */
export const useInterval = () => useSpan(false)[3];

/** The rows of the page's span, up to now or the ledger of the page, and the buttons that set it. */
function useSpanned(rows: Item[], days: boolean): [Item[], ComponentChildren] {
  const span = useSpan(days);
  const end = ledgerOf(place.get()) ? rows.length ? startOf(rows[rows.length - 1]) : 0 : fresh.get().closedAt;
  const from = end - span[2] * 86400;
  return [rows.filter((row) => startOf(row) > from - (days ? 86400 : 0)), (
    <div class="row spans" role="group" aria-label="Span" key="span">{SPANS.filter(([name]) => !days || name !== '24h').map((one) =>
      <button key={one[0]} type="button" aria-pressed={one === span} onClick={() => setQuery({ span: one[0], interval: null }, true)}>{one[1]}</button>)}</div>)];
}

interface Common { title: string; units: string; rows: Item[]; file: string; aside?: ComponentChildren; empty?: string }

/** Fields of rows over time (oldest first). */
export function TimePlot({ title, units, rows: all, file, series, aside, empty }: Common & { series: SeriesOf[] }) {
  const [rows, spans] = useSpanned(all, true);
  const plot: Plot = {
    x: rows.map(startOf), time: true,
    series: series.map((s) => ({ name: s.name, colour: s.colour, bars: s.bars, area: s.area, step: s.step, values: rows.map((r) => numberOf(r, s.field)) })),
  };
  return <Figure title={title} units={units} rows={rows} file={file} aside={<>{aside}{all.length > 0 && spans}</>} empty={all.length ? 'Nothing in this span.' : empty} data={plot}
    columns={[timeColumn, ...series.map(valueColumn)]}
    legend={series.length > 1 ? series.map((s) => ({ name: s.name, colour: s.colour })) : undefined}
    describe={(r) => `${when(r)} · ${series.map((s) => `${s.name} ${r[`${s.field}Scaled`] == null ? (r[`${s.field}Scaled`] === null ? 'not known' : r[s.field] ?? 'none') : (series.length > 2 ? compact(r[`${s.field}Scaled`]) : cut(r[`${s.field}Scaled`], 2, 2))}`).join(' · ')}`}
    draw={drawPlot} />;
}

/** Anything over a number that is no time. */
export function XyPlot(props: Omit<FigureProps, 'draw' | 'data'> & { plot: Plot }) {
  const { plot, ...rest } = props;
  return <Figure {...rest} data={plot} draw={drawPlot} />;
}

/** Candles with volume (oldest first). */
export function Candles({ title, units, rows: all, file, aside, empty }: Common) {
  const [rows, spans] = useSpanned(all, false);
  const short = (r: Item, name: string) => { const text = priceOf(r, name); return text === null ? 'none' : cut(text, 4); };
  const price = (name: string): Column => ({ label: name[0].toUpperCase() + name.slice(1), right: true, cell: (r) => <Amount of={r} name={name} digits={6} />, text: (r) => priceOf(r, name) });
  const number = (text: string | null) => (text === null ? null : Number(text));
  const candles = rows.map((r) => ({ time: startOf(r), open: number(priceOf(r, 'open')), high: number(priceOf(r, 'high')), low: number(priceOf(r, 'low')), close: number(priceOf(r, 'close')), volume: pointOf(r, 'volumeQuote') ?? pointOf(r, 'volumeB') }));
  return <Figure title={title} units={units} rows={rows} file={file} aside={<>{spans}{aside}</>} empty={all.length ? 'No trades in this span.' : empty} data={candles}
    columns={[timeColumn, price('open'), price('high'), price('low'), price('close'),
      { label: 'Volume', right: true, cell: (r) => <Amount of={r} name={r.volumeQuoteScaled != null ? 'volumeQuote' : 'volumeB'} as="volume" />, text: (r) => r.volumeQuoteScaled ?? r.volumeBScaled },
      { label: 'Swaps', right: true, cell: (r) => <Count of={r} name="swaps" />, text: (r) => r.swaps }]}
    describe={(r) => `${when(r)} · open ${short(r, 'open')} · high ${short(r, 'high')} · low ${short(r, 'low')} · close ${short(r, 'close')} · volume ${compact(r.volumeQuoteScaled ?? r.volumeBScaled ?? '0')} · ${r.swaps} swaps`}
    draw={drawCandles} />;
}

/** Prices of several sources over time: rows are of the first one; each line has points of its own. */
export function Prices({ lines: all, rows: every, ...rest }: Omit<FigureProps, 'draw' | 'data'> & { lines: Line[] }) {
  const [rows, spans] = useSpanned(every, false);
  const from = rows.length ? startOf(rows[0]) : 0;
  const lines = all.map((line) => ({ ...line, points: line.points.filter((p) => p.time >= from) }));
  return <Figure {...rest} rows={rows} aside={spans} empty={every.length ? 'No rounds in this span.' : rest.empty} data={lines} legend={lines.map((l) => ({ name: l.name, colour: l.colour }))}
    draw={drawPrices} />;
}
