// The hooks, rendered by React's test renderer on a fake server.
import assert from 'node:assert/strict';
import { createElement, useEffect } from 'react';
import TestRenderer, { act } from 'react-test-renderer';
import { createClient } from '@tidemark/client';
import { useCompliance, useMarket, useStream } from '@tidemark/client/react';
import { fake, reply, LEDGER } from './_fake.mjs';

globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const problem = (_, response) => reply(response, 503, { code: 'stale', detail: 'stale' });
const earlier = (_, response) => reply(response, 200, { compliant: true, pollAfterMs: 1 }, { ...LEDGER, 'Ledger-Sequence': '76' }); // of a node that is behind
const server = await fake({
  '/api/sdk/kyc/status/G': [(_, response) => reply(response, 200, { compliant: true, pollAfterMs: 1 }, LEDGER), earlier, problem],
  '/api/markets/sGOLD': [(_, response) => reply(response, 200, { ledger: '5' }, LEDGER)],
  '/api/stream': [(_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('event: ledger\nid: 1-1\ndata: {"ledger":"7"}\n\n');
  }],
});
const client = createClient({ baseUrl: server.url, retries: 0 });
const seen = [];
const heard = [];
function Page() {
  const compliance = useCompliance(client, 'G');
  const market = useMarket(client, 'sGOLD');
  const live = useStream(client, { topics: ['ledger'] }, (message) => heard.push(message.data.ledger));
  seen.push({ may: compliance.may, error: compliance.error?.code ?? null, market: market.answer?.data.ledger ?? null, live: live.connected });
  return createElement('p', null, String(compliance.may));
}
const until = async (what, holds) => {
  for (const end = Date.now() + 60000; !holds(); ) {
    assert.ok(Date.now() < end, what);
    await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
};
let page;
await act(async () => { page = TestRenderer.create(createElement(Page)); });
assert.equal(seen[0].may, false, 'an unknown answer lets nothing pass');
await until('compliant', () => seen.at(-1).may);
await until('market and stream', () => seen.at(-1).market === 5 && seen.at(-1).live && heard.length === 1);
await until('a refused answer takes it back', () => !seen.at(-1).may && seen.at(-1).error === 'stale');
assert.ok(seen.some((one) => one.error === 'behind' && !one.may), 'an answer of an earlier ledger');
const asked = server.requests.length;
await act(async () => page.unmount());
await new Promise((resolve) => setTimeout(resolve, 1200));
assert.ok(server.requests.length <= asked + 1, 'asked after it was unmounted');

/* React commits new keys once before any effect runs: what the old ones were answered must not count for them. */
const slow = async (url) => {
  const address = String(url).split('/').pop();
  if (address === 'FROZEN') await new Promise(() => {});
  return new Response(JSON.stringify({ compliant: address === 'GOOD', pollAfterMs: 60000 }), { headers: { 'Content-Type': 'application/json', ...LEDGER } });
};
const other = createClient({ baseUrl: server.url, retries: 0, fetch: slow });
const swaps = [];
let may = null;
function Swap({ address }) {
  const asked = useCompliance(other, address);
  may = asked.may;
  useEffect(() => {
    if (asked.may || asked.answer) swaps.push(address);
  });
  return createElement('p', null, String(asked.may));
}
await act(async () => { page = TestRenderer.create(createElement(Swap, { address: 'GOOD' })); });
await until('compliant', () => may);
await act(async () => page.update(createElement(Swap, { address: 'FROZEN' })));
assert.deepEqual([...new Set(swaps)], ['GOOD'], 'an answer about one address counts for another');
await act(async () => page.unmount());
server.close();
console.log(`hooks: ${seen.length} renderings`);
