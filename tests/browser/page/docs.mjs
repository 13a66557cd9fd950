// usage: docs.mjs URL FOLDER — /docs in a real browser: the first page with live answers; every group with all its routes, one group at a time, at three widths, in
// light and dark, for the keyboard and for a screen reader; samples that work; nothing comes from elsewhere, nothing runs
// that should not.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { contrasts, desktop, findings, launch, PATIENCE_MS } from './looks.mjs';

const [url, folder] = process.argv.slice(2);
const browser = await launch();
const spec = await (await fetch(`${url}/openapi.json`)).json();
const operations = Object.entries(spec.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })));
const notifications = Object.values(spec.webhooks).flatMap((item) => Object.values(item)).map((one) => one.operationId);
const groups = spec.tags.map((tag) => tag.name).filter((tag) => operations.some((one) => one.tags[0] === tag));
const MOST_PX = 12000; // of a group with its routes closed; the page of all routes had 125 000

/** A page on which any error, any refusal of the policy and any foreign request is a failure. */
async function open(options, hash = '', before = async () => {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const bad = [];
  page.on('console', (message) => { if (message.type() === 'error') bad.push(message.text()); });
  page.on('pageerror', (error) => bad.push(String(error)));
  page.on('request', (request) => { if (new URL(request.url()).origin !== url) bad.push(`asks ${request.url()}`); });
  await before(page);
  const response = await page.goto(`${url}/docs${hash}`);
  return { context, page, bad, response };
}

const idOf = (tag, operation) => `operations-${tag.replace(/\s/g, '_')}-${operation}`;

/** The first page with all that it asks for. */
async function answered(page) {
  for (const place of ['.verdict.yes, .verdict.no', '.prices li', '[data-fact="Network"]']) await page.locator(place).first().waitFor();
  await page.locator('.recipe').nth(2).locator('.of-ledger').waitFor();
}

async function fits(page, name) {
  const { wide, seen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, seen: innerWidth }));
  assert.ok(wide <= seen, `${name}: ${wide} px wide, ${seen} are seen`);
}

for (const [width, colorScheme] of [[360, 'light'], [1024, 'dark'], [2560, 'light'], [360, 'dark']]) {
  const name = `${width}-${colorScheme}`;
  const { context, page, bad, response } = await open({ viewport: { width, height: 900 }, colorScheme }, '#/Markets/market');
  const policy = response.headers()['content-security-policy'];
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe|\*|data:/);
  await page.locator(`#${idOf('Markets', 'market')} .samples`).waitFor();
  await page.locator(`#${idOf('Markets', 'market')} .responses-inner`).waitFor();
  await fits(page, name);
  for (const [kind, ratio] of Object.entries(await page.evaluate(contrasts))) assert.ok(ratio >= 4.5, `${name}: ${kind} has a contrast of ${ratio.toFixed(2)}`);
  assert.deepEqual(await findings(page), [], name);
  const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number)[0]);
  assert.ok(colorScheme === 'dark' ? background < 64 : background > 192, `${name}: ${background}`);
  await page.screenshot({ path: `${folder}/docs-${name}.png` });
  assert.deepEqual(bad, []);
  await context.close();
  console.log(`ok ${name}`);
}

for (const [width, colorScheme] of [[360, 'light'], [1280, 'dark'], [1280, 'light'], [2560, 'light'], [360, 'dark']]) { // the first page
  const name = `first-${width}-${colorScheme}`;
  const { context, page, bad } = await open({ viewport: { width, height: 900 }, colorScheme });
  await answered(page);
  await fits(page, name);
  for (const [kind, ratio] of Object.entries(await page.evaluate(contrasts))) assert.ok(ratio >= 4.5, `${name}: ${kind} has a contrast of ${ratio.toFixed(2)}`);
  assert.deepEqual(await findings(page), [], name);
  await page.screenshot({ path: `${folder}/docs-${name}.png`, fullPage: true });
  assert.deepEqual(bad, []);
  await context.close();
  console.log(`ok ${name}`);
}

{ // what the first page says is what the API answers and what the contract says
  const { context, page, bad } = await open({ viewport: desktop });
  await answered(page);
  const coverage = await (await fetch(`${url}/api/coverage`)).json();
  assert.equal(await page.locator('[data-fact="Network"]').textContent(), coverage.network);
  assert.equal(await page.locator('[data-fact="Newest ledger"]').textContent(), Number(coverage.ledger).toLocaleString('en'));
  assert.ok(await page.locator('#simulated').isVisible());
  const recipe = (title) => page.getByRole('region', { name: title, exact: true });

  const vaults = (await (await fetch(`${url}/api/vaults?limit=200`)).json()).items;
  const gate = recipe('May this address trade?');
  for (const address of [vaults[0].owner, `G${'A'.repeat(52)}WHF`]) {
    await gate.getByLabel('Address', { exact: true }).fill(address);
    const [answer] = await Promise.all([page.waitForResponse((one) => one.url().includes(address)), gate.getByRole('button', { name: 'Ask' }).click()]);
    const said = await answer.json();
    await gate.locator('.verdict', { hasText: said.compliant ? 'Yes' : `No: ${said.reasonCode}` }).waitFor();
    assert.equal((await gate.locator('.samples pre').textContent()).includes(address), true);
  }
  assert.equal(await gate.locator('.verdict.no').count(), 1); // a stranger
  await page.route('**/kyc/status/**', (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '{"compliant":"true","status":"Verified"}' }));
  await gate.getByRole('button', { name: 'Ask' }).click();
  await gate.locator('.verdict.no', { hasText: 'Verified' }).waitFor(); // anything but true is a no
  await page.unroute('**/kyc/status/**');

  const price = recipe('Watch a price');
  const asset = await price.getByLabel('Feed', { exact: true }).inputValue();
  const wanted = (await (await fetch(`${url}/api/prices/${asset}`)).json()).latestPriceScaled;
  assert.equal((await price.locator('.prices b').first().textContent()).replace(/,/g, '').replace(/0+$/, ''), wanted.replace(/0+$/, ''));
  await price.getByRole('button', { name: 'Python' }).click();
  assert.match(await price.locator('.samples pre').textContent(), new RegExp(`client.stream\\(\\["price"\\], assets=\\["${asset}"\\]\\)`));

  const near = recipe('A vault near liquidation');
  const market = await near.getByLabel('Market', { exact: true }).inputValue();
  const [riskiest] = (await (await fetch(`${url}/api/vaults?market=${market}&sort=risk&limit=1`)).json()).items;
  const markets = (await (await fetch(`${url}/api/markets`)).json()).items;
  assert.equal(market, (markets.find((one) => one.indebtedVaultCount > 0) ?? markets[0]).market, 'the market shown first has a vault that can be liquidated');
  assert.match(await near.locator('.out').textContent(), riskiest.distanceBps === null ? /has debt|No price tells/ : new RegExp(`${(Number(riskiest.distanceBps) / 100).toFixed(2)} % above`));

  const types = spec.components.schemas.StreamMessage.oneOf.map((one) => spec.components.schemas[one.$ref.split('/').pop()].properties.type.const);
  assert.deepEqual((await page.locator('#messages tbody th').allTextContents()).sort(), [...types, 'dropped'].sort());
  assert.deepEqual(await page.locator('#statuses tbody th').allTextContents(), Object.keys(spec.components.responses).filter((one) => /^\d+$/.test(one)).sort());
  const problem = await (await fetch(`${url}/api/markets?limit=0`)).json();
  assert.deepEqual({ ...problem, requestId: '…' }, JSON.parse(await page.locator('#problem').textContent()));
  assert.match(await page.locator('#limits').textContent(), new RegExp(`${spec.components.parameters.limit.schema.maximum} at most`));
  assert.equal(await page.locator('#groups li').count(), groups.length);
  assert.deepEqual(bad, []);
  await context.close();
  console.log('ok the first page says what the API answers');
}

{ // from the first page to a group and back, by links, by the address and by the browser's button
  const { context, page, bad } = await open({ viewport: desktop });
  await answered(page);
  const sees = async (first) => {
    await page.locator(first ? '#guide' : '#group').waitFor({ state: 'visible' });
    assert.equal(await page.locator(first ? '#group' : '#guide').isVisible(), false);
    assert.equal(await page.locator('#tags a[aria-current]').textContent(), first ? 'Start here' : 'Markets');
  };
  await sees(true);
  await page.locator('#groups').getByRole('link', { name: 'Markets', exact: true }).click();
  await page.locator(`#${idOf('Markets', 'market')}`).waitFor();
  await sees(false);
  await page.getByRole('navigation').getByRole('link', { name: 'Start here' }).click();
  await sees(true);
  await page.goBack();
  await sees(false);
  assert.equal(await page.locator('.opblock').count() > 0, true);
  await page.goBack();
  await sees(true);
  await answered(page);
  await page.evaluate(() => { window.location.hash = '#/No such group'; });
  await sees(true);
  await page.evaluate(() => { window.location.hash = '#/Markets/market'; });
  await page.locator(`#${idOf('Markets', 'market')} .samples`).waitFor();
  await sees(false);
  assert.deepEqual(bad, []);
  await context.close();
  console.log('ok there and back');
}

{ // each route is there, in its group and in no other
  const { context, page, bad } = await open({ viewport: desktop });
  await page.locator('#tags a').first().waitFor();
  assert.deepEqual(await page.locator('#tags a').allTextContents(), ['Start here', ...groups]);
  for (const group of groups) {
    await page.getByRole('navigation').getByRole('link', { name: group, exact: true }).click();
    const wanted = operations.filter((one) => one.tags[0] === group).map((one) => idOf(group, one.operationId));
    if (group === 'Webhooks') wanted.push(...notifications.map((one) => `operations-webhooks-${one}`)); // bodies that the API sends
    wanted.sort();
    await page.locator(`#${wanted[0]}`).waitFor();
    await page.locator('.opblock').nth(wanted.length - 1).waitFor();
    assert.deepEqual((await page.locator('.opblock').evaluateAll((nodes) => nodes.map((node) => node.id))).sort(), wanted, group);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height <= MOST_PX, `${group}: ${height} px high`);
    assert.equal(await page.locator('#tags a[aria-current]').textContent(), group);
  }
  assert.deepEqual(bad, []);
  await context.close();
  console.log(`ok ${operations.length} routes in ${groups.length} groups`);
}

{ // by the keyboard: past the list, a search, a question; samples in three languages, of which curl and Python run
  const { context, page, bad } = await open({ viewport: desktop });
  await page.locator('#tags a').first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'routes');
  await page.getByLabel('Find a route').fill('no such thing');
  assert.equal(await page.locator('#state').textContent(), '0 found');
  await page.getByLabel('Find a route').fill('quote');
  await page.getByRole('list', { name: 'Routes found' }).getByRole('link', { name: /\/quote/ }).focus();
  await page.keyboard.press('Enter');
  const route = page.locator('.opblock', { has: page.locator('[data-path$="/quote"]') });
  await route.locator('.samples').waitFor();
  const samples = {};
  for (const language of ['curl', 'TypeScript', 'Python']) {
    await route.getByRole('button', { name: language, exact: true }).focus();
    await page.keyboard.press('Enter');
    await route.locator(`.samples pre[aria-label="${language} sample"]`).waitFor();
    samples[language] = await route.locator('.samples pre').textContent();
  }
  const said = JSON.parse(execFileSync('sh', ['-c', `${samples.curl} -fsS`], { encoding: 'utf8' }));
  assert.ok(said.ledger, JSON.stringify(said));
  // integration.packages checks these of all routes against the packages' types.
  assert.match(samples.TypeScript, /^import \{ createClient, poolQuote \} from '@tidemark\/client';/);
  assert.ok(samples.TypeScript.includes(`pool: "${said.pool}"`));
  assert.match(samples.Python, /^from tidemark_client import Client\n\nwith Client\("http/);
  execFileSync('python3', ['-c', `compile(${JSON.stringify(samples.Python)}, 'sample', 'exec')`]);
  await route.getByRole('button', { name: 'Execute' }).focus();
  const [answer] = await Promise.all([page.waitForResponse((one) => one.url().includes('/quote')), page.keyboard.press('Enter')]);
  assert.equal(answer.status(), 200);
  await route.locator('.live-responses-table').waitFor();
  assert.deepEqual(await findings(page), [], 'with an answer');
  assert.deepEqual(bad, []);
  await context.close();
  console.log('ok keyboard, search, samples, a question');
}

{ // a document that means harm is text, on the first page too
  const evil = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>[a](javascript:window.harmed=1)';
  const { context, page } = await open({ viewport: desktop }, '', (one) => one.route('**/openapi.json', (route) => route.fulfill({ json: {
    ...spec, info: { ...spec.info, title: evil, description: evil }, tags: [{ name: 'x', description: evil }],
    paths: { '/x': { get: { operationId: 'x', tags: ['x'], summary: evil, description: `\`${evil}\` ${evil}`, responses: { 200: { description: evil } } } } } } })));
  await page.locator('#groups a').click();
  await page.locator('.opblock-summary-control').click();
  await page.locator('.opblock .samples').waitFor();
  assert.equal(await page.locator('img, #routes script, a[href^="javascript:"]').count(), 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.ok((await page.locator('.opblock').textContent()).includes('<img'));
  await context.close();
  console.log('ok hostile document');
}

{ // without its document it says so
  const { context, page } = await open({ viewport: desktop }, '', (one) => one.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: 'away' })));
  await page.locator('#state.error').waitFor();
  assert.match(await page.locator('#state').textContent(), /cannot be shown: 503/);
  await context.close();
  console.log('ok document away');
}

for (const path of ['/docs', '/openapi.json']) {
  const first = await fetch(url + path);
  assert.equal(first.status, 200, path);
  assert.equal(first.headers.get('x-content-type-options'), 'nosniff');
  const again = await fetch(url + path, { headers: { 'If-None-Match': first.headers.get('etag') } });
  assert.equal(again.status, 304, path);
}
for (const path of ['/docs/', '/docs/docs.html', '/docs/..%2fopenapi.json', '/api/web/docs.js', '/docs/icon.svg'])
  assert.equal((await fetch(url + path)).status, 404, path);
console.log('ok files, tags, nothing beside them');

{ // a page of another origin whose requests carry a tracer's headers
  const server = createServer((_, answer) => answer.end('<title>elsewhere</title>')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const traced = Object.fromEntries(['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'Cache-Control', 'Request-Id', 'X-B3-TraceId', 'newrelic'].map((name) => [name, 'x=1']));
  const got = await page.evaluate(([to, headers]) => fetch(`${to}/api/coverage`, { headers }).then((answer) => answer.status, String), [url, traced]);
  assert.equal(got, 200, 'a page with tracing is refused');
  await page.close();
  server.close();
  console.log('ok a page with tracing');
}
await browser.close();
