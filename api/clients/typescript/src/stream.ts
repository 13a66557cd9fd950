// Live messages, resumed where they ended.
import { addressOf, convert, problemOf, sleep, TidemarkError, unmoved, whyOf, type Client } from './client.js';
import { streamShapes, type EventKind, type StreamMessage } from './generated.js';
export type { StreamMessage } from './generated.js';

export type StreamParams = {
  topics: ('ledger' | 'event' | 'price' | 'compliance')[];
  kinds?: EventKind[];
  contract?: string;
  address?: string;
  pool?: string;
  assets?: string[];
  addresses?: string[];
  /** The id of the last message that was taken: the stream continues behind it. */
  after?: string;
};

export type StreamOptions = {
  signal?: AbortSignal;
  /** Without a byte for this long the connection counts as dead: 45 000 ms. The server sends something every 15 s. */
  silenceMs?: number;
  /** The longest wait before another attempt: 30 000 ms. */
  maxWaitMs?: number;
  /** Told whenever the connection was lost and is tried again. */
  onRetry?: (error: TidemarkError, waitMs: number) => void;
};

const LIMIT = 4 << 20; // one message: far more than the server writes
const POSITION = /^[\x21-\x7e]{1,256}$/; // what a header can carry back
const ROUTE = {
  method: 'GET',
  path: '/api/stream',
  query: ['topics', 'kinds', 'contract', 'address', 'pool', 'assets', 'addresses', 'after'],
} as const;

type Raw = { type: string; id: string | null; data: string };

/** Server-sent events of a body: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export async function* parseEvents(body: ReadableStream<Uint8Array>, heard: () => void = () => {}): AsyncGenerator<Raw> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let held: string[] = []; // pieces of a line whose end did not come yet
  let size = 0; // of a message whose end did not come yet
  let last: string | null = null;
  let type = '';
  let data: string[] = [];
  const field = (line: string) => {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'event') type = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) last = value;
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      // Only what came is searched: with all that is held, a line in small pieces would take the square of its length.
      const carried = held.at(-1) === '\r' ? held.pop()! : '';
      const lines = (carried + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      size += value.length;
      if (lines.length > 1) {
        lines[0] = held.join('') + lines[0]!;
        held = [];
      }
      let rest = lines.pop()!;
      if (rest.endsWith('\r')) {
        if (rest.length > 1) held.push(rest.slice(0, -1));
        rest = '\r';
      }
      if (rest !== '') held.push(rest);
      if (size > LIMIT && lines.length === 0) throw new TidemarkError('not_json', `a stream message is longer than ${LIMIT} bytes`);
      for (const line of lines) {
        if (line !== '') {
          if (size > LIMIT && data.length) throw new TidemarkError('not_json', `a stream message is longer than ${LIMIT} bytes`);
          field(line);
          continue;
        }
        size = 0;
        if (data.length || last !== null) {
          yield { type: data.length ? type || 'message' : '', id: last, data: data.join('\n') };
          type = '';
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** One connection. */
async function* connection(client: Client, params: StreamParams, after: string | undefined, options: StreamOptions): AsyncGenerator<Raw> {
  const joined: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(params)) joined[name] = Array.isArray(value) ? value.join(',') : value;
  delete joined.after;
  const address = addressOf(client, ROUTE, joined);
  const controller = new AbortController();
  const stop = () => controller.abort(options.signal?.reason);
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener('abort', stop, { once: true });
  let timer: ReturnType<typeof setTimeout>;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(new TidemarkError('timeout', 'the stream fell silent')), options.silenceMs ?? 45_000);
  };
  const headers: Record<string, string> = { Accept: 'text/event-stream' };
  if (client.options.apiKey) headers['X-API-Key'] = client.options.apiKey;
  if (after !== undefined) headers['Last-Event-ID'] = after;
  try {
    heard();
    const response = await client.options.fetch(address, { headers, signal: controller.signal, cache: 'no-store', redirect: 'manual' });
    if (!unmoved(response).ok) throw await problemOf(response);
    if (!response.body || !/^text\/event-stream *(;|$)/i.test(response.headers.get('Content-Type') ?? '')) throw new TidemarkError('not_json', 'the answer is no stream of events', response.status);
    yield* parseEvents(response.body, heard);
  } catch (error) {
    if (error instanceof TidemarkError) throw error;
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : error;
    throw reason instanceof TidemarkError ? reason : new TidemarkError('network', `the stream broke off${whyOf(reason)}`, null, [], null, null, { cause: reason });
  } finally {
    clearTimeout(timer!);
    options.signal?.removeEventListener('abort', stop);
    controller.abort();
  }
}

/** Reasons of `dropped` after which the same position is of no use. */
const FINAL = new Set(['gap', 'archived', 'deployment']);

/** Whether another attempt may succeed. 409 `behind` means that a node has fewer ledgers than this stream: another has them. */
function mayResume(error: TidemarkError): boolean {
  return error.status === null ? error.code === 'network' || error.code === 'timeout' || error.code === 'dropped' : error.status === 429 || error.status >= 500;
}

function positionOf(id: string): string {
  if (POSITION.test(id)) return id;
  throw new TidemarkError('not_json', 'a message has a position that cannot be asked for');
}

function contentOf(text: string): { [name: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text || '{}');
  } catch {
    // is refused below
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { [name: string]: unknown };
  throw new TidemarkError('not_json', 'a message is no JSON object');
}

/**
 * Messages, each with exact numbers: `type` says which `data` there is. Until the signal is aborted or the stream cannot be continued (TidemarkError: 400, 409, 410; `gap`, `archived`, `deployment`).
 * A connection that breaks is made again behind the last message: none is lost, none comes twice.
 */
export async function* stream(client: Client, params: StreamParams, options: StreamOptions = {}): AsyncGenerator<StreamMessage> {
  if (!params?.topics?.length) throw new TypeError('topics is missing: ledger, event, price, compliance, or several of them');
  let after = params.after;
  for (let failures = 0; ; ) {
    let problem = new TidemarkError('network', 'the stream ended');
    try {
      for await (const raw of connection(client, params, after, options)) {
        failures = 0;
        if (raw.type !== 'dropped' && raw.id !== null && raw.id !== '') after = positionOf(raw.id);
        if (raw.type === '') continue; // a heartbeat: only the position moved
        const data = contentOf(raw.data);
        if (raw.type === 'dropped') {
          const reason = String(data.reason);
          throw new TidemarkError(FINAL.has(reason) ? reason : 'dropped', `the server ended the stream: ${reason}`);
        }
        // A type that this package does not know comes as it is.
        const shape = Object.hasOwn(streamShapes, raw.type) ? streamShapes[raw.type] : undefined;
        yield { type: raw.type, id: after ?? null, data: convert(data, shape) } as StreamMessage;
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof TidemarkError)) throw error;
      if (!mayResume(error)) throw error;
      problem = error;
    }
    if (options.signal?.aborted) return;
    const most = options.maxWaitMs ?? 30_000;
    // "Retry-After: 0" for ever must not become a loop without a pause.
    const wait = Math.min(Math.max(problem.retryAfterMs ?? 0, 250 * 2 ** Math.min(failures++, 16)), most) * (0.5 + Math.random() / 2);
    options.onRetry?.(problem, wait);
    try {
      await sleep(wait, options.signal);
    } catch {
      return;
    }
  }
}
