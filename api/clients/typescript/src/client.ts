// A client and one call of it: parameters to a request, the answer's strings to exact numbers, retries.
import { jsonOf } from './crypto.js';

/** What a Tidemark API is reached with. One may serve a whole program; it has no state but the server's last rate limit. */
export type Client = {
  readonly baseUrl: string;
  readonly options: Required<Omit<ClientOptions, 'baseUrl' | 'apiKey'>> & { apiKey?: string };
  /** Time in ms (of `Date.now`) before which the server wants no request. */
  pausedUntil: number;
};

export type ClientOptions = {
  /** The server: scheme, name, port, and a path if a proxy has one: `https://api.example`, `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** Of an integrator. It goes with every request: sessions, webhooks and snapshots need it, and other routes count against its rate. Never in a browser. */
  apiKey?: string;
  /** Another fetch: a test's, or that of an edge runtime. */
  fetch?: typeof fetch;
  /** How often a request is sent again after 429, 502, 503 with Retry-After, or no answer: 3. */
  retries?: number;
  /** All attempts of a call together, waiting included: 10 000 ms. */
  timeoutMs?: number;
};

export type CallOptions = { signal?: AbortSignal; timeoutMs?: number; retries?: number };

/** An answer with what its headers say of it. */
export type Answer<T> = {
  data: T;
  /** The answer is true at the close of this ledger; null: of a route that reads none. */
  ledger: number | null;
  closedAt: string | null;
  /** Signatures of validators prove all ledgers up to this one; null: none, or the operator names no validators. */
  provenThrough: number | null;
  /** Milliseconds since the server last heard of the indexer. */
  ageMs: number | null;
  network: string | null;
  requestId: string | null;
  /** The first ledger of the past that the server knows, if its index began with a checkpoint. */
  historyFrom: number | null;
};

/** One thing that was wrong with a request. */
export type Fault = { in?: string; parameter?: string; pointer?: string; detail: string };

/** Where it was wrong, and why: "parameter limit: …". The server repeats no name that it does not know. */
function textOfFault({ parameter, pointer, detail }: Fault): string {
  const place = parameter ? `parameter ${parameter}: ` : pointer ? `body ${pointer}: ` : '';
  return place + detail;
}

/**
 * Why there is no answer. `code` is stable: the server's, or `network`, `timeout`, `not_json`, `too_large`, `redirected`, `aborted`.
 * `message` has all of it for people: the code, the detail, and each wrong field with the reason.
 */
export class TidemarkError extends Error {
  override readonly name = 'TidemarkError';
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly status: number | null = null,
    readonly errors: Fault[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterMs: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(`${code}: ${[detail, ...errors.map(textOfFault)].join(' ')}`, options);
  }
}

/** What to convert: 1 an integer, 2 a ledger, 3 a decimal number, 4 a time; lists and objects of these. */
export type Shape = number | readonly [Shape] | { readonly [name: string]: Shape };

/** A server's address as a URL. The error says what it must look like; it shows no address that may hold a password. */
function addressOfServer(given: unknown): URL {
  const shown = typeof given === 'string' && !given.includes('@') ? ` ${JSON.stringify(given)}` : '';
  const wrong = (what: string): TypeError => new TypeError(`baseUrl${shown} ${what}: it must be like "https://api.example" or "http://127.0.0.1:8080", with a path if a proxy has one`);
  if (typeof given !== 'string') throw wrong(`is ${given === undefined ? 'missing' : `of type ${typeof given}`}`);
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw wrong('is no URL');
  }
  if (url.username || url.password) throw wrong('has a user or a password');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('is neither http nor https');
  if (url.search || url.hash) throw wrong('has a query or a fragment');
  return url;
}

const OPTIONS = ['baseUrl', 'apiKey', 'fetch', 'retries', 'timeoutMs'];

/** A misspelt or meaningless option would be ignored without a word. Shows no value of the key. */
function checkOptions(options: ClientOptions): void {
  for (const name of Object.keys(options)) if (!OPTIONS.includes(name)) throw new TypeError(`createClient takes no option ${JSON.stringify(name)}: it takes ${OPTIONS.join(', ')}`);
  const { apiKey, retries, timeoutMs } = options;
  if (apiKey !== undefined && (typeof apiKey !== 'string' || apiKey === '')) throw new TypeError('apiKey must be a text that is not empty');
  if (retries !== undefined && !(Number.isInteger(retries) && retries >= 0)) throw new TypeError(`retries must be a whole number from 0 on, not ${JSON.stringify(retries)}`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) throw new TypeError(`timeoutMs must be a number above 0, not ${JSON.stringify(timeoutMs)}`);
}

export function createClient(options: ClientOptions): Client {
  const url = addressOfServer(options?.baseUrl);
  checkOptions(options);
  const { fetch: own = (...all: Parameters<typeof fetch>) => fetch(...all), retries = 3, timeoutMs = 10_000 } = options;
  const given = { fetch: own, retries, timeoutMs };
  Object.defineProperty(given, 'apiKey', { value: options.apiKey, enumerable: false }); // a logged client does not show it
  return { baseUrl: url.href.replace(/\/$/, ''), options: given, pausedUntil: 0 };
}

/** Strings of the API as exact numbers, in place. What does not look like one stays: a field may get a new form. */
export function convert(value: unknown, shape: Shape | undefined): unknown {
  if (shape === undefined || value === null || value === undefined) return value;
  if (typeof shape === 'number') {
    if (typeof value !== 'string') return value;
    if (shape === 1 && /^-?[0-9]{1,77}$/.test(value)) return BigInt(value);
    if (shape === 2 && /^[0-9]{1,10}$/.test(value)) return Number(value);
    return value;
  }
  if (Array.isArray(shape)) return Array.isArray(value) ? value.map((one) => convert(one, shape[0])) : value;
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const record = value as Record<string, unknown>;
  for (const [name, inner] of Object.entries(shape)) if (Object.hasOwn(record, name)) record[name] = convert(record[name], inner);
  return record;
}

/** `header`: names of HEADER. `body`: whether there is one. */
export type Route = { method: string; path: string; query?: readonly string[]; header?: readonly string[]; body?: boolean; shape?: Shape; safe?: boolean };
type Params = { [name: string]: unknown };

const HEADER: { [name: string]: string } = { apiKey: 'X-API-Key', idempotencyKey: 'Idempotency-Key' };

/** A misspelt filter would change the answer without a word, so a name that the route does not know is an error, as it is at the API. */
function checkNames(route: Route, params: Params): void {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((one) => one[1]!);
  const known = [...inPath, ...(route.query ?? []), ...(route.header ?? []), ...(route.body ? ['body'] : [])];
  for (const name of Object.keys(params)) {
    if (!known.includes(name)) throw new TypeError(`${route.method} ${route.path} takes no parameter ${JSON.stringify(name)}: it takes ${known.join(', ') || 'none'}`);
  }
}

/** A parameter as the API takes it: a `Date` as its time in UTC. */
function textOfParameter(name: string, value: unknown): string {
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is an invalid Date`);
  return value.toISOString();
}

/** The address of a call. TypeError: a parameter is missing, not one of the route, or no time. */
export function addressOf(client: Client, route: Route, params: Params): string {
  checkNames(route, params);
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === null || value === '' || value === '.' || value === '..') throw new TypeError(`${name} is missing`);
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  for (const name of route.query ?? []) {
    const value = params[name];
    if (value !== undefined && value !== null) query.set(name, textOfParameter(name, value));
  }
  const text = query.toString();
  return client.baseUrl + path + (text ? `?${text}` : '');
}

function requestOf(client: Client, route: Route, params: Params): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (client.options.apiKey) headers[HEADER.apiKey!] = client.options.apiKey;
  for (const [name, header] of Object.entries(HEADER)) if (params[name] !== undefined) headers[header] = String(params[name]);
  if (params.body === undefined) return { method: route.method, headers };
  headers['Content-Type'] = 'application/json';
  return { method: route.method, headers, body: JSON.stringify(params.body, (_, one) => (typeof one === 'bigint' ? String(one) : one)) };
}

const BODY_LIMIT = 32 << 20; // bytes of an answer, decompressed: far more than the server writes
const PAUSE_MS = 60_000; // the server's windows are no longer

/** The bytes of a body. Throws when it grows beyond a limit. */
export async function octetsOf(response: Response, limit = BODY_LIMIT): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0);
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return joined(parts, size);
    size += value.length;
    if (size > limit) {
      void reader.cancel().catch(() => {});
      throw new TidemarkError('too_large', `an answer of more than ${limit} bytes`, response.status, [], response.headers.get('Request-Id'));
    }
    parts.push(value);
  }
}

function joined(parts: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The text of a body. Throws when it grows beyond the limit. */
export async function textOf(response: Response): Promise<string> {
  return new TextDecoder().decode(await octetsOf(response));
}

/** The object of a body: every answer of the API is one. */
export async function objectOf(response: Response): Promise<{ [name: string]: unknown }> {
  const bytes = await octetsOf(response);
  let value: unknown;
  let cause: unknown;
  try {
    value = jsonOf(bytes);
  } catch (error) {
    cause = error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { [name: string]: unknown };
  throw new TidemarkError('not_json', 'the answer is no JSON object', response.status, [], response.headers.get('Request-Id'), null, { cause });
}

const number = (text: string | null): number | null => (text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : null);

/** Waits, or throws when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(reasonOf(signal));
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1)); // a longer one would end at once
    function done() {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(reasonOf(signal!));
    }
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function reasonOf(signal: AbortSignal): TidemarkError {
  return signal.reason instanceof TidemarkError ? signal.reason : new TidemarkError('aborted', 'the call was aborted', null, [], null, null, { cause: signal.reason });
}

/** The address of an answer, in brackets: no such route often means that baseUrl is wrong. Without its query, which may name a person's address. */
function placeOf(response: Response): string {
  return response.url ? ` (${response.url.split('?')[0]})` : '';
}

/** The problem that a server's answer tells. A proxy's page is one too. */
export async function problemOf(response: Response): Promise<TidemarkError> {
  const body = await objectOf(response).catch((error: unknown) => {
    if (error instanceof TidemarkError) return null;
    throw error; // broken off, or too late
  });
  const seconds = number(response.headers.get('Retry-After'));
  return new TidemarkError(
    typeof body?.code === 'string' ? body.code : `http_${response.status}`,
    typeof body?.detail === 'string' ? body.detail + (body.code === 'no_route' ? placeOf(response) : '') : `HTTP ${response.status}${placeOf(response)}`,
    response.status,
    Array.isArray(body?.errors) ? body.errors.filter((one) => typeof one?.detail === 'string') : [],
    response.headers.get('Request-Id'),
    seconds === null ? null : seconds * 1000,
  );
}

/** What is left of the limit: with nothing left, the next request waits as long as the server says. */
function heed(client: Client, response: Response): void {
  const limit = /;r=([0-9]{1,9});t=([0-9]{1,9})/.exec((response.headers.get('RateLimit') ?? '').replace(/\s/g, ''));
  if (limit && limit[1] === '0') client.pausedUntil = Date.now() + Math.min(Number(limit[2]) * 1000, PAUSE_MS);
}

function mayRepeat(route: Route, params: Params, error: TidemarkError): boolean {
  if (route.method !== 'GET' && !route.safe && params.idempotencyKey === undefined) return false;
  if (error.status === 429 || error.status === 503) return error.retryAfterMs !== null || error.status === 429;
  return (error.status === null && error.code === 'network') || error.status === 502 || error.status === 504;
}

/** Refuses what leads elsewhere: the key of a request must not follow to another origin. */
export function unmoved(response: Response): Response {
  const moved = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
  if (!moved) return response;
  void response.body?.cancel().catch(() => {});
  throw new TidemarkError('redirected', `the server answers with a redirection: baseUrl is not its address`, response.status || null);
}

/** Why a connection failed, as the runtime says it: ": ECONNREFUSED". Browsers do not tell. */
export function whyOf(cause: unknown): string {
  let inner = cause;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const { code, message } = inner instanceof Error ? (inner as Error & { code?: unknown }) : {};
  const why = typeof code === 'string' ? code : message;
  return why ? `: ${why}` : '';
}

async function once(client: Client, url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = unmoved(await client.options.fetch(url, { ...init, signal, redirect: 'manual' }));
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    if (signal.aborted) throw reasonOf(signal);
    throw new TidemarkError('network', `no answer of ${new URL(url).host}${whyOf(cause)}`, null, [], null, null, { cause });
  }
  heed(client, response);
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function answerOf<T>(response: Response, shape: Shape | undefined): Promise<Answer<T>> {
  const body = await objectOf(response);
  const { headers } = response;
  return {
    data: convert(body, shape) as T,
    ledger: number(headers.get('Ledger-Sequence')),
    closedAt: headers.get('Ledger-Closed-At'),
    provenThrough: number(headers.get('Proven-Through')),
    ageMs: number(headers.get('Data-Age-Ms')),
    network: headers.get('Network'),
    requestId: headers.get('Request-Id'),
    historyFrom: number(headers.get('History-From')),
  };
}

/** A signal that ends with the caller's or after a time. */
function bounded(timeoutMs: number, signal?: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TidemarkError('timeout', `no answer within ${timeoutMs} ms`)), Math.min(timeoutMs, 2 ** 31 - 1));
  const stop = () => controller.abort(reasonOf(signal!));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

/** Sends a request until it is answered: what may be repeated is, as the server asks, within the time of the call. */
export async function send<T>(client: Client, route: Route, params: object, options: CallOptions, take: (response: Response) => Promise<T>): Promise<T> {
  const given = (params ?? {}) as Params; // JavaScript may leave them out
  const url = addressOf(client, route, given);
  const init = requestOf(client, route, given);
  const retries = options.retries ?? client.options.retries;
  const bound = bounded(options.timeoutMs ?? client.options.timeoutMs, options.signal);
  const until = Date.now() + (options.timeoutMs ?? client.options.timeoutMs);
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        const pause = client.pausedUntil - Date.now();
        if (Date.now() + pause >= until) throw new TidemarkError('timeout', `the server's rate limit asks to wait ${pause} ms`);
        if (pause > 0) await sleep(pause, bound.signal);
        return await take(await once(client, url, init, bound.signal));
      } catch (error) {
        if (bound.signal.aborted) throw reasonOf(bound.signal);
        if (!(error instanceof TidemarkError)) throw error instanceof TypeError ? new TidemarkError('network', 'the answer broke off', null, [], null, null, { cause: error }) : error;
        if (attempt >= retries || !mayRepeat(route, given, error)) throw error;
        const wait = error.retryAfterMs ?? Math.min(100 * 2 ** attempt, 5000) * (0.5 + Math.random());
        if (Date.now() + wait >= until) throw error; // the caller learns the reason instead of "timeout"
        await sleep(wait, bound.signal);
      }
    }
  } finally {
    bound.release();
  }
}

/** A call of a route of the API. */
export function call<T>(client: Client, route: Route, params: object, options: CallOptions = {}): Promise<Answer<T>> {
  return send(client, route, params, options, (response) => answerOf<T>(response, route.shape));
}
