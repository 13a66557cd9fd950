// Transactions at the edges of what a network takes: one line each, "NAME: what sendTransaction answered, then what the ledger says".
//
//   RPC_URL=… NETWORK_PASSPHRASE=… node edges.mjs REGISTRY SECRET SECRET2      both accounts exist; CLOSE_URL: asked for a ledger
import { xdr, Address, Account, Asset, Keypair, Memo, MuxedAccount, Operation, SorobanDataBuilder, TransactionBuilder, patiently, rpc, sleep, PASS } from './lib.mjs';

const [registry, secret, secret2] = process.argv.slice(2);
const source = Keypair.fromSecret(secret), other = Keypair.fromSecret(secret2);
const close = async () => { if (process.env.CLOSE_URL) await fetch(process.env.CLOSE_URL, { method: 'POST', body: '1' }); };

async function next(who) {
  const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: who.xdrAccountId() })).toXDR('base64');
  const found = await rpc('getLedgerEntries', { keys: [key] });
  return BigInt(xdr.LedgerEntryData.fromXDR(found.entries[0].xdr, 'base64').account().seqNum().toString());
}

const call = (source) => Operation.invokeContractFunction({ contract: registry, function: 'is_user_compliant', source,
  args: [Address.fromString(other.publicKey()).toScVal()] });
let prepared; // a simulation's resources and fee, and an authorisation of nothing
async function resources(change) {
  if (!prepared) {
    const tx = new TransactionBuilder(new Account(source.publicKey(), '1'), { fee: '100', networkPassphrase: PASS }).addOperation(call()).setTimeout(0).build();
    prepared = await patiently(() => rpc('simulateTransaction', { transaction: tx.toXDR() }));
    if (prepared.error) throw new Error(prepared.error);
  }
  const data = new SorobanDataBuilder(prepared.transactionData).build();
  data.resourceFee(xdr.Int64.fromString(String(BigInt(prepared.minResourceFee) + 200000n)));
  if (change) change(data, data.resources());
  return data;
}

// what: { data (change of the resources; null: none), fee, memo, op, ops, time, seq, from (muxed id), sign }
async function build(what = {}) {
  const data = what.data === null ? null : await resources(what.data);
  const fee = what.fee ?? Math.max(0, Number(data?.resourceFee() ?? 0)) + 1000;
  const seq = (await next(source)) + BigInt(what.seq ?? 0);
  let account = new Account(source.publicKey(), String(seq));
  if (what.muxed) account = new MuxedAccount(account, what.muxed);
  const builder = new TransactionBuilder(account, { fee: String(fee), networkPassphrase: PASS, timebounds: what.time ?? { minTime: 0, maxTime: 0 } });
  for (const op of what.ops ?? [what.op ?? call()]) builder.addOperation(op);
  if (what.memo) builder.addMemo(what.memo);
  if (what.ledgers) builder.setLedgerbounds(...what.ledgers);
  if (data) builder.setSorobanData(data);
  const envelope = builder.build().toEnvelope();
  envelope.v1().tx().fee(fee); // the builder would add the resource fee
  const tx = TransactionBuilder.fromXDR(envelope, PASS);
  for (const key of what.sign ?? [source]) tx.sign(key);
  return tx;
}

function bumped(inner, fee, payer, sign = [payer]) {
  const out = TransactionBuilder.buildFeeBumpTransaction(payer, String(fee), inner, PASS);
  for (const key of sign) out.sign(key);
  return out;
}

function words(base64) {
  const result = xdr.TransactionResult.fromXDR(base64, 'base64').result();
  const name = result.switch().name;
  if (name === 'txFeeBumpInnerFailed' || name === 'txFeeBumpInnerSuccess') return `${name} ${result.innerResultPair().result().result().switch().name}`;
  if (name !== 'txFailed') return name;
  const inner = result.results()[0];
  return `${name} ${inner.switch().name === 'opInner' ? inner.tr().value().switch().name : inner.switch().name}`;
}

async function tell(name, tx) {
  let answer;
  const bytes = typeof tx === 'string' ? tx : tx.toXDR();
  try { answer = await rpc('sendTransaction', { transaction: bytes }); } catch (e) { console.log(`${name}: rpc error ${e.code}`); return; }
  let said = answer.status;
  if (answer.errorResultXdr) said += ` ${words(answer.errorResultXdr)}`;
  if (answer.status !== 'PENDING') { console.log(`${name}: ${said}`); return answer; }
  if (name !== 'waiting') {
    let found;
    for (let i = 0; i < 240; i++) {
      await close();
      found = await rpc('getTransaction', { hash: answer.hash });
      if (found.status !== 'NOT_FOUND') break;
      await sleep(process.env.CLOSE_URL ? 20 : 250);
    }
    said += ` ${found.status} ${found.resultXdr ? words(found.resultXdr) : ''}`;
  }
  console.log(`${name}: ${said.trim()}`);
  return answer;
}

const now = Number((await rpc('getTransaction', { hash: '00'.repeat(32) })).latestLedgerCloseTime);
const pay = (options = {}) => Operation.payment({ destination: other.publicKey(), asset: Asset.native(), amount: '1', ...options });
const swap = (f) => (data, r) => { const p = r.footprint(); f(p); r.footprint(p); };

await tell('a call', await build());
await tell('a text memo', await build({ memo: Memo.text('x') }));
await tell('an id memo', await build({ memo: Memo.id('7') }));
await tell('a hash memo', await build({ memo: Memo.hash(Buffer.alloc(32, 1)) }));
await tell('a muxed source', await build({ muxed: '7' }));
await tell('a muxed source of the operation', await build({ op: call(new MuxedAccount(new Account(source.publicKey(), '1'), '9').accountId()) }));
await tell('its own source of the operation', await build({ op: call(source.publicKey()) }));
await tell('another source of the operation, signed', await build({ op: call(other.publicKey()), sign: [source, other] }));
await tell('another source of the operation, not signed', await build({ op: call(other.publicKey()) }));
await tell('a memo within a fee bump', bumped(await build({ memo: Memo.text('x') }), 5000000, other));
await tell('a muxed source within a fee bump', bumped(await build({ muxed: '7' }), 5000000, other));
await tell('a muxed payer of a fee bump', (await (async () => {
  const inner = await build();
  const env = xdr.FeeBumpTransaction.fromXDR(bumped(inner, 5000000, other).toEnvelope().feeBump().tx().toXDR());
  env.feeSource(xdr.MuxedAccount.keyTypeMuxedEd25519(new xdr.MuxedAccountMed25519({ id: xdr.Uint64.fromString('7'), ed25519: other.rawPublicKey() })));
  const out = TransactionBuilder.fromXDR(xdr.TransactionEnvelope.envelopeTypeTxFeeBump(new xdr.FeeBumpTransactionEnvelope({ tx: env, signatures: [] })), PASS);
  out.sign(other);
  return out;
})()));
await tell('a fee bump', bumped(await build(), 5000000, other));
await tell('a fee bump, not signed', bumped(await build(), 5000000, other, []));
await tell('a fee bump, signed twice', bumped(await build(), 5000000, other, [other, source]));
await tell('a fee bump that pays less than its inner', bumped(await build({ fee: 4000000 }), 4000100, other));
await tell('no signature', await build({ sign: [] }));
await tell('a signature of another key', await build({ sign: [other] }));
await tell('a signature too many', await build({ sign: [source, other] }));
await tell('the same signature twice', await build({ sign: [source, source] }));
await tell('a sequence number too low', await build({ seq: -1 }));
await tell('a sequence number too high', await build({ seq: 1 }));
await tell('too late', await build({ time: { minTime: 0, maxTime: now - 100 } }));
await tell('too early', await build({ time: { minTime: now + 1000, maxTime: 0 } }));
await tell('ledger bounds that are over', await build({ ledgers: [0, 2] }));
await tell('ledger bounds to come', await build({ ledgers: [4000000000, 0] }));
await tell('no fee for inclusion', await build({ fee: Number((await resources()).resourceFee()) }));
await tell('less than the base fee', await build({ fee: Number((await resources()).resourceFee()) + 99 }));
await tell('the base fee', await build({ fee: Number((await resources()).resourceFee()) + 100 }));
await tell('a fee below the resource fee', await build({ fee: 1000 }));
await tell('a resource fee of 1', await build({ data: (d) => d.resourceFee(xdr.Int64.fromString('1')), fee: 1000000 }));
await tell('a negative resource fee', await build({ data: (d) => d.resourceFee(xdr.Int64.fromString('-1')), fee: 1000000 }));
await tell('no resources', await build({ data: null, fee: 1000000 }));
await tell('resources with a payment', await build({ op: pay() }));
await tell('two calls', await build({ ops: [call(), call()] }));
await tell('a call and a payment', await build({ ops: [call(), pay()] }));
await tell('too many instructions', await build({ data: (d, r) => r.instructions(4000000000), fee: 100000000 }));
await tell('too few instructions', await build({ data: (d, r) => r.instructions(100) }));
await tell('a key twice', await build({ data: swap((p) => p.readOnly([...p.readOnly(), p.readOnly()[0]])) }));
await tell('a key read and written', await build({ data: swap((p) => p.readWrite([...p.readWrite(), p.readOnly()[0]])) }));
await tell('a key that is missing', await build({ data: swap((p) => p.readOnly(p.readOnly().filter((k) => k.switch().name !== 'contractData'))) }));
await tell('code that is missing', await build({ data: swap((p) => p.readOnly(p.readOnly().filter((k) => k.switch().name !== 'contractCode'))) }));
await tell('a key of a kind that is not allowed', await build({ data: swap((p) => p.readOnly([...p.readOnly(), xdr.LedgerKey.offer(new xdr.LedgerKeyOffer(
  { sellerId: source.xdrAccountId(), offerId: xdr.Int64.fromString('1') }))])) }));
const archived = (list) => (data) => data.ext(new xdr.SorobanTransactionDataExt(1, new xdr.SorobanResourcesExtV0({ archivedSorobanEntries: list })));
await tell('an archived index that is not there', await build({ data: archived([5]) }));
const written = (list) => (d, r) => { const p = r.footprint(); p.readWrite(p.readOnly().slice(-2)); p.readOnly(p.readOnly().slice(0, -2)); r.footprint(p); archived(list)(d); };
await tell('archived indices backwards', await build({ data: written([1, 0]) }));
await tell('an archived index twice', await build({ data: written([0, 0]) }));
await tell('garbage', 'AAAA');
const twice = await build();
await tell('waiting', twice);
await tell('the same again', twice);
await tell('another one of the account', await build({ seq: 1 }));
await close();
