// <tidemark-kyc>: an identity check in your own page. An ES module: copy it, or import @tidemark/client/kyc, which is the same.
// No framework, no dependency, no cookie.
//
//   <tidemark-kyc host="ORIGIN" mode="iframe" session-url="/verify" address="G…"></tidemark-kyc>
//
// Attributes
//   host         the origin of the checks: scheme, name, port
//   mode         "iframe" (in this page), "redirect" (there and back) or "direct" (a tab)
//   session-url  an address of your server. The element POSTs {"address", "mode"} there; your server opens the session
//                (POST /api/sdk/kyc/session with its X-API-Key, which must never reach a browser) and passes the answer on
//   address      what is to be verified
//   lang         language of the check: en, de, fr, es, pt; absent: the browser's
//   label        text of the button
// Property `session`: what your server answered, if you ask it yourself; setting it begins.
// Methods: start(), called by the button; stop().
// Events: "tidemark-state" {state, compliant, ledger}, "tidemark-close" {state}, "tidemark-error" {message}. They are for display only:
// trust GET /api/sdk/kyc/status/{address}, asked by your server.
// Looks: --tidemark-kyc-height, -border, -radius, -background, -color, -font; parts "button", "frame", "message".

const STYLE = `
:host { display: block; font: var(--tidemark-kyc-font, inherit); }
:host([hidden]) { display: none; }
iframe { display: block; width: 100%; height: var(--tidemark-kyc-height, 40rem); border: var(--tidemark-kyc-border, 0);
  border-radius: var(--tidemark-kyc-radius, 0); }
button { font: inherit; cursor: pointer; min-height: 2.75rem; padding: 0.5rem 1.25rem; border: var(--tidemark-kyc-border, 0);
  border-radius: var(--tidemark-kyc-radius, 0.5rem); background: var(--tidemark-kyc-background, #0b5cad); color: var(--tidemark-kyc-color, #fff); }
button:disabled { cursor: progress; opacity: 0.7; }
p { margin: 0.5rem 0 0; }`;
const PERMISSIONS = 'camera; microphone; fullscreen; autoplay; encrypted-media; geolocation; clipboard-write';
const LAST = new Set(['approved', 'declined', 'expired', 'revoked']);
const POLL_MS = 5000; // messages may be lost: another tab, a closed one
const WAIT_MS = 20000; // for an answer

const Base = globalThis.HTMLElement ?? class {}; // a server that renders pages may import this file

export class TidemarkKyc extends Base {
  #session = null;
  #window = null; // where messages may come from
  #timer = 0;
  #state = '';
  #turn = 0; // counts beginnings and ends: an answer that comes after one is of no use
  #asking = false;
  #root = null;
  #hear = (event) => this.#heard(event);

  connectedCallback() {
    if (!this.#root) {
      this.#root = this.attachShadow({ mode: 'open' });
      const sheet = new CSSStyleSheet(); // an element <style> would need a Content-Security-Policy that allows it
      sheet.replaceSync(STYLE);
      this.#root.adoptedStyleSheets = [sheet];
      this.#root.append(document.createElement('div'));
    }
    if (this.#session) this.#begin();
    else this.#offer();
  }

  disconnectedCallback() {
    this.stop();
  }

  get session() {
    return this.#session;
  }

  set session(session) {
    this.stop();
    this.#session = session;
    if (session && this.isConnected) this.#begin();
  }

  /** Asks `session-url` for a session and begins. A tab needs a click of the person: call it from one. */
  async start() {
    if (this.#asking || !this.isConnected) return;
    this.stop();
    this.#asking = true;
    const turn = this.#turn;
    const tab = this.#mode === 'direct' ? window.open('', '_blank') : null; // later it would be blocked
    this.#offer(true);
    try {
      const answer = await fetch(this.getAttribute('session-url') ?? '', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ address: this.getAttribute('address'), mode: this.#mode }),
        signal: AbortSignal.timeout(WAIT_MS),
      });
      const session = await answer.json().catch(() => null);
      if (turn !== this.#turn) tab?.close();
      else if (!answer.ok) throw new Error(typeof session?.detail === 'string' ? session.detail : `HTTP ${answer.status}`);
      else {
        this.stop();
        this.#session = session;
        this.#begin(tab);
      }
    } catch (fault) {
      tab?.close();
      if (turn === this.#turn) this.#fail(fault);
    }
  }

  /** Says why, and offers the button again. */
  #fail(fault) {
    this.stop();
    this.#offer();
    this.#say(fault.message);
    this.#tell('error', { message: fault.message });
  }

  /** Ends the display. The check itself goes on at the provider. */
  stop() {
    clearInterval(this.#timer);
    window.removeEventListener('message', this.#hear);
    this.#body?.replaceChildren();
    this.#window = null;
    this.#session = null;
    this.#state = '';
    this.#turn += 1;
    this.#asking = false;
  }

  get #mode() {
    return this.getAttribute('mode') ?? 'iframe';
  }

  /** An origin; "null", which every data: and javascript: address has, is none. */
  get #host() {
    const { origin, protocol } = new URL(this.getAttribute('host') ?? '');
    if (protocol !== 'https:' && protocol !== 'http:') throw new Error('host: https or http');
    return origin;
  }

  get #body() {
    return this.#root?.lastChild;
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`tidemark-${name}`, { detail, bubbles: true, composed: true }));
  }

  #say(text) {
    const line = document.createElement('p');
    line.setAttribute('part', 'message');
    line.setAttribute('role', 'alert');
    line.textContent = text;
    this.#body.append(line);
  }

  #offer(busy = false) {
    if (!this.hasAttribute('session-url')) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.setAttribute('part', 'button');
    button.textContent = this.getAttribute('label') ?? 'Verify identity';
    button.disabled = busy;
    button.addEventListener('click', () => this.start());
    this.#body.replaceChildren(button);
  }

  /** A link of the session, if it leads to the host: what your server passes on decides nothing else. */
  #link(name) {
    const url = new URL(this.#session[name]);
    const isWeb = url.protocol === 'https:' || url.protocol === 'http:'; // blob: has an origin too
    if (url.origin !== this.#host || !isWeb) throw new Error(`${name} does not lead to ${this.#host}`);
    if (this.lang) url.searchParams.set('lang', this.lang);
    return url.href;
  }

  #begin(tab = null) {
    try {
      if (typeof this.#session?.sessionId !== 'string') throw new Error('the answer of session-url is no session');
      if (this.#mode === 'redirect') {
        window.location.assign(this.#link('startUrl'));
        return;
      }
      window.addEventListener('message', this.#hear);
      this.#timer = setInterval(() => this.#look(), POLL_MS);
      if (this.#mode === 'iframe') this.#frame();
      else this.#tab(tab);
    } catch (fault) {
      tab?.close();
      this.#fail(fault);
    }
  }

  #frame() {
    const frame = document.createElement('iframe');
    frame.src = this.#link('embedUrl');
    frame.title = this.getAttribute('label') ?? 'Identity check';
    frame.allow = PERMISSIONS;
    frame.setAttribute('part', 'frame');
    this.#body.replaceChildren(frame);
    this.#window = frame.contentWindow;
  }

  #tab(tab) {
    const url = this.#link('startUrl');
    if (tab) tab.location.assign(url);
    this.#window = tab ?? window.open(url, '_blank');
    this.#body.replaceChildren();
    if (this.#window) return;
    const link = document.createElement('a'); // the browser opened no tab
    link.href = url;
    link.target = '_blank';
    link.textContent = this.getAttribute('label') ?? 'Verify identity';
    this.#body.append(link);
  }

  #heard(event) {
    const { data } = event;
    if (!this.#window || event.source !== this.#window || event.origin !== this.#host || !data || data.source !== 'tidemark-kyc') return;
    if (data.sessionId !== this.#session?.sessionId) return;
    const frame = this.#body.querySelector('iframe');
    if (data.type === 'height' && frame && Number.isFinite(data.height)) frame.style.height = `${Math.min(Math.max(data.height, 240), 1600)}px`;
    if (data.type === 'state') this.#changed(data.state, data.compliant, data.ledger);
    if (data.type === 'close') {
      this.stop();
      this.#offer();
      this.#tell('close', { state: data.state });
    }
  }

  #changed(state, compliant, ledger) {
    this.#state = state;
    if (LAST.has(state) && (compliant || state !== 'approved')) clearInterval(this.#timer);
    this.#tell('state', { state, compliant, ledger });
  }

  async #look() {
    const { sessionId } = this.#session ?? {};
    const options = { credentials: 'omit', signal: AbortSignal.timeout(WAIT_MS) };
    const answer = await fetch(`${this.#host}/api/sdk/kyc/session/${encodeURIComponent(sessionId)}`, options).catch(() => null);
    const state = answer?.ok ? (await answer.json().catch(() => null))?.state : null;
    if (typeof state === 'string' && this.#session?.sessionId === sessionId && state !== this.#state) this.#changed(state, null, null);
  }
}

if (globalThis.customElements && !customElements.get('tidemark-kyc')) customElements.define('tidemark-kyc', TidemarkKyc);
