// A proxy before the API, of which a page sees an origin of its own. It watches what a page does and what it is told:
//   const proxy = await through(URL, { page: 'script', worker: (response, text) => … })
// `page` is a script that runs before the scripts of each page; `worker` answers instead of the file of the shared worker. proxy.url, .streams() and
// .connections(): open now; proxy.most: the most streams at once; proxy.answers: status and path of each; proxy.close().
import http from 'node:http';
import https from 'node:https';

// In each page: what went wrong is kept where a test reads it. A policy of 'self' allows a file of this origin.
const WATCH = `globalThis.bad = [];
for (const name of ['error', 'warn']) { const old = console[name]; console[name] = (...words) => { bad.push(name + ': ' + words.join(' ')); old.apply(console, words); }; }
// Firefox also says error of a link that wants a module which the page has already.
addEventListener('error', (event) => { if (event.target?.rel !== 'modulepreload') bad.push('error: ' + (event.message ?? event.target?.outerHTML)); }, true);
addEventListener('unhandledrejection', (event) => bad.push('rejected: ' + event.reason));
addEventListener('securitypolicyviolation', (event) => bad.push('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));
`;

export async function through(target, { page = '', worker = null, tls = {} } = {}) {
  const open = new Set(), answers = [], state = { most: 0 };
  const client = target.startsWith('https') ? https : http;
  const server = http.createServer((request, response) => {
    if (request.url === '/watch.js') return response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(WATCH + page);
    const headers = { ...request.headers, host: new URL(target).host, 'accept-encoding': 'identity' };
    if (headers.origin) headers.origin = target;
    const stream = request.url.startsWith('/api/stream');
    if (stream) { open.add(response); state.most = Math.max(state.most, open.size); }
    const asked = client.request(target + request.url, { method: request.method, headers, ...tls }, (answer) => {
      answers.push({ status: answer.statusCode, path: request.url, headers: answer.headers });
      const html = /^text\/html/.test(answer.headers['content-type'] ?? ''), script = /^\/app\/stream-[\w-]+\.js$/.test(request.url) && worker;
      if (!html && !script) { response.writeHead(answer.statusCode, answer.headers); answer.pipe(response); return; }
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => {
        if (script) { worker(response, text, answer.headers['content-type']); return; }
        const { 'content-length': _length, etag: _etag, ...rest } = answer.headers;
        response.writeHead(answer.statusCode, rest).end(text.replace('<head>', '<head><script src="/watch.js"></script>'));
      });
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => { open.delete(response); asked.destroy(); });
    request.pipe(asked);
    return null;
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.address().port}`, answers, streams: () => open.size,
    connections: () => new Promise((done) => { server.getConnections((_error, count) => done(count)); }),
    close: () => { server.closeAllConnections(); server.close(); },
  });
}
