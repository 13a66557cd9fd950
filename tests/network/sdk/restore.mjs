// Brings archived entries back: one transaction RestoreFootprint, sent by the deployment's account user6. With LEDGERS, a second
// transaction, ExtendFootprintTtl, lets them live for so many ledgers: just restored, none of them can be archived before it.
//
//   network_node NAME CHAIN restore.mjs [LEDGERS] <KEYS     a line each: a LedgerKey as base64
import fs from 'node:fs';
import { xdr, Account, Operation, SorobanDataBuilder, TransactionBuilder, PASS, account, key, patiently, rpc, send, seqs, wait } from './lib.mjs';

const keys = fs.readFileSync(0, 'utf8').trim().split('\n').map((line) => xdr.LedgerKey.fromXDR(line, 'base64'));
const source = key('user6');

async function submit(what, operation, footprint) {
  const build = (from, fee, data) => new TransactionBuilder(from, { fee: String(fee), networkPassphrase: PASS, sorobanData: data })
    .addOperation(operation).setTimeout(300).build();
  const from = await account(source.publicKey());
  const draft = build(new Account(source.publicKey(), from.sequenceNumber()), 1000000, new SorobanDataBuilder().setFootprint(...footprint).build());
  const simulation = await patiently(() => rpc('simulateTransaction', { transaction: draft.toXDR() }));
  if (simulation.error) throw new Error(simulation.error);
  const data = new SorobanDataBuilder(simulation.transactionData).build();
  const fee = BigInt(simulation.minResourceFee) + 1000000n;
  data.resourceFee(xdr.Int64.fromString(String(fee)));
  const tx = build(from, fee + 100n, data);
  tx.sign(source);
  await send(tx);
  seqs.set(source.publicKey(), BigInt(tx.sequence));
  const done = await wait(tx.hash().toString('hex'));
  if (done.status !== 'SUCCESS') throw new Error(`${keys.length} entries are not ${what}: ${done.status} ${done.resultXdr}`);
  console.log(`${keys.length} entries ${what} in ledger ${done.ledger}`);
}

await submit('restored', Operation.restoreFootprint({}), [[], keys]);
const [ledgers] = process.argv.slice(2);
if (ledgers) await submit('extended', Operation.extendFootprintTtl({ extendTo: Number(ledgers) }), [keys, []]);
