// Judges what _proofs.py made, with the TypeScript package: one JSON line in, one line out.
import { createInterface } from 'node:readline';
import { verifyProof } from '@tidemark/client';

for await (const line of createInterface({ input: process.stdin })) {
  const { answer, network, validators } = JSON.parse(line);
  try {
    const p = await verifyProof(answer, { network, validators });
    const events = p.events && p.events.map((one) => [one.contract, one.type, one.topics.length]);
    console.log(JSON.stringify([p.txHash, p.ledger, p.ledgerHash, String(p.closedAt), p.index, p.count, p.ok, p.resultCode, String(p.feeCharged), p.signedLedger, p.signers, events]));
  } catch (error) {
    console.log(JSON.stringify(error.name === 'ProofError' ? error.code : `CRASH ${error.stack}`));
  }
}
