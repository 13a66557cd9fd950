/* A small simulated network for tests: a node whose ledgers are all verified, people with keys,
 * and calls made as a person's program makes them. */
#ifndef NODE_NET_H
#define NODE_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/decode/proof.h"
#include "tidemark/scval.h"
#include "tools/sim/client/tx_build.h"
#include "tools/sim/host/host.h"
#include "tools/sim/host/value.h"
#include "tools/sim/node/node.h"

enum { NET_SEEN = 512, NET_WATCHED = 64, NET_CHANGES = 8192 };

struct net_seen {
    uint8_t hash[TIDE_HASH_BYTES];
    uint8_t inner[TIDE_HASH_BYTES];
    uint32_t ledger;
    bool successful;
    int32_t code, op_code;
    int64_t fee;
    uint32_t events;
    uint32_t restored;
    uint8_t answer[64]; /* start of the return value */
    size_t answer_len;
    char error[96]; /* what a diagnostic event says */
};

struct person {
    struct tide_sign *key;
    const uint8_t *public;
    int64_t seq; /* of the next transaction */
};

/* An account's newest entry as the ledgers tell it: fees of all, then changes, then refunds. */
struct net_watch {
    uint8_t key[TIDE_HASH_BYTES];
    uint8_t entry[3][160];
    size_t len[3];
};

struct net {
    struct sim_node *node;
    const struct cast *cast;
    struct tide_proof_check *verify;
    uint8_t previous[TIDE_HASH_BYTES];
    bool begun;
    struct net_seen seen[NET_SEEN]; /* of the last ledger */
    uint32_t seen_count;
    struct net_watch watched[NET_WATCHED];
    uint32_t watched_count;
    struct tide_change changes[NET_CHANGES]; /* of contract data, in the last ledger */
    uint32_t change_count;
    struct tide_change lives[NET_CHANGES]; /* TTL entries that were written */
    uint32_t life_count;
    uint64_t compared_lives;
    uint64_t compared; /* entries that were the same on both sides */
    struct tide_buf args, envelope, auth;
    uint32_t arg_count;
    struct node_simulated simulated;
    struct node_sent sent;
};

/* --- reading ledgers ------------------------------------------------------------------ */

static inline tide_status net_header(void *self, const struct tide_ledger_header *header)
{
    struct net *net = self;
    tide_proof_header(net->verify, header);
    if (net->begun)
        assert_memory_equal(net->previous, header->previous_hash, TIDE_HASH_BYTES);
    memcpy(net->previous, header->hash, TIDE_HASH_BYTES);
    net->begun = true;
    net->seen_count = net->change_count = net->life_count = 0;
    for (uint32_t i = 0; i < net->watched_count; i++)
        memset(net->watched[i].len, 0, sizeof net->watched[i].len);
    return TIDE_OK;
}

static inline tide_status net_envelope(void *self, const struct tide_envelope *envelope)
{
    return tide_proof_envelope(((struct net *)self)->verify, envelope);
}

static inline tide_status net_tx_set(void *self, tide_slice set)
{
    tide_proof_tx_set(((struct net *)self)->verify, set);
    return TIDE_OK;
}

static inline tide_status net_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct net *net = self;
    assert_true(net->seen_count < NET_SEEN);
    struct net_seen *seen = &net->seen[net->seen_count++];
    *seen = (struct net_seen){ .ledger = node_latest(net->node).sequence,
                               .successful = tx->successful,
                               .code = tx->result_code,
                               .op_code = tx->op_result_code,
                               .fee = tx->fee_charged };
    memcpy(seen->hash, tx->hash, TIDE_HASH_BYTES);
    if (tx->inner_hash)
        memcpy(seen->inner, tx->inner_hash, TIDE_HASH_BYTES);
    tide_proof_tx(net->verify, tx);
    *inside = true;
    return TIDE_OK;
}

static inline tide_status net_event(void *self, const struct tide_tx *tx,
                                    const struct tide_event *event)
{
    struct net *net = self;
    struct net_seen *seen = &net->seen[net->seen_count - 1];
    (void)tx;
    seen->events += event->level == TIDE_EVENT_OP;
    if (event->level != TIDE_EVENT_DIAGNOSTIC || tide_scval_type_of(event->data) != TIDE_SCV_STRING)
        return TIDE_OK;
    struct tide_xdr x = tide_xdr_of(event->data);
    tide_xdr_skip(&x, 4);
    tide_slice text = tide_xdr_var(&x, 1000);
    snprintf(seen->error, sizeof seen->error, "%.*s", TIDE_SLICE_FMT(text));
    return TIDE_OK;
}

static inline tide_status net_change(void *self, const struct tide_tx *tx,
                                     const struct tide_change *change)
{
    struct net *net = self;
    (void)tx;
    net->seen[net->seen_count - 1].restored += change->kind == TIDE_CHANGE_RESTORED;
    if (change->type == TIDE_ENTRY_CONTRACT_DATA && change->kind != TIDE_CHANGE_STATE) {
        assert_true(net->change_count < NET_CHANGES);
        net->changes[net->change_count++] = *change;
    }
    if (change->type == TIDE_ENTRY_TTL && change->kind != TIDE_CHANGE_STATE) {
        assert_true(net->life_count < NET_CHANGES);
        net->lives[net->life_count++] = *change;
    }
    if (change->type != TIDE_ENTRY_ACCOUNT || change->kind > TIDE_CHANGE_UPDATED)
        return TIDE_OK;
    int when = change->section == TIDE_SECTION_FEE        ? 0
               : change->section == TIDE_SECTION_POST_FEE ? 2
                                                          : 1;
    for (uint32_t i = 0; i < net->watched_count; i++) {
        struct net_watch *watch = &net->watched[i];
        if (memcmp(change->entry.ptr + 12, watch->key, TIDE_HASH_BYTES) != 0)
            continue;
        assert_true(change->entry.len <= sizeof watch->entry[when]);
        memcpy(watch->entry[when], change->entry.ptr, change->entry.len);
        watch->len[when] = change->entry.len;
    }
    return TIDE_OK;
}

static inline tide_status net_tx_end(void *self, const struct tide_tx *tx)
{
    struct net *net = self;
    struct net_seen *seen = &net->seen[net->seen_count - 1];
    enum tide_call_proof proof = tide_proof_tx_end(net->verify, tx);
    assert_true(proof == TIDE_CALL_NONE || proof == TIDE_CALL_VERIFIED);
    seen->answer_len =
        tx->return_value.len < sizeof seen->answer ? tx->return_value.len : sizeof seen->answer;
    if (seen->answer_len)
        memcpy(seen->answer, tx->return_value.ptr, seen->answer_len);
    return TIDE_OK;
}

static inline void net_account_key(struct tide_buf *buf, const uint8_t *key)
{
    tide_buf_reset(buf);
    lcm_put_account_key(buf, key);
}

/* What the ledger told of the watched accounts is what the node says of them. */
static inline void net_compare(struct net *net)
{
    struct tide_buf key;
    struct node_entry entry;
    tide_buf_init(&key, 64);
    for (uint32_t i = 0; i < net->watched_count; i++) {
        const struct net_watch *watch = &net->watched[i];
        int last = watch->len[2] ? 2 : watch->len[1] ? 1 : 0;
        if (!watch->len[last])
            continue;
        net_account_key(&key, watch->key);
        assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_OK);
        assert_int_equal(entry.data.len, watch->len[last] - 8);
        assert_memory_equal(entry.data.ptr, watch->entry[last] + 4, entry.data.len);
    }
    tide_buf_release(&key);
}

static inline bool net_changes_again(const struct net *net, uint32_t i)
{
    const struct tide_change *change = &net->changes[i];
    for (uint32_t k = i + 1; k < net->change_count; k++) {
        const struct tide_change *later = &net->changes[k];
        if (later->durability == change->durability && tide_slice_eq(later->key, change->key) &&
            tide_slice_eq(later->contract, change->contract))
            return true;
    }
    return false;
}

/* The newest life that the ledger tells of the entry under this key. */
static inline void net_compare_life(struct net *net, tide_slice key, const struct node_entry *entry)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, key);
    for (uint32_t i = net->life_count; i-- > 0;) {
        if (memcmp(net->lives[i].key_hash, hash, TIDE_HASH_BYTES) != 0)
            continue;
        net->compared_lives++;
        assert_int_equal(net->lives[i].live_until, entry->live_until);
        return;
    }
}

/* The contract data that the ledger leaves behind is what the node finds: but for the nonces of
 * the population, which it does not keep, and strangers' entries. */
static inline void net_compare_data(struct net *net)
{
    struct tide_buf key;
    struct node_entry entry;
    tide_buf_init(&key, 1 << 16);
    for (uint32_t i = 0; i < net->change_count; i++) {
        const struct tide_change *change = &net->changes[i];
        struct lcm_data data = { change->contract, change->key, change->durability };
        if (net_changes_again(net, i))
            continue;
        tide_buf_reset(&key);
        lcm_put_data_key(&key, &data);
        tide_status status = node_entry(net->node, tide_buf_view(&key), &entry);
        if (change->kind == TIDE_CHANGE_REMOVED) {
            assert_int_equal(status, TIDE_E_MISSING);
        } else if (status == TIDE_OK) {
            net->compared++;
            assert_int_equal(entry.data.len, change->entry.len - 8);
            assert_memory_equal(entry.data.ptr, change->entry.ptr + 4, entry.data.len);
            assert_int_equal(entry.modified, change->last_modified);
            net_compare_life(net, tide_buf_view(&key), &entry);
        } else {
            bool nonce = tide_scval_type_of(change->key) == TIDE_SCV_LEDGER_KEY_NONCE;
            bool ours = false;
            for (uint32_t c = 0; c < CAST_CONTRACTS; c++)
                ours |= change->contract.len == 36 &&
                        memcmp(change->contract.ptr + 4, net->cast->contracts[c].id, 32) == 0;
            assert_true(nonce || !ours);
        }
    }
    tide_buf_release(&key);
}

/* Closes a ledger and takes it apart. */
static inline void net_close_ledger(struct net *net)
{
    struct tide_err err;
    tide_slice lcm;
    const char *what = "";
    struct tide_walk walk = { .self = net,
                              .header = net_header,
                              .envelope = net_envelope,
                              .tx_set = net_tx_set,
                              .tx = net_tx,
                              .event = net_event,
                              .change = net_change,
                              .tx_end = net_tx_end,
                              .diagnostics = true };
    assert_int_equal(node_ledger(net->node, &lcm), TIDE_OK);
    if (tide_ledger_walk(&walk, lcm, &err) != TIDE_OK)
        fail_msg("%s", err.text);
    tide_proof_end(net->verify);
    if (!tide_proof_holds(net->verify, &what))
        fail_msg("%s", what);
    net_compare(net);
    net_compare_data(net);
}

/* The transaction of that hash in the last ledger, or NULL. */
static inline const struct net_seen *net_find(const struct net *net, const uint8_t *hash)
{
    for (uint32_t i = 0; i < net->seen_count; i++) {
        if (memcmp(net->seen[i].hash, hash, TIDE_HASH_BYTES) == 0)
            return &net->seen[i];
    }
    return NULL;
}

/* --- the network and its people ---------------------------------------------------------- */

static inline void net_open(struct net *net, uint32_t lcm_version, uint32_t life, uint32_t ledgers)
{
    struct tide_err err;
    struct chain_options options = { .seed = 3,
                                     .passphrase = "node test",
                                     .version = lcm_version,
                                     .first_ledger = 100,
                                     .start_time = 1700000000,
                                     .close_step = 5,
                                     .txs = 4,
                                     .users = 20,
                                     .noise = 20,
                                     .life = life };
    *net = (struct net){ 0 };
    assert_int_equal(node_open(&net->node, &options, &err), TIDE_OK);
    net->cast = node_cast(net->node);
    assert_int_equal(tide_proof_open(&net->verify, TIDE_PROOF_EVENTS, net->cast->network_id),
                     TIDE_OK);
    tide_buf_init(&net->args, 1 << 20);
    tide_buf_init(&net->envelope, 1 << 20);
    tide_buf_init(&net->auth, 1 << 20);
    for (uint32_t i = 0; i < ledgers; i++)
        net_close_ledger(net);
    node_pace(net->node, 5);
}

static inline void net_close(struct net *net)
{
    tide_proof_close(net->verify);
    tide_buf_release(&net->args);
    tide_buf_release(&net->envelope);
    tide_buf_release(&net->auth);
    node_close(net->node);
}

static inline void net_watch(struct net *net, const uint8_t *key)
{
    assert_true(net->watched_count < NET_WATCHED);
    memcpy(net->watched[net->watched_count++].key, key, TIDE_HASH_BYTES);
}

/* The account's number, as getLedgerEntries would tell it; 0: there is no such account. */
static inline int64_t net_seq(struct net *net, const uint8_t *key)
{
    struct node_entry entry;
    struct tide_buf buf;
    tide_buf_init(&buf, 64);
    net_account_key(&buf, key);
    tide_status status = node_entry(net->node, tide_buf_view(&buf), &entry);
    tide_buf_release(&buf);
    return status == TIDE_OK ? (int64_t)tide_be64(entry.data.ptr + 4 + 36 + 8) : 0;
}

static inline struct person net_person(struct net *net, const char *name)
{
    struct person out;
    uint8_t seed[TIDE_SEED_BYTES];
    cast_seed(seed, 3, name);
    assert_int_equal(tide_sign_open(&out.key, seed), TIDE_OK);
    out.public = tide_sign_public(out.key);
    out.seq = net_seq(net, out.public) + 1;
    net_watch(net, out.public);
    return out;
}

/* Somebody new, with money on it. */
static inline struct person net_newcomer(struct net *net, const char *name)
{
    uint8_t hash[TIDE_HASH_BYTES];
    struct person out = net_person(net, name);
    assert_int_equal(node_fund(net->node, out.public, hash), TIDE_OK);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, hash);
    assert_non_null(seen);
    assert_true(seen->successful);
    out.seq = net_seq(net, out.public) + 1;
    return out;
}

static inline struct sim_addr net_addr(const struct person *person)
{
    struct sim_addr out = { .kind = SIM_ACCOUNT };
    memcpy(out.key, person->public, TIDE_HASH_BYTES);
    return out;
}

/* --- calls ----------------------------------------------------------------------------------- */

struct net_call {
    uint32_t contract; /* place in the cast */
    const char *fn;
    uint32_t fee;         /* inclusion; 0: 100   */
    uint64_t max_time;    /* 0: in five minutes  */
    struct person *other; /* signs authorisation entries that are not the source's */
    enum node_auth auth;
    bool upgraded;
    int64_t fee_less; /* of the resource fee     */
};

static inline void net_args(struct net *net, const sim_val *args, uint32_t count)
{
    tide_buf_reset(&net->args);
    for (uint32_t i = 0; i < count; i++)
        sim_val_xdr(&net->args, &args[i]);
    net->arg_count = count;
}

static inline struct compose net_draft(struct net *net, const struct person *person,
                                       const struct net_call *call)
{
    return (struct compose){ .network_id = net->cast->network_id,
                             .source = person->public,
                             .seq = person->seq,
                             .fee = call->fee ? call->fee : 100,
                             .max_time = call->max_time ? call->max_time
                                                        : node_latest(net->node).close_time + 300,
                             .op = LCM_OP_INVOKE,
                             .contract = net->cast->contracts[call->contract].id,
                             .fn = call->fn,
                             .args = tide_buf_view(&net->args),
                             .arg_count = net->arg_count };
}

/* Simulates the draft; net->simulated. */
static inline void net_simulate(struct net *net, const struct compose *draft,
                                const struct net_call *call)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_reset(&net->envelope);
    assert_int_equal(compose_envelope(&net->envelope, draft, NULL, hash), TIDE_OK);
    struct node_simulate in = { .envelope = tide_buf_view(&net->envelope),
                                .auth = call->auth,
                                .upgraded = call->upgraded };
    assert_int_equal(node_simulate(net->node, &in, &net->simulated), TIDE_OK);
}

/* Completes the draft with the simulation's answer. soroban has to outlive the draft. */
static inline void net_assemble(struct net *net, struct compose *draft, const struct net_call *call,
                                struct tide_buf *soroban)
{
    tide_buf_reset(soroban);
    tide_buf_slice(soroban, net->simulated.data);
    tide_buf_reset(&net->auth);
    for (uint32_t i = 0; i < net->simulated.auth.count; i++) {
        struct tide_sign *key = call->other ? call->other->key : NULL;
        assert_int_equal(compose_auth(&net->auth, net->cast->network_id,
                                      net->simulated.auth.items[i], key,
                                      node_latest(net->node).sequence + 50),
                         TIDE_OK);
    }
    draft->auth = tide_buf_view(&net->auth);
    draft->auth_count = net->simulated.auth.count;
    draft->soroban = tide_buf_view(soroban);
    draft->fee += (uint32_t)(net->simulated.min_resource_fee - call->fee_less);
}

static inline void net_sign_and_send(struct net *net, const struct compose *what,
                                     struct tide_sign *key)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_reset(&net->envelope);
    assert_int_equal(compose_envelope(&net->envelope, what, key, hash), TIDE_OK);
    assert_int_equal(node_send(net->node, tide_buf_view(&net->envelope), &net->sent), TIDE_OK);
    assert_memory_equal(net->sent.hash, hash, TIDE_HASH_BYTES);
}

/* The code that an ERROR's TransactionResult carries. */
static inline int32_t net_error(const struct net *net)
{
    assert_int_equal(net->sent.status, NODE_ERROR);
    assert_true(net->sent.result.len >= 16);
    return (int32_t)tide_be32(net->sent.result.ptr + 8);
}

/* All of it: simulated, signed, sent. */
static inline void net_send(struct net *net, const struct person *person,
                            const struct net_call *call)
{
    struct tide_buf soroban;
    struct compose draft = net_draft(net, person, call);
    tide_buf_init(&soroban, 1 << 20);
    net_simulate(net, &draft, call);
    if (net->simulated.error.len)
        fail_msg("%s: %.*s", call->fn, TIDE_SLICE_FMT(net->simulated.error));
    net_assemble(net, &draft, call, &soroban);
    net_sign_and_send(net, &draft, person->key);
    tide_buf_release(&soroban);
}

/* Restores what the simulation says has lapsed, if anything. True: simulate again. */
static inline bool net_restore(struct net *net, struct person *person)
{
    struct tide_buf soroban;
    if (!net->simulated.restore.len)
        return false;
    tide_buf_init(&soroban, 1 << 20);
    tide_buf_slice(&soroban, net->simulated.restore);
    struct compose restore = { .network_id = net->cast->network_id,
                               .source = person->public,
                               .seq = person->seq,
                               .fee = 100 + (uint32_t)net->simulated.restore_fee,
                               .op = LCM_OP_RESTORE,
                               .soroban = tide_buf_view(&soroban) };
    net_sign_and_send(net, &restore, person->key);
    assert_int_equal(net->sent.status, NODE_PENDING);
    net_close_ledger(net);
    assert_true(net_find(net, net->sent.hash)->successful);
    person->seq++;
    tide_buf_release(&soroban);
    return true;
}

/* … and in a ledger. */
static inline const struct net_seen *net_run(struct net *net, struct person *person,
                                             const struct net_call *call)
{
    uint8_t hash[TIDE_HASH_BYTES];
    struct compose draft = net_draft(net, person, call);
    for (net_simulate(net, &draft, call); net_restore(net, person);)
        net_simulate(net, &draft, call);
    net_send(net, person, call);
    assert_int_equal(net->sent.status, NODE_PENDING);
    memcpy(hash, net->sent.hash, TIDE_HASH_BYTES);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, hash);
    assert_non_null(seen);
    person->seq++;
    return seen;
}

#define NET_ARGS(net, ...) net_args(net, SIM_VALS(__VA_ARGS__))

#endif
