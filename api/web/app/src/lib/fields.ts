/** Values that several pages make of the API's fields. */
import { chartNumber, deviationBps } from './amount';
import type { Item } from './api';
import { seconds } from './time';

export const marketOf = (m: Item): string => m.market;

/** A candle's beginning, unix seconds; of a day too. */
export const startOf = (c: Item): number => seconds(c.day ? `${c.day}T00:00:00Z` : c.startsAt ?? c.closedAt);

/** A price of a candle as a decimal text. */
export const priceOf = (c: Item, name: string): string | null => c[`${name}Scaled`] ?? null;

/** For charts: the scaled text of a money field as a number. */
export const pointOf = (item: Item, name: string) => chartNumber(item[`${name}Scaled`]);

/** The pool's price against the oracle's; null where either is not known. */
export const marketDeviation = (m: Item) => deviationBps(m.spotPrice, m.oracle?.latestPrice);

/** Collateral against debt at the oracle's prices, in basis points. */
export function collateralBps(m: Item): bigint | null {
  const debt = BigInt(m.debt ?? 0) * BigInt(m.oracle?.latestPrice ?? 0);
  if (debt === 0n || m.collateralOracle?.latestPrice == null) return null;
  return (BigInt(m.collateral) * BigInt(m.collateralOracle.latestPrice) * 10000n) / debt;
}

/** Raw units of synthetic debt in raw US dollars (7 decimals), cut; null without a price. */
export function debtValue(m: Item): bigint | null {
  if (m.debt == null || m.oracle?.latestPrice == null) return null;
  return (BigInt(m.debt) * BigInt(m.oracle.latestPrice)) / 10_000_000n;
}

export const sum = (values: (bigint | null)[]): bigint => values.reduce<bigint>((all, v) => all + (v ?? 0n), 0n);

/** Answers list the newest first; charts begin with the oldest. */
export const oldestFirst = (items: Item[]) => [...items].reverse();

/** "liquidity_pool_swap" as "liquidity pool · swap". */
const ROLES = ['liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry', 'earnings_distributor', 'oracle', 'dao_governance', 'synth_token', 'stellar_asset'];
export function kindText(kind: string | null): string {
  if (!kind) return 'not decoded';
  const role = ROLES.find((one) => kind.startsWith(`${one}_`));
  return role ? `${role.replace(/_/g, ' ')} · ${kind.slice(role.length + 1).replace(/_/g, ' ')}` : kind.replace(/_/g, ' ');
}
