// Verifies one notification: {headers, body, secret} on standard input; prints its type.
import { readFileSync } from 'node:fs';
import { verifyWebhook } from '@tidemark/client';

const { headers, body, secret } = JSON.parse(readFileSync(0, 'utf8'));
console.log((await verifyWebhook(body, headers, secret)).type);
