// Many transfers of lumens at once, until a ledger has as many as it may hold, and until one has several that do not fit into a
// cluster together and do not depend on each other.
//
//   network_node NAME CHAIN bursts.mjs ROOM INSTRUCTIONS     a ledger's limit of transactions, and of instructions in a cluster
import fs from 'node:fs';
import { xdr, Address, Operation, SorobanDataBuilder, TransactionBuilder, PASS, account, key, nativeToScVal, send, seqs, simulate, wait } from './lib.mjs';

const [room, cluster] = process.argv.slice(2).map(Number);
const { contracts } = JSON.parse(fs.readFileSync(process.env.DEPLOYMENT));
const address = (who) => Address.fromString(who.publicKey()).toScVal();

async function transfer(from, to, instructions) {
  const op = Operation.invokeContractFunction({ contract: contracts.xlm, function: 'transfer',
    args: [address(from), address(to), nativeToScVal(1000n, { type: 'i128' })] });
  const simulation = await simulate(op, from.publicKey());
  if (simulation.error) throw new Error(simulation.error);
  const data = new SorobanDataBuilder(simulation.transactionData).build();
  if (instructions) data.resources().instructions(instructions);
  const fee = BigInt(simulation.minResourceFee) + 5000000n;
  data.resourceFee(xdr.Int64.fromString(String(fee)));
  const auth = simulation.results[0].auth.map((entry) => xdr.SorobanAuthorizationEntry.fromXDR(entry, 'base64'));
  const call = Operation.invokeHostFunction({ func: op.body().invokeHostFunctionOp().hostFunction(), auth });
  const tx = new TransactionBuilder(await account(from.publicKey()), { fee: String(fee + 100000n), networkPassphrase: PASS, sorobanData: data })
    .addOperation(call).setTimeout(300).build();
  tx.sign(from);
  seqs.set(from.publicKey(), BigInt(tx.sequence));
  return tx;
}

// senders: numbers of accounts that pay their neighbours. Returns the most that came into one ledger.
async function burst(senders, instructions) {
  const txs = [];
  for (const n of senders) txs.push(await transfer(key(`user${n}`), key(`user${n ^ 1}`), instructions));
  await Promise.all(txs.map(send));
  const count = {};
  for (const tx of txs) {
    const { ledger } = await wait(tx.hash().toString('hex'));
    count[ledger] = (count[ledger] ?? 0) + 1;
  }
  console.log(`${txs.length} at once, by ledger: ${JSON.stringify(count)}`);
  return Math.max(...Object.values(count));
}

// Core's queue has room for two ledgers. However they meet the ledgers' closing, one of these is full.
while (await burst([...Array(2 * room).keys()], 0) < room);
while (await burst([0, 2, 4, 6, 8, 10], Math.floor(cluster * 0.6)) < 2);
