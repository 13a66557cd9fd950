// Through both example servers as a browser would, then the TypeScript package on a living API. Arguments: the two servers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createClient, formatAmount, items, kycProviders, kycStatus, kycStatusBatch, market, markets, pools, poolSwaps, stream, TidemarkError } from '@tidemark/client';

const url = process.env.TIDEMARK_API_URL;
const client = createClient({ baseUrl: url });
const raw = async (path) => (await fetch(url + path)).json();
const until = async (what, holds) => {
  for (const end = Date.now() + 120000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const held = await holds();
    if (held) return held;
    assert.ok(Date.now() < end, what);
  }
};
const post = async (address, body) => {
  const answer = await fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json().catch(() => null) };
};

for (const [i, server] of process.argv.slice(2).entries()) { // the guide: refused, verified, let through
  const [address] = execFileSync('tidemark-sim', ['keys', '--name', `guest-${i}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/).slice(1);
  const page = await (await fetch(server)).text();
  assert.ok(page.includes(`host="${url}"`) && (await (await fetch(`${server}element.js`)).text()).includes('class TidemarkKyc'));
  const first = await post(`${server}swap`, { address });
  assert.deepEqual([first.status, first.body.needsKyc], [403, true], JSON.stringify(first));
  const session = await post(`${server}verify`, { address, mode: 'direct' });
  assert.equal(session.status, 201, JSON.stringify(session));
  assert.ok(!JSON.stringify(session.body).includes(process.env.TIDEMARK_KYC_KEY));
  const hosted = await until('the provider\'s page', async () => (await fetch(session.body.startUrl, { redirect: 'manual' })).headers.get('location'));
  await fetch(hosted, { method: 'POST', redirect: 'manual', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'decision=approved&country=CHE&reason=' });
  const passed = await until('the gate opens', async () => {
    const again = await post(`${server}swap`, { address });
    return again.status === 200 && again;
  });
  assert.match(passed.body.detail, /^Swapped: compliant at ledger \d+$/);
  assert.equal((await post(`${server}swap`, { address: 'nonsense' })).status, 403);
  assert.equal((await fetch(`${server}verify`, { method: 'POST', body: JSON.stringify({ address, mode: 'direct' }) })).status, 415, 'as a form of another site would');
  assert.equal((await post(`${server}swap`, 7)).status < 500, true);
  console.log(`gate ${i}: refused, verified, let through`);
}

// Every number is that of the JSON, exactly.
const answer = await markets(client);
assert.ok(answer.ledger > 0 && answer.ageMs >= 0 && answer.data.items.length > 0);
const plain = await raw(`/api/markets?ledger=${answer.ledger}`);
for (const [i, one] of (await markets(client, { ledger: answer.ledger })).data.items.entries()) {
  assert.equal(typeof one.debt, 'bigint');
  assert.equal(one.debt, BigInt(plain.items[i].debt));
  assert.equal(formatAmount(one.debt, 7), plain.items[i].debtScaled);
  assert.deepEqual(JSON.parse(JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value))).debtScaled, plain.items[i].debtScaled);
}
assert.equal((await market(client, { symbol: answer.data.items[0].market })).data.market?.market ?? answer.data.items[0].market, answer.data.items[0].market);

let count = 0;
const ids = new Set();
for (const pool of (await pools(client)).data.items) {
  for await (const swap of items(poolSwaps, client, { pool: pool.pool, ledger: answer.ledger, limit: 20 })) {
    count++;
    ids.add(swap.id);
    assert.equal(typeof swap.amountIn, 'bigint');
  }
}
const counted = Number(execFileSync('psql', ['-XAtq', process.env.TIDEMARK_DATABASE_URL, '-c', `SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= ${answer.ledger}`], { encoding: 'utf8' }));
assert.deepEqual([count, ids.size], [counted, counted], 'swaps of all pools');
assert.ok(counted > 40);

const { data } = await kycProviders(client);
assert.ok(data.providers.length);
await assert.rejects(kycStatus(client, { address: 'GNONSENSE' }), (error) => error instanceof TidemarkError && error.status === 400 && error.errors.length > 0);
const batch = await kycStatusBatch(client, { body: { addresses: [answer.data.items[0].synthToken, 'x'] } });
assert.equal(batch.data.items?.length ?? 2, 2);

const seen = [];
for await (const message of stream(client, { topics: ['ledger'] })) {
  if (message.type === 'ledger') seen.push(message.data.ledger);
  if (seen.length === 3) break;
}
assert.deepEqual(seen, [seen[0], seen[0] + 1, seen[0] + 2]);
console.log(`typescript: ${counted} swaps, markets and statuses equal the API's and SQL's; ledgers ${seen.join(', ')}`);
