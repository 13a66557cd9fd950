// `#crypto` of Node.js: version 18 has Web Crypto, but not as a global.
import { createHash, webcrypto } from 'node:crypto';
import type { HashStream } from './crypto.js';

export const crypto: Crypto = globalThis.crypto ?? webcrypto;

export function hashStream(): HashStream {
  const hash = createHash('sha256');
  return {
    update(bytes) {
      hash.update(bytes);
      return true;
    },
    digest: async () => new Uint8Array(hash.digest()),
  };
}
