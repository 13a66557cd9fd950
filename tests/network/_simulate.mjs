// Asks the real contracts' functions by simulateTransaction. Run by network_node, beside the archive's lib.mjs.
//
//   _simulate.mjs functions         {crate: {function: [type of each argument]}} of all contracts, from their wasm
//   _simulate.mjs ask <Q >A         a line {"crate", "contract", "fn", "args"} each; answered in order with
//                                   {"ledger", "ok": true, "ret"} or {"ledger", "ok": false, "error"}
//
// Values are written as the recordings write them. An answer without a HostError is the server's passing trouble and is asked again.
import fs from 'node:fs';
import path from 'node:path';
import { xdr, Address, Operation, contract, enc, rpc, root, simulate, sleep } from './lib.mjs';

const AT_ONCE = 4;
const AGAIN_MAX = 200;
const AGAIN_MS = 250;

const spec = Object.fromEntries(fs.readdirSync(process.env.WASM_DIR).map((file) =>
  [file.replace('.wasm', ''), contract.Spec.fromWasm(fs.readFileSync(path.join(process.env.WASM_DIR, file)))]));

function typeName(t) {
  const name = t.switch().name.replace('scSpecType', '');
  return name === 'Vec' ? `Vec ${typeName(t.vec().elementType())}` : name === 'Udt' ? t.udt().name().toString() : name;
}

function functions() {
  return Object.fromEntries(Object.entries(spec).map(([crate, s]) =>
    [crate, Object.fromEntries(s.funcs().map((f) => [f.name().toString(), f.inputs().map((i) => typeName(i.type()))]))]));
}

const big = (...parts) => parts.reduce((sum, part) => (sum << 64n) + BigInt(part.toString()), 0n).toString();
function plain(v) {
  switch (v.switch().name) {
    case 'scvVoid': return null;
    case 'scvBool': return v.b();
    case 'scvU32': return v.u32();
    case 'scvU64': return v.u64().toString();
    case 'scvI128': return big(v.i128().hi(), v.i128().lo());
    case 'scvSymbol': return v.sym().toString();
    case 'scvString': return v.str().toString();
    case 'scvBytes': return v.bytes().toString('hex');
    case 'scvAddress': return Address.fromScAddress(v.address()).toString();
    case 'scvVec': return v.vec().map(plain);
    case 'scvMap': return Object.fromEntries(v.map().map((e) => [plain(e.key()), plain(e.val())]));
    default: throw new Error(v.switch().name);
  }
}

async function ask({ crate, contract: address, fn, args }) {
  const inputs = spec[crate].getFunc(fn).inputs();
  const values = inputs.map((input, i) => enc(spec[crate], input.type(), args[i]));
  const op = Operation.invokeContractFunction({ contract: address, function: fn, args: values });
  for (let i = 0; i < AGAIN_MAX; i++) {
    const said = await simulate(op, root.publicKey());
    if (!said.error) return { ledger: said.latestLedger, ok: true, ret: plain(xdr.ScVal.fromXDR(said.results[0].xdr, 'base64')) };
    if (/HostError/.test(said.error)) return { ledger: said.latestLedger, ok: false, error: said.error.split('\n')[0] };
    again++;
    await sleep(AGAIN_MS);
  }
  throw new Error(`${fn}: the server does not answer`);
}

let again = 0;
if (process.argv[2] === 'functions') {
  console.log(JSON.stringify(functions()));
} else {
  const questions = fs.readFileSync(0, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const answers = [];
  let next = 0;
  const worker = async () => { while (next < questions.length) { const i = next++; answers[i] = await ask(questions[i]); } };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const answer of answers) console.log(JSON.stringify(answer));
  console.error(`asked again ${again} times`);
}
