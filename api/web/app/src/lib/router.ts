import { Store, useStore } from './store';

export interface Place { path: string; query: URLSearchParams }

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });
export const place = new Store<Place>(here());

/** Where the reader was in each entry of the browser's history, by a number that the entry keeps. */
const read = new Map<number, number>();
let entry = Number(history.state?.entry ?? 0), last = entry;
let wanted: number | null = history.state?.y ?? null;
/** Where a page that the reader comes back to was left; null: it begins at its top. Asked for once. */
export function takeWanted(): number | null {
  const y = wanted;
  wanted = null;
  return y;
}
history.scrollRestoration = 'manual'; // the browser would scroll before the answers are there
addEventListener('popstate', () => {
  read.set(entry, scrollY);
  if (history.state?.entry === undefined && location.hash) return; // a link within the page
  entry = Number(history.state?.entry ?? 0);
  wanted = read.get(entry) ?? history.state?.y ?? 0;
  place.set(here());
});
addEventListener('pagehide', () => history.replaceState({ ...history.state, y: scrollY }, ''));

/** Query parameters that go along to every page: the ledger, the colours, and the reader's own address. */
const KEPT = ['ledger', 'theme', 'me'];

/** A link within the dashboard. The ledger of time travel and the theme go along. */
export function href(path: string, query: Record<string, string | null | undefined> = {}): string {
  const [bare, own = ''] = path.split('?');
  const out = new URLSearchParams(own);
  for (const name of KEPT) {
    const value = place.get().query.get(name);
    if (value && !out.has(name)) out.set(name, value);
  }
  for (const [name, value] of Object.entries(query)) {
    if (value == null || value === '') out.delete(name);
    else out.set(name, value);
  }
  const text = out.toString();
  return text ? `${bare}?${text}` : bare;
}

export function navigate(to: string, replace = false): void {
  if (replace) history.replaceState(history.state, '', to);
  else {
    read.set(entry, scrollY);
    entry = ++last;
    history.pushState({ entry }, '', to);
  }
  wanted = null; // a new page begins at its top
  place.set(here());
}

/** Sets parameters of this page's own URL; null removes one. */
export function setQuery(change: Record<string, string | null>, replace = false): void {
  const { path, query } = place.get();
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change)) {
    if (value == null || value === '') all.delete(name);
    else all.set(name, value);
  }
  const text = all.toString();
  navigate(text ? `${path}?${text}` : path, replace);
}

export const usePlace = () => useStore(place);
export const useQuery = (name: string, otherwise = '') => usePlace().query.get(name) ?? otherwise;

/** The ledger of time travel; null: now. */
export function ledgerOf(at: Place): string | null {
  const text = at.query.get('ledger');
  return text && /^[1-9]\d{0,9}$/.test(text) ? text : null;
}
/** The reader's own address; "": none is given. */
export const useMe = () => useQuery('me');
export const useLedger = () => ledgerOf(usePlace());

/** The values of ":name" in a pattern such as /pools/:p; null if the path is another. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const want = pattern.split('/'), got = path.replace(/(.)\/$/, '$1').split('/');
  if (want.length !== got.length) return null;
  const values: Record<string, string> = {};
  for (let i = 0; i < want.length; i++) {
    if (want[i].startsWith(':')) {
      try { values[want[i].slice(1)] = decodeURIComponent(got[i]); } catch { return null; }
    } else if (want[i] !== got[i]) return null;
  }
  return values;
}
