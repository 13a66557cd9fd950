/* A node: the chain, its queue, and a friendbot. */
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

enum { USDC = 1 };

#define FUND_XLM     (10000LL * 10000000)
#define FUND_USDC    (10000LL * 10000000)
#define FRIENDBOT_OF (1000000000LL * 10000000) /* XLM and USDC that it starts with */

static struct tide_buf *const *buffers_of(struct sim_node *node, struct tide_buf *out[11])
{
    struct tide_buf *all[11] = { &node->result,  &node->text,   &node->events,  &node->auth_xdr,
                                 &node->data,    &node->value,  &node->restore, &node->keys,
                                 &node->entries, &node->answer, &node->envelope };
    memcpy(out, all, sizeof all);
    return out;
}

static tide_status open_friendbot(struct sim_node *node)
{
    struct chain *chain = &node->chain;
    uint8_t key[TIDE_HASH_BYTES];
    tide_status status = cast_key(&chain->cast, key, chain->options.seed, "friendbot");
    if (status != TIDE_OK)
        return status;
    struct sim_account *account = sim_account_add(&chain->host, node_account(key), FRIENDBOT_OF);
    account->seq = node->friendbot_seq = (int64_t)chain->options.first_ledger << 32;
    sim_trust(account, USDC);
    account->lines[USDC].balance = FRIENDBOT_OF;
    node->friendbot = account;
    return TIDE_OK;
}

static tide_status open_all(struct sim_node *node, const struct chain_options *options)
{
    struct tide_buf *all[11];
    struct chain_options own = *options;
    snprintf(node->passphrase, sizeof node->passphrase, "%s", options->passphrase);
    own.passphrase = node->passphrase;
    buffers_of(node, all);
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], SIM_ARENA);
    node->random = options->seed ^ 0x74696465;
    node->queue = calloc(NODE_QUEUE_MAX, sizeof *node->queue);
    node->bans = calloc(NODE_BANS_MAX, sizeof *node->bans);
    node->nonces = calloc(NODE_NONCES_MAX, sizeof *node->nonces);
    tide_status status = chain_open(&node->chain, &own);
    if (!node->queue || !node->bans || !node->nonces)
        status = TIDE_E_MEMORY;
    if (status == TIDE_OK)
        status = open_friendbot(node);
    node->chain.guests = node_guests(node);
    return status;
}

tide_status node_open(struct sim_node **out, const struct chain_options *options,
                      struct tide_err *err)
{
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the chain");
    tide_status status = open_all(node, options);
    if (status != TIDE_OK) {
        node_close(node);
        return tide_fail(err, status, "no memory for the chain");
    }
    *out = node;
    return TIDE_OK;
}

void node_close(struct sim_node *node)
{
    struct tide_buf *all[11];
    if (!node)
        return;
    buffers_of(node, all);
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    for (uint32_t i = 0; i < node->waiting; i++)
        free(node->queue[i].bytes);
    free(node->queue);
    free(node->bans);
    free(node->nonces);
    chain_close(&node->chain);
    free(node);
}

tide_status node_ledger(struct sim_node *node, tide_slice *lcm)
{
    for (uint32_t i = 0; i < node->waiting; i++)
        node->queue[i].chosen = node->queue[i].done = false;
    tide_status status = chain_ledger(&node->chain, lcm);
    if (status == TIDE_OK)
        node_age(node);
    return status;
}

void node_pace(struct sim_node *node, uint32_t seconds)
{
    node->chain.pace = seconds;
}

void node_hold(struct sim_node *node, uint32_t ledgers)
{
    node->hold = ledgers;
}

struct node_latest node_latest(const struct sim_node *node)
{
    const struct chain *chain = &node->chain;
    struct node_latest out = { .protocol = lcm_protocol(&chain->lcm) };
    if (chain->ledger < chain->options.first_ledger)
        return out;
    out.sequence = chain->ledger;
    out.close_time = chain->now;
    memcpy(out.hash, chain->lcm.previous_hash, TIDE_HASH_BYTES);
    return out;
}

const struct cast *node_cast(const struct sim_node *node)
{
    return &node->chain.cast;
}

/* --- the friendbot ------------------------------------------------------------------------ */

static void put_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* CreateAccount and Payment, not yet signed. */
static void put_funding(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES])
{
    struct tide_buf *buf = &node->envelope;
    tide_buf_reset(buf);
    tide_buf_be32(buf, 2);
    put_key(buf, node->friendbot->address.key);
    tide_buf_be32(buf, 200);
    tide_buf_be64(buf, (uint64_t)node->friendbot_seq + 1);
    tide_buf_be64(buf, 0); /* no conditions, no memo */
    tide_buf_be32(buf, 2);
    tide_buf_be64(buf, LCM_OP_CREATE_ACCOUNT); /* its source is the transaction's */
    put_key(buf, key);
    tide_buf_be64(buf, FUND_XLM);
    tide_buf_be64(buf, LCM_OP_PAYMENT);
    put_key(buf, key);
    tide_buf_slice(buf, tide_buf_view(&node->chain.asset));
    tide_buf_be64(buf, FUND_USDC);
    tide_buf_be32(buf, 0);
}

static tide_status sign_funding(struct sim_node *node, struct node_tx *tx)
{
    struct tide_buf *buf = &node->envelope;
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    const uint8_t *key = node->friendbot->address.key;
    size_t mark = buf->len;
    tide_buf_be32(buf, 0);
    tide_status status = buf->failed
                             ? TIDE_E_MEMORY
                             : node_tx_read(tx, tide_buf_view(buf), node->chain.cast.network_id);
    if (status != TIDE_OK || !keys_sign(&node->chain.cast.keys, signature, key, tx->hash))
        return TIDE_E_MEMORY;
    buf->len = mark;
    tide_buf_be32(buf, 1);
    tide_buf_put(buf, key + TIDE_HASH_BYTES - 4, 4);
    tide_xdr_put_var(buf, tide_slice_of(signature, sizeof signature));
    return buf->failed ? TIDE_E_MEMORY
                       : node_tx_read(tx, tide_buf_view(buf), node->chain.cast.network_id);
}

static bool on_its_way(const struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES])
{
    for (uint32_t i = 0; i < node->waiting; i++) {
        const struct node_waiting *item = &node->queue[i];
        if (item->own && memcmp(item->tx.ops[0].body.ptr + 4, key, TIDE_HASH_BYTES) == 0)
            return true;
    }
    return false;
}

tide_status node_fund(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                      uint8_t hash[TIDE_HASH_BYTES])
{
    if (sim_account_find(&node->chain.host, node_account(key)) || on_its_way(node, key))
        return TIDE_E_CONFLICT;
    if (node->waiting >= NODE_QUEUE_MAX)
        return TIDE_E_LIMIT;
    put_funding(node, key);
    tide_status status = sign_funding(node, &node->parsed);
    if (status == TIDE_OK)
        status = node_put_waiting(node, &node->parsed, true);
    if (status != TIDE_OK)
        return status;
    memcpy(hash, node->parsed.hash, TIDE_HASH_BYTES);
    node_use(node, key);
    node->friendbot_seq++;
    return TIDE_OK;
}
