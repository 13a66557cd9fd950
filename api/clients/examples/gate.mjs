// A compliance gate in front of a swap, with identity checks. Needs TIDEMARK_API_URL and TIDEMARK_KYC_KEY; listens on PORT (8090).
//
//   POST /swap    {"address"}          refuses unless the address is compliant now
//   POST /verify  {"address","mode"}   opens a session for <tidemark-kyc>
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, kycProviders, kycSession, kycStatus, TidemarkError } from '@tidemark/client';

const api = createClient({ baseUrl: process.env.TIDEMARK_API_URL, apiKey: process.env.TIDEMARK_KYC_KEY, timeoutMs: 3000 });
const element = fileURLToPath(import.meta.resolve('@tidemark/client/kyc'));
const page = readFileSync(new URL('gate.html', import.meta.url), 'utf8').replace('{{HOST}}', new URL(process.env.TIDEMARK_API_URL).origin);

/** The gate: only a fresh "compliant" lets a swap through. No answer is a no. */
export async function mayTrade(address) {
  try {
    const { data, ledger } = await kycStatus(api, { address, maxAgeMs: 10_000 });
    return { may: data.compliant === true && data.address === address, needsKyc: data.needsKyc, why: `${data.reasonCode} at ledger ${ledger}` };
  } catch (error) {
    if (!(error instanceof TidemarkError)) throw error;
    return { may: false, needsKyc: false, why: error.message };
  }
}

async function swap({ address }) {
  const { may, needsKyc, why } = await mayTrade(address);
  if (!may) return [403, { detail: `Refused: ${why}`, needsKyc }];
  return [200, { detail: `Swapped: ${why}`, needsKyc: false }]; // here your app submits its transaction
}

async function verify({ address, mode }) {
  const { data } = await kycProviders(api);
  const session = await kycSession(api, { body: { address, mode, providerKey: data.providers[0].key }, idempotencyKey: randomUUID() });
  return [201, session.data];
}

async function answer(request) {
  if (request.method === 'GET' && request.url === '/') return [200, page, 'text/html; charset=utf-8'];
  if (request.method === 'GET' && request.url === '/element.js') return [200, readFileSync(element, 'utf8'), 'text/javascript'];
  const handler = { '/swap': swap, '/verify': verify }[request.url];
  if (request.method !== 'POST' || !handler) return [404, { detail: 'There is no such page.' }];
  if (request.headers['content-type'] !== 'application/json') return [415, { detail: 'JSON is wanted.' }]; // which a page of another origin cannot send unasked
  let body = '';
  for await (const part of request) if ((body += part).length > 4096) return [413, { detail: 'Too large.' }];
  try {
    return await handler(JSON.parse(body));
  } catch (error) {
    if (error instanceof TidemarkError) return [error.status === 400 ? 400 : 502, { detail: error.detail, code: error.code }];
    if (error instanceof SyntaxError || error instanceof TypeError) return [400, { detail: 'Not what was asked for.' }];
    throw error;
  }
}

createServer(async (request, response) => {
  const [status, content, type = 'application/json'] = await answer(request).catch((error) => {
    console.error(error);
    return [500, { detail: 'A fault of this server.' }];
  });
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(typeof content === 'string' ? content : JSON.stringify(content));
}).listen(Number(process.env.PORT ?? 8090), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}/`);
});
