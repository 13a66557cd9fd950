/** Lines, areas and bars: uPlot. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { colour } from '../lib/theme';
import type { At, Drawing } from '../ui/figure';

export interface Series { name: string; colour: string; values: (number | null)[]; bars?: boolean; area?: boolean; step?: boolean; dots?: boolean }
export interface Plot { x: number[]; time: boolean; xLabel?: string; labels?: string[]; series: Series[]; percent?: boolean }

/** Days as 01-31, times as 14:05, UTC; the year where it changes. */
function times(at: number[], step: number): string[] {
  let year = '';
  return at.map((t) => {
    const text = new Date(t * 1000).toISOString();
    if (step < 86400) return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16);
    const shown = text.slice(0, 4) === year ? text.slice(5, 10) : text.slice(0, 10);
    year = text.slice(0, 4);
    return shown;
  });
}

const short = (n: number) => {
  const size = Math.abs(n);
  if (size >= 1e12) return `${+(n / 1e12).toPrecision(3)}T`;
  if (size >= 1e9) return `${+(n / 1e9).toPrecision(3)}B`;
  if (size >= 1e6) return `${+(n / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(n / 1e3).toPrecision(3)}K`;
  return String(+n.toPrecision(4));
};

/** All of a plot but its figures. */
const kindOf = (plot: Plot) => JSON.stringify({ ...plot, x: null, series: plot.series.map((s) => ({ ...s, values: null })) });
const dataOf = (plot: Plot) => [plot.x, ...plot.series.map((s) => s.values)] as uPlot.AlignedData;

/** Bars at the ends are seen whole: half of the least distance is left free beside them. */
function bounds(plot: Plot, low: number, high: number): [number, number] {
  if (!plot.series.some((s) => s.bars)) return [low, high];
  const steps = plot.x.slice(1).map((x, i) => x - plot.x[i]);
  const half = (steps.length ? Math.min(...steps) : plot.time ? 86400 : 1) / 2;
  return [low - half, high + half];
}
const WHOLE = [1, 2, 5].flatMap((n) => Array.from({ length: 10 }, (_, power) => n * 10 ** power)).sort((a, b) => a - b); // what is no time is counted

export function drawPlot(element: HTMLElement, first: Plot, at: At): Drawing {
  let plot = first;
  const axis = { stroke: colour('dim'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const size = () => ({ width: Math.max(120, element.clientWidth), height: Math.max(120, element.clientHeight) });
  const made = new uPlot({
    ...size(),
    tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false } },
    scales: { x: { time: plot.time, range: (_u, low, high) => bounds(plot, low, high) }, y: { range: (_u, low, high) => {
      const from = plot.series.some((s) => s.bars || s.area) ? Math.min(0, low ?? 0) : low ?? 0;
      const to = high ?? 1;
      const room = (to - from || Math.abs(to) || 1) * 0.06;
      return [from === 0 ? 0 : from - room, to + room];
    } } },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 30, ...(plot.time ? { values: (_u: uPlot, at: number[], _i: number, _s: number, step: number) => times(at, step) } : { incrs: WHOLE, values: (_u: uPlot, at: number[]) => at.map((v) => (plot.labels ? plot.labels[v] ?? '' : `${v}${plot.xLabel ?? ''}`)) }) },
      { ...axis, size: 56, values: (_u, at) => at.map((v) => (plot.percent ? `${short(v)} %` : short(v))) },
    ],
    series: [{}, ...plot.series.map((s) => ({
      label: s.name, stroke: colour(s.colour), width: s.bars ? 0 : 2,
      fill: s.bars ? colour(s.colour) : s.area ? colour(`${s.colour}-soft`) : undefined,
      paths: s.bars ? uPlot.paths.bars?.({ size: [0.72, 60] }) : s.dots ? () => null : s.step ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
      points: { show: !!s.dots, size: 6 },
      spanGaps: true,
    }))],
  }, dataOf(plot), element);
  const watch = new ResizeObserver(() => {
    const { width, height } = size();
    if (width !== made.width || height !== made.height) made.setSize({ width, height });
  });
  watch.observe(element);
  const indexAt = (event: PointerEvent | MouseEvent) => made.posToIdx(event.clientX - made.over.getBoundingClientRect().left);
  const move = (event: PointerEvent) => {
    const index = indexAt(event);
    if (event.pointerType !== 'mouse') made.setCursor({ left: made.valToPos(plot.x[index], 'x'), top: 10 }); // uPlot follows the mouse by itself
    at(index);
  };
  made.over.addEventListener('pointermove', move);
  made.over.addEventListener('pointerdown', move);
  made.over.addEventListener('pointerleave', () => at(null));
  made.over.addEventListener('click', (event) => at(indexAt(event), true));
  return {
    point(index) {
      if (index === null) made.setCursor({ left: -10, top: -10 });
      else made.setCursor({ left: made.valToPos(plot.x[index], 'x'), top: 10 });
    },
    update(next: Plot) {
      if (kindOf(next) !== kindOf(plot)) return false;
      plot = next;
      made.setData(dataOf(plot));
      return true;
    },
    remove() { watch.disconnect(); made.destroy(); },
  };
}
