/** What is around every page: menu, freshness, time travel, search. */
import type { ComponentType } from 'preact';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fresh, now, testNetwork } from '../lib/fresh';
import { matchPath, place, setQuery, takeWanted, useLedger, useMe, usePlace } from '../lib/router';
import { useStore } from '../lib/store';
import { theme, toggleTheme } from '../lib/theme';
import { stamp } from '../lib/time';
import { useApi } from '../lib/api';
import { pages, type Page, type PageProps } from '../pages';
import { A, followLinks } from './bits';
import { Peek } from './copy';
import { Search, openSearch } from './search';
import { When } from './when';

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
      <span class={why || !f.connected ? undefined : 'roomy'}>{why ? 'stale' : f.connected ? 'live' : 'offline'}</span>
      <span class="num roomy">{f.ledger}</span>
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
      <When />
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
      <strong>The past: as of the close of ledger <span class="num">{ledger}</span></strong><span class={closed ? undefined : 'unseen'}>, {closed ? stamp(closed) : '0000-00-00 00:00:00'} UTC</span>.
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

const RETRY_MS = 5000;

function usePage(): { page: Page | null; args: Record<string, string>; View: ComponentType<PageProps> | null; failed: boolean } {
  const { path } = usePlace();
  const [, again] = useState(0);
  const [failed, setFailed] = useState<string | null>(null);
  const [tries, tryAgain] = useState(0);
  let page: Page | null = null, args: Record<string, string> = {};
  for (const one of pages) {
    const found = matchPath(one.path, path);
    if (found) { page = one; args = found; break; }
  }
  const View = page ? loaded.get(page.path) ?? null : null;
  useEffect(() => {
    if (!page || loaded.has(page.path)) return;
    const wanted = page;
    let retry: ReturnType<typeof setTimeout> | undefined;
    wanted.load().then((made) => { loaded.set(wanted.path, made.default); setFailed(null); again((n) => n + 1); },
      () => { setFailed(wanted.path); retry = setTimeout(() => tryAgain((n) => n + 1), RETRY_MS); });
    return () => clearTimeout(retry);
  }, [page, tries]);
  return { page, args, View, failed: failed !== null && failed === page?.path };
}

const isPage = (path: string) => pages.some((page) => matchPath(page.path, path) !== null);

const ARRIVAL_MS = 6000; // without anything new

/**
 * A page arrives from its top: what is below something that is still asked for stays unseen (style.css), and so never moves. Then,
 * on the way back, the page is where it was left. Ends when every answer is there, or after a time.
 */
function useArrival(main: RefObject<HTMLElement>, path: string): void {
  useLayoutEffect(() => {
    const box = main.current as HTMLElement;
    let wanted = takeWanted();
    delete box.dataset.arrived;
    const stay = () => { wanted = null; };
    const end = () => {
      box.dataset.arrived = box.querySelector('[aria-busy="true"]') ? 'late' : 'whole';
      watch.disconnect();
      clearTimeout(timer);
      for (const name of ['wheel', 'touchmove', 'keydown']) removeEventListener(name, stay);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      timer = setTimeout(end, ARRIVAL_MS);
      const whole = !box.querySelector('[aria-busy="true"]');
      if (wanted !== null && (whole || document.documentElement.scrollHeight >= wanted + innerHeight)) { scrollTo(0, wanted); wanted = null; }
      if (whole) end();
    };
    const watch = new MutationObserver(look);
    for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, stay);
    if (wanted === null) scrollTo(0, 0);
    watch.observe(box, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'] });
    look();
    return end;
  }, [path]);
}

export function App() {
  const { page, args, View, failed } = usePage();
  const { path } = usePlace();
  const ledger = useLedger(), me = useMe();
  const network = useStore(fresh, (f) => f.network), test = testNetwork(network);
  const stale = useStale();
  const [menu, setMenu] = useState(false);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const title = page ? page.title(args) : 'Not found';
  useEffect(() => {
    document.title = `${title} · Tidemark`;
    setMenu(false);
    if (!first.current) { main.current?.focus({ preventScroll: true }); }
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
  useArrival(main, path);
  const top = `/${path.split('/')[1]}`;
  // The same element again: a new ledger draws the frame, and the page only where its answers changed.
  const view = useMemo(() => View && <View key={path} args={args} />, [View, path]);
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <header class={menu ? 'top open' : 'top'}>
        <button type="button" class="menu-button" aria-expanded={menu} aria-controls="menu" aria-label="Menu" onClick={() => setMenu(!menu)}>☰</button>
        <A to="/" class="brand">Tidemark</A>
        {test && <strong class="pill warn" title={network}>{test.label}</strong>}
        <span class="grow" />
        <TimeTravel />
        <button type="button" class="search-button" onClick={openSearch} aria-label="Search" aria-keyshortcuts="/ Control+K Meta+K"><span aria-hidden="true" class="narrow">⌕</span><span class="roomy">Search</span> <kbd>/</kbd></button>
        <ThemeButton />
        <Badge />
      </header>
      <nav id="menu" class={menu ? 'menu open' : 'menu'} aria-label="Pages">
        <ul>{pages.filter((one) => one.menu).map((one) => (
          <li key={one.path}><A to={one.path} aria-current={one.path === path ? 'page' : one.path !== '/' && one.path === top ? 'true' : undefined}>{one.menu}</A></li>))}
          {me && <li><A to={`/address/${me}`} aria-current={path === `/address/${me}` ? 'page' : undefined}>My positions</A></li>}</ul>
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
        {view ? view : page && !failed ? <div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><div /><div /><div /></div>
          : <p class="notice">{failed ? <>This page could not be loaded. Trying again. <button type="button" onClick={() => location.reload()}>Load everything again</button></> : 'There is no such page.'}</p>}
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
  return <button type="button" class="theme-button" onClick={toggleTheme} aria-label={`Colours: ${now}. Switch to ${now === 'dark' ? 'light' : 'dark'}`}>{now === 'dark' ? '☾' : '☀'}</button>;
}
