/** Small pieces: amounts, links, times, states. All text from the chain goes through Preact's text nodes. */
import type { ComponentChildren, JSX } from 'preact';
import type { Answer, Item } from '../lib/api';
import { compact, cut, exact, percent, scale } from '../lib/amount';
import { href, navigate } from '../lib/router';
import { stamp } from '../lib/time';

export function A({ to, query, children, ...rest }: { to: string; query?: Record<string, string | null>; children: ComponentChildren } & JSX.HTMLAttributes<HTMLAnchorElement>) {
  return <a {...rest} href={href(to, query)}>{children}</a>;
}

/** Links within the dashboard load no page. */
export function followLinks(event: MouseEvent, isPage: (path: string) => boolean): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest('a');
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin || !isPage(link.pathname)) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}

interface AmountProps { of: Item | null | undefined; name: string; unit?: string | null; full?: boolean; digits?: number }

/** The money field `name` of an object: `nameScaled` is shown, `name` (raw) is the title. */
export function Amount({ of, name, unit, full, digits }: AmountProps) {
  const raw = of?.[name], scaled = of?.[`${name}Scaled`];
  if (raw == null || scaled == null) return <span class="dim">–</span>;
  const shown = full ? exact(scaled, 2) : digits !== undefined ? cut(scaled, digits) : compact(scaled);
  return <span class="num" title={`${exact(scaled)}${unit ? ` ${unit}` : ''} · raw ${raw}`} data-raw={raw}>{shown}{unit && <span class="unit"> {unit}</span>}</span>;
}

/** A sum that the page made itself, in raw units. */
export function Sum({ raw, decimals = 7, unit }: { raw: bigint | null; decimals?: number; unit?: string }) {
  if (raw === null) return <span class="dim">–</span>;
  const text = scale(raw, decimals);
  return <span class="num" title={`${exact(text)}${unit ? ` ${unit}` : ''} · raw ${raw}`} data-raw={String(raw)}>{compact(text)}{unit && <span class="unit"> {unit}</span>}</span>;
}

export function Bps({ of, signed, tone }: { of: string | bigint | null | undefined; signed?: boolean; tone?: boolean }) {
  if (of == null) return <span class="dim">–</span>;
  const value = BigInt(of);
  const kind = !tone || value === 0n ? '' : value > 0n ? ' up' : ' down';
  return <span class={`num${kind}`} title={`${value} basis points`} data-raw={String(value)}>{percent(value, signed)}</span>;
}

export const short = (text: string, head = 4, tail = 4) => (text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`);

export function Address({ of, whole }: { of: string | null | undefined; whole?: boolean }) {
  if (!of) return <span class="dim">–</span>;
  return <A to={`/address/${of}`} class="mono" title={of}>{whole ? of : short(of)}</A>;
}
export function Tx({ of }: { of: string | null | undefined }) {
  if (!of) return <span class="dim">–</span>;
  return <A to={`/tx/${of}`} class="mono" title={of}>{short(of, 6, 4)}</A>;
}
export function Ledger({ of }: { of: string | number | null | undefined }) {
  if (of == null) return <span class="dim">–</span>;
  return <A to={`/ledger/${of}`} class="num">{String(of)}</A>;
}
export const Market = ({ of }: { of: string | null | undefined }) => (of ? <A to={`/markets/${encodeURIComponent(of)}`}>{of}</A> : <span class="dim">–</span>);
export const Pool = ({ of, label }: { of: string | null | undefined; label?: string }) => (of ? <A to={`/pools/${encodeURIComponent(of)}`}>{label ?? of}</A> : <span class="dim">–</span>);

export function Time({ of }: { of: string | number | null | undefined }) {
  if (of == null) return <span class="dim">–</span>;
  const iso = typeof of === 'number' ? new Date(of * 1000).toISOString() : of;
  const text = stamp(of);
  return <time dateTime={iso} class="num" title={`${text} UTC`}>{text.slice(0, 16)}</time>;
}

/** The symbol of a token, or its address cut short; both are what the chain says. */
export const symbolOf = (item: Item | null | undefined, name: string): string =>
  (item?.[`${name}Symbol`] ?? (item?.[name] ? short(item[name]) : '–'));

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';
export const Pill = ({ tone = 'plain', children, title }: { tone?: Tone; children: ComponentChildren; title?: string }) =>
  <span class={`pill ${tone}`} title={title}>{children}</span>;

const TONES: Record<string, Tone> = {
  active: 'info', open: 'plain', at_risk: 'warn', liquidatable: 'bad', unpriced: 'plain', closed: 'plain',
  passed: 'good', executed: 'good', executable: 'good', approved: 'good', failed: 'bad', rejected: 'bad', cancelled: 'plain', pending: 'warn',
  verified: 'good', unknown: 'plain', suspended: 'warn', sanctioned: 'bad', expired: 'warn', frozen: 'bad', restricted: 'bad',
};
export const State = ({ of }: { of: string | null | undefined }) =>
  (of ? <Pill tone={TONES[of.toLowerCase()] ?? 'plain'}>{of.replace(/_/g, ' ')}</Pill> : <span class="dim">–</span>);

export function Card({ title, aside, children, id, wide }: { title?: string; aside?: ComponentChildren; children: ComponentChildren; id?: string; wide?: boolean }) {
  return (
    <section class={`card${wide ? ' wide' : ''}`} id={id}>
      {title && <div class="card-head"><h2>{title}</h2>{aside && <div class="card-aside">{aside}</div>}</div>}
      {children}
    </section>
  );
}

export function Kpi({ label, children, note }: { label: string; children: ComponentChildren; note?: ComponentChildren }) {
  return <div class="kpi"><dt>{label}</dt><dd>{children}</dd>{note && <dd class="note">{note}</dd>}</div>;
}
export const Kpis = ({ children }: { children: ComponentChildren }) => <dl class="kpis">{children}</dl>;

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return <dl class="facts">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** How far something is filled, in basis points of the whole. */
export function Meter({ bps, label }: { bps: bigint | null; label: string }) {
  if (bps === null) return <span class="dim">–</span>;
  const shown = bps > 10000n ? 10000 : Number(bps);
  return (
    <span class="meter">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${label}: ${percent(bps)}`}>
        <rect width="100" height="6" rx="3" class="track" />
        <rect width={shown / 100} height="6" rx="3" class={shown > 9000 ? 'fill bad' : shown > 7000 ? 'fill warn' : 'fill'} />
      </svg>
      <span class="num">{percent(bps)}</span>
    </span>
  );
}

/** A line without axes; the figures are in the chart or table that the page shows too. */
export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const known = values.filter((v): v is number => v !== null);
  if (known.length < 2) return null;
  const low = Math.min(...known), range = Math.max(...known) - low || 1;
  const step = 100 / (values.length - 1);
  let path = '', pen = false;
  values.forEach((v, i) => {
    if (v === null) { pen = false; return; }
    path += `${pen ? 'L' : 'M'}${(i * step).toFixed(1)} ${(27 - ((v - low) / range) * 24).toFixed(1)}`;
    pen = true;
  });
  return <svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={label}><path d={path} /></svg>;
}

/** What stands where an answer is not there yet, or failed, or is of earlier. */
export function Waiting({ answer, children, lines = 3 }: { answer: Answer; children: ComponentChildren; lines?: number }) {
  if (answer.data) {
    return (
      <div class={answer.old ? 'stack old' : 'stack'}>
        {answer.old && answer.error && <p class="notice warn" role="status">Not current: {answer.error.message}</p>}
        {children}
      </div>
    );
  }
  if (answer.error) return <Failed problem={answer.error} />;
  return <div class="skeleton" aria-busy="true" aria-label="Loading">{Array.from({ length: lines }, (_, i) => <div key={i} />)}</div>;
}

export function Failed({ problem }: { problem: { status: number; code: string; message: string } }) {
  const missing = problem.status === 404;
  return <p class={`notice ${missing ? '' : 'warn'}`} role={missing ? undefined : 'status'}>{problem.message} <span class="dim">({problem.code})</span></p>;
}
