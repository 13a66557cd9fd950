// usage: stream.mjs ENGINE URL CASE… — the pages in a browser, chromium, firefox or webkit, and the stream of its tabs.
// Cases: pages (all, drawn; kyc and console need the environment of tools/with-stack --kyc), kyc, console, tabs, hidden (needs SIM, a command
// that swaps; a tab that crashes in chromium alone), fallbacks, dead, cache. Ledgers must close meanwhile, but for fallbacks and pages.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { eventually, start } from './engines.mjs';
import { through } from './through.mjs';

const [engine, url, ...cases] = process.argv.slice(2);
const browser = await start(engine);
console.log(browser.version);
const answer = async (path) => (await fetch(url + path)).json();
const shown = "Number(document.querySelector('.badge[href]')?.getAttribute('href').split('/').at(-1) ?? 0)";
const newest = async () => Number((await fetch(`${url}/api/stats`)).headers.get('ledger-sequence'));
const advance = async (tab, what, ms = 60000) => {
  const from = Math.max(await newest(), await tab.evaluate(shown)); // an answer is a little older than the stream
  await eventually(`${what}: a new ledger is shown`, async () => await tab.evaluate(shown) > from, ms);
};
const live = (tab, what, ms = 60000) => eventually(`${what}: the stream is open`, async () => (await tab.evaluate("document.querySelector('.badge')?.textContent"))?.startsWith('live'), ms);
const count = (proxy, wanted, what, ms = 10000) => eventually(`${what}: ${wanted} streams`, () => proxy.streams() === wanted, ms);
/** No refusal of the policy, no error; for a page that misses its worker, none but that. */
const good = async (tab, allowed = /^$/) => assert.deepEqual((await tab.evaluate('globalThis.bad')).filter((text) => !allowed.test(text)), []);
const served = (proxy) => assert.deepEqual(proxy.answers.filter(({ status, path }) => status >= 400 && !/^\/app\/stream-|^\/favicon.ico$/.test(path)).map(({ status, path }) => `${status} ${path}`), []);

const PAINTED = `document.querySelector('main h1') !== null && document.readyState === 'complete' && !document.querySelector('[aria-busy="true"]')
  && [...document.querySelectorAll('.canvas')].every((box) => [...box.querySelectorAll('canvas')].some((one) => one.width && one.height
    && one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some((value) => value !== 0)))`;
const CONTENT = `({ charts: document.querySelectorAll('.canvas').length, rows: document.querySelectorAll('main tbody tr').length,
  links: [...document.querySelectorAll('main a[href]')].map((one) => one.getAttribute('href')) })`;

const tests = {
  // Eight tabs that are shown share one stream, whichever of them goes. A browser has six connections to a host.
  async tabs() {
    const proxy = await through(url), all = [];
    for (const path of ['/', '/markets', '/pools', '/vaults', '/stability-pool', '/oracle', '/partners', '/compliance']) all.push(await browser.tab(proxy.url + path));
    const every = async (what) => { for (const tab of all) await advance(tab, what); };
    await every('eight tabs');
    assert.equal(proxy.streams(), 1);
    const connections = await proxy.connections();
    assert.equal(await all[7].evaluate("fetch('/api/stats', { signal: AbortSignal.timeout(10000) }).then((r) => r.status)"), 200);
    await (all.shift()).close();
    await every('without the first');
    assert.equal(proxy.streams(), 1);
    for (const tab of all) await good(tab);
    for (const tab of all) await tab.close();
    await count(proxy, 0, 'all tabs closed');
    assert.equal(proxy.most, 1, 'at once');
    served(proxy);
    proxy.close();
    return `eight, one stream, ${connections} connections`;
  },

  // A hidden tab holds no stream and says nothing; shown again it has what happened meanwhile, once. A tab that crashes takes the worker of all with it.
  async hidden() {
    const proxy = await through(url);
    const rows = (tab) => tab.evaluate("[...document.querySelectorAll('main a[href^=\"/tx/\"]')].map((a) => a.getAttribute('href')).join()");
    const pool = await browser.tab(`${proxy.url}/pools/XLMUSDC`), other = await browser.tab(`${proxy.url}/markets`);
    await advance(pool, 'the first tab');
    await advance(other, 'the second tab');
    await pool.hide();
    await eventually('a hidden tab', () => pool.evaluate('document.hidden'));
    await advance(other, 'after what was under way'); // a ledger may be heard in the moment of hiding
    const before = await rows(pool), left = await pool.evaluate(shown);
    execFileSync('sh', ['-c', process.env.SIM], { stdio: 'pipe' });
    await advance(other, 'after the swap');
    assert.deepEqual([await pool.evaluate(shown), await rows(pool)], [left, before], 'a hidden tab hears nothing');
    await pool.send?.('Page.setWebLifecycleState', { state: 'frozen' });
    await advance(other, 'beside a frozen tab');
    await pool.send?.('Page.setWebLifecycleState', { state: 'active' });
    await pool.show();
    await advance(pool, 'shown again');
    const list = async () => (await answer('/api/pools/XLMUSDC/swaps?limit=20')).items.map((item) => `/tx/${item.txHash}`);
    await eventually('the swap, once', async () => { const has = (await rows(pool)).split(','), want = await list(); return !before.startsWith(want[0]) && want.every((tx, i) => has[i] === tx); });
    assert.equal(proxy.streams(), 1);
    for (const tab of [pool, other]) await tab.hide();
    await count(proxy, 0, 'all are hidden');
    await pool.show();
    await advance(pool, 'back');
    if (pool.send) {
      void pool.send('Page.crash');
      await count(proxy, 0, 'crashed', 60000);
      await other.show();
      await advance(other, 'after a crash');
    }
    assert.deepEqual([proxy.streams(), proxy.most], [1, 1]);
    await good(other);
    for (const tab of [pool, other]) await tab.close();
    await count(proxy, 0, 'all are closed');
    served(proxy);
    proxy.close();
    return 'no stream, nothing missed';
  },

  // Where a page gets no worker, it holds a stream of its own while it is shown.
  async fallbacks() {
    const done = [];
    const lacks = {
      'no SharedWorker': { page: 'delete globalThis.SharedWorker;' },
      'a worker that is not found': { worker: (response) => response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no such file\n') },
      'a page instead of the worker': { worker: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Hello</title>') },
      'a worker that cannot be read': { worker: (response) => response.writeHead(200, { 'Content-Type': 'text/javascript' }).end('import nothing from;') },
      'a worker that fails': { worker: (response) => response.writeHead(200, { 'Content-Type': 'text/javascript' }).end('throw new Error("it fails");') },
    };
    for (const [what, lack] of Object.entries(lacks)) {
      const proxy = await through(url, lack), begun = Date.now();
      const tab = await browser.tab(`${proxy.url}/pools`);
      await live(tab, what);
      done.push(`${what} ${((Date.now() - begun) / 1000).toFixed(1)} s`);
      await count(proxy, 1, what);
      await tab.hide();
      await count(proxy, 0, `${what}, hidden`);
      await tab.show();
      await live(tab, `${what}, shown again`);
      await count(proxy, 1, `${what}, shown again`);
      await good(tab, /stream-/);
      await tab.close();
      await count(proxy, 0, `${what}, closed`);
      served(proxy);
      proxy.close();
    }
    return done.join(', ');
  },

  // A worker that ends without a word, or whose script never arrives: live again within a bound.
  async dead() {
    const done = [];
    const ends = await through(url, { worker: (response, text, type) => response.writeHead(200, { 'Content-Type': type }).end(`${text}\nnew BroadcastChannel('end').onmessage = () => close();`) });
    const pair = [await browser.tab(`${ends.url}/pools`), await browser.tab(`${ends.url}/markets`)];
    for (const tab of pair) await advance(tab, 'before the end');
    assert.equal(ends.streams(), 1);
    await pair[0].evaluate("new BroadcastChannel('end').postMessage('now')");
    await count(ends, 0, 'the worker ended');
    const begun = Date.now();
    for (const tab of pair) await advance(tab, 'after the end', 45000);
    done.push(`ended: live after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    await count(ends, 1, 'one stream again');
    for (const tab of pair) { await good(tab); await tab.close(); }
    await count(ends, 0, 'all closed');
    ends.close();

    const hangs = await through(url, { worker: () => {} }), since = Date.now();
    const tab = await browser.tab(`${hangs.url}/pools`);
    await live(tab, 'a script that never arrives');
    done.push(`never arrived: live after ${((Date.now() - since) / 1000).toFixed(1)} s`);
    await good(tab);
    await tab.close();
    await count(hangs, 0, 'closed');
    hangs.close();
    return done.join('; ');
  },

  // A page that is left holds no stream; one that comes back, from the browser's cache of left pages too, is live.
  async cache() {
    const done = [];
    for (const [what, lack] of [['with a worker', {}], ['alone', { page: 'delete globalThis.SharedWorker;' }]]) {
      const proxy = await through(url, lack);
      const tab = await browser.tab(`${proxy.url}/pools`);
      await advance(tab, what);
      for (let round = 0; round < 2; round++) {
        await tab.evaluate(`globalThis.same = ${round + 1}`);
        await tab.go(`${proxy.url}/healthz`);
        await eventually('the other page', async () => await tab.evaluate('location.pathname') === '/healthz');
        await count(proxy, 0, `${what}, left`);
        const from = await newest();
        await eventually('a ledger', async () => await newest() > from);
        await tab.back();
        await eventually('back', async () => await tab.evaluate('location.pathname') === '/pools');
        await advance(tab, `${what}, back`);
        await count(proxy, 1, `${what}, back`);
        if (round === 1) done.push(`${what}: ${await tab.evaluate('globalThis.same') ? 'kept' : 'loaded again'}`);
      }
      await tab.evaluate("dispatchEvent(new Event('beforeunload')) && 0"); // a download: the page stays
      await count(proxy, 0, `${what}, about to be left`);
      await advance(tab, `${what}, stayed`);
      await good(tab);
      await tab.close();
      await count(proxy, 0, 'closed');
      proxy.close();
    }
    return done.join(', ');
  },

  // Every page of the dashboard and /docs: tables filled, charts painted, nothing refused.
  async pages() {
    const proxy = await through(url), tab = await browser.tab(`${proxy.url}/`);
    const paths = ['/', '/markets', '/pools', '/vaults', '/stability-pool', '/oracle', '/governance', '/partners', '/earnings', '/compliance'], drawn = { charts: 0, rows: 0 };
    const about = ['markets', 'pools', 'partners', 'address', 'tx', 'ledger'].map((kind) => `/${kind}/`); // the first that a page leads to
    for (const path of paths) {
      await tab.go(proxy.url + path);
      await eventually(`${path} is drawn`, () => tab.evaluate(PAINTED));
      const { charts, rows, links } = await tab.evaluate(CONTENT);
      drawn.charts += charts;
      drawn.rows += rows;
      for (const kind of [...about]) {
        const link = links.find((one) => one.startsWith(kind));
        if (link) { paths.push(link); about.splice(about.indexOf(kind), 1); }
      }
      await good(tab);
    }
    assert.deepEqual(about, [], 'kinds of pages without a link');
    assert.ok(drawn.charts > 10 && drawn.rows > 100, JSON.stringify(drawn));
    await tab.go(`${proxy.url}/docs`);
    await eventually('the recipes have answers', () => tab.evaluate("['.verdict.yes, .verdict.no', '.prices li', '[data-fact=\"Network\"]'].every((place) => document.querySelector(place)?.textContent)"));
    await tab.evaluate("document.querySelector('#groups a').click()");
    await eventually('a group of routes', () => tab.evaluate("document.querySelectorAll('.opblock').length > 0"));
    await good(tab);
    await tab.close();
    served(proxy);
    proxy.close();
    return `${paths.length} pages, ${drawn.charts} charts, ${drawn.rows} rows, /docs`;
  },

  // From the form to the attestation.
  async kyc() {
    const address = execFileSync('tidemark-sim', ['keys', '--name', `${engine}${Date.now()}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/)[1];
    const proxy = await through(url), tab = await browser.tab(`${proxy.url}/kyc?address=${address}`);
    await eventually('the form', () => tab.evaluate("document.querySelector('input[type=radio]') !== null"));
    await good(tab);
    await eventually('a ready button', () => tab.evaluate("document.readyState === 'complete' && !document.querySelector('#begin').disabled"));
    await tab.evaluate("document.querySelector('#begin').click()");
    await eventually('the page of the sandbox', () => tab.evaluate("location.pathname.startsWith('/kyc/sandbox/') && document.readyState === 'complete'"));
    await tab.evaluate("[...document.querySelectorAll('button')].find((one) => one.textContent.includes('Approve')).click()");
    await eventually('Verified', () => tab.evaluate("/Verified on chain at ledger \\d+/.test(document.querySelector('#words')?.textContent)"), 120000); // at the API's own address, which is not watched
    await tab.go(`${proxy.url}/kyc/partner`);
    await eventually('the partner', () => tab.evaluate("document.querySelector('tidemark-kyc') !== null && document.readyState === 'complete'"));
    await good(tab);
    await tab.close();
    served(proxy);
    proxy.close();
    return 'verified on chain';
  },

  async console() {
    const folder = `${process.env.TIDEMARK_STACK}/console`, [cert, key, ca] = ['ada.pem', 'ada.key', 'server.pem'].map((name) => readFileSync(`${folder}/${name}`));
    const proxy = await through(process.env.TIDEMARK_CONSOLE_URL, { tls: { cert, key, ca } }), tab = await browser.tab(`${proxy.url}/console`);
    await eventually('the lists', () => tab.evaluate("document.querySelector('#me')?.textContent.includes('ada') && /ledger \\d+/.test(document.querySelector('#as-of')?.textContent)"));
    await good(tab);
    await tab.close();
    served(proxy);
    proxy.close();
    return 'lists';
  },
};

for (const one of cases) {
  const begun = Date.now();
  console.log(`ok ${one}: ${await tests[one]()} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
}
await browser.close();
process.exit();
