/** Every page of the dashboard: its path, its place in the menu, and where its code is. The server knows the same paths (route.def). */
import type { ComponentType } from 'preact';

export interface PageProps { args: Record<string, string> }
export interface Page {
  path: string;
  title: (args: Record<string, string>) => string;
  menu?: string;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

const named = (title: string) => () => title;

export const pages: Page[] = [
  { path: '/', title: named('Overview'), menu: 'Overview', load: () => import('./overview') },
  { path: '/markets', title: named('Markets'), menu: 'Markets', load: () => import('./markets') },
  { path: '/markets/:market', title: (a) => `Market ${a.market}`, load: () => import('./market') },
  { path: '/pools', title: named('Pools'), menu: 'Pools', load: () => import('./pools') },
  { path: '/pools/:pool', title: (a) => `Pool ${a.pool}`, load: () => import('./pool') },
  { path: '/vaults', title: named('Vaults'), menu: 'Vaults', load: () => import('./vaults') },
  { path: '/vaults/:market/:owner', title: (a) => `Vault in ${a.market}`, load: () => import('./vault') },
  { path: '/stability-pool', title: named('Stability pool'), menu: 'Stability pool', load: () => import('./stability') },
  { path: '/oracle', title: named('Oracle'), menu: 'Oracle', load: () => import('./oracle') },
  { path: '/governance', title: named('Governance'), menu: 'Governance', load: () => import('./governance') },
  { path: '/partners', title: named('Partners'), menu: 'Partners', load: () => import('./partners') },
  { path: '/partners/:partner', title: (a) => `Partner ${a.partner}`, load: () => import('./partner') },
  { path: '/earnings', title: named('Earnings'), menu: 'Earnings', load: () => import('./earnings') },
  { path: '/compliance', title: named('Compliance'), menu: 'Compliance', load: () => import('./compliance') },
  { path: '/address/:address', title: (a) => `Address ${a.address.slice(0, 8)}…`, load: () => import('./address') },
  { path: '/tx/:hash', title: (a) => `Transaction ${a.hash.slice(0, 8)}…`, load: () => import('./transaction') },
  { path: '/ledger/:ledger', title: (a) => `Ledger ${a.ledger}`, load: () => import('./ledger') },
];
