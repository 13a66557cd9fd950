// `#crypto` of Node.js: version 18 has Web Crypto, but not as a global.
import { webcrypto } from 'node:crypto';

export const crypto: Crypto = globalThis.crypto ?? webcrypto;
