// usage: kyc.mjs ALLOWED FOREIGN FOLDER — identity checks in a real browser. ALLOWED and FOREIGN are ports of this
// machine: pages of the first are those of a registered partner, pages of the second are anybody's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import jsqr from 'jsqr';
import { contrasts, desktop, findings, launch, PATIENCE_MS, phone, unnamed } from './looks.mjs';

const [allowed, foreign, folder] = process.argv.slice(2);
const url = process.env.TIDEMARK_API_URL;
const key = process.env.TIDEMARK_KYC_KEY;
const within = Number(process.env.TIDE_KYC_WITHIN_MS || 10000); // the figure is 5 000; machines of tests are slow
const browser = await launch();
const element = await (await fetch(`${url}/kyc/element.js`)).text();
const took = [];
let people = 0;

const newcomer = () => execFileSync('tidemark-sim', ['keys', '--name', `browser${people += 1}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/)[1];
const begun = Date.now();
const tell = (text) => console.log(`ok ${text} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
const json = async (answer) => ({ status: answer.status, ...(await answer.json()) });
const standing = async (address) => json(await fetch(`${url}/api/sdk/kyc/status/${address}`));
const stateOf = async (id) => (await json(await fetch(`${url}/api/sdk/kyc/session/${id}`))).state;

async function session(address, mode, headers = { 'x-api-key': key }) {
  const body = JSON.stringify({ address, providerKey: 'sandbox', mode });
  const answer = await fetch(`${url}/api/sdk/kyc/session`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const said = await answer.json();
  assert.ok(answer.ok, JSON.stringify(said));
  return said;
}

async function until(what, ms, condition) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    assert.ok(Date.now() < end, `not within ${ms} ms: ${what()}`);
    await new Promise((resolve) => { setTimeout(resolve, 40); });
  }
}

/** From the press of Approve to the API's yes. */
async function compliant(address, began) {
  let last;
  await until(() => `${address} is compliant: ${JSON.stringify(last)}`, within, async () => (last = await standing(address)).compliant);
  took.push(Date.now() - began);
}

/** A page on which any error, any refusal of the policy and any request elsewhere is a failure. */
async function open(path, options = { viewport: desktop }, before = async () => {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const bad = [];
  page.on('console', (message) => { if (message.type() === 'error') bad.push(message.text()); });
  page.on('pageerror', (error) => bad.push(String(error)));
  page.on('request', (request) => { if (new URL(request.url()).origin !== url) bad.push(`asks ${request.url()}`); });
  await before(page);
  const response = await page.goto(path.startsWith('http') ? path : url + path);
  return { context, page, bad, response };
}

async function looks(page, name, colorScheme) {
  const { wide, seen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, seen: innerWidth }));
  assert.ok(wide <= seen, `${name}: ${wide} px wide, ${seen} are seen`);
  for (const [kind, ratio] of Object.entries(await page.evaluate(contrasts))) assert.ok(ratio >= 4.5, `${name}: ${kind} has a contrast of ${ratio.toFixed(2)}`);
  assert.deepEqual(await page.evaluate(unnamed), []);
  assert.deepEqual(await findings(page), [], name);
  const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number)[0]);
  assert.ok(colorScheme === 'dark' ? background < 64 : background > 192, `${name}: ${background}`);
  await page.screenshot({ path: `${folder}/kyc-${name}.png`, fullPage: true });
}

const title = (page, text) => page.getByRole('heading', { name: text, exact: true }).waitFor();

/** The envelope with one more signature, as a wallet makes it; spoilt: by that much. */
function signed(envelope, passphrase, seed, spoilt) {
  const bits = [...seed].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  const raw = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2))).subarray(1, 33);
  const key = createPrivateKey({ key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), raw]), format: 'der', type: 'pkcs8' });
  const body = envelope.subarray(0, envelope.length - 76); // the server's signature, and how many there are
  const hash = createHash('sha256').update(createHash('sha256').update(passphrase).digest()).update(body).digest();
  const signature = sign(null, hash, key);
  signature[0] ^= spoilt;
  const hint = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-4);
  const theirs = envelope.subarray(envelope.length - 72);
  return Buffer.concat([body, Buffer.from([0, 0, 0, 2]), theirs, hint, Buffer.from([0, 0, 0, 64]), signature]).toString('base64');
}

// ---- partners: pages of other origins

function partner(port) {
  const page = (body) => `<!doctype html><title>partner</title><body><tidemark-kyc id="check" host="${url}"></tidemark-kyc><script>
    window.states = [];
    addEventListener('tidemark-state', (e) => states.push(e.detail)); addEventListener('tidemark-close', (e) => { window.ended = [e.detail.state]; });
    window.heard = []; addEventListener('message', (e) => heard.push({ origin: e.origin, data: e.data }));</script>${body}`;
  const routes = {
    '/embed': (q) => page(`<script type="module">${element}
      check.session = ${q.get('session')};</script>`),
    '/direct': (q) => page(`<button id="go">go</button><script type="module">${element}
      check.setAttribute('mode', 'direct'); go.onclick = () => { check.session = ${q.get('session')}; };</script>`),
    '/hostile': () => `<!doctype html><title>hostile</title><body><tidemark-kyc id="check" host="${url}" session-url="/verify" lang="&amp;s=x#"></tidemark-kyc><script type="module" nonce="n">${element}
      window.check = document.querySelector("tidemark-kyc"); window.states = []; window.faults = []; window.refusals = [];
      addEventListener('tidemark-state', (e) => states.push(e.detail)); addEventListener('tidemark-error', (e) => faults.push(e.detail.message));
      addEventListener('unhandledrejection', (e) => refusals.push(String(e.reason))); addEventListener('error', (e) => refusals.push(e.message));
      addEventListener('securitypolicyviolation', (e) => refusals.push(e.violatedDirective));</script>`,
    '/frame': (q) => page(`<iframe src="${q.get('src').replace(/&/g, '&amp;')}" width="800" height="700" allow="camera"></iframe>`),
  };
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      const at = new URL(request.url, 'http://x');
      const found = routes[at.pathname];
      const policy = at.pathname === '/hostile' ? { 'content-security-policy': `default-src 'none'; script-src 'nonce-n'; connect-src 'self' ${url}; frame-src 'self' ${url}` } : {};
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...policy });
      response.end(found ? found(at.searchParams) : '');
    }).listen(port, '127.0.0.1', () => resolve(server));
  });
}
const servers = await Promise.all([partner(allowed), partner(foreign)]);
const ours = `http://127.0.0.1:${allowed}`;
const theirs = `http://127.0.0.1:${foreign}`;
const frameAt = (page, part) => until(() => `a frame at ${part}`, 10000, async () => page.frames().find((frame) => frame.url().includes(part)));

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  for (const colorScheme of ['light', 'dark']) {
    const { context, page, bad, response } = await open('/kyc', { viewport, colorScheme, hasTouch: name === 'phone' });
    await page.getByRole('radio', { name: /Sandbox/ }).waitFor();
    await page.locator('#simulated').waitFor();
    const policy = response.headers()['content-security-policy'];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(response.headers()['x-frame-options'], 'DENY');
    assert.match(response.headers()['cache-control'], /no-store/);
    await looks(page, `start-${name}-${colorScheme}`, colorScheme);
    for (const [text, fault] of [['', /enter your address/], [`S${'A'.repeat(55)}`, /secret key/], ['G123', /no address/]]) {
      await page.getByLabel('Your address', { exact: true }).fill(text);
      await page.getByRole('button', { name: 'Begin the check' }).click();
      assert.match(await page.locator('#address-error').textContent(), fault);
      assert.equal(await page.getByLabel('Your address', { exact: true }).getAttribute('aria-invalid'), 'true');
    }
    assert.deepEqual(bad, []);
    await context.close();
    tell(`start ${name} ${colorScheme}`);
  }
}

for (const width of [360, 1024, 2560]) { // nothing is wider than the window, nothing is without a name
  const said = await session(newcomer(), 'redirect');
  for (const [name, path] of Object.entries({ start: '/kyc', open: said.embedUrl.replace('embed=1&', '').replace('&embed=1', '') })) {
    const { context, page, bad } = await open(path, { viewport: { width, height: 900 } });
    await page.locator(name === 'start' ? '#start' : '#progress').waitFor();
    await looks(page, `${name}-${width}-light`, 'light');
    assert.deepEqual(bad, []);
    await context.close();
  }
  tell(`${width} px`);
}

{ // five languages: by the browser, and by choice; all of the page, and what its script says
  const texts = JSON.parse(readFileSync(`${process.env.TIDE_SOURCE_DIR}/api/web/kyc_text.json`, 'utf8'));
  for (const [lang, said] of Object.entries(texts)) {
    const { context, page, bad, response } = await open('/kyc', { viewport: phone, locale: { en: 'en-GB', de: 'de-CH', fr: 'fr-FR', es: 'es-MX', pt: 'pt-BR' }[lang] });
    assert.equal(response.headers()['content-language'], lang);
    assert.equal(await page.evaluate(() => document.documentElement.lang), lang);
    await title(page, said.start_title);
    await page.locator('#begin').click();
    assert.equal(await page.locator('#address-error').textContent(), said.address_missing);
    await looks(page, `start-${lang}-phone-light`, 'light');
    assert.doesNotMatch(await page.locator('body').innerText(), /\{\{|\{\w+\}/);
    assert.deepEqual(bad, []);
    await context.close();
  }
  const { context, page } = await open('/kyc?lang=pt', { viewport: desktop, locale: 'de-DE' });
  await title(page, texts.pt.start_title);
  await page.getByRole('navigation', { name: texts.pt.languages }).getByRole('link', { name: 'Français' }).click();
  await title(page, texts.fr.start_title);
  const opened = await session(newcomer(), 'redirect');
  await page.goto(`${opened.callbackUrl}?lang=es`);
  await title(page, texts.de.deciding.replace('{who}', 'Sandbox'));
  await page.getByRole('link', { name: 'Español' }).click();
  await title(page, texts.es.created);
  await context.close();
  tell('languages');
}

{ // colours and logo of the integrator: in its sessions, and nowhere else
  const said = await session(newcomer(), 'redirect');
  const brandOf = (page) => page.evaluate(() => ({ color: getComputedStyle(document.querySelector('.primary')).backgroundColor, name: document.querySelector('.brand').innerText.trim(), logo: document.getElementById('logo').alt }));
  for (const [colorScheme, color] of Object.entries({ light: 'rgb(27, 79, 143)', dark: 'rgb(156, 197, 245)' })) {
    const { context, page, bad, response } = await open(said.callbackUrl.replace('/return/', '/return/'), { viewport: phone, colorScheme });
    assert.match(response.headers()['content-security-policy'], new RegExp(`img-src 'self' ${url}/app/icon.svg;`));
    await page.locator('#logo.own').waitFor();
    await page.locator('#actions button').first().waitFor();
    const start = await open(new URL(said.embedUrl).pathname + new URL(said.embedUrl).search.replace('embed=1', 'lang=en'), { viewport: phone, colorScheme });
    await start.page.locator('#actions .primary').waitFor();
    assert.equal(await start.page.locator('#actions .primary').evaluate((node) => getComputedStyle(node).backgroundColor), color);
    assert.equal((await brandOf(start.page)).logo, 'Harbour');
    await looks(start.page, `brand-phone-${colorScheme}`, colorScheme);
    assert.deepEqual(bad, []);
    await start.context.close();
    await context.close();
  }
  { // a logo that cannot be loaded: the integrator's name stands there
    const { context, page } = await open(new URL(said.embedUrl).pathname + new URL(said.embedUrl).search.replace('embed=1', 'lang=en'), { viewport: phone }, (one) => one.route('**/app/icon.svg', (route) => route.abort()));
    await page.locator('#actions .primary').waitFor();
    assert.equal(await page.locator('#logo.own').count(), 0);
    assert.equal((await brandOf(page)).name, 'Harbour');
    await context.close();
  }
  const { context, page } = await open('/kyc');
  await page.locator('#begin').waitFor();
  assert.notEqual((await brandOf(page)).color, 'rgb(27, 79, 143)');
  assert.equal((await brandOf(page)).name, 'Tidemark');
  await context.close();
  tell('brand');
}

{ // on to a phone: a QR code of the link, which a phone can read
  const said = await session(newcomer(), 'redirect');
  const { context, page, bad } = await open(said.embedUrl.replace('embed=1', 'lang=en'), { viewport: phone });
  const press = page.getByRole('button', { name: 'Continue on your phone' });
  assert.equal(await press.getAttribute('aria-expanded'), 'false');
  await press.click();
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  assert.equal(await press.getAttribute('aria-expanded'), 'true');
  const link = await page.locator('#phone-link').textContent();
  assert.equal(link, said.startUrl);
  // As a camera sees it: the pixels of the canvas, enlarged.
  const { data, width, height } = await page.locator('#phone-code canvas').evaluate((canvas) => {
    const large = Object.assign(document.createElement('canvas'), { width: canvas.width * 4, height: canvas.height * 4 });
    const context = large.getContext('2d');
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, 0, 0, large.width, large.height);
    return { data: [...context.getImageData(0, 0, large.width, large.height).data], width: large.width, height: large.height };
  });
  assert.equal(jsqr(Uint8ClampedArray.from(data), width, height).data, said.startUrl);
  await looks(page, 'qr-phone-light', 'light');
  assert.deepEqual(bad, []);
  await context.close();
  tell('QR code');
}

{ // redirect, by the keyboard alone: from the form to the ledger
  const address = newcomer();
  const { context, page, bad } = await open(`/kyc?address=${address}`);
  await page.getByRole('radio', { name: /Sandbox/ }).waitFor();
  const press = async (wanted) => {
    for (let i = 0; i < 20; i += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((text) => document.activeElement !== document.body && (document.activeElement.id || document.activeElement.textContent).includes(text), wanted)) return page.keyboard.press('Enter');
    }
    return assert.fail(`no ${wanted} by Tab`);
  };
  await press('begin');
  await page.waitForURL('**/kyc/sandbox/*');
  await looks(page, 'sandbox-desktop-light', 'light');
  const began = Date.now();
  await press('Approve');
  await page.waitForURL('**/kyc/return/*');
  await compliant(address, began);
  await title(page, 'Verified');
  assert.match(await page.locator('#words').textContent(), /Verified on chain at ledger \d+/);
  await page.locator('#facts a').waitFor();
  const hash = await page.locator('#facts a').textContent();
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.equal((await json(await fetch(`${url}/api/transactions/${hash}`))).status, 200);
  await looks(page, 'verified-desktop-light', 'light');
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
  assert.deepEqual(bad, []);
  await context.close();
  tell('redirect, by keyboard');
  await again(address);
}

/** A person who is verified already sees so before a check begins, even if the click comes before the answer. */
async function again(address) {
  const sessions = [];
  const { context, page, bad } = await open('/kyc', { viewport: phone }, (one) => one.on('request', (request) => { if (request.url().endsWith('/kyc/session')) sessions.push(request.url()); }));
  await page.getByRole('radio', { name: /Sandbox/ }).waitFor();
  await page.getByLabel('Your address', { exact: true }).fill(newcomer());
  await page.getByLabel('Your address', { exact: true }).blur();
  await page.getByLabel('Your address', { exact: true }).fill(address);
  await page.getByLabel('Your address', { exact: true }).press('Enter');
  await page.getByText(/verified already.* it may trade/).waitFor();
  await looks(page, 'already-phone-light', 'light');
  assert.deepEqual(sessions, []);
  await page.waitForTimeout(1000); // no press counts that may have come with the words
  await page.getByRole('button', { name: 'Begin a check all the same' }).click();
  await page.waitForURL('**/kyc/sandbox/*');
  assert.equal(sessions.length, 1);
  await page.goto(`${url}/kyc?address=${address}`);
  await page.getByText(/verified already.* it may trade/).waitFor();
  assert.deepEqual(bad, []);
  await context.close();
  tell('verified already');
}

for (const [name, options] of Object.entries({ 'desktop-light': { viewport: desktop }, 'phone-dark': { viewport: phone, colorScheme: 'dark', reducedMotion: 'reduce' } })) {
  // iframe: in the page of a partner, which alone hears of it
  const address = newcomer();
  const said = await session(address, 'iframe');
  const { context, page } = await open(`${ours}/embed?session=${encodeURIComponent(JSON.stringify(said))}`, options);
  const inner = await frameAt(page, '/kyc?embed=1');
  const provider = await frameAt(page, '/kyc/sandbox/');
  assert.equal(await inner.locator('header').isVisible(), false);
  assert.ok(await inner.getByRole('button', { name: 'Open in a new tab' }).isVisible());
  assert.match(await inner.locator('iframe').getAttribute('allow'), /camera 'self'/);
  assert.ok(await provider.evaluate(() => document.featurePolicy.allowsFeature('camera')), 'the camera does not get to the provider');
  assert.equal(await inner.evaluate(() => document.getAnimations().length > 0 && matchMedia('(prefers-reduced-motion: reduce)').matches), false);
  await page.screenshot({ path: `${folder}/kyc-embedded-${name}.png`, fullPage: true });
  const began = Date.now();
  await provider.getByRole('button', { name: 'Approve' }).click();
  await compliant(address, began);
  await until(() => 'the partner hears of it', within, () => page.evaluate(() => window.states.some((one) => one.compliant && one.ledger)));
  const heard = await page.evaluate(() => window.heard);
  assert.ok(heard.every((one) => one.origin === url && one.data.source === 'tidemark-kyc' && one.data.sessionId === said.sessionId), JSON.stringify(heard));
  assert.ok(!JSON.stringify(heard).includes(address));
  await page.screenshot({ path: `${folder}/kyc-embedded-done-${name}.png`, fullPage: true });
  assert.deepEqual(await context.cookies(), []);
  await context.close();
  tell(`iframe, ${name}`);
}

{ // K14: in the page of a stranger, and in a partner's page within one: nothing is shown, nothing is heard
  const said = await session(newcomer(), 'iframe');
  const token = encodeURIComponent(JSON.stringify(said));
  const headers = (await fetch(said.embedUrl)).headers;
  assert.equal(headers.get('x-frame-options'), null);
  assert.match(headers.get('content-security-policy'), new RegExp(`frame-ancestors http://127.0.0.1:\\d+ ${ours}(;|$)`));
  assert.match(headers.get('permissions-policy'), /camera=\(self/);
  const chains = { foreign: `${theirs}/embed?session=${token}`, nested: `${theirs}/frame?src=${encodeURIComponent(`${ours}/embed?session=${token}`)}` };
  for (const [name, where] of Object.entries(chains)) {
    const { context, page, bad } = await open(where);
    await until(() => `${name}: the browser says that it was blocked`, 10000, () => bad.find((text) => /frame-ancestors/.test(text)));
    await page.waitForTimeout(500);
    for (const frame of page.frames()) {
      assert.ok(!(await frame.locator('#progress').count()), `${name}: the page is shown`);
      const heard = await frame.evaluate(() => window.heard).catch(() => []);
      assert.deepEqual(heard || [], [], name);
    }
    await page.screenshot({ path: `${folder}/kyc-blocked-${name}.png` });
    await context.close();
  }
  for (const path of ['/kyc', '/docs', `/kyc?${new URL(said.embedUrl).searchParams.toString().replace('embed=1', '').replace(/^&/, '')}`, said.callbackUrl]) {
    const { context, page, bad } = await open(`${theirs}/frame?src=${encodeURIComponent(path.startsWith('http') ? path : url + path)}`);
    await until(() => `${path} is blocked`, 10000, () => bad.find((text) => /frame-ancestors|X-Frame-Options/.test(text)));
    await context.close();
  }
  tell('foreign and nested frames');
}

{ // a message means nothing: neither of a stranger nor of anybody else
  const said = await session(newcomer(), 'iframe');
  const { context, page } = await open(`${ours}/embed?session=${encodeURIComponent(JSON.stringify(said))}`);
  const inner = await frameAt(page, '/kyc?embed=1');
  await frameAt(page, '/kyc/sandbox/');
  await page.evaluate(() => document.querySelector('tidemark-kyc').shadowRoot.querySelector('iframe').contentWindow.postMessage({ source: 'tidemark-kyc', type: 'state', state: 'approved', compliant: true }, '*'));
  await page.waitForTimeout(1200);
  assert.ok(await inner.locator('iframe').count());
  assert.notEqual(await inner.locator('#title').textContent(), 'Verified');
  await context.close();
  tell('forged messages');
}

{ // a hostile page, parent or server of the partner: the element refuses, says so, and can be used again
  const { context, page } = await open(`${ours}/hostile`);
  const posts = [];
  let answer = () => ({});
  await page.route('**/verify', async (route) => { posts.push(route.request().postDataJSON()); const { after = 0, ...said } = answer(); await new Promise((resolve) => { setTimeout(resolve, after); }); return route.fulfill(said).catch(() => {}); });
  const check = page.locator('#check');
  const press = check.getByRole('button');
  const told = () => page.evaluate(() => window.faults.splice(0));
  const bodies = ['null', '7', '[]', '{}', '<html>', '', '{"sessionId":7}', ...['javascript:alert(1)', 'data:text/html,x', `blob:${url}/x`, theirs, `${url}@evil.example`, '', '//evil.example', 'x'].map((embedUrl) => JSON.stringify({ sessionId: 's', embedUrl, startUrl: embedUrl }))];
  for (const body of bodies) {
    answer = () => ({ status: 201, body });
    await press.click();
    await until(() => `refused: ${body}`, 5000, async () => (await told()).length === 1);
    assert.ok(await press.isEnabled() && await check.getByRole('alert').isVisible() && !(await check.locator('iframe').count()), body);
  }
  answer = () => ({ status: 500, body: '{"detail":{"a":1}}' });
  await press.click();
  await until(() => 'a fault without words', 5000, async () => (await told())[0] === 'HTTP 500');
  const good = JSON.stringify({ sessionId: 's', embedUrl: `${url}/kyc?embed=1`, startUrl: `${url}/kyc?s=1` });
  answer = () => ({ status: 201, body: good, after: 300 });
  const before = posts.length;
  await page.evaluate(() => { check.start(); check.start(); }); // twice at once: one session
  await until(() => 'a frame', 5000, () => check.locator('iframe').count());
  assert.equal(posts.length, before + 1);
  await page.evaluate((host) => { // the page itself and another frame say what only the host may
    for (const source of [window, document.body.appendChild(document.createElement('iframe')).contentWindow]) window.dispatchEvent(new MessageEvent('message', { origin: host, source, data: { source: 'tidemark-kyc', sessionId: 's', type: 'state', state: 'approved', compliant: true } }));
    window.dispatchEvent(new MessageEvent('message', { origin: host, source: null, data: { source: 'tidemark-kyc', sessionId: 's', type: 'close' } }));
  }, url);
  assert.deepEqual(await page.evaluate(() => window.states), []);
  assert.equal(await check.locator('iframe').count(), 1);
  await page.evaluate((host) => { window.dispatchEvent(new MessageEvent('message', { origin: host, source: check.shadowRoot.querySelector('iframe').contentWindow, data: { source: 'tidemark-kyc', sessionId: 's', type: 'close', state: 'declined' } })); }, url);
  await until(() => 'after its end it can be used again', 5000, () => press.isEnabled());
  await page.evaluate(() => { check.setAttribute('mode', 'redirect'); check.start(); check.remove(); }); // removed while it asks
  await page.waitForTimeout(700);
  assert.ok(page.url().startsWith(ours), 'a removed element took the page away');
  await page.evaluate(() => { window.open = () => null; check.setAttribute('mode', 'direct'); document.body.append(check); check.start(); });
  assert.equal(await until(() => 'a link instead of a blocked tab', 5000, () => check.getByRole('link').getAttribute('href').catch(() => '')), `${url}/kyc?s=1&lang=%26s%3Dx%23`);
  await page.evaluate(() => { check.setAttribute('host', 'javascript:0'); check.session = { sessionId: 's', startUrl: 'javascript:alert(1)', embedUrl: 'data:,' }; });
  await until(() => 'no host', 5000, async () => (await told()).length === 1);
  assert.deepEqual(await page.evaluate(() => window.refusals), [], 'the policy of the page refused something');
  await context.close();
  tell('a hostile page');
}

{ // direct: from a partner's page to a new tab
  const address = newcomer();
  const said = await session(address, 'direct');
  const { context, page } = await open(`${ours}/direct?session=${encodeURIComponent(JSON.stringify(said))}`);
  const [tab] = await Promise.all([context.waitForEvent('page'), page.click('#go')]);
  await tab.waitForURL('**/kyc/sandbox/*');
  const began = Date.now();
  await tab.getByRole('button', { name: 'Approve' }).click();
  await compliant(address, began);
  await title(tab, 'Verified');
  await until(() => 'the partner knows', within, () => page.evaluate(() => window.states.some((one) => one.state === 'approved')));
  await context.close();
  tell('direct');
}

for (const mode of ['iframe', 'redirect', 'direct']) { // the example of a partner
  const { context, page, bad } = await open(`/kyc/partner#address=${newcomer()}&key=${key}`);
  await page.locator(`input[value=${mode}]`).check();
  const tabs = mode === 'direct' ? context.waitForEvent('page') : Promise.resolve(page);
  await page.getByRole('button', { name: 'Verify me' }).click();
  const tab = await tabs;
  const provider = mode === 'iframe' ? await frameAt(page, '/kyc/sandbox/') : tab;
  await provider.getByRole('button', { name: 'Approve' }).waitFor();
  assert.deepEqual(bad, []);
  await context.close();
  tell(`${mode} from the example`);
}

for (const mode of ['iframe', 'direct']) { // the other modes of our own form
  const address = newcomer();
  const { context, page, bad } = await open(`/kyc?address=${address}`, { viewport: phone });
  await page.getByRole('radio', { name: /Sandbox/ }).check();
  await page.getByRole('radio', { name: mode === 'iframe' ? /On this page/ : /In a new tab/ }).check();
  const tabs = mode === 'direct' ? context.waitForEvent('page') : Promise.resolve(page);
  await page.getByRole('button', { name: 'Begin the check' }).click();
  const tab = await tabs;
  const provider = mode === 'iframe' ? await frameAt(page, '/kyc/sandbox/') : tab;
  await provider.getByRole('button', { name: 'Approve' }).waitFor();
  if (mode === 'iframe') await page.screenshot({ path: `${folder}/kyc-inside-phone-light.png`, fullPage: true });
  const began = Date.now();
  await provider.getByRole('button', { name: 'Approve' }).click();
  await compliant(address, began);
  await title(page, 'Verified');
  assert.deepEqual(bad, []);
  await context.close();
  tell(`${mode} from our own page`);
}

{ // K13: coming back with a verdict in the address
  const said = await session(newcomer(), 'redirect');
  const { context, page } = await open(`${said.callbackUrl}?status=approved&compliant=true&decision=approved`);
  await page.locator('#progress').waitFor();
  await page.waitForTimeout(1500);
  await title(page, 'Sandbox is deciding');
  assert.match(await page.locator('#words').textContent(), /You are back from Sandbox/);
  assert.match(await page.locator('#reason').textContent(), /Then go on with the check/);
  assert.equal(await page.getByRole('link', { name: 'Go on with the check' }).getAttribute('href'), new URL(said.startUrl).pathname);
  assert.match(await stateOf(said.sessionId), /created|pending/);
  await context.close();
  tell('a forged way back');
}

// every other end, in words; nothing at the provider's needs JavaScript. People of a blocked country are not attested.
const blocked = execFileSync('tidemark-sim', ['tx', 'block_jurisdiction', '--as', 'daowallet', '--country', '408'], { encoding: 'utf8' });
assert.match(blocked, /passed/);
// Each end says why, as far as that may be shown, has no step to come, and offers a way on.
const ENDS = [
  { press: 'Decline', country: 'CHE', words: 'Not approved', why: /gives no reason that we may show/, on: ['Back to Harbour', 'Begin another check'], steps: 3 },
  { press: 'Decline', country: 'CHE', reason: 'document_expired', words: 'Not approved', why: /The document has expired/, on: ['Back to Harbour', 'Begin another check'], steps: 3 },
  { press: 'Resubmit', country: 'CHE', reason: 'face_unclear', words: 'Something is missing', why: /picture of your face/, on: ['Go on with the check'], steps: 4 },
  { press: 'Expire', country: 'CHE', words: 'This check ran out', why: /^$/, on: ['Back to Harbour', 'Begin another check'], steps: 3 },
  { press: 'Approve', country: 'XXA', words: 'Being looked at', why: /^$/, on: ['Go on with the check'], steps: 4 },
  { press: 'Approve', country: 'PRK', words: 'Approved; a person looks at it', why: /^$/, on: ['Continue in Harbour', 'See what the ledger says'], steps: 4 },
];
for (const { press, country, reason, words, why, on, steps } of ENDS) {
  const said = await session(newcomer(), 'redirect');
  const { context, page, bad } = await open(said.startUrl, { viewport: phone, colorScheme: 'dark' });
  await page.getByLabel('Country of the document').selectOption(country);
  if (reason) await page.getByLabel('Reason of a decline').selectOption(reason);
  await page.getByRole('button', { name: press }).click();
  await title(page, words);
  await page.locator('#reason').filter({ hasText: why }).waitFor({ state: 'attached' });
  for (const name of on) assert.ok(await page.getByRole('link', { name, exact: true }).isVisible(), `${words}: ${name}`);
  assert.equal(await page.locator('#steps li').count(), steps);
  if (steps === 3) assert.doesNotMatch(await page.locator('#steps').innerText(), /not yet|On the ledger/);
  assert.equal((await json(await fetch(`${url}/api/sdk/kyc/session/${said.sessionId}`))).reason, reason ?? null);
  await looks(page, `${press.toLowerCase()}-${reason ?? country}-phone-dark`, 'dark');
  assert.deepEqual(bad, []);
  await context.close();
  tell(`${words}${reason ? `, ${reason}` : ''}`);
}

{ // in a partner's frame an end leads back to the partner
  const said = await session(newcomer(), 'iframe');
  const { context, page } = await open(`${ours}/embed?session=${encodeURIComponent(JSON.stringify(said))}`);
  const inner = await frameAt(page, '/kyc?embed=1');
  const provider = await frameAt(page, '/kyc/sandbox/');
  await provider.getByRole('button', { name: 'Decline' }).click();
  await inner.getByRole('button', { name: 'Continue in Harbour' }).click();
  await until(() => 'the frame is closed', 10000, () => page.evaluate(() => !document.querySelector('tidemark-kyc').shadowRoot.querySelector('iframe') && window.ended && window.ended.length === 1));
  assert.deepEqual(await page.evaluate(() => window.ended), ['declined']);
  await context.close();
  tell('back to the partner from its frame');
}

{ // where a session needs a proof: a challenge, signed by the address
  const [address, seed] = execFileSync('tidemark-sim', ['keys', '--name', 'prover'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/).slice(1);
  const { context, page, bad } = await open(`/kyc?address=${address}`, { viewport: phone }, (one) => one.route('**/kyc?*', async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).replace('{&quot;open&quot;:true}', '{&quot;open&quot;:false}') });
  }));
  await page.getByRole('radio', { name: /Sandbox/ }).waitFor();
  await page.getByRole('button', { name: 'Get a challenge to sign' }).click();
  await until(() => 'a challenge', 10000, () => page.getByLabel('Sign this transaction').inputValue());
  const envelope = Buffer.from(await page.getByLabel('Sign this transaction').inputValue(), 'base64');
  const { passphrase } = await json(await fetch(`${url}/api/sdk/contracts`));
  await page.getByLabel('The signed transaction').fill(signed(envelope, passphrase, seed, 1));
  await page.getByRole('button', { name: 'Begin the check' }).click();
  await page.getByText(/The challenge is refused/).waitFor();
  await page.getByLabel('The signed transaction').fill(signed(envelope, passphrase, seed, 0));
  await looks(page, 'proof-phone-light', 'light');
  await page.getByRole('button', { name: 'Begin the check' }).click();
  await page.waitForURL('**/kyc/sandbox/*');
  assert.deepEqual(bad.filter((text) => !text.includes('401')), []);
  await context.close();
  tell('proof by a signed challenge');
}

/** Freighter's content script, as far as its messages go. chosen: its account; sign: makes the signature, or refuses. */
function fakeWallet({ chosen, passphrase }) {
  window.addEventListener('message', async (event) => {
    const asked = event.data;
    if (event.source !== window || asked.source !== 'FREIGHTER_EXTERNAL_MSG_REQUEST') return;
    const answers = {
      REQUEST_CONNECTION_STATUS: async () => ({ isConnected: true }),
      REQUEST_ACCESS: async () => ({ publicKey: chosen }),
      REQUEST_PUBLIC_KEY: async () => ({ publicKey: chosen }),
      REQUEST_NETWORK: async () => ({ network: 'STANDALONE', networkPassphrase: passphrase }),
      REQUEST_NETWORK_DETAILS: async () => ({ networkDetails: { network: 'STANDALONE', networkName: 'sim', networkUrl: '', networkPassphrase: passphrase } }),
      SUBMIT_TRANSACTION: async () => {
        const signedTransaction = await window.walletSigns(asked.transactionXdr);
        return signedTransaction ? { signedTransaction, signerAddress: chosen } : { error: 'declined', apiError: { code: -4, message: 'The user rejected this request.' } };
      },
    };
    const answer = await answers[asked.type]();
    window.postMessage({ source: 'FREIGHTER_EXTERNAL_MSG_RESPONSE', messagedId: asked.messageId, ...answer }, window.location.origin);
  });
}

/** Another wallet: Hana's object, with an account of its own. */
function secondWallet(account) {
  window.hanaWallet = { stellar: {
    getPublicKey: async () => account,
    signTransaction: ({ xdr }) => window.walletSigns(xdr),
  } };
}

{ // proof by a wallet: its code is loaded on the click, it signs the challenge, the check begins
  const [address, seed] = execFileSync('tidemark-sim', ['keys', '--name', 'holder'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/).slice(1);
  const { passphrase } = await json(await fetch(`${url}/api/sdk/contracts`));
  let willing = false;
  const loaded = [];
  const prove = async (chosen, second) => {
    const opened = await open(`/kyc?address=${address}`, { viewport: phone }, async (one) => {
      one.on('request', (request) => { if (request.url().includes('/app/') && !request.url().endsWith('.svg')) loaded.push(request.url()); });
      await one.route('**/kyc?*', async (route) => {
        const response = await route.fetch();
        return route.fulfill({ response, body: (await response.text()).replace('{&quot;open&quot;:true}', '{&quot;open&quot;:false}') });
      });
      await one.exposeFunction('walletSigns', (xdr) => (willing ? signed(Buffer.from(xdr, 'base64'), passphrase, seed, 0) : ''));
      if (chosen) await one.addInitScript(fakeWallet, { chosen, passphrase });
      if (second) await one.addInitScript(secondWallet, second);
    });
    await opened.page.getByRole('radio', { name: /Sandbox/ }).waitFor();
    return opened;
  };
  const none = await prove(null);
  assert.deepEqual(loaded, []);
  await none.page.getByRole('button', { name: 'Sign with a wallet' }).click();
  await none.page.getByText('No wallet was found in this browser.').waitFor();
  await none.page.getByRole('button', { name: 'Get a challenge to sign' }).click(); // by hand all the same
  await until(() => 'a challenge', 10000, () => none.page.getByLabel('Sign this transaction').inputValue());
  await none.context.close();
  const other = await prove(newcomer());
  await other.page.getByRole('button', { name: 'Sign with a wallet' }).click();
  await other.page.getByText('The wallet signed for another address').waitFor();
  await other.context.close();
  const { context, page, bad } = await prove(address);
  await page.getByRole('button', { name: 'Sign with a wallet' }).click();
  await page.getByText('The wallet did not sign: The user rejected this request.').waitFor();
  willing = true;
  await page.getByRole('button', { name: 'Sign with a wallet' }).click();
  await page.getByText('Signed. Now begin the check.').waitFor();
  await looks(page, 'wallet-phone-light', 'light');
  await page.getByRole('button', { name: 'Begin the check' }).click();
  await page.waitForURL('**/kyc/sandbox/*');
  assert.ok(loaded.length > 0 && loaded.every((one) => /\/app\/(wallet|_commonjsHelpers-[\w-]+)\.js$/.test(one)), loaded.join(' '));
  assert.deepEqual(bad, []);
  await context.close();
  tell('proof by a wallet');

  const two = await prove(newcomer(), address); // the visitor chooses
  await two.page.getByRole('button', { name: 'Sign with a wallet' }).click();
  await two.page.getByText('Which wallet is to sign?').waitFor();
  assert.deepEqual(await two.page.locator('#proof-wallets button').allTextContents(), ['Freighter', 'Hana Wallet']);
  assert.equal(await two.page.evaluate(() => document.activeElement.textContent), 'Freighter');
  await looks(two.page, 'wallets-phone-light', 'light');
  await two.page.getByRole('button', { name: 'Hana Wallet' }).click();
  await two.page.getByText('Signed. Now begin the check.').waitFor();
  await two.page.getByRole('button', { name: 'Begin the check' }).click();
  await two.page.waitForURL('**/kyc/sandbox/*');
  assert.deepEqual(two.bad, []);
  await two.context.close();
  tell('proof by one of two wallets');
}

{ // a server that was built without npm: the link instead of the code, and a signature by hand
  const said = await session(newcomer(), 'redirect');
  const { context, page } = await open(said.embedUrl.replace('embed=1', 'lang=en'), { viewport: phone }, (one) => one.route('**/app/*.js', (route) => route.fulfill({ status: 404, body: '' })));
  await page.getByRole('button', { name: 'Continue on your phone' }).click();
  await page.getByText(said.startUrl).waitFor();
  assert.equal(await page.locator('#phone-words').isVisible(), false);
  await context.close();
  tell('without the modules');
}

{ // links that are no good
  const { context, page, response } = await open('/kyc/return/0123456789abcdef0123456789abcdef.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  assert.equal(response.status(), 404);
  await title(page, 'This link is no good any more');
  assert.ok(await page.getByRole('link', { name: 'Begin another check' }).isVisible());
  await page.screenshot({ path: `${folder}/kyc-gone-desktop-light.png` });
  await context.close();
  tell('bad links');
}

{ // the example of a partner
  const address = newcomer();
  const { context, page, bad } = await open(`/kyc/partner#address=${address}&key=${key}`);
  await page.getByRole('button', { name: 'Verify me' }).click();
  const provider = await frameAt(page, '/kyc/sandbox/');
  const began = Date.now();
  await provider.getByRole('button', { name: 'Approve' }).click();
  await compliant(address, began);
  await page.getByText('yes: compliant').waitFor();
  assert.ok((await page.locator('#code').textContent()).includes('class TidemarkKyc'));
  await page.screenshot({ path: `${folder}/kyc-partner-desktop-light.png`, fullPage: true });
  assert.deepEqual(bad, []);
  await context.close();
  tell('partner example');
}

await browser.close();
servers.forEach((server) => server.close());
const sorted = took.sort((a, b) => a - b);
console.log(`approved to compliant, ms: ${sorted.join(' ')}; median ${sorted[Math.floor(sorted.length / 2)]}, most ${sorted.at(-1)} (to reach: 5000; refused above ${within})`);
