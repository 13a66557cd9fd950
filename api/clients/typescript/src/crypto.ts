// Web Crypto in browsers, edge runtimes and Node.js; base64 and JSON of bytes.

/** Node.js 18 has it, but not as a global. */
export async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto?.subtle) return globalThis.crypto;
  const name = 'node:crypto';
  return ((await import(/* @vite-ignore */ name)) as { webcrypto: Crypto }).webcrypto;
}

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** Bytes of base64 or base64url; null: it is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return null;
  try {
    const raw = atob(text.replace(/=+$/, '').replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  } catch {
    return null;
  }
}
