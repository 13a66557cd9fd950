// Judges what _agree.py made, with the TypeScript package: one JSON array in, one of codes out.
import { createClient, jwks, saysCompliant, verifyReceipt, verifyWebhook } from '@tidemark/client';

let text = '';
for await (const part of process.stdin) text += part;
const { receipts, webhooks, keys, expected } = JSON.parse(text);
const code = (error) => (['ReceiptError', 'WebhookError', 'TidemarkError'].includes(error.name) ? error.code : `CRASH ${error}`);
const out = [];
for (const { token, address } of receipts) {
  out.push(await verifyReceipt(token, expected).then((receipt) => (saysCompliant(receipt, address) ? 'yes' : 'no'), code));
}
for (const { body, headers, secrets, now } of webhooks) {
  out.push(await verifyWebhook(Buffer.from(body, 'base64'), headers, secrets, { now: now * 1000 }).then(() => 'yes', code));
}
for (const text of keys.sets) {
  const client = createClient({ baseUrl: 'http://keys', fetch: async () => new Response(text) });
  out.push(await jwks(client).then((set) => verifyReceipt(keys.token, { ...expected, jwks: set })).then(() => 'yes', code));
}
console.log(JSON.stringify(out));
