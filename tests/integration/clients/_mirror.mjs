// The scenarios of _mirror.py by the TypeScript package: it asks the same questions, and says the same.
import { ComplianceMirror, compliantBy, createClient, Snapshot } from '@tidemark/client';

let text = '';
for await (const part of process.stdin) text += part;
const { network, limits, scenarios } = JSON.parse(text);
let now = 0;
Date.now = () => now;
Object.defineProperty(performance, 'now', { value: () => now }); // to Node.js 18 it is read-only
const bytesOf = (body) => new Uint8Array(Buffer.from(body, 'base64'));

function fail(seed, at, why) {
  console.error(`seed ${seed}, step ${at}: ${why}`);
  process.exit(1);
}

for (const { seed, steps, pairs } of scenarios) {
  let left = [];
  let at = 0;
  const fetch = async (url) => {
    const target = url.slice('http://model'.length);
    const next = left.shift();
    if (next?.target !== target) fail(seed, at, `asks ${target}, Python asked ${next?.target}`);
    return new Response(bytesOf(next.body), { status: next.status, headers: next.headers });
  };
  const mirror = new ComplianceMirror(createClient({ baseUrl: 'http://model', retries: 0, fetch }), network, limits);
  for (const step of steps) {
    now = step.now;
    left = [...step.answers];
    let result = 'none';
    if (step.refresh) {
      // Two at once are one: neither overtakes the other.
      const both = await Promise.allSettled([mirror.refresh({ retries: 0 }), mirror.refresh({ retries: 0 })]);
      result = both[0].status === 'fulfilled' ? 'ok' : (both[0].reason.code ?? String(both[0].reason));
      if (both[0].status !== both[1].status) fail(seed, at, 'two refreshes at once end differently');
    }
    if (result !== step.result) fail(seed, at, `${result}, in Python ${step.result}`);
    if (left.length) fail(seed, at, `did not ask ${left[0].target}`);
    for (const [address, said] of Object.entries(step.said)) {
      const mine = mirror.compliant(address, now);
      if (mine !== said) fail(seed, at, `${mine}, in Python ${said}`);
    }
    at++;
  }
  for (const pair of pairs) {
    for (const [address, said] of Object.entries(pair.said)) {
      const mine = compliantBy(new Snapshot(bytesOf(pair.base)), new Snapshot(bytesOf(pair.changes)), address, { staleAfterMs: 1e12, ledgerAgeSeconds: 0 }, pair.now);
      if (mine !== said) fail(seed, at, `two files: ${mine}, in Python ${said}`);
    }
  }
}
