// The TypeScript package on the files and questions that _snapshot.py left. Argument: their folder.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { addressBytes, compliantBy, Snapshot, TidemarkError } from '@tidemark/client';

const read = (name) => new Uint8Array(readFileSync(`${process.argv[2]}/${name}`));
const { jwks, network, wanted } = JSON.parse(readFileSync(`${process.argv[2]}/wanted.json`, 'utf8'));
const [base, changes] = [new Snapshot(read('base')), new Snapshot(read('changes'))];
for (const file of [base, changes]) assert.ok((await file.isSigned(jwks, network)) && !(await file.isSigned(jwks, `${network} `)));
const limits = { staleAfterMs: 3600000, ledgerAgeSeconds: 0 };
for (const [address, now, may] of wanted) assert.equal(compliantBy(base, changes, address, limits, now), may ? 'yes' : 'no', address);
assert.ok(wanted.some((one) => one[2]) && wanted.some((one) => !one[2]));

const [address, now] = wanted[0];
assert.equal(compliantBy(base, changes, address, { staleAfterMs: 1000, ledgerAgeSeconds: 0 }, now + 3600000), 'stale');
assert.equal(compliantBy(base, changes, address, limits, changes.signedAtMs - 60001), 'stale');
assert.equal(compliantBy(changes, null, address, limits, now), 'mismatched');
assert.equal(compliantBy(base, base, address, limits, now), 'mismatched');
assert.equal(compliantBy(base, changes, `${address.slice(0, -1)}${address.endsWith('A') ? 'B' : 'A'}`, limits, now), 'bad_address');
assert.equal(addressBytes(address).length, 33);
const forged = (at, bit) => {
  const bytes = read('base');
  bytes[at] ^= bit;
  return new Snapshot(bytes);
};
assert.equal(compliantBy(forged(124, 1), changes, address, limits, now), 'incomplete');
for (const at of [24, 60, 100, 121, 130, 165, 180, 210, 260, 232, 300, 352 + 40]) assert.ok(!(await forged(at, 1).isSigned(jwks, network)), String(at));
for (const at of [0, 8, 12, 16, 193]) assert.throws(() => forged(at, 2), TidemarkError);
assert.equal(compliantBy(forged(124, 1), null, address, limits, now), 'incomplete');
console.log(`typescript: ${wanted.length} answers of ${base.count} records and ${changes.count} changes`);
