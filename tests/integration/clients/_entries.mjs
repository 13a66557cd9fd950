// Judges what _entries.py made, with the TypeScript package: one JSON line in, one line out. Buckets come from the folder `archive`.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { ProofError, verifyEntryProof } from '@tidemark/client';

const hex = (bytes) => bytes && Buffer.from(bytes).toString('hex');

/** The pieces of a bucket; a file that does not unpack is none. */
async function* pieces(path) {
  try {
    yield* createReadStream(path).pipe(createGunzip());
  } catch (error) {
    throw new ProofError('no_bucket', error.message);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { answer, network, validators, archive } = JSON.parse(line);
  const path = (name) => `${archive}/bucket/${name.slice(0, 2)}/${name.slice(2, 4)}/${name.slice(4, 6)}/bucket-${name}.xdr.gz`;
  const buckets = archive ? (name) => (existsSync(path(name)) ? pieces(path(name)) : null) : undefined;
  try {
    const p = await verifyEntryProof(answer, { network, validators, buckets });
    console.log(JSON.stringify([
      p.keyHash, p.ledger, p.ledgerHash, String(p.closedAt), p.signedLedger, p.signers, p.contract, hex(p.key), p.durability, p.buckets.length, p.said,
      hex(p.saidValue), p.state, hex(p.value), p.lastModified, p.bucket,
    ]));
  } catch (error) {
    console.log(JSON.stringify(error.name === 'ProofError' ? error.code : `CRASH ${error.stack}`));
  }
}
