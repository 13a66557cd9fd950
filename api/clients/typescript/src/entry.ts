// Proofs of entries: what a contract's storage held at a checkpoint, checked against validators that you name and the network's own buckets.
import { contractText, hex, joined, malformed, openProof, PROOF_BYTES, ProofError, Quorum, same, sha256, signedLedgers, unproven, Xdr } from './proof.js';
import type { Bytes, ProofExpected } from './proof.js';
import { hashStream } from './crypto.js';

/** Gives the unpacked bytes of the bucket with that hash (hex), or pieces of them; null: it is not there. */
export type BucketSource = (hash: string) => Pieces | null | Promise<Pieces | null>;
type Pieces = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export type EntryProofExpected = ProofExpected & {
  /** Where the buckets come from: a copy of a public history archive. Without it no entry is proven, only the list of hashes. */
  buckets?: BucketSource;
};

/**
 * What a proof of an entry proves: `buckets`, the hashes of the state's buckets (hex; of each level curr and snap, the live list first).
 *
 * `state` is null if no buckets were given: the entry is not proven then. Otherwise it is `live`, `archived` (evicted: a call restores it) or `absent`,
 * `value` is the SCVal in XDR, `lastModified` the ledger that wrote it, `bucket` the hash of the bucket that decided. `said` is what the server says:
 * `value` (then `saidValue` is that), `absent` or `nothing`; it is proven only where buckets were given. Whether an entry's time to live has ended is
 * another entry, and not told. `contract` is null if something else owns the entry. `closedAt` and `closedAtMs` as in a proof of a transaction.
 */
export type ProvenEntry = {
  keyHash: string;
  ledger: number;
  ledgerHash: string;
  closedAt: bigint;
  closedAtMs: bigint;
  signedLedger: number;
  signers: string[];
  contract: string | null;
  key: Uint8Array;
  durability: 'persistent' | 'temporary';
  buckets: string[];
  said: Said;
  saidValue: Uint8Array | null;
  state: 'live' | 'archived' | 'absent' | null;
  value: Uint8Array | null;
  lastModified: number | null;
  bucket: string | null;
};

type Said = 'nothing' | 'absent' | 'value';

const KEY_BYTES = 4096;
const RECORD_BYTES = 8 << 20;
const LIST = 22; // buckets of a list: curr and snap of 11 levels
const CONTRACT_DATA = 6;
const META = 0xffffffff;
const EMPTY = '0'.repeat(64);
const SAID: Said[] = ['nothing', 'absent', 'value'];
const DATA_ENTRY = new Uint8Array([0, 0, 0, CONTRACT_DATA, 0, 0, 0, 0]); // the entry's type, and its ext

const noBucket = (name: string, why: string): never => {
  throw new ProofError('no_bucket', `bucket ${name} ${why}`);
};

// --- the proof

/** The LedgerKey. Behind its type it has contract, key and durability, as the entry has them, too. */
type Key = { xdr: Bytes; contract: string | null; key: Bytes; durability: number };

function readKey(data: Bytes): Key {
  const x = new Xdr(data);
  if (x.u32() !== CONTRACT_DATA) malformed('it is the proof of no contract data');
  x.address();
  const owner = data.subarray(4, x.at);
  const key = x.value();
  const durability = x.arm(1);
  x.end();
  return { xdr: data, contract: owner[3] === 1 ? contractText(owner.subarray(4)) : null, key, durability };
}

async function listHash(hashes: Bytes[]): Promise<Bytes> {
  const levels: Bytes[] = [];
  for (let i = 0; i < LIST; i += 2) levels.push(await sha256(joined(hashes[i]!, hashes[i + 1]!)));
  return sha256(joined(...levels));
}

async function readHashes(x: Xdr, wanted: Bytes): Promise<string[]> {
  const count = x.count(32, 2 * LIST);
  if (count !== LIST && count !== 2 * LIST) malformed('it has another number of buckets');
  const hashes = Array.from({ length: count }, () => x.take(32));
  let made = await listHash(hashes.slice(0, LIST));
  if (count > LIST) made = await sha256(joined(made, await listHash(hashes.slice(LIST))));
  if (!same(made, wanted)) unproven('the buckets are not those of the first header');
  return hashes.map(hex);
}

function readSaid(x: Xdr): { said: Said; saidValue: Bytes | null } {
  const said = SAID[x.arm(2)]!;
  if (said !== 'value') return { said, saidValue: null };
  const saidValue = x.part(PROOF_BYTES);
  const inner = new Xdr(saidValue);
  inner.value();
  inner.end();
  return { said, saidValue };
}

// --- the buckets

/** Cuts a stream into XDR records. Memory: a record and a piece. */
class Records {
  private buffer = new Uint8Array(64 << 10);
  private have = 0;

  constructor(private readonly take: (record: Bytes) => void) {}

  push(piece: Uint8Array): void {
    this.append(piece);
    const view = new DataView(this.buffer.buffer);
    let at = 0;
    while (this.have - at >= 4) {
      const mark = view.getUint32(at);
      const length = mark & 0x7fffffff;
      if (mark < 2 ** 31 || length > RECORD_BYTES) malformed('a bucket is no stream of records');
      if (this.have - at - 4 < length) break;
      this.take(this.buffer.slice(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.buffer.copyWithin(0, at, this.have);
    this.have -= at;
  }

  end(): void {
    if (this.have) malformed('a bucket ends inside a record');
  }

  private append(piece: Uint8Array): void {
    const wanted = this.have + piece.length;
    if (wanted > this.buffer.length) {
      const larger = new Uint8Array(Math.max(wanted, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, this.have));
      this.buffer = larger;
    }
    this.buffer.set(piece, this.have);
    this.have = wanted;
  }
}

type Found = { value: Bytes | null; written: number };

/** Metadata come first, and say the list; without a word that is the live one. */
function checkMeta(x: Xdr, live: boolean, first: boolean): void {
  x.take(4);
  const hot = x.arm(1) === 1 && x.arm(1) === 1;
  x.end();
  if (hot === live || !first) malformed('a bucket is one of the other list');
}

/** What a record of a bucket says of the key: null, if it is about another one. */
function readRecord(record: Bytes, key: Key, live: boolean, first: boolean): Found | null {
  const x = new Xdr(record);
  const arm = x.u32();
  if (arm === META) {
    checkMeta(x, live, first);
    return null;
  }
  if (arm === 1) return same(record.subarray(4), key.xdr) ? { value: null, written: 0 } : null;
  if (arm !== 0 && !(live && arm === 2)) malformed('a bucket has a record of an unknown kind');
  const fields = key.xdr.subarray(4);
  if (!same(record.subarray(8, 16), DATA_ENTRY) || !same(record.subarray(16, 16 + fields.length), fields)) return null;
  const written = x.u32();
  x.take(8 + fields.length);
  const value = x.value();
  if (x.arm(1)) {
    if (x.flag()) x.publicKey();
    x.arm(0);
  }
  x.end();
  return { value, written };
}

/** Reads a bucket to its end, hashes it, and gives what it says of the key. */
async function findInBucket(source: BucketSource, name: string, key: Key, live: boolean): Promise<Found | null> {
  const given = await source(name);
  if (given === null || given === undefined) return noBucket(name, 'is missing');
  const hash = hashStream();
  let found: Found | null = null;
  let refused: unknown = null;
  let first = true;
  const records = new Records((record) => {
    const one = readRecord(record, key, live, first);
    first = false;
    if (one && found) malformed('a bucket has the key twice');
    found = one ?? found;
  });
  for await (const piece of given instanceof Uint8Array ? [given] : given) {
    if (!hash.update(piece)) noBucket(name, 'is larger than 128 MiB, which only Node.js hashes');
    try {
      if (!refused) records.push(piece);
    } catch (error) {
      refused = error; // unless it is another bucket: that is told first
    }
  }
  if (hex(await hash.digest()) !== name) noBucket(name, 'does not hash to its name');
  if (refused) throw refused;
  records.end();
  return found;
}

/** The youngest bucket that has the key, and what it says. */
async function search(source: BucketSource, names: string[], key: Key, live: boolean): Promise<(Found & { bucket: string }) | null> {
  for (const bucket of names) {
    const found = bucket === EMPTY ? null : await findInBucket(source, bucket, key, live);
    if (found) return { ...found, bucket };
  }
  return null;
}

async function find(source: BucketSource, names: string[], key: Key): Promise<Pick<ProvenEntry, 'state' | 'value' | 'lastModified' | 'bucket'>> {
  const live = await search(source, names.slice(0, LIST), key, true);
  if (live?.value) return { state: 'live', value: live.value, lastModified: live.written, bucket: live.bucket };
  const archived = await search(source, names.slice(LIST), key, false);
  if (archived?.value) return { state: 'archived', value: archived.value, lastModified: archived.written, bucket: archived.bucket };
  return { state: 'absent', value: null, lastModified: null, bucket: archived?.bucket ?? live?.bucket ?? null };
}

const UNPROVEN = { state: null, value: null, lastModified: null, bucket: null };

/**
 * What an answer of `/api/proof/entry/{key}` or `/api/proof/compliance/{address}` proves: its text, or its data. Throws ProofError. Needs Ed25519 in
 * Web Crypto. Buckets are read to their ends and hashed, from the youngest to the first that has the key. With Node.js memory does not grow with their size;
 * elsewhere a bucket is kept until it is hashed, and one of more than 128 MiB is refused (`no_bucket`).
 * Compare `contract` and `key` with what you asked for.
 */
export async function verifyEntryProof(answer: string | { [name: string]: unknown }, expected: EntryProofExpected): Promise<ProvenEntry> {
  const quorum = new Quorum(expected.validators);
  const x = openProof(answer, 'TIDEPRE1', expected.network);
  const { first, last, signers } = await signedLedgers(x, quorum, expected.network);
  const buckets = await readHashes(x, first.buckets);
  const key = readKey(x.part(KEY_BYTES));
  const { said, saidValue } = readSaid(x);
  x.end();
  const found = expected.buckets ? await find(expected.buckets, buckets, key) : UNPROVEN;
  if (found.state && said !== 'nothing' && (found.state === 'absent') !== (said === 'absent')) unproven('the buckets do not have what the proof says');
  if (found.state && saidValue && !same(found.value!, saidValue)) unproven('the buckets have another value than the proof says');
  return {
    keyHash: hex(await sha256(key.xdr)),
    ledger: first.sequence,
    ledgerHash: hex(first.hash),
    closedAt: first.closedAt,
    closedAtMs: first.closedAtMs,
    signedLedger: last.sequence + 1,
    signers,
    contract: key.contract,
    key: key.key,
    durability: key.durability ? 'persistent' : 'temporary',
    buckets,
    said,
    saidValue,
    ...found,
  };
}
