// Compliance records inside your own process: "may this address trade now?" without a question over the network.
// The format is documented byte by byte in api/clients/c/tidemark_snapshot.h.
import { octetsOf, send, TidemarkError, type CallOptions, type Client } from './client.js';
import { bytesOf, webCrypto } from './crypto.js';
import { jwksAged, signedBy, verifyingKeys, type Jwks } from './receipt.js';

/** `yes` is compliant now; with every other answer nothing may pass. */
export type SnapshotAnswer = 'yes' | 'no' | 'stale' | 'incomplete' | 'mismatched' | 'bad_address';

const RECORDS = 352;
const RECORD = 48;
const ADDRESS = 33;
const MAGIC = bytesOf('TIDESNP1');

const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A key's thumbprint (RFC 7638), in hex. */
async function thumbprintOf(x: string): Promise<string> {
  const { subtle } = webCrypto();
  return hexOf(new Uint8Array(await subtle.digest('SHA-256', bytesOf(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })))));
}

/** A file that was read: nothing of it is believed before it is verified. */
export class Snapshot {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  readonly count: number;
  /** The hash of the ledger, in hex. */
  readonly ledgerHash: string;
  /** The key that signed: its thumbprint (RFC 7638), in hex. */
  readonly signer: string;
  /** Network, deployment, registry, and the deployment's number in the server's database, which a reset of the network changes. In hex. */
  readonly identity: string;

  /** Throws TidemarkError `malformed`. The bytes are kept, not copied. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const fits = bytes.length >= RECORDS && MAGIC.every((byte, i) => bytes[i] === byte) && this.#view.getUint32(8, true) === 256 && this.#view.getUint32(12, true) === RECORD;
    const count = fits ? Number(this.#view.getBigUint64(16, true)) : -1;
    if (!fits || bytes.length !== RECORDS + count * RECORD || this.#view.getUint32(192, true) > 1) throw new TidemarkError('malformed', 'not a snapshot');
    this.count = count;
    const hexAt = (from: number, to: number) => hexOf(bytes.subarray(from, to));
    this.ledgerHash = hexAt(128, 160);
    this.signer = hexAt(256, 288);
    this.identity = hexAt(24, 120) + hexAt(232, 236);
  }

  get ledger(): number { return this.#view.getUint32(120, true); }
  get isComplete(): boolean { return (this.#view.getUint32(124, true) & 1) === 1; }
  get closedAtMs(): number { return this.#number(160) * 1000; }
  get signedAtMs(): number { return this.#number(176); }
  /** How old the server's knowledge was when it signed. */
  get ageMs(): number { return this.#number(184); }
  get isChanges(): boolean { return this.#view.getUint32(192, true) === 1; }
  get after(): number { return this.#view.getUint32(196, true); }

  #number(at: number): number {
    return Number(this.#view.getBigUint64(at, true));
  }

  /** Whether it is of the same network, deployment and registry, in the same epoch of the network. */
  isOf(other: Snapshot): boolean {
    return this.identity === other.identity;
  }

  /** Whether it can be the changes since `base`: of the same chain, after its ledger, not from before it. */
  continues(base: Snapshot): boolean {
    if (base.isChanges || !this.isChanges || this.after !== base.ledger || !this.isOf(base)) return false;
    return this.ledger === base.ledger ? this.ledgerHash === base.ledgerHash : this.ledger > base.ledger && this.closedAtMs >= base.closedAtMs;
  }

  /** Whether it says that it is of that network (its passphrase). */
  async isOfNetwork(network: string): Promise<boolean> {
    return this.identity.startsWith(hexOf(new Uint8Array(await webCrypto().subtle.digest('SHA-256', bytesOf(network)))));
  }

  /** Whether a key of `jwks` signed it as it is, and it is of that network (its passphrase). */
  async isSigned(keys: Jwks, network: string): Promise<boolean> {
    const { subtle } = webCrypto();
    const same = (at: number, other: ArrayBuffer) => new Uint8Array(other).every((byte, i) => this.#bytes[at + i] === byte);
    if (!(await this.isOfNetwork(network))) return false;
    if (!same(200, await subtle.digest('SHA-256', this.#bytes.subarray(RECORDS)))) return false;
    const signed = new Uint8Array([...bytesOf('tidemark-snapshot-v1\0'), ...this.#bytes.subarray(0, 288)]);
    for (const key of verifyingKeys(keys) ?? []) {
      if (this.signer === (await thumbprintOf(key.x))) return signedBy(key, signed, this.#bytes.subarray(288, RECORDS));
    }
    return false;
  }

  /** Where the record of an address begins; -1: there is none. */
  find(address: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = RECORDS + middle * RECORD;
      let order = 0;
      for (let i = 0; i < ADDRESS && order === 0; i++) order = address[i]! - this.#bytes[at + i]!;
      if (order === 0) return at;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return -1;
  }

  /** The rule of the registry's contract over the record there. */
  isCompliantAt(at: number, nowSeconds: number): boolean {
    const flags = this.#bytes[at + 33]!;
    const ends = this.#view.getBigUint64(at + 40, true);
    return (flags & (1 | 2 | 4 | 128)) === 1 && this.#view.getUint16(at + 34, true) === 2 && (ends === 0n || ends >= BigInt(nowSeconds));
  }
}

/** Kind and 32 bytes of an address; null: it is none. */
export function addressBytes(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[GC][A-Z2-7]{55}$/.test(text)) return null;
  const raw = new Uint8Array(35);
  let bits = 0;
  let have = 0;
  let n = 0;
  for (let i = 0; i < 56; i++) {
    const code = text.charCodeAt(i);
    bits = ((bits << 5) | (code >= 65 ? code - 65 : code - 24)) & 0xfff;
    have += 5;
    if (have >= 8) {
      have -= 8;
      raw[n++] = bits >> have;
    }
  }
  let crc = 0;
  for (let i = 0; i < ADDRESS; i++) {
    crc ^= raw[i]! << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return raw[33] === (crc & 0xff) && raw[34] === crc >> 8 && (raw[0] === 48 || raw[0] === 16) ? raw.subarray(0, ADDRESS) : null;
}

export type SnapshotLimits = {
  /** The oldest knowledge of the indexer that you take: 10 000 ms. */
  staleAfterMs?: number;
  /** The oldest ledger that you take, in seconds: 300; 0: any. */
  ledgerAgeSeconds?: number;
};

export type MirrorLimits = SnapshotLimits & {
  /** The `deployment` of receipts, 64 hex digits. Without it the first snapshot decides which one is followed. */
  deployment?: string;
};

/** Whether the registry lets an address trade now, by a snapshot and the changes since its ledger (null: none yet). */
export function compliantBy(base: Snapshot, changes: Snapshot | null, address: string, limits: SnapshotLimits = {}, nowMs = Date.now()): SnapshotAnswer {
  const newest = changes ?? base;
  if (base.isChanges || (changes && !changes.continues(base))) return 'mismatched';
  if (!base.isComplete || !newest.isComplete) return 'incomplete'; // changes do not have what their base lacks
  const since = nowMs - newest.signedAtMs;
  if (since < -60_000 || Math.max(since, 0) + newest.ageMs > (limits.staleAfterMs ?? 10_000)) return 'stale';
  const oldest = limits.ledgerAgeSeconds ?? 300;
  if (oldest && Math.floor(nowMs / 1000) - newest.closedAtMs / 1000 > oldest) return 'stale';
  const raw = addressBytes(address);
  if (!raw) return 'bad_address';
  const now = Math.max(Math.floor(nowMs / 1000), newest.closedAtMs / 1000);
  const changed = changes ? changes.find(raw) : -1;
  if (changes && changed >= 0) return changes.isCompliantAt(changed, now) ? 'yes' : 'no';
  const at = base.find(raw);
  return at >= 0 && base.isCompliantAt(at, now) ? 'yes' : 'no';
}

const MOST = 2 ** 30; // bytes: twenty million addresses
const OCTETS = async (response: Response) => new Snapshot(await octetsOf(response, MOST));

const KEYS_RENEWED_MS = 150_000; // a refresh asks for the keys again when they are older
const KEYS_OLDEST_MS = 300_000; // nothing is believed by older ones
const AHEAD_MS = 60_000; // by which clocks may differ

/** When something was learned. The age is by the larger of two clocks: one may be set, the other may stand still while the host sleeps. */
class Since {
  readonly #wall = Date.now();
  readonly #steady = performance.now();
  constructor(readonly ageMs = 0) {}

  age(nowMs = Date.now()): number {
    return this.ageMs + Math.max(nowMs - this.#wall, performance.now() - this.#steady);
  }
}

/** A snapshot and its changes (null: none yet), both verified. */
type Pair = { base: Snapshot; changes: Snapshot | null };
const newestOf = (pair: Pair): Snapshot => pair.changes ?? pair.base;
const isComplete = (pair: Pair): boolean => pair.base.isComplete && newestOf(pair).isComplete;

/**
 * Keeps a verified snapshot and its changes; `refresh` it as often as you need it fresh, once a second for example.
 *
 * Its answers never step back: an answer of a node that is behind, a late one, or one of another chain is refused. After a reset of the
 * network, or to follow another deployment, make a new one. Nothing is believed that only a withdrawn key proves.
 */
export class ComplianceMirror {
  #pair: Pair | null = null;
  #base: Snapshot | null = null; // the verified snapshot whose changes are asked for
  #keys: { set: Jwks; signers: Set<string>; since: Since } | null = null;
  #identity: string | null = null; // of the first snapshot
  // The newest ledger that was seen, who said so, and when it closed.
  #ledger = 0;
  #ledgerSigner = '';
  #closedAtMs = 0;
  #running: Promise<void> | null = null;

  constructor(readonly client: Client, readonly network: string, readonly limits: MirrorLimits = {}) {
    if (typeof network !== 'string') throw new TypeError("network must be given: the network's passphrase");
  }

  /** The answers are true at the close of this ledger; null: none yet. */
  get ledger(): number | null {
    return this.#pair && newestOf(this.#pair).ledger;
  }

  async #fetchKeys(options: CallOptions): Promise<void> {
    const begun = new Since();
    const { keys: set, ageMs } = await jwksAged(this.client, options);
    const since = new Since(ageMs + begun.age());
    if (since.ageMs >= KEYS_OLDEST_MS) throw new TidemarkError('stale', 'the keys left the server too long ago: a cache keeps them, or a clock is wrong');
    const thumbprints = (verifyingKeys(set) ?? []).map((key) => thumbprintOf(key.x));
    this.#keys = { set, signers: new Set(await Promise.all(thumbprints)), since };
    this.#forget();
  }

  /** Drops what only a withdrawn key proves. When the newest ledger closed stays: a node that is behind must not become the newest. */
  #forget(): void {
    const stands = (signer: string) => this.#keys!.signers.has(signer);
    if (this.#pair && !stands(this.#pair.base.signer)) this.#pair = null;
    if (this.#pair?.changes && !stands(this.#pair.changes.signer)) this.#pair = { base: this.#pair.base, changes: null };
    if (this.#base && !stands(this.#base.signer)) this.#base = null;
    if (!stands(this.#ledgerSigner)) this.#ledger = 0;
  }

  /** Keys that are young enough. If they cannot be fetched, those that are there do until they are too old. */
  async #renewKeys(options: CallOptions): Promise<void> {
    const age = this.#keys?.since.age() ?? Infinity;
    if (age < KEYS_RENEWED_MS) return;
    await this.#fetchKeys(options).catch((error: unknown) => {
      if (age >= KEYS_OLDEST_MS) throw error;
    });
  }

  async #verified(file: Snapshot, options: CallOptions): Promise<Snapshot> {
    if (!(await file.isOfNetwork(this.network))) throw new TidemarkError('other_network', `the snapshot is not of the network ${JSON.stringify(this.network)}`);
    if (!this.#keys || !(await file.isSigned(this.#keys.set, this.network))) await this.#fetchKeys(options); // keys rotate
    if (!(await file.isSigned(this.#keys!.set, this.network))) throw new TidemarkError('bad_signature', 'the snapshot is not signed by a key of the server');
    const { deployment } = this.limits;
    if ((this.#identity !== null && file.identity !== this.#identity) || (deployment !== undefined && file.identity.slice(64, 128) !== deployment)) {
      throw new TidemarkError('mismatched', 'the snapshot is of another deployment');
    }
    this.#note(file);
    return file;
  }

  /** Remembers what a verified file says of the chain, whatever becomes of the file. */
  #note(file: Snapshot): void {
    this.#identity = file.identity;
    if (file.ledger >= this.#ledger) {
      this.#ledger = file.ledger;
      this.#ledgerSigner = file.signer;
    }
    this.#closedAtMs = Math.max(this.#closedAtMs, Math.min(file.closedAtMs, Math.floor((Date.now() + AHEAD_MS) / 1000) * 1000));
  }

  #isBehind(file: Snapshot): boolean {
    return file.ledger < this.#ledger || file.closedAtMs < this.#closedAtMs;
  }

  /** Answers by this pair from now on, unless the newest is as new. At the same ledger the complete one stays, and the one with fresher knowledge. */
  #offer(pair: Pair): void {
    const file = newestOf(pair);
    const known = this.#pair && newestOf(this.#pair);
    if (this.#isBehind(file)) throw new TidemarkError('behind', `the answer is of ledger ${file.ledger}, known is ${this.#ledger}`);
    if (this.#pair && known?.ledger === file.ledger && known.signedAtMs <= Date.now() + AHEAD_MS) {
      if (known.ledgerHash !== file.ledgerHash) throw new TidemarkError('mismatched', 'two chains have this ledger');
      if (isComplete(this.#pair) !== isComplete(pair) ? isComplete(this.#pair) : file.signedAtMs - file.ageMs < known.signedAtMs - known.ageMs) return;
    }
    this.#pair = pair;
  }

  async #take(options: CallOptions): Promise<Snapshot> {
    const answer = await send(this.client, { method: 'GET', path: '/api/sdk/snapshot' }, {}, { timeoutMs: 120_000, retries: 60, ...options }, OCTETS);
    const file = await this.#verified(answer, options);
    if (file.isChanges) throw new TidemarkError('mismatched', 'the answer is no snapshot');
    this.#base = file;
    if (!this.#isBehind(file)) this.#offer({ base: file, changes: null });
    return file;
  }

  /** Asks what changed since a snapshot. */
  async #change(base: Snapshot, options: CallOptions): Promise<void> {
    const route = { method: 'GET', path: '/api/sdk/snapshot/changes', query: ['after'] };
    const changes = await this.#verified(await send(this.client, route, { after: base.ledger }, options, OCTETS), options);
    if (!changes.continues(base)) throw new TidemarkError('mismatched', 'the changes are not those of the snapshot');
    if (this.#base !== base) throw new TidemarkError('bad_signature', 'the key of the snapshot was withdrawn meanwhile');
    this.#offer({ base, changes });
    if (changes.isComplete && !base.isComplete) this.#base = null; // there is a better one now
  }

  async #step(options: CallOptions): Promise<void> {
    await this.#renewKeys(options);
    const base = this.#base ?? (await this.#take(options));
    try {
      await this.#change(base, options);
    } catch (error) {
      if (!(error instanceof TidemarkError) || error.status !== 410) throw error;
      await this.#change(await this.#take(options), options);
    }
  }

  /**
   * Asks what changed; takes a new snapshot where that is not known. Throws TidemarkError: what is known stays, and grows old. `behind`: the answer
   * is of an earlier ledger than an answer before. A second call waits for the one that runs.
   */
  refresh(options: CallOptions = {}): Promise<void> {
    this.#running ??= this.#step(options).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Whether the address may trade now. Only `yes` lets anything pass. */
  compliant(address: string, nowMs = Date.now()): SnapshotAnswer {
    if (!this.#pair || !this.#keys || this.#keys.since.age(nowMs) >= KEYS_OLDEST_MS || this.#isBehind(newestOf(this.#pair))) return 'stale';
    return compliantBy(this.#pair.base, this.#pair.changes, address, this.limits, nowMs);
  }
}
