// A server that answers as it is told: `fake(script)` gives { url, requests, close }. Each request takes the next step of its path.
import { createServer } from 'node:http';

/** `script`: { '/path': [(request, response) => …, …] }; the last step of a path is repeated. */
export function fake(script) {
  const requests = [];
  const taken = {};
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://x').pathname;
    const steps = script[path] ?? [(_, other) => reply(other, 404, { code: 'no_route', detail: 'none' })];
    const at = Math.min(taken[path] ?? 0, steps.length - 1);
    taken[path] = at + 1;
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers, body, at: Date.now() });
      steps[at](request, response);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}`,
        requests,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      }));
  });
}

export function reply(response, status, body, headers = {}) {
  response.writeHead(status, { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export const LEDGER = { 'Ledger-Sequence': '77', 'Ledger-Closed-At': '2026-01-31T07:24:04Z', 'Proven-Through': '70', 'Data-Age-Ms': '12', Network: 'Test', 'Request-Id': 'r1' };
