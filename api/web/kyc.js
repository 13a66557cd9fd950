'use strict';
// /kyc, /kyc?s=TOKEN and /kyc/return/TOKEN, alone or embedded: begins a check, shows its progress, and says when the
// ledger has the result. It shows only what our API answers. It never believes the address bar or a provider's message.
// No cookies, no storage. Of other hosts it loads the logo that the KYC file names, and nothing else.
// What it says is in kyc_text.json.

const meta = (name) => JSON.parse(document.querySelector(`meta[name=${name}]`).content);
const data = meta('kyc');
const brand = meta('kyc-brand');
const texts = meta('kyc-text');
/** [tag, its own name]: the languages of kyc_text.json */
const LANGUAGES = [['en', 'English'], ['de', 'Deutsch'], ['fr', 'Français'], ['es', 'Español'], ['pt', 'Português']];
const byId = (id) => document.getElementById(id);
const LEAST_MS = 700; // between two requests
const MOST_MS = 30000;
const PATHS = {
  check: 'M5 13l4.5 4.5L19 7.5', cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11', clock: 'M12 6.5V12l3.5 2.5M12 3a9 9 0 1 0 .01 0',
  person: 'M12 4a4 4 0 1 0 .01 0M4.5 20.5c1-4.5 4-6 7.5-6s6.5 1.5 7.5 6', turn: 'M20.5 12a8.5 8.5 0 1 1-4-7.2',
  alert: 'M12 7v6M12 17v.01M12 3a9 9 0 1 0 .01 0', dot: 'M12 12v.01',
};

/** el('p', {class: 'x'}, 'text', child …) */
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
  return node;
}

function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  const path = document.createElementNS(space, 'path');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}

function button(text, act, kind) {
  const node = el('button', { type: 'button', class: kind }, text);
  node.addEventListener('click', act);
  return node;
}

/** {status, body, after}: after: Retry-After in ms. Status 0: the server could not be reached. */
async function ask(path, body) {
  const options = { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(20000) };
  if (body) Object.assign(options, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  try {
    const answer = await fetch(path, options);
    const after = Number(answer.headers.get('retry-after')) * 1000 || 0;
    return { status: answer.status, body: await answer.json().catch(() => ({})), after };
  } catch {
    return { status: 0, body: { code: 'unreachable' }, after: 0 };
  }
}

/** A text of the visitor's language, its {gaps} filled. */
const say = (key, values = {}) => (texts[key] || key).replace(/\{(\w+)\}/g, (all, name) => (values[name] === undefined ? all : values[name]));
const day = (time) => new Date(time).toLocaleDateString(texts.lang);
const short = (text) => (text && text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text);

/** Why the API refused, in the visitor's language; English has the API's own words. */
const FAULTS = {
  unreachable: 'fault_unreachable', challenge_invalid: 'fault_challenge_invalid', challenge_used: 'fault_challenge_used',
  bad_signature: 'fault_challenge_invalid', proof_required: 'fault_proof_required', too_many_sessions: 'fault_too_many',
  too_many_requests: 'fault_too_many', provider_unavailable: 'fault_provider', provider_refused: 'fault_provider',
};
function fault(body, otherwise = 'fault') {
  if (texts.lang === 'en' && body.detail) return body.detail;
  return say(FAULTS[body.code] || otherwise);
}

// ---- brand and language

const COLOR = /^#[0-9a-f]{6}$/;

function showBrand() {
  const rules = [];
  const scheme = (color) => `:root { --brand: ${color}; --link: ${color}; --brand-soft: var(--raised); }`;
  if (COLOR.test(brand.color)) rules.push(`@media (prefers-color-scheme: light) { ${scheme(brand.color)} }`);
  if (COLOR.test(brand.colorDark)) rules.push(`@media (prefers-color-scheme: dark) { ${scheme(brand.colorDark)} }`);
  const sheet = new CSSStyleSheet();
  rules.forEach((rule) => sheet.insertRule(rule, sheet.cssRules.length));
  document.adoptedStyleSheets = [sheet];
  byId('brand-name').textContent = brand.name;
  if (!brand.logo) return;
  const logo = el('img', { src: brand.logo, alt: brand.name, id: 'logo', class: 'own', referrerpolicy: 'no-referrer' });
  logo.addEventListener('load', () => { byId('logo').replaceWith(logo); byId('brand-name').textContent = ''; });
}

/** The same page in each language. A page that the browser returned to is that of its session. */
function showLanguages() {
  const here = new URL(window.location.href);
  if (data.session) here.href = `${window.location.origin}/kyc?s=${encodeURIComponent(data.session.token)}`;
  byId('languages').replaceChildren(...LANGUAGES.map(([tag, name]) => {
    here.searchParams.set('lang', tag);
    return el('a', { href: `${here.pathname}${here.search}`, lang: tag, hreflang: tag, 'aria-current': tag === texts.lang && 'true' }, name);
  }));
}

// ---- which network

async function tellNetwork() {
  const { status, body } = await ask('/api/sdk/contracts');
  if (status !== 200) return;
  if (/simulated/i.test(body.passphrase || '')) byId('simulated').hidden = false;
  else if (body.network !== 'mainnet' && body.network !== 'public') {
    byId('simulated').querySelector('strong').textContent = say('test_network');
    byId('simulated-text').textContent = body.passphrase;
    byId('simulated').hidden = false;
  }
}

// ---- beginning

const form = byId('form');

function wrong(where, text, field) {
  byId(where).textContent = text;
  if (!field) return;
  if (text) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
}

function addressFault(text) {
  if (!text) return say('address_missing');
  if (/^S[A-Z2-7]{55}$/.test(text)) return say('address_secret');
  if (/^M[A-Z2-7]{68}$/.test(text)) return say('address_muxed');
  return /^[GC][A-Z2-7]{55}$/.test(text) ? '' : say('address_wrong');
}

async function showProviders() {
  const { status, body } = await ask('/api/sdk/kyc/providers');
  const list = byId('providers');
  if (status !== 200 || !body.providers.length) {
    list.replaceChildren(el('p', { class: 'wrong' }, status === 200 ? say('who_none') : fault(body, 'who_hidden')));
    byId('begin').disabled = true;
    byId('begin').removeAttribute('aria-busy');
    return;
  }
  list.className = 'choices';
  list.replaceChildren(...body.providers.map((provider, i) => {
    const input = el('input', { type: 'radio', name: 'provider', value: provider.key, checked: i === 0 });
    const said = say(provider.sandbox ? 'who_sandbox' : 'who_real');
    return el('label', { class: 'choice' }, input, ' ', el('span', null, el('b', null, provider.name), el('span', { class: 'quiet' }, said)));
  }));
}

let challenge = null;

/** A challenge for the address in the form; null: a fault is shown. */
async function newChallenge() {
  const address = byId('address').value.trim();
  const wrongly = addressFault(address);
  wrong('address-error', wrongly, byId('address'));
  if (wrongly) {
    byId('address').focus();
    return null;
  }
  const { status, body } = await ask(`/api/sdk/kyc/challenge/${encodeURIComponent(address)}`);
  wrong('proof-error', status === 200 ? '' : fault(body, 'proof_none'));
  challenge = status === 200 ? body : null;
  return challenge;
}

/** By hand: the transaction is shown, and the signed one is pasted. */
async function askChallenge() {
  if (!await newChallenge()) return;
  byId('challenge').value = challenge.transaction;
  byId('proof-steps').hidden = false;
  byId('challenge').focus();
  byId('challenge').select();
}

const MODULES = '/app/'; // what api/web/app/ builds; absent if the server was built without npm
const load = (name) => import(`${MODULES}${name}.js`).catch(() => null);

async function signWith(wallet, id) {
  byId('proof-wallets').replaceChildren();
  const asked = await newChallenge();
  if (!asked) return;
  byId('proof-status').textContent = say('proof_waiting');
  const done = await wallet.sign(id, asked.transaction, asked.networkPassphrase, byId('address').value.trim());
  byId('proof-status').textContent = done.signed ? say('proof_done') : '';
  byId('signed').value = done.signed || '';
  if (!done.signed) wrong('proof-error', say(`proof_${done.fault}`, { why: done.why, address: short(done.address) }));
  else byId('begin').focus();
}

/** With a wallet of this browser; the visitor chooses if it has several. Their code is loaded now, and on this page only. */
async function askWallet() {
  byId('proof-wallet').disabled = true;
  byId('proof-status').textContent = '';
  byId('proof-wallets').replaceChildren();
  wrong('proof-error', '');
  const wallet = await load('wallet');
  const found = wallet ? await wallet.found() : [];
  if (!wallet) wrong('proof-error', say('proof_unbuilt'));
  else if (found.length === 0) wrong('proof-error', say('proof_no_wallet'));
  else if (found.length === 1) await signWith(wallet, found[0].id);
  else {
    byId('proof-status').textContent = say('proof_choose');
    byId('proof-wallets').append(...found.map(({ id, name }) => button(name, () => signWith(wallet, id))));
    byId('proof-wallets').firstChild.focus();
  }
  byId('proof-wallet').disabled = false;
}

const NOTICED_MS = 600;
let told = { address: '' }; // the address's status on the ledger: {address, words, at}; no words: it needs a check

const wordsOf = ({ compliant, needsKyc, status, validUntil }) => {
  if (compliant) return validUntil ? say('already_until', { date: day(validUntil) }) : say('already');
  if (!needsKyc) return say('no_use', { status: status.toLowerCase() });
  return '';
};

/** Shows an address's status on the ledger before a check begins; true if it shows something new. */
async function tellStanding(address) {
  if (told.address === address) return told.words !== '' && performance.now() - told.at < NOTICED_MS;
  const { status, body } = await ask(`/api/sdk/kyc/status/${encodeURIComponent(address)}`);
  if (byId('address').value.trim() !== address) return false;
  told = { address, words: status === 200 ? wordsOf(body) : '', at: performance.now() };
  byId('standing').textContent = told.words;
  byId('begin').textContent = say(told.words ? 'begin_anyway' : 'begin');
  return told.words !== '';
}

function forgetStanding() {
  told = { address: '' };
  byId('standing').textContent = '';
  byId('begin').textContent = say('begin');
}

/** Shows each error of the server beside its field. */
function tellProblem(body) {
  const errors = body.errors || [];
  const of = (pointer) => (errors.find((error) => error.pointer === pointer) || {}).detail || '';
  wrong('address-error', of('/address') && (texts.lang === 'en' ? of('/address') : say('address_wrong')), byId('address'));
  wrong('provider-error', of('/providerKey') && say('who_choose'));
  if (byId('address-error').textContent) byId('address').focus();
  else byId('form-error').textContent = fault(body);
  if (body.status === 401) byId('proof').hidden = false;
}

async function begin() {
  const address = byId('address').value.trim();
  const chosen = form.querySelector('input[name=provider]:checked');
  const mode = form.querySelector('input[name=mode]:checked').value;
  const wrongly = addressFault(address);
  byId('form-error').textContent = '';
  wrong('address-error', wrongly, byId('address'));
  wrong('provider-error', chosen ? '' : say('who_choose'));
  if (wrongly) return byId('address').focus();
  if (!chosen) return undefined;
  const request = { address, providerKey: chosen.value, mode };
  const signed = byId('signed').value.trim();
  if (challenge && signed) request.challenge = signed;
  // Browsers block a tab that opens later than the click.
  const tab = mode === 'direct' ? window.open('', '_blank') : null;
  byId('begin').disabled = true;
  const first = await tellStanding(address);
  const { status, body } = first ? { status: 0, body: {} } : await ask('/api/sdk/kyc/session', request);
  byId('begin').disabled = false;
  if (first) {
    if (tab) tab.close();
    return byId('begin').focus();
  }
  if (status !== 200 && status !== 201) {
    if (tab) tab.close();
    return tellProblem(body);
  }
  const shown = new URL(body.embedUrl);
  shown.searchParams.delete('embed');
  if (tab) tab.location.replace(body.startUrl);
  const lang = new URLSearchParams(window.location.search).get('lang');
  if (lang) shown.searchParams.set('lang', lang);
  window.location.assign(mode === 'redirect' ? body.startUrl : `${shown.pathname}${shown.search}`);
  return undefined;
}

function showStart() {
  byId('start').hidden = false;
  byId('address').value = new URLSearchParams(window.location.search).get('address') || '';
  byId('proof').hidden = data.open;
  byId('proof-ask').addEventListener('click', askChallenge);
  byId('proof-wallet').addEventListener('click', askWallet);
  byId('address').addEventListener('input', () => {
    wrong('address-error', '', byId('address'));
    forgetStanding();
  });
  const check = () => {
    const text = byId('address').value.trim();
    const wrongly = addressFault(text);
    if (text) wrong('address-error', wrongly, byId('address'));
    if (!wrongly) tellStanding(text);
  };
  byId('address').addEventListener('blur', check);
  check();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    begin();
  });
  showProviders();
}

// ---- progress

const session = data.session;
const framed = window.parent !== window;
let shownAs = '';
let timer = 0;
let failures = 0;
let frame = null;
let cameBack = false; // our frame returned from the provider's page to our own

const OPEN = ['created', 'pending', 'review', 'action_required'];

const ENDED = ['declined', 'expired', 'revoked'];

/** What to show for the session's state: {as, badge, icon, at, title, words, reason}. at: the current step. */
function reading(now) {
  const words = { who: session.provider.name, ledger: now.ledger };
  const is = (as, badge, picture, at, reason = '') => ({ as, badge, icon: picture, at, reason, title: say(as, words), words: say(`${as}_words`, words) });
  const returned = data.returned || cameBack;
  const because = now.reason ? say(`reason_${now.reason}`) : '';
  const why = because || (now.reason === undefined ? '' : say('reason_none', words)); // undefined: not asked for yet
  if (now.verified) return is('verified', 'good', 'check', 4);
  switch (now.state) {
    // Back from the provider before its first word: only the provider knows if the visitor finished.
    case 'created': return returned ? is('deciding', 'turn', 'clock', 2, say('deciding_unfinished')) : is('created', '', 'person', 1);
    case 'pending': return returned ? is('review', 'wait', 'clock', 2) : is('pending', 'turn', 'turn', 1);
    case 'action_required': return is('action_required', 'wait', 'alert', 1, because);
    case 'approved': return now.parked ? is('parked', 'wait', 'clock', 3) : is('approved', 'turn', 'turn', 3);
    case 'declined': return is('declined', 'bad', 'cross', 2, why);
    case 'expired': return is('expired', 'bad', 'clock', 2, because);
    case 'revoked': return is('revoked', 'bad', 'cross', 2, why);
    default: return is('moment', 'turn', 'turn', 1);
  }
}

const STEPS = [
  ['step_begun', () => say('step_for', { address: short(session.address) })],
  ['step_provider', () => session.provider.name],
  ['step_decided', (now) => (now.at && !OPEN.includes(now.state) ? new Date(now.at).toLocaleString(texts.lang) : '')],
  ['step_ledger', (now) => (now.ledger ? say('step_at_ledger', { ledger: now.ledger }) : '')],
];

/** After an end there is no step to come. */
function showSteps(read, now) {
  const failed = ENDED.includes(read.as);
  const steps = failed ? STEPS.slice(0, read.at + 1) : STEPS;
  byId('steps').replaceChildren(...steps.map(([name, tellStep], i) => {
    const kind = i < read.at ? 'done' : i > read.at ? 'later' : failed ? 'stop' : read.badge === 'wait' ? 'now wait' : 'now';
    const mark = { done: 'check', stop: 'cross', later: 'dot' }[kind] || 'clock';
    const said = say({ done: 'step_done', stop: 'step_stop', later: 'step_later' }[kind] || 'step_now');
    return el('li', { class: kind, 'aria-current': kind.startsWith('now') && 'step' }, el('span', { class: 'dot' }, icon(mark)),
      el('span', null, el('b', null, say(name)), el('span', { class: 'say' }, tellStep(now) || said)));
  }));
}

function showFacts(now) {
  const facts = [['address', el('span', { class: 'code' }, session.address)], ['fact_by', session.provider.name]];
  if (session.integrator) facts.push(['fact_for', session.integrator]);
  if (now.ledger) facts.push(['fact_ledger', now.ledger]);
  if (now.transaction) facts.push(['fact_transaction', el('a', { class: 'code', href: `/api/transactions/${now.transaction}`, target: '_blank', rel: 'noopener' }, now.transaction)]);
  if (now.verified && now.until) facts.push(['fact_until', day(now.until)]);
  byId('facts').replaceChildren(...facts.flatMap(([name, value]) => [el('dt', null, say(name)), el('dd', null, value)]));
}

function openTab() {
  window.open(session.startUrl, '_blank', framed ? 'noopener' : '');
}

function openFrame() {
  if (frame) return;
  const allow = ['camera', 'microphone', 'fullscreen', 'autoplay', 'encrypted-media', 'geolocation', 'clipboard-write'];
  const from = ["'self'", ...session.frameOrigins].join(' ');
  frame = el('iframe', { src: session.startUrl, title: say('frame_title', { who: session.provider.name }), allow: allow.map((name) => `${name} ${from}`).join('; '), referrerpolicy: 'no-referrer' });
  byId('frame').replaceChildren(frame);
  tellHeight();
}

function closeFrame() {
  if (!frame) return;
  frame.remove();
  frame = null;
}

// ---- what can be done next

const absolute = (path) => new URL(path, window.location.href).href;

/** The link as a QR code, for a phone's camera. Without the module the link alone is shown. */
async function showPhone() {
  const link = absolute(session.startUrl);
  const open = byId('phone').hidden;
  byId('phone').hidden = !open;
  byId('phone-link').textContent = link;
  const code = open ? await load('qr') : null;
  if (code) {
    const picture = code.draw(link);
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', say('phone_code'));
    byId('phone-code').replaceChildren(picture);
  }
  byId('phone-words').hidden = !code;
  tellHeight();
}

function phoneButton() {
  const node = button(say('phone'), () => { node.setAttribute('aria-expanded', String(byId('phone').hidden)); showPhone(); });
  node.setAttribute('aria-expanded', String(!byId('phone').hidden));
  node.setAttribute('aria-controls', 'phone');
  return node;
}

/** While the check is open: to the provider, here, in a tab or on a phone. */
function goingActions(read) {
  const inside = (session.mode === 'iframe' || data.embed) && !data.returned;
  if (inside && !cameBack) {
    openFrame();
    return [button(say('open_tab'), openTab), phoneButton()];
  }
  if (inside) return [button(say('go_on'), () => { cameBack = false; again(); }, 'primary'), button(say('open_tab'), openTab), phoneButton()];
  const begins = read.as === 'created';
  if (framed) return [button(say(begins ? 'begin_tab' : 'go_on_tab'), openTab, 'primary'), phoneButton()];
  const waits = read.as === 'review' || read.as === 'deciding';
  return [el('a', { class: `button${waits ? '' : ' primary'}`, href: session.startUrl }, say(begins ? 'begin' : 'go_on')), button(say('open_tab'), openTab), phoneButton()];
}

/** Once it is over, or waits for a person: on to the app, to another check, or to the ledger's word. */
function endActions(read) {
  const ended = ENDED.includes(read.as);
  const actions = [];
  const name = session.integrator || say('the_app');
  if (framed) actions.push(button(say('continue', { name }), () => tell({ type: 'close', state: shown.state }), 'primary'));
  else if (session.backUrl) actions.push(el('a', { class: 'button primary', href: session.backUrl }, say(ended ? 'back' : 'continue', { name })));
  const own = { class: `button${actions.length ? '' : ' primary'}`, target: framed && '_blank', rel: framed && 'noopener' };
  if (ended) actions.push(el('a', { ...own, href: `/kyc?address=${session.address}` }, say('another')));
  else if (read.as === 'verified' || read.as === 'parked') actions.push(el('a', { ...own, href: `/api/sdk/kyc/status/${session.address}` }, say('see_address')));
  return actions;
}

function showActions(read) {
  const going = OPEN.includes(read.as) || read.as === 'deciding';
  if (!going) {
    closeFrame();
    byId('phone').hidden = true;
  }
  byId('actions').replaceChildren(...(going ? goingActions(read) : endActions(read)));
}

// ---- the page around us

/** Only to origins that the app registered: browsers deliver to the one that fits, and to no other. */
function tell(message) {
  const listeners = [framed ? window.parent : null, window.opener].filter(Boolean);
  const origins = data.parents.concat(data.returned ? window.location.origin : []);
  const above = window.location.ancestorOrigins && window.location.ancestorOrigins[0];
  for (const listener of listeners) {
    for (const origin of origins) {
      if (listener === window.parent && framed && above && above !== origin) continue;
      listener.postMessage({ source: 'tidemark-kyc', sessionId: session.id, ...message }, origin);
    }
  }
}

function tellHeight() {
  if (framed) tell({ type: 'height', height: Math.ceil(document.body.getBoundingClientRect().height) });
}

/** A message of the provider's page only makes us ask our API again. */
function hear(event) {
  const known = session.frameOrigins.includes(event.origin) || event.origin === window.location.origin;
  if (!known || !frame || event.source !== frame.contentWindow) return;
  if (event.origin === window.location.origin && event.data && event.data.source === 'tidemark-kyc' && event.data.sessionId === session.id && !cameBack) {
    cameBack = true;
    closeFrame();
    again();
  }
  soon(0);
}

let shown = null;

function again() {
  shownAs = '';
  show(shown);
}

function show(now) {
  shown = now;
  const read = reading(now);
  const as = `${read.as} ${now.reason} ${now.ledger || ''} ${now.transaction || ''}`;
  if (as === shownAs) return;
  shownAs = as;
  byId('badge').className = `badge ${read.badge}`;
  byId('badge').replaceChildren(icon(read.icon));
  byId('title').textContent = read.title;
  byId('words').textContent = read.words;
  byId('reason').textContent = read.reason;
  document.title = `${read.title} · ${brand.name}`;
  showSteps(read, now);
  showFacts(now);
  showActions(read);
  tell({ type: 'state', state: now.state, compliant: now.verified, ledger: now.ledger || null });
  tellHeight();
}

function soon(ms) {
  clearTimeout(timer);
  timer = setTimeout(look, Math.min(Math.max(ms, LEAST_MS), MOST_MS));
}

/** Asks for the session's state and, once it is approved, for the ledger's. */
async function look() {
  const one = await ask(`/api/sdk/kyc/session/${encodeURIComponent(session.id)}?s=${encodeURIComponent(session.token)}`);
  if (one.status !== 200) {
    failures += 1;
    byId('hint').textContent = say(one.status === 404 ? 'hint_gone' : 'hint_trying');
    if (one.status !== 404) soon(one.after || 1000 * 2 ** failures);
    return;
  }
  failures = 0;
  byId('hint').textContent = '';
  const { state: written, ledger, txHash } = one.body.attestation;
  const now = { state: one.body.state, at: one.body.updatedAt, reason: one.body.reason, transaction: txHash, ledger, parked: written === 'manual_review' };
  let wait = one.after || (OPEN.includes(now.state) ? 2500 : 1000);
  if (now.state === 'approved') {
    const two = await ask(`/api/sdk/kyc/status/${session.address}`);
    now.verified = two.status === 200 && two.body.compliant && written === 'confirmed';
    now.until = two.body.validUntil;
    if (two.after) wait = two.after;
    if (now.parked) wait = MOST_MS;
  }
  show(now);
  if (!ENDED.includes(now.state)) soon(now.verified ? MOST_MS : wait);
}

function showProgress() {
  byId('progress').hidden = false;
  show({ state: session.state });
  window.addEventListener('message', hear);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(0); });
  window.addEventListener('pageshow', (event) => { if (event.persisted) soon(0); });
  new ResizeObserver(tellHeight).observe(document.body);
  look();
}

function showGone() {
  byId('gone').hidden = false;
  if (data.away) {
    byId('gone-title').textContent = say('away');
    byId('gone-words').textContent = say('away_words');
    setTimeout(() => window.location.reload(), 5000);
  } else {
    byId('gone-actions').append(el('a', { class: 'button primary', href: '/kyc', target: framed && '_blank', rel: framed && 'noopener' }, say('another')));
  }
  byId('gone-badge').append(icon('clock'));
  document.title = `${byId('gone-title').textContent} · ${brand.name}`;
}

if (data.embed || (data.returned && framed)) document.body.classList.add('embed');
showBrand();
showLanguages();
tellNetwork();
if (session) showProgress();
else if (data.gone || data.away) showGone();
else showStart();
