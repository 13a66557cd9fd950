/* Any bytes as a proof of a transaction or an entry, behind a validator's key and a network's id;
 * and as headers, results and events: the bytes of a proof seldom have their hashes. */
#include "indexer/verify/proof_check.h"
#include "tests/fuzz/promise.h"

static void read_pieces(tide_slice bytes)
{
    struct tide_ledger_header header = { 0 };
    struct tide_event event = { 0 };
    struct tide_tx tx = { 0 };
    struct tide_xdr x = tide_xdr_of(bytes);
    tide_bare_header_read(&x, &header);
    if (!x.status)
        PROMISE(inside(header.header_xdr, bytes));
    x = tide_xdr_of(bytes);
    while (tide_xdr_left(&x)) {
        tide_result_pair_read(&x, &tx);
        PROMISE(x.status || inside(tx.result_pair, bytes));
    }
    x = tide_xdr_of(bytes);
    while (tide_xdr_left(&x)) {
        tide_event_read(&x, &event);
        PROMISE(x.status || (inside(event.topics, bytes) && inside(event.data, bytes)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tide_quorum quorum = { .count = 1, .set_count = 1, .sets = { { 1, 0 } } };
    struct proof_claim claim;
    struct tide_err err = { 0 };
    if (size < (size_t)2 * TIDE_HASH_BYTES)
        return 0;
    memcpy(quorum.validators[0].key, data, TIDE_HASH_BYTES);
    tide_slice proof =
        tide_slice_of(data + 2 * (size_t)TIDE_HASH_BYTES, size - 2 * (size_t)TIDE_HASH_BYTES);
    if (proof_check(proof, &quorum, data + TIDE_HASH_BYTES, &claim, &err) != TIDE_OK) {
        PROMISE(*err.text);
    } else {
        PROMISE(tide_signers_count(&claim.signers) == 1);
        PROMISE(claim.signed_ledger > claim.header.sequence);
        PROMISE(inside(claim.answer, proof) && inside(claim.events, proof));
        PROMISE(inside(claim.key, proof) && inside(claim.value, proof));
        PROMISE((claim.kind == PROOF_ENTRY) == (claim.key.len > 0));
        PROMISE((claim.said == PROOF_SAID_VALUE) == (claim.value.len > 0));
        sum_bytes(claim.events);
        sum_bytes(claim.value);
    }
    read_pieces(proof);
    return 0;
}
