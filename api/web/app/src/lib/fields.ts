/** Values that several pages make of the API's fields. */
import { chartNumber, deviationBps, scale, toSeven } from './amount';
import type { Item } from './api';
import { seconds } from './time';

export const marketOf = (m: Item): string => m.market;

/** A candle's beginning, unix seconds; of a day too. */
export const startOf = (c: Item): number => seconds(c.day ? `${c.day}T00:00:00Z` : c.startsAt ?? c.closedAt);

/** A price of a candle as a decimal text. */
export const priceOf = (c: Item, name: string): string | null => c[`${name}Scaled`] ?? null;

/** For charts: the scaled text of a money field as a number. */
export const pointOf = (item: Item, name: string) => chartNumber(item[`${name}Scaled`]);

const WAD = 10_000_000n; // 7 decimals

/** A feed's newest price, and the average by which the engine judges vaults; null where the oracle calls it stale. */
export const freshPrice = (feed: Item | null | undefined): string | null => (feed && !feed.stale ? feed.latestPrice ?? null : null);
export const freshTwap = (feed: Item | null | undefined): string | null => (feed && !feed.twapStale ? feed.twapPrice ?? null : null);

const priceReason = (feed: Item | null | undefined, stale: boolean, what: string): string | null =>
  (feed?.latestPrice == null ? `no ${what}` : stale ? `the ${what} is stale` : null);

/** The pool's price against the oracle's; null where either is not known, or the oracle's is stale. */
export const marketDeviation = (m: Item) => deviationBps(toSeven(m.spotPriceScaled), freshPrice(m.oracle));
export const deviationWhy = (m: Item) => (m.spotPrice == null ? 'no pool, or an empty one' : m.spotPriceScaled == null ? 'decimals not known' : priceReason(m.oracle, m.oracle?.stale, 'price of the oracle'));

/** A feed's newest price against its average. */
export const twapDeviation = (feed: Item | null | undefined) => deviationBps(freshPrice(feed), freshTwap(feed));
export const twapDeviationWhy = (feed: Item | null | undefined) => priceReason(feed, feed?.stale, 'price of the oracle') ?? priceReason(feed, feed?.twapStale, 'average');

/** Collateral against debt in basis points, of the market as the engine has it of a vault, whole tokens at their prices; null without fresh averages. */
export function collateralBps(m: Item): bigint | null {
  const price = freshTwap(m.oracle), owed = toSeven(m.debtScaled), held = toSeven(m.collateralValueScaled);
  if (price === null || owed === null || held === null) return null;
  const debt = (BigInt(owed) * BigInt(price)) / WAD;
  return debt === 0n ? null : (BigInt(held) * 10000n) / debt;
}
export const collateralWhy = (m: Item) =>
  (m.debt === '0' ? 'no debt' : priceReason(m.oracle, m.oracle?.twapStale, 'average price') ?? priceReason(m.collateralOracle, m.collateralOracle?.twapStale, "collateral's average price")
    ?? (m.debtScaled == null || m.collateralValueScaled == null ? 'decimals not known, or of several kinds' : null));

/** A market's debt in US dollars at the average by which the engine judges; null without a fresh one. */
export function debtValue(m: Item): { debtValue: string; debtValueScaled: string } | null {
  const price = freshTwap(m.oracle), owed = toSeven(m.debtScaled);
  if (price === null || owed === null) return null;
  const value = (BigInt(owed) * BigInt(price)) / WAD;
  return { debtValue: value.toString(), debtValueScaled: scale(value, 7) };
}
export const debtWhy = (m: Item) => priceReason(m.oracle, m.oracle?.twapStale, 'average price') ?? (m.debtScaled == null ? 'decimals not known' : null);

/** What the engine takes collateral for, against what the deepest pool pays for it. */
export const engineDeviation = (c: Item) => deviationBps(toSeven(c.engineValueScaled), toSeven(c.poolValueScaled));


/** Answers list the newest first; charts begin with the oldest. */
export const oldestFirst = (items: Item[]) => [...items].reverse();

/** "liquidity_pool_swap" as "liquidity pool · swap". */
const ROLES = ['liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry', 'earnings_distributor', 'oracle', 'dao_governance', 'synth_token', 'stellar_asset'];
export function kindText(kind: string | null): string {
  if (!kind) return 'not decoded';
  const role = ROLES.find((one) => kind.startsWith(`${one}_`));
  return role ? `${role.replace(/_/g, ' ')} · ${kind.slice(role.length + 1).replace(/_/g, ' ')}` : kind.replace(/_/g, ' ');
}

/** What an address has in contracts, in US dollars, 7 decimals: balances, vaults without their debt, liquidity and the stability deposit; and how many of these have no
 * price. Of a vault both sides count, or neither. */
export function netValue(p: Item): { value: string; unpriced: number } {
  const sides = (v: Item) => [[v.collateral, v.collateralValueScaled, 1n], [v.debt, v.debtValueScaled, -1n]].filter(([raw]) => raw !== '0');
  const vaults = p.vaults.map(sides).flatMap((two: unknown[][]) => (two.some(([, scaled]) => scaled == null) ? two.map(([raw, , sign]) => [raw, null, sign]) : two));
  const parts = [...p.balances.map((b: Item) => [b.balance, b.valueScaled, 1n]), ...vaults, ...p.positions.map((i: Item) => [i.underlyingA, i.valueQuoteScaled, 1n]),
    ...(p.stabilityDeposit ? [[p.stabilityDeposit.compoundedDeposit, p.stabilityDeposit.compoundedDepositScaled, 1n]] : [])].filter(([raw]) => raw !== '0');
  const known = parts.map(([, scaled, sign]) => ({ seven: toSeven(scaled), sign }));
  return { value: known.reduce((sum, { seven, sign }) => sum + sign * BigInt(seven ?? 0), 0n).toString(), unpriced: known.filter(({ seven }) => seven === null).length };
}

/** The vault whose collateral's price has the shortest way to fall; null: none has debt and a price. */
export const nearestVault = (vaults: Item[]): Item | null =>
  vaults.reduce((best: Item | null, v) => (v.distanceBps != null && (best === null || Number(v.distanceBps) < Number(best.distanceBps)) ? v : best), null);
