/* Classic operations: CreateAccount, Payment and ChangeTrust, of XLM and USDC. */
#include "schema/wire/skip_impl.h"
#include "tools/sim/node/node_impl.h"

enum { BASE_RESERVE = 5000000, USDC = 1 };
enum { OK = 0, MALFORMED = -1, UNDERFUNDED = -2, LOW_RESERVE = -3, EXISTS = -4 };
enum { NO_TRUST_OF_SOURCE = -3, NO_DESTINATION = -5, NO_TRUST = -6, LINE_FULL = -8 };
enum { NO_ISSUER = -2, INVALID_LIMIT = -3, TRUST_LOW_RESERVE = -4, OF_ONESELF = -5 };

/* One operation at work; the buffers are the chain's. */
struct work {
    struct sim_node *node;
    struct chain *chain;
    struct sim_account *source;
    bool own;
    uint32_t changes, events;
};

/* --- changes ---------------------------------------------------------------------------- */

static int64_t spare(const struct sim_account *account)
{
    return account->balance - (2 + (int64_t)account->subentries) * BASE_RESERVE;
}

static struct lcm_trustline line_of(const struct work *w, const struct sim_account *account)
{
    const struct sim_line *line = &account->lines[USDC];
    struct lcm_trustline out = { .asset = tide_buf_view(&w->chain->asset),
                                 .balance = line->balance,
                                 .limit = line->limit,
                                 .flags = line->authorized ? 1 : 0,
                                 .modified = line->modified };
    memcpy(out.key, account->address.key, TIDE_HASH_BYTES);
    return out;
}

static void move_xlm(struct work *w, struct sim_account *account, int64_t by)
{
    struct lcm_account before = chain_account(account);
    account->balance += by;
    account->modified = w->chain->ledger;
    struct lcm_account after = chain_account(account);
    chain_account_change(&w->chain->changes, &w->changes, &before, &after);
}

static void move_usdc(struct work *w, struct sim_account *account, int64_t by)
{
    struct tide_buf *buf = &w->chain->changes;
    struct lcm_trustline line = line_of(w, account);
    chain_change(buf, &w->changes, CHANGE_STATE);
    lcm_put_trustline(buf, &line);
    account->lines[USDC].balance += by;
    account->lines[USDC].modified = w->chain->ledger;
    line = line_of(w, account);
    chain_change(buf, &w->changes, CHANGE_UPDATED);
    lcm_put_trustline(buf, &line);
}

static void put_party(struct tide_buf *buf, const struct sim_account *account)
{
    tide_buf_be32(buf, TIDE_SCV_ADDRESS);
    chain_put_addr(buf, account->address);
}

/* The event that classic payments get; the issuer's side is a mint or a burn. */
static void put_event(struct work *w, struct sim_account *to, bool usdc, int64_t amount)
{
    const struct cast *cast = &w->chain->cast;
    struct tide_buf *buf = &w->chain->events_xdr;
    struct sim_account *issuer = w->chain->accounts[CAST_ISSUER];
    bool mint = usdc && w->source == issuer, burn = usdc && to == issuer;
    char asset[5 + 56 + 1] = "native";
    struct tide_buf text;
    tide_buf_init(&text, 64);
    cast_put_strkey(&text, cast, CAST_ISSUER);
    if (usdc)
        snprintf(asset, sizeof asset, "USDC:%.56s", (const char *)text.ptr);
    tide_buf_release(&text);
    lcm_put_event_head(buf, cast->contracts[usdc ? CAST_USDC : CAST_XLM].id, mint || burn ? 3 : 4);
    lcm_put_symbol(buf, mint ? "mint" : burn ? "burn" : "transfer");
    if (!mint)
        put_party(buf, w->source);
    if (!burn)
        put_party(buf, to);
    lcm_put_string(buf, asset);
    lcm_put_i128(buf, amount);
    w->events++;
}

/* --- operations -------------------------------------------------------------------------- */

static const uint8_t *read_key(struct tide_xdr *x)
{
    if (tide_xdr_u32(x) == 256)
        tide_xdr_skip(x, 8);
    const uint8_t *key = x->cur;
    tide_xdr_skip(x, TIDE_HASH_BYTES);
    return key;
}

/* The friendbot's accounts begin with a trustline. */
static void put_new_line(struct work *w, struct sim_account *made)
{
    sim_trust(made, USDC);
    made->lines[USDC].modified = w->chain->ledger;
    struct lcm_trustline line = line_of(w, made);
    chain_change(&w->chain->changes, &w->changes, CHANGE_CREATED);
    lcm_put_trustline(&w->chain->changes, &line);
}

static int32_t create_account(struct work *w, struct tide_xdr *x)
{
    struct sim_host *host = &w->chain->host;
    struct sim_addr address = node_account(read_key(x));
    int64_t start = tide_xdr_i64(x);
    if (start < 0 || sim_addr_eq(address, w->source->address))
        return MALFORMED;
    if (sim_account_find(host, address))
        return EXISTS;
    if (start < 2 * BASE_RESERVE)
        return LOW_RESERVE;
    if (spare(w->source) < start)
        return UNDERFUNDED;
    move_xlm(w, w->source, -start);
    struct sim_account *made = sim_account_add(host, address, start);
    made->seq = (int64_t)w->chain->ledger << 32;
    made->modified = w->chain->ledger;
    if (w->own)
        made->subentries++;
    struct lcm_account entry = chain_account(made);
    made->subentries = 0;
    chain_change(&w->chain->changes, &w->changes, CHANGE_CREATED);
    lcm_put_account(&w->chain->changes, &entry);
    if (w->own)
        put_new_line(w, made);
    put_event(w, made, false, start);
    return OK;
}

static int32_t pay_usdc(struct work *w, struct sim_account *to, int64_t amount)
{
    const struct sim_account *issuer = w->chain->accounts[CAST_ISSUER];
    if (to != issuer && !to->lines[USDC].exists)
        return NO_TRUST;
    if (w->source != issuer && !w->source->lines[USDC].exists)
        return NO_TRUST_OF_SOURCE;
    if (w->source != issuer && w->source->lines[USDC].balance < amount)
        return UNDERFUNDED;
    if (to != issuer && to->lines[USDC].balance > to->lines[USDC].limit - amount)
        return LINE_FULL;
    if (w->source != issuer)
        move_usdc(w, w->source, -amount);
    if (to != issuer)
        move_usdc(w, to, amount);
    return OK;
}

static int32_t pay(struct work *w, struct tide_xdr *x)
{
    struct sim_account *to = sim_account_find(&w->chain->host, node_account(read_key(x)));
    const uint8_t *mark = x->cur;
    skip_asset(x);
    tide_slice asset = tide_xdr_span(x, mark);
    int64_t amount = tide_xdr_i64(x);
    bool usdc = tide_slice_eq(asset, tide_buf_view(&w->chain->asset));
    int32_t code = OK;
    if (amount <= 0)
        return MALFORMED;
    if (!to)
        return NO_DESTINATION;
    if (!usdc && asset.len > 4)
        return NO_TRUST;
    if (usdc) {
        code = pay_usdc(w, to, amount);
    } else if (spare(w->source) < amount) {
        code = UNDERFUNDED;
    } else {
        move_xlm(w, w->source, -amount);
        move_xlm(w, to, amount);
    }
    if (code == OK)
        put_event(w, to, usdc, amount);
    return code;
}

static int32_t change_trust(struct work *w, struct tide_xdr *x)
{
    const uint8_t *mark = x->cur;
    struct sim_line *line = &w->source->lines[USDC];
    skip_asset(x);
    bool usdc = tide_slice_eq(tide_xdr_span(x, mark), tide_buf_view(&w->chain->asset));
    int64_t limit = tide_xdr_i64(x);
    if (!usdc)
        return NO_ISSUER;
    if (w->source == w->chain->accounts[CAST_ISSUER])
        return OF_ONESELF;
    if (limit <= 0 || line->exists)
        return INVALID_LIMIT; /* lines are made here, and neither changed nor taken away */
    if (spare(w->source) < BASE_RESERVE)
        return TRUST_LOW_RESERVE;
    struct lcm_account before = chain_account(w->source);
    w->source->modified = w->chain->ledger;
    put_new_line(w, w->source);
    line->limit = limit;
    struct lcm_account after = chain_account(w->source);
    chain_account_change(&w->chain->changes, &w->changes, &before, &after);
    return OK;
}

static int32_t run(struct work *w, const struct node_op *op)
{
    struct tide_xdr x = tide_xdr_of(op->body);
    if (op->type == LCM_OP_CREATE_ACCOUNT)
        return create_account(w, &x);
    return op->type == LCM_OP_PAYMENT ? pay(w, &x) : change_trust(w, &x);
}

/* --- the transaction ---------------------------------------------------------------------- */

enum { KEPT_MAX = NODE_OPS_MAX * 2 };

/* Accounts as they were, to go back to. */
struct kept {
    uint32_t count;
    struct sim_account *accounts[KEPT_MAX];
    struct sim_account before[KEPT_MAX];
};

static void keep(struct kept *kept, struct sim_account *account)
{
    if (!account)
        return;
    kept->accounts[kept->count] = account;
    kept->before[kept->count++] = *account;
}

/* Both parties of an operation; the other one may be made by it. */
static void keep_parties(struct work *w, struct kept *kept, const struct node_op *op)
{
    struct tide_xdr x = tide_xdr_of(op->body);
    keep(kept, w->source);
    if (op->type != LCM_OP_CREATE_ACCOUNT)
        keep(kept, op->type == LCM_OP_PAYMENT
                       ? sim_account_find(&w->chain->host, node_account(read_key(&x)))
                       : NULL);
}

static void go_back(struct work *w, const struct kept *kept, const struct node_tx *tx,
                    const int32_t *codes)
{
    for (uint32_t i = kept->count; i-- > 0;) {
        struct sim_account *next = kept->accounts[i]->next;
        *kept->accounts[i] = kept->before[i];
        kept->accounts[i]->next = next;
    }
    for (uint32_t i = 0; i < tx->op_count; i++) {
        struct tide_xdr x = tide_xdr_of(tx->ops[i].body);
        if (tx->ops[i].type != LCM_OP_CREATE_ACCOUNT || codes[i] != OK)
            continue;
        struct sim_account *made = sim_account_find(&w->chain->host, node_account(read_key(&x)));
        made->exists = false;
    }
}

bool node_classic(struct sim_node *node, const struct node_waiting *item, struct lcm_tx *tx)
{
    struct chain *chain = &node->chain;
    struct kept kept = { 0 };
    size_t changes[NODE_OPS_MAX + 1] = { 0 }, events[NODE_OPS_MAX + 1] = { 0 };
    int32_t codes[NODE_OPS_MAX];
    bool passed = true;
    struct work w = { .node = node, .chain = chain, .own = item->own };
    tx->op_count = item->tx.op_count;
    for (uint32_t i = 0; i < tx->op_count; i++) {
        const struct node_op *op = &item->tx.ops[i];
        w.changes = w.events = 0;
        w.source = sim_account_find(&chain->host, node_account(op->source));
        keep_parties(&w, &kept, op);
        codes[i] = run(&w, op);
        passed &= codes[i] == OK;
        tx->ops[i] = (struct lcm_operation){ .type = (enum lcm_op)op->type, .code = codes[i] };
        tx->ops[i].changes.count = w.changes;
        tx->ops[i].events.count = w.events;
        changes[i + 1] = chain->changes.len;
        events[i + 1] = chain->events_xdr.len;
    }
    if (!passed)
        go_back(&w, &kept, &item->tx, codes);
    for (uint32_t i = 0; i < tx->op_count; i++) {
        tx->ops[i].changes.xdr =
            tide_slice_of(chain->changes.ptr + changes[i], changes[i + 1] - changes[i]);
        tx->ops[i].events.xdr =
            tide_slice_of(chain->events_xdr.ptr + events[i], events[i + 1] - events[i]);
    }
    return passed;
}
