/** What the stream says, for the views of this page: which ledger is the newest and what happened. Answers come from the API. */
import { noteConnected, noteLedger, noteStale } from './fresh';
import { Relay, type News, type Word } from './relay';
import script from './stream?sharedworker&url';

const PAUSE_MS = 4500; // between two rounds of questions: a ledger closes every five seconds
const SILENT_MS = 20000, REPLY_MS = 5000, START_MS = 30000, STAYS_MS = 30000; // after silence the page asks whether its worker still lives; an answer takes so long, and a worker's start

interface Watcher { kinds: string[]; run: () => void; due: boolean }
const watchers = new Set<Watcher>();
let sweep: ReturnType<typeof setTimeout> | undefined;
let last = 0; // the last round of questions (performance.now)

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

type Say = (word: Word) => void;
let say: Say = () => {};
let heard = true; // the relay of now has answered
let silence: ReturnType<typeof setTimeout> | undefined;
let left = false; // for another page; the browser may keep this one and bring it back
const away = () => document.hidden || left;

function hear(news: News): void {
  heard = true;
  expect();
  if (news.type === 'open' || news.type === 'away') noteConnected(news.type === 'open');
  if (news.type === 'open' && news.missed) markAll();
  if (news.type === 'ledger') {
    noteLedger(news.ledger, news.closedAt);
    mark(null);
    for (const kind of news.kinds) mark(kind);
    schedule();
  }
  if (news.type === 'stale') noteStale(true, staleText(news.reason));
  if (news.type === 'fresh') { noteStale(false); markAll(); }
}

/** A worker ends without a word, such as with the process of another tab that crashed: a page that hears nothing for long asks, and then takes another. */
function expect(): void {
  clearTimeout(silence);
  if (!away()) silence = setTimeout(show, SILENT_MS);
}

function show(): void {
  clearTimeout(silence);
  if (away()) { say(left ? 'leave' : 'hide'); return; }
  silence = setTimeout(connect, heard ? REPLY_MS : START_MS);
  say('show'); // a relay of the page's own answers at once
}

function leaves(yes: boolean): void {
  left = yes;
  show();
}

/** A policy of the page takes the address of a script from code that is named for it, not as a text. */
function address(): string {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const types = (window as any).trustedTypes;
  return types ? types.createPolicy('stream', { createScriptURL: () => script }).createScriptURL('') : script;
}

function worker(): Say {
  const shared = new SharedWorker(address(), { type: 'module' });
  shared.addEventListener('error', () => { heard = false; connect(); });
  shared.port.addEventListener('message', ({ data }) => hear(data));
  shared.port.start();
  return (word) => shared.port.postMessage(word);
}

function alone(): Say {
  const relay = new Relay();
  return (word) => relay[word](hear);
}

/** Takes the shared worker, and a relay of the page's own where there is none or the last one never answered. */
function connect(): void {
  say('hide');
  try {
    say = heard ? worker() : alone();
  } catch {
    say = alone();
  }
  heard = false;
  show();
}

export function startStream(): void {
  connect();
  document.addEventListener('visibilitychange', () => {
    show();
    if (!document.hidden) schedule();
  });
  // A page that is left is hidden too late, in WebKit, for its worker to hear of it: browsers stop both. With `beforeunload` a page may still stay, such as for a download.
  addEventListener('beforeunload', () => { leaves(true); setTimeout(leaves, STAYS_MS, false); });
  addEventListener('pagehide', () => leaves(true));
  addEventListener('pageshow', () => leaves(false));
}

function staleText(reason: string): string {
  if (reason === 'database') return 'The server cannot reach its database.';
  if (reason === 'behind') return 'The server’s database lacks its newest ledgers for the moment.';
  return 'The server has not heard of the indexer for too long.';
}
