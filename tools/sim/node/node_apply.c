/* Transactions from outside, applied in the ledger that is being made. */
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

/* Result codes of InvokeHostFunction; the other two have the same where they have them. */
enum { TRAPPED = -2, NO_RESOURCES = -3, ARCHIVED = -4, LOW_REFUNDABLE = -5 };

/* One of them at work. */
struct job {
    struct sim_node *node;
    struct node_waiting *item;
    struct chain_making m;
    struct lcm_tx tx;
    int64_t refundable;
    int64_t used;
    int32_t code; /* of its operation */
    const char *reason;
};

/* --- fees ----------------------------------------------------------------------------- */

static void charge(struct chain *chain, struct node_waiting *item)
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

static void charge_chosen(void *self)
{
    struct sim_node *node = self;
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (node->queue[i].chosen)
            charge(&node->chain, &node->queue[i]);
    }
}

static void give_back(void *self)
{
    struct sim_node *node = self;
    struct chain *chain = &node->chain;
    for (uint32_t i = 0; i < node->waiting; i++) {
        struct node_waiting *item = &node->queue[i];
        if (!item->done || item->refund == 0 || chain->lcm.version == 1)
            continue;
        struct lcm_list changes = { 0 };
        chain_refund_at_once(chain, item->payer, item->refund, &changes);
        lcm_refund(&chain->lcm, item->place, &changes);
    }
}

/* --- around the operation ----------------------------------------------------------------- */

static void begin(struct job *job)
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

static void finish(struct job *job)
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
    if (chain->lcm.version == 1 && item->refund)
        chain_refund_at_once(chain, item->payer, item->refund, &job->tx.refund);
    item->place = chain->lcm.tx_count;
    lcm_add(&chain->lcm, &job->tx);
    item->done = true;
    chain->txs++;
    chain->refused += !job->tx.success;
}

/* --- contracts -------------------------------------------------------------------------- */

static const char *object(struct job *job, int32_t code, const char *reason)
{
    job->code = code;
    return reason;
}

static uint32_t used_grants(const struct node_auths *auths)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < auths->grant_count; g++)
        count += auths->grants[g].used && auths->grants[g].arm;
    return count;
}

/* What the network asks while a call runs, asked at its end: the model tells no difference. */
static const char *judge(void *self, const struct sim_outcome *out)
{
    struct job *job = self;
    struct sim_node *node = job->node;
    const struct node_tx *tx = &job->item->tx;
    job->m.out = out;
    const char *why = node_auths_cover(node, out, node->chain.ledger);
    if (!why)
        why = node_footprint_covers(node, &job->m, tx);
    if (why)
        return object(job, TRAPPED, why);
    struct node_cost cost = node_cost_of(&node->chain, out, used_grants(&node->auths));
    if (cost.instructions > tx->env.instructions || cost.write > tx->write ||
        cost.disk_read > tx->disk_read)
        return object(job, NO_RESOURCES, NODE_NO_RESOURCES);
    if (node_fee_used(&cost) > job->refundable)
        return object(job, LOW_REFUNDABLE, NODE_NO_RESOURCES);
    if (node->nonce_count + used_grants(&node->auths) > NODE_NONCES_MAX)
        return object(job, TRAPPED, NODE_USED_NONCE);
    job->used = node_fee_used(&cost);
    return NULL;
}

/* A contract refused; unless the network would have stopped the call before it came to that. */
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

/* The outcome of the call; job->code says why it failed. */
static struct sim_outcome run(struct job *job)
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
                                   .judge = judge };
    job->code = TRAPPED;
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
    job->code = out.ok ? 0 : job->code;
    return out;
}

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

/* A call that passed: its changes, its events, its return value. */
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

static void apply_call(struct job *job)
{
    struct chain *chain = &job->node->chain;
    struct sim_outcome out = run(job);
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
}

static void apply_restore(struct job *job)
{
    struct chain *chain = &job->node->chain;
    const struct node_tx *tx = &job->item->tx;
    uint32_t type = tx->op_type;
    struct sim_outcome none = { .ok = true };
    job->m.out = &none;
    uint32_t changed = node_restore(job->node, tx, &job->m);
    job->used = node_fee_used(&(struct node_cost){ .created = changed });
    job->used = job->used < job->refundable ? job->used : job->refundable;
    job->tx.success = true;
    job->tx.ops[0] =
        (struct lcm_operation){ .type = (enum lcm_op)type,
                                .changes = { tide_buf_view(&chain->changes), job->m.changes } };
}

static void apply(struct sim_node *node, struct node_waiting *item)
{
    struct job job = { .node = node, .item = item };
    const struct node_tx *tx = &item->tx;
    struct node_cost declared = { .instructions = tx->env.instructions,
                                  .disk_read = tx->disk_read,
                                  .write = tx->write,
                                  .read_only = tx->env.read_only_count,
                                  .read_write = tx->env.read_write_count };
    begin(&job);
    if (!tx->soroban) {
        node_apply_funding(node, item, &job.tx);
    } else {
        job.refundable = tx->env.resource_fee - node_fee_fixed(&declared, tx->bytes.len);
        if (tx->op_type == LCM_OP_INVOKE)
            apply_call(&job);
        else
            apply_restore(&job);
    }
    finish(&job);
}

static void apply_chosen(struct sim_node *node, bool soroban)
{
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (node->queue[i].chosen && node->queue[i].tx.soroban == soroban)
            apply(node, &node->queue[i]);
    }
}

static void classic(void *self)
{
    apply_chosen(self, false);
}

static void invoke(void *self)
{
    apply_chosen(self, true);
}

struct chain_guests node_guests(struct sim_node *node)
{
    return (struct chain_guests){ .self = node,
                                  .gather = node_gather,
                                  .charge = charge_chosen,
                                  .classic = classic,
                                  .invoke = invoke,
                                  .refund = give_back,
                                  .holds = node_holds,
                                  .present = node_present };
}
