/** What is around every page: menu, freshness, time travel, search. */
import type { ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fresh, now, testNetwork } from '../lib/fresh';
import { matchPath, place, setQuery, useLedger, usePlace } from '../lib/router';
import { useStore } from '../lib/store';
import { theme, toggleTheme } from '../lib/theme';
import { stamp } from '../lib/time';
import { useApi } from '../lib/api';
import { pages, type Page, type PageProps } from '../pages';
import { A, followLinks } from './bits';
import { Peek } from './copy';
import { Search, openSearch } from './search';

function Badge() {
  const f = useStore(fresh);
  const ledger = useLedger();
  const { age, stale: why } = useStore(now);
  if (ledger) return null;
  if (!f.ledger) return <span class="badge" role="status">connecting…</span>;
  const title = `Ledger ${f.ledger} closed ${stamp(f.closedAt)} UTC. ${why || (f.connected ? 'Live.' : 'The live stream is not connected; trying again.')}`
    + (f.proven ? ` Validators' signatures prove all ledgers up to ${f.proven}.` : '');
  return (
    <A to={`/ledger/${f.ledger}`} class={`badge ${why ? 'bad' : f.connected ? 'good' : 'warn'}`} title={title} data-stale={why ? 'true' : 'false'}>
      <span class="dot" aria-hidden="true" />
      <span>{why ? 'stale' : f.connected ? 'live' : 'offline'}</span>
      <span class="num">{f.ledger}</span>
      <span class="num age">{age}</span>
    </A>
  );
}

/** Tells the page that what it shows is not the present; everything below is grey then. */
function useStale(): string {
  const past = useLedger();
  const why = useStore(now, (n) => n.stale);
  return past ? '' : why;
}

function TimeTravel() {
  const ledger = useLedger();
  const [text, setText] = useState(ledger ?? '');
  useEffect(() => setText(ledger ?? ''), [ledger]);
  const go = (to: string) => setQuery({ ledger: /^[1-9]\d{0,9}$/.test(to) ? to : null });
  const step = (by: number) => go(String(Math.max(1, Number(ledger ?? fresh.get().ledger) + by)));
  return (
    <form class={`travel${ledger ? ' on' : ''}`} onSubmit={(event) => { event.preventDefault(); go(text.trim()); }}>
      <label for="travel">As of ledger</label>
      <button type="button" onClick={() => step(-1)} aria-label="One ledger earlier">‹</button>
      <input id="travel" inputMode="numeric" autocomplete="off" value={text} placeholder="newest" onInput={(event) => setText(event.currentTarget.value)} />
      <button type="button" onClick={() => step(1)} disabled={!ledger} aria-label="One ledger later">›</button>
      {ledger && <button type="button" onClick={() => go('')}>Now</button>}
    </form>
  );
}

function StaleBanner({ why }: { why: string }) {
  const f = useStore(fresh);
  return <p class="banner bad" role="status"><strong>Not current.</strong> {why} The figures below are those of ledger <span class="num">{f.ledger}</span>, {stamp(f.closedAt)} UTC.</p>;
}

function PastBanner({ ledger }: { ledger: string }) {
  const answer = useApi(`/api/ledgers/${ledger}`);
  const closed = answer.data?.item.closedAt;
  return (
    <p class="banner past" role="status">
      <strong>The past: as of the close of ledger <span class="num">{ledger}</span></strong>{closed && <span>, {stamp(closed)} UTC</span>}.
      {answer.error && <span> {answer.error.message}</span>} <button type="button" onClick={() => setQuery({ ledger: null })}>Back to now</button>
    </p>
  );
}

/** Lists begin at that ledger, and totals of all time have no figure: the page says why. */
function BegunBanner() {
  const from = useStore(fresh, (f) => f.historyFrom);
  return from > 0 ? <p class="banner past" role="note">This index began with the state of a checkpoint: its past begins with ledger <span class="num">{from}</span>. Totals of all time are not known.</p> : null;
}

const loaded = new Map<string, ComponentType<PageProps>>();

/** The code of the first page is asked for before anything is drawn; usePage then gets the same module. */
void pages.find((page) => matchPath(page.path, place.get().path))?.load().catch(() => {});

function usePage(): { page: Page | null; args: Record<string, string>; View: ComponentType<PageProps> | null; failed: boolean } {
  const { path } = usePlace();
  const [, again] = useState(0);
  const [failed, setFailed] = useState<string | null>(null);
  let page: Page | null = null, args: Record<string, string> = {};
  for (const one of pages) {
    const found = matchPath(one.path, path);
    if (found) { page = one; args = found; break; }
  }
  const View = page ? loaded.get(page.path) ?? null : null;
  useEffect(() => {
    if (!page || loaded.has(page.path)) return;
    const wanted = page;
    wanted.load().then((made) => { loaded.set(wanted.path, made.default); again((n) => n + 1); }, () => setFailed(wanted.path));
  }, [page]);
  return { page, args, View, failed: failed !== null && failed === page?.path };
}

const isPage = (path: string) => pages.some((page) => matchPath(page.path, path) !== null);

export function App() {
  const { page, args, View, failed } = usePage();
  const { path } = usePlace();
  const ledger = useLedger();
  const network = useStore(fresh, (f) => f.network), test = testNetwork(network);
  const stale = useStale();
  const [menu, setMenu] = useState(false);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const title = page ? page.title(args) : 'Not found';
  useEffect(() => {
    document.title = `${title} · Tidemark`;
    setMenu(false);
    if (!first.current) { main.current?.focus({ preventScroll: true }); scrollTo(0, 0); }
    first.current = false;
  }, [path, title]);
  useEffect(() => {
    const onClick = (event: MouseEvent) => followLinks(event, isPage);
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as Element | null)?.closest('input, select, textarea, [contenteditable]');
      if ((event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey)) {
        event.preventDefault();
        openSearch();
      }
    };
    document.addEventListener('click', onClick);
    document.addEventListener('keydown', onKey);
    return () => { document.removeEventListener('click', onClick); document.removeEventListener('keydown', onKey); };
  }, []);
  const top = `/${path.split('/')[1]}`;
  // The same element again: a new ledger draws the frame, and the page only where its answers changed.
  const view = useMemo(() => View && <View key={path} args={args} />, [View, path]);
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <button type="button" class="menu-button" aria-expanded={menu} aria-controls="menu" onClick={() => setMenu(!menu)}>Menu</button>
        <A to="/" class="brand">Tidemark</A>
        {test && <strong class="pill warn" title={network}>{test.label}</strong>}
        <span class="grow" />
        <TimeTravel />
        <button type="button" class="search-button" onClick={openSearch} aria-keyshortcuts="/ Control+K Meta+K">Search <kbd>/</kbd></button>
        <ThemeButton />
        <Badge />
      </header>
      <nav id="menu" class={menu ? 'menu open' : 'menu'} aria-label="Pages">
        <ul>{pages.filter((one) => one.menu).map((one) => (
          <li key={one.path}><A to={one.path} aria-current={one.path === path ? 'page' : one.path !== '/' && one.path === top ? 'true' : undefined}>{one.menu}</A></li>))}</ul>
        <ul class="outside">
          <li><a href="/docs">API documentation</a></li>
          <li><a href="/kyc">Identity check</a></li>
          <li><a href="/app/licenses.txt">Licences</a></li>
        </ul>
      </nav>
      <main id="main" ref={main} tabIndex={-1} class={stale ? 'stale' : undefined}>
        {ledger && <PastBanner ledger={ledger} />}
        <BegunBanner />
        {stale && <StaleBanner why={stale} />}
        <h1>{title}</h1>
        {view ? view : page && !failed ? <div class="skeleton" aria-busy="true" aria-label="Loading"><div /><div /><div /></div>
          : <p class="notice">{failed ? 'This page could not be loaded. Try again.' : 'There is no such page.'}</p>}
      </main>
      <footer>
        {test && <p>{test.text}</p>}
        <p class="dim">Network: {network || 'not known yet'}. Amounts are cut, never rounded; hover over one, tap it or focus it for all digits and raw units; in a table by Enter and the arrow keys. Times are UTC.
          Candles by <a href="https://www.tradingview.com/" rel="noreferrer">TradingView</a> Lightweight Charts™.</p>
      </footer>
      <Search />
      <Peek />
    </>
  );
}

function ThemeButton() {
  const now = useStore(theme);
  return <button type="button" onClick={toggleTheme} aria-label={`Colours: ${now}. Switch to ${now === 'dark' ? 'light' : 'dark'}`}>{now === 'dark' ? '☾' : '☀'}</button>;
}
