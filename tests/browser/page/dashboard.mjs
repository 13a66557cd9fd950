// usage: dashboard.mjs URL FOLDER CASE… — the dashboard in a real browser. TIDEMARK_DATABASE_URL is its database.
// Cases: smoke, budget, keyboard, words, phone, figures, travel, hostile, stale (needs INDEXER, a process id), live (needs SIM, a
// command that swaps), chain (every page about whatever an attackers' chain has), looks (all pages, three widths, both schemes, axe), idle, many (more than 1000 markets). Those joined
// by + run at once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { shown, wanted } from './figures.mjs';
import { launch, PATIENCE_MS } from './looks.mjs';

const [url, folder, ...cases] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await launch();
const sql = (text) => execFileSync('psql', ['-XAtq', '-F', '|', '-v', 'ON_ERROR_STOP=1', '-c', 'SET jit = off', '-c', text, process.env.TIDEMARK_DATABASE_URL], { encoding: 'utf8', maxBuffer: 1 << 26 }).trim();
/** Rows as objects of texts; what is null is empty, as on a page. */
const asObjects = (query) => `SELECT (SELECT coalesce(json_object_agg(key, coalesce(value, '')), '{}') FROM jsonb_each_text(to_jsonb(x) - '*' || coalesce(nullif(to_jsonb(x) -> '*', 'null'), '{}'))) FROM (${query}) AS x`;
/** The rows of each query; all in one session. */
const rowsOf = (queries) => sql(queries.map((query) => `${asObjects(query)}; SELECT 'next'`).join('; ')).split(/^next$/m).slice(0, -1).map((text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line)));
/** What differs between figures by name, or rows of them. */
function differences(got, want, where) {
  const list = Array.isArray(got) ? got : [got], rows = Array.isArray(want) ? want : [want];
  if (list.length !== rows.length) return [`${where}: ${list.length} rows are shown, SQL has ${rows.length}`];
  return list.flatMap((figures, i) => [...new Set([...Object.keys(figures), ...Object.keys(rows[i])])].filter((one) => figures[one] !== rows[i][one] && !(rows[i][one] === '' && !(one in figures)))
    .map((one) => `${where}: row ${i}, ${one}: shown ${figures[one]}, by SQL ${rows[i][one]}`)).slice(0, 5);
}
const answer = async (path) => { const got = await fetch(url + path); assert.equal(got.status, 200, `${path}: ${got.status}`); return got.json(); };

/** What the chain of this test has: an example for each page that is about something. */
const some = {
  market: sql('SELECT market FROM analyst.markets ORDER BY debt_raw DESC LIMIT 1'),
  pool: 'XLMUSDC',
  partner: sql('SELECT min(partner_id) FROM analyst.partners'),
  address: sql('SELECT owner FROM state.synthetic_engine_vault WHERE debt > 0 ORDER BY debt DESC LIMIT 1'),
  tx: sql("SELECT encode(t.hash, 'hex') FROM event.liquidity_pool_swap e JOIN chain.tx t USING (deployment, ledger, tx) ORDER BY e.ledger DESC LIMIT 1"),
  ledger: sql('SELECT ledger - 40 FROM chain.cursor'),
  feed: sql('SELECT min(asset COLLATE "C") FROM state.oracle_feed'),
};
some.vault = sql(`SELECT synth_asset FROM state.synthetic_engine_vault WHERE owner = '${some.address}' ORDER BY debt DESC LIMIT 1`);
some.proposal = sql(`SELECT proposal_id FROM event.dao_governance_voted WHERE ledger <= ${some.ledger} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`);
some.multisig = sql(`SELECT tx_id FROM history.dao_governance_multi_sig_approval WHERE ledger <= ${some.ledger} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`);
some.epoch = sql(`SELECT max(epoch) FROM history.earnings_distributor_epoch_partner_revenue WHERE ledger <= ${some.ledger}`);
const pages = ['/', '/markets', `/markets/${some.market}`, '/pools', `/pools/${some.pool}`, '/vaults', `/vaults/${some.vault}/${some.address}`, '/stability-pool', '/oracle', `/governance?proposal=${some.proposal}&multisig=${some.multisig}`,
  '/partners', `/partners/${some.partner}`, `/earnings?epoch=${some.epoch}`, '/compliance', `/address/${some.address}`, `/tx/${some.tx}`, `/ledger/${some.ledger}`];

/** A page on which any error, any refusal of the policy and any foreign request is a failure. */
async function open(path, options = {}, shared = null) {
  const context = shared ?? await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const bad = [], sizes = new Map();
  page.on('console', (message) => { if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) bad.push(message.text()); });
  page.on('pageerror', (error) => bad.push(String(error)));
  page.on('dialog', (dialog) => { bad.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on('request', (request) => { if (new URL(request.url()).origin !== url && !request.url().startsWith('blob:')) bad.push(`asks ${request.url()}`); });
  page.on('response', (response) => { if (response.status() >= 400) bad.push(`${response.status()} ${response.url()}`); });
  const response = await page.goto(url + path);
  return { context, page, bad, sizes, response };
}

/** Until the question is answered with true inside of the page. (waitForFunction evaluates a text, which the policy refuses.) */
async function until(page, what, question, arg) {
  for (const end = Date.now() + 60000; Date.now() < end; await page.waitForTimeout(50)) if (await page.evaluate(question, arg)) return;
  throw new Error(`${page.url()}: ${what}`);
}

/** Everything that the page asked for has arrived and is drawn. */
async function settled(page) {
  await page.locator('main h1').waitFor();
  await until(page, 'answers are missing', () => !document.querySelector('[aria-busy="true"]'));
  await until(page, 'charts are missing', () => [...document.querySelectorAll('.canvas')].every((box) => box.querySelector('canvas')));
}
/** CPU time of the browser's processes. */
function cpuSeconds() {
  const all = new Map(), mine = new Map();
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [, parent, , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
      const kind = /--type=([\w-]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? 'browser';
      all.set(Number(pid), { parent, kind, seconds: (user + system) / 100 });
    } catch { /* it ended meanwhile */ }
  }
  for (const [pid, one] of all) {
    let at = one;
    while (at && at.parent !== process.pid) at = all.get(at.parent);
    if (at) mine.set(pid, one);
  }
  return mine;
}
const name = (path) => path.replace(/\?.*/, '').split('/').filter(Boolean)[0] ?? 'overview';
const kpi = (page, label) => page.locator('.kpi', { has: page.locator('dt', { hasText: label }) }).first();
const raw = async (page, label) => kpi(page, label).locator('dd [data-raw]').first().getAttribute('data-raw');

const tests = {
  async smoke() {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } }); // as a visitor: files are cached
    context.setDefaultTimeout(PATIENCE_MS);
    const left = [...pages];
    const visit = async () => {
      for (let path = left.shift(); path; path = left.shift()) {
        const { page, bad, response } = await open(path, {}, context);
        const policy = response.headers()['content-security-policy'];
        assert.match(policy, /require-trusted-types-for 'script'/);
        assert.doesNotMatch(policy, /unsafe|\*/);
        await settled(page);
        assert.ok(await page.getByText('Simulated data', { exact: true }).isVisible(), 'simulated data says so');
        assert.deepEqual(bad, [], path);
        await page.close();
      }
    };
    await Promise.all([visit(), visit()]);
    const { page, bad } = await open('/pools/NO_SUCH_POOL', {}, context);
    await page.getByText('there is no such pool', { exact: false }).waitFor();
    assert.ok(bad.every((text) => /404/.test(text)), bad.join('\n'));
    await context.close();
    console.log(`ok smoke: ${pages.length} pages`);
  },

  // Scripts that load before the first figures are seen: at most 150 KiB, as gzip has them. First view within a second.
  async budget() {
    const { context, page } = await open('/healthz');
    const asked = [];
    page.on('response', (r) => { if (r.url().startsWith(`${url}/app/`)) asked.push(r); });
    const begun = Date.now();
    await page.goto(`${url}/`);
    await page.locator('.kpi [data-raw]').first().waitFor();
    const first = Date.now() - begun;
    let bytes = 0;
    for (const r of asked) if (/\.js$/.test(r.url())) bytes += gzipSync(await r.body(), { level: 9 }).length;
    assert.ok(bytes > 1000 && bytes <= 150 * 1024, `${bytes} bytes of script`);
    for (const r of asked.filter((x) => /-[\w-]{8}\.(js|css)$/.test(x.url()))) assert.match(r.headers()['cache-control'], /immutable/);
    assert.match(await (await fetch(`${url}/app/licenses.txt`)).text(), /lightweight-charts[^]*preact[^]*uplot/);
    const tools = await context.newCDPSession(page); // a phone can install it
    const { errors, url: manifest } = await tools.send('Page.getAppManifest');
    assert.deepEqual([manifest, errors], [`${url}/app/manifest.webmanifest`, []]);
    assert.deepEqual((await tools.send('Page.getInstallabilityErrors')).installabilityErrors.map((one) => one.errorId).filter((id) => id !== 'in-incognito'), []);
    if (process.env.TIDE_FIRST_VIEW_MS) assert.ok(first <= Number(process.env.TIDE_FIRST_VIEW_MS), `first view after ${first} ms`);
    await context.close();
    console.log(`ok budget: ${bytes} bytes of script, first view after ${first} ms`);
  },

  async keyboard() {
    const { context, page, bad } = await open('/');
    await settled(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    await page.keyboard.press('/');
    const box = page.getByRole('combobox', { name: /^Search/ });
    await box.waitFor();
    await box.pressSequentially(some.pool.slice(0, 6));
    await page.locator('#hits').getByRole('option', { name: new RegExp(some.pool) }).waitFor();
    while (!(await page.locator('[aria-selected="true"]').textContent()).startsWith(some.pool)) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/pools/${some.pool}`);
    await settled(page);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main'); // the next Tab is in the new page
    const chart = page.locator('.canvas').first();
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    const readout = page.locator('.readout').first(), says = () => readout.locator('p').textContent();
    assert.match(await says(), /^\d{4}-\d\d-\d\d .* open .*high .*low .*close .*volume/);
    assert.equal(await readout.locator('p').getAttribute('aria-live'), 'polite');
    // The same by the mouse, in the same place; a click keeps it, and Enter goes there. The span is in the URL.
    const height = await readout.evaluate((node) => node.offsetHeight), box0 = await chart.boundingBox();
    await page.getByRole('group', { name: 'Span' }).first().getByRole('button', { name: 'All' }).click();
    await page.waitForURL(/[?&]span=all/);
    await settled(page);
    const newest = await says();
    await page.mouse.move(box0.x + 8, box0.y + 80);
    for (let x = 8; (await says()) === newest; x += 6) { assert.ok(x < box0.width, 'a point is read under the mouse'); await page.mouse.move(box0.x + x, box0.y + 80); }
    const pointed = await says();
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.move(5, 5);
    assert.equal(await says(), pointed, 'a click keeps the point');
    assert.equal(await readout.evaluate((node) => node.offsetHeight), height, 'the place stays');
    await chart.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.waitForURL(/[?&]ledger=\d+/);
    const gone = new URL(page.url()).searchParams.get('ledger'), day = pointed.slice(0, 10);
    assert.equal(sql(`SELECT max(s.ledger) = ${gone} FROM event.liquidity_pool_swap AS s WHERE pool_id = '${some.pool}' AND (closed_at AT TIME ZONE 'UTC')::date = '${day}'`), 't', `${pointed} is as of ledger ${gone}`);
    await page.goBack();
    await settled(page);
    const table = page.getByRole('button', { name: /^Show .* as a table/ }).first();
    await table.focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('figure table tbody tr').count() > 0);
    for (const [text, to] of [[some.address, `/address/${some.address}`], [some.tx, `/tx/${some.tx}`], [some.ledger, `/ledger/${some.ledger}`]]) {
      await page.keyboard.press('Control+k');
      await box.fill(text);
      await page.keyboard.press('Enter');
      await page.waitForURL(url + to);
    }
    // Small letters, first letters, tokens and titles; Escape closes at once.
    const title = sql("SELECT title FROM analyst.proposals WHERE title ~ '^[A-Za-z][A-Za-z ]{5,}$' ORDER BY proposal_id LIMIT 1");
    for (const [text, found] of [[some.pool.toLowerCase(), `${some.pool} pool`], ['sp', 'Stability pool page'], ['usdc', 'USDC token'], [some.address.toLowerCase(), `${some.address} address`], ...(title ? [[title.toLowerCase().slice(0, -1), title]] : [])]) {
      await page.keyboard.press('Control+k');
      await box.fill(text);
      await until(page, `${text} finds ${found}`, (want) => [...document.querySelectorAll('#hits li')].some((hit) => hit.textContent.startsWith(want)), found);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('dialog[open]').count(), 0, 'Escape closes');
    }
    await page.goBack();
    await page.waitForURL(`${url}/tx/${some.tx}`);
    await settled(page);
    assert.deepEqual(bad, []);
    await context.close();
    console.log('ok keyboard');
  },

  // Each kind of the catalogue has words; a list has a line for each transaction, and its events on demand; filters and what is open are in the URL; all digits are copied.
  async words() {
    const { components: { schemas } } = await answer('/openapi.json');
    const kinds = schemas.EventKind.enum, some56 = (letter) => letter + 'A'.repeat(55);
    const sampleOf = (schema, name) => {
      const { $ref } = schema.anyOf?.[0] ?? schema, one = $ref ? { ...schemas[$ref.split('/').pop()], name: $ref.split('/').pop() } : schema;
      if (one.name === 'Address') return some56('G');
      if (name.endsWith('Scaled')) return '1234.5000000';
      return one.type?.includes?.('boolean') ? true : one.type?.includes?.('integer') ? 2 : one.type?.includes?.('array') ? ['Wasm', 'x'] : '7';
    };
    const named = (kind) => kind.split('_').map((part) => part[0].toUpperCase() + part.slice(1)).join('') + 'Event';
    const items = kinds.map((kind, i) => {
      const fields = schemas[named(kind)].properties.fields, all = (fields.$ref ? schemas[fields.$ref.split('/').pop()] : fields.anyOf?.[0] ?? fields.oneOf?.[0] ?? fields);
      const properties = (all.$ref ? schemas[all.$ref.split('/').pop()] : all).properties;
      return { id: String(i), ledger: '9', closedAt: '2026-01-01T00:00:00Z', txHash: String(i).padStart(64, '0'), tx: i + 1, op: 0, event: 0, kind, contract: some56('C'), subject: 'X', addresses: [],
        fields: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema, name)])) };
    });
    items.push({ ...items[0], id: 'new', tx: 0, txHash: 'f'.repeat(64), kind: 'liquidity_pool_of_tomorrow', fields: { size: '3' } });
    const { context, page, bad } = await open('/healthz');
    await page.route('**/api/events?*', (route) => route.fulfill({ json: { ledger: '9', closedAt: '2026-01-01T00:00:05Z', items, next: null } }));
    await page.goto(`${url}/ledger/${some.ledger}`);
    await settled(page);
    const lines = await page.getByRole('region', { name: 'Activity of ledger' }).locator('tbody .says').allTextContents();
    assert.equal(lines.length, items.length);
    assert.match(lines.pop(), /^liquidity pool · of tomorrow/, 'a kind without words says what it has');
    lines.forEach((line, i) => assert.doesNotMatch(line, /·|[{}]|undefined|unknown one|NaN/, `${kinds[i]}: ${line}`));
    await page.unroute('**/api/events?*');

    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${url}/?action=liquidity_pool_swap&pool=${some.pool}`);
    await settled(page);
    const rows = page.getByRole('region', { name: 'Recent activity' }).locator('tbody > tr:not(.detail)');
    for (const text of await rows.locator('.says').allTextContents()) assert.match(text, /^[GC]\w{3}…\w{4} swapped [\d,]+\.\d+ (XLM|USDC) for [\d,]+\.\d+ (XLM|USDC) in XLMUSDC/);
    const events = sql(`SELECT count(*) FROM event.log WHERE (ledger, tx) = (SELECT ledger, tx FROM event.liquidity_pool_swap WHERE pool_id = '${some.pool}' ORDER BY ledger DESC, tx DESC, op DESC LIMIT 1)`);
    await rows.first().getByRole('button', { name: 'Events of transaction' }).click();
    await until(page, 'its events', (n) => document.querySelectorAll('tr.detail tbody tr').length === n, Number(events));
    assert.match(page.url(), /[?&]open=[0-9a-f]{64}$/);
    await page.reload();
    await until(page, 'its events again', (n) => document.querySelectorAll('tr.detail tbody tr').length === n, Number(events));
    await page.getByRole('combobox', { name: 'Action' }).selectOption('');
    await page.getByRole('combobox', { name: 'Where' }).selectOption(`market ${some.market}`);
    await until(page, 'the market alone', (market) => [...document.querySelectorAll('section:last-of-type tbody .says')].every((says) => says.textContent.includes(market)), some.market);
    assert.match(page.url(), new RegExp(`\\?market=${some.market}$`));

    const amount = rows.first().locator('.says b').first(), digits = await amount.getAttribute('title');
    await page.getByRole('region', { name: 'Recent activity' }).focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.evaluate(() => document.activeElement.closest('td')), 'Enter leads into the table');
    await amount.click();
    await page.locator('.peek').getByText(digits, { exact: true }).waitFor();
    await page.locator('.peek').getByRole('button', { name: 'Copy it' }).click();
    await page.locator('.peek').getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), digits);
    await page.evaluate(() => { window.board = navigator.clipboard; Object.defineProperty(navigator, 'clipboard', { value: undefined }); }); // as over HTTP
    await page.locator('.kpi [data-copy]').first().focus();
    await page.keyboard.press('Control+c');
    assert.equal(await page.evaluate(() => window.board.readText()), await page.locator('.kpi [data-copy]').first().getAttribute('data-copy'));
    await context.close();
    assert.deepEqual(bad, []);
    console.log(`ok words: ${kinds.length} kinds`);
  },

  // On a phone with a slow line nothing moves while a page arrives; its header is one row, the first column stays; Back leads to where the reader was; a page
  // whose code did not arrive tries again; a tap shows all digits.
  async phone() {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' });
    const moved = async (path) => {
      const { page, bad } = await open('/healthz', {}, context);
      const line = await context.newCDPSession(page);
      await line.send('Network.enable');
      await line.send('Network.emulateNetworkConditions', { offline: false, latency: 100, downloadThroughput: 200000, uploadThroughput: 200000 });
      await page.addInitScript(() => { window.moved = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) window.moved += one.value; }).observe({ type: 'layout-shift', buffered: true }); });
      for (let tries = 0; tries < 5; tries++) { // a busy machine may take longer than a page waits
        await page.goto(url + path);
        await settled(page);
        await until(page, 'it has not arrived', () => 'arrived' in document.querySelector('main').dataset);
        if (await page.evaluate(() => document.querySelector('main').dataset.arrived) === 'whole') break;
      }
      const [shift, header] = await page.evaluate(() => [window.moved, document.querySelector('header').offsetHeight]);
      assert.ok(shift <= 0.05, `${path}: moved by ${shift}`);
      assert.ok(header < 56, `${path}: a header of ${header} px`);
      assert.deepEqual(bad, [], path);
      return page;
    };
    const [page, ...others] = await Promise.all(['/', `/markets/${some.market}`, '/vaults', `/address/${some.address}`].map(moved));
    await Promise.all(others.map((one) => one.close()));
    const amount = page.locator('.kpi [data-copy]').first();
    await amount.tap();
    await page.locator('.peek').getByText(await amount.getAttribute('title'), { exact: true }).waitFor();
    await page.evaluate(() => scrollTo(0, 900));
    await page.getByRole('link', { name: 'All markets' }).evaluate((link) => link.click());
    await page.waitForURL(`${url}/markets`);
    assert.equal(await page.evaluate(() => scrollY), 0);
    await page.goBack();
    await until(page, 'back to where it was', () => Math.abs(scrollY - 900) < 2);
    const cell = page.locator('main table tbody td').first(), left = async () => Math.round((await cell.boundingBox()).x);
    const before = await left();
    await cell.evaluate((node) => { node.closest('.scroll').scrollLeft = 60; });
    assert.equal(await left(), before, 'the first column stays');
    let lost = 0;
    await page.route(/\/app\/partners-/, (route) => (lost++ ? route.continue() : route.abort()));
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Partners' }).click();
    await page.getByText('This page could not be loaded. Trying again.').waitFor();
    await page.locator('main table').first().waitFor();
    await context.close();
    console.log('ok phone');
  },

  // Every figure that a page shows is the raw value that SQL gives, and every text its beginning: now, and as of a past ledger.
  // A page shows no number that is neither; charts are tables here. PRICES=stale: the chain's prices are all stale by now. With TIDE_LONG all pages, else a few.
  async figures() {
    const { context, page, bad } = await open('/healthz');
    const faults = [];
    let count = 0;
    for (const ledger of [null, some.ledger]) {
      const all = wanted(ledger, some);
      assert.deepEqual(pages.filter((path) => !all[path]), [], 'pages without SQL');
      assert.ok(rowsOf([all['/vaults'].tables.Liquidations])[0].some((row) => row.discountBps !== ''), 'the chain has a liquidation');
      const paths = process.env.TIDE_LONG ? pages : ['/', `/markets/${some.market}`, `/pools/${some.pool}`, '/vaults', `/vaults/${some.vault}/${some.address}`, `/address/${some.address}`];
      for (const path of paths) {
        await page.goto(`${url}${path}${ledger ? `${path.includes('?') ? '&' : '?'}ledger=${ledger}` : ''}`);
        await settled(page);
        await until(page, 'charts are no tables', () => {
          document.querySelectorAll('figure button[aria-label^="Show "][aria-pressed="false"]').forEach((button) => button.click());
          return !document.querySelector('main .canvas, [aria-busy="true"]');
        });
        const { heads, tables, loose, wrong } = await page.evaluate(shown);
        const where = `${path}${ledger ? ` as of ledger ${ledger}` : ''}`;
        faults.push(...loose.map((text) => `${where}: a number that is no figure: ${text}`), ...wrong.map((text) => `${where}: ${text}`));
        const queries = all[path].tables ?? {};
        const [[row = {}], ...rows] = rowsOf([all[path].heads ?? 'SELECT', ...Object.values(queries)]);
        faults.push(...differences(heads, row, where));
        if (process.env.PRICES === 'stale' && ledger === null) {
          if (['/', `/markets/${some.market}`].includes(path) && !(await page.locator('.pill', { hasText: 'stale' }).count())) faults.push(`${where}: no price is marked as stale`);
          for (const one of ['deviationBps', 'collateralBps', 'debtValue']) if (heads[one]) faults.push(`${where}: ${one} is of a stale price`);
        }
        for (const caption of Object.keys(tables)) if (!(caption in queries)) faults.push(`${where}: no SQL for the table ${caption}`);
        Object.keys(queries).forEach((caption, i) => faults.push(...differences(tables[caption] ?? [], rows[i], `${where}: ${caption}`)));
        count += Object.keys(heads).length + Object.values(tables).flat().reduce((n, figures) => n + Object.keys(figures).length, 0);
      }
    }
    assert.deepEqual([...faults, ...bad], []);
    await context.close();
    console.log(`ok figures: ${count}, now and as of ledger ${some.ledger}`);
  },

  // A pasted list of addresses: each one's answer, why and what helps, at one ledger.
  async list() {
    const { context, page, bad } = await open('/compliance');
    await settled(page);
    const verified = sql("SELECT address FROM state.compliance_registry_compliance_rec AS r WHERE status = 2 AND expires_at = 0 AND address NOT IN (SELECT address FROM state.compliance_registry_frozen) AND jurisdiction NOT IN (SELECT code FROM state.compliance_registry_blocked_jurisdiction) ORDER BY 1 LIMIT 1") || some.address;
    const stranger = `G${'A'.repeat(52)}WHF`, asked = [verified, stranger, 'nonsense'];
    await page.getByLabel('Addresses').fill(`${asked.join(', ')}\n${stranger}`);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    const rows = page.getByRole('table', { name: 'Checked addresses' }).locator('tbody tr');
    await rows.nth(asked.length - 1).waitFor();
    assert.equal(await rows.count(), asked.length, 'each once');
    const said = await rows.allInnerTexts();
    for (const [i, words] of [/\byes\b.*verified/i, /\bno\b.*The registry has no record of this address.*An identity check brings one/s, /nonsense.*no address/s].entries()) assert.match(said[i], words);
    await page.goto(`${url}/address/${stranger}`);
    await page.getByText('The registry has no record of this address.', { exact: false }).waitFor();
    await page.goto(`${url}/address/${some.address}`); // one's own address goes along and is marked
    await page.getByRole('button', { name: 'Is this me?' }).click();
    await page.getByRole('link', { name: 'Vaults', exact: true }).click();
    await page.waitForURL(`${url}/vaults?me=${some.address}`);
    await page.locator('td .mine', { hasText: '(you)' }).first().waitFor();
    // A file has all rows of the question, ratios as percent.
    const vaults = Number(sql('SELECT count(*) FROM state.synthetic_engine_vault'));
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV: Vaults' }).click()]);
    const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n').map((line) => line.split(','));
    assert.ok(vaults > 50 && lines.length === vaults + 1, `${lines.length} lines of ${vaults} vaults`);
    assert.equal(lines[0].indexOf('Liquidated below (%)') > 0 && lines[1][lines[0].indexOf('Liquidated below (%)')], sql("SELECT (liq_ratio / 100)::numeric(9,2) FROM state.synthetic_engine_asset_config ORDER BY symbol COLLATE \"C\" OFFSET 0 LIMIT 1"));
    await page.getByRole('link', { name: 'My positions' }).click();
    await page.getByRole('button', { name: 'This is me' }).waitFor();
    assert.deepEqual(bad, []);
    await context.close();
    console.log('ok list');
  },

  // ?ledger=N sets every question of the page; its figures are those of the past; the page says so; the URL restores it.
  async travel() {
    const { context, page, bad } = await open(`/pools/${some.pool}?ledger=${some.ledger}`);
    const asked = [];
    page.on('request', (r) => { if (/\/api\/(pools|stats|markets)/.test(r.url())) asked.push(r.url()); });
    await settled(page);
    await page.getByText('The past: as of the close of ledger').waitFor();
    const past = sql(`SELECT reserve_a FROM history.liquidity_pool_pool WHERE pool_id = '${some.pool}' AND ledger <= ${some.ledger} ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1`);
    assert.notEqual(past, sql(`SELECT reserve_a FROM state.liquidity_pool_pool WHERE pool_id = '${some.pool}'`));
    assert.equal(await raw(page, 'Reserve of XLM'), past);
    await page.getByRole('link', { name: 'Pools', exact: true }).click();
    await page.waitForURL(`${url}/pools?ledger=${some.ledger}`);
    await settled(page);
    assert.ok(asked.length > 0 && asked.every((text) => text.includes(`ledger=${some.ledger}`)), asked.join('\n'));
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.waitForURL(`${url}/pools`);
    await settled(page);
    const when = sql(`SELECT to_char(closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') FROM chain.ledger WHERE ledger = ${some.ledger}`);
    await page.getByRole('button', { name: 'Date', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'As of a date' });
    await dialog.getByText(/^The index has ledgers \d+ to \d+: \d{4}-/).waitFor();
    await dialog.getByLabel(/Everything as of/).fill(when);
    await dialog.getByRole('button', { name: 'Show' }).click();
    const then = sql(`SELECT max(ledger) FROM chain.ledger WHERE closed_at < timestamptz '${when}Z' + interval '1 s'`);
    await page.waitForURL(`${url}/pools?ledger=${then}`);
    await page.getByLabel('As of ledger').fill(some.ledger);
    await page.keyboard.press('Enter');
    await page.getByText('The past: as of the close of ledger').waitFor();
    assert.deepEqual(bad, []);
    await context.close();
    console.log(`ok travel: ledger ${some.ledger}`);
  },

  // Names from the chain are texts: in the page, in titles, in a file for a spreadsheet.
  async hostile() {
    const wicked = sql("SELECT count(*) FROM analyst.partners WHERE name LIKE '%<script%'");
    const { context, page, bad } = await open('/partners');
    await settled(page);
    if (wicked !== '0') assert.ok(await page.getByText('<script>', { exact: false }).count() > 0);
    assert.equal(await page.locator('main script, main iframe, main img').count(), 0);
    await page.goto(`${url}/governance`);
    await settled(page);
    const titles = await answer('/api/dao/proposals?limit=20');
    assert.ok(titles.items.some((p) => /<script>|DROP TABLE|"/.test(p.title ?? '')), 'the chain has hostile titles');
    assert.equal(await page.locator('main script, main iframe, main img').count(), 0);
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV: Proposals' }).click()]);
    const text = readFileSync(await file.path(), 'utf8');
    assert.ok(text.startsWith('Number,Title,Action,State,'));
    for (const cell of text.split(/\r\n|,/)) assert.doesNotMatch(cell, /^"?[=+@]/, cell);
    assert.deepEqual(bad, []);
    await context.close();
    console.log('ok hostile');
  },

  // Pages about what attackers put on the chain. What the server refuses is shown as a refusal; nothing else may go wrong.
  async chain() {
    const values = (text) => sql(`SELECT v FROM (${text}) AS x(v) WHERE v IS NOT NULL GROUP BY 1 ORDER BY md5(v::text) LIMIT 6`).split('\n').filter(Boolean);
    const about = {
      markets: values('SELECT synth_asset FROM state.synthetic_engine_vault UNION SELECT symbol FROM state.synthetic_engine_asset_config'),
      pools: values('SELECT pool_id FROM state.liquidity_pool_pool'),
      partners: values('SELECT key_id::text FROM state.partner_registry_partner'),
      address: values('SELECT owner FROM state.synthetic_engine_vault UNION SELECT address FROM state.compliance_registry_compliance_rec UNION SELECT trader FROM event.liquidity_pool_swap'),
      tx: values("SELECT encode(hash, 'hex') FROM chain.tx"),
      ledger: values('SELECT ledger::text FROM chain.ledger'),
    };
    const paths = ['/', '/markets', '/pools', '/vaults', '/stability-pool', '/oracle', '/governance', '/partners', '/earnings', '/compliance', '/docs',
      ...Object.entries(about).flatMap(([place, list]) => list.map((one) => `/${place}/${encodeURIComponent(one)}`))];
    const past = values('SELECT ledger::text FROM chain.ledger').slice(0, 1);
    const left = [...paths, ...paths.slice(0, 10).map((path) => `${path}?ledger=${past[0]}`)];
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(PATIENCE_MS);
    let refused = 0, seen = 0;
    const visit = async () => {
      for (let path = left.shift(); path; path = left.shift()) {
        const { page, bad } = await open(path, {}, context);
        if (path === '/docs') await page.locator('h1').first().waitFor();
        else await settled(page);
        const answers = bad.filter((text) => /^(400|404|503) http/.test(text));
        assert.deepEqual(bad.filter((text) => !answers.includes(text)), [], path);
        assert.equal(await page.locator('main script, main iframe, main img, main [onclick], main a[href^="javascript:" i]').count(), 0, path);
        refused += answers.length;
        seen++;
        await page.close();
      }
    };
    await Promise.all([visit(), visit()]);
    assert.ok(seen > 40, `only ${seen} pages: this chain shows little`);
    await context.close();
    console.log(`ok chain: ${seen} pages, ${refused} answers refused`);
  },

  // The indexer stops: the badge turns red, the page says that it is not the present.
  async stale() {
    const { context, page } = await open('/');
    await settled(page);
    assert.equal(await page.locator('.badge').getAttribute('data-stale'), 'false');
    assert.equal(await page.locator('main.stale').count(), 0);
    process.kill(Number(process.env.INDEXER), 'SIGKILL');
    await page.locator('.badge[data-stale="true"]').waitFor({ timeout: 60000 });
    await page.getByText('Not current.').waitFor();
    assert.equal(await page.locator('main.stale').count(), 1);
    await page.screenshot({ path: `${folder}/dashboard-stale.png` });
    await context.close();
    console.log('ok stale');
  },

  // A swap on the network arrives on an open page without reloading it.
  async live() {
    const { context, page, bad } = await open(`/pools/${some.pool}`);
    await settled(page);
    await page.evaluate(() => { window.same = true; });
    const before = await raw(page, 'Reserve of XLM');
    execFileSync('sh', ['-c', process.env.SIM], { stdio: 'pipe' });
    await until(page, 'the swap did not arrive', (old) => [...document.querySelectorAll('.kpi')].some((k) => k.textContent.startsWith('Reserve of XLM') && k.querySelector('[data-raw]').dataset.raw !== old), before);
    assert.ok(await page.evaluate(() => window.same));
    assert.equal(await page.locator('.badge').getAttribute('data-stale'), 'false');
    assert.deepEqual(bad, []);
    await context.close();
    console.log('ok live');
  },

  // More markets than the API has in a page, and than a page of the dashboard reads at once.
  async many() {
    const markets = sql('SELECT symbol FROM state.synthetic_engine_asset_config ORDER BY symbol COLLATE "C"').split('\n'), last = markets.at(-1);
    assert.ok(markets.length > 1100, 'many markets');
    const { context, page, bad } = await open('/markets');
    const rows = () => page.locator('main tbody tr').evaluateAll((list) => list.map((row) => row.querySelector('td').textContent.trim().split(' ')[0]));
    const more = page.getByRole('button', { name: 'Show more' });
    let loaded = 0;
    await settled(page);
    await page.locator('main tbody tr').nth(1).waitFor();
    for (;;) {
      const list = await rows();
      assert.ok(list.length > loaded && list.length <= loaded + 100, `${list.length} rows after ${loaded}`);
      loaded = list.length;
      if (!await more.count()) break;
      await more.click();
      await until(page, 'no more markets came', (n) => document.querySelectorAll('main tbody tr').length > n, loaded);
    }
    assert.deepEqual(await rows(), markets);
    await page.goto(`${url}/vaults?market=${last}`);
    await settled(page);
    await page.getByText('The first 1000 markets by name', { exact: false }).waitFor();
    assert.equal(await page.locator('main select').first().inputValue(), last);
    await page.goto(`${url}/markets/${last}`);
    await settled(page);
    assert.deepEqual(bad, []);
    await context.close();
    console.log(`ok many: ${markets.length} markets`);
  },

  // All pages, three widths, both schemes: nothing wider than the window, no finding of axe.
  async looks() {
    for (const colorScheme of ['light', 'dark']) {
      for (const width of [360, 1280, 2560]) {
        for (const path of pages) {
          const { context, page, bad } = await open(path, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
          await settled(page);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${path}: ${wide} px wide, ${width} are seen`);
          await page.screenshot({ path: `${folder}/dashboard-${name(path)}-${width}-${colorScheme}.png`, fullPage: path === '/' });
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => window.axe.run(document));
          assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' ')}`), [], `${path} ${width} ${colorScheme}`);
          assert.deepEqual(bad, [], path);
          await context.close();
        }
        console.log(`ok looks: ${pages.length} pages, ${width} px, ${colorScheme}`);
      }
    }
  },

  // An idle tab: the CPU time of its process, and of all processes of the browser, as the kernel counts it. (Performance.getMetrics
  // counts the time that tasks take, in which other programs run too.)
  async idle() {
    const { context, page } = await open('/');
    await settled(page);
    const seconds = Number(process.env.TIDE_IDLE_S ?? 60);
    await page.waitForTimeout(5000); // the browser's own work after a page has been loaded
    const before = cpuSeconds(), ledger = await page.locator('.badge').textContent();
    await page.waitForTimeout(seconds * 1000);
    const used = [...cpuSeconds()].map(([pid, one]) => ({ kind: one.kind, seconds: one.seconds - (before.get(pid)?.seconds ?? 0) }));
    assert.notEqual(await page.locator('.badge').textContent(), ledger, 'ledgers arrived meanwhile');
    const share = (list) => (100 * list.reduce((all, one) => all + one, 0)) / seconds;
    const tab = share([Math.max(...used.filter((one) => one.kind === 'renderer').map((one) => one.seconds))]);
    const all = share(used.map((one) => one.seconds));
    const most = Number(process.env.TIDE_IDLE_MAX ?? 1);
    assert.ok(tab <= most, `an idle tab takes ${tab.toFixed(2)} % of a core`);
    assert.ok(all <= 2 * most, `the browser with an idle tab takes ${all.toFixed(2)} % of a core`);
    await context.close();
    console.log(`ok idle: ${tab.toFixed(2)} % of a core over ${seconds} s, with the browser's other processes ${all.toFixed(2)} %`);
  },
};

for (const group of cases) {
  const begun = Date.now();
  await Promise.all(group.split('+').map((one) => tests[one]()));
  console.log(`${group}: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
}
await browser.close();
