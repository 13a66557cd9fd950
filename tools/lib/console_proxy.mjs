// usage: console_proxy.mjs FOLDER PORT CONSOLE_PORT — stands in for nginx before tidemark-console on a developer's machine.
// FOLDER has what the commands of api/console/README.md made, and server.pem and server.key. It asks each browser for a
// certificate of issuer.pem, and passes it on with the headers of proxy.conf. It listens on 127.0.0.1 alone.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [folder, port, consolePort] = process.argv.slice(2);
const file = (name) => readFileSync(`${folder}/${name}`);
const [, secret] = /X-Console-Proxy (\S+);/.exec(file('proxy.conf').toString());
const pem = (der) => `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;

function pass(request, response) {
  if (!/^\/console(?:[/?]|$)/.test(request.url)) return response.writeHead(302, { Location: '/console' }).end();
  const headers = { ...request.headers, 'x-console-proxy': secret, 'x-forwarded-for': request.socket.remoteAddress,
    'x-console-certificate': encodeURIComponent(pem(request.socket.getPeerCertificate().raw)) };
  const asked = http.request({ host: '127.0.0.1', port: consolePort, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end('the console does not answer\n')));
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}

const server = https.createServer({ cert: file('server.pem'), key: file('server.key'), ca: file('issuer.pem'), requestCert: true, rejectUnauthorized: true }, pass);
server.maxConnections = 64;
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
