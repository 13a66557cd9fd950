// usage: console.mjs URL CERTIFICATES FOLDER — the operator console: two people with certificates release an intent; one without gets nothing.
import assert from 'node:assert/strict';
import { launch, PATIENCE_MS } from './looks.mjs';

const [url, certificates, folder] = process.argv.slice(2);
const browser = await launch();

async function as(name) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, viewport: { width: 1400, height: 1000 },
    clientCertificates: name ? [{ origin: url, certPath: `${certificates}/${name}.pem`, keyPath: `${certificates}/${name}.key` }] : undefined,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const bad = [];
  page.on('console', (message) => { if (message.type() === 'error') bad.push(message.text()); });
  page.on('pageerror', (error) => bad.push(String(error)));
  for (let i = 0; ; i++) { // nginx may not listen yet
    try { return { page, bad, response: await page.goto(`${url}/console`) }; } catch (error) { if (i > 100 || !/REFUSED/.test(String(error))) throw error; }
  }
}

for (const stranger of [null, 'eve']) {
  const { response } = await as(stranger);
  assert.equal(response.status(), 400, `${stranger}: nginx asks for a certificate of its issuer`);
}

const ada = await as('ada');
assert.match(ada.response.headers()['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/);
await ada.page.locator('#me', { hasText: 'ada operator' }).waitFor();
await ada.page.getByText('Simulated data').waitFor();
await ada.page.locator('#as-of', { hasText: 'ledger 812' }).waitFor();
const review = ada.page.getByRole('region', { name: 'Needs review' });
assert.ok((await ada.page.locator('main').boundingBox()).width > 1200, 'the page uses the window');
await review.getByRole('row', { name: /manual_review suspended/ }).waitFor();
await review.getByRole('button', { name: 'Requeue' }).click();
assert.ok(await review.getByRole('button', { name: 'Propose' }).isDisabled(), 'no reason is chosen beforehand');
await review.getByLabel('Reason').selectOption('reviewed');
await review.getByLabel('Ticket').fill('KYC-7');
await review.getByRole('button', { name: 'Propose' }).click();
const own = ada.page.getByRole('region', { name: 'Proposals' }).getByRole('row', { name: /requeue/ });
await own.getByText('reviewed KYC-7').waitFor();
assert.equal(await own.getByRole('button', { name: 'Confirm …' }).count(), 0, 'who proposed may confirm');

const bob = await as('bob');
await bob.page.locator('#me', { hasText: 'bob reviewer' }).waitFor();
const asked = bob.page.getByRole('region', { name: 'Proposals' }).getByRole('row', { name: /requeue/ });
await asked.getByRole('button', { name: 'Confirm …' }).click();
const question = await asked.getByRole('group', { name: /^Confirm proposal/ }).innerText();
for (const word of [/The parked attest of this address is sent to the chain/, /GADDRESS/, /Session \w+; on the chain now: no record/]) assert.match(question, word, 'who confirms sees what happens to whom');
assert.equal(await bob.page.locator('#said.notice').count(), 0, 'nothing is done before the answer');
await asked.getByRole('button', { name: 'Yes: requeue' }).click();
await bob.page.locator('#said', { hasText: 'Done: confirm.' }).waitFor();
const left = bob.page.getByRole('region', { name: 'Needs review' });
await left.getByRole('row', { name: /manual_review suspended/ }).waitFor({ state: 'detached' });
const waiting = left.getByRole('row', { name: /session.*country_unknown/ });
await waiting.waitFor();
for (const word of ['GWAITING', 'didit', '2 d', 'Correct the country at the provider']) assert.ok((await waiting.innerText()).includes(word), `${word}: ${await waiting.innerText()}`);
assert.equal(await bob.page.getByText('Nothing needs review.').count(), 0, 'a person waits');
assert.equal(await waiting.getByRole('button').count(), 0, 'a reviewer can do nothing here: the provider decides');
await bob.page.getByRole('button', { name: 'Check', exact: true }).click();
await bob.page.locator('#audit-check', { hasText: 'intact: 3 rows' }).waitFor();

await ada.page.getByLabel('Address').fill('GA25OGO7D4AFPW4G3P6IC7C6MLR42B54U62WNNWKFEGHRC3XEA5ANBRC');
await ada.page.getByRole('button', { name: 'Find' }).click();
const found = ada.page.getByRole('region', { name: 'Sessions of the address' });
await found.getByRole('button', { name: 'Revoke' }).click();
await found.getByLabel('Reason').selectOption('fraud');
await found.getByRole('button', { name: 'Propose' }).click();
await ada.page.getByRole('region', { name: 'Proposals' }).getByRole('row', { name: /revoke.*fraud.*open/ }).waitFor();
await ada.page.route('**/console/api/proposals', (route) => route.abort()); // what cannot be refreshed says so
ada.bad.length = 0;
await found.getByRole('button', { name: 'Revoke' }).click();
await found.getByLabel('Reason').selectOption('mistake');
await found.getByRole('button', { name: 'Propose' }).click(); // another reason: refused, and all lists are asked again
await ada.page.locator('#said', { hasText: 'proposed already' }).waitFor();
await ada.page.getByText('Not refreshed: this is as of ledger 812').waitFor();
await ada.page.unroute('**/console/api/proposals');
await ada.page.reload(); // the page asks again every 15 s: from here on nothing of it fails
await ada.page.locator('#me', { hasText: 'ada operator' }).waitFor();
assert.ok(ada.bad.every((line) => /409|ERR_FAILED/.test(line)), ada.bad);
ada.bad.length = 0;

// Actions that give rights: one operator proposes and sees the key, another one confirms and does not see it.
const cleo = await as('cleo');
const proposals = cleo.page.getByRole('region', { name: 'Proposals' });
const confirmed = async () => {
  await proposals.getByRole('button', { name: 'Confirm …' }).first().click();
  await proposals.getByRole('button', { name: /^Yes: / }).first().click();
  await cleo.page.locator('#said', { hasText: 'Done: confirm.' }).waitFor();
};
await ada.page.getByLabel('Id of the integrator').fill('acme');
await ada.page.getByRole('button', { name: 'New integrator' }).click();
await ada.page.getByLabel('Name').fill('Acme AG, origins: https://other.example'); // for the confirmer it must not look like another member
await ada.page.getByLabel('Origins').fill('https://acme.example');
await ada.page.getByLabel('Reason').selectOption('reviewed');
await ada.page.getByRole('button', { name: 'Propose' }).click();
await ada.page.locator('#said', { hasText: 'Proposed: integrator_put.' }).waitFor();
await cleo.page.reload();
await proposals.getByRole('row', { name: /integrator_put.*acme.*name: "Acme AG, origins: https:\/\/other.example".*origins: https:\/\/acme.example/ }).waitFor({ timeout: 10000 });
await confirmed();
await ada.page.reload();
await ada.page.getByRole('region', { name: 'Integrators' }).getByRole('button', { name: 'Add key' }).click();
await ada.page.getByLabel('Networks').fill('192.0.2.0/24');
await ada.page.getByLabel('Reason').selectOption('reviewed');
await ada.page.getByRole('button', { name: 'Propose' }).click();
const key = await ada.page.locator('#new-key').textContent();
assert.match(key, /^tk_[0-9a-z]{12}_[0-9A-Za-z_-]{43}$/);
await cleo.page.reload();
await proposals.getByRole('row', { name: /key_add.*networks: 192.0.2.0\/24/ }).waitFor();
await confirmed();
await cleo.page.getByRole('region', { name: 'Keys' }).getByRole('row', { name: new RegExp(key.slice(0, 15)) }).waitFor();
assert.ok(!(await cleo.page.content()).includes(key.slice(16)), 'the confirmer sees the key');
await ada.page.getByRole('button', { name: 'Close' }).click();
assert.ok(!(await ada.page.content()).includes(key.slice(16)), 'the key is shown after that');
assert.deepEqual(cleo.bad, []);

// A page of another origin, in the browser of a person who has a certificate: it opens the console's page by a link and gets nothing else.
const evil = await cleo.page.context().newPage();
await evil.route('https://evil.example/', (route) => route.fulfill({ contentType: 'text/html', body: `<a href="${url}/console">console</a>` }));
await evil.goto('https://evil.example/');
const answers = evil.waitForResponse(`${url}/console/api/review`);
await evil.evaluate((to) => fetch(`${to}/console/api/review`, { mode: 'no-cors', credentials: 'include' }), url);
assert.equal((await answers).status(), 403, 'a GET of another origin');
const open = (await (await cleo.page.request.get(`${url}/console/api/proposals`)).json()).items.find((item) => item.action === 'revoke');
for (const type of ['text/plain', 'application/json']) {
  await evil.evaluate(([to, proposal, sent]) => fetch(`${to}/console/api/confirm`, { method: 'POST', mode: sent === 'text/plain' ? 'no-cors' : 'cors', credentials: 'include',
    headers: { 'Content-Type': sent }, body: JSON.stringify({ proposal }) }).catch(() => {}), [url, Number(open.id), type]);
}
const after = (await (await cleo.page.request.get(`${url}/console/api/proposals`)).json()).items.find((item) => item.id === open.id);
assert.equal(after.state, 'open', 'another origin confirmed a proposal');
await evil.getByRole('link').click();
await evil.locator('#me', { hasText: 'cleo operator' }).waitFor();
await bob.page.screenshot({ path: `${folder}/console.png`, fullPage: true });
assert.deepEqual([...ada.bad, ...bob.bad], []);
await browser.close();
console.log('two people released an intent');
