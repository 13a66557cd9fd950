// `#crypto` of browsers and edge runtimes: a bundle for them names no module of Node.js.
import type { HashStream } from './crypto.js';

export const crypto: Crypto = globalThis.crypto;

const BYTES_MAX = 128 << 20;

/** Web Crypto hashes only bytes that are all there, so they are kept until the end. */
export function hashStream(): HashStream {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let have = 0;
  return {
    update(bytes) {
      have += bytes.length;
      if (have > BYTES_MAX) return false;
      pieces.push(bytes.slice());
      return true;
    },
    digest: async () => new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(pieces).arrayBuffer())),
  };
}
