// Web Crypto in browsers, edge runtimes and Node.js; base64 and JSON of bytes.
import { crypto } from '#crypto';
export { hashStream } from '#crypto';

/** SHA-256 of pieces. `update` returns false once they are more than the platform hashes: 128 MiB without Node.js. */
export type HashStream = { update(bytes: Uint8Array): boolean; digest(): Promise<Uint8Array> };

/** Throws an error where there is none: a page that is neither https nor localhost. */
export function webCrypto(): Crypto {
  if (crypto?.subtle) return crypto;
  throw new Error('there is no Web Crypto: a page needs https or localhost');
}

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** JSON in UTF-8, without a mark before it. Throws an error for any other bytes. */
export const jsonOf = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

/** Bytes of base64, padded as RFC 4648 has it; null: it is none. Every text of bytes but one is refused: bits behind the last byte are 0. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const raw = atob(text);
    if (btoa(raw) !== text) return null;
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  } catch {
    return null;
  }
}

/** The same of base64url without padding. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  return fromBase64(text.replace(/-/g, '+').replace(/_/g, '/') + '='.repeat(-text.length & 3));
}
