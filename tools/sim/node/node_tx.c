/* Parsing of an envelope. tide_envelope_read has checked every byte before the functions here read
 * the rest. */
#include "tidemark/sign.h"
#include "tidemark/xdr_skip.h"
#include "tools/sim/node/node_impl.h"

/* Reads DecoratedSignatures. */
static void read_signatures(struct node_signatures *out, struct tide_xdr *x)
{
    out->count = tide_xdr_count(x, NODE_SIGNATURES_MAX, 8);
    for (uint32_t i = 0; i < out->count; i++) {
        out->list[i].hint = x->cur;
        tide_xdr_skip(x, 4);
        out->list[i].bytes = tide_xdr_var(x, 64);
    }
}

static void read_time_bounds(struct node_tx *tx, struct tide_xdr *x)
{
    tx->min_time = tide_xdr_u64(x);
    tx->max_time = tide_xdr_u64(x);
}

/* Reads Preconditions: 0 none, 1 time bounds, 2 all. A least age or gap, or extra signers, are not
 * supported. */
static void read_conditions(struct node_tx *tx, struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 1)
        read_time_bounds(tx, x);
    if (arm != 2)
        return;
    if (tide_xdr_bool(x))
        read_time_bounds(tx, x);
    if (tide_xdr_bool(x)) {
        tx->min_ledger = tide_xdr_u32(x);
        tx->max_ledger = tide_xdr_u32(x);
    }
    tx->has_min_seq = tide_xdr_bool(x);
    tx->min_seq = tx->has_min_seq ? (int64_t)tide_xdr_u64(x) : 0;
    /* least age and least ledger gap */
    tx->strange |= tide_xdr_u64(x) != 0 || tide_xdr_u32(x) != 0;
    uint32_t signers = tide_xdr_u32(x);
    tx->strange |= signers > 0;
    for (uint32_t i = 0; i < signers; i++)
        skip_signer_key(x);
}

/* Skips the memo's content: text, id, or a hash. */
static void read_memo(struct node_tx *tx, struct tide_xdr *x)
{
    tx->memo = tide_xdr_u32(x);
    if (tx->memo == 1)
        tide_xdr_var(x, 28);
    else if (tx->memo == 2)
        tide_xdr_skip(x, 8);
    else if (tx->memo > 2)
        tide_xdr_skip(x, 32);
}

/* Reads a MuxedAccount and returns its ed25519 key. */
static const uint8_t *read_muxed(struct node_tx *tx, struct tide_xdr *x)
{
    bool muxed = tide_xdr_u32(x) == 256; /* KEY_TYPE_MUXED_ED25519 */
    tx->muxed |= muxed;
    if (muxed)
        tide_xdr_skip(x, 8);
    const uint8_t *key = x->cur;
    tide_xdr_skip(x, TIDE_HASH_BYTES);
    return key;
}

/* Reads one operation. Contract calls and RestoreFootprint are supported. */
static void read_operation(struct node_tx *tx, struct tide_xdr *x)
{
    tx->op_source = tide_xdr_bool(x) ? read_muxed(tx, x) : tx->env.source_key;
    tx->op_type = tide_xdr_u32(x);
    tx->soroban = tx->op_type == LCM_OP_INVOKE || tx->op_type == LCM_OP_RESTORE;
    tx->strange |= !tx->soroban;
    tx->strange |=
        tx->op_type == LCM_OP_INVOKE && (tx->env.host_function != 0 || !tx->env.contract);
}

/* Reads the SorobanTransactionData that tide_envelope_read does not: archived keys and bytes. */
static void read_data(struct node_tx *tx)
{
    struct tide_xdr x = tide_xdr_of(tx->env.soroban);
    struct tide_change key;
    if (tide_xdr_u32(&x) == 1) {
        tx->archived_count = tide_xdr_u32(&x);
        tx->archived = tide_slice_of(x.cur, (size_t)tx->archived_count * 4);
        tide_xdr_skip(&x, tx->archived.len);
    }
    for (int half = 0; half < 2; half++) {
        uint32_t count = tide_xdr_u32(&x);
        for (uint32_t i = 0; i < count; i++)
            skip_ledger_key(&x, &key);
    }
    tide_xdr_skip(&x, 4); /* instructions */
    tx->disk_read = tide_xdr_u32(&x);
    tx->write = tide_xdr_u32(&x);
}

/* Reads a Transaction. Its sizes are checked. */
static void read_transaction(struct node_tx *tx, tide_slice part)
{
    struct tide_xdr x = tide_xdr_of(part);
    tx->muxed = tx->env.source.len == 44; /* 44 bytes: with a muxed id */
    tide_xdr_skip(&x, tx->env.source.len);
    tx->inner_fee = tide_xdr_u32(&x);
    tide_xdr_skip(&x, 8); /* sequence number */
    read_conditions(tx, &x);
    read_memo(tx, &x);
    tx->op_source = tx->env.source_key;
    if (tide_xdr_u32(&x) == 1)
        read_operation(tx, &x);
    else
        tx->strange = true;
    if (tx->env.has_soroban)
        read_data(tx);
}

/* Hashes the inner transaction of a fee bump as an envelope of its own. */
static void hash_inner(struct node_tx *tx, const uint8_t network_id[TIDE_HASH_BYTES])
{
    struct tide_envelope inner = tx->env;
    inner.type = 2;
    inner.signed_part = tx->env.inner_signed_part;
    tide_envelope_hash(tx->inner_hash, &inner, network_id);
}

/* Reads the signatures that follow part up to the end of whole. */
static void read_signatures_behind(struct node_signatures *out, tide_slice part, tide_slice whole)
{
    const uint8_t *at = part.ptr + part.len;
    struct tide_xdr x = tide_xdr_of(tide_slice_of(at, (size_t)(whole.ptr + whole.len - at)));
    read_signatures(out, &x);
}

tide_status node_tx_read(struct node_tx *tx, tide_slice envelope,
                         const uint8_t network_id[TIDE_HASH_BYTES])
{
    struct tide_xdr x;
    *tx = (struct node_tx){ .bytes = envelope };
    tide_status status = tide_envelope_read(&tx->env, envelope, &x);
    if (status != TIDE_OK)
        return status;
    tide_envelope_hash(tx->hash, &tx->env, network_id);
    memcpy(tx->inner_hash, tx->hash, TIDE_HASH_BYTES);
    if (tx->env.type == 0) {
        tx->strange = true; /* TransactionV0 is older than contracts */
        return TIDE_OK;
    }
    tide_slice part = tx->env.signed_part;
    if (node_tx_bumped(tx)) {
        part = tx->env.inner_signed_part;
        hash_inner(tx, network_id);
        read_signatures_behind(&tx->payer, tx->env.signed_part, envelope);
        read_signatures_behind(&tx->signatures, part, tx->env.signed_part);
        tx->muxed |= tx->env.fee_source.len == 44;
    } else {
        read_signatures_behind(&tx->signatures, part, envelope);
    }
    read_transaction(tx, part);
    return TIDE_OK;
}

bool node_signed(const struct node_signatures *signatures, const uint8_t *key,
                 const uint8_t hash[TIDE_HASH_BYTES])
{
    for (uint32_t i = 0; i < signatures->count; i++) {
        const struct node_signature *s = &signatures->list[i];
        if (memcmp(s->hint, key + TIDE_HASH_BYTES - 4, 4) == 0 &&
            tide_ed25519_holds(key, s->bytes, tide_slice_of(hash, TIDE_HASH_BYTES)))
            return true;
    }
    return false;
}
