/** One stream for the whole page. It says which ledger is the newest and what happened; answers come from the API. */
import { noteConnected, noteLedger, noteStale } from './fresh';

const PAUSE_MS = 4500; // between two rounds of questions: a ledger closes every five seconds

interface Watcher { kinds: string[]; run: () => void; due: boolean }
const watchers = new Set<Watcher>();
let source: EventSource | null = null;
let again: ReturnType<typeof setTimeout> | undefined;
let sweep: ReturnType<typeof setTimeout> | undefined;
let last = 0; // the last round of questions (performance.now)
let tries = 0;

/** Every kind of event. */
export const ANY = ['*'];

/** Runs `run` after ledgers with an event of these kinds, [] after each ledger; returns how to stop it. */
export function watch(kinds: string[], run: () => void): () => void {
  const watcher: Watcher = { kinds, run, due: false };
  watchers.add(watcher);
  return () => { watchers.delete(watcher); };
}

function runDue(): void {
  sweep = undefined;
  if (document.hidden) return; // when it is shown again
  const due = [...watchers].filter((watcher) => watcher.due);
  if (due.length === 0) return;
  const left = last + PAUSE_MS - performance.now();
  if (left > 0) { sweep = setTimeout(runDue, left); return; }
  last = performance.now();
  // All views in one round: their answers come together and are drawn at once.
  for (const watcher of due) {
    watcher.due = false;
    watcher.run();
  }
}
const schedule = () => { sweep ??= setTimeout(runDue, 50); };

function mark(kind: string | null): void {
  for (const watcher of watchers)
    if (kind === null ? watcher.kinds.length === 0 : watcher.kinds.some((k) => k === '*' || kind.startsWith(k))) watcher.due = true;
}

/** Everything may have changed: after a time without a stream. */
function markAll(): void {
  for (const watcher of watchers) watcher.due = true;
  schedule();
}

function close(): void {
  source?.close();
  source = null;
  noteConnected(false);
}

function reopen(): void {
  close();
  clearTimeout(again);
  tries++;
  again = setTimeout(open, Math.min(30000, 500 * 2 ** Math.min(tries, 6)));
}

function open(): void {
  if (source) return;
  source = new EventSource('/api/stream?topics=ledger,event');
  let begun = false;
  source.addEventListener('open', () => {
    noteConnected(true);
    tries = 0;
    if (!begun) markAll();
    begun = true;
  });
  source.addEventListener('ledger', (message) => {
    const body = JSON.parse((message as MessageEvent).data);
    noteLedger(Number(body.ledger), body.closedAt);
    noteConnected(true);
    mark(null);
    schedule();
  });
  source.addEventListener('event', (message) => {
    const body = JSON.parse((message as MessageEvent).data);
    mark(String(body.kind ?? ''));
  });
  source.addEventListener('stale', (message) => {
    const { reason } = JSON.parse((message as MessageEvent).data);
    noteStale(true, staleText(reason));
  });
  source.addEventListener('fresh', () => { noteStale(false); markAll(); });
  source.addEventListener('dropped', reopen);
  // The browser tries again by itself unless the server refused.
  source.addEventListener('error', () => {
    noteConnected(false);
    if (source?.readyState === EventSource.CLOSED) reopen();
  });
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) schedule(); });

function staleText(reason: string): string {
  if (reason === 'database') return 'The server cannot reach its database.';
  if (reason === 'behind') return 'The server’s database lacks its newest ledgers for the moment.';
  return 'The server has not heard of the indexer for too long.';
}

export function startStream(): void { open(); }
export function stopStream(): void { clearTimeout(again); close(); }
