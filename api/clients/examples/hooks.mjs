// Receives notifications: WEBHOOK_SECRET=whsec_… node hooks.mjs
import { createServer } from 'node:http';
import { verifyWebhook } from '@tidemark/client';

const seen = new Set(); // a real server keeps these ids in its database

createServer(async (request, response) => {
  const parts = [];
  let size = 0;
  for await (const part of request) if ((size += part.length) <= 65536) parts.push(part);
  try {
    const one = await verifyWebhook(Buffer.concat(parts), request.headers, process.env.WEBHOOK_SECRET);
    if (!seen.has(one.id)) console.log(one.type, JSON.stringify(one.data));
    seen.add(one.id);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error.code);
  }
}).listen(Number(process.env.PORT ?? 9090), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}/hooks`);
});
