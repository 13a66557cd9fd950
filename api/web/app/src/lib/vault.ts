/** The engine's arithmetic of a vault, in raw units: for what a person tries out. What is, the API answers. */

export interface Numbers { collateral: bigint; debt: bigint; collateralPrice: bigint; synthPrice: bigint }

const WAD = 10_000_000n; // prices have 7 decimals

/** Collateral against debt in basis points, as the engine cuts it; null: no debt, or one that is worth nothing. */
export function ratioOf(v: Numbers): bigint | null {
  const owed = (v.debt * v.synthPrice) / WAD;
  return owed === 0n ? null : (((v.collateral * v.collateralPrice) / WAD) * 10000n) / owed;
}

/** The engine's test of new debt and of collateral that is withdrawn. */
export const mayOwe = (v: Numbers, minimum: bigint) => v.collateral * v.collateralPrice * 10000n >= v.debt * v.synthPrice * minimum;

/** The lowest price of the collateral at which the vault may not be liquidated; null: there is none. */
export function liquidationPriceOf(v: Numbers, limit: bigint): bigint | null {
  const owed = (v.debt * v.synthPrice) / WAD;
  if (owed === 0n || v.collateral <= 0n) return null;
  const least = (limit * owed + 9999n) / 10000n;
  return (least * WAD + v.collateral - 1n) / v.collateral;
}

/** A number changed by whole percents. */
export const changed = (n: bigint, percent: number) => (n * BigInt(100 + percent)) / 100n;
