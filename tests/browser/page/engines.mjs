// Browsers of three engines behind one small interface: tabs as a person has them, of which one in a window is shown.
//   const browser = await start('chromium' | 'firefox' | 'webkit')
//   const tab = await browser.tab(url)      in a window of its own
//   tab.evaluate(expression), tab.go(url), tab.back(), tab.hide(), tab.show(), tab.close(); browser.close()
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { launch, PATIENCE_MS } from './looks.mjs';

export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Until the question is answered with something true. */
export async function eventually(what, question, ms = 60000) {
  let last;
  for (const end = Date.now() + ms; Date.now() < end; await pause(50)) {
    last = await question();
    if (last) return last;
  }
  throw new Error(`not within ${ms} ms: ${what}`);
}

/** A program that tells where it listens: the first match of `pattern` in what it prints. */
async function program(command, args, options, pattern) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  process.on('exit', () => child.kill());
  let said = '', ended = false;
  for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding('utf8').on('data', (text) => { said = (said + text).slice(-65536); });
  child.on('error', (error) => { said += error; ended = true; }).on('exit', () => { ended = true; });
  const found = await eventually(`${command} starts`, () => { if (ended) throw new Error(`${command} ended: ${said}`); return pattern.exec(said); }, PATIENCE_MS);
  return { found, said: () => said, stop: async () => { child.kill(); await eventually(`${command} ends`, () => ended || (child.kill('SIGKILL'), false)); } };
}

const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => done(port)); });
});

/** Messages with numbers over a WebSocket, as BiDi has them. */
async function dialogue(address) {
  const socket = new WebSocket(address), waiting = new Map();
  let asked = 0;
  socket.on('message', (text) => {
    const { id, result, message } = JSON.parse(text);
    const one = waiting.get(id);
    waiting.delete(id);
    if (one && result) one.done(result); else one?.failed(new Error(message));
  });
  await new Promise((done, failed) => { socket.once('open', done); socket.once('error', failed); });
  return {
    ask: (method, params = {}) => new Promise((done, failed) => { waiting.set(++asked, { done, failed }); socket.send(JSON.stringify({ id: asked, method, params })); }),
    close: () => socket.close(),
  };
}

/** Chrome's own protocol, beside Playwright: that one's pages are all shown, always, and never come back from the cache of left pages. */
async function chromium() {
  const browser = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  const root = await browser.newBrowserCDPSession(), waiting = new Map();
  let asked = 0;
  root.on('Target.receivedMessageFromTarget', ({ message }) => { const { id, result } = JSON.parse(message); waiting.get(id)?.(result); });
  const open = async (url, newWindow) => (await root.send('Target.createTarget', { url, newWindow })).targetId;
  return {
    version: `chromium ${browser.version()}`,
    close: () => browser.close(),
    async tab(url) {
      const cover = await open('about:blank', true), targetId = await open(url, false); // a tab is opened in the last window
      const { sessionId } = await root.send('Target.attachToTarget', { targetId, flatten: false });
      const send = (method, params = {}) => new Promise((done, failed) => {
        waiting.set(++asked, done);
        root.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id: asked, method, params }) }).catch(failed);
      });
      return {
        send,
        hide: () => root.send('Target.activateTarget', { targetId: cover }), show: () => root.send('Target.activateTarget', { targetId }),
        async close() { for (const one of [targetId, cover]) await root.send('Target.closeTarget', { targetId: one }); },
        evaluate: async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true }))?.result?.value,
        go: (to) => send('Page.navigate', { url: to }),
        async back() {
          const { entries, currentIndex } = await send('Page.getNavigationHistory');
          await send('Page.navigateToHistoryEntry', { entryId: entries[currentIndex - 1].id });
        },
      };
    },
  };
}

/** WebDriver BiDi, which Firefox speaks by itself. */
async function firefox() {
  const profile = mkdtempSync(join(tmpdir(), 'firefox.'));
  const own = await program('firefox-esr', ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
    { env: { ...process.env, HOME: profile, MOZ_HEADLESS_WIDTH: '1280', MOZ_HEADLESS_HEIGHT: '1000' } }, /BiDi listening on (ws:\S+)/);
  const { ask, close } = await dialogue(`${own.found[1]}/session`);
  const { capabilities } = await ask('session.new', { capabilities: {} });
  return {
    version: `firefox ${capabilities.browserVersion}`, said: own.said,
    async close() { await ask('browser.close').catch(() => {}); close(); await own.stop(); rmSync(profile, { recursive: true, force: true }); },
    async tab(url) {
      const { context } = await ask('browsingContext.create', { type: 'window' });
      const go = (to) => ask('browsingContext.navigate', { context, url: to, wait: 'none' });
      let cover = null;
      const uncover = async () => { if (cover) await ask('browsingContext.close', { context: cover }); cover = null; };
      await go(url);
      return {
        go,
        async hide() { cover = (await ask('browsingContext.create', { type: 'tab', referenceContext: context })).context; },
        async show() { await ask('browsingContext.activate', { context }); await uncover(); },
        async close() { await uncover(); await ask('browsingContext.close', { context }); },
        back: () => ask('browsingContext.traverseHistory', { context, delta: -1 }),
        evaluate: async (expression) => {
          const { result } = await ask('script.evaluate', { expression: `(async () => JSON.stringify(await (${expression})))()`, target: { context }, awaitPromise: true }).catch(() => ({}));
          return result?.value === undefined ? undefined : JSON.parse(result.value);
        },
      };
    },
  };
}

const MINI = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`).find(existsSync);

/** WebKitGTK's small browser by WebDriver, on a screen in memory. One command at a time, each in the tab that was chosen before. */
async function webkit() {
  const home = mkdtempSync(join(tmpdir(), 'webkit.'));
  const screen = await program('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'], {}, /^(\d+)\n/m);
  const display = `:${screen.found[1]}`;
  const port = await freePort();
  const own = await program('sh', ['-c', 'echo starts; exec WebKitWebDriver "$@"', 'sh', `--port=${port}`],
    { env: { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1', LC_ALL: 'C.UTF-8' } }, /starts/); // no language: see withoutLanguage in vite.config.ts
  const raw = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  await eventually('WebKitWebDriver listens', () => raw('GET', '/status').catch(() => false));
  const made = await raw('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: MINI, args: ['--automation'] } } } });
  const at = `/session/${made.sessionId}`;
  let chosen = await raw('GET', `${at}/window`), queue = Promise.resolve();
  const first = chosen;
  const screenAsks = (...words) => execFileSync('xdotool', words, { env: { ...process.env, DISPLAY: display }, encoding: 'utf8' }).trim().split('\n');
  // A window that goes while xdotool looks at it ends the search (BadWindow).
  const windows = () => eventually('a search of windows', () => {
    try { return screenAsks('search', '--onlyvisible', '--name', 'MiniBrowser|Tidemark|^\\[Automation'); } catch (error) {
      if (!/BadWindow/.test(error.stderr)) throw error;
    }
  });
  const inTab = (handle, method, path, body) => {
    const next = queue.then(async () => {
      if (handle !== chosen) await raw('POST', `${at}/window`, { handle });
      chosen = handle;
      return raw(method, at + path, body);
    });
    queue = next.catch(() => {});
    return next;
  };
  await raw('POST', `${at}/timeouts`, { script: 60000, pageLoad: PATIENCE_MS });
  return {
    version: `webkit ${made.capabilities.browserName} ${made.capabilities.browserVersion}`, said: own.said,
    async close() { await raw('DELETE', at).catch(() => {}); await own.stop(); await screen.stop(); rmSync(home, { recursive: true, force: true }); },
    async tab(url) {
      const before = await windows();
      const { handle } = await inTab(first, 'POST', '/window/new', { type: 'window' });
      const own = await eventually('a window', async () => (await windows()).find((one) => !before.includes(one)));
      const go = (to) => inTab(handle, 'POST', '/url', { url: to });
      await go(url);
      return {
        go, hide: () => screenAsks('windowunmap', own), show: () => screenAsks('windowmap', own),
        close: () => inTab(handle, 'DELETE', '/window'), back: () => inTab(handle, 'POST', '/back', {}),
        evaluate: (expression) => inTab(handle, 'POST', '/execute/async', { script: `const done = arguments[0]; (async () => (${expression}))().then(done, () => done())`, args: [] }).catch(() => undefined),
      };
    },
  };
}

export const start = (engine) => ({ chromium, firefox, webkit })[engine]();
