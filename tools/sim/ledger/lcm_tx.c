/* One transaction of a ledger: its envelope, its result, its meta. */
#include "tidemark/scval.h"
#include "tidemark/tx.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

/* TransactionResultCode */
enum { TX_FEE_BUMP_SUCCESS = 1, TX_SUCCESS = 0, TX_FAILED = -1, TX_FEE_BUMP_FAILED = -13 };

/* Appends a MuxedAccount. id 0: not multiplexed. */
static void put_muxed(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES], uint64_t id)
{
    tide_buf_be32(buf, id ? 256 : 0);
    if (id)
        tide_buf_be64(buf, id);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* Appends the list of signatures by one or two accounts (second NULL: one); without those whose key
 * is unknown. A signature's hint is the end of the key. */
static void put_signatures(struct lcm *lcm, const uint8_t *first, const uint8_t *second,
                           const uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_buf *buf = &lcm->envelopes;
    const uint8_t *const keys[] = { first, second };
    uint8_t signatures[TIDE_COUNT(keys)][TIDE_SIGNATURE_BYTES];
    bool made[TIDE_COUNT(keys)];
    for (size_t i = 0; i < TIDE_COUNT(keys); i++)
        made[i] = lcm->keys && keys[i] && keys_sign(lcm->keys, signatures[i], keys[i], hash);
    tide_buf_be32(buf, (uint32_t)made[0] + made[1]);
    for (size_t i = 0; i < TIDE_COUNT(keys); i++) {
        if (!made[i])
            continue;
        tide_buf_put(buf, keys[i] + TIDE_HASH_BYTES - 4, 4);
        tide_xdr_put_var(buf, tide_slice_of(signatures[i], TIDE_SIGNATURE_BYTES));
    }
}

/* Appends a list: the number of items and their XDR. */
static void put_list(struct tide_buf *buf, const struct lcm_list *list)
{
    tide_buf_be32(buf, list->count);
    tide_buf_slice(buf, list->xdr);
}

/* Appends a Transaction: the content that the inner (or only) signature covers. */
static void put_transaction(struct tide_buf *buf, const struct lcm_tx *tx)
{
    assert(tx->fee >= 0 && tx->fee <= UINT32_MAX && "a bid is a 32-bit number");
    assert(!tx->memo || strlen(tx->memo) <= 28);
    put_muxed(buf, tx->source, 0);
    tide_buf_be32(buf, (uint32_t)tx->fee);
    tide_buf_be64(buf, (uint64_t)tx->seq);
    tide_buf_be32(buf, tx->valid_until ? 1 : 0);
    if (tx->valid_until) {
        tide_buf_be64(buf, 0); /* no lower time bound */
        tide_buf_be64(buf, tx->valid_until);
    }
    tide_buf_be32(buf, tx->memo ? 1 : 0);
    if (tx->memo)
        tide_xdr_put_var(buf, tide_slice_str(tx->memo));
    tide_buf_be32(buf, tx->op_count);
    for (uint32_t i = 0; i < tx->op_count; i++) {
        tide_buf_be32(buf, tx->caller != NULL);
        if (tx->caller)
            put_muxed(buf, tx->caller, 0);
        tide_buf_be32(buf, (uint32_t)tx->ops[i].type);
        tide_buf_slice(buf, tx->ops[i].body);
    }
    tide_buf_be32(buf, tx->soroban.len ? 1 : 0);
    tide_buf_slice(buf, tx->soroban);
}

/* Hashes a signature's payload: network id, envelope type, the transaction or fee bump. */
static void hash_signed(const uint8_t network_id[TIDE_HASH_BYTES], uint32_t type, tide_slice part,
                        uint8_t out[TIDE_HASH_BYTES])
{
    uint8_t head[TIDE_HASH_BYTES + 4] = { 0 };
    memcpy(head, network_id, TIDE_HASH_BYTES);
    head[TIDE_HASH_BYTES + 3] = (uint8_t)type;
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(head, sizeof head));
    tide_sha256_update(&h, part);
    tide_sha256_final(&h, out);
}

/* Appends the envelope and sets tx->hash; for a fee bump also tx->inner. A given envelope is
 * copied. */
static void put_envelope(struct lcm *lcm, struct lcm_tx *tx)
{
    struct tide_buf *buf = &lcm->envelopes;
    size_t outer = 0;
    if (tx->envelope.len) {
        assert(!tx->fee_source == !tx->inner_hash && "a fee bump has an inner transaction");
        tide_buf_slice(buf, tx->envelope);
        if (tx->inner_hash)
            memcpy(tx->inner, tx->inner_hash, TIDE_HASH_BYTES);
        return;
    }
    /* A fee bump stands around the inner envelope, so its head comes first and its signature
     * last. */
    if (tx->fee_source) {
        tide_buf_be32(buf, TIDE_ENVELOPE_BUMP);
        outer = buf->len;
        put_muxed(buf, tx->fee_source, tx->fee_source_id);
        tide_buf_be64(buf, (uint64_t)tx->fee * 2); /* the fee bump bids twice as much */
    }
    tide_buf_be32(buf, TIDE_ENVELOPE_TX);
    size_t mark = buf->len;
    put_transaction(buf, tx);
    if (buf->failed)
        return;
    hash_signed(lcm->network_id, TIDE_ENVELOPE_TX, tide_slice_of(buf->ptr + mark, buf->len - mark),
                tx->hash);
    put_signatures(lcm, tx->source, tx->caller, tx->hash);
    if (tx->fee_source && !buf->failed) {
        tide_buf_be32(buf, 0);
        memcpy(tx->inner, tx->hash, TIDE_HASH_BYTES);
        hash_signed(lcm->network_id, TIDE_ENVELOPE_BUMP,
                    tide_slice_of(buf->ptr + outer, buf->len - outer), tx->hash);
        put_signatures(lcm, tx->fee_source, NULL, tx->hash);
    }
}

/* Appends the OperationResults. The result of an invocation is the hash of its answer and
 * events. */
static void put_operation_results(struct tide_buf *buf, const struct lcm_tx *tx)
{
    lcm_words(buf, (uint32_t)(tx->success ? TX_SUCCESS : TX_FAILED), tx->op_count);
    for (uint32_t i = 0; i < tx->op_count; i++) {
        const struct lcm_operation *op = &tx->ops[i];
        lcm_words(buf, 0, (uint32_t)op->type, (uint32_t)op->code); /* opINNER */
        if (op->type == LCM_OP_INVOKE && op->code == 0)
            tide_buf_put(buf, op->success, TIDE_HASH_BYTES);
    }
}

/* Appends a TransactionResultPair. The inner result of a fee bump has fee 0; the outer one has the
 * charged fee. */
static void put_result_pair(struct tide_buf *buf, const struct lcm_tx *tx)
{
    tide_buf_put(buf, tx->hash, TIDE_HASH_BYTES);
    tide_buf_be64(buf, (uint64_t)tx->fee_charged);
    if (tx->fee_source) {
        tide_buf_be32(buf, (uint32_t)(tx->success ? TX_FEE_BUMP_SUCCESS : TX_FEE_BUMP_FAILED));
        tide_buf_put(buf, tx->inner, TIDE_HASH_BYTES);
        tide_buf_be64(buf, 0);
    }
    put_operation_results(buf, tx);
    tide_buf_be32(buf, 0);
    if (tx->fee_source)
        tide_buf_be32(buf, 0);
}

/* Hashes an invocation's success preimage: return value, then events. */
static void hash_success(struct lcm_tx *tx)
{
    struct lcm_operation *op = &tx->ops[0];
    if (op->type != LCM_OP_INVOKE || op->code != 0)
        return;
    uint8_t count[4] = { (uint8_t)(op->events.count >> 24), (uint8_t)(op->events.count >> 16),
                         (uint8_t)(op->events.count >> 8), (uint8_t)op->events.count };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tx->return_value);
    tide_sha256_update(&h, tide_slice_of(count, sizeof count));
    tide_sha256_update(&h, op->events.xdr);
    tide_sha256_final(&h, op->success);
}

/* Appends the fee breakdown that nodes write beside the return value. The split of the resource fee
 * is made up. */
static void put_fee_breakdown(struct tide_buf *buf, const struct lcm_tx *tx)
{
    int64_t resource = tx->fee_charged - 100; /* without the inclusion fee */
    lcm_words(buf, 1, 0);
    tide_buf_be64(buf, (uint64_t)(resource / 2));
    tide_buf_be64(buf, (uint64_t)(resource - resource / 2));
    tide_buf_be64(buf, (uint64_t)(resource / 4));
}

/* Appends a TransactionMeta 3. Failed transactions have no operation metas. */
static void put_meta3(struct tide_buf *buf, const struct lcm_tx *tx)
{
    lcm_words(buf, 3, 0);
    put_list(buf, &tx->before);
    tide_buf_be32(buf, tx->success ? tx->op_count : 0);
    for (uint32_t i = 0; tx->success && i < tx->op_count; i++)
        put_list(buf, &tx->ops[i].changes);
    tide_buf_be32(buf, tx->after.count + tx->refund.count);
    tide_buf_slice(buf, tx->after.xdr);
    tide_buf_slice(buf, tx->refund.xdr);
    bool invoked = tx->soroban.len && tx->success && tx->ops[0].type == LCM_OP_INVOKE;
    bool has_soroban_meta = invoked || (tx->soroban.len && tx->diagnostics.count);
    tide_buf_be32(buf, has_soroban_meta ? 1 : 0);
    if (!has_soroban_meta)
        return;
    put_fee_breakdown(buf, tx);
    if (invoked) {
        put_list(buf, &tx->ops[0].events);
        tide_buf_slice(buf, tx->return_value);
    } else {
        tide_buf_be32(buf, 0);
        /* placeholder that core writes instead of a return value: false */
        lcm_words(buf, TIDE_SCV_BOOL, 0);
    }
    put_list(buf, &tx->diagnostics);
}

/* Appends a TransactionMeta 4. */
static void put_meta4(struct tide_buf *buf, const struct lcm_tx *tx)
{
    lcm_words(buf, 4, 0);
    put_list(buf, &tx->before);
    tide_buf_be32(buf, tx->success ? tx->op_count : 0);
    for (uint32_t i = 0; tx->success && i < tx->op_count; i++) {
        tide_buf_be32(buf, 0);
        put_list(buf, &tx->ops[i].changes);
        put_list(buf, &tx->ops[i].events);
    }
    /* the list of changes behind the operations; refunds come behind all transactions */
    put_list(buf, &tx->after);
    tide_buf_be32(buf, tx->soroban.len ? 1 : 0);
    if (tx->soroban.len) {
        bool returned = tx->success && tx->return_value.len;
        put_fee_breakdown(buf, tx);
        tide_buf_be32(buf, returned ? 1 : 0);
        if (returned)
            tide_buf_slice(buf, tx->return_value);
    }
    put_list(buf, &tx->tx_events);
    put_list(buf, &tx->diagnostics);
}

/* Doubles the arrays that have an element for each transaction. */
static bool grow_index(struct lcm *lcm)
{
    uint32_t more = lcm->index_max ? lcm->index_max * 2 : 256;
    struct lcm_envelope *index = realloc(lcm->index, more * sizeof *index);
    if (index)
        lcm->index = index;
    struct lcm_part *parts = realloc(lcm->parts, more * sizeof *parts);
    if (parts)
        lcm->parts = parts;
    if (index && parts)
        lcm->index_max = more;
    return index && parts;
}

/* Records where the envelope stands, for the sorting of the transaction set. */
static void index_envelope(struct lcm *lcm, size_t at, const struct lcm_tx *tx)
{
    assert(at <= lcm->envelopes.len);
    assert(lcm->tx_count < lcm->index_max);
    struct lcm_envelope *entry = &lcm->index[lcm->tx_count];
    memcpy(entry->hash, tx->hash, TIDE_HASH_BYTES);
    entry->at = at;
    entry->len = lcm->envelopes.len - at;
    entry->soroban = tx->soroban.len > 0;
}

void lcm_add(struct lcm *lcm, struct lcm_tx *tx)
{
    assert(tx->op_count >= 1 && tx->op_count <= LCM_OPS_MAX);
    size_t at = lcm->envelopes.len;
    /* lcm_end reports the failed buffer. */
    if (lcm->tx_count == lcm->index_max && !grow_index(lcm)) {
        lcm->envelopes.failed = true;
        return;
    }
    put_envelope(lcm, tx);
    index_envelope(lcm, at, tx);
    hash_success(tx);
    struct tide_buf *buf = &lcm->processing;
    if (lcm->version == 2)
        tide_buf_be32(buf, 0); /* TransactionResultMetaV1 begins with an extension */
    size_t mark = buf->len;
    put_result_pair(buf, tx);
    if (!buf->failed)
        tide_buf_put(&lcm->results, buf->ptr + mark, buf->len - mark);
    put_list(buf, &tx->fee_changes);
    if (lcm->version == 2)
        put_meta4(buf, tx);
    else
        put_meta3(buf, tx);
    lcm->parts[lcm->tx_count++] = (struct lcm_part){ .end = buf->len };
    lcm->fee_pool += tx->fee_charged;
}

void lcm_refund(struct lcm *lcm, uint32_t i, const struct lcm_list *changes)
{
    assert(i < lcm->tx_count && lcm->version == 2);
    struct lcm_part *part = &lcm->parts[i];
    assert(part->refund_count == 0 && "one refund for each transaction");
    part->refund_at = lcm->refunds.len;
    part->refund_len = changes->xdr.len;
    part->refund_count = changes->count;
    tide_buf_slice(&lcm->refunds, changes->xdr);
}
