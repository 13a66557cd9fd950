/* The friendbot: a transaction that creates an account with XLM, a USDC trustline and USDC. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

enum { USDC = 1, FEE = 200 }; /* USDC: index of the asset; FEE in stroops */

#define FUND_XLM     (10000LL * 10000000) /* stroops; USDC has seven decimals too */
#define FUND_USDC    (10000LL * 10000000)
#define FRIENDBOT_OF (1000000000LL * 10000000) /* XLM and USDC that the friendbot starts with */

tide_status node_friendbot_open(struct sim_node *node)
{
    struct chain *chain = &node->chain;
    uint8_t key[TIDE_HASH_BYTES];
    tide_status status = parties_key(&chain->parties, key, chain->options.seed, "friendbot");
    if (status != TIDE_OK)
        return status;
    struct sim_account *account = sim_account_add(&chain->host, node_account(key), FRIENDBOT_OF);
    account->seq = node->friendbot_seq = (int64_t)chain->options.first_ledger << 32;
    sim_trust(account, USDC);
    account->lines[USDC].balance = FRIENDBOT_OF;
    node->friendbot = account;
    return TIDE_OK;
}

/* --- the envelope ------------------------------------------------------------------------- */

/* Appends an account id or a muxed account without id: both have the same form. */
static void put_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* Writes the transaction with CreateAccount and Payment to node->envelope, unsigned. */
static void put_funding(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES])
{
    struct tide_buf *buf = &node->envelope;
    tide_buf_reset(buf);
    tide_buf_be32(buf, 2);
    put_key(buf, node->friendbot->address.key);
    tide_buf_be32(buf, FEE);
    tide_buf_be64(buf, (uint64_t)node->friendbot_seq + 1);
    tide_buf_be64(buf, 0); /* no conditions, no memo */
    tide_buf_be32(buf, 2);
    tide_buf_be64(buf, LCM_OP_CREATE_ACCOUNT); /* the operation's source is the transaction's */
    put_key(buf, key);
    tide_buf_be64(buf, FUND_XLM);
    tide_buf_be64(buf, LCM_OP_PAYMENT);
    put_key(buf, key);
    tide_buf_slice(buf, tide_buf_view(&node->chain.asset));
    tide_buf_be64(buf, FUND_USDC);
    tide_buf_be32(buf, 0);
}

/* Signs the transaction and parses it. The first parse, without signatures, computes the hash to
 * sign. */
static tide_status sign_funding(struct sim_node *node, struct node_tx *tx)
{
    struct tide_buf *buf = &node->envelope;
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    const uint8_t *key = node->friendbot->address.key;
    size_t mark = buf->len;
    tide_buf_be32(buf, 0); /* no signatures */
    tide_status status = buf->failed
                             ? TIDE_E_MEMORY
                             : node_tx_read(tx, tide_buf_view(buf), node->chain.parties.network_id);
    if (status != TIDE_OK || !keys_sign(&node->chain.parties.keys, signature, key, tx->hash))
        return TIDE_E_MEMORY;
    buf->len = mark;
    tide_buf_be32(buf, 1);
    tide_buf_put(buf, key + TIDE_HASH_BYTES - 4, 4);
    tide_xdr_put_var(buf, tide_slice_of(signature, sizeof signature));
    return buf->failed ? TIDE_E_MEMORY
                       : node_tx_read(tx, tide_buf_view(buf), node->chain.parties.network_id);
}

/* Returns true if the queue has a funding of this account. */
static bool is_funding_queued(const struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES])
{
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (node->queue[i].own && memcmp(node->queue[i].funded, key, TIDE_HASH_BYTES) == 0)
            return true;
    }
    return false;
}

tide_status node_fund(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                      uint8_t hash[TIDE_HASH_BYTES])
{
    if (sim_account_find(&node->chain.host, node_account(key)) || is_funding_queued(node, key))
        return TIDE_E_CONFLICT;
    /* Every queued funding takes FUND_XLM; twice that amount keeps the friendbot above its
     * reserve. */
    if (node->waiting >= NODE_QUEUE_MAX ||
        node->friendbot->balance / (2 * FUND_XLM) <= (int64_t)node->waiting)
        return TIDE_E_LIMIT;
    put_funding(node, key);
    tide_status status = sign_funding(node, &node->parsed);
    if (status == TIDE_OK)
        status = node_put_waiting(node, &node->parsed, key);
    if (status != TIDE_OK)
        return status;
    memcpy(hash, node->parsed.hash, TIDE_HASH_BYTES);
    node_use(node, key);
    node->friendbot_seq++;
    return TIDE_OK;
}

/* --- in a ledger -------------------------------------------------------------------------- */

/* A funding that is being applied. Its changes and events are in the chain's buffers. */
struct funding {
    struct sim_node *node;
    struct chain *chain;
    struct sim_account *made;
    uint32_t changes;
};

/* Appends a change of the account's USDC trustline. */
static void put_line(struct funding *f, uint32_t change, const struct sim_account *account)
{
    struct lcm_trustline line = chain_line(f->chain, account);
    chain_change(&f->chain->changes, &f->changes, change);
    lcm_put_trustline(&f->chain->changes, &line);
}

/* Changes the account's USDC balance and appends both states. */
static void move_usdc(struct funding *f, struct sim_account *account, int64_t by)
{
    put_line(f, CHANGE_STATE, account);
    account->lines[USDC].balance += by;
    account->lines[USDC].modified = f->chain->ledger;
    put_line(f, CHANGE_UPDATED, account);
}

/* Appends the transfer event of a payment from the friendbot. */
static void put_transfer(struct funding *f, bool usdc, int64_t amount)
{
    chain_put_transfer(f->chain, f->node->friendbot->address.key, f->made->address.key,
                       &(struct chain_payment){ usdc, amount, NULL });
}

/* Creates the account and its trustline. A real network creates no trustline unasked. */
static void create_account(struct funding *f, const uint8_t *key)
{
    struct chain *chain = f->chain;
    chain_move(chain, &chain->changes, &f->changes, f->node->friendbot, -FUND_XLM);
    f->made = sim_account_add(&chain->host, node_account(key), FUND_XLM);
    f->made->seq = (int64_t)chain->ledger << 32;
    f->made->modified = chain->ledger;
    sim_trust(f->made, USDC);
    f->made->lines[USDC].modified = chain->ledger;
    struct lcm_account entry = chain_account(f->made);
    chain_change(&chain->changes, &f->changes, CHANGE_CREATED);
    lcm_put_account(&chain->changes, &entry);
    put_line(f, CHANGE_CREATED, f->made);
    put_transfer(f, false, FUND_XLM);
}

void node_apply_funding(struct sim_node *node, const struct node_waiting *item, struct lcm_tx *tx)
{
    struct chain *chain = &node->chain;
    struct funding f = { .node = node, .chain = chain };
    create_account(&f, item->funded);
    size_t changes = chain->changes.len, events = chain->events_xdr.len;
    uint32_t count = f.changes;
    move_usdc(&f, node->friendbot, -FUND_USDC);
    move_usdc(&f, f.made, FUND_USDC);
    put_transfer(&f, true, FUND_USDC);
    tide_slice all = tide_buf_view(&chain->changes), events_xdr = tide_buf_view(&chain->events_xdr);
    tx->op_count = 2;
    tx->success = true;
    tx->ops[0] = (struct lcm_operation){ .type = LCM_OP_CREATE_ACCOUNT,
                                         .changes = { { all.ptr, changes }, count },
                                         .events = { { events_xdr.ptr, events }, 1 } };
    tx->ops[1] = (struct lcm_operation){
        .type = LCM_OP_PAYMENT,
        .changes = { { all.ptr + changes, all.len - changes }, f.changes - count },
        .events = { { events_xdr.ptr + events, events_xdr.len - events }, 1 },
    };
}
