#!/usr/bin/env node
// A Stellar RPC for the yardstick only: answers getHealth, getLatestLedger, getEvents and getLedgers
// from what `tidemark-indexer decode` prints, with pages made ahead, so that the client and not
// this server is what is measured. Bound to loopback.
// Events: the swaps of CONTRACT alone, which is what the yardstick's filter asks for.
// usage: rpc.mjs PORT CONTRACT < lines of decode, in ledger order
import http from 'node:http';
import readline from 'node:readline';

const [port, contract] = [Number(process.argv[2]), process.argv[3]];
const SWAP = 'AAAADwAAAARzd2Fw'; // Symbol "swap"
const found = [];
let oldest = 0, latest = 0, closed = {};
for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const o = JSON.parse(line);
  if (o.kind === 'ledger') {
    oldest ||= o.sequence; latest = o.sequence;
    closed[o.sequence] = new Date(Number(o.closeTime) * 1000).toISOString().replace('.000', '');
  } else if (o.kind === 'event' && o.level === 'op' && o.contractId === contract && o.topics[0] === SWAP && o.topics.length === 3) {
    const ledger = Number(BigInt(o.rpcId.split('-')[0]) >> 32n);
    found.push({ type: 'contract', ledger, contractId: o.contractId, id: o.rpcId,
      operationIndex: o.op, transactionIndex: o.tx, txHash: o.txHash, inSuccessfulContractCall: true, topic: o.topics, value: o.data });
  }
}
const ids = found.map((e) => e.id);
const events = found.map((e) => JSON.stringify({ ...e, ledgerClosedAt: closed[e.ledger] })); // a ledger's line follows its events
const at = (id) => { let lo = 0, hi = ids.length; while (lo < hi) { const m = (lo + hi) >> 1; if (ids[m] <= id) lo = m + 1; else hi = m; } return lo; };
const tail = `"latestLedger":${latest},"oldestLedger":${oldest},"latestLedgerCloseTime":"0","oldestLedgerCloseTime":"0"`;
const last = `${((BigInt(latest) << 32n) | 0xffffffffn).toString().padStart(19, '0')}-4294967295`;
function getEvents(p) {
  const limit = p.pagination?.limit ?? 100, from = p.pagination?.cursor ? at(p.pagination.cursor) : 0;
  const page = events.slice(from, from + limit);
  return `{"events":[${page.join(',')}],"cursor":"${page.length === limit ? ids[from + limit - 1] : last}",${tail}}`;
}
const answers = {
  getHealth: () => `{"status":"healthy","latestLedger":${latest},"oldestLedger":${oldest},"ledgerRetentionWindow":120960}`,
  getLatestLedger: () => `{"id":"00","protocolVersion":25,"sequence":${latest}}`,
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
}).listen(port, '127.0.0.1', () => console.error(`rpc.mjs: ${events.length} events on port ${port}`));
