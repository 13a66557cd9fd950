/** The search box: addresses, hashes and ledgers by their form; markets, pools and partners by name. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { everything, type Whole } from '../lib/api';
import { href, navigate } from '../lib/router';

interface Hit { to: string; name: string; kind: string }

let show: () => void = () => {};
export const openSearch = () => show();

/** What a text may be by its form alone. */
export function byForm(text: string): Hit[] {
  const hits: Hit[] = [];
  if (/^[GC][A-Z2-7]{55}$/.test(text)) hits.push({ to: `/address/${text}`, name: text, kind: text[0] === 'C' ? 'contract' : 'address' });
  if (/^[0-9a-fA-F]{64}$/.test(text)) hits.push({ to: `/tx/${text.toLowerCase()}`, name: text, kind: 'transaction' });
  if (/^[1-9]\d{0,9}$/.test(text)) hits.push({ to: `/ledger/${text}`, name: text, kind: 'ledger' });
  return hits;
}

/** The names that there are, asked for once for each opening of the box. */
async function names(): Promise<{ hits: Hit[]; more: boolean }> {
  const all = (path: string): Promise<Whole> => everything(path, { limit: 200 }).catch(() => ({ items: [], more: false }));
  const lists = await Promise.all([all('/api/markets'), all('/api/pools'), all('/api/partners')]);
  const [markets, pools, partners] = lists.map((list) => list.items);
  const hits = [
    ...markets.map((m) => ({ to: `/markets/${encodeURIComponent(m.market)}`, name: m.market, kind: 'market' })),
    ...pools.map((p) => ({ to: `/pools/${encodeURIComponent(p.pool)}`, name: p.pool, kind: `pool ${p.tokenASymbol ?? ''}/${p.tokenBSymbol ?? ''}` })),
    ...partners.map((p) => ({ to: `/partners/${encodeURIComponent(p.partnerId)}`, name: p.name ?? p.partnerId, kind: `partner ${p.partnerId}` })),
  ];
  return { hits, more: lists.some((list) => list.more) };
}

export function Search() {
  const box = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [all, setAll] = useState<Hit[]>([]);
  const [more, setMore] = useState(false);
  const [at, setAt] = useState(0);
  useEffect(() => {
    show = () => {
      if (box.current?.open) return;
      setText('');
      setAt(0);
      box.current?.showModal();
      names().then((found) => { setAll(found.hits); setMore(found.more); }, () => {});
    };
  }, []);
  const wanted = text.trim();
  const low = wanted.toLowerCase();
  const exact = more && /^\w{1,32}$/.test(wanted) && !all.some((hit) => hit.name === wanted)
    ? [{ to: `/markets/${wanted}`, name: wanted, kind: 'market of that name' }, { to: `/pools/${wanted}`, name: wanted, kind: 'pool of that name' }] : [];
  const hits = [...byForm(wanted), ...exact, ...all.filter((hit) => !low || hit.name.toLowerCase().includes(low) || hit.kind.toLowerCase().includes(low))].slice(0, 12);
  const chosen = Math.min(at, hits.length - 1);
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    box.current?.close();
    navigate(href(hit.to));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      setAt(Math.max(0, Math.min(hits.length - 1, chosen + (event.key === 'ArrowDown' ? 1 : -1))));
      event.preventDefault();
    } else if (event.key === 'Enter') {
      go(hits[chosen]);
      event.preventDefault();
    }
  };
  return (
    <dialog ref={box} class="search" aria-label="Search" onClick={(event) => { if (event.target === box.current) box.current?.close(); }}>
      <div class="search-in">
        <input type="search" role="combobox" aria-label="Search for an address, a transaction, a ledger, a market, a pool or a partner" aria-expanded="true" aria-controls="hits"
          aria-activedescendant={hits.length ? `hit-${chosen}` : undefined} placeholder="Address, transaction, ledger, market, pool, partner" spellcheck={false} autocomplete="off"
          value={text} onInput={(event) => { setText(event.currentTarget.value); setAt(0); }} onKeyDown={onKey} />
        <ul id="hits" role="listbox" aria-label="Results">
          {hits.map((hit, i) => (
            <li key={hit.to} id={`hit-${i}`} role="option" aria-selected={i === chosen} onClick={() => go(hit)}><span class="hit">{hit.name}</span> <span class="dim">{hit.kind}</span></li>))}
        </ul>
        {more && <p class="dim">There are more names than are listed here. A whole name of a market or pool is found all the same.</p>}
        {hits.length === 0 && <p class="dim">Nothing has that name. Addresses have 56 characters, hashes 64 digits.</p>}
      </div>
    </dialog>
  );
}
