// usage: docs.mjs URL FOLDER — /docs in a real browser: all routes are there, in light and dark, on a desktop and on a
// phone, for the keyboard and for a screen reader; nothing comes from elsewhere, nothing runs that should not.
import assert from 'node:assert/strict';
import { contrasts, desktop, launch, phone, unnamed } from './looks.mjs';

const [url, folder] = process.argv.slice(2);
const browser = await launch();
const spec = await (await fetch(`${url}/openapi.json`)).json();
const operations = Object.values(spec.paths).flatMap((item) => Object.values(item));

/** A page on which any error, any refusal of the policy and any foreign request is a failure. */
async function open(options, before = async () => {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const bad = [];
  page.on('console', (message) => { if (message.type() === 'error') bad.push(message.text()); });
  page.on('pageerror', (error) => bad.push(String(error)));
  page.on('request', (request) => { if (new URL(request.url()).origin !== url) bad.push(`asks ${request.url()}`); });
  await before(page);
  const response = await page.goto(`${url}/docs`);
  return { context, page, bad, response };
}

const ready = (page) => page.waitForSelector('article');

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  for (const colorScheme of ['light', 'dark']) {
    const { context, page, bad, response } = await open({ viewport, colorScheme, hasTouch: name === 'phone' });
    await ready(page);
    const policy = response.headers()['content-security-policy'];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(await page.locator('article').count(), operations.length);
    for (const operation of operations) assert.equal(await page.locator(`article[id="${operation.operationId}"]`).count(), 1, operation.operationId);
    const { wide, seen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, seen: innerWidth }));
    assert.ok(wide <= seen, `${name}: ${wide} px wide, ${seen} are seen`);
    await page.screenshot({ path: `${folder}/docs-${name}-${colorScheme}.png` });
    await page.evaluate(() => document.querySelectorAll('details').forEach((node) => { node.open = true; }));
    const opened = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(opened <= seen, `${name}, all open: ${opened} px wide`);
    for (const [kind, ratio] of Object.entries(await page.evaluate(contrasts))) assert.ok(ratio >= 4.5, `${colorScheme}: ${kind} has a contrast of ${ratio.toFixed(2)}`);
    assert.deepEqual(await page.evaluate(unnamed), []);
    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number)[0]);
    assert.ok(colorScheme === 'dark' ? background < 64 : background > 192, `${colorScheme}: ${background}`);
    assert.deepEqual(bad, []);
    console.log(`ok ${name} ${colorScheme}: ${operations.length} routes`);
    await context.close();
  }
}

{ // by the keyboard: past the list, a search, a question
  const { context, page, bad } = await open({ viewport: desktop });
  await ready(page);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'routes');
  await page.getByLabel('Find a route').fill('openapi');
  assert.equal(await page.locator('article:visible').count(), 1);
  assert.equal(await page.locator('#found').textContent(), '1 found');
  await page.getByLabel('Find a route').fill('no such thing');
  assert.equal(await page.locator('article:visible').count(), 0);
  await page.getByLabel('Find a route').fill('');
  assert.equal(await page.locator('article:visible').count(), operations.length);
  for (const [id, status] of [['openapi', '200'], ['ledgers', '200'], ['kyc_status', '400']]) {
    const article = page.locator(`article[id="${id}"]`);
    await article.locator('summary', { hasText: 'Ask it' }).focus();
    await page.keyboard.press('Enter');
    if (status === '400') await article.getByLabel('address').fill("G'; <b>");
    await article.locator('button').focus();
    const [answer] = await Promise.all([page.waitForResponse((r) => r.request().resourceType() === 'fetch'), page.keyboard.press('Enter')]);
    assert.equal(String(answer.status()), status, await answer.text());
    await article.locator('form pre.body').waitFor();
    assert.ok((await article.locator('form').textContent()).includes(status));
    assert.ok((await article.locator('form pre').first().textContent()).startsWith('curl '));
  }
  assert.deepEqual(bad.filter((text) => !text.includes('400')), []);
  console.log('ok keyboard, search, questions');
  await context.close();
}

{ // a document that means harm is text
  const evil = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>';
  const { context, page } = await open({ viewport: desktop }, (page) => page.route('**/openapi.json', (route) => route.fulfill({ json: {
    ...spec, info: { ...spec.info, title: evil, description: evil },
    paths: { '/x': { get: { operationId: 'x', tags: [evil], summary: evil, description: `\`${evil}\``, responses: { 200: { description: evil } } } } } } })));
  await ready(page);
  assert.equal(await page.locator('img, main script').count(), 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.ok((await page.locator('h1').textContent()).includes('<img'));
  console.log('ok hostile document');
  await context.close();
}

{ // without its document it says so
  const { context, page } = await open({ viewport: phone }, (page) => page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: 'away' })));
  await page.waitForSelector('.error');
  assert.match(await page.locator('#state').textContent(), /cannot be shown: 503/);
  console.log('ok document away');
  await context.close();
}

for (const path of ['/docs', '/docs/docs.js', '/docs/docs.css', '/docs/icon.svg', '/openapi.json']) {
  const first = await fetch(url + path);
  assert.equal(first.status, 200, path);
  assert.equal(first.headers.get('x-content-type-options'), 'nosniff');
  const again = await fetch(url + path, { headers: { 'If-None-Match': first.headers.get('etag') } });
  assert.equal(again.status, 304, path);
}
for (const path of ['/docs/', '/docs/docs.html', '/docs/..%2fopenapi.json', '/api/web/docs.js'])
  assert.equal((await fetch(url + path)).status, 404, path);
console.log('ok files, tags, nothing beside them');
await browser.close();
