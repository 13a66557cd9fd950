// The compliance registry on a real network, and what others do there beside the attester.
//
//   node registry.mjs deploy FOLDER ORIGINAL    uploads and makes the registry, adds a verifier; FOLDER/deployment.json
//   node registry.mjs call FROM FUNCTION ARG…   a call of the registry by a named account; ARG: @NAME, G…, or a number
//   node registry.mjs pay FROM                  a payment, which takes the account's next sequence number
//   node registry.mjs secrets NAME…             seeds of those accounts
//   node registry.mjs archived                  the registry's instance and code: live until, and the newest ledger
//
// lib.mjs is ../_lib.mjs, which network_start puts beside this file. Keys follow from names.
import fs from 'node:fs';
import path from 'node:path';
import {
  xdr, StrKey, Address, Asset, Operation, TransactionBuilder, SorobanDataBuilder, contract, nativeToScVal, sha, PASS, networkId, root,
  key, rpc, seqs, account, send, wait, classic, simulate,
} from './lib.mjs';

const [verb, ...words] = process.argv.slice(2);
const wasm = fs.readFileSync(path.join(process.env.WASM_DIR, 'compliance_registry.wasm'));
const spec = contract.Spec.fromWasm ? contract.Spec.fromWasm(wasm) : new contract.Spec(wasm);
const names = ['deployer', 'admin', 'dao', 'attester', 'outsider', 'issuer'];

const preimage = (name) => xdr.ContractIdPreimage.contractIdPreimageFromAddress(new xdr.ContractIdPreimageFromAddress({
  address: Address.fromString(key('deployer').publicKey()).toScAddress(), salt: sha(Buffer.from(`salt/${name}`)) }));
const idOf = (of) => StrKey.encodeContract(sha(xdr.HashIdPreimage.envelopeTypeContractId(
  new xdr.HashIdPreimageContractId({ networkId, contractIdPreimage: of })).toXDR()));
const asset = (name) => xdr.ContractIdPreimage.contractIdPreimageFromAsset(
  (name === 'xlm' ? Asset.native() : new Asset('USDC', key('issuer').publicKey())).toXDRObject());
const addressOf = (name) => idOf(name === 'usdc' || name === 'xlm' ? asset(name) : preimage(name));
const registry = addressOf('compliance_registry');

async function invoke(source, op) {
  const sim = await simulate(op, source.publicKey());
  if (sim.error) throw new Error(sim.error.split('\n')[0]);
  const data = new SorobanDataBuilder(sim.transactionData).build();
  const fee = BigInt(sim.minResourceFee) + 1000000n;
  data.resourceFee(xdr.Int64.fromString(String(fee)));
  const kind = op.body();
  const ops = kind.switch().name === 'invokeHostFunction'
    ? Operation.invokeHostFunction({ func: kind.invokeHostFunctionOp().hostFunction(),
      auth: (sim.results?.[0]?.auth ?? []).map((e) => xdr.SorobanAuthorizationEntry.fromXDR(e, 'base64')) })
    : op;
  const tx = new TransactionBuilder(await account(source.publicKey()), { fee: String(fee + 100000n), networkPassphrase: PASS, sorobanData: data })
    .addOperation(ops).setTimeout(300).build();
  tx.sign(source);
  await send(tx);
  seqs.set(source.publicKey(), BigInt(tx.sequence));
  const done = await wait(tx.hash().toString('hex'));
  if (done.status !== 'SUCCESS') throw new Error(`failed: ${done.resultXdr}`);
  return done;
}

function call(fn, args) {
  const inputs = spec.getFunc(fn).inputs();
  return Operation.invokeContractFunction({ contract: registry, function: fn, args: inputs.map((input, i) => {
    const type = input.type().switch().name;
    const word = args[i].startsWith('@') ? key(args[i].slice(1)).publicKey() : args[i];
    if (type === 'scSpecTypeAddress') return Address.fromString(word).toScVal();
    if (type === 'scSpecTypeU32') return xdr.ScVal.scvU32(Number(word));
    if (type === 'scSpecTypeU64') return nativeToScVal(BigInt(word), { type: 'u64' });
    if (type === 'scSpecTypeSymbol') return xdr.ScVal.scvSymbol(word);
    if (type === 'scSpecTypeString') return xdr.ScVal.scvString(word);
    throw new Error(`${fn}: an argument of ${type}`);
  }) });
}

const codeKey = xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash: sha(wasm) }));
const instanceKey = xdr.LedgerKey.contractData(new xdr.LedgerKeyContractData({ contract: Address.fromString(registry).toScAddress(),
  key: xdr.ScVal.scvLedgerKeyContractInstance(), durability: xdr.ContractDataDurability.persistent() }));

const verbs = {
  async deploy(folder, original) {
    const first = (await rpc('getLatestLedger', {})).sequence;
    await classic(root, names.map((n) => Operation.createAccount({ destination: key(n).publicKey(), startingBalance: '100000' })));
    await invoke(key('deployer'), Operation.uploadContractWasm({ wasm }));
    await invoke(key('deployer'), Operation.invokeHostFunction({ auth: [], func: xdr.HostFunction.hostFunctionTypeCreateContract(
      new xdr.CreateContractArgs({ contractIdPreimage: preimage('compliance_registry'),
        executable: xdr.ContractExecutable.contractExecutableWasm(sha(wasm)) })) }));
    await invoke(key('admin'), call('initialize', ['@admin', '@dao']));
    await invoke(key('dao'), call('add_verifier', ['@dao', '@attester']));
    const contracts = Object.keys(JSON.parse(fs.readFileSync(original)).contracts);
    fs.writeFileSync(path.join(folder, 'deployment.json'), JSON.stringify({ network: PASS, first_ledger: first,
      contracts: Object.fromEntries(contracts.map((n) => [n, addressOf(n)])), accounts: {} }, null, 1));
    fs.writeFileSync(path.join(folder, 'key'), `${key('attester').secret()}\n`, { mode: 0o600 });
    console.log(key('attester').publicKey());
  },
  // An entry's life may end between the simulation and the ledger: simulated again.
  async call(from, fn, ...args) {
    for (let i = 0; ; i++) {
      try { await invoke(key(from), call(fn, args)); return; } catch (e) { if (i > 3 || !/^failed/.test(e.message)) throw e; }
    }
  },
  async pay(from) {
    const done = await classic(key(from), [Operation.payment({ destination: root.publicKey(), asset: Asset.native(), amount: '1' })]);
    if (done.status !== 'SUCCESS') throw new Error(done.resultXdr);
  },
  async secrets(...who) {
    console.log(who.map((n) => key(n).secret()).join(' '));
  },
  async archived() {
    const found = await rpc('getLedgerEntries', { keys: [instanceKey, codeKey].map((k) => k.toXDR('base64')) });
    console.log([...[instanceKey, codeKey].map((k) => found.entries.find((e) => e.key === k.toXDR('base64'))?.liveUntilLedgerSeq ?? -1),
      found.latestLedger].join(' '));
  },
};
await verbs[verb](...words);
