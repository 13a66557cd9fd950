// What the package takes of Node.js. Its whole types would add globals that browsers lack.
declare module 'node:crypto' {
  export const webcrypto: Crypto;
  export function createHash(algorithm: 'sha256'): { update(bytes: Uint8Array): unknown; digest(): Uint8Array };
}
