/* Transactions of clients, applied in the ledger that is being made. */
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

/* Result codes of InvokeHostFunction. RestoreFootprint has the same codes where it has them. */
enum { TRAPPED = -2, NO_RESOURCES = -3, ARCHIVED = -4, LOW_REFUNDABLE = -5 };

/* A transaction that is being applied. */
struct job {
    struct sim_node *node;
    struct node_waiting *item;
    struct chain_making m;
    struct lcm_tx tx;
    int64_t refundable; /* most that can be given back of the fee, stroops */
    int64_t used;       /* part of it that the call used, stroops */
    int32_t code;       /* result code of its operation */
    const char *reason;
};

/* --- fees ----------------------------------------------------------------------------- */

/* Charges the fee, or what is left on the account: an earlier transaction may have spent it. */
static void charge_fee(struct chain *chain, struct node_waiting *item)
{
    item->payer = sim_account_find(&chain->host, node_account(item->tx.env.fee_source_key));
    item->charged = node_charge(&item->tx);
    if (item->charged > item->payer->balance)
        item->charged = item->payer->balance;
    item->before = chain_account(item->payer);
    item->payer->balance -= item->charged;
    item->payer->modified = chain->ledger;
    item->after = chain_account(item->payer);
}

/* Callback of the chain, like the functions below that take a void pointer. */
static void charge_chosen(void *self)
{
    struct sim_node *node = self;
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (node->queue[i].chosen)
            charge_fee(&node->chain, &node->queue[i]);
    }
}

static void refund_fees(void *self)
{
    struct sim_node *node = self;
    struct chain *chain = &node->chain;
    for (uint32_t i = 0; i < node->waiting; i++) {
        struct node_waiting *item = &node->queue[i];
        if (!item->done || item->refund == 0)
            continue;
        struct lcm_list changes = { 0 };
        chain_refund_at_once(chain, item->payer, item->refund, &changes);
        lcm_refund(&chain->lcm, item->place, &changes);
    }
}

/* --- before and after the operation ------------------------------------------------------- */

/* Begins the transaction: fee changes and sequence number. */
static void begin_transaction(struct job *job)
{
    struct chain *chain = &job->node->chain;
    const struct node_tx *tx = &job->item->tx;
    bool bumped = node_tx_bumped(tx);
    struct sim_account *source = sim_account_find(&chain->host, node_account(tx->env.source_key));
    chain_reset(chain);
    chain->index++;
    job->m = (struct chain_making){ .chain = chain };
    job->tx = (struct lcm_tx){ .source = tx->env.source_key,
                               .fee_source = bumped ? tx->env.fee_source_key : NULL,
                               .seq = tx->env.seq_num,
                               .fee = tx->env.fee,
                               .op_count = 1,
                               .envelope = tx->bytes,
                               .inner_hash = bumped ? tx->inner_hash : NULL,
                               .soroban = tx->soroban ? tx->env.soroban : (tide_slice){ 0 } };
    memcpy(job->tx.hash, tx->hash, TIDE_HASH_BYTES);
    chain_account_change(&chain->fee_changes, &job->tx.fee_changes.count, &job->item->before,
                         &job->item->after);
    chain_bump_sequence(chain, source, &job->tx.before.count);
    job->tx.fee_changes.xdr = tide_buf_view(&chain->fee_changes);
    job->tx.before.xdr = tide_buf_view(&chain->before);
}

/* Adds the finished transaction with its fee events to the ledger. */
static void finish_transaction(struct job *job)
{
    struct chain *chain = &job->node->chain;
    struct node_waiting *item = job->item;
    const uint8_t *payer = item->payer->address.key;
    item->refund = job->refundable - job->used;
    chain_fee_event(chain, payer, 0, item->charged);
    if (item->refund)
        chain_fee_event(chain, payer, 2, -item->refund);
    job->tx.tx_events = (struct lcm_list){ tide_buf_view(&chain->tx_events), item->refund ? 2 : 1 };
    job->tx.fee_charged = item->charged - item->refund;
    item->place = chain->lcm.tx_count;
    lcm_add(&chain->lcm, &job->tx);
    item->done = true;
    chain->txs++;
    chain->refused += !job->tx.success;
}

/* --- contracts -------------------------------------------------------------------------- */

/* Stores the operation's code and returns the reason. */
static const char *set_refusal(struct job *job, int32_t code, const char *reason)
{
    job->code = code;
    return reason;
}

/* Returns how many nonces the call uses. The source needs none. */
static uint32_t used_grants(const struct node_auths *auths)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < auths->grant_count; g++)
        count += auths->grants[g].used && auths->grants[g].arm;
    return count;
}

/* Checks a passed call against its transaction: authorisations, footprint, resources, nonces. The
 * network checks them while the call runs. Here the checks follow the call; a failure undoes it, so
 * the result is the same. */
static const char *judge_call(void *self, const struct sim_outcome *out)
{
    struct job *job = self;
    struct sim_node *node = job->node;
    const struct node_tx *tx = &job->item->tx;
    job->m.out = out;
    const char *why = node_auths_cover(node, out, node->chain.ledger);
    if (!why)
        why = node_footprint_covers(node, &job->m, tx);
    if (why)
        return set_refusal(job, TRAPPED, why);
    struct node_cost cost = node_cost_of(&node->chain, out, used_grants(&node->auths));
    if (cost.instructions > tx->env.instructions || cost.write > tx->write ||
        cost.disk_read > tx->disk_read)
        return set_refusal(job, NO_RESOURCES, NODE_NO_RESOURCES);
    if (node_fee_used(&cost) > job->refundable)
        return set_refusal(job, LOW_REFUNDABLE, NODE_NO_RESOURCES);
    if (node->nonce_count + used_grants(&node->auths) > NODE_NONCES_MAX)
        return set_refusal(job, TRAPPED, NODE_USED_NONCE);
    job->used = node_fee_used(&cost);
    return NULL;
}

/* Replaces the reason of a contract's refusal if the network would have stopped the call earlier,
 * for lack of an authorisation or footprint key. m.out is set if judge_call has run. */
static void find_earlier_fault(struct job *job, struct sim_outcome *out)
{
    struct sim_node *node = job->node;
    if (out->ok || job->m.out)
        return;
    job->m.out = out;
    const char *why = node_auths_cover(node, out, node->chain.ledger);
    if (!why)
        why = node_footprint_covers(node, &job->m, &job->item->tx);
    if (why)
        out->reason = why;
}

/* Runs the call and returns its outcome; job->code is the operation's result code. */
static struct sim_outcome run_call(struct job *job)
{
    struct sim_node *node = job->node;
    const struct node_tx *tx = &job->item->tx;
    char fn[33] = "";
    struct sim_outcome refused = { .reason = "arguments do not fit" };
    struct sim_attempt attempt = { .source = node_account(tx->op_source),
                                   .contract.kind = SIM_CONTRACT,
                                   .fn = fn,
                                   .arg_count = tx->env.arg_count,
                                   .self = job,
                                   .judge = judge_call };
    job->code = TRAPPED; /* code of every refusal by a contract */
    if (node_footprint_archived(node, tx)) {
        job->code = ARCHIVED;
        refused.reason = NODE_ARCHIVED;
        return refused;
    }
    memcpy(attempt.contract.key, tx->env.contract, TIDE_HASH_BYTES);
    memcpy(fn, tx->env.function.ptr, tx->env.function.len);
    attempt.args = node_args(node, tx);
    if (!attempt.args || !node_auths_read(node, tx))
        return refused;
    struct sim_outcome out = *sim_attempt(&node->chain.host, &attempt);
    find_earlier_fault(job, &out);
    job->m.out = NULL;
    job->code = out.ok ? 0 : job->code;
    return out;
}

/* Uses the nonces of the call's grants. */
static void put_nonces(struct job *job)
{
    struct node_auths *auths = &job->node->auths;
    for (uint32_t g = 0; g < auths->grant_count; g++) {
        const struct node_grant *grant = &auths->grants[g];
        if (!grant->used || !grant->arm)
            continue;
        bool kept = node_nonce_use(job->node, grant);
        assert(kept);
        (void)kept;
        chain_put_nonce(&job->m, grant->party, grant->nonce, grant->expires);
    }
}

/* Writes a passed call: changes, events, return value. */
static void put_outcome(struct job *job)
{
    struct chain *chain = &job->node->chain;
    chain_put_events(&job->m);
    chain_put_diagnostics(&job->m);
    put_nonces(job);
    chain_put_touches(&job->m);
    chain_sweep(&job->m);
    node_restore_listed(job->node, &job->item->tx, &job->m);
    tide_buf_reset(&job->node->value);
    sim_val_xdr(&job->node->value, &job->m.out->ret);
    job->tx.return_value = tide_buf_view(&job->node->value);
    chain->events += job->m.events;
}

/* Applies a contract call. */
static void apply_call(struct job *job)
{
    struct chain *chain = &job->node->chain;
    struct sim_outcome out = run_call(job);
    job->m.out = &out;
    if (out.ok) {
        put_outcome(job);
    } else {
        node_error_event(&chain->diagnostics, job->item->tx.env.contract, out.reason);
        job->m.diagnostics = 1;
    }
    job->tx.success = out.ok;
    job->tx.ops[0] = (struct lcm_operation){
        .type = LCM_OP_INVOKE,
        .code = job->code,
        .changes = { tide_buf_view(&chain->changes), job->m.changes },
        .events = { tide_buf_view(&chain->events_xdr), job->m.events },
    };
    job->tx.diagnostics =
        (struct lcm_list){ tide_buf_view(&chain->diagnostics), job->m.diagnostics };
    job->m.out = NULL;
}

/* Applies RestoreFootprint, which never fails here. */
static void apply_restore(struct job *job)
{
    struct chain *chain = &job->node->chain;
    const struct node_tx *tx = &job->item->tx;
    uint32_t type = tx->op_type;
    struct sim_outcome none = { .ok = true };
    job->m.out = &none;
    assert(type == LCM_OP_RESTORE);
    uint32_t changed = node_restore(job->node, tx, &job->m);
    job->used = node_fee_used(&(struct node_cost){ .created = changed });
    job->used = job->used < job->refundable ? job->used : job->refundable;
    job->tx.success = true;
    job->tx.ops[0] =
        (struct lcm_operation){ .type = (enum lcm_op)type,
                                .changes = { tide_buf_view(&chain->changes), job->m.changes } };
}

/* Applies one transaction. Classic ones can only be the friendbot's, because node_check accepts no
 * others. */
static void apply_transaction(struct sim_node *node, struct node_waiting *item)
{
    struct job job = { .node = node, .item = item };
    const struct node_tx *tx = &item->tx;
    struct node_cost declared = { .instructions = tx->env.instructions,
                                  .disk_read = tx->disk_read,
                                  .write = tx->write,
                                  .read_only = tx->env.read_only_count,
                                  .read_write = tx->env.read_write_count };
    begin_transaction(&job);
    if (!tx->soroban) {
        node_apply_funding(node, item, &job.tx);
    } else {
        job.refundable = tx->env.resource_fee - node_fee_fixed(&declared, tx->bytes.len);
        if (tx->op_type == LCM_OP_INVOKE)
            apply_call(&job);
        else
            apply_restore(&job);
    }
    finish_transaction(&job);
}

/* Applies the selected transactions of one phase, in the order of the queue. */
static void apply_chosen(struct sim_node *node, bool soroban)
{
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (node->queue[i].chosen && node->queue[i].tx.soroban == soroban)
            apply_transaction(node, &node->queue[i]);
    }
}

static void apply_classic(void *self)
{
    apply_chosen(self, false);
}

static void apply_soroban(void *self)
{
    apply_chosen(self, true);
}

struct chain_guests node_guests(struct sim_node *node)
{
    return (struct chain_guests){ .self = node,
                                  .gather = node_gather,
                                  .charge = charge_chosen,
                                  .classic = apply_classic,
                                  .invoke = apply_soroban,
                                  .refund = refund_fees,
                                  .holds = node_holds,
                                  .present = node_present };
}
