// Verifies notifications: [{headers, body, secret}, …] on standard input; prints the type of each, or why it is refused.
import { readFileSync } from 'node:fs';
import { verifyWebhook } from '@tidemark/client';

for (const { headers, body, secret } of JSON.parse(readFileSync(0, 'utf8'))) {
  console.log(await verifyWebhook(body, headers, secret).then((one) => one.type, (error) => error.code));
}
