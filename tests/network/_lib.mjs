// The archive's lib.mjs (archive.mjs beside this file), with patient questions: network_start puts it in place of the original.
// stellar-rpc fails now and then with "setting … is not present in the snapshot". Without a HostError it is the server's
// passing trouble, not the contract's answer: asked again.
import { simulate as once, sleep } from './archive.mjs';
export * from './archive.mjs';

// stellar-rpc cannot ask its own core for entries now and then, under load. The archive's rpc asks again if fetch throws.
const ask = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await ask(...request);
  if (/could not query captive core/.test(await response.clone().text())) throw new Error('the server cannot ask its core');
  return response;
};

export async function simulate(op, source, memo) {
  for (let i = 0; ; i++) {
    const answer = await once(op, source, memo);
    if (!answer.error || /HostError/.test(answer.error) || i > 40) return answer;
    console.error('simulated again:', answer.error.slice(0, 120).split('\n')[0]);
    await sleep(250);
  }
}
