// The package offers these; the build adds src/generated.ts, and dist/cjs for `require`.
export * from './amount.js';
export { createClient, TidemarkError, type Answer, type CallOptions, type Client, type ClientOptions } from './client.js';
export * from './generated.js';
export * from './pages.js';
export { verifyEntryProof, type BucketSource, type EntryProofExpected, type ProvenEntry } from './entry.js';
export { ProofError, verifyProof, type ProofCode, type ProofExpected, type ProvenEvent, type ProvenTransaction, type QuorumSet } from './proof.js';
export { jwks, receipt, ReceiptError, saysCompliant, verifyReceipt, type Jwk, type Jwks, type Receipt, type ReceiptCode, type ReceiptExpected } from './receipt.js';
export { addressBytes, compliantBy, ComplianceMirror, Snapshot, type MirrorLimits, type SnapshotAnswer, type SnapshotLimits } from './snapshot.js';
export { stream, type StreamOptions, type StreamParams } from './stream.js';
export { verifyWebhook, WebhookError, type Webhook, type WebhookHeaders } from './webhook.js';
