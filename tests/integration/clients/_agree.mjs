// Judges what _agree.py made, with the TypeScript package: one JSON array in, one of codes out.
import { saysCompliant, verifyReceipt, verifyWebhook } from '@tidemark/client';

let text = '';
for await (const part of process.stdin) text += part;
const { receipts, webhooks, expected } = JSON.parse(text);
const code = (error) => (error.name === 'ReceiptError' || error.name === 'WebhookError' ? error.code : `CRASH ${error}`);
const out = [];
for (const { token, address } of receipts) {
  out.push(await verifyReceipt(token, expected).then((receipt) => (saysCompliant(receipt, address) ? 'yes' : 'no'), code));
}
for (const { body, headers, secrets, now } of webhooks) {
  out.push(await verifyWebhook(Buffer.from(body, 'base64'), headers, secrets, { now: now * 1000 }).then(() => 'yes', code));
}
console.log(JSON.stringify(out));
