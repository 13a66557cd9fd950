// Exact amounts: integers of raw units, and their decimal text. No floating point anywhere.

/** `12345678n` with 7 decimals is `1.2345678`. All decimals are written, as the API's `…Scaled` has them. */
export function formatAmount(raw: bigint, decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 77) throw new RangeError('decimals: 0 to 77');
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0');
  const sign = raw < 0n ? '-' : '';
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** `1.5` with 7 decimals is `15000000n`. Throws for a text that is no decimal number or has more decimals: nothing is rounded. */
export function parseAmount(text: string, decimals: number): bigint {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 77) throw new RangeError('decimals: 0 to 77');
  const parts = /^(-?)([0-9]{1,77})(?:\.([0-9]{1,77}))?$/.exec(text);
  if (!parts) throw new RangeError('not a decimal number');
  const fraction = (parts[3] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) throw new RangeError(`more than ${decimals} decimals`);
  const raw = BigInt(parts[2]! + fraction.padEnd(decimals, '0'));
  return parts[1] ? -raw : raw;
}
