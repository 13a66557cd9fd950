// Proofs: what happened in a transaction, checked against validators that you name. No server is believed. Those of entries: entry.ts.
import { bytesOf, fromBase64, jsonOf, webCrypto } from './crypto.js';
import { addressBytes } from './snapshot.js';

/** A quorum set, as in a deployment file: `threshold` of its members must have signed. */
export type QuorumSet = { threshold: number; validators?: string[]; innerSets?: QuorumSet[] };

/** `topics` and `data` are SCVals in XDR. `contract` is null if no contract emitted it. `type`: 0 system, 1 contract, 2 diagnostic. */
export type ProvenEvent = { index: number; contract: string | null; type: number; topics: Uint8Array[]; data: Uint8Array };

/** What a proof proves. `closedAt` is in seconds since 1970, the clock of contracts; `closedAtMs` in milliseconds, where headers have them (protocol 30; else whole seconds). `events` and `answer` (an SCVal in XDR) are null if the proof has no events. */
export type ProvenTransaction = {
  txHash: string;
  ledger: number;
  ledgerHash: string;
  closedAt: bigint;
  closedAtMs: bigint;
  index: number;
  count: number;
  ok: boolean;
  resultCode: number;
  feeCharged: bigint;
  signedLedger: number;
  signers: string[];
  answer: Uint8Array | null;
  events: ProvenEvent[] | null;
};

export type ProofCode = 'bad_validators' | 'malformed' | 'not_proven' | 'no_bucket';

/**
 * Why a proof was refused: `bad_validators` (what you named is no quorum set), `malformed` (no proof, or of a newer protocol), `not_proven`,
 * `no_bucket` (one that is needed is missing, or another one came).
 */
export class ProofError extends Error {
  override readonly name = 'ProofError';
  constructor(readonly code: ProofCode, why: string) {
    super(`${code}: ${why}`);
  }
}

export type Bytes = Uint8Array<ArrayBuffer>;

export const PROOF_BYTES = 32 << 20;
const TEXT_LENGTH = 48 << 20;
const HEADERS = 128;
const ENVELOPES = 1000;
const PART_BYTES = 4096; // of a header, of an envelope
const DEPTH = 1500; // of values, as stellar-core allows
const JSON_DEPTH = 64; // of an answer: both packages judge alike
const VALIDATORS = 1000;
const SETS = 1000;
const NESTING = 4;

export const malformed = (why: string): never => {
  throw new ProofError('malformed', why);
};
export const unproven = (why: string): never => {
  throw new ProofError('not_proven', why);
};
const badValidators = (why: string): never => {
  throw new ProofError('bad_validators', why);
};

const isObject = (value: unknown): value is { [name: string]: unknown } => typeof value === 'object' && value !== null && !Array.isArray(value);
const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== 'object' || value === null || (depth < JSON_DEPTH && Object.values(value).every((one) => isShallow(one, depth + 1)));
export const hex = (bytes: Uint8Array): string => Array.from(bytes, (one) => one.toString(16).padStart(2, '0')).join('');
export const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((one, i) => one === b[i]);
export const sha256 = async (bytes: Bytes): Promise<Bytes> => new Uint8Array(await webCrypto().subtle.digest('SHA-256', bytes));

export function joined(...parts: Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of parts) {
    out.set(one, at);
    at += one.length;
  }
  return out;
}

// --- the validators

type Members = { threshold: number; keys: string[]; inner: Members[] };

/** The quorum set with keys as hex, and the names of all its validators. */
export class Quorum {
  readonly names = new Map<string, string>();
  private sets = 0;
  private readonly outer: Members;

  constructor(value: unknown) {
    this.outer = this.read(value, 0);
  }

  satisfied(signers: Set<string>, of: Members = this.outer): boolean {
    const votes = of.keys.filter((one) => signers.has(one)).length + of.inner.filter((one) => this.satisfied(signers, one)).length;
    return votes >= of.threshold;
  }

  private read(value: unknown, depth: number): Members {
    if (!isObject(value) || !Object.keys(value).every((one) => one === 'threshold' || one === 'validators' || one === 'innerSets')) {
      return badValidators('a quorum set has threshold, validators and innerSets');
    }
    this.sets++;
    if (depth > NESTING || this.sets > SETS) badValidators('sets are nested deeper than 4 levels, or more than 1000');
    const { threshold, validators: members = [], innerSets: inner = [] } = value;
    if (!Array.isArray(members) || !Array.isArray(inner)) return badValidators('validators and innerSets are lists');
    if (typeof threshold !== 'number' || !Number.isInteger(threshold) || threshold < 1 || threshold > members.length + inner.length) {
      return badValidators('a threshold is from 1 to the number of members');
    }
    const keys = members.map((one) => this.key(one));
    return { threshold, keys, inner: inner.map((one) => this.read(one, depth + 1)) };
  }

  private key(text: unknown): string {
    const raw = typeof text === 'string' && text.startsWith('G') ? addressBytes(text) : null;
    if (!raw) return badValidators('a validator is named by its public key G…');
    const key = hex(raw.subarray(1));
    if (this.names.has(key)) badValidators('a key occurs twice');
    if (this.names.size === VALIDATORS) badValidators('more than 1000 validators');
    this.names.set(key, text as string);
    return key;
  }
}

async function signed(key: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  const { subtle } = webCrypto();
  try {
    const imported = await subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
    return await subtle.verify({ name: 'Ed25519' }, imported, signature, message);
  } catch {
    return false;
  }
}

// --- XDR

const FIXED: { [arm: number]: number } = { 1: 0, 20: 0, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8, 21: 8, 9: 16, 10: 16, 11: 32, 12: 32 };

/** A cursor. Whatever is cut short or has bits that nothing needs is refused, as the indexer does. */
export class Xdr {
  at = 0;
  private readonly view: DataView;

  constructor(readonly data: Bytes) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  take(n: number): Bytes {
    if (n > this.data.length - this.at) malformed('it is cut short');
    this.at += n;
    return this.data.subarray(this.at - n, this.at);
  }

  u32(): number {
    this.take(4);
    return this.view.getUint32(this.at - 4);
  }

  i32(): number {
    this.take(4);
    return this.view.getInt32(this.at - 4);
  }

  u64(): bigint {
    this.take(8);
    return this.view.getBigUint64(this.at - 8);
  }

  i64(): bigint {
    this.take(8);
    return this.view.getBigInt64(this.at - 8);
  }

  flag(): boolean {
    return this.arm(1) === 1;
  }

  /** An enum or the arm of a union: 0 to `most`. */
  arm(most: number): number {
    const value = this.u32();
    if (value > most) malformed(`${value} where ${most} is the highest known value`);
    return value;
  }

  variable(most = 0xffffffff): Bytes {
    const n = this.u32();
    if (n > most) malformed('a length is too large');
    const value = this.take(n);
    if (this.take((4 - (n % 4)) % 4).some((one) => one !== 0)) malformed('padding that is not zero');
    return value;
  }

  /** A number of elements, each of which has `least` bytes or more. */
  count(least: number, most = 0xffffffff): number {
    const n = this.u32();
    if (n > most || n > Math.floor((this.data.length - this.at) / least)) malformed('a count is too large');
    return n;
  }

  part(most: number): Bytes {
    const value = this.variable(most);
    if (!value.length || value.length % 4) malformed('a part is no whole number of words');
    return value;
  }

  end(): void {
    if (this.at !== this.data.length) malformed('there are bytes behind its end');
  }

  // Types of a ledger

  publicKey(): Bytes {
    this.arm(0);
    return this.take(32);
  }

  asset(): void {
    const kind = this.arm(2);
    if (!kind) return;
    this.take(kind === 1 ? 4 : 12);
    this.publicKey();
  }

  address(): void {
    const kind = this.arm(5);
    if (kind === 0 || kind === 3) this.arm(0);
    this.take(kind === 2 || kind === 5 ? 40 : 32);
  }

  /** An SCVal. Values are read without recursion: the frames are lists, maps and instances, with the values that they still have. */
  value(): Bytes {
    const begin = this.at;
    const frames = [1];
    while (frames.length) {
      const top = frames.length - 1;
      if (frames[top] === 0) {
        frames.pop();
        continue;
      }
      frames[top]!--;
      const arm = this.arm(22);
      if (arm === 16 || arm === 17 || arm === 19) {
        if (top >= DEPTH) malformed('values are nested too deep');
        frames.push(this.elements(arm));
      } else {
        this.simple(arm);
      }
    }
    return this.data.subarray(begin, this.at);
  }

  private elements(arm: number): number {
    if (arm === 19) {
      const executable = this.arm(2);
      if (executable === 0) this.take(32);
      if (executable === 2) {
        this.address();
        this.variable();
      }
    }
    if (!this.flag()) return 0;
    return arm === 16 ? this.count(4) : 2 * this.count(8);
  }

  private simple(arm: number): void {
    if (arm === 0) {
      this.flag();
    } else if (arm === 2) {
      const kind = this.arm(9);
      if (this.u32() > 9 && kind > 0) malformed('an unknown SCErrorCode');
    } else if (arm === 13 || arm === 14 || arm === 22) {
      this.variable();
    } else if (arm === 15) {
      this.variable(32);
    } else if (arm === 18) {
      this.address();
    } else {
      this.take(FIXED[arm]!);
    }
  }
}

// --- headers, values, votes

export type Header = { previous: Bytes; closedAt: bigint; closedAtMs: bigint; results: Bytes; buckets: Bytes; sequence: number; hash: Bytes };

/** The hash of the transaction set, the close time, and the previous hash if the value names it itself. */
function stellarValue(x: Xdr): { setHash: Bytes; closedAt: bigint; closedAtMs: bigint; previous: Bytes | null } {
  const setHash = x.take(32);
  const closedAt = x.u64();
  let previous: Bytes | null = null;
  for (let left = x.count(4, 6); left > 0; left--) x.variable(128);
  const arm = x.arm(4);
  const closedAtMs = arm >= 3 ? x.u64() : closedAt * 1000n;
  if (closedAtMs / 1000n !== closedAt) malformed('two close times of a value differ');
  if (arm === 2 || arm === 4) {
    x.take(32);
    previous = x.take(32);
    x.take(4);
  }
  if (arm) {
    x.publicKey();
    x.variable(64);
  }
  return { setHash, closedAt, closedAtMs, previous };
}

async function header(data: Bytes): Promise<Header> {
  const x = new Xdr(data);
  x.take(4);
  const previous = x.take(32);
  const { closedAt, closedAtMs } = stellarValue(x);
  const results = x.take(32);
  const buckets = x.take(32);
  const sequence = x.u32();
  x.take(40 + 4 * 32);
  if (x.arm(1)) {
    x.take(4);
    x.arm(0);
  }
  x.end();
  return { previous, closedAt, closedAtMs, results, buckets, sequence, hash: await sha256(data) };
}

async function headers(x: Xdr): Promise<[first: Header, last: Header]> {
  let first: Header | null = null;
  let last: Header | null = null;
  for (let left = x.count(8, HEADERS); left > 0; left--) {
    const one: Header = await header(x.part(PART_BYTES));
    if (last && (one.sequence !== last.sequence + 1 || !same(one.previous, last.hash))) unproven('a header does not follow the one before it');
    if (!(one.sequence > 0 && one.sequence < 2 ** 31 - 1)) unproven('a header has a sequence that no ledger has');
    first ??= one;
    last = one;
  }
  return first && last ? [first, last] : unproven('the proof has no header');
}

type Vote = { key: Bytes; slot: bigint; value: Bytes; statement: Bytes; signature: Bytes };

function vote(data: Bytes): Vote {
  const x = new Xdr(data);
  const key = x.publicKey();
  const slot = x.u64();
  if (x.u32() !== 2) unproven('an envelope is no final vote about the ledger behind the headers');
  x.take(4);
  const value = x.variable(64 << 10);
  x.take(36);
  const statement = data.subarray(0, x.at);
  const signature = x.variable(64);
  x.end();
  return { key, slot, value, statement, signature };
}

const ENVELOPE_TYPE_SCP = new Uint8Array([0, 0, 0, 1]);

/** The value that enough validators signed, and these validators. */
async function votes(x: Xdr, quorum: Quorum, networkId: Bytes, ledger: number): Promise<{ value: Bytes; signers: Set<string> }> {
  const signers = new Set<string>();
  let decided: Bytes | null = null;
  for (let left = x.count(8, ENVELOPES); left > 0; left--) {
    const { key, slot, value, statement, signature } = vote(x.part(PART_BYTES));
    if (slot !== BigInt(ledger)) unproven('an envelope is no final vote about the ledger behind the headers');
    decided ??= value;
    if (!value.length || !same(value, decided)) unproven('the envelopes vote for different values');
    const name = hex(key);
    if (!quorum.names.has(name)) continue;
    if (signers.has(name)) unproven('a validator votes twice');
    if (signature.length !== 64 || !(await signed(key, signature, joined(networkId, ENVELOPE_TYPE_SCP, statement)))) {
      unproven("a validator's signature does not hold on this network");
    }
    signers.add(name);
  }
  if (!decided || !quorum.satisfied(signers)) return unproven('not enough of the named validators signed');
  return { value: decided, signers };
}

async function checkBinding(value: Bytes, set: Bytes | null, last: Header): Promise<void> {
  const x = new Xdr(value);
  const { setHash, previous } = stellarValue(x);
  x.end();
  if ((set === null) !== (previous !== null)) unproven('the signed value has no transaction set, or its set is missing');
  if (set && (set.length < 40 || !same(set.subarray(0, 4), ENVELOPE_TYPE_SCP) || !same(await sha256(set), setHash))) {
    unproven('the transaction set is not the one that was signed');
  }
  if (!same(set ? set.subarray(4, 36) : previous!, last.hash)) unproven('the signed value names another ledger than the last header');
}

// --- results

const LOWEST = [4, 9, 12, 12, 12, 10, 8, 6, 7, 1, 4, 1, 12, 12, 5, 6, 3, 1, 5, 4, 3, 5, 8, 6, 5, 3, 3]; // code of each operation, negated

type Result = { hash: Bytes; fee: bigint; code: number; invokeHash: Bytes | null };

function claimAtoms(x: Xdr): void {
  for (let left = x.count(60); left > 0; left--) {
    const kind = x.arm(2);
    if (kind === 0) {
      x.take(40);
    } else if (kind === 1) {
      x.publicKey();
      x.take(8);
    } else {
      x.take(32);
    }
    for (let i = 0; i < 2; i++) {
      x.asset();
      x.take(8);
    }
  }
}

function offer(x: Xdr): void {
  x.publicKey();
  x.take(8);
  x.asset();
  x.asset();
  x.take(20);
  x.arm(0);
}

/** Reads the body of an operation's success. The hash of an InvokeHostFunction's. */
function success(x: Xdr, kind: number): Bytes | null {
  if (kind === 2 || kind === 13) {
    claimAtoms(x);
    x.publicKey();
    x.asset();
    x.take(8);
  } else if (kind === 3 || kind === 4 || kind === 12) {
    claimAtoms(x);
    if (x.arm(2) < 2) offer(x);
  } else if (kind === 8) {
    x.take(8);
  } else if (kind === 9) {
    for (let left = x.count(44); left > 0; left--) {
      x.publicKey();
      x.take(8);
    }
  } else if (kind === 14) {
    x.arm(0);
    x.take(32);
  } else if (kind === 24) {
    return x.take(32);
  }
  return null;
}

function operation(x: Xdr): Bytes | null {
  let code = x.i32();
  if (code > 0 || code < -6) malformed('an unknown OperationResultCode');
  if (code) return null;
  const kind = x.arm(26);
  code = x.i32();
  if (code === 0) return success(x, kind);
  if (code > 0 || -code > LOWEST[kind]!) malformed('an unknown result code of an operation');
  if (code === -9 && (kind === 2 || kind === 13)) x.asset();
  return null;
}

function operations(x: Xdr): Bytes | null {
  let first: Bytes | null = null;
  const count = x.count(4);
  for (let i = 0; i < count; i++) {
    const hash = operation(x);
    if (i === 0) first = hash;
  }
  return first;
}

function readResult(x: Xdr): Result {
  const result: Result = { hash: x.take(32), fee: x.i64(), code: x.i32(), invokeHash: null };
  if (result.code === 1 || result.code === -13) {
    x.take(32 + 8);
    const inner = x.i32();
    if (inner === 0 || inner === -1) result.invokeHash = operations(x);
    else if (inner < -18 || inner > 1 || inner === 1 || inner === -13) malformed('an unknown InnerTransactionResult code');
    x.arm(0);
  } else if (result.code === 0 || result.code === -1) {
    result.invokeHash = operations(x);
  } else if (result.code < -18 || result.code > 1) {
    malformed('an unknown TransactionResult code');
  }
  x.arm(0);
  return result;
}

function findResult(results: Bytes, wanted: Bytes): { index: number; count: number; result: Result } {
  const x = new Xdr(results);
  const count = x.count(48);
  let found: { index: number; count: number; result: Result } | null = null;
  let times = 0;
  for (let index = 1; index <= count; index++) {
    const result = readResult(x);
    if (!same(result.hash, wanted)) continue;
    found = { index, count, result };
    times++;
  }
  x.end();
  return found && times === 1 ? found : unproven("the transaction is not one of the ledger's results");
}

// --- events

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function contractText(id: Uint8Array): string {
  const raw = new Uint8Array(35);
  raw[0] = 16;
  raw.set(id, 1);
  let crc = 0;
  for (let i = 0; i < 33; i++) {
    crc ^= raw[i]! << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  raw[33] = crc & 0xff;
  raw[34] = crc >> 8;
  let text = '';
  let bits = 0;
  let have = 0;
  for (const one of raw) {
    bits = ((bits << 8) | one) & 0xfff;
    have += 8;
    for (; have >= 5; have -= 5) text += BASE32[(bits >> (have - 5)) & 31];
  }
  return text;
}

function event(x: Xdr, index: number): ProvenEvent {
  x.arm(0);
  const contract = x.flag() ? contractText(x.take(32)) : null;
  const type = x.arm(2);
  x.arm(0);
  const topics: Uint8Array[] = [];
  for (let left = x.count(4); left > 0; left--) topics.push(x.value());
  return { index, contract, type, topics, data: x.value() };
}

async function preimage(data: Bytes, result: Result): Promise<{ answer: Uint8Array; events: ProvenEvent[] }> {
  const isRight = (result.code === 0 || result.code === 1) && result.invokeHash && same(await sha256(data), result.invokeHash);
  if (!isRight) unproven("answer and events are not those of the transaction's result");
  const x = new Xdr(data);
  const answer = x.value();
  const events: ProvenEvent[] = [];
  const count = x.count(24);
  for (let i = 0; i < count; i++) events.push(event(x, i));
  x.end();
  return { answer, events };
}

// --- the proof

function proofBytes(given: unknown): Bytes {
  let answer = given;
  if (typeof given === 'string') {
    if (given.length > TEXT_LENGTH) malformed('it is too long');
    try {
      answer = jsonOf(bytesOf(given));
    } catch {
      malformed('it is no JSON');
    }
    if (!isShallow(answer)) malformed('it is no answer of /api/proof');
  }
  const proof = isObject(answer) ? answer.proof : null;
  const data = isObject(proof) ? proof.data : null;
  if (typeof data !== 'string' || data.length > TEXT_LENGTH) return malformed('it is no answer of /api/proof');
  const bytes = fromBase64(data);
  return bytes && bytes.length <= PROOF_BYTES ? bytes : malformed('its data are no base64, or too long');
}

export type ProofExpected = {
  /** The network's passphrase. */
  network: string;
  /** The quorum set that you believe: not taken from the server. */
  validators: QuorumSet;
};

/** A cursor behind the magic bytes. */
export function openProof(answer: unknown, magic: string, network: unknown): Xdr {
  if (typeof network !== 'string') throw new TypeError('network must be given: the passphrase');
  const x = new Xdr(proofBytes(answer));
  if (!same(x.data.subarray(0, 8), bytesOf(magic))) malformed('it is no proof of that kind');
  x.take(8);
  return x;
}

/** The first and the last header, and the names of those who signed. */
export async function signedLedgers(x: Xdr, quorum: Quorum, network: string): Promise<{ first: Header; last: Header; signers: string[] }> {
  const [first, last] = await headers(x);
  const set = x.flag() ? x.part(PROOF_BYTES) : null;
  const { value, signers } = await votes(x, quorum, await sha256(bytesOf(network)), last.sequence + 1);
  await checkBinding(value, set, last);
  return { first, last, signers: [...quorum.names].filter(([key]) => signers.has(key)).map(([, name]) => name) };
}

/**
 * What an answer of `/api/proof/{hash}` proves: its text, or its data. Throws ProofError. Needs Ed25519 in Web Crypto.
 * Compare `txHash`, `events` and `ledger` with what you were told.
 */
export async function verifyProof(answer: string | { [name: string]: unknown }, expected: ProofExpected): Promise<ProvenTransaction> {
  const quorum = new Quorum(expected.validators);
  const x = openProof(answer, 'TIDEPRF1', expected.network);
  const { first, last, signers } = await signedLedgers(x, quorum, expected.network);
  const txHash = x.take(32);
  const results = x.part(PROOF_BYTES);
  if (!same(await sha256(results), first.results)) unproven('the results are not those of the first header');
  const { index, count, result } = findResult(results, txHash);
  const said = x.flag() ? await preimage(x.part(PROOF_BYTES), result) : null;
  x.end();
  return {
    txHash: hex(txHash),
    ledger: first.sequence,
    ledgerHash: hex(first.hash),
    closedAt: first.closedAt,
    closedAtMs: first.closedAtMs,
    index,
    count,
    ok: result.code === 0 || result.code === 1,
    resultCode: result.code,
    feeCharged: result.fee,
    signedLedger: last.sequence + 1,
    signers,
    answer: said ? said.answer : null,
    events: said ? said.events : null,
  };
}
