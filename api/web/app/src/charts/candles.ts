/** Candles with volume, and price lines: lightweight-charts. */
import { CandlestickSeries, ColorType, createChart, CrosshairMode, HistogramSeries, LineSeries, type IChartApi, type ISeriesApi, type MouseEventParams, type SeriesType, type UTCTimestamp } from 'lightweight-charts';
import { colour } from '../lib/theme';
import type { At, Drawing } from '../ui/figure';

function chart(element: HTMLElement): IChartApi {
  return createChart(element, {
    autoSize: true,
    localization: { locale: 'en' }, // not the browser's: see withoutLanguage in vite.config.ts
    layout: { background: { type: ColorType.Solid, color: 'transparent' }, textColor: colour('dim'), fontFamily: 'system-ui, sans-serif', fontSize: 11, attributionLogo: false },
    grid: { vertLines: { visible: false }, horzLines: { color: colour('line') } },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false, rightOffset: 2 },
    crosshair: { mode: CrosshairMode.Normal },
    handleScroll: { vertTouchDrag: false },
  });
}

interface Point { time: number; at: number | null }

const FILLED_MAX = 5000;

/** Times without a figure get a place too, so that the axis is one of time: the least distance between two is its step. */
function gaps(times: number[]): { time: UTCTimestamp }[] {
  const step = Math.min(...times.slice(1).map((time, i) => time - times[i]));
  const all = new Set(times), missing: { time: UTCTimestamp }[] = [];
  if (!(step > 0) || (times[times.length - 1] - times[0]) / step > FILLED_MAX) return [];
  for (let time = times[0]; time < times[times.length - 1]; time += step) if (!all.has(time)) missing.push({ time: time as UTCTimestamp });
  return missing;
}
const whole = <T extends { time: UTCTimestamp }>(data: T[], times: number[]) => [...data, ...gaps(times)].sort((a, b) => a.time - b.time) as T[];

/** `set` gives the series their figures; false if it takes another chart. */
function drawing<T>(made: IChartApi, series: ISeriesApi<SeriesType>, first: T, pointsOf: (data: T) => Point[], set: (data: T) => boolean, at: At): Drawing {
  let points = pointsOf(first);
  const indexOf = ({ time }: MouseEventParams) => { // the nearest, also from a time without a figure
    if (time === undefined || points.length === 0) return null;
    return points.reduce((best, p, i) => (Math.abs(p.time - Number(time)) < Math.abs(points[best].time - Number(time)) ? i : best), 0);
  };
  made.subscribeCrosshairMove((event) => { if (event.sourceEvent) at(indexOf(event)); });
  made.subscribeClick((event) => { const index = indexOf(event); if (index !== null) at(index, true); });
  made.chartElement().addEventListener('pointerleave', () => at(null));
  made.timeScale().fitContent();
  return {
    point(index) {
      const point = index === null ? null : points[index];
      if (!point || point.at === null) made.clearCrosshairPosition();
      else made.setCrosshairPosition(point.at, point.time as UTCTimestamp, series);
    },
    update(data: T) {
      const from = points[0]?.time;
      points = pointsOf(data);
      if (!set(data)) return false;
      if (points[0]?.time !== from) made.timeScale().fitContent(); // another span
      return true;
    },
    remove: () => made.remove(),
  };
}

const precision = (values: (number | null)[]) => {
  const top = Math.max(...values.map((v) => Math.abs(v ?? 0)));
  return top >= 100 ? 2 : top >= 1 ? 4 : top >= 0.01 ? 5 : 7;
};

export interface Candle { time: number; open: number | null; high: number | null; low: number | null; close: number | null; volume: number | null }

export function drawCandles(element: HTMLElement, first: Candle[], at: At): Drawing {
  const made = chart(element);
  const digitsOf = (candles: Candle[]) => precision(candles.map((c) => c.close));
  const digits = digitsOf(first);
  const bars = made.addSeries(CandlestickSeries, {
    upColor: colour('up'), downColor: colour('down'), wickUpColor: colour('up'), wickDownColor: colour('down'), borderVisible: false,
    priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
  });
  const volume = made.addSeries(HistogramSeries, { priceFormat: { type: 'volume' }, priceScaleId: 'volume', lastValueVisible: false, priceLineVisible: false });
  const up = colour('up-soft'), down = colour('down-soft');
  const set = (candles: Candle[]) => {
    bars.setData(whole(candles.map((c) => (c.open === null || c.high === null || c.low === null || c.close === null
      ? { time: c.time as UTCTimestamp }
      : { time: c.time as UTCTimestamp, open: c.open, high: c.high, low: c.low, close: c.close })), candles.map((c) => c.time)));
    volume.setData(candles.map((c) => ({ time: c.time as UTCTimestamp, value: c.volume ?? 0, color: (c.close ?? 0) >= (c.open ?? 0) ? up : down })));
    return digitsOf(candles) === digits;
  };
  set(first);
  made.priceScale('volume').applyOptions({ scaleMargins: { top: 0.8, bottom: 0 } });
  bars.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.24 } });
  return drawing(made, bars, first, (candles) => candles.map((c) => ({ time: c.time, at: c.close })), set, at);
}

export interface Line { name: string; colour: string; points: { time: number; value: number | null }[]; dashed?: boolean }

export function drawPrices(element: HTMLElement, first: Line[], at: At): Drawing {
  const made = chart(element);
  const digitsOf = (lines: Line[]) => precision(lines.flatMap((line) => line.points.map((p) => p.value)));
  const kindOf = (lines: Line[]) => JSON.stringify([digitsOf(lines), lines.map((line) => [line.name, line.colour, line.dashed])]);
  const digits = digitsOf(first), kind = kindOf(first);
  const series = first.map((line) => made.addSeries(LineSeries, {
    color: colour(line.colour), lineWidth: 2, lineStyle: line.dashed ? 2 : 0, lastValueVisible: true, priceLineVisible: false,
    priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
  }));
  const set = (lines: Line[]) => {
    if (kindOf(lines) !== kind) return false;
    lines.forEach((line, i) => series[i].setData(whole(line.points.map((p) => (p.value === null ? { time: p.time as UTCTimestamp } : { time: p.time as UTCTimestamp, value: p.value })), line.points.map((p) => p.time))));
    return true;
  };
  set(first);
  return drawing(made, series[0], first, (lines) => lines[0].points.map((p) => ({ time: p.time, at: p.value })), set, at);
}
