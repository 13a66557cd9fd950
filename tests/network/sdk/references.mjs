// Executable references of protocol 28: a contract keeps hashes of code under tags, and others run the code that a tag names.
//
//   network_node NAME CHAIN references.mjs     the deployment's registry ends as one of them
//
// The SDK knows neither a tag nor such an executable. A simulation's footprint and authorisations are copied into the envelope as bytes.
import fs from 'node:fs';
import path from 'node:path';
import { xdr, StrKey, Address, Operation, TransactionBuilder, PASS, networkId, account, key, rpc, send, seqs, sha, simulate, wait } from './lib.mjs';

const registry = fs.readFileSync(path.join(process.env.WASM_DIR, 'compliance_registry.wasm'));
const { contracts } = JSON.parse(fs.readFileSync(process.env.DEPLOYMENT));
const deployer = key('deployer'), daowallet = key('daowallet');

// --- a contract of four functions, assembled here: the archive has none that uses references
const bytes = (text) => [text.length, ...Buffer.from(text)];
const section = (id, content) => { // a section shorter than 16 KiB
  const body = content.flat(Infinity);
  return [id, (body.length & 0x7f) | 0x80, body.length >> 7, ...body];
};
const I64 = 0x7e, arities = [0, 1, 2, 3, 4, 5];
const types = arities.map((n) => [0x60, n, Array(n).fill(I64), 1, I64]); // the type's index is its number of arguments
const imports = [['l', 'h', 1], ['l', '_', 3], ['l', 'j', 2], ['l', 'i', 5], ['v', '_', 0], ['a', '0', 1]];
const [CREATE_TAG, PUT_DATA, UPDATE_TO_REFERENCE, CREATE_BY_REFERENCE, NEW_VEC, REQUIRE_AUTH] = imports.keys();
const get = (n) => [0x20, n], call = (n) => [0x10, n], DROP = [0x1a], PERSISTENT = [0x42, 1];
const functions = [
  ['put', 2, [get(0), call(CREATE_TAG), get(1), PERSISTENT, call(PUT_DATA)]], // tag, hash of code
  ['follow', 2, [get(0), get(1), call(CREATE_TAG), call(UPDATE_TO_REFERENCE)]], // owner, tag
  ['create', 4, [get(0), call(REQUIRE_AUTH), DROP, get(0), get(1), get(2), call(CREATE_TAG), get(3), call(NEW_VEC), call(CREATE_BY_REFERENCE)]], // deployer, owner, tag, salt
  ['hello', 1, [get(0)]],
];
const PROTOCOL = [0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 0];
const library = Buffer.from([
  [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  section(1, [types.length, types]),
  section(2, [imports.length, imports.map(([module, name, args]) => [bytes(module), bytes(name), 0, args])]),
  section(3, [functions.length, functions.map(([, args]) => args)]),
  section(7, [functions.length, functions.map(([name], i) => [bytes(name), 0, imports.length + i])]),
  section(10, [functions.length, functions.map(([, , code]) => { const body = [0, code, 0x0b].flat(Infinity); return [body.length, body]; })]),
  section(0, [bytes('contractenvmetav0'), PROTOCOL]),
].flat(Infinity));

// --- transactions
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n); return b; };

// Resources end with instructions, bytes read, bytes written, and the fee. Room for state that moves before the transaction is applied.
const SPARE = 3000000n;
function roomy(data) {
  const all = Buffer.from(data, 'base64'), at = all.length - 20;
  all.writeUInt32BE(Math.floor(all.readUInt32BE(at) * 1.3) + 200000, at);
  for (const bytes of [at + 4, at + 8]) all.writeUInt32BE(all.readUInt32BE(bytes) + 5000, bytes);
  all.writeBigInt64BE(all.readBigInt64BE(at + 12) + SPARE, at + 12);
  return all;
}

// An envelope ends with the operation's authorisations, here none, and the arm of resources, here 0.
function envelope(tx, simulation, source) {
  const bare = tx.toEnvelope().v1().tx().toXDR(), auth = simulation.results?.[0]?.auth ?? [];
  const whole = Buffer.concat([bare.subarray(0, bare.length - 8), u32(auth.length), ...auth.map((a) => Buffer.from(a, 'base64')),
    u32(1), roomy(simulation.transactionData)]);
  const id = sha(networkId, u32(2), whole);
  const signed = Buffer.concat([u32(2), whole, u32(1), source.rawPublicKey().subarray(28), u32(64), source.sign(id)]);
  return { toXDR: () => signed.toString('base64'), id: id.toString('hex') };
}

const isArchived = (result) => xdr.TransactionResult.fromXDR(result, 'base64').result().results()[0].tr().invokeHostFunctionResult().switch().name === 'invokeHostFunctionEntryArchived';

// Sends it again if an entry was archived between the simulation and the ledger.
async function run(name, source, func, again = 3) {
  const op = Operation.invokeHostFunction({ func, auth: [] });
  const simulation = await simulate(op, source.publicKey());
  if (simulation.error) throw new Error(`${name}: ${simulation.error.split('\n')[0]}`);
  seqs.delete(source.publicKey());
  const bid = String(BigInt(simulation.minResourceFee) + SPARE + 500000n);
  const tx = envelope(new TransactionBuilder(await account(source.publicKey()), { fee: bid, networkPassphrase: PASS }).addOperation(op).setTimeout(300).build(), simulation, source);
  await send(tx);
  const { status, ledger, resultXdr } = await wait(tx.id);
  console.log(`${name}: ${status} in ledger ${ledger}`);
  if (again && status === 'FAILED' && isArchived(resultXdr)) await run(name, source, func, again - 1);
  else if (status !== 'SUCCESS') throw new Error(`${name}: ${status} ${resultXdr}`);
}
const upload = (code) => xdr.HostFunction.hostFunctionTypeUploadContractWasm(code);
const invoke = (contract, name, ...args) => xdr.HostFunction.hostFunctionTypeInvokeContract(new xdr.InvokeContractArgs({
  contractAddress: Address.fromString(contract).toScAddress(), functionName: name, args }));
const preimage = xdr.ContractIdPreimage.contractIdPreimageFromAddress(new xdr.ContractIdPreimageFromAddress({
  address: Address.fromString(deployer.publicKey()).toScAddress(), salt: sha(library) }));
const owner = StrKey.encodeContract(sha(xdr.HashIdPreimage.envelopeTypeContractId(new xdr.HashIdPreimageContractId({ networkId, contractIdPreimage: preimage })).toXDR()));
const { scvBytes, scvString, scvU32 } = xdr.ScVal;
const address = (text) => Address.fromString(text).toScVal(), dao = address(daowallet.publicKey()), tag = scvString('current');
const other = Buffer.concat([registry, Buffer.from([0, 6, 1, 0x79, 1, 2, 3, 4])]); // a custom section more: another hash

await run('upload', deployer, upload(library));
await run('upload of the registry as before', deployer, upload(registry));
await run('upload of another build', deployer, upload(other));
await run('the library', deployer, xdr.HostFunction.hostFunctionTypeCreateContract(new xdr.CreateContractArgs({
  contractIdPreimage: preimage, executable: xdr.ContractExecutable.contractExecutableWasm(sha(library)) })));
await run('a tag', deployer, invoke(owner, 'put', tag, scvBytes(sha(registry))));
await run('a contract that is created by reference', deployer, invoke(owner, 'create', address(deployer.publicKey()), address(owner), tag, scvBytes(sha(Buffer.from('by reference')))));
await run('the registry gets the code of the library', daowallet, invoke(contracts.compliance_registry, 'upgrade', dao, scvBytes(sha(library))));
await run('the registry follows the tag', daowallet, invoke(contracts.compliance_registry, 'follow', address(owner), tag));
await run('a call by reference', daowallet, invoke(contracts.compliance_registry, 'block_jurisdiction', dao, scvU32(895)));
await run('the tag names the other build', deployer, invoke(owner, 'put', tag, scvBytes(sha(other))));
await run('a call by the changed reference', daowallet, invoke(contracts.compliance_registry, 'block_jurisdiction', dao, scvU32(896)));
