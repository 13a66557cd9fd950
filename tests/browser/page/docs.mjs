// usage: docs.mjs URL FOLDER — /docs in a real browser: all routes are there, in light and dark, on a desk and on a
// phone, for the keyboard and for a screen reader; nothing comes from elsewhere, nothing runs that should not.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [url, folder] = process.argv.slice(2);
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const root = process.getuid() === 0;
const browser = await chromium.launch({ executablePath, args: root ? ['--no-sandbox'] : [] });
const spec = await (await fetch(`${url}/openapi.json`)).json();
const operations = Object.values(spec.paths).flatMap((item) => Object.values(item));
const desk = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

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

/** Ratios of text against what is behind it, of every kind of text there is on the page. */
function contrasts() {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const worst = {};
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const kind = `${node.tagName}.${node.className}`;
    worst[kind] = Math.min(worst[kind] ?? 99, ratio);
  }
  return worst;
}

/** What a screen reader could not name, and headings that skip a level. */
function unnamed() {
  const faults = [];
  for (const node of document.querySelectorAll('input, select, textarea')) if (!node.labels.length) faults.push(node.outerHTML);
  for (const node of document.querySelectorAll('button, a, summary')) if (!node.textContent.trim()) faults.push(node.outerHTML);
  let level = 0;
  for (const node of document.querySelectorAll('main h1, main h2, main h3, main h4')) {
    const now = Number(node.tagName[1]);
    if (level && now > level + 1) faults.push(`${node.outerHTML} after h${level}`);
    level = now;
  }
  const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
  faults.push(...ids.filter((id, i) => ids.indexOf(id) !== i));
  if (!document.documentElement.lang) faults.push('no language');
  return faults;
}

for (const [name, viewport] of Object.entries({ desk, phone })) {
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
  const { context, page, bad } = await open({ viewport: desk });
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
  const { context, page } = await open({ viewport: desk }, (page) => page.route('**/openapi.json', (route) => route.fulfill({ json: {
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
