// Example of a partner's page. In production the partner's server opens the session (attribute session-url of the element).
import './element.js';

const byId = (id) => document.getElementById(id);
const said = new URLSearchParams(window.location.hash.slice(1)); // #key=…&address=…: never sent to a server
const host = window.location.origin;
const check = byId('check');

async function standing() {
  const answer = await fetch(`${host}/api/sdk/kyc/status/${encodeURIComponent(byId('address').value.trim())}`, { credentials: 'omit' });
  const body = await answer.json();
  byId('compliant').textContent = answer.ok ? (body.compliant ? 'yes: compliant' : `no: ${body.reasonCode}`) : body.detail;
  return answer.ok && body.compliant;
}

async function begin(mode) {
  const headers = { 'content-type': 'application/json' };
  if (byId('key').value.trim()) headers['x-api-key'] = byId('key').value.trim();
  const providers = await (await fetch(`${host}/api/sdk/kyc/providers`, { credentials: 'omit' })).json();
  const body = JSON.stringify({ address: byId('address').value.trim(), providerKey: providers.providers[0].key, mode });
  const answer = await fetch(`${host}/api/sdk/kyc/session`, { method: 'POST', credentials: 'omit', headers, body });
  const session = await answer.json();
  if (!answer.ok) throw new Error(session.detail);
  return session;
}

check.addEventListener('tidemark-state', ({ detail }) => {
  byId('state').textContent = detail.state;
  if (detail.compliant) standing();
});
check.addEventListener('tidemark-error', ({ detail }) => { byId('wrong').textContent = detail.message; });

byId('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const mode = document.querySelector('input[name=mode]:checked').value;
  byId('wrong').textContent = '';
  try {
    check.stop();
    check.setAttribute('host', host);
    check.setAttribute('mode', mode);
    check.session = await begin(mode);
  } catch (fault) {
    byId('wrong').textContent = fault.message;
  }
});
byId('ask').addEventListener('click', () => standing().catch((fault) => { byId('wrong').textContent = fault.message; }));
byId('address').value = said.get('address') || '';
byId('key').value = said.get('key') || '';
fetch('/kyc/element.js').then((answer) => answer.text()).then((text) => { byId('code').textContent = text; });
