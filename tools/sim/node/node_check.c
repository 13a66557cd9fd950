/* Validity of a transaction in the next ledger. The checks come in the network's order, which
 * decides the reported code. */
#include "tidemark/sign.h"
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

enum { OP_BAD_AUTH = -1, OP_NO_ACCOUNT = -2 }; /* OperationResultCode */
enum { TX_BYTES_MAX = 132096 };                /* length of a Soroban transaction */
/* stroops, stroops, instructions of a transaction */
enum { BASE_FEE = 100, BASE_RESERVE = 5000000, INSTRUCTIONS_MAX = 400000000 };

/* Returns the least bid for inclusion, in stroops, without resources. A fee bump counts as one more
 * operation. */
static int64_t least_inclusion(const struct node_tx *tx)
{
    return (int64_t)BASE_FEE * (tx->env.op_count + node_tx_bumped(tx));
}

/* Returns the declared resource fee. */
static int64_t resource_fee(const struct node_tx *tx)
{
    return tx->soroban && tx->env.has_soroban ? tx->env.resource_fee : 0;
}

int64_t node_charge(const struct node_tx *tx)
{
    return resource_fee(tx) + least_inclusion(tx);
}

/* --- contracts ---------------------------------------------------------------------- */

/* Returns true for the kinds of keys that a footprint may have. */
static bool key_allowed(tide_slice key)
{
    uint32_t type = key.len >= 4 ? tide_be32(key.ptr) : UINT32_MAX;
    return type <= TIDE_ENTRY_TRUSTLINE || type == TIDE_ENTRY_CONTRACT_DATA ||
           type == TIDE_ENTRY_CONTRACT_CODE;
}

/* Returns true if the footprint has allowed kinds of keys only, and none twice. */
static bool footprint_fits(const struct tide_envelope *env)
{
    tide_slice keys[NODE_FOOTPRINT_MAX];
    uint32_t count = env->read_only_count + env->read_write_count;
    if (env->read_only_count > NODE_FOOTPRINT_MAX || count > NODE_FOOTPRINT_MAX)
        return false;
    node_footprint_keys(keys, env->read_only, env->read_only_count);
    node_footprint_keys(keys + env->read_only_count, env->read_write, env->read_write_count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (tide_slice_eq(keys[i], keys[k]))
                return false;
        }
        if (!key_allowed(keys[i]))
            return false;
    }
    return true;
}

/* Returns true if the indexes of restored keys are in range and ascending. */
static bool archived_list_fits(const struct node_tx *tx)
{
    for (uint32_t i = 0; i < tx->archived_count; i++) {
        uint32_t place = tide_be32(tx->archived.ptr + (size_t)i * 4);
        if (place >= tx->env.read_write_count ||
            (i && place <= tide_be32(tx->archived.ptr + (size_t)(i - 1) * 4)))
            return false;
    }
    return true;
}

/* Returns true if a contract transaction respects the network's limits and declares a fee that
 * covers its resources. */
static bool soroban_fits(const struct node_tx *tx)
{
    const struct tide_envelope *env = &tx->env;
    struct node_cost cost = { .instructions = env->instructions,
                              .disk_read = tx->disk_read,
                              .write = tx->write,
                              .read_only = env->read_only_count,
                              .read_write = env->read_write_count };
    return tx->memo == 0 && !tx->muxed && tx->bytes.len <= TX_BYTES_MAX &&
           env->instructions <= INSTRUCTIONS_MAX && tx->disk_read <= TX_BYTES_MAX * 2 &&
           tx->write <= TX_BYTES_MAX && footprint_fits(env) && archived_list_fits(tx) &&
           (tx->op_type != LCM_OP_RESTORE || env->read_only_count == 0) &&
           env->resource_fee >= node_fee_fixed(&cost, tx->bytes.len);
}

/* Checks the form: TX_MALFORMED, TX_MISSING_OPERATION, TX_NOT_SUPPORTED or TX_SOROBAN_INVALID. */
static int32_t check_kind(const struct node_tx *tx)
{
    bool alone = tx->soroban && tx->env.op_count == 1;
    if (tx->env.has_soroban &&
        (!alone || tx->env.resource_fee < 0 || tx->env.resource_fee > tx->inner_fee))
        return TX_MALFORMED;
    if (tx->env.op_count == 0)
        return TX_MISSING_OPERATION;
    if (tx->strange)
        return TX_NOT_SUPPORTED;
    if (tx->soroban && !tx->env.has_soroban)
        return TX_MALFORMED;
    return tx->soroban && !soroban_fits(tx) ? TX_SOROBAN_INVALID : TX_SUCCESS;
}

/* --- signatures --------------------------------------------------------------------- */

/* Checks that the sources of the transaction and of its operation have signed, and no other key. */
static int32_t check_signatures(const struct node_tx *tx, int32_t *op)
{
    bool two = memcmp(tx->env.source_key, tx->op_source, TIDE_HASH_BYTES) != 0;
    if (!node_signed(&tx->signatures, tx->env.source_key, tx->inner_hash))
        return TX_BAD_AUTH;
    if (two && !node_signed(&tx->signatures, tx->op_source, tx->inner_hash)) {
        *op = OP_BAD_AUTH;
        return TX_FAILED;
    }
    return tx->signatures.count == (two ? 2u : 1u) ? TX_SUCCESS : TX_BAD_AUTH_EXTRA;
}

/* --- accounts -------------------------------------------------------------------------- */

/* Returns the bids of the payer's other transactions in the queue, in stroops. The inner hash
 * excludes the transaction that this one replaces. */
static int64_t queued_bids(const struct sim_node *node, const struct node_tx *tx)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < node->waiting; i++) {
        const struct node_tx *other = &node->queue[i].tx;
        if (memcmp(other->inner_hash, tx->inner_hash, TIDE_HASH_BYTES) != 0 &&
            memcmp(other->env.fee_source_key, tx->env.fee_source_key, TIDE_HASH_BYTES) == 0)
            sum += other->env.fee;
    }
    return sum;
}

/* Returns true if the payer can pay the bid beside its reserve and its other bids. */
static bool can_pay(const struct sim_node *node, const struct node_tx *tx,
                    const struct sim_account *payer)
{
    int64_t reserve = (2 + (int64_t)payer->subentries) * BASE_RESERVE;
    return tx->env.fee <= payer->balance - reserve - queued_bids(node, tx);
}

/* max_ledger is exclusive, as on the network. */
static int32_t check_time(const struct node_tx *tx, uint64_t close_time, uint32_t ledger)
{
    if (tx->min_time > close_time || tx->min_ledger > ledger)
        return TX_TOO_EARLY;
    if ((tx->max_time && tx->max_time < close_time) || (tx->max_ledger && tx->max_ledger <= ledger))
        return TX_TOO_LATE;
    return TX_SUCCESS;
}

static struct sim_account *account_of(const struct sim_node *node, const uint8_t *key)
{
    /* The look-up does not change the host, so the cast is safe. */
    struct sim_host *host = (struct sim_host *)(uintptr_t)&node->chain.host;
    return sim_account_find(host, node_account(key));
}

/* Checks the inner or only transaction. The fee of a fee bump is checked with its outer
 * transaction. */
static int32_t check_inner(const struct sim_node *node, const struct node_tx *tx,
                           uint64_t close_time, uint32_t ledger, int32_t *op)
{
    int32_t code = check_kind(tx);
    if (code == TX_SUCCESS)
        code = check_time(tx, close_time, ledger);
    if (code == TX_SUCCESS && !node_tx_bumped(tx) &&
        tx->inner_fee - resource_fee(tx) < least_inclusion(tx))
        code = TX_INSUFFICIENT_FEE;
    if (code != TX_SUCCESS)
        return code;
    const struct sim_account *source = account_of(node, tx->env.source_key);
    if (!source)
        return TX_NO_ACCOUNT;
    if (tx->env.seq_num != source->seq + 1 || (tx->has_min_seq && source->seq < tx->min_seq))
        return TX_BAD_SEQ;
    if (!account_of(node, tx->op_source)) {
        *op = OP_NO_ACCOUNT;
        return TX_FAILED;
    }
    return check_signatures(tx, op);
}

/* Returns true if a fee bump pays at least the inner transaction's rate for each operation. */
static bool bump_fee_suffices(const struct node_tx *tx)
{
    int64_t outer = tx->env.fee - resource_fee(tx), inner = tx->inner_fee - resource_fee(tx);
    return outer >= least_inclusion(tx) &&
           outer * tx->env.op_count >= inner * ((int64_t)tx->env.op_count + 1);
}

/* Checks the outer transaction of a fee bump. TX_FEE_BUMP_INNER_FAILED leaves the exact code to
 * check_inner. */
static int32_t check_bump(const struct sim_node *node, const struct node_tx *tx)
{
    if (tx->env.op_count == 0 || tx->strange)
        return TX_FEE_BUMP_INNER_FAILED;
    if (!bump_fee_suffices(tx))
        return TX_INSUFFICIENT_FEE;
    const struct sim_account *payer = account_of(node, tx->env.fee_source_key);
    if (!payer)
        return TX_NO_ACCOUNT;
    if (!node_signed(&tx->payer, tx->env.fee_source_key, tx->hash))
        return TX_BAD_AUTH;
    if (!can_pay(node, tx, payer))
        return TX_INSUFFICIENT_BALANCE;
    return tx->payer.count == 1 ? TX_SUCCESS : TX_BAD_AUTH_EXTRA;
}

struct node_verdict node_check(const struct sim_node *node, const struct node_tx *tx,
                               uint64_t close_time, uint32_t ledger)
{
    struct node_verdict out = { .fee = node_charge(tx) };
    if (node_tx_bumped(tx)) {
        out.code = check_bump(node, tx);
        if (out.code != TX_SUCCESS && out.code != TX_FEE_BUMP_INNER_FAILED)
            return out;
        out.inner = check_inner(node, tx, close_time, ledger, &out.op);
        out.code = out.inner == TX_SUCCESS ? TX_SUCCESS : TX_FEE_BUMP_INNER_FAILED;
        return out;
    }
    out.code = check_inner(node, tx, close_time, ledger, &out.op);
    if (out.code == TX_SUCCESS && !can_pay(node, tx, account_of(node, tx->env.source_key)))
        out.code = TX_INSUFFICIENT_BALANCE;
    return out;
}

/* Appends a result code; TX_FAILED is followed by the operation's code. */
static void put_code(struct tide_buf *out, int32_t code, int32_t op)
{
    tide_buf_be32(out, (uint32_t)code);
    if (code != TX_FAILED)
        return;
    lcm_words(out, 1, (uint32_t)op);
}

void node_put_result(struct tide_buf *out, const struct node_tx *tx,
                     const struct node_verdict *verdict)
{
    tide_buf_be64(out, (uint64_t)verdict->fee);
    put_code(out, verdict->code, verdict->op);
    if (verdict->code == TX_FEE_BUMP_INNER_FAILED) {
        tide_buf_put(out, tx->inner_hash, TIDE_HASH_BYTES);
        tide_buf_be64(out, 0);
        put_code(out, verdict->inner, verdict->op);
        tide_buf_be32(out, 0);
    }
    tide_buf_be32(out, 0);
}
