/* One call of the workload: run in the model, then written as a transaction. */
#include "tools/sim/chain/chain_call.h"
#include "tidemark/scval.h"
#include "tidemark/xdr.h"

/* --- events, diagnostics, resources ------------------------------------------------ */

void chain_put_events(struct chain_making *m)
{
    for (uint32_t i = 0; i < m->out->event_count; i++)
        sim_event_xdr(&m->chain->events_xdr, &m->out->events[i]);
    m->events = m->out->event_count;
}

/* Appends diagnostic events, which nodes write if their operator wants them: the contract events
 * once more or, for a failed call, an error event with the reason. */
void chain_put_diagnostics(struct chain_making *m)
{
    struct tide_buf *buf = &m->chain->diagnostics;
    if (!m->chain->options.diagnostics)
        return;
    if (!m->out->ok) {
        tide_buf_be32(buf, 0); /* not in a successful call */
        lcm_put_event_head(buf, m->contract->address.key, 2, 1);
        lcm_put_symbol(buf, "error");
        lcm_put_string(buf, m->out->reason ? m->out->reason : "refused");
        m->diagnostics++;
        return;
    }
    for (; m->diagnostics < m->events; m->diagnostics++) {
        tide_buf_be32(buf, 1);
        sim_event_xdr(buf, &m->out->events[m->diagnostics]);
    }
}

/* Appends the SorobanTransactionData: archived keys, footprint, resources, resource fee. */
static void put_soroban(struct chain_making *m)
{
    struct chain *chain = m->chain;
    struct tide_buf *buf = &chain->soroban;
    assert(m->archived <= m->read_write && "restored keys are in the read-write footprint");
    tide_buf_be32(buf, m->archived ? 1 : 0);
    if (m->archived) {
        tide_buf_be32(buf, m->archived);
        tide_buf_slice(buf, tide_buf_view(&chain->archived));
    }
    tide_buf_be32(buf, m->read_only);
    tide_buf_slice(buf, tide_buf_view(&chain->read_only));
    tide_buf_be32(buf, m->read_write);
    tide_buf_slice(buf, tide_buf_view(&chain->read_write));
    /* Instructions, read bytes and written bytes are made up. */
    lcm_words(buf, 2000000, 1000 + 64 * m->read_only, 1000 + 128 * m->read_write);
    tide_buf_be64(buf, (uint64_t)(m->slot->fee - 100));
}

/* Writes the parts around the operation: the fee's changes and the fee events. The refund is a
 * fifth of the resource fee, a third if the call failed. */
static void put_surroundings(struct chain_making *m, struct lcm_tx *tx)
{
    struct chain *chain = m->chain;
    struct chain_slot *slot = m->slot;
    const uint8_t *payer = slot->payer->address.key;
    chain_account_change(&chain->fee_changes, &tx->fee_changes.count, &slot->before, &slot->after);
    chain_fee_event(chain, payer, 0, slot->fee);
    m->tx_events = 1;
    slot->refund = (slot->fee - 100) / (m->out->ok ? 5 : 3);
    assert(slot->refund >= 0 && slot->refund < slot->fee);
    if (slot->refund) {
        chain_fee_event(chain, payer, 2, -slot->refund);
        m->tx_events = 2;
    }
    tx->fee_changes.xdr = tide_buf_view(&chain->fee_changes);
    tx->tx_events = (struct lcm_list){ tide_buf_view(&chain->tx_events), m->tx_events };
}

/* Parses the call's arguments into the chain's arena, where they stay until the next call. */
static const sim_val *read_args(struct chain *chain, const struct workload_call *call)
{
    tide_arena_reset(&chain->arena);
    sim_val *args = tide_new(&chain->arena, sim_val, call->arg_count + 1);
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&call->args));
    for (uint32_t i = 0; args && i < call->arg_count; i++)
        args[i] = sim_val_read(&chain->arena, tide_scval_span(&x));
    assert(args && x.status == TIDE_OK && tide_xdr_left(&x) == 0);
    return args;
}

/* Runs the call. One call in four hundred fails for lack of resources: its effects are undone, but
 * its footprint is kept. */
static struct sim_outcome run_call(struct chain_making *m)
{
    struct chain *chain = m->chain;
    const struct workload_call *call = &m->slot->call;
    struct sim_host *host = &chain->host;
    struct sim_addr source = chain_addr(chain, (party_ref)call->source);
    struct sim_addr to = chain_addr(chain, parties_contract(call->contract));
    struct sim_contract *contract = sim_contract_find(host, to);
    m->contract = contract;
    m->args = read_args(chain, call);
    if (call->create)
        return *sim_deploy(host, source, contract);
    if (chain->deployed && chain_random(chain) % 400 == 0) {
        struct sim_outcome out = *sim_view(host, to, call->fn, m->args, call->arg_count);
        m->failed_by_network = true;
        out.ok = false;
        out.reason = "resource limit exceeded";
        out.ret = sim_void();
        out.event_count = out.changed = 0;
        return out;
    }
    return *sim_invoke(host, source, to, call->fn, m->args, call->arg_count);
}

/* Reports the outcome to the workload, which bases its next calls on it, and to the observer. */
static void report_call(struct chain_making *m, const struct lcm_tx *tx)
{
    struct chain *chain = m->chain;
    const struct workload_call *call = &m->slot->call;
    workload_outcome(&chain->workload, call, m->out->ok, tx->return_value);
    if (!chain->options.observer.tx)
        return;
    chain->options.observer.tx(
        chain->options.observer.self,
        &(struct chain_tx){ .ledger = chain->ledger,
                            .close_time = chain->now,
                            .index = chain->index,
                            .hash = tx->hash,
                            .inner_hash = tx->fee_source ? tx->inner : NULL,
                            .source = chain_addr(chain, (party_ref)call->source),
                            .sender = m->slot->sender->address,
                            .payer = m->slot->payer->address,
                            .payer_id = tx->fee_source_id,
                            .contract = m->contract,
                            .fn = call->create ? NULL : call->fn,
                            .args = m->args,
                            .arg_count = call->arg_count,
                            .changed = m->changed,
                            .outcome = m->out });
}

void chain_refund_at_once(struct chain *chain, struct sim_account *payer, int64_t refund,
                          struct lcm_list *to)
{
    struct tide_buf *buf = &chain->archived; /* put_soroban has used its content already */
    tide_buf_reset(buf);
    chain_move(chain, buf, &to->count, payer, refund);
    to->xdr = tide_buf_view(buf);
}

/* Writes the operation and its parts. chain_put_changes comes before chain_put_footprint: the keys
 * of nonces are the first of the read-write footprint, and archived keys are numbered behind
 * them. */
static void put_operation(struct chain_making *m, struct lcm_tx *tx)
{
    struct chain *chain = m->chain;
    const uint8_t *code = chain_code_of(m->contract);
    m->code_lapsed = chain_is_code(chain, code) && chain_code_lapsed(chain);
    chain_put_events(m);
    chain_put_diagnostics(m);
    chain_put_changes(m);
    chain_sweep(m);
    chain_put_footprint(m);
    if (code)
        chain_put_code_key(m, code);
    put_soroban(m);
    if (m->slot->call.create)
        chain_create_body(m);
    else
        chain_invoke_body(m);
    tx->op_count = 1;
    tx->ops[0] = (struct lcm_operation){
        .type = LCM_OP_INVOKE,
        .body = tide_buf_view(&chain->body),
        .code = m->out->ok ? 0
                : m->failed_by_network
                    ? -3
                    : -2, /* INVOKE_HOST_FUNCTION: -2 trapped, -3 resource limit exceeded */
        .changes = { tide_buf_view(&chain->changes), m->changes },
        .events = { tide_buf_view(&chain->events_xdr), m->events },
    };
    tx->soroban = tide_buf_view(&chain->soroban);
    tx->diagnostics = (struct lcm_list){ tide_buf_view(&chain->diagnostics), m->diagnostics };
    tide_buf_reset(&chain->answer);
    sim_val_xdr(&chain->answer, &m->out->ret);
    tx->return_value = m->out->ok ? tide_buf_view(&chain->answer) : (tide_slice){ 0 };
}

/* Returns the id with which the payer of a fee bump is multiplexed; 0 for every other one. */
static uint64_t payer_id(const struct chain_slot *slot)
{
    return slot->call.source % 2 ? UINT64_MAX - slot->call.source : 0;
}

void chain_call(struct chain *chain, struct chain_slot *slot)
{
    struct chain_making m = { .chain = chain, .slot = slot };
    struct sim_account *caller = chain->accounts[slot->call.source];
    assert(caller && slot->call.contract < PARTY_CONTRACTS);
    struct lcm_tx tx = { .source = slot->sender->address.key,
                         .caller = slot->sender == caller ? NULL : caller->address.key,
                         .fee_source = slot->bumped ? slot->payer->address.key : NULL,
                         .fee_source_id = slot->bumped ? payer_id(slot) : 0,
                         .fee = slot->bumped ? slot->fee / 2 : slot->fee,
                         .valid_until = chain->now + 300 };
    chain->index++;
    chain_reset(chain);
    chain_bump_sequence(chain, slot->sender, &tx.before.count);
    tx.seq = slot->sender->seq;
    tx.before.xdr = tide_buf_view(&chain->before);
    struct sim_outcome out = run_call(&m);
    m.out = &out;
    put_operation(&m, &tx);
    put_surroundings(&m, &tx);
    tx.success = out.ok;
    tx.fee_charged = slot->fee - slot->refund;
    if (chain->lcm.version == 1 && slot->refund)
        chain_refund_at_once(chain, slot->payer, slot->refund, &tx.refund);
    lcm_add(&chain->lcm, &tx);
    chain->events += m.events;
    chain->txs++;
    chain->refused += !out.ok;
    report_call(&m, &tx);
}
