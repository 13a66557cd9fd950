// The recipes of the first page: a question, the answer of this server, and the sample that asks it.
import { cut, exact } from '../lib/amount';
import { byId, element } from './element';
import { LANGUAGES, sampleOf, type Document, type Given } from './samples';

type Answer = Record<string, any>;
/** Asks again, and draws the sample anew. */
type Recipe = () => void;

const QUICK_MS = 10000; // how old an answer about compliance may be
const KEPT = 6; // messages of the stream on the page

let openapi: Document;
let recipes: Recipe[] = [];
let stream: EventSource | null = null;

async function ask(path: string): Promise<{ body: Answer; ledger: string }> {
  const answer = await fetch(path, { credentials: 'omit' });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${body.code}: ${body.detail}`);
  return { body, ledger: answer.headers.get('Ledger-Sequence') ?? '' };
}

const fact = (name: string, value: string, kind = '') => element('div', kind ? { class: kind } : {}, element('dt', {}, name), element('dd', {}, value));
const short = (address: string) => `${address.slice(0, 6)}…${address.slice(-6)}`;
const ofLedger = (ledger: string) => element('p', { class: 'of-ledger' }, `at ledger ${Number(ledger).toLocaleString('en')}`);
const fail = (out: HTMLElement) => (fault: Error) => out.replaceChildren(element('p', { class: 'error' }, `No answer: ${fault.message}. That is not a yes.`));

/** The sample of the question as it stands, in the language that is chosen. */
function samplesOf(title: string, path: string, given: () => Given): { node: HTMLElement; draw: () => void } {
  let language: (typeof LANGUAGES)[number] = 'curl';
  const text = element('pre', { tabindex: '0' });
  const buttons = LANGUAGES.map((name) => {
    const button = element('button', { type: 'button', class: 'sample-language' }, name);
    button.addEventListener('click', () => { language = name; draw(); });
    return button;
  });
  const draw = () => {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(LANGUAGES[i] === language)));
    text.setAttribute('aria-label', `${title}: ${language} sample`);
    text.textContent = openapi.paths[path]?.get ? sampleOf(openapi, path, 'get', language, window.location.origin, given()) : '';
  };
  return { node: element('div', { class: 'samples' }, element('div', { class: 'sample-languages', role: 'group', 'aria-label': `${title}: language` }, ...buttons), text), draw };
}

type Parts = { title: string; why: string; path: string; given: () => Given; controls: HTMLElement[]; out: HTMLElement; run: () => void };

function makeRecipe({ title, why, path, given, controls, out, run }: Parts): Recipe {
  const samples = samplesOf(title, path, given);
  const section = element('section', { class: 'recipe', 'aria-label': title }, element('h3', {}, title), element('p', {}, why), element('div', { class: 'controls' }, ...controls),
    out, samples.node);
  byId('recipes').append(section);
  const again = () => { samples.draw(); run(); };
  controls.forEach((control) => control.addEventListener(control.tagName === 'BUTTON' ? 'click' : 'change', again));
  return again;
}

/** An answer's place: a screen reader hears that it changed. */
const outOf = () => element('div', { class: 'out', 'aria-live': 'polite' });

// --- may this address trade? ----------------------------------------------------------------------

async function showCompliance(address: string, out: HTMLElement) {
  const { body, ledger } = await ask(`/api/sdk/kyc/status/${encodeURIComponent(address)}?maxAgeMs=${QUICK_MS}`);
  const yes = body.compliant === true;
  out.replaceChildren(
    element('p', { class: yes ? 'verdict yes' : 'verdict no' }, yes ? 'Yes, it may trade' : `No: ${body.reasonCode ?? body.status}`),
    element('dl', { class: 'facts' }, fact('compliant', String(body.compliant)), fact('status', String(body.status)), fact('validUntil', String(body.validUntil ?? '–'))),
    ofLedger(ledger));
}

function complianceRecipe(example: string): Recipe {
  const input = element('input', { type: 'text', id: 'recipe-address', spellcheck: 'false', autocomplete: 'off', maxlength: '56' }) as HTMLInputElement;
  input.value = example;
  const button = element('button', { type: 'button' }, 'Ask');
  const out = outOf();
  return makeRecipe({
    title: 'May this address trade?', why: 'Only “compliant: true” of a fresh answer is a yes. An error is a no.', path: '/api/sdk/kyc/status/{address}',
    given: () => ({ address: input.value.trim(), maxAgeMs: QUICK_MS }), controls: [element('label', { for: 'recipe-address' }, 'Address'), input, button], out,
    run: () => { showCompliance(input.value.trim(), out).catch(fail(out)); },
  });
}

// --- watch a price --------------------------------------------------------------------------------

function showPrice(list: HTMLElement, price: Answer) {
  const at = String(price.latestAt ?? price.closedAt ?? '').slice(11, 19);
  list.prepend(element('li', {}, element('b', {}, exact(String(price.latestPriceScaled ?? '–'), 2)), element('span', {}, `ledger ${Number(price.changedLedger ?? price.ledger ?? 0).toLocaleString('en')}`),
    element('span', {}, at)));
  while (list.children.length > KEPT) list.lastElementChild!.remove();
}

/** The stream begins with the present price, so that the page shows one at once. A hidden page leaves the browser's few connections to others. */
function watch(asset: string, out: HTMLElement) {
  stream?.close();
  document.onvisibilitychange = () => { if (document.hidden) stream?.close(); else watch(asset, out); };
  if (document.hidden) return;
  const list = element('ol', { class: 'prices', 'aria-label': `Prices of ${asset}` }), state = element('p', { class: 'of-ledger' }, 'connecting …');
  out.replaceChildren(list, state);
  stream = new EventSource(`/api/stream?topics=price&assets=${encodeURIComponent(asset)}`);
  stream.addEventListener('open', () => { state.textContent = 'live: the newest first'; });
  stream.addEventListener('price', (message) => showPrice(list, JSON.parse((message as MessageEvent).data)));
  stream.addEventListener('stale', () => { state.textContent = 'stale: these prices are true as of their ledger only'; });
  stream.addEventListener('fresh', () => { state.textContent = 'live: the newest first'; });
  stream.addEventListener('error', () => { state.textContent = 'the connection was lost: the browser resumes it behind the last message'; });
}

function priceRecipe(assets: string[]): Recipe {
  const select = element('select', { id: 'recipe-asset' }, ...assets.map((asset) => element('option', {}, asset))) as HTMLSelectElement;
  if (assets.includes('GOLD')) select.value = 'GOLD';
  const out = outOf();
  out.setAttribute('aria-live', 'off'); // a price each minute would interrupt a reader
  return makeRecipe({
    title: 'Watch a price', why: 'The stream first sends the present price, then each new one, in the order of the ledgers.', path: '/api/stream',
    given: () => ({ topics: 'price', assets: select.value }), controls: [element('label', { for: 'recipe-asset' }, 'Feed'), select], out,
    run: () => watch(select.value, out),
  });
}

// --- a vault near liquidation ---------------------------------------------------------------------

function percent(bps: unknown): string {
  return /^-?\d+$/.test(String(bps)) ? `${(Number(bps) / 100).toFixed(2)} %` : '–';
}

function vaultFacts(vault: Answer): HTMLElement {
  const meter = element('meter', { min: '0', max: '10000', low: '500', optimum: '10000', value: String(vault.distanceBps ?? 0), 'aria-label': 'Distance to liquidation' });
  return element('div', {},
    element('p', { class: 'verdict' }, `${vault.market}: ${percent(vault.distanceBps)} above liquidation`), meter,
    element('dl', { class: 'facts' },
      fact('owner', short(String(vault.owner))), fact('state', String(vault.state)), fact('ratio', `${percent(vault.ratioBps)} (liquidated below ${percent(vault.liqRatioBps)})`),
      fact(`${vault.collateralOracleAsset ?? 'collateral'} now`, cut(String(vault.collateralPriceScaled ?? '–'), 4)), fact('liquidated below', cut(String(vault.liquidationPriceScaled ?? '–'), 4)),
      fact('debt', `${cut(String(vault.debtScaled ?? '–'))} ${vault.synthTokenSymbol ?? ''}`)));
}

/** Why the riskiest vault of a market has no distance to its liquidation. */
function withoutRatio(vault: Answer | undefined): HTMLElement {
  const why = !vault ? 'This market has no vault.'
    : vault.state === 'open' ? 'No vault of this market has debt, so none can be liquidated.'
    : `No price tells the ratio of its vaults: ${vault.unpricedBecause ?? vault.state}.`;
  return element('p', {}, why);
}

async function showVault(market: string, out: HTMLElement) {
  const { body, ledger } = await ask(`/api/vaults?market=${encodeURIComponent(market)}&sort=risk&limit=1`);
  const [vault] = body.items;
  out.replaceChildren(vault && vault.distanceBps !== null ? vaultFacts(vault) : withoutRatio(vault), ofLedger(ledger));
}

function vaultRecipe(markets: Answer[]): Recipe {
  const select = element('select', { id: 'recipe-market' }, ...markets.map((one) => element('option', {}, String(one.market)))) as HTMLSelectElement;
  const indebted = markets.find((one) => Number(one.indebtedVaultCount) > 0);
  if (indebted) select.value = String(indebted.market);
  const out = outOf();
  return makeRecipe({
    title: 'A vault near liquidation', why: 'The riskiest vault of a market, the price that liquidates it, and the feed to watch.', path: '/api/vaults',
    given: () => ({ market: select.value, sort: 'risk', limit: 1 }), controls: [element('label', { for: 'recipe-market' }, 'Market'), select], out,
    run: () => { showVault(select.value, out).catch(fail(out)); },
  });
}

// --- all three ------------------------------------------------------------------------------------

/** Names that this server knows, so that the first answers are about something. */
async function namesOf(): Promise<{ address: string; assets: string[]; markets: Answer[] }> {
  const [prices, markets, vaults] = await Promise.all([ask('/api/prices'), ask('/api/markets'), ask('/api/vaults?limit=1')]);
  return {
    assets: prices.body.items.map((one: Answer) => String(one.asset)), markets: markets.body.items,
    address: String(vaults.body.items[0]?.owner ?? `G${'A'.repeat(52)}WHF`),
  };
}

let shown = false;

export function showRecipes(document: Document) {
  openapi = document;
  shown = true;
  if (recipes.length) recipes.forEach((run) => run());
  else namesOf().then(({ address, assets, markets }) => {
    if (recipes.length) return;
    recipes = [complianceRecipe(address), priceRecipe(assets), vaultRecipe(markets)];
    if (shown) recipes.forEach((run) => run());
  }).catch(fail(byId('recipes')));
}

/** The page is left: its stream ends. */
export function leaveRecipes() {
  shown = false;
  stream?.close();
  stream = null;
}
