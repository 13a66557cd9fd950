/** Small pieces: amounts, links, times, states. All text from the chain goes through Preact's text nodes. */
import { createContext, toChildArray, type ComponentChildren, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer, Item } from '../lib/api';
import { compact, count, cut, exact, percent, scale } from '../lib/amount';
import { href, navigate, useMe } from '../lib/router';
import { minute } from '../lib/fresh';
import { useStore } from '../lib/store';
import { age, seconds, span, stamp } from '../lib/time';

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

/**
 * What a page shows as a figure carries its name and its raw value, as tests and programs read them: raw units, basis
 * points, counts, unix times; "" where there is none. The names within a row of a table, or within a head, are different.
 */
const figure = (name: string, raw: unknown) => ({ 'data-figure': name, 'data-raw': raw == null ? '' : String(raw) });

/** In place of a figure that is not known; `why` is its title, and read out. */
export function None({ name, why }: { name: string; why?: string | null }) {
  return <span class="dim" title={why ?? undefined} {...figure(name, null)}>–{why && <span class="hidden"> {why}</span>}</span>;
}

/** In a table, figures are no stops of the Tab key: copy.tsx has other keys for them. */
export const InTable = createContext(false);

interface AmountProps { of: Item | null | undefined; name: string; as?: string; unit?: string | null; full?: boolean; digits?: number; why?: string | null }

/** The money field `name` of an object: `nameScaled` is shown, `name` (raw) is in the title. `as`: the figure's name, if another. */
export function Amount({ of, name, as = name, unit, full, digits, why }: AmountProps) {
  const raw = of?.[name], scaled = of?.[`${name}Scaled`], inTable = useContext(InTable);
  if (raw == null || scaled == null) return <None name={as} why={raw == null ? why : 'the token\'s decimals are not known'} />;
  const shown = full ? exact(scaled, 2) : digits !== undefined ? cut(scaled, digits) : compact(scaled);
  return <span class="num" tabIndex={inTable ? -1 : shown === exact(scaled) ? undefined : 0} data-copy={scaled} title={`${exact(scaled)}${unit ? ` ${unit}` : ''} · raw ${raw}`} {...figure(as, raw)}>{shown}{unit && <span class="unit"> {unit}</span>}</span>;
}

/** A price of the oracle, with a mark if the oracle's contract calls it stale. */
export function Price({ of, name, as = name, digits = 4, unit }: { of: Item | null | undefined; name: 'latestPrice' | 'twapPrice'; as?: string; digits?: number; unit?: string }) {
  const stale = name === 'twapPrice' ? of?.twapStale : of?.stale;
  return <><Amount of={of} name={name} as={as} digits={digits} unit={unit} why={of ? 'no price yet' : 'no feed'} />{stale && of?.[name] != null && <> <Stale of={of} name={name} /></>}</>;
}
export function Stale({ of, name }: { of: Item; name: 'latestPrice' | 'twapPrice' }) {
  const at = name === 'twapPrice' ? of.twapAt : of.latestAt;
  return <Pill tone="warn" title={`of ${stamp(at)} UTC; the oracle's contract calls it stale`}>stale</Pill>;
}

interface BpsProps { name: string; of?: Item | null; raw?: string | bigint | null; signed?: boolean; tone?: boolean; why?: string | null }

/** A ratio in basis points: the field `name` of an object, or `raw`, which the page made itself. */
export function Bps({ of, name, raw = of?.[name], signed, tone, why }: BpsProps) {
  if (raw == null) return <None name={name} why={why} />;
  const value = BigInt(raw);
  const kind = !tone || value === 0n ? '' : value > 0n ? ' up' : ' down';
  return <span class={`num${kind}`} title={`${value} basis points`} {...figure(name, value)}>{percent(value, signed)}</span>;
}

/** Parts of a million as a percentage. */
export function Millionths({ of, name }: { of: Item; name: string }) {
  return of[name] == null ? <None name={name} /> : <span class="num" title={`${of[name]} millionths`} {...figure(name, of[name])}>{exact(scale(of[name], 4), 2)} %</span>;
}

/** A number of things: the field `name` of an object, or `raw`. */
export function Count({ of, name, as = name, raw = of?.[name] }: { name: string; as?: string; of?: Item | null; raw?: number | string | null }) {
  return raw == null ? <None name={as} /> : <span class="num" {...figure(as, raw)}>{count(raw)}</span>;
}

/** Numbers of things that belong to this one. */
export const Ids = ({ of, name }: { of: Item; name: string }) => <span class="num" {...figure(name, (of[name] ?? []).join(','))}>{(of[name] ?? []).join(', ') || 'none'}</span>;

/** How long until a time, from another on. */
export function Until({ at, from, name }: { at: string | null; from: string | null | undefined; name: string }) {
  if (at == null || from == null) return <None name={name} />;
  return <span class="num" {...figure(name, seconds(at) - seconds(from))}>{span(seconds(at) - seconds(from))}</span>;
}

export const short = (text: string, head = 4, tail = 4) => (text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`);

/** `label`: what is shown for it. */
export function Address({ of, whole, label }: { of: string | null | undefined; whole?: boolean; label?: string }) {
  const mine = useMe() === of;
  if (!of) return <span class="dim">–</span>;
  return <A to={`/address/${of}`} class={mine ? 'mono mine' : 'mono'} data-copy={of}>{label ?? (whole ? of : short(of))}{mine && <span class="hidden"> (you)</span>}</A>;
}
export function Tx({ of }: { of: string | null | undefined }) {
  if (!of) return <span class="dim">–</span>;
  return <A to={`/tx/${of}`} class="mono" data-copy={of}>{short(of, 6, 4)}</A>;
}
export function Ledger({ of, name }: { of: Item | null | undefined; name: string }) {
  const ledger = of?.[name];
  return ledger == null ? <None name={name} /> : <A to={`/ledger/${ledger}`} class="num" {...figure(name, ledger)}>{String(ledger)}</A>;
}
export const Market = ({ of }: { of: string | null | undefined }) => (of ? <A to={`/markets/${encodeURIComponent(of)}`}>{of}</A> : <span class="dim">–</span>);
/** A vault by its market. */
export const Vault = ({ market, owner }: { market: string; owner: string }) => <A to={`/vaults/${encodeURIComponent(market)}/${encodeURIComponent(owner)}`}>{market} vault</A>;
export const Pool = ({ of, label }: { of: string | null | undefined; label?: string }) => (of ? <A to={`/pools/${encodeURIComponent(of)}`}>{label ?? of}</A> : <span class="dim">–</span>);

/** A time, in UTC: the field `name` of an object; a text of RFC 3339 or unix seconds. */
export function Time({ of, name, as = name }: { of: Item | null | undefined; name: string; as?: string }) {
  const at = of?.[name];
  if (at == null) return <None name={as} />;
  const unix = typeof at === 'number' ? at : seconds(at), text = stamp(at);
  return <time dateTime={new Date(unix * 1000).toISOString()} class="num" title={`${text} UTC`} {...figure(as, unix)}>{text.slice(0, 16)}</time>;
}

/** How long ago; `from`: the time that counts as now, of a page about the past. Moves by minutes. */
export function Ago({ of, name, from }: { of: Item; name: string; from?: number }) {
  const unix = seconds(of[name]), text = useStore(minute, (m) => age((from ?? m * 60) - unix));
  return <time dateTime={of[name]} class="num" title={`${stamp(of[name])} UTC`} {...figure(name, unix)}>{text}</time>;
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
/** In one row, or in rows of the same length: the style sheet needs their number. */
export function Kpis({ children }: { children: ComponentChildren }) {
  const n = toChildArray(children).length;
  return <dl class="kpis" style={{ '--all': n, '--half': Math.ceil(n / 2) }}>{children}</dl>;
}

/** `about`: of which of several things on the page, for the names of its figures. */
export function Facts({ rows, about }: { rows: [string, ComponentChildren][]; about?: string }) {
  return <dl class="facts" data-about={about}>{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** How far something is filled, in basis points of the whole. `some`: it is not nothing, however little. */
export function Meter({ name, bps, label, some }: { name: string; bps: bigint | null; label: string; some?: boolean }) {
  if (bps === null) return <None name={name} />;
  const shown = bps > 10000n ? 10000 : bps < 0n ? 0 : Number(bps); // a hostile chain has any ratio
  return (
    <span class="meter">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${label}: ${percent(bps)}`}>
        <rect width="100" height="6" rx="3" class="track" />
        <rect width={shown / 100} height="6" rx="3" class={shown > 9000 ? 'fill bad' : shown > 7000 ? 'fill warn' : 'fill'} />
      </svg>
      <span class="num" title={`${bps} basis points`} {...figure(name, bps)}>{some && bps === 0n ? '< 0.01 %' : percent(bps)}</span>
    </span>
  );
}

/** A line without axes; the figures are in the chart or table that the page shows too. */
export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const known = values.filter((v): v is number => v !== null);
  if (known.length < 2) return <svg class="spark" aria-hidden="true" />; // its place: the days may come later
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
  return <div class="skeleton" role="status" aria-busy="true" aria-label="Loading">{Array.from({ length: lines }, (_, i) => <div key={i} />)}</div>;
}

export function Failed({ problem }: { problem: { status: number; code: string; message: string } }) {
  const missing = problem.status === 404;
  return <p class={`notice ${missing ? '' : 'warn'}`} role={missing ? undefined : 'status'}>{problem.message} <span class="dim">({problem.code})</span></p>;
}
