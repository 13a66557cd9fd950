// The TypeScript package, as built, on a fake server.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import * as tidemark from '@tidemark/client';
import { fake, reply, LEDGER } from './_fake.mjs';

const { createClient, formatAmount, parseAmount, items, kycStatus, kycSession, market, pools, poolSwaps, price, stream, verifyReceipt, saysCompliant, verifyWebhook, webhookCreate, webhookSecret, TidemarkError } = tidemark;
const code = (wanted, status) => (error) => error instanceof TidemarkError && error.code === wanted && (status === undefined || error.status === status);
const ok = (body) => (_, response) => reply(response, 200, body, LEDGER);
const no = (status, name, headers) => (_, response) => reply(response, status, { code: name, detail: name }, headers);

async function serving(script, work, options = {}) {
  const server = await fake(script);
  try {
    await work(createClient({ baseUrl: server.url, ...options }), server);
  } finally {
    server.close();
  }
}

test('amounts are exact', () => {
  assert.equal(formatAmount(12345678n, 7), '1.2345678');
  assert.equal(formatAmount(-5n, 7), '-0.0000005');
  assert.equal(formatAmount(0n, 0), '0');
  assert.equal(formatAmount(-(2n ** 127n), 7), '-17014118346046923173168730371588.4105728');
  for (const bad of ['', '1e5', '1.', '.5', '+1', ' 1', '0x1', '1,5', '1.00000001']) assert.throws(() => parseAmount(bad, 7), RangeError, bad);
  for (let i = 0; i < 2000; i++) {
    const raw = BigInt(Math.floor(Math.random() * 2 ** 53)) * BigInt(Math.floor(Math.random() * 2 ** 53)) * (i % 2 ? -1n : 1n);
    const decimals = i % 20;
    assert.equal(parseAmount(formatAmount(raw, decimals), decimals), raw);
  }
});

test('an answer has exact numbers and its ledger', () =>
  serving({ '/api/prices/XLM': [ok({ ledger: '77', asset: 'XLM', latestPrice: '170141183460469231731687303715884105727', latestPriceScaled: '1.5', stale: false, twapPrice: null, later: '12' })] },
    async (client, server) => {
      const answer = await price(client, { asset: 'XLM', maxAgeMs: 5000 });
      assert.equal(answer.data.latestPrice, 170141183460469231731687303715884105727n);
      assert.deepEqual([answer.data.ledger, answer.data.twapPrice, answer.data.later, answer.ledger, answer.provenThrough, answer.ageMs], [77, null, '12', 77, 70, 12]);
      assert.equal(server.requests[0].url, '/api/prices/XLM?maxAgeMs=5000');
    }));

test('nested lists and names of others', () =>
  serving({ '/api/markets/a%2Fb': [ok({ ledger: '1', market: { debt: '5', oracle: { latestPrice: '6' }, __proto__x: '1' } })] }, async (client) => {
    const { data } = await market(client, { symbol: 'a/b' });
    assert.equal(data.ledger, 1);
    await assert.rejects(async () => market(client, { symbol: '..' }), TypeError);
  }));

test('429 and 503 with Retry-After are repeated, other answers are not', () =>
  serving({
    '/api/pools': [no(429, 'rate', { 'Retry-After': '0' }), no(503, 'busy', { 'Retry-After': '0' }), ok({ items: [], next: null })],
    '/api/prices/A': [no(503, 'stale')],
    '/api/prices/B': [no(400, 'bad')],
    '/api/prices/C': [no(503, 'busy', { 'Retry-After': '60' })],
  }, async (client, server) => {
    await pools(client);
    assert.equal(server.requests.length, 3);
    await assert.rejects(price(client, { asset: 'A' }), code('stale', 503));
    await assert.rejects(price(client, { asset: 'B' }), code('bad', 400));
    const began = Date.now();
    await assert.rejects(price(client, { asset: 'C' }), (error) => error.code === 'busy' && error.retryAfterMs === 60000);
    assert.ok(Date.now() - began < 5000, 'waited although the time of the call could not do');
    assert.equal(server.requests.length, 6);
  }));

test('the rate limit is waited for', () =>
  serving({ '/api/prices/A': [(_, response) => reply(response, 200, {}, { ...LEDGER, RateLimit: '"hot";r=0;t=1' }), ok({})] }, async (client, server) => {
    await price(client, { asset: 'A' });
    await price(client, { asset: 'A' });
    assert.ok(server.requests[1].at - server.requests[0].at >= 950, 'did not wait');
  }));

test('a session is opened once, unless it has an Idempotency-Key', () =>
  serving({ '/api/sdk/kyc/session': [(request) => request.socket.destroy(), (request) => request.socket.destroy(), ok({ sessionId: 's' })] }, async (client, server) => {
    const body = { address: 'G', mode: 'iframe', providerKey: 'sandbox' };
    await assert.rejects(kycSession(client, { body }), code('network'));
    assert.equal(server.requests.length, 1);
    await kycSession(client, { body, idempotencyKey: 'k' });
    assert.equal(server.requests[2].headers['idempotency-key'], 'k');
    assert.equal(server.requests[2].headers['x-api-key'], 'secret');
  }, { apiKey: 'secret' }));

test('a webhook is registered again only with an Idempotency-Key; another secret names the one that it replaces', () => {
  const lost = (request) => request.socket.destroy();
  return serving({ '/api/sdk/webhooks': [lost, lost, ok({ webhookId: 'w' })], '/api/sdk/webhooks/w/secret': [lost, ok({ secret: 's' })] }, async (client, server) => {
    const body = { url: 'https://a.example/', events: ['price.stale'] };
    await assert.rejects(webhookCreate(client, { body }), code('network'));
    assert.equal(server.requests.length, 1);
    await webhookCreate(client, { body, idempotencyKey: 'k' });
    assert.equal(server.requests[2].headers['idempotency-key'], 'k');
    const made = await webhookSecret(client, { webhookId: 'w', body: { overlapSeconds: 60, secretRevision: 1 } });
    assert.equal(made.data.secret, 's');
    assert.equal(server.requests.length, 5);
    assert.equal(server.requests[4].body, server.requests[3].body);
    assert.equal(JSON.parse(server.requests[4].body).secretRevision, 1);
  }, { apiKey: 'secret' });
});

test('the key goes with every request, because its rate counts for each and snapshots need it', () =>
  serving({ '/api/pools': [ok({ items: [], next: null })], '/api/stream': [ok({})], '/.well-known/jwks.json': [ok({ keys: [] })] }, async (client, server) => {
    await pools(client);
    await assert.rejects(stream(client, { topics: ['ledger'] }).next(), code('not_json'));
    await assert.rejects(new tidemark.ComplianceMirror(client, 'N').refresh(), code('no_route'));
    assert.deepEqual(server.requests.map((one) => one.headers['x-api-key']), ['secret', 'secret', 'secret', 'secret']);
    assert.equal(server.requests.at(-1).url, '/api/sdk/snapshot');
  }, { apiKey: 'secret' }));

test('no answer says why, and no such route says where', () =>
  serving({ '/base/api/pools': [(_, response) => reply(response, 404, '<html>')] }, async (client, server) => {
    const refused = (work, wanted) => assert.rejects(work, (error) => wanted.every((one) => error.message.includes(one)), wanted.join(' '));
    await refused(price(client, { asset: 'XLM', maxAgeMs: 200 }), ['no_route', `none (${server.url}/api/prices/XLM)`]);
    await refused(pools(createClient({ baseUrl: `${server.url}/base` })), ['http_404', `HTTP 404 (${server.url}/base/api/pools)`]);
    const gone = await fake({});
    gone.close();
    await refused(pools(createClient({ baseUrl: gone.url, retries: 0 })), ['network', `no answer of ${new URL(gone.url).host}: ECONNREFUSED`]);
  }));

test('arguments and options that mean nothing are refused by name', async () => {
  const refused = async (work, ...words) => assert.rejects(async () => work(), (error) => error instanceof TypeError && words.every((one) => error.message.includes(one)) && !error.message.includes('hunter2'), words.join(' '));
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', retries: undefined, timeoutMs: undefined, apiKey: undefined });
  assert.deepEqual([client.options.retries, client.options.timeoutMs], [3, 10_000]);
  await refused(() => createClient(), 'baseUrl is missing');
  await refused(() => createClient({ baseUrl: 'http://x', retry: 3 }), '"retry"', 'retries');
  await refused(() => createClient({ baseUrl: 'http://x', retries: '3' }), 'retries', '"3"');
  await refused(() => createClient({ baseUrl: 'http://x', timeoutMs: -1 }), 'timeoutMs', '-1');
  await refused(() => createClient({ baseUrl: 'http://x', apiKey: { key: 'hunter2' } }), 'apiKey');
  await refused(() => price(client), 'asset is missing');
  await refused(() => stream(client).next(), 'topics is missing');
  await refused(() => stream(client, { topics: [] }).next(), 'topics is missing');
  await refused(() => items(client, pools).next(), 'the first argument');
  await refused(() => new tidemark.ComplianceMirror(client), 'network');
  await refused(() => verifyWebhook('{}', {}, undefined), 'secrets is missing');
});

test('silence, an abort, no server and another body are errors with a code', () =>
  serving({ '/api/pools': [() => {}], '/api/oracle': [(_, response) => reply(response, 200, '<html>')], '/api/stats': [(_, response) => reply(response, 503, '<html>')] }, async (client) => {
    await assert.rejects(pools(client, {}, { timeoutMs: 200 }), code('timeout'));
    await assert.rejects(pools(client, {}, { signal: AbortSignal.timeout(100) }), code('aborted'));
    await assert.rejects(tidemark.oracle(client), code('not_json'));
    await assert.rejects(tidemark.stats(client), code('http_503'));
    await assert.rejects(pools(createClient({ baseUrl: 'http://127.0.0.1:1', retries: 1 })), code('network'));
  }));

test('items go from page to page', () =>
  serving({ '/api/pools/P/swaps': [ok({ items: [{ id: '1' }, { id: '2' }], next: 'c=1/+' }), ok({ items: [], next: 'd' }), ok({ items: [{ id: '3' }], next: null })] }, async (client, server) => {
    const seen = [];
    for await (const one of items(poolSwaps, client, { pool: 'P', limit: 2 })) seen.push(one.id);
    assert.deepEqual(seen, ['1', '2', '3']);
    assert.deepEqual(server.requests.map((one) => new URL(one.url, 'http://x').searchParams.get('cursor')), [null, 'c=1/+', 'd']);
  }));

test('a Date is sent as its time in UTC, an invalid one not at all', () =>
  serving({ '/api/events': [ok({ items: [], next: null })] }, async (client, server) => {
    await tidemark.events(client, { from: new Date(Date.UTC(2026, 10, 1)), to: '2026-12-01' });
    const query = new URL(server.requests[0].url, 'http://x').searchParams;
    assert.deepEqual([query.get('from'), query.get('to')], ['2026-11-01T00:00:00.000Z', '2026-12-01']);
    await tidemark.events(client, { from: 1793491200 });
    assert.equal(new URL(server.requests[1].url, 'http://x').searchParams.get('from'), '1793491200');
    await assert.rejects(async () => tidemark.events(client, { to: new Date('no date') }), (error) => error instanceof TypeError && error.message.includes('to is an invalid Date'));
    assert.equal(server.requests.length, 2);
  }));

test('a parameter that the route does not know is refused by name, before anything is sent', () =>
  serving({}, async (client, server) => {
    const refused = (work, ...words) => assert.rejects(async () => work(), (error) => error instanceof TypeError && words.every((one) => error.message.includes(one)), words.join(' '));
    await refused(() => kycStatus(client, { address: 'G', maxAgems: 0 }), '"maxAgems"', 'maxAgeMs');
    await refused(() => tidemark.vaults(client, { markt: 'sGOLD' }), '"markt"', 'market');
    await refused(() => items(tidemark.vaults, client, { markt: 'sGOLD' }).next(), '"markt"');
    await refused(() => pools(client, { signal: AbortSignal.timeout(1000) }), '"signal"');
    await refused(() => pools(client, { apiKey: 'k' }), '"apiKey"');
    await refused(() => pools(client, { toString: 1 }), '"toString"');
    await refused(() => tidemark.receipt(client, 'price', { asset: 'XLM', amountIn: '1' }), '"amountIn"');
    await refused(() => stream(client, { topics: ['price'], asset: ['XLM'] }).next(), '"asset"', 'assets');
    assert.equal(server.requests.length, 0);
  }));

test('an error says which field was wrong and why', () => {
  const errors = [{ in: 'query', parameter: 'limit', detail: 'must be a number.' }, { in: 'query', parameter: '', detail: 'is unknown.' }, { pointer: '/addresses/3', detail: 'is no address.' }];
  const body = { code: 'invalid_parameters', detail: 'See errors.', errors };
  return serving({ '/api/pools': [(_, response) => reply(response, 400, body)] }, async (client) => {
    await assert.rejects(pools(client), (error) => {
      assert.equal(error.message, 'invalid_parameters: See errors. parameter limit: must be a number. is unknown. body /addresses/3: is no address.');
      return error.detail === 'See errors.' && error.errors.length === 3;
    });
  });
});

test('a baseUrl that is none says what it must look like, and shows no password', () => {
  const like = (given, ...words) => assert.throws(() => createClient({ baseUrl: given }), (error) => error instanceof TypeError && ['https://api.example', ...words].every((one) => error.message.includes(one)) && !error.message.includes('hunter2'), String(given));
  like(undefined, 'is missing');
  like(7, 'number');
  like('api.example', '"api.example"');
  like('localhost:8080', '"localhost:8080"');
  like('http://u:hunter2@x', 'password');
  like('u:hunter2@x');
  like('http://x/?a=1', 'query');
});

test('a redirection does not take the key along', async () => {
  const thief = await fake({ '/api/sdk/kyc/session': [ok({})], '/api/stream': [ok({})] });
  const to = (status) => (request, response) => reply(response, status, '', { Location: `${thief.url}${request.url}` });
  await serving({ '/api/sdk/kyc/session': [to(307), to(302)], '/api/stream': [to(308)] }, async (client, server) => {
    const body = { address: 'G', mode: 'iframe', providerKey: 'sandbox' };
    for (const status of [307, 302]) await assert.rejects(kycSession(client, { body, idempotencyKey: 'k' }), code('redirected', status));
    await assert.rejects(stream(client, { topics: ['ledger'] }).next(), code('redirected', 308));
    assert.deepEqual([thief.requests.length, server.requests.length], [0, 3]);
  }, { apiKey: 'secret' });
  thief.close();
  assert.ok(!JSON.stringify(createClient({ baseUrl: 'http://x', apiKey: 'secret' })).includes('secret'));
  for (const bad of ['ftp://x', 'http://x/?a=1', 'http://x/#a', 'http://u:p@x']) assert.throws(() => createClient({ baseUrl: bad }), TypeError, bad);
});

test('a body without an end, a bomb and what is no object are errors', () => {
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  const endless = (status) => (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    const piece = Buffer.alloc(1 << 20, ' ');
    const more = () => { while (!response.destroyed && response.write(piece)); };
    response.on('drain', more);
    more();
  };
  const dripping = (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  };
  return serving({
    '/api/prices/A': [(_, response) => { response.writeHead(200, { 'Content-Encoding': 'gzip' }); response.end(bomb); }],
    '/api/prices/B': [endless(200)], '/api/prices/C': [endless(400)], '/api/prices/D': [dripping],
    '/api/prices/E': ['null', '7', '"x"', '[]', '', '{"a":NaN}', '<html>'].map((text) => (_, response) => reply(response, 200, text)),
    '/api/prices/F': [(_, response) => reply(response, 200, '{"__proto__":{"latestPrice":"1"},"constructor":"2","latestPrice":"3"}')],
    '/api/prices/G': [(_, response) => reply(response, 400, '{"code":"network","detail":7,"errors":[null,1,{"detail":2},{"detail":"x"}]}')],
    '/.well-known/jwks.json': [ok({ keys: null }), ok({ keys: [null] })],
  }, async (client, server) => {
    await assert.rejects(price(client, { asset: 'A' }), code('too_large'));
    await assert.rejects(price(client, { asset: 'B' }), code('too_large'));
    await assert.rejects(price(client, { asset: 'C' }), code('http_400', 400));
    await assert.rejects(price(client, { asset: 'D' }, { timeoutMs: 400 }), code('timeout'));
    for (let i = 0; i < 7; i++) await assert.rejects(price(client, { asset: 'E' }), code('not_json', 200));
    assert.equal((await price(client, { asset: 'F' })).data.latestPrice, 3n);
    assert.equal({}.latestPrice, undefined);
    const before = server.requests.length;
    await assert.rejects(price(client, { asset: 'G' }), (error) => error.code === 'network' && error.errors.length === 1);
    assert.equal(server.requests.length, before + 1, 'a refusal that calls itself "network" was repeated');
    for (let i = 0; i < 2; i++) await assert.rejects(tidemark.jwks(client), code('bad_keys'));
  });
});

test('no limit and no Retry-After stops a client for ever', () =>
  serving({
    '/api/prices/A': [(_, response) => reply(response, 200, {}, { RateLimit: `"hot";r=0;t=${'9'.repeat(9)}` })],
    '/api/prices/B': ['9'.repeat(400), 'NaN', '-1', '1e9', '999999999999999'].map((text) => no(503, 'busy', { 'Retry-After': text })),
  }, async (client, server) => {
    await assert.rejects(price(client, { asset: 'B' }), code('busy', 503));
    for (let i = 1; i < 5; i++) await assert.rejects(price(client, { asset: 'B' }), code('busy', 503));
    await price(client, { asset: 'A' });
    assert.ok(client.pausedUntil - Date.now() <= 60_000, `${client.pausedUntil}`);
    const began = Date.now();
    await assert.rejects(price(client, { asset: 'A' }), code('timeout'));
    assert.ok(Date.now() - began < 5000 && server.requests.length === 6, 'waited for what cannot be');
  }));

test('a list that goes round, or is none, ends', async () => {
  for (const bad of [{ items: [] }, { items: [{}], next: 'a' }, { items: null, next: null }, { next: null }, { items: [], next: 7 }]) {
    await serving({ '/api/pools': [ok(bad)] }, (client) => assert.rejects(async () => {
      for await (const _ of items(pools, client, {}));
    }, code('not_json'), JSON.stringify(bad)));
  }
});

const events = (text, end) => (_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let at = 0; // in pieces that respect no character
  const bytes = Buffer.from(text);
  const more = () => {
    if (at < bytes.length) {
      response.write(bytes.subarray(at, at + 7));
      at += 7;
      setImmediate(more);
    } else if (end) end(response);
  };
  more();
};

test('a stream goes on behind its last message, whatever cuts it', async () => {
  const cut = (response) => response.socket.destroy();
  await serving({
    '/api/stream': [
      events('event: open\nid: 1-0\ndata: {}\n\nevent: price\r\nid: 2-1\r\ndata: {"a":"ü",\r\ndata: "b":1}\r\n\r\n: comment\nid: 2-9\n\nevent: price\nid: 3-1\ndata: {"half', cut),
      no(503, 'busy', { 'Retry-After': '0' }),
      events('event: price\nid: 3-1\ndata: {"a":2}\n\nevent: dropped\nid: 9-9\ndata: {"reason":"slow"}\n\n', (response) => response.end()),
      events('event: stale\ndata: {"reason":"indexer"}\n\nevent: dropped\ndata: {"reason":"gap"}\n\n'),
    ],
  }, async (client, server) => {
    const seen = [];
    await assert.rejects(async () => {
      for await (const one of stream(client, { topics: ['price'], assets: ['A', 'B'] }, { maxWaitMs: 10 })) seen.push([one.type, one.id, JSON.stringify(one.data)]);
    }, code('gap'));
    assert.deepEqual(seen, [['open', '1-0', '{}'], ['price', '2-1', '{"a":"ü","b":1}'], ['price', '3-1', '{"a":2}'], ['stale', '3-1', '{"reason":"indexer"}']]);
    assert.deepEqual(server.requests.map((one) => one.headers['last-event-id']), [undefined, '2-9', '2-9', '3-1']);
    assert.equal(new URL(server.requests[0].url, 'http://x').searchParams.get('assets'), 'A,B');
  });
});

test('messages and notifications have exact numbers; a type that is not known comes as it is', async () => {
  const big = '170141183460469231731687303715884105727';
  const swap = { ledger: '7', closedAt: '2026-01-31T07:24:04Z', kind: 'liquidity_pool_swap', subject: '12', fields: { trader: 'G', pool: '12', amountIn: big, amountInScaled: '1.0', partnerId: '3', aToB: true } };
  const text = `event: event\nid: 1:7\ndata: ${JSON.stringify(swap)}\n\nevent: price\nid: 1:8\ndata: {"ledger":"8","asset":"A","latestPrice":"${big}","twapPrice":null}\n\n`
    + 'event: later\ndata: {"ledger":"9"}\n\nevent: constructor\ndata: {"length":"9"}\n\nevent: dropped\ndata: {"reason":"gap"}\n\n';
  await serving({ '/api/stream': [events(text)] }, async (client) => {
    const seen = [];
    await assert.rejects(async () => { for await (const one of stream(client, { topics: ['event', 'price'] })) seen.push(one); }, code('gap'));
    const [event, priced, later, named] = seen;
    assert.deepEqual([event.data.ledger, event.data.fields.amountIn, event.data.fields.partnerId, event.data.fields.amountInScaled, event.data.fields.pool, event.data.subject], [7, BigInt(big), 3n, '1.0', '12', '12']);
    assert.deepEqual([priced.data.ledger, priced.data.latestPrice, priced.data.twapPrice], [8, BigInt(big), null]);
    assert.deepEqual([later.type, later.data, named.data], ['later', { ledger: '9' }, { length: '9' }]);
  });
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const notified = (content) => {
    const body = JSON.stringify(content);
    const v1 = createHmac('sha256', Buffer.alloc(32)).update(`e.1000.${body}`).digest('base64');
    return verifyWebhook(body, { 'webhook-id': 'e', 'webhook-timestamp': '1000', 'webhook-signature': `v1,${v1}` }, secret, { now: 1e6 });
  };
  assert.deepEqual((await notified({ type: 'price.stale', data: { asset: '5', ledger: '9' } })).data, { asset: '5', ledger: 9 });
  assert.equal((await notified({ type: 'proposal.queued', data: { proposalId: '18446744073709551615' } })).data.proposalId, 18446744073709551615n);
  assert.deepEqual((await notified({ type: 'toString', data: { ledger: '9' } })).data, { ledger: '9' });
});

test('a silent stream is made again, a refused one ends, an aborted one too', () =>
  serving({ '/api/stream': [events('id: 5-5\n\n'), no(409, 'other_deployment')] }, async (client, server) => {
    await assert.rejects(async () => {
      for await (const _ of stream(client, { topics: ['ledger'] }, { silenceMs: 3000, maxWaitMs: 10 }));
    }, code('other_deployment', 409));
    assert.equal(server.requests[1].headers['last-event-id'], '5-5');
    for await (const _ of stream(client, { topics: ['ledger'] }, { signal: AbortSignal.abort() }));
  }));

test('a stream that is none, grows without an end or has an impossible position is an error', async () => {
  const flood = (line) => (_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const more = () => { while (!response.destroyed && response.write(line)); };
    response.on('drain', more);
    more();
  };
  const cases = [
    flood('data: ' + 'x'.repeat(1000)), flood(`data: ${'x'.repeat(1000)}\n`), (_, response) => reply(response, 200, '<html>', { 'Content-Type': 'text/html' }), ok({}),
    events('id: ü\ndata: {}\n\n'), events('id: a\u0001b\ndata: {}\n\n'), events(`id: ${'1'.repeat(300)}\n\n`),
    ...['null', '7', '[]', '{', 'NaN'].map((text) => events(`event: dropped\ndata: ${text}\n\n`)),
  ];
  for (const [i, one] of cases.entries()) {
    await serving({ '/api/stream': [one] }, (client) => assert.rejects(async () => {
      for await (const _ of stream(client, { topics: ['ledger'] }, { signal: AbortSignal.timeout(10_000) }));
      assert.fail(`case ${i} went on`);
    }, code('not_json')));
  }
  await serving({ '/api/stream': [no(503, 'busy', { 'Retry-After': '0' })] }, async (client, server) => { // no loop without a pause
    for await (const _ of stream(client, { topics: ['ledger'] }, { signal: AbortSignal.timeout(1000) }));
    assert.ok(server.requests.length <= 8, `${server.requests.length} attempts in a second`);
  });
});

test('webhooks: the specification\'s example, rotation, and what is refused', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const headers = { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330', 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' };
  const now = 1614265330000;
  const refused = (wanted, ...given) => assert.rejects(verifyWebhook(...given), (error) => error.code === wanted);
  await refused('malformed', body, headers, secret, { now }); // its signature is right, and it is none of ours
  await refused('malformed', Buffer.from(body), new Headers(headers), ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', secret], { now });
  await refused('bad_signature', `${body} `, headers, secret, { now });
  await refused('bad_timestamp', body, headers, secret, { now: now + 301000 });
  await refused('bad_timestamp', body, headers, secret, { now: now - 301000 });
  await refused('missing_header', body, { ...headers, 'webhook-id': undefined }, secret, { now });
  await assert.rejects(verifyWebhook(body, { ...headers, 'webhook-signature': '' }, secret, { now }), /missing_header: the request has no header webhook-signature/);
  await refused('bad_signature', body, { ...headers, 'webhook-signature': `v1a,x ${'v1,AAAA '.repeat(40)}` }, secret, { now });
  await refused('bad_secret', body, headers, 'whsec_%', { now });
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const ours = '{"type":"t","data":{}}';
  const v1 = createHmac('sha256', key).update(`x.1614265330.${ours}`).digest('base64');
  assert.equal((await verifyWebhook(ours, { ...headers, 'webhook-id': 'x', 'webhook-signature': `v1,AAAA v1,${v1}` }, secret, { now })).id, 'x');
});

test('receipts: right, forged, of another, too old', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'EdDSA' };
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const make = (claims, header = {}, key = privateKey) => {
    const text = `${part({ alg: 'EdDSA', kid: 'k1', typ: 'tidemark-receipt+jwt', ...header })}.${part(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };
  const now = 1790000000000;
  const claims = { iss: 'https://api', iat: 1790000000, exp: 1790000060, network: 'N', deployment: 'D', question: { route: 'kyc_status', path: '/', query: {} }, answer: { address: 'G', compliant: true } };
  const expected = { jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA', kid: 'k0' }, jwk] }, issuer: 'https://api', network: 'N', deployment: 'D', now };
  const said = await verifyReceipt(make(claims), expected);
  assert.ok(saysCompliant(said, 'G') && !saysCompliant(said, 'H'));
  assert.ok(!saysCompliant({ ...said, question: { ...said.question, query: { ledger: '5' } } }, 'G'));
  const refused = (wanted, token, more = {}) => assert.rejects(verifyReceipt(token, { ...expected, ...more }), (error) => error.code === wanted, wanted);
  const token = make(claims);
  const [head, , tail] = token.split('.');
  await refused('bad_signature', `${head}.${part({ ...claims, iat: 1790000001 })}.${tail}`);
  await refused('bad_signature', make(claims, {}, generateKeyPairSync('ed25519').privateKey));
  await refused('wrong_type', make(claims, { alg: 'none' }));
  await refused('wrong_type', make(claims, { alg: 'HS256' }));
  await refused('wrong_type', make(claims, { typ: 'JWT' }));
  await refused('wrong_type', make(claims, { crit: ['x'] }));
  await refused('unknown_key', make(claims, { kid: 'k9' }));
  await refused('unknown_key', make(claims, { kid: 'k0' })); // its x is no key
  await refused('bad_keys', token, { jwks: { keys: [jwk, jwk] } });
  await refused('other_network', token, { network: 'M' });
  await refused('other_issuer', token, { issuer: 'https://evil' });
  await assert.rejects(verifyReceipt(token, { ...expected, issuer: 'B' }), /other_issuer: .*it says "https:\/\/api", expected is "B"/);
  await refused('other_deployment', token, { deployment: 'E' });
  await refused('expired', token, { now: now + 60000 });
  await refused('future', token, { now: now - 61000 });
  await verifyReceipt(token, { ...expected, now: now + 9e9, evidence: true });
  for (const bad of ['', 'a.b', 'a.b.c', `${head}..${tail}`, token.slice(0, -3), `${head}.%.${tail}`]) await assert.rejects(verifyReceipt(bad, expected), (error) => error.name === 'ReceiptError');
});
