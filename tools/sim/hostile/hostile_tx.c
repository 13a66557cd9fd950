/* An attacker's transaction: fee, sequence number, operation, resources. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/hostile/hostile_impl.h"

/* Returns the accounts in turn, so that no account signs two transactions of a ledger. */
static struct lcm_account *next_account(struct hostile *h)
{
    return &h->accounts[h->next_account++ % HOSTILE_ACCOUNTS];
}

/* Charges the fee to the payer. Its sequence number stays. */
static void charge_fee(struct attack *a, struct lcm_account *payer)
{
    struct lcm_account before = *payer;
    payer->balance -= a->tx.fee_charged;
    payer->modified = a->chain->ledger;
    chain_account_change(&a->chain->fee_changes, &a->tx.fee_changes.count, &before, payer);
    chain_fee_event(a->chain, payer->key, 0, a->tx.fee_charged);
}

void attack_begin(struct attack *a, struct hostile *h)
{
    struct chain *chain = h->chain;
    *a = (struct attack){ .h = h, .chain = chain, .dice = &h->dice, .from = next_account(h) };
    chain_reset(chain);
    tide_buf_reset(&h->args);
    a->tx = (struct lcm_tx){ .source = a->from->key, .success = true, .op_count = 1 };
    a->tx.fee = a->tx.fee_charged = 1000100; /* stroops: more than any resources cost */
    struct lcm_account *payer = a->from;
    if (dice_percent(&h->dice, 10)) { /* one in ten is wrapped in a fee bump of another attacker */
        payer = next_account(h);
        a->tx.fee_source = payer->key;
        a->tx.fee = a->tx.fee_charged / 2;
    }
    charge_fee(a, payer);
    struct lcm_account before = *a->from;
    a->tx.seq = ++a->from->seq;
    a->from->modified = chain->ledger;
    chain_account_change(&chain->before, &a->tx.before.count, &before, a->from);
}

/* Appends an authorisation that the called code may or may not check: credentials with any
 * signature. */
static void put_auth(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], tide_slice function)
{
    struct tide_buf *buf = &a->chain->body;
    tide_buf_be32(buf, 1);
    if (dice_percent(a->dice, 50)) {
        tide_buf_be32(buf, 0);
    } else {
        tide_buf_be32(buf, 1);
        lcm_put_address_account(buf, a->from->key);
        tide_buf_be64(buf, hostile_u64(a->dice));
        tide_buf_be32(buf, a->chain->ledger + 100);
        hostile_value(a->dice, buf, (struct hostile_bounds){ .bytes = 2000, .depth = 60 });
    }
    tide_buf_be32(buf, 0);
    lcm_put_address_contract(buf, contract);
    tide_xdr_put_var(buf, function);
    lcm_words(buf, 0, 0);
}

void attack_instance(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES])
{
    struct lcm_data data =
        lcm_data_of(&a->h->address, contract, TIDE_SLICE("\0\0\0\x14"), SIM_PERSISTENT);
    attack_key(a, false, &data);
}

void attack_call(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], tide_slice function)
{
    struct tide_buf *buf = &a->chain->body;
    if (!a->own_instance)
        attack_instance(a, contract);
    tide_buf_be32(buf, 0);
    lcm_put_address_contract(buf, contract);
    tide_xdr_put_var(buf, function);
    tide_buf_be32(buf, a->args);
    tide_buf_slice(buf, tide_buf_view(&a->h->args));
    if (dice_percent(a->dice, 25))
        put_auth(a, contract, function);
    else
        tide_buf_be32(buf, 0);
}

void attack_key(struct attack *a, bool write, const struct lcm_data *data)
{
    lcm_put_data_key(write ? &a->chain->read_write : &a->chain->read_only, data);
    if (write)
        a->read_write++;
    else
        a->read_only++;
}

/* Appends the SorobanTransactionData: archived keys, footprint, resources. */
static void put_soroban(struct attack *a)
{
    struct chain *chain = a->chain;
    struct tide_buf *buf = &chain->soroban;
    tide_buf_be32(buf, a->archived ? 1 : 0);
    if (a->archived) {
        tide_buf_be32(buf, a->archived);
        tide_buf_slice(buf, tide_buf_view(&chain->archived));
    }
    tide_buf_be32(buf, a->read_only);
    tide_buf_slice(buf, tide_buf_view(&chain->read_only));
    tide_buf_be32(buf, a->read_write);
    tide_buf_slice(buf, tide_buf_view(&chain->read_write));
    lcm_words(buf, 100000000, 200000, 129000); /* instructions, bytes read, bytes written, fee */
    tide_buf_be64(buf, (uint64_t)(a->tx.fee_charged - 100));
}

void attack_end(struct attack *a, enum lcm_op type, int32_t code)
{
    struct chain *chain = a->chain;
    put_soroban(a);
    a->tx.success = code == 0;
    a->tx.soroban = tide_buf_view(&chain->soroban);
    a->tx.fee_changes.xdr = tide_buf_view(&chain->fee_changes);
    a->tx.before.xdr = tide_buf_view(&chain->before);
    a->tx.tx_events = (struct lcm_list){ tide_buf_view(&chain->tx_events), 1 };
    a->tx.diagnostics = (struct lcm_list){ tide_buf_view(&chain->diagnostics), a->diagnostics };
    a->tx.ops[0] = (struct lcm_operation){
        .type = type,
        .body = tide_buf_view(&chain->body),
        .code = code,
        .changes = { tide_buf_view(&chain->changes), code ? 0 : a->changes },
        .events = { tide_buf_view(&chain->events_xdr), code ? 0 : a->events },
    };
    if (code == 0 && type == LCM_OP_INVOKE) {
        /* The network stores void for a call that returns nothing. */
        if (chain->answer.len == 0)
            tide_buf_be32(&chain->answer, TIDE_SCV_VOID);
        a->tx.return_value = tide_buf_view(&chain->answer);
    }
    if (code)
        a->tx.ops[0].changes.xdr = a->tx.ops[0].events.xdr = (tide_slice){ 0 };
    lcm_add(&chain->lcm, &a->tx);
    chain->index++;
    chain->txs++;
    chain->events += a->tx.ops[0].events.count;
}
