/* Decides what is the deployment's: transactions by the contracts that they reach, addresses by
 * name, and the tokens that the chain itself names. */
#include "indexer/decode/decode_impl.h"

#include "indexer/base/copy.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- named addresses ---- */

static uint32_t account_slot(const uint8_t *key)
{
    return tide_be32(key) % ACCOUNT_SLOTS;
}

static bool is_account(const struct tide_decode *d, const uint8_t *key)
{
    uint32_t at = account_slot(key);
    for (; d->known.account_slots[at]; at = (at + 1) % ACCOUNT_SLOTS)
        if (memcmp(d->deployment->accounts[d->known.account_slots[at] - 1].key, key,
                   TIDE_HASH_BYTES) == 0)
            return true;
    return false;
}

static void count_all(struct tide_decode *d)
{
    d->known.marketed = d->known.listed = d->known.newest_since = 0;
    for (uint32_t i = 0; i < d->deployment->contract_count; i++) {
        const struct tide_contract *contract = &d->deployment->contracts[i];
        d->known.marketed += contract->discovered && contract->market_ledger;
        d->known.listed += contract->listed;
        if (!contract->unsettled && kept_since(contract) > d->known.newest_since)
            d->known.newest_since = kept_since(contract);
    }
}

void relevance_know(struct tide_decode *d, const struct tide_deployment *known)
{
    assert(known->account_count == d->deployment->account_count);
    assert(d->known.shown.count == 0);
    *d->deployment = *known;
    count_all(d);
    d->known.learned = false;
}

/* Also builds the hash table of the deployment file's accounts. */
void relevance_open(struct tide_decode *d)
{
    count_all(d);
    for (uint32_t i = 0; i < d->deployment->account_count; i++) {
        uint32_t at = account_slot(d->deployment->accounts[i].key);
        while (d->known.account_slots[at])
            at = (at + 1) % ACCOUNT_SLOTS;
        d->known.account_slots[at] = (uint16_t)(i + 1);
    }
}

const struct tide_contract *relevance_find(const struct tide_decode *d, const uint8_t *id)
{
    const struct tide_contract *contract = tide_deployment_find(d->deployment, id);
    return contract && !contract->unsettled ? contract : NULL;
}

/* Returns false for a Stellar asset's own address: the whole network names it. A muxed address
 * names its account or contract: a transfer to it reaches that one's balance. */
static bool find_named(const struct tide_decode *d, tide_slice address,
                       const struct tide_contract **contract)
{
    struct tide_scaddress_base base = tide_scaddress_base(address);
    *contract = NULL;
    if (!base.key || !base.contract)
        return base.key && is_account(d, base.key);
    *contract = relevance_find(d, base.key);
    return *contract && (*contract)->role != TIDE_ROLE_stellar_asset;
}

bool relevance_names(const struct tide_decode *d, tide_slice address)
{
    const struct tide_contract *contract;
    return find_named(d, address, &contract);
}

bool relevance_takes_part(struct tide_decode *d, tide_slice address, int32_t event)
{
    const struct tide_contract *contract;
    if (!find_named(d, address, &contract))
        return false;
    kept_note(d, contract, event);
    return true;
}

static bool account_takes_part(struct tide_decode *d, const uint8_t *key)
{
    if (!is_account(d, key))
        return false;
    kept_note(d, NULL, KEPT_CALL);
    return true;
}

/* ---- entries of stellar assets ---- */

/* Compares the key with the XDR of a vec of the symbol Balance and an address. */
tide_slice relevance_balance_holder(tide_slice key)
{
    static const uint8_t head[28] = { 0, 0,  0, 16, 0, 0, 0,   1,   0,   0,   0,   2,   0,   0,
                                      0, 15, 0, 0,  0, 7, 'B', 'a', 'l', 'a', 'n', 'c', 'e', 0 };
    if (key.len < sizeof head + 8 || memcmp(key.ptr, head, sizeof head) != 0 ||
        tide_be32(key.ptr + sizeof head) != TIDE_SCV_ADDRESS)
        return (tide_slice){ 0 };
    return (tide_slice){ key.ptr + sizeof head + 4, key.len - sizeof head - 4 };
}

bool relevance_entry(const struct tide_decode *d, const struct tide_contract *contract,
                     tide_slice key)
{
    if (contract->role == TIDE_ROLE_wallet || tide_scval_type_of(key) == TIDE_SCV_LEDGER_KEY_NONCE)
        return false;
    tide_slice holder = contract->role == TIDE_ROLE_stellar_asset ? relevance_balance_holder(key)
                                                                  : (tide_slice){ 0 };
    return holder.len == 0 || relevance_names(d, holder);
}

/* ---- transactions ---- */

/* The deployment's contracts and addresses that an envelope lists. */
struct listed {
    bool protocol; /* a contract that is no wallet and no Stellar asset */
    bool wallet;
    bool asset;     /* a Stellar asset */
    bool named;     /* an address that the deployment names */
    bool failed;    /* the transaction failed: each contract that it lists counts as reached */
    bool unsettled; /* a discovered contract whose kind this transaction may show */
};

bool relevance_may_show(const struct tide_decode *d, const struct tide_contract *contract)
{
    return contract->unsettled || d->header.sequence < contract->shown_ledger;
}

static void list_contract(struct tide_decode *d, const uint8_t *id, struct listed *listed)
{
    const struct tide_contract *contract = tide_deployment_find(d->deployment, id);
    if (!contract)
        return;
    listed->unsettled |= relevance_may_show(d, contract);
    if (contract->unsettled)
        return;
    listed->wallet |= contract->role == TIDE_ROLE_wallet;
    listed->asset |= contract->role == TIDE_ROLE_stellar_asset;
    listed->protocol |=
        contract->role != TIDE_ROLE_wallet && contract->role != TIDE_ROLE_stellar_asset;
    if (listed->failed)
        relevance_touched(d, contract);
}

/* Notes the contracts and addresses of a footprint's keys. */
static void list_keys(struct tide_decode *d, tide_slice keys, uint32_t count, struct listed *listed)
{
    struct tide_xdr x = tide_xdr_of(keys);
    for (uint32_t i = 0; i < count; i++) {
        struct tide_change key = { 0 };
        const uint8_t *mark = x.cur;
        if (tide_ledger_key_data(&x, &key)) {
            if (key.contract.len == 36 && tide_be32(key.contract.ptr) == 1)
                list_contract(d, key.contract.ptr + 4, listed);
            listed->named |= relevance_takes_part(d, relevance_balance_holder(key.key), KEPT_CALL);
        } else if (x.cur - mark >= 40 && tide_be32(mark) <= TIDE_ENTRY_TRUSTLINE) {
            listed->named |=
                account_takes_part(d, mark + 8); /* account or trustline: type, key type, key */
        }
    }
}

/* Notes whether an argument of the call is an address that the deployment names. */
static void list_args(struct tide_decode *d, struct listed *listed)
{
    struct tide_xdr x = tide_xdr_of(d->envelope.args);
    for (uint32_t i = 0; i < d->envelope.arg_count && (d->kept.late || !listed->named); i++) {
        tide_slice arg = tide_scval_span(&x);
        if (tide_scval_type_of(arg) == TIDE_SCV_ADDRESS)
            listed->named |=
                relevance_takes_part(d, (tide_slice){ arg.ptr + 4, arg.len - 4 }, KEPT_CALL);
    }
}

/* Returns whether the transaction has a contract operation. Such an operation is the only one of
 * its transaction. */
static bool is_soroban(const struct tide_envelope *e)
{
    enum { INVOKE = 24, RESTORE = 26 };
    return e->op_count == 1 && e->first_op >= INVOKE && e->first_op <= RESTORE;
}

/* Returns whether the transaction counts through a Stellar asset. Calls count if an address that
 * the deployment names takes part. Other operations (an extension of a TTL) always count. */
static bool counts_as_asset(struct tide_decode *d, struct listed *listed)
{
    const struct tide_envelope *e = &d->envelope;
    if (!listed->asset)
        return false;
    bool call = e->has_invoke && e->host_function == 0;
    if (call)
        list_args(d, listed);
    else
        kept_note(d, NULL, KEPT_CALL);
    listed->named |= account_takes_part(d, e->source_key);
    listed->named |= account_takes_part(d, e->caller_key);
    return !call || listed->named;
}

/* Returns the deployment's contract that the envelope itself calls or creates, or NULL. */
const struct tide_contract *relevance_called(const struct tide_decode *d)
{
    const struct tide_envelope *e = &d->envelope;
    if (!e->has_invoke || e->host_function == 2)
        return NULL;
    if (e->host_function == 0)
        return e->contract ? relevance_find(d, e->contract) : NULL;
    uint8_t id[TIDE_HASH_BYTES];
    tide_contract_id(id, d->deployment->network_id, e->create_preimage);
    return relevance_find(d, id);
}

void relevance_touched(struct tide_decode *d, const struct tide_contract *contract)
{
    d->reach.wallet |= contract->role == TIDE_ROLE_wallet;
    if (contract->role == TIDE_ROLE_wallet)
        kept_note(d, NULL, KEPT_CALL);
    if (contract->role == TIDE_ROLE_wallet || contract->role == TIDE_ROLE_stellar_asset)
        return;
    d->reach.protocol = true;
    kept_note(d, contract, KEPT_ALL);
}

bool relevance_is_known(const struct tide_decode *d)
{
    return d->reach.protocol && (!d->kept.late || d->kept.reaches_file);
}

/* Returns whether the walk must look into the transaction. Every contract that it reaches, however
 * deep, is in its footprint. A footprint without a contract of the deployment is therefore enough
 * to skip it. */
bool relevance_candidate(struct tide_decode *d, const struct tide_tx *tx)
{
    struct tide_envelope *e = &d->envelope;
    struct listed listed = { 0 };
    d->reach.protocol = d->reach.wallet = d->reach.asset = d->kept.reaches_file = false;
    d->kept.reasons.count = 0;
    if (!tide_proof_read(d->verify, tx->hash, e) || !is_soroban(e))
        return false;
    const struct tide_contract *called = relevance_called(d);
    if (called)
        relevance_touched(d, called);
    if (relevance_is_known(d))
        return true;
    listed.failed = !tx->successful; /* nothing happened: the call alone is stored */
    if (called)
        listed.asset = called->role == TIDE_ROLE_stellar_asset;
    if (e->has_soroban) {
        list_keys(d, e->read_write, e->read_write_count, &listed);
        list_keys(d, e->read_only, e->read_only_count, &listed);
    }
    d->reach.asset = counts_as_asset(d, &listed);
    return d->reach.protocol || d->reach.wallet || d->reach.asset || listed.protocol ||
           listed.wallet || listed.unsettled;
}

bool relevance_transaction(const struct tide_decode *d)
{
    return d->reach.protocol || d->reach.wallet || d->reach.asset;
}

/* ---- tokens that the chain names ---- */

static void put_seen(struct tide_decode *d, const struct tide_contract *contract, const char *what,
                     uint32_t tx)
{
    enum { COLUMNS = 7 };
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_CONTRACT_SEEN);
    struct tide_buf *out = &rows->copy;
    tide_copy_row(out, COLUMNS);
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_bytes(out, contract->address, 56);
    tide_copy_int4(out, (int32_t)d->header.sequence);
    tide_copy_int4(out, (int32_t)tx);
    tide_copy_bytes(out, what, strlen(what));
    tide_copy_bytes(out, contract->role_name, strlen(contract->role_name));
    tide_copy_bytes(out, contract->name, strlen(contract->name));
    rows->count++;
}

void relevance_created(struct tide_decode *d, const struct tide_contract *contract, uint32_t tx)
{
    uint32_t index = (uint32_t)(contract - d->deployment->contracts);
    uint64_t now = (uint64_t)d->ledgers_begun << 32 | tx;
    assert(index < d->deployment->contract_count);
    if (d->known.created_at[index] == now)
        return; /* no hash covers changes: a server may list the instance as created twice */
    d->known.created_at[index] = now;
    put_seen(d, contract, "created", tx);
}

/* Returns the contract's id of an address ScVal, or NULL for an account. */
static const uint8_t *contract_id(tide_slice address_value)
{
    return address_value.len == 40 && tide_be32(address_value.ptr) == TIDE_SCV_ADDRESS &&
                   tide_be32(address_value.ptr + 4) == 1
               ? address_value.ptr + 8
               : NULL;
}

/* Fills in a token as it is when it is discovered: a synth_token whose kind is not settled. */
static void fill_token(const struct tide_decode *d, struct tide_contract *contract,
                       const uint8_t *id)
{
    *contract = (struct tide_contract){ .role = TIDE_ROLE_synth_token,
                                        .discovered = true,
                                        .unsettled = true,
                                        .named_ledger = d->header.sequence };
    memcpy(contract->id, id, TIDE_HASH_BYTES);
    char text[TIDE_STRKEY_TEXT_MAX];
    size_t len = tide_strkey_encode(text, TIDE_STRKEY_CONTRACT, tide_slice_of(id, TIDE_HASH_BYTES));
    assert(len == sizeof contract->address - 1);
    memcpy(contract->address, text, len);
    static_assert(sizeof "token_" - 1 + sizeof contract->address <= sizeof contract->name,
                  "the name of a token is whole");
    snprintf(contract->role_name, sizeof contract->role_name, "%s",
             tide_role_name(TIDE_ROLE_synth_token));
    snprintf(contract->name, sizeof contract->name, "token_%s", contract->address);
}

/* Returns the index of the id among the present ledger's named tokens, or the index where it
 * belongs. *there tells which. */
static uint32_t named_place(const struct tide_decode *d, const uint8_t *id, bool *there)
{
    const struct named_token *all = d->known.named.items;
    uint32_t low = 0, high = d->known.named.count;
    *there = false;
    while (low < high && !*there) {
        uint32_t middle = low + (high - low) / 2;
        int order = memcmp(all[middle].id, id, TIDE_HASH_BYTES);
        *there = order == 0;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return *there ? high : low;
}

/* Notes a token that a catalog names for relevance_take_named. Without memory, the table's `failed`
 * makes the ledger fail. */
static void note_named(struct tide_decode *d, const struct tide_contract *token, uint32_t tx)
{
    bool there;
    uint32_t at = named_place(d, token->id, &there), count = d->known.named.count;
    if (there || count == NAMED_MAX)
        return;
    if (!decode_list_push(&d->known.named, sizeof(struct named_token))) {
        decode_rows(d, TIDE_TABLE_CONTRACT_SEEN)->copy.failed = true;
        return;
    }
    struct named_token *all = d->known.named.items;
    memmove(&all[at + 1], &all[at], (count - at) * sizeof *all);
    all[at].tx = tx;
    memcpy(all[at].id, token->id, TIDE_HASH_BYTES);
    memcpy(all[at].address, token->address, sizeof all[at].address);
}

/* Handles a known token that a market names. Ledgers may be read in any order: a token counts as
 * discovered from the oldest ledger that names it, and as a market's from the oldest ledger in
 * which a market does. A token that a catalog named first keeps its place. */
static void name_again(struct tide_decode *d, const struct tide_contract *known, uint32_t tx)
{
    uint32_t index = (uint32_t)(known - d->deployment->contracts), now = d->header.sequence;
    struct tide_contract *own = &d->deployment->contracts[index];
    bool found = own->discovered && now < own->named_ledger;
    bool market =
        own->discovered && (own->market_ledger ? now < own->market_ledger
                                               : d->known.marketed < TIDE_MARKET_TOKENS_MAX);
    if (!found && !market)
        return;
    struct named_before *undo = decode_list_push(&d->known.named_before, sizeof *undo);
    if (!undo) {
        decode_rows(d, TIDE_TABLE_CONTRACT_SEEN)->copy.failed = true;
        return;
    }
    *undo = (struct named_before){ index, own->named_ledger, own->market_ledger };
    d->known.marketed += market && !own->market_ledger;
    own->named_ledger = found ? now : own->named_ledger;
    own->market_ledger = market ? now : own->market_ledger;
    if (found)
        put_seen(d, own, "discovered", tx);
    if (market)
        put_seen(d, own, "market", tx);
}

/* Returns whether the ledger is older than all that are known to name the token. */
static bool is_older(const struct tide_decode *d, const struct tide_contract *known)
{
    return known->discovered && d->header.sequence < known->named_ledger;
}

static void discover_market(struct tide_decode *d, struct tide_contract *token, uint32_t tx)
{
    token->market_ledger = d->header.sequence;
    if (d->known.marketed < TIDE_MARKET_TOKENS_MAX &&
        tide_deployment_add(d->deployment, token) == TIDE_OK) {
        d->known.marketed++;
        put_seen(d, token, "discovered", tx);
        put_seen(d, token, "market", tx);
    } else {
        note_named(d, token, tx);
    }
}

void relevance_discover(struct tide_decode *d, tide_slice address_value, bool market, uint32_t tx)
{
    const uint8_t *id = d->known.known_only ? NULL : contract_id(address_value);
    const struct tide_contract *known = id ? tide_deployment_find(d->deployment, id) : NULL;
    struct tide_contract token;
    if (!id)
        return;
    if (known && market)
        name_again(d, known, tx);
    else if (known && is_older(d, known))
        note_named(d, known, tx);
    if (known)
        return;
    fill_token(d, &token, id);
    if (market)
        discover_market(d, &token, tx);
    else
        note_named(d, &token, tx);
}

static int by_tx_and_address(const void *left, const void *right)
{
    const struct named_token *a = left, *b = right;
    return a->tx != b->tx ? (a->tx < b->tx ? -1 : 1) : strcmp(a->address, b->address);
}

void relevance_take_named(struct tide_decode *d)
{
    struct named_token *all = d->known.named.items;
    if (d->known.named.count)
        qsort(all, d->known.named.count, sizeof *all, by_tx_and_address);
    for (uint32_t i = 0; i < d->known.named.count; i++) {
        struct tide_contract token;
        const struct tide_contract *known = tide_deployment_find(d->deployment, all[i].id);
        if (known && is_older(d, known))
            put_seen(d, known, "ignored",
                     all[i].tx); /* the token may have had a place: see write/contracts.c */
        if (known)
            /* the token is known already, for example because a market of this ledger names it */
            continue;
        fill_token(d, &token, all[i].id);
        token.listed = d->known.listed < d->known.discovered_max;
        if (token.listed && tide_deployment_add(d->deployment, &token) == TIDE_OK) {
            d->known.listed++;
            put_seen(d, &token, "discovered", all[i].tx);
        } else {
            put_seen(d, &token, "ignored", all[i].tx);
        }
    }
    d->known.named.count = 0;
}

enum { CODE_MAX = 12 };

/* Appends the ContractIDPreimage of an asset, given as its contract's events write it: "native" or
 * "CODE:ISSUER". Returns false if the text is no asset. */
static bool put_asset(struct tide_buf *out, tide_slice text)
{
    enum { FROM_ASSET = 1, NATIVE = 0, CODE4 = 1, CODE12 = 2 };
    static const uint8_t zeros[CODE_MAX] = { 0 };
    uint8_t issuer[TIDE_STRKEY_PAYLOAD_MAX];
    enum tide_strkey kind;
    size_t len;
    const uint8_t *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    size_t code = colon ? (size_t)(colon - text.ptr) : 0;
    tide_buf_be32(out, FROM_ASSET);
    if (tide_slice_eq_str(text, "native")) {
        tide_buf_be32(out, NATIVE);
        return true;
    }
    if (code == 0 || code > CODE_MAX ||
        tide_strkey_decode(&kind, issuer, &len, tide_slice_of(colon + 1, text.len - code - 1)) !=
            TIDE_OK ||
        kind != TIDE_STRKEY_ACCOUNT)
        return false;
    tide_buf_be32(out, code <= 4 ? CODE4 : CODE12);
    tide_buf_put(out, text.ptr, code);
    tide_buf_put(out, zeros, (code <= 4 ? 4 : CODE_MAX) - code);
    tide_buf_be32(out, 0); /* type of the issuer's key */
    tide_buf_put(out, issuer, TIDE_HASH_BYTES);
    return true;
}

/* Returns whether the contract is the asset's own contract: its id is a hash of the asset. */
static bool is_asset_of(struct tide_decode *d, const struct tide_contract *contract,
                        tide_slice topic)
{
    if (tide_scval_type_of(topic) != TIDE_SCV_STRING)
        return false;
    uint8_t id[TIDE_HASH_BYTES];
    tide_buf_reset(&d->scratch);
    if (!put_asset(&d->scratch, (tide_slice){ topic.ptr + 8, tide_be32(topic.ptr + 4) }))
        return false;
    tide_contract_id(id, d->deployment->network_id, tide_buf_view(&d->scratch));
    return memcmp(id, contract->id, TIDE_HASH_BYTES) == 0;
}

static bool has_shown(const struct tide_decode *d, const struct tide_contract *contract)
{
    return d->known.has_shown[contract - d->deployment->contracts];
}

/* Clears has_shown for the listed contracts only, instead of the whole array. */
static void forget_shown(struct tide_decode *d)
{
    const struct shown_contract *shown = d->known.shown.items;
    for (uint32_t i = 0; i < d->known.shown.count; i++)
        d->known.has_shown[shown[i].index] = false;
    d->known.shown.count = 0;
}

/* Notes the kind that an event or the instance shows. It applies from the next ledger on
 * (relevance_settle). */
static void show_role(struct tide_decode *d, const struct tide_contract *contract,
                      enum tide_role role, uint32_t tx)
{
    const uint32_t index = (uint32_t)(contract - d->deployment->contracts);
    assert(contract->discovered && relevance_may_show(d, contract));
    assert(index < d->deployment->contract_count);
    struct shown_contract *one = decode_list_push(&d->known.shown, sizeof *one);
    if (!one)
        return; /* no memory: the next event of the contract shows it again */
    *one = (struct shown_contract){ index, role };
    d->known.has_shown[index] = true;
    struct tide_contract copy = *contract;
    snprintf(copy.role_name, sizeof copy.role_name, "%s", tide_role_name(role));
    put_seen(d, &copy, role == TIDE_ROLE_stellar_asset ? "asset" : "token", tx);
}

void relevance_see_event(struct tide_decode *d, const struct tide_contract *contract,
                         tide_slice topic, uint32_t tx)
{
    if (has_shown(d, contract))
        return; /* a transaction may have thousands of its events */
    bool asset = contract->unsettled ? topic.len && is_asset_of(d, contract, topic)
                                     : contract->role == TIDE_ROLE_stellar_asset;
    show_role(d, contract, asset ? TIDE_ROLE_stellar_asset : TIDE_ROLE_synth_token, tx);
}

void relevance_see_instance(struct tide_decode *d, const struct tide_contract *contract,
                            tide_slice value, uint32_t tx)
{
    if (has_shown(d, contract))
        return;
    if (value.len < 8 || tide_be32(value.ptr) != TIDE_SCV_CONTRACT_INSTANCE)
        return; /* the entry was removed */
    bool asset = contract->unsettled ? tide_be32(value.ptr + 4) == 1
                                     : contract->role == TIDE_ROLE_stellar_asset;
    show_role(d, contract, asset ? TIDE_ROLE_stellar_asset : TIDE_ROLE_synth_token, tx);
}

void relevance_settle(struct tide_decode *d)
{
    const struct shown_contract *shown = d->known.shown.items;
    d->known.learned |= d->known.shown.count > 0 || d->known.named_before.count > 0 ||
                        d->deployment->contract_count > d->saved.contracts;
    for (uint32_t i = 0; i < d->known.shown.count; i++) {
        struct tide_contract *contract = &d->deployment->contracts[shown[i].index];
        d->batch->settled |= contract->unsettled;
        if (contract->unsettled)
            tide_deployment_settle(d->deployment, shown[i].index, shown[i].role);
        contract->shown_ledger = d->header.sequence;
        if (kept_since(contract) > d->known.newest_since)
            d->known.newest_since = kept_since(contract);
    }
    forget_shown(d);
}

void relevance_forget(struct tide_decode *d, uint32_t contract_count)
{
    struct tide_deployment *known = d->deployment;
    bool named = d->known.named_before.count || known->contract_count > contract_count;
    forget_shown(d);
    const struct named_before *before = d->known.named_before.items;
    for (uint32_t i = d->known.named_before.count; i > 0; i--) {
        struct tide_contract *own = &known->contracts[before[i - 1].index];
        own->named_ledger = before[i - 1].named_ledger;
        own->market_ledger = before[i - 1].market_ledger;
    }
    d->known.named_before.count = 0;
    for (; known->contract_count > contract_count; known->contract_count--)
        for (uint32_t i = 0; i < TIDE_COUNT(known->slots); i++)
            if (known->slots[i] == known->contract_count)
                /* The newest contract is the last of its probe chain: no other is found through its
                 * slot. */
                known->slots[i] = 0;
    if (named)
        count_all(d);
}
