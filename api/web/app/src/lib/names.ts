/** Symbols of tokens, the tokens of pools and the markets, for sentences and filters: asked once for a visit, as of now. */
import { get, type Item } from './api';
import { Store } from './store';

export interface Names { tokens: Map<string, string>; pools: Map<string, [string, string]>; markets: string[]; loaded: boolean }

export const names = new Store<Names>({ tokens: new Map(), pools: new Map(), markets: [], loaded: false });

let asked = false;
/** The first 200 of each kind, by name. Amounts of others have no unit. */
export function wantNames(): void {
  if (asked) return;
  asked = true;
  const list = (path: string): Promise<Item[]> => get(path, { limit: 200 }, null).then((page) => page.items, () => { asked = false; return []; });
  void Promise.all([list('/api/pools'), list('/api/markets')]).then(([pools, markets]) => {
    const tokens = new Map<string, string>();
    const note = (token: string, symbol: string | null) => { if (symbol) tokens.set(token, symbol); };
    for (const p of pools) { note(p.tokenA, p.tokenASymbol); note(p.tokenB, p.tokenBSymbol); }
    for (const m of markets) note(m.synthToken, m.synthTokenSymbol);
    names.set({ tokens, pools: new Map(pools.map((p) => [p.pool, [p.tokenASymbol ?? '', p.tokenBSymbol ?? '']])), markets: markets.map((m) => m.market), loaded: true });
  });
}
