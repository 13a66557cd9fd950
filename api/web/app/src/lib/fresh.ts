/** How old the data is that the page shows: from the headers of answers and from the stream. */
import { Store, together } from './store';
import { span } from './time';

export interface Freshness {
  ledger: number;          // the newest that was heard of; 0: none yet
  closedAt: number;        // unix seconds
  offset: number;          // the server's clock minus performance.now(), seconds
  serverStale: boolean;    // the stream or an answer said that the index is stale
  connected: boolean;      // the stream is open
  why: string;
  network: string;         // the passphrase
  proven: number;          // signatures prove all ledgers up to this one; 0: none
  historyFrom: number;     // the index began with a checkpoint, and knows the past from this ledger on; 0: there is no such limit
}

export const fresh = new Store<Freshness>({
  ledger: 0, closedAt: 0, offset: Date.now() / 1000 - performance.now() / 1000,
  serverStale: false, connected: false, why: '', network: '', proven: 0, historyFrom: 0,
});

const change = (part: Partial<Freshness>) => {
  const now = fresh.get();
  const next = { ...now, ...part };
  const same = (Object.keys(next) as (keyof Freshness)[]).every((key) => next[key] === now[key]);
  if (!same) fresh.set(next);
};

/** Since the server heard of its index: above the one it is stale, as by the API's own default; below the other it lives. */
const DATA_AGE_MAX_MS = 60000, DATA_AGE_LIVE_MS = 5000;

/** An answer about the newest ledger. */
export function noteAnswer(headers: Headers): void {
  const date = headers.get('Date'), ledger = headers.get('Ledger-Sequence'), closed = headers.get('Ledger-Closed-At');
  const network = headers.get('Network');
  const part: Partial<Freshness> = {};
  if (network) part.network = network;
  if (ledger) part.proven = Number(headers.get('Proven-Through') ?? 0);
  if (ledger) part.historyFrom = Number(headers.get('History-From') ?? 0);
  if (date) {
    const offset = Math.round(Date.parse(date) / 1000 - performance.now() / 1000);
    if (Math.abs(offset - fresh.get().offset) > 2) part.offset = offset;
  }
  const age = headers.get('Data-Age-Ms');
  if (age !== null && Number(age) > DATA_AGE_MAX_MS) part.serverStale = true;
  if (age !== null && Number(age) < DATA_AGE_LIVE_MS) { part.serverStale = false; part.why = ''; }
  change(part);
  if (ledger && closed) noteLedger(Number(ledger), closed);
}

/** The first is shown at once, later ones with the figures of their ledger. */
export function noteLedger(ledger: number, closedAt: string): void {
  const apply = () => { if (ledger > fresh.get().ledger) change({ ledger, closedAt: Date.parse(closedAt) / 1000 }); };
  if (fresh.get().ledger) together(apply);
  else apply();
}
export const noteStale = (serverStale: boolean, why = '') => change({ serverStale, why: serverStale ? why : '' });
export const noteConnected = (connected: boolean) => change({ connected });

/** Seconds since the newest ledger closed, by the server's clock. */
export const ledgerAge = (f: Freshness) => Math.max(0, performance.now() / 1000 + f.offset - f.closedAt);

/** A ledger that closed longer ago is not shown as the present: the API's own default for compliance. */
export const LEDGER_AGE_MAX = 300;

export function staleReason(f: Freshness): string {
  if (f.serverStale) return f.why || 'The server has not heard of its index for too long.';
  if (f.ledger && ledgerAge(f) > LEDGER_AGE_MAX) return 'No newer ledger has arrived.';
  return '';
}

/** The age in steps: seconds by ten, then minutes. With ledgers every five seconds it is one text, which nothing draws again. */
const ageText = (s: number) => (s < 10 ? '< 10 s' : span(s < 100 ? Math.floor(s / 10) * 10 : s));

export interface Now { age: string; stale: string }

/** How old the newest ledger is, as a text, and why the data is stale ('': it is not). Changes only with these texts. */
export const now = new Store<Now>({ age: '', stale: '' });

/** The server's clock in minutes, for ages of other things. */
export const minute = new Store(Math.floor(Date.now() / 60000));

let timer: ReturnType<typeof setTimeout> | undefined;

function look(): void {
  clearTimeout(timer);
  minute.set(Math.floor((performance.now() / 1000 + fresh.get().offset) / 60));
  const f = fresh.get(), s = ledgerAge(f), stale = staleReason(f), age = f.ledger ? ageText(s) : '';
  if (age !== now.get().age || stale !== now.get().stale) now.set({ age, stale });
  // The next step. LEDGER_AGE_MAX is one of them, and a reason that the server gives comes with `fresh`.
  const step = s < 100 ? 10 : 60;
  if (f.ledger && !document.hidden) timer = setTimeout(look, (step - (s % step)) * 1000 + 20);
}
fresh.subscribe(look);
document.addEventListener('visibilitychange', look);

/** What to say of a network where nothing has a value: a short label and a sentence. */
export function testNetwork(network: string): { label: string; text: string } | null {
  if (/simulated/i.test(network)) return { label: 'Simulated data', text: 'Simulated data: nothing here happened on any network.' };
  if (/^standalone /i.test(network)) return { label: 'Private test network', text: 'A private test network: what happened here happened on no public network.' };
  return null;
}
