// `#crypto` of browsers and edge runtimes: a bundle for them names no module of Node.js.
export const crypto: Crypto = globalThis.crypto;
