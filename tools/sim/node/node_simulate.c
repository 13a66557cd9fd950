/* Simulation: the call runs on the state behind the newest ledger, in the next ledger's number, and
 * is undone. The answer has everything that a client needs to send it. */
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

/* SIGNATURE_BYTES: XDR of a signature in an authorisation. SPARE: stroops added to the fee. */
enum { EVENTS_MAX = NODE_STEPS_MAX, SIGNATURE_BYTES = 200, SPARE = 6000 };

/* A simulation that is being run. */
struct trial {
    struct sim_node *node;
    tide_slice envelope;
    const struct node_tx *tx;
    struct node_simulated *out;
    struct chain_making m;
    struct node_cost cost;
    bool enforcing;      /* the operation has authorisations, which are checked */
    bool passed;         /* judge_trial has accepted the call */
    uint32_t signatures; /* nonces that the call uses */
};

static const char undone[] = "simulated"; /* reason by which a passed call is undone */

/* Sets the error of a transaction that is not simulated at all. */
static void fail_with(struct trial *t, const char *text)
{
    tide_buf_reset(&t->node->text);
    tide_buf_str(&t->node->text, text);
    t->out->error = tide_buf_view(&t->node->text);
}

/* --- footprint and events ------------------------------------------------------------------- */

/* Adds the nonces' keys to the footprint, and marks their accounts as used by a client. */
static void put_nonce_keys(struct trial *t)
{
    const struct node_auths *auths = &t->node->auths;
    struct tide_buf *address = &t->node->answer, *key = &t->node->value;
    for (uint32_t g = 0; g < auths->grant_count; g++) {
        if (!auths->grants[g].used || !auths->grants[g].arm)
            continue;
        tide_buf_reset(address);
        tide_buf_reset(key);
        chain_put_addr(address, auths->grants[g].party);
        chain_nonce_key(key, auths->grants[g].nonce);
        struct lcm_data data = { tide_buf_view(address), tide_buf_view(key), SIM_TEMPORARY };
        lcm_put_data_key(&t->m.chain->read_write, &data);
        t->m.read_write++;
        t->signatures++;
        if (auths->grants[g].party.kind == SIM_ACCOUNT)
            node_use(t->node, auths->grants[g].party.key);
    }
}

/* Writes the footprint: touched keys, code keys, nonces. */
static void put_footprint(struct trial *t)
{
    const uint8_t *codes[SIM_DEPTH_MAX];
    chain_reset(t->m.chain);
    chain_put_footprint(&t->m);
    t->m.code_lapsed = node_code_lapsed(t->m.chain, t->m.out);
    for (uint32_t i = 0, count = node_codes(codes, t->m.out); i < count; i++)
        chain_put_code_key(&t->m, codes[i]);
    put_nonce_keys(t);
}

/* Writes the call's events as DiagnosticEvents. */
static void put_events(struct trial *t)
{
    struct tide_buf *buf = &t->node->events;
    size_t at[EVENTS_MAX + 1] = { 0 };
    uint32_t count = t->m.out->event_count < EVENTS_MAX ? t->m.out->event_count : EVENTS_MAX;
    tide_buf_reset(buf);
    for (uint32_t i = 0; i < count; i++) {
        tide_buf_be32(buf, 1); /* in a successful call */
        sim_event_xdr(buf, &t->m.out->events[i]);
        at[i + 1] = buf->len;
    }
    for (uint32_t i = 0; i < count; i++)
        t->node->event_items[i] = tide_slice_of(buf->ptr + at[i], at[i + 1] - at[i]);
    t->out->events = (struct node_list){ t->node->event_items, count };
}

/* --- state changes --------------------------------------------------------------------------- */

/* Writes the state changes. Each has three parts in node->keys: key, entry before, entry after. The
 * offsets become slices when the buffer no longer moves. */
static void put_changes(struct trial *t)
{
    struct tide_buf *buf = &t->node->keys;
    size_t at[NODE_FOOTPRINT_MAX][4];
    uint32_t count = 0;
    tide_buf_reset(buf);
    for (uint32_t i = 0; i < t->m.out->touch_count && count < NODE_FOOTPRINT_MAX; i++) {
        const struct sim_touch *touch = &t->m.out->touches[i];
        bool exists = touch->kind != SIM_TOUCH_DATA || touch->entry->exists;
        if (!touch->written || (!touch->existed && !exists))
            continue;
        at[count][0] = buf->len;
        chain_put_touch_key(&t->m, buf, touch);
        at[count][1] = buf->len;
        if (touch->existed)
            chain_put_touch(t->m.chain, &t->node->keys, touch, true);
        at[count][2] = buf->len;
        if (exists)
            chain_put_touch(t->m.chain, &t->node->keys, touch, false);
        at[count][3] = buf->len;
        t->node->changes[count++].type = !touch->existed ? NODE_CHANGE_CREATED
                                         : exists        ? NODE_CHANGE_UPDATED
                                                         : NODE_CHANGE_DELETED;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct node_change *change = &t->node->changes[i];
        change->key = tide_slice_of(buf->ptr + at[i][0], at[i][1] - at[i][0]);
        change->before = tide_slice_of(buf->ptr + at[i][1], at[i][2] - at[i][1]);
        change->after = tide_slice_of(buf->ptr + at[i][2], at[i][3] - at[i][2]);
    }
    t->out->changes = t->node->changes;
    t->out->change_count = count;
}

/* --- the transaction to send ----------------------------------------------------------------- */

/* Returns n with a share of it added, at least `least`. */
static uint32_t padded(uint32_t n, uint32_t hundredths, uint32_t least)
{
    uint32_t share = (uint32_t)((uint64_t)n * hundredths / 100);
    return n + (share > least ? share : least);
}

/* Adds room to the resources, as the network's simulation does, but more: the model's counts are
 * coarser. */
static void pad_cost(struct trial *t)
{
    struct node_cost *cost = &t->cost;
    cost->instructions = padded(cost->instructions, 4, 1000000);
    cost->write = padded(cost->write, 10, 1000);
    cost->disk_read = padded(cost->disk_read, 10, 500);
    cost->read_only = t->m.read_only;
    cost->read_write = t->m.read_write;
}

/* Returns the resource fee of the transaction that the client will send, with its signatures. The
 * envelope's size is an estimate. */
static int64_t fee_of(const struct trial *t, size_t data_bytes)
{
    size_t bytes = t->envelope.len + data_bytes + 200;
    if (!t->enforcing)
        bytes += t->node->auth_xdr.len + (size_t)SIGNATURE_BYTES * t->signatures;
    bytes += bytes / 10 > 500 ? bytes / 10 : 500;
    return node_fee_fixed(&t->cost, bytes) + node_fee_used(&t->cost) * 115 / 100 + SPARE;
}

/* Writes the SorobanTransactionData. The archived keys are restored with the call. */
static void put_data(struct trial *t, struct tide_buf *buf)
{
    const struct chain *chain = t->m.chain;
    tide_buf_reset(buf);
    tide_buf_be32(buf, t->m.archived > 0);
    if (t->m.archived) {
        tide_buf_be32(buf, t->m.archived);
        tide_buf_slice(buf, tide_buf_view(&chain->archived));
    }
    tide_buf_be32(buf, t->m.read_only);
    tide_buf_slice(buf, tide_buf_view(&chain->read_only));
    tide_buf_be32(buf, t->m.read_write);
    tide_buf_slice(buf, tide_buf_view(&chain->read_write));
    lcm_words(buf, t->cost.instructions, t->cost.disk_read, t->cost.write);
    t->out->min_resource_fee = fee_of(t, buf->len + 8);
    tide_buf_be64(buf, (uint64_t)t->out->min_resource_fee);
    t->out->data = tide_buf_view(buf);
}

/* --- running the call ------------------------------------------------------------------------ */

/* Checks the given authorisations, or records the required ones. Returns the reason of a refusal,
 * or NULL. */
static const char *authorise(struct trial *t, const struct sim_outcome *out)
{
    struct sim_node *node = t->node;
    if (t->enforcing)
        return node_auths_cover(node, out, node->chain.ledger);
    const char *why = node_auths_record(node, out, t->tx->op_source);
    t->out->auth = (struct node_list){ node->items, node->auths.grant_count };
    return why;
}

/* Writes the answer while the call's effects stand. Always returns a reason, so that the call is
 * undone. */
static const char *judge_trial(void *self, const struct sim_outcome *out)
{
    struct trial *t = self;
    struct chain *chain = &t->node->chain;
    t->m.out = out;
    const char *why = authorise(t, out);
    if (why)
        return why;
    put_footprint(t);
    put_events(t);
    put_changes(t);
    t->cost = node_cost_of(chain, out, t->signatures);
    pad_cost(t);
    put_data(t, &t->node->data);
    tide_buf_reset(&t->node->result);
    sim_val_xdr(&t->node->result, &out->ret);
    t->out->result = tide_buf_view(&t->node->result);
    t->passed = true;
    return undone;
}

/* Sets the error and the event of a refused call. */
static void put_refusal(struct trial *t, const char *reason)
{
    struct sim_node *node = t->node;
    *t->out = (struct node_simulated){ 0 };
    tide_buf_reset(&node->text);
    tide_buf_reset(&node->events);
    node_error_message(&node->text, t->tx->env.contract, reason);
    node_error_event(&node->events, t->tx->env.contract, reason);
    node->event_items[0] = tide_buf_view(&node->events);
    t->out->events = (struct node_list){ node->event_items, 1 };
    t->out->error = tide_buf_view(&node->text);
}

/* Runs the call. Its own authorisations decide between checking and recording. */
static void simulate_call(struct trial *t)
{
    struct sim_node *node = t->node;
    const struct node_tx *tx = t->tx;
    char fn[33] = "";
    struct sim_attempt attempt = { .source = node_account(tx->op_source),
                                   .contract.kind = SIM_CONTRACT,
                                   .fn = fn,
                                   .arg_count = tx->env.arg_count,
                                   .self = t,
                                   .judge = judge_trial };
    memcpy(attempt.contract.key, tx->env.contract, TIDE_HASH_BYTES);
    memcpy(fn, tx->env.function.ptr, tx->env.function.len);
    attempt.args = node_args(node, tx);
    t->enforcing = tx->env.auth_count > 0;
    if (!attempt.args || (t->enforcing && !node_auths_read(node, tx))) {
        put_refusal(t, "arguments do not fit");
        return;
    }
    const struct sim_outcome *out = sim_attempt(&node->chain.host, &attempt);
    if (!t->passed)
        put_refusal(t, out->reason);
}

/* Checks that the transaction can be simulated. */
static void run_trial(struct trial *t)
{
    const struct node_tx *tx = t->tx;
    if (tx->env.op_count != 1)
        fail_with(t, "Transaction contains more than one operation");
    else if (tx->memo)
        fail_with(t, "Transaction contains a memo, which contract calls may not have");
    else if (tx->strange || tx->op_type != LCM_OP_INVOKE)
        fail_with(t, "unsupported operation type: only InvokeContract is simulated");
    else
        simulate_call(t);
}

tide_status node_simulate(struct sim_node *node, tide_slice envelope, struct node_simulated *out)
{
    struct chain *chain = &node->chain;
    *out = (struct node_simulated){ 0 };
    if (envelope.len > NODE_BYTES_MAX)
        return TIDE_E_LIMIT;
    tide_status status = node_tx_read(&node->parsed, envelope, chain->parties.network_id);
    if (status != TIDE_OK)
        return status;
    struct trial t = { .node = node, .envelope = envelope, .tx = &node->parsed, .out = out };
    t.m.chain = chain;
    if (node->parsed.env.source_key)
        node_use(node, node->parsed.env.source_key);
    /* The call runs in the number of the next ledger, so that lives and expiries are right. */
    chain->ledger++;
    sim_ledger(&chain->host, chain->ledger, chain->now);
    run_trial(&t);
    chain->ledger--;
    sim_ledger(&chain->host, chain->ledger, chain->now);
    return TIDE_OK;
}
