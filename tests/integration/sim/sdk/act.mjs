// Acts on a network through @stellar/stellar-sdk's rpc.Server: a new account that may not trade until
// it is attested, in simulation and on the chain alike; then it trades in every way there is.
// Ledgers close when told.
// usage: act.mjs URL DEPLOYMENT SECRET-OF-A-VERIFIER
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Account, Address, authorizeEntry, BASE_FEE, Contract, Keypair, nativeToScVal, Operation, rpc, scValToNative,
  SorobanDataBuilder, TransactionBuilder, xdr } from '@stellar/stellar-sdk';

process.on('uncaughtException', (error) => { // without the client's whole inside
  console.error(error.stack, error.response?.data ?? '');
  process.exit(1);
});

const [, , url, deploymentFile, verifierSecret] = process.argv;
const server = new rpc.Server(url, { allowHttp: true });
const { contracts } = JSON.parse(fs.readFileSync(deploymentFile));
const { passphrase } = await server.getNetwork();
const addressOf = (name) => contracts[name].address ?? contracts[name];
const pool = new Contract(addressOf('liquidity_pool')), registry = new Contract(addressOf('compliance_registry'));
const verifier = Keypair.fromSecret(verifierSecret);

const close = async (count = 1) => assert.ok((await fetch(`${url}/close`, { method: 'POST', body: String(count) })).ok);
const now = async () => Number((await server.getLatestLedger()).closeTime);
const address = (key) => Address.fromString(key.publicKey()).toScVal();
const swapOf = (trader, amount) => pool.call('swap_exact_in', address(trader), nativeToScVal('XLMUSDC', { type: 'symbol' }),
  nativeToScVal(false), nativeToScVal(amount, { type: 'i128' }), nativeToScVal(0n, { type: 'i128' }), nativeToScVal(0, { type: 'u32' }));
const attestOf = async (subject) => registry.call('attest', address(verifier), address(subject), nativeToScVal(756, { type: 'u32' }),
  nativeToScVal((await now()) + 31536000, { type: 'u64' }), xdr.ScVal.scvBytes(Buffer.from('a test')));

async function draft(source, operation, sequence) {
  const account = sequence ? new Account(source.publicKey(), sequence) : await server.getAccount(source.publicKey());
  return new TransactionBuilder(account, { fee: BASE_FEE, networkPassphrase: passphrase })
    .setTimebounds(0, (await now()) + 300).addOperation(operation).build();
}

/** Sends it and closes ledgers until it is final. */
async function final(tx) {
  const sent = await server.sendTransaction(tx);
  assert.equal(sent.status, 'PENDING', JSON.stringify(sent));
  assert.equal(sent.hash, tx.hash().toString('hex'));
  assert.equal((await server.getTransaction(sent.hash)).status, 'NOT_FOUND');
  await close();
  const done = await server.pollTransaction(sent.hash, { attempts: 5, sleepStrategy: () => 50 });
  assert.notEqual(done.status, 'NOT_FOUND');
  return done;
}

async function invoke(source, operation) {
  const tx = await server.prepareTransaction(await draft(source, operation));
  tx.sign(source);
  return final(tx);
}

// ---- unknown accounts, then known ones

const [alice, bob] = [Keypair.random(), Keypair.random()];
await assert.rejects(server.getAccount(bob.publicKey()), /not found/i);
for (const who of [alice, bob]) {
  const account = await server.requestAirdrop(who.publicKey());
  assert.equal(account.accountId(), who.publicKey());
  assert.equal((await server.getAccount(who.publicKey())).sequenceNumber(), account.sequenceNumber());
}
await assert.rejects(server.fundAddress(bob.publicKey()), /400|funded/);
const entry = await server.getAccountEntry(bob.publicKey());
assert.equal(entry.balance().toString(), String(10000n * 10000000n));

// ---- before the attestation: refused, in simulation and, forced, on the chain

const contractError = /HostError: Error\(WasmVm, InvalidAction\)[^]*KYC required/; // a panic, as the contract does it
const refused = await server.simulateTransaction(await draft(bob, swapOf(bob, 100000000n)));
assert.ok(rpc.Api.isSimulationError(refused), JSON.stringify(refused));
assert.match(refused.error, contractError);
await assert.rejects(server.prepareTransaction(await draft(bob, swapOf(bob, 100000000n))), contractError);

const attested = await invoke(verifier, await attestOf(alice));
assert.equal(attested.status, 'SUCCESS');
const allowed = await server.simulateTransaction(await draft(alice, swapOf(alice, 100000000n)));
assert.ok(rpc.Api.isSimulationSuccess(allowed), allowed.error);
assert.ok(allowed.result.retval && BigInt(scValToNative(allowed.result.retval)) > 0n);
assert.ok(Number(allowed.minResourceFee) > 0 && allowed.stateChanges?.length > 0);

/** What alice's simulation says, for bob: her key replaced by his wherever it stands. */
function forBob(base64) {
  const from = alice.rawPublicKey(), to = bob.rawPublicKey(), bytes = Buffer.from(base64, 'base64');
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 32)) to.copy(bytes, at);
  return bytes.toString('base64');
}
async function forced() {
  const data = xdr.SorobanTransactionData.fromXDR(forBob(allowed.transactionData.build().toXDR('base64')), 'base64');
  const auth = allowed.result.auth.map((a) => xdr.SorobanAuthorizationEntry.fromXDR(forBob(a.toXDR('base64')), 'base64'));
  const operation = swapOf(bob, 100000000n);
  const invocation = operation.body().invokeHostFunctionOp();
  const account = await server.getAccount(bob.publicKey());
  const tx = new TransactionBuilder(account, { fee: String(Number(BASE_FEE) + Number(allowed.minResourceFee) * 2), networkPassphrase: passphrase })
    .setTimebounds(0, (await now()) + 300)
    .addOperation(Operation.invokeHostFunction({ func: invocation.hostFunction(), auth }))
    .setSorobanData(new SorobanDataBuilder(data).setResourceFee(Number(allowed.minResourceFee) * 2).build()).build();
  tx.sign(bob);
  return tx;
}
const failed = await final(await forced());
assert.equal(failed.status, 'FAILED', 'a swap without attestation got in');
assert.equal(failed.resultXdr.result().switch().name, 'txFailed');
assert.equal(failed.resultXdr.result().results()[0].tr().invokeHostFunctionResult().switch().name, 'invokeHostFunctionTrapped');
assert.ok(Number(failed.resultXdr.feeCharged()) > 0);

// ---- after it: accepted

assert.equal((await invoke(verifier, await attestOf(bob))).status, 'SUCCESS');
const swapped = await invoke(bob, swapOf(bob, 100000000n));
assert.equal(swapped.status, 'SUCCESS');
assert.ok(BigInt(scValToNative(swapped.returnValue)) > 0n);
const events = await server.getEvents({ startLedger: swapped.ledger, filters: [{ type: 'contract', contractIds: [pool.contractId()] }], limit: 100 });
const mine = events.events.filter((e) => e.txHash === swapped.txHash);
assert.ok(mine.length > 0 && mine.every((e) => e.inSuccessfulContractCall));

// ---- signed for by another than the source

const outside = await draft(alice, swapOf(bob, 50000000n));
const simulated = await server.simulateTransaction(outside);
assert.ok(rpc.Api.isSimulationSuccess(simulated), simulated.error);
assert.equal(simulated.result.auth.length, 1);
const until = (await server.getLatestLedger()).sequence + 50;
const signed = await Promise.all(simulated.result.auth.map((a) => authorizeEntry(a, bob, until, passphrase)));
const func = swapOf(bob, 50000000n).body().invokeHostFunctionOp().hostFunction();
const enforced = await draft(alice, Operation.invokeHostFunction({ func, auth: signed }));
const ready = await server.prepareTransaction(enforced);
ready.sign(alice);
assert.equal((await final(ready)).status, 'SUCCESS');
const again = await server.simulateTransaction(await draft(alice, Operation.invokeHostFunction({ func, auth: signed })));
assert.ok(rpc.Api.isSimulationError(again), 'the same nonce twice');

// ---- the queue: twice the same, two of one account, an old sequence, a bad signature, too late, a fee bump

const first = await server.prepareTransaction(await draft(bob, swapOf(bob, 10000000n)));
first.sign(bob);
assert.equal((await server.sendTransaction(first)).status, 'PENDING');
assert.equal((await server.sendTransaction(first)).status, 'DUPLICATE');
const second = await server.prepareTransaction(await draft(bob, swapOf(bob, 10000001n), first.sequence));
second.sign(bob);
assert.equal((await server.sendTransaction(second)).status, 'TRY_AGAIN_LATER');
await close();
assert.equal((await server.getTransaction(first.hash().toString('hex'))).status, 'SUCCESS');
const codeOf = (sent) => sent.errorResult.result().switch().name;
const old = await server.sendTransaction(first);
assert.equal(old.status, 'ERROR');
assert.equal(codeOf(old), 'txBadSeq');
const unsigned = await server.prepareTransaction(await draft(bob, swapOf(bob, 10000000n)));
assert.equal(codeOf(await server.sendTransaction(unsigned)), 'txBadAuth');
const late = new TransactionBuilder(await server.getAccount(bob.publicKey()), { fee: BASE_FEE, networkPassphrase: passphrase })
  .setTimebounds(0, (await now()) - 1).addOperation(swapOf(bob, 1n)).build();
late.sign(bob);
assert.equal((await server.sendTransaction(late)).status, 'ERROR');

const inner = await server.prepareTransaction(await draft(bob, swapOf(bob, 20000000n)));
inner.sign(bob);
const bump = TransactionBuilder.buildFeeBumpTransaction(alice, String(Number(BASE_FEE) * 10), inner, passphrase);
bump.sign(alice);
assert.equal((await final(bump)).status, 'SUCCESS');
const byInner = await server.getTransaction(inner.hash().toString('hex'));
assert.equal(byInner.status, 'SUCCESS');
assert.equal(byInner.feeBump, true);

// ---- no ledger takes it: dropped after some, its hash banned for more, then it may come again

const payment = new Contract(addressOf('usdc')).call('transfer', address(alice), address(bob), nativeToScVal(10000000n, { type: 'i128' }));
const waiting = await server.prepareTransaction(await draft(alice, payment));
waiting.sign(alice);
assert.ok((await fetch(`${url}/hold`, { method: 'POST', body: '5' })).ok);
assert.equal((await server.sendTransaction(waiting)).status, 'PENDING');
await close(5);
assert.equal((await server.getTransaction(waiting.hash().toString('hex'))).status, 'NOT_FOUND');
assert.equal((await server.sendTransaction(waiting)).status, 'TRY_AGAIN_LATER');
await close(10);
assert.equal((await final(waiting)).status, 'SUCCESS');

// ---- entries

const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: bob.xdrAccountId() }));
const found = await server.getLedgerEntries(key, xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: Keypair.random().xdrAccountId() })));
assert.equal(found.entries.length, 1);
assert.equal(found.entries[0].val.account().accountId().ed25519().toString('hex'), bob.rawPublicKey().toString('hex'));
const instance = await server.getContractData(pool.contractId(), xdr.ScVal.scvLedgerKeyContractInstance());
assert.ok(instance.liveUntilLedgerSeq > swapped.ledger && instance.val.contractData().durability().name === 'persistent');
console.log(`acted: refused before, accepted after; ledger ${(await server.getLatestLedger()).sequence}`);
