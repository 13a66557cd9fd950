// usage: kyc.mjs ALLOWED FOREIGN FOLDER — identity checks in a real browser. ALLOWED and FOREIGN are ports of this
// machine: pages of the first are those of a registered partner, pages of the second are anybody's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { contrasts, desktop, launch, phone, unnamed } from './looks.mjs';

const [allowed, foreign, folder] = process.argv.slice(2);
const url = process.env.TIDEMARK_API_URL;
const key = process.env.TIDEMARK_KYC_KEY;
const within = Number(process.env.TIDE_KYC_WITHIN_MS || 10000); // the figure is 5 000; machines of tests are slow
const browser = await launch();
const snippet = await (await fetch(`${url}/kyc/snippet.js`)).text();
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
  const page = (body) => `<!doctype html><title>partner</title><body><div id="into"></div><script>
    window.heard = []; addEventListener('message', (e) => heard.push({ origin: e.origin, data: e.data }));</script>${body}`;
  const routes = {
    '/embed': (q) => page(`<script>${snippet}
      window.states = []; tidemarkKyc({ host: ${JSON.stringify(url)}, session: ${q.get('session')}, mode: 'iframe', into: document.getElementById('into'), onState: (s) => states.push(s) });</script>`),
    '/direct': (q) => page(`<button id="go">go</button><script>${snippet}
      window.states = []; go.onclick = () => tidemarkKyc({ host: ${JSON.stringify(url)}, session: ${q.get('session')}, mode: 'direct', onState: (s) => states.push(s) });</script>`),
    '/frame': (q) => page(`<iframe src="${q.get('src').replace(/&/g, '&amp;')}" width="800" height="700" allow="camera"></iframe>`),
  };
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      const at = new URL(request.url, 'http://x');
      const found = routes[at.pathname];
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
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
  await page.evaluate(() => document.querySelector('iframe').contentWindow.postMessage({ source: 'tidemark-kyc', type: 'state', state: 'approved', compliant: true }, '*'));
  await page.waitForTimeout(1200);
  assert.ok(await inner.locator('iframe').count());
  assert.notEqual(await inner.locator('#title').textContent(), 'Verified');
  await context.close();
  tell('forged messages');
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
  assert.match(await page.locator('#title').textContent(), /Ready when you are|Being looked at/);
  assert.match(await stateOf(said.sessionId), /created|pending/);
  await context.close();
  tell('a forged way back');
}

// every other end, in words; nothing at the provider's needs JavaScript. People of a blocked country are not attested.
const blocked = execFileSync('tidemark-sim', ['tx', 'block_jurisdiction', '--as', 'daowallet', '--country', '408'], { encoding: 'utf8' });
assert.match(blocked, /passed/);
for (const [press, country, words] of [['Decline', 'CHE', 'Not approved'], ['Resubmit', 'CHE', 'Something is missing'], ['Expire', 'CHE', 'This check ran out'], ['Approve', 'XXA', 'Being looked at'], ['Approve', 'PRK', 'Approved; a person looks at it']]) {
  const said = await session(newcomer(), 'redirect');
  const { context, page, bad } = await open(said.startUrl, { viewport: phone, colorScheme: 'dark' });
  await page.getByLabel('Country of the document').selectOption(country);
  await page.getByRole('button', { name: press }).click();
  await title(page, words);
  await looks(page, `${press.toLowerCase()}-${country}-phone-dark`, 'dark');
  assert.deepEqual(bad, []);
  await context.close();
  tell(`${words}`);
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

{ // links that are no good
  const { context, page, response } = await open('/kyc/return/0123456789abcdef0123456789abcdef.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  assert.equal(response.status(), 404);
  await title(page, 'This link is no good any more');
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
  assert.ok((await page.locator('#code').textContent()).includes('function tidemarkKyc'));
  await page.screenshot({ path: `${folder}/kyc-partner-desktop-light.png`, fullPage: true });
  assert.deepEqual(bad, []);
  await context.close();
  tell('partner example');
}

await browser.close();
servers.forEach((server) => server.close());
const sorted = took.sort((a, b) => a - b);
console.log(`approved to compliant, ms: ${sorted.join(' ')}; median ${sorted[Math.floor(sorted.length / 2)]}, most ${sorted.at(-1)} (to reach: 5000; refused above ${within})`);
