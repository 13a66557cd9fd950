// Compliance records inside your own process: "may this address trade now?" without a question over the network.
// The format is documented byte by byte in api/clients/c/tidemark_snapshot.h.
import { octetsOf, send, TidemarkError, type CallOptions, type Client } from './client.js';
import { bytesOf, webCrypto } from './crypto.js';
import { jwks, type Jwks } from './receipt.js';

/** `yes` is compliant now; with every other answer nothing may pass. */
export type SnapshotAnswer = 'yes' | 'no' | 'stale' | 'incomplete' | 'mismatched' | 'bad_address';

const RECORDS = 352;
const RECORD = 48;
const ADDRESS = 33;
const MAGIC = bytesOf('TIDESNP1');

/** A file that was read: nothing of it is believed before it is verified. */
export class Snapshot {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  readonly count: number;

  /** Throws TidemarkError `malformed`. The bytes are kept, not copied. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const fits = bytes.length >= RECORDS && MAGIC.every((byte, i) => bytes[i] === byte) && this.#view.getUint32(8, true) === 256 && this.#view.getUint32(12, true) === RECORD;
    const count = fits ? Number(this.#view.getBigUint64(16, true)) : -1;
    if (!fits || bytes.length !== RECORDS + count * RECORD || this.#view.getUint32(192, true) > 1) throw new TidemarkError('malformed', 'not a snapshot');
    this.count = count;
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

  /** Whether it is of the same network, deployment and registry. */
  isOf(other: Snapshot): boolean {
    for (let i = 24; i < 120; i++) if (this.#bytes[i] !== other.#bytes[i]) return false;
    return true;
  }

  /** Whether a key of `jwks` signed it as it is, and it is of that network (its passphrase). */
  async isSigned(keys: Jwks, network: string): Promise<boolean> {
    const { subtle } = await webCrypto();
    const same = (at: number, other: ArrayBuffer) => new Uint8Array(other).every((byte, i) => this.#bytes[at + i] === byte);
    if (!same(24, await subtle.digest('SHA-256', bytesOf(network)))) return false;
    if (!same(200, await subtle.digest('SHA-256', this.#bytes.subarray(RECORDS)))) return false;
    const signed = new Uint8Array([...bytesOf('tidemark-snapshot-v1\0'), ...this.#bytes.subarray(0, 288)]);
    for (const { kty, crv, x } of keys.keys) {
      if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') continue;
      const thumbprint = await subtle.digest('SHA-256', bytesOf(JSON.stringify({ crv, kty, x })));
      if (!same(256, thumbprint)) continue;
      try {
        const key = await subtle.importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify']);
        return await subtle.verify({ name: 'Ed25519' }, key, this.#bytes.subarray(288, RECORDS), signed);
      } catch {
        return false;
      }
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

/** Whether the registry lets an address trade now, by a snapshot and the changes since its ledger (null: none yet). */
export function compliantBy(base: Snapshot, changes: Snapshot | null, address: string, limits: SnapshotLimits = {}, nowMs = Date.now()): SnapshotAnswer {
  const newest = changes ?? base;
  if (base.isChanges) return 'mismatched';
  if (changes && (!changes.isChanges || changes.after !== base.ledger || changes.ledger < base.ledger || !changes.isOf(base))) return 'mismatched';
  if (!newest.isComplete) return 'incomplete';
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

/** Keeps a verified snapshot and its changes; `refresh` it as often as you need it fresh, once a second for example. */
export class ComplianceMirror {
  #base: Snapshot | null = null;
  #changes: Snapshot | null = null;
  #keys: Jwks | null = null;

  constructor(readonly client: Client, readonly network: string, readonly limits: SnapshotLimits = {}) {}

  /** The answers are true at the close of this ledger; null: none yet. */
  get ledger(): number | null {
    return (this.#changes ?? this.#base)?.ledger ?? null;
  }

  async #verified(file: Snapshot, options: CallOptions): Promise<Snapshot> {
    if (this.#keys && (await file.isSigned(this.#keys, this.network))) return file;
    this.#keys = await jwks(this.client, options); // keys rotate
    if (await file.isSigned(this.#keys, this.network)) return file;
    throw new TidemarkError('bad_signature', 'the snapshot is not signed by a key of the server');
  }

  async #take(options: CallOptions): Promise<void> {
    const file = await send(this.client, { method: 'GET', path: '/api/sdk/snapshot' }, {}, { timeoutMs: 120_000, retries: 60, ...options }, OCTETS);
    this.#base = await this.#verified(file, options);
    this.#changes = null;
  }

  /** Asks what changed; takes a new snapshot where that is not known. Throws TidemarkError: what is known stays, and grows old. */
  async refresh(options: CallOptions = {}): Promise<void> {
    if (!this.#base) await this.#take(options);
    try {
      const route = { method: 'GET', path: '/api/sdk/snapshot/changes', query: ['after'] };
      const file = await send(this.client, route, { after: this.#base!.ledger }, options, OCTETS);
      this.#changes = await this.#verified(file, options);
    } catch (error) {
      if (!(error instanceof TidemarkError) || error.status !== 410) throw error;
      await this.#take(options);
    }
  }

  /** Whether the address may trade now. Only `yes` lets anything pass. */
  compliant(address: string, nowMs = Date.now()): SnapshotAnswer {
    return this.#base ? compliantBy(this.#base, this.#changes, address, this.limits, nowMs) : 'stale';
  }
}
