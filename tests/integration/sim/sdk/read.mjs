// Reads all that a network has, through @stellar/stellar-sdk's rpc.Server, and decodes every XDR of it.
// usage: read.mjs URL
import assert from 'node:assert/strict';
import { hash, rpc, scValToNative, xdr } from '@stellar/stellar-sdk';

process.on('uncaughtException', (error) => { // without the client's whole inside
  console.error(error.stack, error.response?.data ?? '');
  process.exit(1);
});

const server = new rpc.Server(process.argv[2], { allowHttp: true });

/** The same bytes again: what was decoded is all there was. */
function same(type, value, base64) {
  assert.equal(value.toXDR('base64'), base64);
  return value;
}

const health = await server.getHealth();
assert.equal(health.status, 'healthy');
const network = await server.getNetwork();
assert.match(network.passphrase, /Simulated/);
const fees = await server.getFeeStats();
assert.ok(Number(fees.sorobanInclusionFee.p50) >= 50);
const latest = await server.getLatestLedger();
assert.equal(latest.sequence, health.latestLedger);
assert.equal(hash(latest.headerXdr.toXDR()).toString('hex'), latest.id);
assert.equal(latest.metadataXdr.v2().ledgerHeader().hash().toString('hex'), latest.id);

// ---- ledgers: every one, chained, with the transactions and events that the other methods must tell

const seen = new Map(); // transaction hash -> its meta, as the ledger has it
let before, cursor, ledgers = 0;
do {
  const page = await server.getLedgers(cursor ? { pagination: { cursor, limit: 50 } } : { startLedger: health.oldestLedger, pagination: { limit: 50 } });
  for (const ledger of page.ledgers) {
    const header = ledger.headerXdr;
    assert.equal(hash(header.header().toXDR()).toString('hex'), ledger.hash);
    if (before) assert.equal(header.header().previousLedgerHash().toString('hex'), before);
    const meta = ledger.metadataXdr.v2();
    assert.equal(meta.ledgerHeader().toXDR('base64'), header.toXDR('base64'));
    assert.equal(ledger.ledgerCloseTime, header.header().scpValue().closeTime().toString());
    for (const done of meta.txProcessing())
      seen.set(done.result().transactionHash().toString('hex'), { ledger: ledger.sequence, meta: done.txApplyProcessing().toXDR('base64') });
    before = ledger.hash;
    ledgers++;
  }
  cursor = page.cursor;
} while (Number(cursor) < health.latestLedger);
assert.equal(ledgers, health.latestLedger - health.oldestLedger + 1);

// ---- transactions

const expected = new Map(); // transaction hash -> how many events it has
let bumps = 0, failed = 0;
async function check([name, known]) {
  const [text, tx] = await Promise.all([server._getTransaction(name), server.getTransaction(name)]);
  same('TransactionEnvelope', tx.envelopeXdr, text.envelopeXdr);
  same('TransactionResult', tx.resultXdr, text.resultXdr);
  same('TransactionMeta', tx.resultMetaXdr, text.resultMetaXdr);
  assert.deepEqual(known, { ledger: tx.ledger, meta: text.resultMetaXdr });
  for (const d of text.diagnosticEventsXdr ?? []) same('DiagnosticEvent', xdr.DiagnosticEvent.fromXDR(d, 'base64'), d);
  const { transactionEventsXdr = [], contractEventsXdr = [] } = text.events;
  for (const e of transactionEventsXdr) same('TransactionEvent', xdr.TransactionEvent.fromXDR(e, 'base64'), e);
  for (const e of contractEventsXdr.flat()) same('ContractEvent', xdr.ContractEvent.fromXDR(e, 'base64'), e);
  assert.equal(tx.resultMetaXdr.v4().operations().length, contractEventsXdr.length);
  expected.set(name, transactionEventsXdr.length + contractEventsXdr.flat().length);
  bumps += tx.feeBump;
  failed += tx.status === 'FAILED';
}
const some = [...seen].filter((_, i) => i % 5 === 0);
while (some.length) await Promise.all(some.splice(0, 50).map(check));
assert.equal((await server.getTransaction('00'.repeat(32))).status, 'NOT_FOUND');

// ---- events

let events = 0, last = '';
cursor = undefined;
for (;;) {
  const asked = cursor ? { cursor, limit: 1000 } : { startLedger: health.oldestLedger, limit: 1000 };
  const raw = await server._getEvents({ filters: [], ...asked });
  const page = await server.getEvents({ filters: [], ...asked });
  page.events.forEach((event, i) => {
    raw.events[i].topic.forEach((t, j) => same('ScVal', event.topic[j], t));
    same('ScVal', event.value, raw.events[i].value);
    event.topic.map(scValToNative);
    scValToNative(event.value);
    assert.ok(event.id > last, `${event.id} after ${last}`);
    assert.ok(seen.has(event.txHash));
    if (expected.has(event.txHash)) expected.set(event.txHash, expected.get(event.txHash) - 1);
    last = event.id;
    events++;
  });
  cursor = page.cursor;
  if (page.events.length < 1000) break;
}
assert.ok([...expected.values()].every((left) => left === 0));
console.log(`read ${ledgers} ledgers, ${seen.size} transactions (${bumps} bumped, ${failed} failed), ${events} events`);
