// The archive's lib.mjs (archive.mjs beside this file), with patient questions: network_start puts it in place of the original.
import { simulate as once, sleep, rpc, SorobanDataBuilder } from './archive.mjs';
export * from './archive.mjs';

// stellar-rpc cannot ask its own core for entries now and then, under load. The archive's rpc asks again if fetch throws.
const ask = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await ask(...request);
  if (/could not query captive core/.test(await response.clone().text())) throw new Error('the server cannot ask its core');
  return response;
};

// stellar-rpc fails now and then with "setting … is not present in the snapshot". Without a HostError it is the server's
// passing trouble, not the contract's answer: asked again. ask: returns an answer of simulateTransaction.
export async function patiently(ask) {
  for (let i = 0; ; i++) {
    const answer = await ask();
    if (!answer.error || /HostError/.test(answer.error) || i > 40) return answer;
    console.error('simulated again:', answer.error.slice(0, 120).split('\n')[0]);
    await sleep(250);
  }
}

// Whether the footprint's persistent entries stay what they were in the simulation for some ledgers more: alive, or archived and
// listed for restoration.
const SOON = 8;
async function lasts(transactionData) {
  const data = new SorobanDataBuilder(transactionData).build(), footprint = data.resources().footprint();
  const listed = data.ext().switch() ? data.ext().resourceExt().archivedSorobanEntries().length : 0;
  const keys = [...footprint.readOnly(), ...footprint.readWrite()].filter((key) => key.switch().name === 'contractCode'
    || (key.switch().name === 'contractData' && key.contractData().durability().name === 'persistent'));
  if (!keys.length) return true;
  const { entries, latestLedger } = await rpc('getLedgerEntries', { keys: keys.map((key) => key.toXDR('base64')) });
  const lives = (entries ?? []).map((entry) => entry.liveUntilLedgerSeq ?? 0);
  return lives.filter((until) => until < latestLedger).length === listed && lives.every((until) => until < latestLedger || until > latestLedger + SOON);
}

// A transaction fails if one of its entries is archived between the simulation and the ledger. The archive's scripts tolerate that
// of calls, and end if an upload or a new contract fails.
export async function simulate(op, source, memo) {
  const body = op.body();
  const setup = body.switch().name === 'invokeHostFunction' && body.invokeHostFunctionOp().hostFunction().switch().name !== 'hostFunctionTypeInvokeContract';
  for (;;) { // until an entry is archived: it lives for a number of ledgers
    const answer = await patiently(() => once(op, source, memo));
    if (answer.error || !setup || (await lasts(answer.transactionData))) return answer;
    console.error('waits until an entry is archived');
    await sleep(250);
  }
}
