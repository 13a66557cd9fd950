'use strict';
// /kyc, /kyc?s=TOKEN and /kyc/return/TOKEN, alone or embedded: begins a check, shows its progress, and says when the
// ledger has the result. It shows only what our API answers. It never believes the address bar or a provider's message.
// No cookies, no storage, no third-party resources.

const data = JSON.parse(document.querySelector('meta[name=kyc]').content);
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
    return { status: 0, body: { detail: 'The server cannot be reached.' }, after: 0 };
  }
}

const short = (text) => (text && text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text);

// ---- which network

async function tellNetwork() {
  const { status, body } = await ask('/api/sdk/contracts');
  if (status !== 200) return;
  if (/simulated/i.test(body.passphrase || '')) byId('simulated').hidden = false;
  else if (body.network !== 'mainnet' && body.network !== 'public') {
    byId('simulated').querySelector('strong').textContent = 'TEST NETWORK';
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
  if (!text) return 'Please enter your address.';
  if (/^S[A-Z2-7]{55}$/.test(text)) return 'That is a secret key. Never show it to anybody; enter the address, which begins with G.';
  if (/^M[A-Z2-7]{68}$/.test(text)) return 'That is a muxed address (M…). Enter the account (G…) behind it.';
  if (!/^[GC][A-Z2-7]{55}$/.test(text)) return 'That is no address: it has 56 letters and digits and begins with G or C.';
  return '';
}

async function showProviders() {
  const { status, body } = await ask('/api/sdk/kyc/providers');
  const list = byId('providers');
  if (status !== 200 || !body.providers.length) {
    list.replaceChildren(el('p', { class: 'wrong' }, status === 200 ? 'No provider is set up here.' : body.detail || 'The providers cannot be shown.'));
    byId('begin').disabled = true;
    byId('begin').removeAttribute('aria-busy');
    return;
  }
  list.className = 'choices';
  list.replaceChildren(...body.providers.map((provider, i) => {
    const input = el('input', { type: 'radio', name: 'provider', value: provider.key, checked: i === 0 });
    const said = provider.sandbox ? 'For trying out: checks nobody' : 'Checks documents';
    return el('label', { class: 'choice' }, input, ' ', el('span', null, el('b', null, provider.name), el('span', { class: 'quiet' }, said)));
  }));
}

let challenge = null;

async function askChallenge() {
  const address = byId('address').value.trim();
  const fault = addressFault(address);
  wrong('address-error', fault, byId('address'));
  if (fault) return byId('address').focus();
  const { status, body } = await ask(`/api/sdk/kyc/challenge/${encodeURIComponent(address)}`);
  wrong('proof-error', status === 200 ? '' : body.detail || 'There is no challenge to be had.');
  if (status !== 200) return undefined;
  challenge = body;
  byId('challenge').value = body.transaction;
  byId('proof-steps').hidden = false;
  byId('challenge').focus();
  byId('challenge').select();
  return undefined;
}

const NOTICED_MS = 600;
let told = { address: '' }; // the address's status on the ledger: {address, words, at}; no words: it needs a check

const wordsOf = ({ compliant, needsKyc, status, validUntil }) => {
  if (compliant) return `This address is verified already${validUntil ? `, until ${new Date(validUntil).toLocaleDateString()}` : ''}: it may trade. You need no check, unless you want to renew it.`;
  if (!needsKyc) return `The ledger has this address as ${status.toLowerCase()}. A check does not change that; the app that you use can tell you more.`;
  return '';
};

/** Shows an address's status on the ledger before a check begins; true if it shows something new. */
async function tellStanding(address) {
  if (told.address === address) return told.words !== '' && performance.now() - told.at < NOTICED_MS;
  const { status, body } = await ask(`/api/sdk/kyc/status/${encodeURIComponent(address)}`);
  if (byId('address').value.trim() !== address) return false;
  told = { address, words: status === 200 ? wordsOf(body) : '', at: performance.now() };
  byId('standing').textContent = told.words;
  byId('begin').textContent = told.words ? 'Begin a check all the same' : 'Begin the check';
  return told.words !== '';
}

function forgetStanding() {
  told = { address: '' };
  byId('standing').textContent = '';
  byId('begin').textContent = 'Begin the check';
}

/** Shows each error of the server beside its field. */
function tellProblem(body) {
  const errors = body.errors || [];
  const of = (pointer) => (errors.find((error) => error.pointer === pointer) || {}).detail || '';
  wrong('address-error', of('/address'), byId('address'));
  wrong('provider-error', of('/providerKey'));
  if (byId('address-error').textContent) byId('address').focus();
  else byId('form-error').textContent = body.detail || 'That did not work. Try again in a moment.';
  if (body.code === 'proof_required' || body.status === 401) byId('proof').hidden = false;
}

async function begin() {
  const address = byId('address').value.trim();
  const chosen = form.querySelector('input[name=provider]:checked');
  const mode = form.querySelector('input[name=mode]:checked').value;
  const fault = addressFault(address);
  byId('form-error').textContent = '';
  wrong('address-error', fault, byId('address'));
  wrong('provider-error', chosen ? '' : 'Please choose who checks.');
  if (fault) return byId('address').focus();
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
  window.location.assign(mode === 'redirect' ? body.startUrl : `${shown.pathname}${shown.search}`);
  return undefined;
}

function showStart() {
  byId('start').hidden = false;
  byId('address').value = new URLSearchParams(window.location.search).get('address') || '';
  byId('proof').hidden = data.open;
  byId('proof-ask').addEventListener('click', askChallenge);
  byId('address').addEventListener('input', () => {
    wrong('address-error', '', byId('address'));
    forgetStanding();
  });
  const check = () => {
    const text = byId('address').value.trim();
    const fault = addressFault(text);
    if (text) wrong('address-error', fault, byId('address'));
    if (!fault) tellStanding(text);
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

/** What to show for the session's state: {as, badge, icon, title, words, at}. at: the current step. */
function reading(now) {
  const who = session.provider.name;
  const is = (as, badge, picture, title, words, at) => ({ as, badge, icon: picture, title, words, at });
  if (now.verified) return is('verified', 'good', 'check', 'Verified', `Verified on chain at ledger ${now.ledger}. Your address may trade.`, 4);
  switch (now.state) {
    case 'created': return is('created', '', 'person', 'Ready when you are', `${who} has not seen you yet.`, 1);
    case 'pending':
      if (data.returned || cameBack) return is('review', 'wait', 'clock', 'Being looked at', `${who}, or a person with us, is looking at what you showed. You need not stay: the same link will tell you.`, 2);
      return is('pending', 'turn', 'turn', 'The check goes on', `${who} waits for you, or is looking at what you showed.`, 1);
    case 'action_required': return is('action_required', 'wait', 'alert', 'Something is missing', `${who} needs one more thing of you. Go on with the check to see what.`, 1);
    case 'approved':
      if (now.parked) return is('parked', 'wait', 'clock', 'Approved; a person looks at it', 'Before it goes on the ledger a person must look at this address.', 3);
      return is('approved', 'turn', 'turn', 'Approved', 'Now it is being written on the ledger. That takes some seconds.', 3);
    case 'declined': return is('declined', 'bad', 'cross', 'Not approved', `${who} did not approve this check. The app that you use can tell you what to do.`, 2);
    case 'expired': return is('expired', 'bad', 'clock', 'This check ran out', 'It was not finished in time, or no longer holds. You may begin another.', 2);
    case 'revoked': return is('revoked', 'bad', 'cross', 'Withdrawn', `${who} took its approval back.`, 2);
    default: return is('unknown', 'turn', 'turn', 'One moment …', 'We are asking how your check stands.', 1);
  }
}

const STEPS = [
  ['Check begun', () => `For ${short(session.address)}`],
  ['With the provider', () => session.provider.name],
  ['Decided', (now) => (now.at && !OPEN.includes(now.state) ? new Date(now.at).toLocaleString() : '')],
  ['On the ledger', (now) => (now.ledger ? `Ledger ${now.ledger}` : '')],
];

function showSteps(read, now) {
  const failed = ['declined', 'expired', 'revoked'].includes(read.as);
  byId('steps').replaceChildren(...STEPS.map(([name, say], i) => {
    const kind = i < read.at ? 'done' : i > read.at ? 'later' : failed ? 'stop' : read.badge === 'wait' ? 'now wait' : 'now';
    const mark = { done: 'check', stop: 'cross', later: 'dot' }[kind] || 'clock';
    const said = { done: 'done', stop: 'stopped here', later: 'not yet' }[kind] || 'now';
    return el('li', { class: kind, 'aria-current': kind.startsWith('now') && 'step' }, el('span', { class: 'dot' }, icon(mark)),
      el('span', null, el('b', null, name), el('span', { class: 'say' }, say(now) || said)));
  }));
}

function showFacts(now) {
  const facts = [['Address', el('span', { class: 'code' }, session.address)], ['Checked by', session.provider.name]];
  if (session.integrator) facts.push(['Asked for by', session.integrator]);
  if (now.ledger) facts.push(['Ledger', now.ledger]);
  if (now.transaction) facts.push(['Transaction', el('a', { class: 'code', href: `/api/transactions/${now.transaction}`, target: '_blank', rel: 'noopener' }, now.transaction)]);
  if (now.verified && now.until) facts.push(['Holds until', new Date(now.until).toLocaleDateString()]);
  byId('facts').replaceChildren(...facts.flatMap(([name, value]) => [el('dt', null, name), el('dd', null, value)]));
}

function openTab() {
  window.open(session.startUrl, '_blank', framed ? 'noopener' : '');
}

function openFrame() {
  if (frame) return;
  const allow = ['camera', 'microphone', 'fullscreen', 'autoplay', 'encrypted-media', 'geolocation', 'clipboard-write'];
  const from = ["'self'", ...session.frameOrigins].join(' ');
  frame = el('iframe', { src: session.startUrl, title: `The check at ${session.provider.name}`, allow: allow.map((name) => `${name} ${from}`).join('; '), referrerpolicy: 'no-referrer' });
  byId('frame').replaceChildren(frame);
  tellHeight();
}

function closeFrame() {
  if (!frame) return;
  frame.remove();
  frame = null;
}

function showActions(read) {
  const actions = [];
  const going = OPEN.includes(read.as);
  if (!going) closeFrame();
  if (going && (session.mode === 'iframe' || data.embed) && !data.returned) {
    if (cameBack) actions.push(button('Go on with the check', () => { cameBack = false; again(); }, 'primary'));
    else openFrame();
    actions.push(button('Open in a new tab', openTab));
  } else if (going) {
    const text = read.as === 'created' ? 'Begin the check' : 'Go on with the check';
    if (framed) actions.push(button(`${text} in a new tab`, openTab, 'primary'));
    else actions.push(el('a', { class: `button${data.returned && read.as === 'review' ? '' : ' primary'}`, href: session.startUrl }, text), button('Open in a new tab', openTab));
  }
  if (!framed && read.as === 'expired') actions.push(el('a', { class: 'button primary', href: `/kyc?address=${session.address}` }, 'Begin another'));
  if (!framed && session.backUrl && !going) actions.push(el('a', { class: 'button', href: session.backUrl }, `Back to ${session.integrator}`));
  byId('actions').replaceChildren(...actions);
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
  const as = `${read.as} ${now.ledger || ''} ${now.transaction || ''}`;
  if (as === shownAs) return;
  shownAs = as;
  byId('badge').className = `badge ${read.badge}`;
  byId('badge').replaceChildren(icon(read.icon));
  byId('title').textContent = read.title;
  byId('words').textContent = read.words;
  document.title = `${read.title} · Tidemark`;
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
    byId('hint').textContent = one.status === 404 ? 'This check is not known here any more.' : 'How it stands cannot be seen right now; we keep asking.';
    if (one.status !== 404) soon(one.after || 1000 * 2 ** failures);
    return;
  }
  failures = 0;
  byId('hint').textContent = '';
  const { state: written, ledger, txHash } = one.body.attestation;
  const now = { state: one.body.state, at: one.body.updatedAt, transaction: txHash, ledger, parked: written === 'manual_review' };
  let wait = one.after || (OPEN.includes(now.state) ? 2500 : 1000);
  if (now.state === 'approved') {
    const two = await ask(`/api/sdk/kyc/status/${session.address}`);
    now.verified = two.status === 200 && two.body.compliant && written === 'confirmed';
    now.until = two.body.validUntil;
    if (two.after) wait = two.after;
    if (now.parked) wait = MOST_MS;
  }
  show(now);
  if (!['declined', 'expired', 'revoked'].includes(now.state)) soon(now.verified ? MOST_MS : wait);
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

if (data.embed || (data.returned && framed)) document.body.classList.add('embed');
tellNetwork();
if (session) showProgress();
else if (data.gone || data.away) {
  byId('gone').hidden = false;
  if (data.away) {
    byId('gone-title').textContent = 'The provider cannot be reached';
    byId('gone-words').textContent = 'Your check is kept. This page tries again in a few seconds.';
    setTimeout(() => window.location.reload(), 5000);
  }
  byId('gone-badge').append(icon('clock'));
  document.title = `${byId('gone-title').textContent} · Tidemark`;
} else showStart();
