// The archive's lib.mjs (archive.mjs beside this file), with a patient simulation: network_start puts it in place of the original.
// stellar-rpc fails now and then with "setting … is not present in the snapshot". Without a HostError it is the server's
// passing trouble, not the contract's answer: asked again.
import { simulate as once, sleep } from './archive.mjs';
export * from './archive.mjs';

export async function simulate(op, source, memo) {
  for (let i = 0; ; i++) {
    const answer = await once(op, source, memo);
    if (!answer.error || /HostError/.test(answer.error) || i > 40) return answer;
    console.error('simulated again:', answer.error.slice(0, 120).split('\n')[0]);
    await sleep(250);
  }
}
