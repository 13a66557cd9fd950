// Receipts: what an API said, signed, at which ledger. They are verified offline.
import { objectOf, send, textOf, TidemarkError, type CallOptions, type Client } from './client.js';
import { bytesOf, fromBase64Url, jsonOf, webCrypto } from './crypto.js';

export type Jwk = { kty: string; crv?: string; x?: string; kid?: string; [name: string]: unknown };
export type Jwks = { keys: Jwk[] };

/** What a receipt says, as it is signed. Amounts in `answer` are strings of raw units. */
export type Receipt = {
  iss: string;
  iat: number;
  exp: number;
  network: string;
  deployment: string;
  contracts: { [role: string]: string };
  /** provenThrough: signatures of validators prove all ledgers up to it; null: none when it was signed. */
  ledger: { sequence: string; hash: string; closedAt: string; provenThrough: string | null };
  evaluatedAt: string;
  lease: { renewedAt: string; ageMs: number } | null;
  question: { route: 'kyc_status' | 'price' | 'pool_quote'; path: string; query: { [name: string]: string } };
  answer: { [name: string]: unknown };
};

export type ReceiptCode = 'malformed' | 'wrong_type' | 'bad_keys' | 'unknown_key' | 'bad_signature' | 'other_issuer' | 'other_network' | 'other_deployment' | 'expired' | 'future';

const WHY: { [code in ReceiptCode]: string } = {
  malformed: 'it is no receipt: three parts of base64url, JSON in two of them',
  wrong_type: 'its header is not that of a receipt',
  bad_keys: '`jwks` is no set of keys, as `await jwks(client)` gives it',
  unknown_key: 'no key of `jwks` has its `kid`: ask for the keys again',
  bad_signature: 'the key did not sign it',
  other_issuer: 'another server made it',
  other_network: 'it is of another network',
  other_deployment: 'it is of another deployment',
  expired: 'it says nothing about now any more',
  future: 'it was signed in the future: a clock is wrong',
};

/** Why a receipt was refused. `message` says it for people. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  /** `values`: the receipt's, and the expected one, which only a verified receipt shows. */
  constructor(readonly code: ReceiptCode, values?: readonly [found: unknown, expected: unknown]) {
    super(`${code}: ${WHY[code]}${values ? `: it says ${JSON.stringify(values[0])}, expected is ${JSON.stringify(values[1])}` : ''}`);
  }
}

export type ReceiptExpected = {
  /** `/.well-known/jwks.json` of the server, kept by you: not taken from the receipt. */
  jwks: Jwks;
  issuer: string;
  network: string;
  deployment?: string;
  /** What it said then, not what holds now: an expired receipt passes. */
  evidence?: boolean;
  /** Milliseconds since 1970; for tests. */
  now?: number;
};

const SKEW_SECONDS = 60;
const DEPTH = 64; // of objects and lists: Python cannot read what is much deeper, and both packages judge alike

const isObject = (value: unknown): value is { [name: string]: unknown } => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== 'object' || value === null || (depth < DEPTH && Object.values(value).every((one) => isShallow(one, depth + 1)));

/** Without spaces and line ends around it: of those, String.trim and Python's strip know different ones. */
function trimmed(text: string): string {
  const isSpace = (at: number) => at >= 0 && at < text.length && ' \t\r\n'.includes(text[at]!);
  let [from, to] = [0, text.length];
  while (isSpace(from)) from++;
  while (to > from && isSpace(to - 1)) to--;
  return text.slice(from, to);
}

function json(part: string): { [name: string]: unknown } {
  const bytes = fromBase64Url(part);
  if (!bytes) throw new ReceiptError('malformed');
  try {
    const value = jsonOf(bytes);
    if (isObject(value) && isShallow(value)) return value;
  } catch {
    // falls through
  }
  throw new ReceiptError('malformed');
}

/** A key that verifies: Ed25519, `x` is base64url of its 32 bytes. */
export type VerifyingKey = { kid: string; x: string };

const KEYS = 64; // of a set: the server publishes 16 at most

/** Whether a key of a set may verify what this server signs. Private keys, keys of other kinds and for other uses do not count. */
function mayVerify(key: Jwk): key is Jwk & VerifyingKey {
  const { kid, x, use, alg, key_ops: operations } = key;
  if (key.kty !== 'OKP' || key.crv !== 'Ed25519' || key.d !== undefined || typeof kid !== 'string' || kid === '') return false;
  if (typeof x !== 'string' || fromBase64Url(x)?.length !== 32) return false;
  if ((use !== undefined && use !== 'sig') || (alg !== undefined && alg !== 'EdDSA' && alg !== 'Ed25519')) return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify') && operations.every((one) => typeof one === 'string'));
}

/**
 * The keys of a set that may verify. Null: it is no JSON Web Key Set, has a member that is no key, more than 64 of them, or two with
 * the same `kid`. Both packages judge alike.
 */
export function verifyingKeys(set: unknown): VerifyingKey[] | null {
  const keys = isObject(set) ? set.keys : null;
  if (!Array.isArray(keys) || keys.length > KEYS || !keys.every(isObject)) return null;
  const names = keys.map((one) => one.kid).filter((kid) => typeof kid === 'string');
  return new Set(names).size === names.length ? (keys as Jwk[]).filter(mayVerify) : null;
}

/** Whether the key signed these bytes. False as well for a key that is no point of the curve. */
export async function signedBy(key: VerifyingKey, bytes: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { subtle } = webCrypto();
  try {
    const imported = await subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: key.x }, { name: 'Ed25519' }, false, ['verify']);
    return await subtle.verify({ name: 'Ed25519' }, imported, signature, bytes);
  } catch {
    return false;
  }
}

/** The claims of a receipt that a key of `jwks` signed and that is what was expected. Throws ReceiptError. Needs Ed25519 in Web Crypto. */
export async function verifyReceipt(token: string, expected: ReceiptExpected): Promise<Receipt> {
  if (typeof expected.issuer !== 'string' || typeof expected.network !== 'string') throw new TypeError('issuer and network must be given: the `iss` agreed on with the operator, and the passphrase');
  const parts = typeof token === 'string' && token.length <= 1 << 20 ? trimmed(token).split('.') : [];
  if (parts.length !== 3) throw new ReceiptError('malformed');
  const [head, body, tail] = parts as [string, string, string];
  const header = json(head);
  if (header.alg !== 'EdDSA' || header.typ !== 'tidemark-receipt+jwt' || 'crit' in header) throw new ReceiptError('wrong_type');
  const keys = verifyingKeys(expected.jwks);
  if (!keys) throw new ReceiptError('bad_keys');
  const key = keys.find((one) => one.kid === header.kid);
  if (!key) throw new ReceiptError('unknown_key');
  const signature = fromBase64Url(tail);
  if (!signature || signature.length !== 64 || !(await signedBy(key, bytesOf(`${head}.${body}`), signature))) throw new ReceiptError('bad_signature');
  const claims = json(body) as unknown as Receipt;
  if (!isTime(claims.iat) || !isTime(claims.exp)) throw new ReceiptError('malformed');
  if (claims.iss !== expected.issuer) throw new ReceiptError('other_issuer', [claims.iss, expected.issuer]);
  if (claims.network !== expected.network) throw new ReceiptError('other_network', [claims.network, expected.network]);
  if (expected.deployment !== undefined && claims.deployment !== expected.deployment) throw new ReceiptError('other_deployment', [claims.deployment, expected.deployment]);
  const now = (expected.now ?? Date.now()) / 1000;
  if (!(claims.iat <= now + SKEW_SECONDS)) throw new ReceiptError('future');
  if (!expected.evidence && !(now < claims.exp)) throw new ReceiptError('expired');
  return claims;
}

/** Whether a verified receipt says that this address may trade now. A receipt about an earlier ledger, another address or another question does not. */
export function saysCompliant(receipt: Receipt, address: string): boolean {
  const { question, answer } = receipt;
  if (!isObject(question) || !isObject(question.query) || !isObject(answer)) return false;
  return question.route === 'kyc_status' && !Object.hasOwn(question.query, 'ledger') && answer.address === address && answer.compliant === true;
}

const RECEIPTS = {
  compliance: { path: '/api/sdk/kyc/status/{address}', query: ['ledger', 'maxAgeMs', 'receipt'] },
  price: { path: '/api/prices/{asset}', query: ['ledger', 'maxAgeMs', 'receipt'] },
  quote: { path: '/api/pools/{pool}/quote', query: ['amountIn', 'direction', 'ledger', 'maxAgeMs', 'receipt'] },
} as const;

type Asked = {
  compliance: { address: string };
  price: { asset: string };
  quote: { pool: string; amountIn: bigint | string; direction?: 'a_to_b' | 'b_to_a' };
};

/** A receipt of an answer: keep the text. */
export function receipt<K extends keyof Asked>(client: Client, kind: K, params: Asked[K] & { ledger?: number; maxAgeMs?: number }, options: CallOptions = {}): Promise<string> {
  const route = { method: 'GET', ...RECEIPTS[kind] };
  return send(client, route, { ...params, receipt: 1 }, options, async (response) => {
    if (response.headers.get('Content-Type')?.split(';')[0] !== 'application/jwt') throw new TidemarkError('no_receipts', 'the answer is no receipt', response.status);
    return textOf(response);
  });
}

/** Seconds that an answer spent in caches (RFC 9111): by what they say, or by the clocks of the server and of this host. */
function ageOf(headers: Headers): number {
  const said = /^[0-9]{1,10}$/.exec(headers.get('Age') ?? '');
  const sent = Date.parse(headers.get('Date') ?? '');
  return Math.max(said ? Number(said[0]) : 0, Number.isNaN(sent) ? 0 : (Date.now() - sent) / 1000, 0);
}

/** The server's keys, and the milliseconds that they spent in caches. */
export function jwksAged(client: Client, options: CallOptions = {}): Promise<{ keys: Jwks; ageMs: number }> {
  return send(client, { method: 'GET', path: '/.well-known/jwks.json' }, {}, options, async (response) => {
    const body = await objectOf(response).catch((error: unknown) => {
      if (error instanceof TidemarkError && error.code === 'not_json') return null;
      throw error;
    });
    if (!isShallow(body) || !verifyingKeys(body)) throw new TidemarkError('bad_keys', 'the answer is no set of keys', response.status);
    return { keys: { keys: body!.keys as Jwk[] }, ageMs: ageOf(response.headers) * 1000 };
  });
}

/** The server's public keys: to be kept for five minutes at most, and asked for again when a receipt names an unknown one. Throws TidemarkError `bad_keys`. */
export async function jwks(client: Client, options: CallOptions = {}): Promise<Jwks> {
  return (await jwksAged(client, options)).keys;
}
