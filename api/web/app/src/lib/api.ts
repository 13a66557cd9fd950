/** Questions to the API: as of the page's ledger, repeated when the stream names something that concerns them. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { noteAnswer, noteStale } from './fresh';
import { ledgerOf, useLedger, place } from './router';
import { together } from './store';
import { watch } from './live';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Item = Record<string, any>;

export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, detail: string) { super(detail); }
}

const RETRY_MS = 5000;
const ANSWER_MS = 30000; // a server that has not answered by then will not
const problemOf = (error: unknown) => (error instanceof Problem ? error : new Problem(0, 'network', 'The server cannot be reached, or does not answer.'));
const mayPass = (problem: Problem) => [0, 429, 503].includes(problem.status);

export type Params = Record<string, string | number | null | undefined>;

/** Routes that have no past: they refuse `ledger`. */
const PRESENT_ONLY = /^\/api\/(ledgers\/|transactions\/|events\/|coverage|undecoded\/entries)/;

export function urlOf(path: string, params: Params, ledger: string | null): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value != null && value !== '') query.set(name, String(value));
  if (ledger && !PRESENT_ONLY.test(path)) query.set('ledger', ledger);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

let wait = 0; // until then (performance.now) the server wants no questions of ours

async function ask(url: string, signal?: AbortSignal, sent?: Item): Promise<string> {
  const pause = wait - performance.now();
  if (pause > 0) await new Promise((done) => setTimeout(done, pause));
  signal?.throwIfAborted(); // the page may be left meanwhile
  const control = new AbortController(), end = setTimeout(() => control.abort(), ANSWER_MS);
  const leave = () => control.abort();
  signal?.addEventListener('abort', leave);
  try {
    return await askWithin(url, control.signal, sent);
  } finally {
    clearTimeout(end);
    signal?.removeEventListener('abort', leave);
  }
}

async function askWithin(url: string, signal: AbortSignal, sent?: Item): Promise<string> {
  const answer = await fetch(url, { signal, headers: { Accept: 'application/json', ...(sent && { 'Content-Type': 'application/json' }) }, ...(sent && { method: 'POST', body: JSON.stringify(sent) }) });
  if (!/[?&]ledger=/.test(url)) noteAnswer(answer.headers);
  if (answer.ok) {
    return answer.text();
  }
  const after = Number(answer.headers.get('Retry-After') ?? 0);
  if (answer.status === 429) wait = performance.now() + 1000 * Math.max(1, after);
  const body: Item = await answer.json().catch(() => ({}));
  if (body.code === 'stale') noteStale(true, body.detail);
  throw new Problem(answer.status, body.code ?? 'no_answer', body.detail ?? `The server answered ${answer.status}.`);
}

const known = new Map<string, string>(); // the last answers: shown at once on the way back
const KNOWN_MAX = 80;
function remember(url: string, text: string): void {
  known.delete(url);
  known.set(url, text);
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value as string);
}

export async function get(path: string, params: Params = {}, ledger = ledgerOf(place.get())): Promise<Item> {
  return JSON.parse(await ask(urlOf(path, params, ledger)));
}

/** A question that is too long for an address. */
export async function post(path: string, body: Item): Promise<Item> {
  return JSON.parse(await ask(urlOf(path, {}, ledgerOf(place.get())), undefined, body).catch((error) => { throw problemOf(error); }));
}

export interface Answer {
  data: Item | null;
  error: Problem | null;
  loading: boolean;
  /** The data is of an earlier answer: a newer question failed. */
  old: boolean;
}

const PRICES_MS = 60000;

/** Kinds of events by their beginning ("liquidity_pool_"); [] asks again with each ledger; null never. */
export type Live = string[] | null;

export function useApi(path: string | null, params: Params = {}, live: Live = null): Answer {
  const ledger = useLedger();
  const url = path === null ? null : urlOf(path, params, ledger);
  const [state, set] = useState<Answer & { url: string | null; text: string }>(
    () => ({ url: null, text: '', data: null, error: null, loading: true, old: false }));
  const text = useRef('');
  const kinds = live === null ? null : live.join(' ');
  useLayoutEffect(() => { // the question goes out before the first paint
    if (url === null) return undefined;
    const control = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    text.current = known.get(url) ?? '';
    set({ url, text: text.current, data: text.current ? JSON.parse(text.current) : null, error: null, loading: !text.current, old: false });
    const show = (got: string) => {
      if (control.signal.aborted) return;
      // The same answer draws nothing again.
      if (got !== text.current) set({ url, text: got, data: JSON.parse(got), error: null, loading: false, old: false });
      else set((s) => (s.old || s.loading || s.error ? { ...s, error: null, old: false, loading: false } : s));
      text.current = got;
    };
    const run = async () => {
      clearTimeout(retry);
      try {
        const got = await ask(url, control.signal);
        remember(url, got);
        if (text.current) together(() => show(got));
        else show(got);
      } catch (error) {
        if (control.signal.aborted) return;
        const problem = problemOf(error);
        set((s) => ({ ...s, error: problem, loading: false, old: s.data !== null }));
        if (mayPass(problem)) retry = setTimeout(run, RETRY_MS);
      }
    };
    void run();
    const leave = kinds === null || ledger !== null ? () => {} : watch(kinds ? kinds.split(' ') : [], run);
    // A price goes stale without an event.
    const timer = ledger === null && kinds !== null && /(^| )oracle_/.test(kinds) ? setInterval(() => { if (!document.hidden) void run(); }, PRICES_MS) : undefined;
    return () => { control.abort(); clearTimeout(retry); clearInterval(timer); leave(); };
  }, [url, kinds, ledger]);
  // Nothing of another question is shown.
  if (state.url !== url) return { data: null, error: null, loading: url !== null, old: false };
  return state;
}

/** `all`: all rows of the question, up to FILE_PAGES pages. */
export interface ListAnswer extends Answer { items: Item[]; more: (() => void) | null; loadingMore: boolean; all?: (ledger: string | null) => Promise<Whole> }
const FILE_PAGES = 50, FILE_PAGE = 200;

/**
 * Pages that were added, with what is new in the first page before them; null where the two no longer meet, or where items
 * have no id to see that by: the list is its first page again.
 */
function join(first: Item | null, rest: { items: Item[]; first: Item | null }): Item[] | null {
  if (first === rest.first) return rest.items;
  const head: Item[] = first?.items ?? [];
  const known = new Set(rest.items.map((item) => item.id).filter(Boolean));
  const meets = head.findIndex((item) => item.id && known.has(item.id));
  return meets < 0 ? null : [...head.slice(0, meets), ...rest.items];
}

/** A list: its first page is live, further ones are added on demand. */
export function useList(path: string | null, params: Params = {}, live: Live = null): ListAnswer {
  const first = useApi(path, params, live);
  const key = JSON.stringify([path, params, useLedger()]);
  const [rest, setRest] = useState<{ key: string; items: Item[]; next: string | null; first: Item | null }>({ key: '', items: [], next: null, first: null });
  const [loadingMore, setLoading] = useState(false);
  const joined = useMemo(() => (rest.key === key ? join(first.data, rest) : null), [first.data, rest, key]);
  const mine = joined && rest;
  const next = mine ? mine.next : (first.data?.next ?? null);
  const items: Item[] = joined ?? first.data?.items ?? [];
  const more = path === null || !next ? null : () => {
    setLoading(true);
    get(path, { ...params, cursor: next })
      .then((page) => setRest({ key, items: [...items, ...page.items], next: page.next, first: first.data }))
      .catch(() => {})
      .finally(() => setLoading(false));
  };
  return { ...first, items, more, loadingMore, all: path === null ? undefined : (at) => everything(path, { ...params, limit: FILE_PAGE }, FILE_PAGES, at) };
}

export interface Whole { items: Item[]; more: boolean }

/** The pages of a list, at most `pages` of them; `more`: there are further ones. */
export async function everything(path: string, params: Params = {}, pages = 5, ledger = ledgerOf(place.get())): Promise<Whole> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let i = 0; i < pages; i++) {
    const page: Item = await get(path, { ...params, cursor }, ledger);
    items.push(...page.items);
    cursor = page.next;
    if (!cursor) break;
  }
  return { items, more: cursor !== null };
}

/** The same as a hook: asked once for each path and ledger, and again after a failure that may pass. */
export function useEverything(path: string, params: Params = {}): Whole & Answer {
  const ledger = useLedger();
  const [whole, set] = useState<Whole & Answer>({ items: [], more: false, data: null, error: null, loading: true, old: false });
  useEffect(() => {
    let gone = false;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const run = () => everything(path, params).then((all) => { if (!gone) set({ ...all, data: all, error: null, loading: false, old: false }); }, (error) => {
      if (gone) return;
      const problem = problemOf(error);
      set({ items: [], more: false, data: null, error: problem, loading: false, old: false });
      if (mayPass(problem)) retry = setTimeout(run, RETRY_MS);
    });
    void run();
    return () => { gone = true; clearTimeout(retry); };
  }, [path, ledger]);
  return whole;
}
