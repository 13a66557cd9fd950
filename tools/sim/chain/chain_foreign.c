/* Transactions of strangers: payments, data entries, and contracts that emit events with the
 * protocol's names. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain.h"

/* A stranger's transaction that is being made. Its parts are in the chain's buffers. */
struct foreign_tx {
    struct chain *chain;
    struct chain_stranger *from;
    struct chain_stranger *to;
    struct lcm_tx tx;
    uint32_t changes; /* items in the buffers */
    uint32_t events;
};

/* Returns a random number below n. */
static uint32_t random_below(struct chain *chain, uint32_t n)
{
    assert(n > 0);
    return (uint32_t)(chain_random(chain) % n);
}

tide_status chain_strangers(struct chain *chain)
{
    for (uint32_t i = 0; i < CHAIN_STRANGERS; i++) {
        struct chain_stranger *s = &chain->strangers[i];
        char name[32];
        s->account = (struct lcm_account){ .balance = 5000000LL * 10000000,
                                           .seq = (int64_t)chain->options.first_ledger << 32,
                                           .subentries = 1,
                                           .modified = chain->options.first_ledger - 1 };
        snprintf(name, sizeof name, "stranger %u", i);
        if (parties_key(&chain->parties, s->account.key, chain->options.seed, name) != TIDE_OK)
            return TIDE_E_MEMORY;
        s->line = (struct lcm_trustline){ .asset = tide_buf_view(&chain->asset),
                                          .balance = 700000LL * 10000000,
                                          .limit = INT64_MAX,
                                          .flags = 1,
                                          .modified = chain->options.first_ledger - 1 };
        memcpy(s->line.key, s->account.key, TIDE_HASH_BYTES);
    }
    return TIDE_OK;
}

void chain_put_transfer(struct chain *chain, const uint8_t from[TIDE_HASH_BYTES],
                        const uint8_t to[TIDE_HASH_BYTES], const struct chain_payment *payment)
{
    struct tide_buf *buf = &chain->events_xdr;
    char asset[5 + 56 + 1] = "native";
    if (payment->usdc) {
        struct tide_buf text;
        tide_buf_init(&text, 64);
        parties_put_strkey(&text, &chain->parties, PARTY_ISSUER);
        snprintf(asset, sizeof asset, "USDC:%.56s", (const char *)text.ptr);
        tide_buf_release(&text);
    }
    lcm_put_event_head(buf, chain->parties.contracts[payment->usdc ? PARTY_USDC : PARTY_XLM].id, 1,
                       4);
    lcm_put_symbol(buf, "transfer");
    tide_buf_be32(buf, TIDE_SCV_ADDRESS);
    lcm_put_address_account(buf, from);
    tide_buf_be32(buf, TIDE_SCV_ADDRESS);
    lcm_put_address_account(buf, to);
    lcm_put_string(buf, asset);
    if (payment->memo) {
        lcm_put_map(buf, 2);
        lcm_put_symbol(buf, "amount");
        lcm_put_i128(buf, payment->amount);
        lcm_put_symbol(buf, "to_muxed_id");
        lcm_put_string(buf, payment->memo);
    } else {
        lcm_put_i128(buf, payment->amount);
    }
}

/* Changes an account's balance and appends the changes. */
static void put_account_move(struct foreign_tx *n, struct chain_stranger *party, int64_t by)
{
    struct lcm_account before = party->account;
    party->account.balance += by;
    party->account.modified = n->chain->ledger;
    chain_account_change(&n->chain->changes, &n->changes, &before, &party->account);
}

/* Changes a trustline's balance and appends the changes. */
static void put_line_move(struct foreign_tx *n, struct chain_stranger *party, int64_t by)
{
    struct tide_buf *buf = &n->chain->changes;
    chain_change(buf, &n->changes, CHANGE_STATE);
    lcm_put_trustline(buf, &party->line);
    party->line.balance += by;
    party->line.modified = n->chain->ledger;
    chain_change(buf, &n->changes, CHANGE_UPDATED);
    lcm_put_trustline(buf, &party->line);
}

static void put_address(struct tide_buf *buf, const struct chain_stranger *party)
{
    tide_buf_be32(buf, TIDE_SCV_ADDRESS);
    lcm_put_address_account(buf, party->account.key);
}

/* Appends a transfer event. */
static void put_transfer_event(struct foreign_tx *n, bool usdc, int64_t amount)
{
    chain_put_transfer(n->chain, n->from->account.key, n->to->account.key,
                       &(struct chain_payment){ usdc, amount, n->tx.memo });
    n->events++;
}

static void put_ed25519(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* Makes a payment operation; one in twelve fails. */
static void make_payment(struct foreign_tx *n, bool usdc)
{
    struct chain *chain = n->chain;
    int64_t amount = 1 + (int64_t)(chain_random(chain) % 50000000);
    n->tx.memo = random_below(chain, 3) ? NULL : "rent \xe2\x9c\x93";
    put_ed25519(&chain->body, n->to->account.key);
    if (usdc)
        tide_buf_slice(&chain->body, tide_buf_view(&chain->asset));
    else
        tide_buf_be32(&chain->body, 0);
    tide_buf_be64(&chain->body, (uint64_t)amount);
    n->tx.ops[0].type = LCM_OP_PAYMENT;
    if (random_below(chain, 12) == 0) {
        n->tx.success = false;
        n->tx.ops[0].code = -2; /* underfunded */
        return;
    }
    if (usdc) {
        put_line_move(n, n->from, -amount);
        put_line_move(n, n->to, amount);
    } else {
        put_account_move(n, n->from, -amount);
        put_account_move(n, n->to, amount);
    }
    put_transfer_event(n, usdc, amount);
}

/* Makes a CreateAccount operation that fails: the account exists already. */
static void make_existing_account(struct foreign_tx *n)
{
    put_ed25519(&n->chain->body, n->to->account.key);
    tide_buf_be64(&n->chain->body, 100000000);
    n->tx.ops[0].type = LCM_OP_CREATE_ACCOUNT;
    n->tx.ops[0].code = -4; /* ALREADY_EXIST */
    n->tx.success = false;
}

/* Makes a ManageData operation that creates an entry. */
static void make_data_entry(struct foreign_tx *n)
{
    char name[24];
    struct tide_buf *buf = &n->chain->changes;
    snprintf(name, sizeof name, "note %u", n->chain->ledger);
    tide_xdr_put_var(&n->chain->body, tide_slice_str(name));
    tide_buf_be32(&n->chain->body, 1);
    tide_xdr_put_var(&n->chain->body, TIDE_SLICE("\0\1\2\xff"));
    n->tx.ops[0].type = LCM_OP_MANAGE_DATA;
    put_account_move(n, n->from, 0);
    chain_change(buf, &n->changes, CHANGE_CREATED);
    lcm_words(buf, n->chain->ledger, 3); /* entry type DATA */
    put_ed25519(buf, n->from->account.key);
    tide_xdr_put_var(buf, tide_slice_str(name));
    tide_xdr_put_var(buf, TIDE_SLICE("\0\1\2\xff"));
    lcm_words(buf, 0, 0);
}

/* Names of events and functions, as the protocol's contracts have them. */
static const char *const names[] = { "swap", "deposit", "price", "attest", "liq", "transfer" };

/* Appends an event that differs from the protocol's events only in its contract id. */
static void put_foreign_event(struct foreign_tx *n, const uint8_t id[TIDE_HASH_BYTES], uint32_t i)
{
    struct tide_buf *buf = &n->chain->events_xdr;
    lcm_put_event_head(buf, id, 1, 3);
    lcm_put_symbol(buf, names[i]);
    put_address(buf, n->from);
    lcm_put_symbol(buf, "XLMUSDC");
    lcm_put_map(buf, 1);
    lcm_put_symbol(buf, "amount_in");
    lcm_put_i128(buf, (int64_t)n->chain->ledger);
    n->events++;
}

/* Appends changes of a foreign contract's entry under a key that a contract of the protocol uses
 * too. */
static void put_foreign_entry(struct foreign_tx *n, const struct lcm_data *data)
{
    struct chain *chain = n->chain;
    struct tide_buf *buf = &chain->changes;
    tide_slice value = TIDE_SLICE("\0\0\0\3\0\0\0\7"); /* an ScVal of type u32: 7 */
    uint32_t kind = random_below(chain, 3);
    chain_change(buf, &n->changes, kind == CHANGE_CREATED ? CHANGE_CREATED : CHANGE_STATE);
    lcm_put_data(buf, chain->ledger - (kind != CHANGE_CREATED), data, value);
    if (kind == CHANGE_UPDATED) {
        chain_change(buf, &n->changes, kind);
        lcm_put_data(buf, chain->ledger, data, value);
        return;
    }
    if (kind == CHANGE_REMOVED) {
        chain_change(buf, &n->changes, kind);
        lcm_put_data_key(buf, data);
    }
    chain_put_ttl(chain, &n->changes, kind == CHANGE_CREATED ? CHANGE_CREATED : CHANGE_STATE, data,
                  chain->ledger, chain->ledger + 5000);
    if (kind == CHANGE_REMOVED)
        chain_put_ttl(chain, &n->changes, kind, data, 0, 0);
}

/* Appends the SorobanTransactionData of a call with one read-write key. */
static void put_foreign_footprint(struct foreign_tx *n, const struct lcm_data *data)
{
    struct tide_buf *buf = &n->chain->soroban;
    lcm_words(buf, 0, 0, 1);
    lcm_put_data_key(buf, data);
    lcm_words(buf, 1500000, 900, 700);
    tide_buf_be64(buf, 60000);
    n->tx.soroban = tide_buf_view(buf);
}

/* Makes a call of a foreign contract. Half of them also move USDC, whose transfer events are not
 * the protocol's either. */
static void call_foreign(struct foreign_tx *n)
{
    struct chain *chain = n->chain;
    struct tide_buf *buf = &chain->body;
    uint8_t id[TIDE_HASH_BYTES];
    char name[32];
    uint32_t fn = random_below(chain, TIDE_COUNT(names));
    snprintf(name, sizeof name, "foreign contract %u", random_below(chain, CHAIN_FOREIGN));
    parties_seed(id, chain->options.seed, name); /* an id without a key behind it */
    tide_buf_be32(buf, 0);
    lcm_put_address_contract(buf, id);
    tide_xdr_put_var(buf, tide_slice_str(names[fn]));
    tide_buf_be32(buf, 1);
    put_address(buf, n->from);
    tide_buf_be32(buf, 0); /* no signatures of others */
    n->tx.ops[0].type = LCM_OP_INVOKE;
    /* The buffers before and read_only are free here: strangers' transactions have no use for
     * them. */
    tide_buf_reset(&chain->read_only);
    lcm_put_vec(&chain->read_only, 2);
    lcm_put_symbol(&chain->read_only, "Pool");
    lcm_put_symbol(&chain->read_only, "XLMUSDC");
    struct lcm_data data = lcm_data_of(&chain->before, id, tide_buf_view(&chain->read_only), 1);
    put_foreign_footprint(n, &data);
    n->tx.fee = n->tx.fee_charged = 60100;
    if (random_below(chain, 6) == 0) {
        n->tx.success = false;
        n->tx.ops[0].code = -2;
        return;
    }
    if (random_below(chain, 2)) {
        put_line_move(n, n->from, -25);
        put_line_move(n, n->to, 25);
        put_transfer_event(n, true, 25);
    }
    put_foreign_event(n, id, fn);
    put_foreign_entry(n, &data);
    n->tx.return_value = TIDE_SLICE("\0\0\0\1");
}

/* Makes the operation: of classic ones, eight in ten are payments. */
static void make_operation(struct foreign_tx *n, bool soroban)
{
    uint32_t luck = random_below(n->chain, 10);
    n->tx.op_count = 1;
    if (soroban)
        call_foreign(n);
    else if (luck < 4)
        make_payment(n, false);
    else if (luck < 8)
        make_payment(n, true);
    else if (luck < 9)
        make_data_entry(n);
    else
        make_existing_account(n);
}

/* Adds one transaction. Its fee is charged and its sequence number used before it applies. */
static void add_transaction(struct chain *chain, struct chain_stranger *from,
                            struct chain_stranger *to, bool soroban)
{
    struct foreign_tx n = { .chain = chain, .from = from, .to = to };
    struct tide_buf numbering;
    uint32_t count = 0;
    chain_reset(chain);
    tide_buf_init(&numbering, 4096);
    n.tx = (struct lcm_tx){ .source = from->account.key, .success = true };
    n.tx.fee = n.tx.fee_charged = soroban ? 60100 : 100;
    struct lcm_account before = from->account;
    from->account.balance -= n.tx.fee;
    from->account.modified = chain->ledger;
    chain_account_change(&chain->fee_changes, &n.tx.fee_changes.count, &before, &from->account);
    before = from->account;
    n.tx.seq = ++from->account.seq;
    chain_account_change(&numbering, &count, &before, &from->account);
    make_operation(&n, soroban);
    chain_fee_event(chain, from->account.key, 0, n.tx.fee);
    n.tx.before = (struct lcm_list){ tide_buf_view(&numbering), count };
    n.tx.fee_changes.xdr = tide_buf_view(&chain->fee_changes);
    n.tx.tx_events = (struct lcm_list){ tide_buf_view(&chain->tx_events), 1 };
    n.tx.ops[0].body = tide_buf_view(&chain->body);
    n.tx.ops[0].changes = (struct lcm_list){ tide_buf_view(&chain->changes), n.changes };
    n.tx.ops[0].events = (struct lcm_list){ tide_buf_view(&chain->events_xdr), n.events };
    lcm_add(&chain->lcm, &n.tx);
    tide_buf_release(&numbering);
    chain->index++;
    chain->txs++;
    chain->events += n.tx.success ? n.events : 0;
}

/* Adds transactions between pairs of strangers; no account takes part in two. Classic ones come
 * first, as the phases of a transaction set apply. */
void chain_add_foreign(struct chain *chain)
{
    uint32_t share = chain->slot_count * chain->options.noise;
    uint32_t count = share / 100 + (random_below(chain, 100) < share % 100);
    uint32_t most = CHAIN_STRANGERS / 2;
    count = count < most ? count : most;
    uint32_t soroban = count / 3 + (count % 3 ? random_below(chain, 2) : 0);
    uint32_t start = random_below(chain, CHAIN_STRANGERS);
    for (uint32_t i = 0; i < count; i++) {
        struct chain_stranger *from = &chain->strangers[(start + 2 * i) % CHAIN_STRANGERS];
        struct chain_stranger *to = &chain->strangers[(start + 2 * i + 1) % CHAIN_STRANGERS];
        add_transaction(chain, from, to, i + soroban >= count);
    }
}
