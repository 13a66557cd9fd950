#!/usr/bin/env node
// A Stellar RPC for the yardstick only: getHealth, getLatestLedger, getLedgers and getEvents. It reads
// the ledgers as a framed stream from standard input and prepares its answers before it listens, so
// that the measured time is the client's. getEvents returns the swaps of CONTRACT alone, because the
// yardstick asks for nothing else. The server listens on the loopback address only.
// usage: rpc.mjs PORT CONTRACT SWAPS < stream     SWAPS: a file with the output of `tidemark-indexer dump`
import fs from 'node:fs';
import http from 'node:http';
import readline from 'node:readline';

const [port, contract, swaps] = [Number(process.argv[2]), process.argv[3], process.argv[4]];

// ---- ledgers: fields of the header, and the bytes

/** Returns the offset behind the XDR opaque that begins at `at`: length, bytes, padding to four. */
const opaque = (b, at) => at + 4 + ((b.readUInt32BE(at) + 3) & ~3);
/** Returns where the LedgerHeaderHistoryEntry of a LedgerCloseMeta V1 or V2 begins and ends, and where its sequence number is. */
function headerSpan(lcm) {
  const from = lcm.readUInt32BE(4) === 1 ? 20 : 8;
  let at = from + 32 + 4 + 32 + 32 + 8; // hash, version, previous, txSetHash, closeTime
  const upgrades = lcm.readUInt32BE(at);
  at += 4;
  for (let i = 0; i < upgrades; i++) at = opaque(lcm, at);
  at = lcm.readUInt32BE(at) === 1 ? opaque(lcm, at + 4 + 36) : at + 4;
  return [from, at + 32 + 32 + 4 + 8 + 8 + 4 + 8 + 4 + 4 + 4 + 128 + 4 + 4, at + 64];
}
const ledgers = [];
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const stream = Buffer.concat(chunks);
for (let at = 0; at < stream.length;) {
  const size = stream.readUInt32BE(at) & 0x7fffffff, lcm = stream.subarray(at + 4, at + 4 + size);
  const [from, to, sequenceAt] = headerSpan(lcm);
  ledgers.push({ hash: lcm.subarray(from, from + 32).toString('hex'), sequence: lcm.readUInt32BE(sequenceAt),
    ledgerCloseTime: String(lcm.readBigUInt64BE(from + 100)), headerXdr: lcm.subarray(from, to).toString('base64'), lcm });
  at += 4 + size;
}
const oldest = ledgers[0].sequence, latest = ledgers.at(-1).sequence;
const shown = ledgers.map(({ lcm, ...l }) => JSON.stringify({ ...l, metadataXdr: lcm.toString('base64') }));
const tail = `"latestLedger":${latest},"latestLedgerCloseTime":0,"oldestLedger":${oldest},"oldestLedgerCloseTime":0`;
function getLedgers(p) {
  const limit = Math.min(p.pagination?.limit ?? 50, 200);
  const from = p.pagination?.cursor ? Number(p.pagination.cursor) + 1 - oldest : p.startLedger - oldest;
  const page = shown.slice(from, from + limit);
  return `{"ledgers":[${page.join(',')}],${tail},"cursor":"${oldest + from + page.length - 1}"}`;
}

// ---- swaps: events of the dump, in the form of getEvents

const SWAP = 'AAAADwAAAARzd2Fw'; // Symbol "swap"
const ids = [], events = [];
for await (const line of readline.createInterface({ input: fs.createReadStream(swaps), crlfDelay: Infinity })) {
  const o = JSON.parse(line);
  if (o.kind !== 'event' || o.level !== 'op' || o.contractId !== contract || o.topics[0] !== SWAP || o.topics.length !== 3) continue;
  const ledger = Number(BigInt(o.rpcId.split('-')[0]) >> 32n);
  const ledgerClosedAt = new Date(Number(ledgers[ledger - oldest].ledgerCloseTime) * 1000).toISOString().replace('.000', '');
  ids.push(o.rpcId);
  events.push(JSON.stringify({ type: 'contract', ledger, ledgerClosedAt, contractId: o.contractId, id: o.rpcId, operationIndex: o.op,
    transactionIndex: o.tx, txHash: o.txHash, inSuccessfulContractCall: true, topic: o.topics, value: o.data }));
}
/** Returns the place of the first event whose id is greater. The ids are sorted. */
const after = (id) => { let lo = 0, hi = ids.length; while (lo < hi) { const m = (lo + hi) >> 1; if (ids[m] <= id) lo = m + 1; else hi = m; } return lo; };
/** Cursor of a page that reached the end: greater than every id of the newest ledger. */
const last = `${((BigInt(latest) << 32n) | 0xffffffffn).toString().padStart(19, '0')}-4294967295`;
function getEvents(p) {
  const limit = p.pagination?.limit ?? 100, from = p.pagination?.cursor ? after(p.pagination.cursor) : 0;
  const page = events.slice(from, from + limit);
  return `{"events":[${page.join(',')}],"cursor":"${page.length === limit ? ids[from + limit - 1] : last}",${tail.replace(/Time":0/g, 'Time":"0"')}}`;
}

const answers = {
  getHealth: () => `{"status":"healthy","latestLedger":${latest},"oldestLedger":${oldest},"ledgerRetentionWindow":120960}`,
  getLatestLedger: () => `{"id":"${ledgers.at(-1).hash}","protocolVersion":25,"sequence":${latest}}`,
  getLedgers,
  getEvents,
};
http.createServer((req, res) => {
  const parts = [];
  req.on('data', (d) => parts.push(d));
  req.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(parts).toString());
    res.setHeader('Content-Type', 'application/json');
    const answer = answers[method];
    res.end(answer ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer(params ?? {})}}`
      : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no such method"}}`);
  });
}).listen(port, '127.0.0.1', () => console.error(`rpc.mjs: ${ledgers.length} ledgers, ${events.length} swaps on port ${port}`));
