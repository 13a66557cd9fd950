// Prints what npm's @stellar/stellar-sdk reads of the contract transactions of some ledgers, one JSON object a line:
// who calls, who pays, both hashes, the arguments.
// usage: _sdk_calls.mjs FOLDER_WITH_NODE_MODULES PASSPHRASE OBJECT…     (objects of a lake, unpacked by zstd)
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

const [folder, passphrase, ...objects] = process.argv.slice(2);
const { Address, FeeBumpTransaction, MuxedAccount, StrKey, TransactionBuilder, hash, xdr } = createRequire(`${folder}/`)('@stellar/stellar-sdk');

/** The account and the id of a G… or M… address. */
function account(text) {
  if (!text.startsWith('M')) return { account: text, id: null };
  const muxed = MuxedAccount.fromAddress(text, '0');
  return { account: muxed.baseAccount().accountId(), id: muxed.id() };
}

/** The envelopes of a ledger by their hash. A parallel phase has stages of clusters. */
function envelopes(meta) {
  const found = new Map();
  for (const phase of meta.txSet().v1TxSet().phases()) {
    const sets = phase.switch() === 0
      ? phase.v0Components().map((part) => part.txsMaybeDiscountedFee().txes())
      : phase.parallelTxsComponent().executionStages().flat();
    for (const envelope of sets.flat()) {
      const tx = TransactionBuilder.fromXDR(envelope, passphrase);
      found.set(tx.hash().toString('hex'), tx);
    }
  }
  return found;
}

/** The contract that an operation calls or creates. */
function contract(call) {
  if (call.switch().name === 'hostFunctionTypeInvokeContract')
    return Address.fromScAddress(call.invokeContract().contractAddress()).toString();
  const id = xdr.HashIdPreimage.envelopeTypeContractId(new xdr.HashIdPreimageContractId({
    networkId: hash(Buffer.from(passphrase)), contractIdPreimage: call.value().contractIdPreimage() }));
  return StrKey.encodeContract(hash(id.toXDR()));
}

for (const object of objects) {
  const batch = xdr.LedgerCloseMetaBatch.fromXDR(execFileSync('zstd', ['-dqc', object], { maxBuffer: 1 << 28 }));
  for (const ledger of batch.ledgerCloseMeta()) {
    const meta = ledger.value(), all = envelopes(meta);
    meta.txProcessing().forEach((processed, i) => {
      const key = processed.result().transactionHash().toString('hex'), outer = all.get(key);
      const inner = outer instanceof FeeBumpTransaction ? outer.innerTransaction : outer;
      const operation = inner.operations[0];
      if (operation.type !== 'invokeHostFunction' || operation.func.switch().name === 'hostFunctionTypeUploadContractWasm') return;
      const caller = account(operation.source ?? inner.source), source = account(inner.source);
      const payer = account(outer === inner ? inner.source : outer.feeSource);
      const args = operation.func.switch().name === 'hostFunctionTypeInvokeContract' ? operation.func.invokeContract().args()
        : operation.func.switch().name === 'hostFunctionTypeCreateContractV2' ? operation.func.createContractV2().constructorArgs() : [];
      console.log(JSON.stringify({
        ledger: meta.ledgerHeader().header().ledgerSeq(), tx: i + 1, hash: key,
        innerHash: outer === inner ? null : inner.hash().toString('hex'),
        contract: contract(operation.func), args: args.length,
        source: caller.account, sourceMuxedId: caller.id, txSource: source.account, txSourceMuxedId: source.id,
        feeSource: payer.account, feeSourceMuxedId: payer.id,
      }));
    });
  }
}
