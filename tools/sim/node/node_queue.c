/* The queue of transactions for the next ledgers: accepted, rejected, replaced, dropped, banned. */
#include "tools/sim/node/node_impl.h"

/* bytes of all envelopes; a replacement's bid must be this many times as high */
enum { QUEUE_BYTES_MAX = 16u << 20, BUMP_FACTOR = 10 };

const char *node_status_name(enum node_status status)
{
    static const char *const names[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER", "ERROR" };
    assert((size_t)status < TIDE_COUNT(names));
    return names[status];
}

/* --- accounts in use by clients -------------------------------------------------------------- */

/* Returns the account's index in node->held, or the next free one. Returns NODE_HELD_MAX if there
 * is no room or if the key is no account of the parties. */
static uint32_t find_held(const struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                          uint32_t *account)
{
    const struct parties *parties = &node->chain.parties;
    uint32_t at = 0;
    *account = 0;
    while (*account < parties->account_count &&
           memcmp(parties->accounts[*account].id, key, TIDE_HASH_BYTES) != 0)
        (*account)++;
    if (*account == parties->account_count)
        return NODE_HELD_MAX;
    while (at < node->held_count && node->held[at].account != *account)
        at++;
    return at;
}

void node_use(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES])
{
    uint32_t account, until = node->chain.ledger + NODE_LEAVE;
    uint32_t at = find_held(node, key, &account);
    node->guest_until = until;
    if (at < NODE_HELD_MAX) {
        assert(at <= node->held_count && account < node->chain.parties.account_count);
        /* The protocol needs accounts with a role again soon. */
        if (account < PARTY_USER)
            until = node->chain.ledger + NODE_PATIENCE + 1;
        node->held[at] = (struct node_held){ account, until };
        node->held_count += at == node->held_count;
    }
}

/* Addresses of accounts in arguments contain the key's bytes. */
bool node_holds(void *self, uint32_t account, tide_slice args)
{
    struct sim_node *node = self;
    for (uint32_t i = 0; i < node->held_count; i++) {
        const uint8_t *key = node->chain.parties.accounts[node->held[i].account].id;
        if (node->held[i].account == account ||
            (args.len && memmem(args.ptr, args.len, key, TIDE_HASH_BYTES)))
            return true;
    }
    return false;
}

/* Clients count as active for some ledgers after their last request. */
bool node_present(void *self)
{
    const struct sim_node *node = self;
    return node->guest_until > node->chain.ledger;
}

/* Removes accounts that no client has used for long enough. */
static void forget_accounts(struct sim_node *node)
{
    for (uint32_t i = 0; i < node->held_count;) {
        if (node->held[i].until <= node->chain.ledger)
            node->held[i] = node->held[--node->held_count];
        else
            i++;
    }
}

/* --- bans --------------------------------------------------------------------------------- */

static bool is_banned(const struct sim_node *node, const uint8_t hash[TIDE_HASH_BYTES])
{
    for (uint32_t i = 0; i < NODE_BANS_MAX; i++) {
        if (node->bans[i].until > node->chain.ledger &&
            memcmp(node->bans[i].hash, hash, TIDE_HASH_BYTES) == 0)
            return true;
    }
    return false;
}

static void ban_hash(struct sim_node *node, const uint8_t hash[TIDE_HASH_BYTES])
{
    struct node_banned *entry = &node->bans[node->ban_next++ % NODE_BANS_MAX];
    memcpy(entry->hash, hash, TIDE_HASH_BYTES);
    entry->until = node->chain.ledger + NODE_BAN;
}

/* --- the queue ------------------------------------------------------------------------------- */

/* The queue keeps its order. */
static void remove_at(struct sim_node *node, uint32_t i)
{
    assert(i < node->waiting);
    free(node->queue[i].bytes);
    node->waiting--;
    memmove(&node->queue[i], &node->queue[i + 1],
            (node->waiting - i) * sizeof(struct node_waiting));
}

/* Returns the queued transaction of a source account, or NULL. The friendbot's do not count. */
static struct node_waiting *find_by_source(struct sim_node *node, const uint8_t *key)
{
    for (uint32_t i = 0; i < node->waiting; i++) {
        if (!node->queue[i].own &&
            memcmp(node->queue[i].tx.env.source_key, key, TIDE_HASH_BYTES) == 0)
            return &node->queue[i];
    }
    return NULL;
}

/* Returns true if the queue has room for one more transaction of that many bytes. */
static bool has_room(const struct sim_node *node, size_t more)
{
    for (uint32_t i = 0; i < node->waiting; i++)
        more += node->queue[i].tx.bytes.len;
    return node->waiting < NODE_QUEUE_MAX && more <= QUEUE_BYTES_MAX;
}

/* Returns the bid for inclusion, without the resource fee. */
static int64_t inclusion_bid(const struct node_tx *tx)
{
    return tx->env.fee - (tx->soroban && tx->env.has_soroban ? tx->env.resource_fee : 0);
}

/* Returns the least fee of a transaction that replaces a queued one: ten times its bid for each
 * operation, rounded up, and the new transaction's resources. */
static int64_t least_bump(const struct node_tx *now, const struct node_tx *next)
{
    int64_t old_ops = (int64_t)now->env.op_count + node_tx_bumped(now);
    int64_t ops = (int64_t)next->env.op_count + node_tx_bumped(next);
    int64_t bid = (BUMP_FACTOR * inclusion_bid(now) * ops + old_ops - 1) / old_ops;
    return bid + (next->env.fee - inclusion_bid(next));
}

tide_status node_put_waiting(struct sim_node *node, const struct node_tx *tx, const uint8_t *funded)
{
    assert(node->waiting < NODE_QUEUE_MAX);
    struct node_waiting *item = &node->queue[node->waiting];
    *item = (struct node_waiting){ .own = funded != NULL, .bytes = malloc(tx->bytes.len) };
    if (!item->bytes)
        return TIDE_E_MEMORY;
    /* The queue parses its own copy, because the parsed transaction borrows from the bytes. */
    memcpy(item->bytes, tx->bytes.ptr, tx->bytes.len);
    if (funded)
        memcpy(item->funded, funded, TIDE_HASH_BYTES);
    tide_status status = node_tx_read(&item->tx, tide_slice_of(item->bytes, tx->bytes.len),
                                      node->chain.parties.network_id);
    assert(status == TIDE_OK);
    node->waiting++;
    return status;
}

/* Sets the result of an invalid transaction. */
static enum node_status reject_tx(struct sim_node *node, const struct node_tx *tx,
                                  struct node_verdict verdict, struct node_sent *out)
{
    tide_buf_reset(&node->result);
    node_put_result(&node->result, tx, &verdict);
    out->result = tide_buf_view(&node->result);
    return NODE_ERROR;
}

/* Applies the queue's rules in the network's order: ban, duplicate, one transaction for each
 * account, replacement by a fee bump, room, validity. */
static enum node_status enqueue_tx(struct sim_node *node, const struct node_tx *tx,
                                   struct node_sent *out)
{
    if (is_banned(node, tx->hash))
        return NODE_TRY_AGAIN_LATER;
    struct node_waiting *now = find_by_source(node, tx->env.source_key);
    if (now && memcmp(now->tx.hash, tx->hash, TIDE_HASH_BYTES) == 0)
        return NODE_DUPLICATE;
    if (now && (!node_tx_bumped(tx) || now->tx.env.seq_num != tx->env.seq_num))
        return NODE_TRY_AGAIN_LATER;
    if (now && tx->env.fee < least_bump(&now->tx, tx)) {
        struct node_verdict low = { .code = TX_INSUFFICIENT_FEE, .fee = least_bump(&now->tx, tx) };
        return reject_tx(node, tx, low, out);
    }
    if (!now && !has_room(node, tx->bytes.len))
        return NODE_TRY_AGAIN_LATER;
    /* The next ledger's close time is not known before it closes; the usual step is assumed. */
    uint32_t step = node->chain.pace ? node->chain.pace : node->chain.options.close_step;
    struct node_verdict verdict =
        node_check(node, tx, node->chain.now + step, node->chain.ledger + 1);
    if (verdict.code != TX_SUCCESS)
        return reject_tx(node, tx, verdict, out);
    if (now)
        remove_at(node, (uint32_t)(now - node->queue));
    if (node_put_waiting(node, tx, NULL) != TIDE_OK)
        return NODE_TRY_AGAIN_LATER;
    node_use(node, tx->env.source_key);
    return NODE_PENDING;
}

tide_status node_send(struct sim_node *node, tide_slice envelope, struct node_sent *out)
{
    struct node_tx *tx = &node->parsed;
    *out = (struct node_sent){ 0 };
    if (envelope.len > NODE_BYTES_MAX)
        return TIDE_E_LIMIT;
    tide_status status = node_tx_read(tx, envelope, node->chain.parties.network_id);
    if (status != TIDE_OK)
        return status;
    memcpy(out->hash, tx->hash, TIDE_HASH_BYTES);
    out->status = enqueue_tx(node, tx, out);
    return TIDE_OK;
}

/* --- the queue and the ledgers --------------------------------------------------------------- */

/* Returns false if the transaction has become invalid since the queue accepted it. */
static bool still_valid(struct sim_node *node, const struct node_waiting *item)
{
    if (item->own)
        return true;
    return node_check(node, &item->tx, node->chain.now, node->chain.ledger).code == TX_SUCCESS;
}

uint32_t node_gather(void *self)
{
    struct sim_node *node = self;
    uint32_t chosen = 0;
    /* While the ledger is held, it takes no transaction, but node_age still counts their age. */
    if (node->hold)
        return 0;
    for (uint32_t i = 0; i < node->waiting;) {
        struct node_waiting *item = &node->queue[i];
        if (!still_valid(node, item)) {
            ban_hash(node, item->tx.hash);
            remove_at(node, i);
            continue;
        }
        item->chosen = chosen < NODE_LEDGER_TXS;
        chosen += item->chosen;
        i++;
    }
    return chosen;
}

void node_age(struct sim_node *node)
{
    assert(node->waiting <= NODE_QUEUE_MAX && node->held_count <= NODE_HELD_MAX);
    node->hold -= node->hold > 0;
    for (uint32_t i = 0; i < node->waiting;) {
        struct node_waiting *item = &node->queue[i];
        item->age += !item->own;
        if (!item->done && item->age >= NODE_PATIENCE)
            ban_hash(node, item->tx.hash);
        if (item->done || item->age >= NODE_PATIENCE)
            remove_at(node, i);
        else
            i++;
    }
    node_nonces_age(node);
    forget_accounts(node);
}
