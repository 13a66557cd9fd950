/** Amounts are decimal strings. Nothing here turns one into a floating-point number, but `chartNumber`. */

const POWERS: [string, number][] = [['T', 12], ['B', 9], ['M', 6], ['K', 3]];

function parts(text: string): { minus: boolean; whole: string; fraction: string } | null {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!found) return null;
  return { minus: found[1] === '-', whole: found[2].replace(/^0+(?=\d)/, ''), fraction: found[3] ?? '' };
}

const group = (digits: string) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const trimmed = (fraction: string, least: number) => {
  let end = fraction.length;
  while (end > least && fraction[end - 1] === '0') end--;
  return fraction.slice(0, end);
};

/** "1234567.8900000" as "1,234,567.89": all digits, zeros at the end left out down to `least` decimals. */
export function exact(text: string, least = 0): string {
  const p = parts(text);
  if (!p) return text;
  const fraction = trimmed(p.fraction.padEnd(least, '0'), least);
  return `${p.minus ? '−' : ''}${group(p.whole)}${fraction ? `.${fraction}` : ''}`;
}

/** At most `digits` decimals, cut, never rounded up. Small values keep two digits that are not zero. */
export function cut(text: string, digits = 2, least = 0): string {
  const p = parts(text);
  if (!p) return text;
  let keep = digits;
  if (p.whole === '0') {
    const first = p.fraction.search(/[1-9]/);
    if (first >= digits) keep = Math.min(first + 2, p.fraction.length);
  }
  return exact(`${p.minus ? '-' : ''}${p.whole}.${p.fraction.slice(0, keep) || '0'}`, least);
}

/** "1234567.89" as "1.23M", cut; below ten thousand as `cut` has it, with two decimals. */
export function compact(text: string): string {
  const p = parts(text);
  if (!p) return text;
  if (p.whole.length < 5) return cut(text, 2, 2);
  const [unit, power] = POWERS.find(([, n]) => p.whole.length > n) as [string, number];
  const head = p.whole.slice(0, -power), tail = p.whole.slice(-power);
  return `${p.minus ? '−' : ''}${group(head)}.${tail.slice(0, 2)}${unit}`;
}

/** The decimals of a scaled text: the API writes all of them. */
export const decimalsOf = (scaled: string | null | undefined): number | null => (scaled == null ? null : (parts(scaled)?.fraction.length ?? null));

/** A scaled text as raw units of 7 decimals, cut: what two tokens' amounts compare in, whatever decimals they have. */
export function toSeven(scaled: string | null | undefined): string | null {
  const p = scaled == null ? null : parts(scaled);
  return p && `${p.minus ? '-' : ''}${p.whole}${p.fraction.slice(0, 7).padEnd(7, '0')}`;
}

/** Raw units with decimals applied: ("12345", 2) is "123.45". */
export function scale(raw: bigint | string, decimals: number): string {
  const value = BigInt(raw);
  const minus = value < 0n;
  const digits = (minus ? -value : value).toString().padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  return `${minus ? '-' : ''}${digits.slice(0, at)}${decimals ? `.${digits.slice(at)}` : ''}`;
}

/** What a person typed as raw units; null if it is no number, or has more decimals. */
export function unscale(text: string, decimals: number): string | null {
  const found = /^(\d*)(?:[.](\d*))?$/.exec(text.trim().replace(/,/g, ''));
  if (!found || (!found[1] && !found[2])) return null;
  const fraction = found[2] ?? '';
  if (fraction.length > decimals) return null;
  return BigInt((found[1] || '0') + fraction.padEnd(decimals, '0')).toString();
}

/** Basis points as a percentage: "1250" is "12.50 %". */
export function percent(bps: string | bigint | null | undefined, signed = false): string {
  if (bps === null || bps === undefined) return '–';
  const value = BigInt(bps);
  const sign = signed && value > 0n ? '+' : '';
  const text = scale(value, 2);
  const p = parts(text);
  return `${sign}${p?.minus ? '−' : ''}${group(p?.whole ?? '0')}.${p?.fraction} %`;
}

/** a / b in basis points, cut; null if b is 0 or one is not known. */
export function ratioBps(a: string | null | undefined, b: string | null | undefined): bigint | null {
  if (a == null || b == null || BigInt(b) === 0n) return null;
  return (BigInt(a) * 10000n) / BigInt(b);
}

/** The difference of a to b in basis points of b. */
export function deviationBps(a: string | null | undefined, b: string | null | undefined): bigint | null {
  if (a == null || b == null || BigInt(b) === 0n) return null;
  return ((BigInt(a) - BigInt(b)) * 10000n) / BigInt(b);
}

/** Counts of the API: numbers. */
export const count = (n: number | string | null | undefined) => (n == null ? '–' : group(String(n)));

/** For the axes of charts only. */
export const chartNumber = (text: string | null | undefined) => (text == null ? null : Number(text));
