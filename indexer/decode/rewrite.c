/* Search for the original form of a call's events that an exporter rewrote. */
#include "indexer/decode/rewrite.h"

#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"

#define STEPS_MAX 8192u /* most events hashed in one search, over all attempts */

enum asset_kind { NOT_ASSET, MINT, BURN, ADMIN_TOPIC };

/* Ways to restore one asset event: unchanged, as a transfer, or with its admin topic. Admins are
 * numbered from 1; 0 is the asset's issuer. */
enum form { AS_IS, TO_TRANSFER, WITH_ADMIN };

/* One guess for all events of a call. */
struct choice {
    enum form mint;
    enum form burn;
    uint32_t admin;
};

/* ---- reading ---- */

static enum asset_kind kind_of(tide_slice symbol)
{
    if (tide_slice_eq_str(symbol, "mint"))
        return MINT;
    if (tide_slice_eq_str(symbol, "burn"))
        return BURN;
    if (tide_slice_eq_str(symbol, "clawback") || tide_slice_eq_str(symbol, "set_authorized"))
        return ADMIN_TOPIC;
    return NOT_ASSET;
}

/* Reads the issuer of a SEP-11 asset text "CODE:G…". Returns false if the text is none. */
static bool issuer_of(uint8_t out[32], tide_slice asset)
{
    const uint8_t *colon = asset.len ? memchr(asset.ptr, ':', asset.len) : NULL;
    if (!colon)
        return false;
    size_t at = (size_t)(colon - asset.ptr) + 1;
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    tide_slice text = tide_slice_of(asset.ptr + at, asset.len - at);
    if (tide_strkey_decode(&kind, payload, &len, text) != TIDE_OK || kind != TIDE_STRKEY_ACCOUNT)
        return false;
    memcpy(out, payload, 32);
    return true;
}

/* Returns the kind of an event that the backfill may have rewritten. Those have the topics [Symbol
 * kind, Address, String asset]. */
static enum asset_kind classify_event(const struct tide_event *event, uint8_t issuer[32])
{
    if (event->topic_count != 3 || event->type != 1)
        return NOT_ASSET;
    struct tide_xdr x = tide_xdr_of(event->topics);
    if (tide_xdr_u32(&x) != TIDE_SCV_SYMBOL)
        return NOT_ASSET;
    enum asset_kind kind = kind_of(tide_xdr_var(&x, 32));
    if (kind == NOT_ASSET || tide_xdr_u32(&x) != TIDE_SCV_ADDRESS)
        return NOT_ASSET;
    tide_scaddress_skip(&x);
    if (tide_xdr_u32(&x) != TIDE_SCV_STRING)
        return NOT_ASSET;
    return issuer_of(issuer, tide_xdr_var(&x, UINT32_MAX)) ? kind : NOT_ASSET;
}

/* Adds a possible admin, once. Addresses beyond REWRITE_ADMINS_MAX are not tried. */
static void add_admin(struct rewrite *r, tide_slice address)
{
    for (uint32_t i = 0; i < r->admin_count; i++)
        if (tide_slice_eq(r->admins[i], address))
            return;
    if (address.len && r->admin_count < REWRITE_ADMINS_MAX)
        r->admins[r->admin_count++] = address;
}

/* Returns the emitting contract as an SCAddress. Within the event the span is {1, id}: the flag of
 * the optional id is 1, like the address's arm for a contract, so no copy is needed. */
static tide_slice emitter(const struct tide_event *event)
{
    return event->contract ? tide_slice_of(event->contract - 4, 36) : (tide_slice){ 0 };
}

/* Adds an account as SCAddress {0, PublicKey {0, key}}, built in `room`. */
static void add_account(struct rewrite *r, uint8_t room[40], const uint8_t *key)
{
    memset(room, 0, 8);
    memcpy(room + 8, key, 32);
    add_admin(r, tide_slice_of(room, 40));
}

/* Adds the contracts of the footprint. An admin that authorised a mint was called, so its instance
 * is there. */
static void add_footprint(struct rewrite *r, tide_slice keys)
{
    struct tide_xdr x = tide_xdr_of(keys);
    struct tide_change key;
    while (x.status == TIDE_OK && tide_xdr_left(&x))
        if (tide_ledger_key_data(&x, &key))
            add_admin(r, key.contract);
}

/* Collects the addresses that may have been an asset's admin, the likeliest first. */
static void collect_admins(struct rewrite *r, tide_slice envelope)
{
    struct tide_envelope read;
    struct tide_xdr x;
    bool known = envelope.len && tide_envelope_read(&read, envelope, &x) == TIDE_OK;
    r->admin_count = 0;
    if (known && read.contract)
        add_admin(r, tide_slice_of(read.contract - 4, 36));
    if (known && read.source_key)
        add_account(r, r->source, read.source_key);
    for (uint32_t i = 0; i < r->count; i++)
        add_admin(r, emitter(&r->events[i]));
    if (known) {
        add_footprint(r, read.read_write);
        add_footprint(r, read.read_only);
    }
}

/* Reads the call's events. Returns false if there are too many, or they are malformed. */
static bool read_events(struct rewrite *r, tide_slice op_events)
{
    struct tide_xdr x = tide_xdr_of(op_events);
    uint32_t count = tide_xdr_u32(&x);
    if (count > REWRITE_EVENTS_MAX)
        return false;
    r->count = count;
    for (uint32_t i = 0; i < count; i++) {
        tide_event_read(&x, &r->events[i]);
        r->kinds[i] = (uint8_t)classify_event(&r->events[i], r->issuers[i]);
    }
    return tide_xdr_end(&x) == TIDE_OK;
}

/* ---- hashing one form ---- */

static void put_u32(struct tide_sha256 *h, uint32_t v)
{
    uint8_t bytes[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
    tide_sha256_update(h, tide_slice_of(bytes, 4));
}

/* Hashes an address ScVal: the issuer's account (admin 0), or a possible admin. */
static void put_address(struct tide_sha256 *h, const struct rewrite *r, uint32_t event,
                        uint32_t admin)
{
    assert(admin <= r->admin_count && event < r->count);
    static const uint8_t account[12] = { 0, 0, 0, TIDE_SCV_ADDRESS };
    tide_sha256_update(h, tide_slice_of(account, admin == 0 ? 12 : 4));
    if (admin == 0)
        tide_sha256_update(h, tide_slice_of(r->issuers[event], 32));
    else
        tide_sha256_update(h, r->admins[admin - 1]);
}

static const uint8_t transfer[16] = {
    0, 0, 0, TIDE_SCV_SYMBOL, 0, 0, 0, 8, 't', 'r', 'a', 'n', 's', 'f', 'e', 'r'
};

/* Hashes an event in the given form. Every call counts as one of the search's steps. */
static void put_event(struct tide_sha256 *h, struct rewrite *r, uint32_t index, enum form form,
                      uint32_t admin)
{
    const struct tide_event *event = &r->events[index];
    assert(index < r->count && r->count <= REWRITE_EVENTS_MAX);
    r->steps++;
    if (form == AS_IS) {
        tide_sha256_update(h, event->xdr);
        return;
    }
    struct tide_xdr x = tide_xdr_of(event->topics);
    tide_slice name = tide_scval_span(&x);
    tide_slice who = tide_scval_span(&x);
    tide_slice asset = tide_scval_span(&x);
    bool burn = r->kinds[index] == BURN;
    const uint8_t *count = event->topics.ptr - 4;
    tide_sha256_update(h, tide_slice_of(event->xdr.ptr, (size_t)(count - event->xdr.ptr)));
    put_u32(h, 4);
    tide_sha256_update(h, form == TO_TRANSFER ? tide_slice_of(transfer, 16) : name);
    if (burn)
        tide_sha256_update(h, who);
    put_address(h, r, index, form == TO_TRANSFER ? 0 : admin);
    if (!burn)
        tide_sha256_update(h, who);
    tide_sha256_update(h, asset);
    tide_sha256_update(h, event->data);
}

/* Returns whether the hash so far is the call's. Copies the state, so that the caller may go on
 * hashing. */
static bool hash_matches(const struct rewrite *r, const struct tide_sha256 *h)
{
    struct tide_sha256 last = *h;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256_final(&last, hash);
    return memcmp(hash, r->goal, TIDE_HASH_BYTES) == 0;
}

static void begin_hash(const struct rewrite *r, struct tide_sha256 *h, uint32_t count)
{
    tide_sha256_init(h);
    tide_sha256_update(h, r->return_value);
    put_u32(h, count);
}

/* ---- search ---- */

static bool try_uniform(struct rewrite *r, struct choice c)
{
    struct tide_sha256 h;
    begin_hash(r, &h, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        enum form form = r->kinds[i] == MINT          ? c.mint
                         : r->kinds[i] == BURN        ? c.burn
                         : r->kinds[i] == ADMIN_TOPIC ? WITH_ADMIN
                                                      : AS_IS;
        put_event(&h, r, i, form, c.admin);
    }
    return hash_matches(r, &h);
}

/* Tries forms that are the same for all asset events of a kind. Nearly all calls need no more. */
static bool search_uniform(struct rewrite *r)
{
    static const enum form mints[] = { TO_TRANSFER, WITH_ADMIN, AS_IS };
    static const enum form burns[] = { AS_IS, TO_TRANSFER };
    for (uint32_t admin = 0; admin <= r->admin_count; admin++)
        for (size_t m = 0; m < TIDE_COUNT(mints); m++)
            for (size_t b = 0; b < TIDE_COUNT(burns); b++)
                if (r->steps < STEPS_MAX &&
                    try_uniform(r, (struct choice){ mints[m], burns[b], admin }))
                    return true;
    return false;
}

static bool search_from(struct rewrite *r, const struct tide_sha256 *before, uint32_t index);

static bool try_form(struct rewrite *r, const struct tide_sha256 *before, uint32_t index,
                     struct choice c)
{
    if (r->steps >= STEPS_MAX)
        return false;
    struct tide_sha256 h = *before;
    assert(index < r->count && c.admin <= r->admin_count);
    put_event(&h, r, index, c.mint, c.admin);
    return search_from(r, &h, index + 1);
}

/* Chooses a form for each event separately, depth first, at most REWRITE_EVENTS_MAX deep. */
static bool search_from(struct rewrite *r, const struct tide_sha256 *before, uint32_t index)
{
    if (index == r->count)
        return hash_matches(r, before);
    enum asset_kind kind = (enum asset_kind)r->kinds[index];
    if (kind == MINT || kind == BURN)
        if (try_form(r, before, index, (struct choice){ .mint = TO_TRANSFER }))
            return true;
    if (kind == MINT || kind == ADMIN_TOPIC)
        for (uint32_t admin = 0; admin <= r->admin_count; admin++)
            if (try_form(r, before, index, (struct choice){ .mint = WITH_ADMIN, .admin = admin }))
                return true;
    return try_form(r, before, index, (struct choice){ .mint = AS_IS });
}

/* Drops the mints and burns in front, one after the other: the reconciler adds its extra ones
 * there. */
static bool search_dropping(struct rewrite *r)
{
    for (uint32_t drop = 1; drop <= r->count; drop++) {
        if (r->kinds[drop - 1] != MINT && r->kinds[drop - 1] != BURN)
            return false;
        if (r->steps + r->count > 2 * STEPS_MAX)
            return false;
        struct tide_sha256 h;
        begin_hash(r, &h, r->count - drop);
        for (uint32_t i = drop; i < r->count; i++)
            put_event(&h, r, i, AS_IS, 0);
        if (hash_matches(r, &h))
            return true;
    }
    return false;
}

bool rewrite_matches(struct rewrite *r, const struct tide_tx *tx, tide_slice envelope)
{
    r->return_value = tx->return_value;
    r->goal = tx->invoke_hash;
    r->steps = 0;
    if (!read_events(r, tx->op_events))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++)
        any |= r->kinds[i] != NOT_ASSET;
    if (!any)
        return false;
    collect_admins(r, envelope);
    if (search_dropping(r) || search_uniform(r))
        return true;
    struct tide_sha256 h;
    begin_hash(r, &h, r->count);
    return search_from(r, &h, 0);
}
