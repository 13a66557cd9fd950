/** The search box: addresses, hashes and ledgers by their form; pages, markets, pools, tokens, partners and proposals by name. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { everything, type Item, type Whole } from '../lib/api';
import { href, navigate } from '../lib/router';
import { pages } from '../pages';

interface Hit { to: string; name: string; kind: string }

let show: () => void = () => {};
export const openSearch = () => show();

/** What a text may be by its form alone, in whatever case it was written. */
export function byForm(text: string): Hit[] {
  const hits: Hit[] = [], large = text.toUpperCase();
  if (/^[GC][A-Z2-7]{55}$/.test(large)) hits.push({ to: `/address/${large}`, name: large, kind: large[0] === 'C' ? 'contract' : 'address' });
  if (/^[0-9a-fA-F]{64}$/.test(text)) hits.push({ to: `/tx/${text.toLowerCase()}`, name: text, kind: 'transaction' });
  if (/^[1-9]\d{0,9}$/.test(text)) hits.push({ to: `/ledger/${text}`, name: text, kind: 'ledger' });
  return hits;
}

const PAGES: Hit[] = [...pages.filter((page) => page.menu).map((page) => ({ to: page.path, name: page.menu as string, kind: 'page' })),
  { to: '/docs', name: 'API documentation', kind: 'page' }, { to: '/kyc', name: 'Identity check', kind: 'page' }];
const OUTSIDE = ['/docs', '/kyc'];

/** The names that there are, asked for once for each opening of the box. */
async function names(): Promise<{ hits: Hit[]; more: boolean }> {
  const all = (path: string): Promise<Whole> => everything(path, { limit: 200 }).catch(() => ({ items: [], more: false }));
  const lists = await Promise.all([all('/api/markets'), all('/api/pools'), all('/api/partners'), all('/api/dao/proposals')]);
  const [markets, pools, partners, proposals] = lists.map((list) => list.items);
  const tokens = new Map<string, string>();
  const note = (of: Item, name: string) => { if (of[name] && of[`${name}Symbol`]) tokens.set(of[name], of[`${name}Symbol`]); };
  for (const p of pools) { note(p, 'tokenA'); note(p, 'tokenB'); }
  for (const m of markets) note(m, 'synthToken');
  const hits = [
    ...markets.map((m) => ({ to: `/markets/${encodeURIComponent(m.market)}`, name: m.market, kind: 'market' })),
    ...pools.map((p) => ({ to: `/pools/${encodeURIComponent(p.pool)}`, name: p.pool, kind: `pool ${p.tokenASymbol ?? ''}/${p.tokenBSymbol ?? ''}` })),
    ...[...tokens].map(([token, symbol]) => ({ to: `/address/${token}`, name: symbol, kind: 'token' })),
    ...partners.map((p) => ({ to: `/partners/${encodeURIComponent(p.partnerId)}`, name: p.name ?? p.partnerId, kind: `partner ${p.partnerId}` })),
    ...proposals.map((p) => ({ to: `/governance?proposal=${p.proposalId}`, name: p.title?.trim() || '(no title)', kind: `proposal ${p.proposalId}` })),
  ];
  return { hits, more: lists.some((list) => list.more) };
}

const wordsOf = (text: string) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** How well a hit fits, 0 the best; null: not at all. `low`: in small letters. */
function fit({ name, kind }: Hit, low: string): number | null {
  const own = name.toLowerCase(), of = kind.toLowerCase(), words = wordsOf(`${name} ${kind}`);
  if (own === low) return 0;
  if (own.startsWith(low)) return 1;
  if (words.some((word) => word.startsWith(low)) || of.startsWith(low)) return 2;
  if (wordsOf(name).map((word) => word[0]).join('').startsWith(low)) return 3; // first letters
  if (own.includes(low) || of.includes(low)) return 4;
  return wordsOf(low).length > 1 && wordsOf(low).every((part) => words.some((word) => word.startsWith(part))) ? 5 : null;
}

function find(all: Hit[], low: string): Hit[] {
  if (!low) return all;
  return all.map((hit) => ({ hit, rank: fit(hit, low) })).filter(({ rank }) => rank !== null).sort((a, b) => (a.rank as number) - (b.rank as number)).map(({ hit }) => hit);
}

export function Search() {
  const box = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [all, setAll] = useState<Hit[]>(PAGES);
  const [more, setMore] = useState(false);
  const [at, setAt] = useState(0);
  useEffect(() => {
    show = () => {
      if (box.current?.open) return;
      setText('');
      setAt(0);
      box.current?.showModal();
      names().then((found) => { setAll([...PAGES, ...found.hits]); setMore(found.more); }, () => {});
    };
  }, []);
  const wanted = text.trim();
  const low = wanted.toLowerCase();
  const exact = more && /^\w{1,32}$/.test(wanted) && !all.some((hit) => hit.name === wanted)
    ? [{ to: `/markets/${wanted}`, name: wanted, kind: 'market of that name' }, { to: `/pools/${wanted}`, name: wanted, kind: 'pool of that name' }] : [];
  const hits = [...byForm(wanted), ...exact, ...find(all, low)].slice(0, 12);
  const chosen = Math.min(at, hits.length - 1);
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    box.current?.close();
    if (OUTSIDE.includes(hit.to)) location.assign(hit.to);
    else navigate(href(hit.to));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      setAt(Math.max(0, Math.min(hits.length - 1, chosen + (event.key === 'ArrowDown' ? 1 : -1))));
      event.preventDefault();
    } else if (event.key === 'Enter') {
      go(hits[chosen]);
      event.preventDefault();
    } else if (event.key === 'Escape') { // the browser would empty the field first
      box.current?.close();
      event.preventDefault();
    }
  };
  return (
    <dialog ref={box} class="search" aria-label="Search" onClick={(event) => { if (event.target === box.current) box.current?.close(); }}>
      <div class="search-in">
        <input type="search" role="combobox" aria-label="Search for an address, a transaction, a ledger, a page, a market, a pool, a token, a partner or a proposal" aria-expanded="true" aria-controls="hits"
          aria-activedescendant={hits.length ? `hit-${chosen}` : undefined} placeholder="Address, transaction, ledger, or a name" spellcheck={false} autocomplete="off"
          value={text} onInput={(event) => { setText(event.currentTarget.value); setAt(0); }} onKeyDown={onKey} />
        <ul id="hits" role="listbox" aria-label="Results">
          {hits.map((hit, i) => (
            <li key={`${hit.to} ${hit.kind}`} id={`hit-${i}`} role="option" aria-selected={i === chosen} onClick={() => go(hit)}><span class="hit">{hit.name}</span> <span class="dim">{hit.kind}</span></li>))}
        </ul>
        {more && <p class="dim">There are more names than are searched here. A whole name of a market or pool is found all the same.</p>}
        {hits.length === 0 && <p class="dim">Nothing has that name. Addresses have 56 characters, hashes 64 digits.</p>}
      </div>
    </dialog>
  );
}
