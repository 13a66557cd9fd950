/**
 * One stream of the server for all tabs that are shown. It runs in a shared worker (stream.ts), and in the page itself where a browser has none.
 * A tab that is hidden hears nothing, and while all are hidden no stream is open.
 */

/** What a tab is told. `missed`: something may have happened of which this tab will not be told. */
export type News =
  | { type: 'open'; missed: boolean }
  | { type: 'away' } // no stream is open; the relay tries again
  | { type: 'ledger'; ledger: number; closedAt: string; kinds: string[] } // and which kinds of events it has
  | { type: 'stale'; reason: string }
  | { type: 'fresh' };

/** What a tab says of itself: it is shown, it is hidden, it is left for another page. */
export type Word = 'show' | 'hide' | 'leave';
export type Tab = (news: News) => void;

const LINGER_MS = 2000; // from one tab to another, one is hidden before the next is shown

export class Relay {
  private shown = new Map<Tab, { missed: boolean }>();
  private source: EventSource | null = null;
  private open = false; // the stream's first message came
  private kinds = new Set<string>(); // of the events since the last ledger
  private newest: News | null = null;
  private stale: News | null = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  private linger: ReturnType<typeof setTimeout> | undefined;
  private tries = 0;

  /** Tells the tab how things are, each time, and from then on what happens. */
  show(tab: Tab): void {
    clearTimeout(this.linger);
    const known = this.shown.has(tab);
    if (!known) this.shown.set(tab, { missed: true });
    if (!this.source && this.again === undefined) this.start();
    if (!this.open) tab({ type: 'away' });
    else this.tellOpen(tab, false);
    if (!this.open || known) return;
    if (this.newest) tab(this.newest);
    tab(this.stale ?? { type: 'fresh' });
  }

  hide(tab: Tab): void {
    this.shown.delete(tab);
    clearTimeout(this.linger);
    if (this.shown.size === 0) this.linger = setTimeout(() => this.stop(), LINGER_MS);
  }

  /** At once: browsers that keep a page that is left, to bring it back, stop it and its worker, timers too, and their connections stay open. */
  leave(tab: Tab): void {
    this.hide(tab);
    if (this.shown.size === 0) this.stop();
  }

  private tell(news: News): void {
    for (const tab of this.shown.keys()) tab(news);
  }

  private tellOpen(tab: Tab, missed: boolean): void {
    const state = this.shown.get(tab);
    if (!state) return;
    tab({ type: 'open', missed: missed || state.missed });
    state.missed = false;
  }

  private stop(): void {
    clearTimeout(this.again);
    clearTimeout(this.linger);
    this.again = undefined;
    this.source?.close();
    this.source = this.newest = this.stale = null;
    this.open = false;
    this.kinds.clear();
  }

  private lost(): void {
    this.open = false;
    this.tell({ type: 'away' });
  }

  private restart(): void {
    this.stop();
    this.lost();
    this.tries++;
    this.again = setTimeout(() => this.start(), Math.min(30000, 500 * 2 ** Math.min(this.tries, 6)));
  }

  private start(): void {
    this.again = undefined;
    const source = this.source = new EventSource('/api/stream?topics=ledger,event');
    const on = (name: string, then: (body: Record<string, unknown>) => void) =>
      source.addEventListener(name, (message) => { if (message instanceof MessageEvent) then(JSON.parse(message.data)); });
    // The browser's own event of this name is no message.
    on('open', (body) => {
      this.open = true;
      this.tries = 0;
      this.stale = null;
      for (const tab of this.shown.keys()) this.tellOpen(tab, body.resumed !== true);
    });
    on('event', (body) => { this.kinds.add(String(body.kind ?? '')); });
    on('ledger', (body) => this.ledger(Number(body.ledger), String(body.closedAt)));
    on('stale', (body) => this.tell(this.stale = { type: 'stale', reason: String(body.reason) }));
    on('fresh', () => { this.stale = null; this.tell({ type: 'fresh' }); });
    on('dropped', () => this.restart());
    // The browser tries again by itself, behind the last message, unless the server refused.
    source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) this.restart(); else this.lost(); });
  }

  private ledger(ledger: number, closedAt: string): void {
    this.tell({ type: 'ledger', ledger, closedAt, kinds: [...this.kinds] });
    this.newest = { type: 'ledger', ledger, closedAt, kinds: [] };
    this.kinds.clear();
  }
}
