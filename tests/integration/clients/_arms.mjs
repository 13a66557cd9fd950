// Reads values of _arms.py with the reader of the TypeScript package: lines of [root type, label, hex].
import { createInterface } from 'node:readline';
import { Xdr } from './node_modules/@tidemark/client/dist/proof.js';

for await (const line of createInterface({ input: process.stdin })) {
  const [root, label, hex] = JSON.parse(line);
  const x = new Xdr(new Uint8Array(Buffer.from(hex, 'hex')));
  try {
    if (root === 'SCVal') x.value();
    else x.address();
    x.end();
  } catch (error) {
    console.log(`${root} ${label}: ${error.message}`);
    process.exitCode = 1;
  }
}
