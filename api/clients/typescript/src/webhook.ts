// Notifications by the Standard Webhooks specification (https://www.standardwebhooks.com): is this one of ours?
import { convert } from './client.js';
import { bytesOf, fromBase64, jsonOf, webCrypto } from './crypto.js';
import { notificationShapes, type NotificationContent } from './generated.js';

export type WebhookHeaders = Headers | { [name: string]: string | string[] | undefined };

/** Why a notification was refused: `missing_header`, `bad_timestamp`, `bad_secret`, `bad_signature`, or `malformed`: signed, but no notification. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  constructor(readonly code: 'missing_header' | 'bad_timestamp' | 'bad_secret' | 'bad_signature' | 'malformed', why: string) {
    super(`${code}: ${why}`);
  }
}

/** A notification: `type` says which `data` there is. `timestamp` is that of the attempt. */
export type Webhook = { id: string; timestamp: Date } & NotificationContent;

function header(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookError('missing_header', `the request has no header ${name}`);
  return value;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length < 16) throw new WebhookError('bad_secret', 'a secret is whsec_ and base64, as it was given when the webhook was registered');
  return webCrypto().subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function contentOf(raw: Uint8Array): NotificationContent {
  try {
    const { type, data } = jsonOf(raw) as { type: unknown; data: unknown };
    if (typeof type === 'string' && typeof data === 'object' && data !== null && !Array.isArray(data)) {
      // A type that this package does not know comes as it is.
      return { type, data: convert(data, Object.hasOwn(notificationShapes, type) ? notificationShapes[type] : undefined) } as NotificationContent;
    }
  } catch {
    // is refused below
  }
  throw new WebhookError('malformed', 'it is signed, but its body is no notification');
}

/**
 * The notification, if one of the secrets signed it within the last (or next) five minutes. `body` is what came, byte for byte: parse nothing before.
 * The same id may come more than once; keep the ids that were handled. Throws WebhookError.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: { toleranceSeconds?: number; now?: number } = {},
): Promise<Webhook> {
  if (secrets === undefined || secrets === null) throw new TypeError('secrets is missing: one whsec_… or a list of them');
  const id = header(headers, 'webhook-id');
  const sent = header(headers, 'webhook-timestamp');
  const now = options.now ?? Date.now();
  if (!/^[0-9]{1,12}$/.test(sent) || !(Math.abs(now / 1000 - Number(sent)) <= (options.toleranceSeconds ?? 300))) throw new WebhookError('bad_timestamp', 'webhook-timestamp is not within five minutes of now, or what `toleranceSeconds` says');
  const raw = typeof body === 'string' ? bytesOf(body) : body;
  const head = bytesOf(`${id}.${sent}.`);
  const signed = new Uint8Array(head.length + raw.length);
  signed.set(head);
  signed.set(raw, head.length);
  const { subtle } = webCrypto();
  const signatures = header(headers, 'webhook-signature').split(' ').filter((one) => one.startsWith('v1,')).slice(0, 16);
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret);
    for (const signature of signatures) {
      const bytes = fromBase64(signature.slice(3));
      if (bytes && (await subtle.verify('HMAC', key, bytes, signed))) {
        return { id, timestamp: new Date(Number(sent) * 1000), ...contentOf(raw) };
      }
    }
  }
  throw new WebhookError('bad_signature', 'no secret signed these bytes: pass the body as it came, and the present secret');
}
