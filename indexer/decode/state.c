/* Rows of contract-data changes: each version to history, the newest of a batch to state, and the
 * rows of TTLs. */
#include "indexer/base/copy.h"
#include "indexer/decode/decode_impl.h"
#include "indexer/decode/redecode.h"
#include "tidemark/scval.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON = 8, RAW_COLUMNS = COMMON + 4, TTL_COLUMNS = COMMON + 3 };
/* Columns of a row of history.ttl. */
enum { TTL_REMOVED = 7, TTL_LIVE_UNTIL = COMMON + 1 };

/* One version of an entry, before it is written to the tables. */
struct version {
    const struct tide_contract *contract;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_slice key;
    tide_slice value; /* empty when removed */
    uint32_t durability;
    uint32_t tx;
    uint32_t seq;
    bool removed;
};

static void put_common(struct tide_decode *d, struct tide_buf *out, const struct version *v)
{
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_bytes(out, v->hash, TIDE_HASH_BYTES);
    tide_copy_int4(out, (int32_t)d->header.sequence);
    tide_copy_int4(out, (int32_t)v->tx);
    tide_copy_int4(out, (int32_t)v->seq);
    tide_copy_time(out, d->closed_ms);
    tide_copy_bytes(out, v->contract->address, 56);
    tide_copy_bool(out, v->removed);
}

/* Copies the history row that begins at mark to the state table and notes it as the newest of its
 * key. */
static void note_newest(struct tide_decode *d, const struct version *v, int history, size_t mark)
{
    uint32_t count;
    int state = tide_tables(&count)[history].pair;
    assert(state >= 0 && (unsigned)state < count && history != state);
    struct tide_rows *from = decode_rows(d, history);
    struct tide_rows *to = decode_rows(d, state);
    from->count++;
    if (!d->history_only) {
        size_t offset = to->copy.len;
        tide_buf_put(&to->copy, from->copy.ptr + mark, from->copy.len - mark);
        to->count++;
        if (!to->copy.failed && !latest_note(&d->latest, v->hash, state, to, offset))
            to->copy.failed = true;
    }
}

/* Stores the version as XDR with the reason in d->reason. */
static void put_raw(struct tide_decode *d, const struct version *v)
{
    assert(d->reason[0]);
    d->counts.raw_states++;
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_HISTORY_RAW);
    size_t mark = rows->copy.len;
    tide_copy_row(&rows->copy, RAW_COLUMNS);
    put_common(d, &rows->copy, v);
    tide_copy_int2(&rows->copy, (int16_t)v->durability);
    tide_copy_bytes(&rows->copy, d->reason, strlen(d->reason));
    tide_copy_bytes(&rows->copy, v->key.ptr, v->key.len);
    if (v->removed)
        tide_copy_null(&rows->copy);
    else
        tide_copy_bytes(&rows->copy, v->value.ptr, v->value.len);
    note_newest(d, v, TIDE_TABLE_HISTORY_RAW, mark);
}

/* ---- entries ---- */

/* Assigns the key's arguments to fields. Returns false, with the reason, if their number
 * differs. */
static bool collect_keys(struct tide_decode *d, const struct tide_kind *kind, struct tide_xdr *args,
                         uint32_t count, tide_slice *values)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX);
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].place != TIDE_P_KEY)
            continue;
        if (count-- == 0)
            return value_reject(d, "too few key arguments", (tide_slice){ 0 });
        values[i] = tide_scval_span(args);
    }
    return count == 0 || value_reject(d, "too many key arguments", (tide_slice){ 0 });
}

/* Assigns the value to the kind's single value field, or its members to fields. */
static bool collect_value(struct tide_decode *d, const struct tide_kind *kind, tide_slice value,
                          tide_slice *values)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX);
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].place == TIDE_P_VALUE) {
            values[i] = value;
            return true;
        }
    }
    tide_slice unknown = { 0 };
    if (!value_members(kind, NULL, value, values, &unknown))
        return value_reject(d, "value is not a struct", (tide_slice){ 0 });
    return unknown.len == 0 || value_reject(d, "unknown field", unknown);
}

static void put_action(struct tide_buf *out, tide_slice call_data)
{
    size_t at = tide_copy_open(out);
    tide_slice bytes = { call_data.ptr + 8, tide_be32(call_data.ptr + 4) };
    if (tide_action_json(out, bytes) != TIDE_OK)
        out->failed = true; /* malformed call_data gives JSON, too: only memory can be short */
    tide_copy_close(out, at);
}

/* Appends the kind's columns. A removed entry has its key only. Slots of an
 * instance are optional, all other fields of an entry are required. */
static bool put_fields(struct tide_decode *d, struct tide_buf *out, const struct tide_kind *kind,
                       const tide_slice *values, bool removed)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        if (f->place == TIDE_P_ACTION) {
            if (removed)
                tide_copy_null(out);
            else
                put_action(out, values[i - 1]);
        } else if (values[i].len == 0 && (removed || f->place == TIDE_P_SLOT)) {
            tide_copy_null(out);
        } else if (values[i].len == 0) {
            return value_reject(d, "missing field", tide_slice_str(f->column));
        } else if (!value_put(d, out, f->type, values[i])) {
            return value_reject(d, "type of field", tide_slice_str(f->column));
        }
    }
    return true;
}

static bool is_true(tide_slice value)
{
    return value.len == 8 && tide_be32(value.ptr) == TIDE_SCV_BOOL && tide_be32(value.ptr + 4) == 1;
}

/* Discovers tokens that the chain names: in a market's configuration, and in live entries of
 * partners' catalogs. Anyone may register an entry that is not live, so those do not count. */
static void discover_token(struct tide_decode *d, const struct version *v,
                           const struct tide_kind *kind, const tide_slice *values)
{
    const struct tide_kind *market = &tide_entries()[TIDE_EN_synthetic_engine_asset_config];
    const struct tide_kind *asset = &tide_entries()[TIDE_EN_partner_registry_partner_asset];
    if (kind == market || (kind == asset && is_true(values[value_field_index(kind, "live")])))
        relevance_discover(d, values[value_field_index(kind, "token")], kind == market, v->tx);
}

/* Appends the version to its history. Returns false, with the reason and no rows, if a value does
 * not fit. */
static bool put_entry(struct tide_decode *d, const struct version *v, const struct tide_kind *kind,
                      const tide_slice *values)
{
    struct tide_rows *rows = decode_rows(d, kind->table);
    size_t mark = rows->copy.len;
    tide_copy_row(&rows->copy, (uint16_t)(COMMON + kind->field_count));
    put_common(d, &rows->copy, v);
    if (!put_fields(d, &rows->copy, kind, values, v->removed)) {
        rows->copy.len = mark;
        return false;
    }
    note_newest(d, v, kind->table, mark);
    if (!v->removed)
        discover_token(d, v, kind, values);
    return true;
}

/* Finds the entry's kind by the key, a vec of a symbol and arguments, and appends its row. */
static bool decode_entry(struct tide_decode *d, const struct version *v)
{
    struct tide_xdr x = tide_xdr_of(v->key);
    if (tide_xdr_u32(&x) != TIDE_SCV_VEC || !tide_xdr_bool(&x))
        return value_reject(d, "unknown key", (tide_slice){ 0 });
    uint32_t count = tide_xdr_u32(&x);
    if (count == 0 || tide_xdr_u32(&x) != TIDE_SCV_SYMBOL)
        return value_reject(d, "unknown key", (tide_slice){ 0 });
    tide_slice variant = tide_xdr_var(&x, 32);
    const struct tide_kind *kind = tide_entry_find(v->contract->role, variant);
    if (!kind)
        return value_reject(d, "unknown key", variant);
    if (kind->temporary != (v->durability == 0))
        return value_reject(d, "durability of", variant);
    tide_slice values[TIDE_FIELDS_MAX] = { { 0 } };
    if (!collect_keys(d, kind, &x, count - 1, values))
        return false;
    if (!v->removed && !collect_value(d, kind, v->value, values))
        return false;
    return put_entry(d, v, kind, values);
}

/* ---- instances ---- */

/* Returns the index of the field for a key of the instance's storage, or -1. Contracts use symbols
 * and one-item vecs of a symbol as keys. */
static int slot_of(const struct tide_kind *kind, tide_slice key)
{
    struct tide_xdr x = tide_xdr_of(key);
    uint32_t arm = tide_xdr_u32(&x);
    bool vec = arm == TIDE_SCV_VEC;
    if (vec) {
        if (!tide_xdr_bool(&x) || tide_xdr_u32(&x) != 1)
            return -1;
        arm = tide_xdr_u32(&x);
    }
    if (arm != TIDE_SCV_SYMBOL)
        return -1;
    tide_slice name = tide_xdr_var(&x, 32);
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].vec_key == vec && tide_slice_eq_str(name, kind->fields[i].name))
            return (int)i;
    return -1;
}

/* Assigns the instance's storage to fields. Returns false, with the reason, if a key is unknown or
 * a value does not fit its field; the others are assigned nevertheless. */
static bool collect_slots(struct tide_decode *d, const struct tide_kind *kind, struct tide_xdr *x,
                          tide_slice *values)
{
    bool all = true;
    uint32_t count = tide_xdr_bool(x) ? tide_xdr_u32(x) : 0;
    struct tide_buf *probe = &d->scratch;
    for (uint32_t i = 0; i < count; i++) {
        tide_slice key = tide_scval_span(x);
        tide_slice value = tide_scval_span(x);
        int at = slot_of(kind, key);
        /* The value is written to a scratch buffer to find out whether it fits. */
        tide_buf_reset(probe);
        if (at >= 0 && value_put(d, probe, kind->fields[at].type, value)) {
            values[at] = value;
        } else {
            all = value_reject(d, at < 0 ? "unknown instance key" : "type of instance key",
                               at < 0 ? (tide_slice){ 0 } : tide_slice_str(kind->fields[at].name));
        }
    }
    return all;
}

/* Appends the columns executable and wasm, and moves x to the storage. Returns the executable's arm
 * as this enum, EXECUTABLES for an unknown one. */
enum { EXECUTABLE_WASM, EXECUTABLE_ASSET, EXECUTABLE_REFERENCE, EXECUTABLES };
static uint32_t put_executable(struct tide_buf *out, struct tide_xdr *x)
{
    static const char *const names[EXECUTABLES] = { "contractExecutableWasm",
                                                    "contractExecutableStellarAsset",
                                                    "contractExecutableExternalRef" };
    uint32_t arm = tide_xdr_u32(x);
    if (arm >= EXECUTABLES)
        return EXECUTABLES;
    tide_copy_bytes(out, names[arm], strlen(names[arm]));
    if (arm == EXECUTABLE_WASM) {
        tide_slice wasm = tide_xdr_opaque(x, TIDE_HASH_BYTES);
        tide_copy_bytes(out, wasm.ptr, wasm.len);
    } else {
        tide_copy_null(out);
    }
    if (arm == EXECUTABLE_REFERENCE) {
        tide_scaddress_skip(x);
        tide_xdr_var(x, UINT32_MAX); /* the tag */
    }
    return arm;
}

/* Appends the instance's row with the slots that fit. Returns false, with the reason, if any did
 * not: the caller then stores the whole instance as XDR, too. A reference to another contract's
 * code has no columns of its own, so only the XDR names that contract and its tag. */
static bool put_instance(struct tide_decode *d, const struct version *v,
                         const struct tide_kind *kind)
{
    struct tide_rows *rows = decode_rows(d, kind->table);
    struct tide_buf *out = &rows->copy;
    size_t mark = out->len;
    tide_slice values[TIDE_FIELDS_MAX] = { { 0 } };
    bool all = true;
    tide_copy_row(out, (uint16_t)(COMMON + 2 + kind->field_count));
    put_common(d, out, v);
    if (v->removed) {
        tide_copy_null(out);
        tide_copy_null(out);
    } else {
        struct tide_xdr x = tide_xdr_of(v->value);
        uint32_t executable =
            tide_xdr_u32(&x) == TIDE_SCV_CONTRACT_INSTANCE ? put_executable(out, &x) : EXECUTABLES;
        if (executable == EXECUTABLES) {
            out->len = mark;
            return value_reject(d, "instance", (tide_slice){ 0 });
        }
        all = collect_slots(d, kind, &x, values);
        if (all && executable == EXECUTABLE_REFERENCE)
            all = value_reject(d, "executable by reference", (tide_slice){ 0 });
    }
    bool fits = put_fields(d, out, kind, values, v->removed);
    assert(fits && "every slot was tried"); /* collect_slots passed only values that fit */
    (void)fits;
    note_newest(d, v, kind->table, mark);
    return all;
}

/* ---- changes ---- */

/* Returns true if the typed table has the whole version. */
static bool decode_version(struct tide_decode *d, const struct version *v)
{
    if (tide_scval_type_of(v->key) != TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        return decode_entry(d, v);
    const struct tide_kind *kind = tide_instance_find(v->contract->role);
    return !kind || put_instance(d, v, kind); /* a wallet's instance has nothing of the protocol */
}

static void put_version(struct tide_decode *d, const struct version *v)
{
    d->counts.changes++;
    if (!decode_version(d, v))
        put_raw(d, v);
}

bool decode_version_again(struct tide_decode *d, const struct tide_redecode_raw_version *again)
{
    struct version v = { .contract = tide_deployment_find(d->deployment, again->contract),
                         .key = again->key,
                         .value = again->value,
                         .durability = again->durability,
                         .tx = again->tx,
                         .seq = again->seq,
                         .removed = again->removed };
    memcpy(v.hash, again->key_hash, TIDE_HASH_BYTES);
    if (!v.contract)
        return false;
    const struct tide_kind *kind = tide_instance_find(v.contract->role);
    struct tide_rows before = kind ? *decode_rows(d, kind->table) : (struct tide_rows){ 0 };
    if (decode_version(d, &v))
        return true;
    if (kind) { /* an instance's row with the slots that fit was appended: remove it */
        decode_rows(d, kind->table)->copy.len = before.copy.len;
        decode_rows(d, kind->table)->count = before.count;
    }
    return false;
}

/* Returns whether rows tell how long the entry lives. Strangers' transfers, which are not indexed,
 * extend and restore the instance of a Stellar asset's contract, so a row of it would be wrong. */
static bool follows_life(const struct tide_contract *contract, tide_slice key)
{
    bool instance = tide_scval_type_of(key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE;
    return contract->role != TIDE_ROLE_wallet &&
           !(instance && contract->role == TIDE_ROLE_stellar_asset);
}

/* Notes a key of the present transaction, so that a TTL change can be assigned to its entry. */
static bool remember_key(struct tide_decode *d, const uint8_t *hash,
                         const struct tide_contract *contract, tide_slice key_xdr,
                         uint32_t durability)
{
    struct seen_key *key = decode_list_push(&d->entries.keys, sizeof *key);
    if (!key)
        return false;
    memcpy(key->hash, hash, TIDE_HASH_BYTES);
    key->contract = contract;
    key->durability = durability;
    key->follows_life = follows_life(contract, key_xdr);
    d->entries.keys_sorted = false;
    return true;
}

/* Returns the followed contract of an SCAddress, or NULL. */
static const struct tide_contract *owner_of(const struct tide_decode *d, tide_slice contract_xdr)
{
    if (contract_xdr.len != 36 || tide_be32(contract_xdr.ptr) != 1)
        return NULL;
    return relevance_find(d, contract_xdr.ptr + 4);
}

/* Settles the kind of a contract if the change is its instance. */
static void see_instance(struct tide_decode *d, const struct tide_tx *tx,
                         const struct tide_change *change)
{
    if (change->contract.len != 36 || tide_be32(change->contract.ptr) != 1 ||
        tide_scval_type_of(change->key) != TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        return;
    const struct tide_contract *contract =
        tide_deployment_find(d->deployment, change->contract.ptr + 4);
    if (contract && relevance_may_show(d, contract))
        relevance_see_instance(d, contract, change->value, tx->index);
}

/* Stores one version of an entry of the deployment. */
static tide_status store_change(struct tide_decode *d, const struct tide_tx *tx,
                                const struct tide_change *change,
                                const struct tide_contract *contract, uint32_t seq)
{
    struct version v = { .contract = contract,
                         .key = change->key,
                         .value = change->value,
                         .durability = change->durability,
                         .tx = tx ? tx->index : TX_AFTER_ALL,
                         .seq = seq,
                         .removed = change->kind == TIDE_CHANGE_REMOVED };
    tide_data_key_hash(v.hash, change->contract, change->key, change->durability);
    if (!remember_key(d, v.hash, contract, change->key, change->durability))
        return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": keys of a transaction",
                         d->header.sequence);
    if (change->kind == TIDE_CHANGE_CREATED &&
        tide_scval_type_of(v.key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        relevance_created(d, contract, v.tx);
    put_version(d, &v);
    return TIDE_OK;
}

/* Keeps a change of a Stellar asset's entry until the transaction's end shows whether it is the
 * deployment's. */
static tide_status defer_change(struct tide_decode *d, const struct tide_change *change,
                                const struct tide_contract *contract, uint32_t seq)
{
    struct later_change *later = decode_list_push(&d->entries.later_changes, sizeof *later);
    if (!later)
        return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": changes of a transaction",
                         d->header.sequence);
    *later = (struct later_change){ group_pack(change), contract, seq };
    return TIDE_OK;
}

/* Handles one contract-data change, in canonical order. */
static tide_status handle_data_change(struct tide_decode *d, const struct tide_tx *tx,
                                      const struct tide_change *change)
{
    const struct tide_contract *contract = owner_of(d, change->contract);
    uint32_t seq = tx ? d->entries.seq++ : d->entries.seq_after++;
    if (tx && (!contract || d->kept.late))
        see_instance(d, tx, change);
    if (!contract)
        return TIDE_OK;
    if (tx)
        relevance_touched(d, contract);
    if (!relevance_entry(d, contract, change->key))
        return TIDE_OK;
    bool asset = contract->role == TIDE_ROLE_stellar_asset;
    bool named = asset && relevance_balance_holder(change->key).len > 0;
    /* If an earlier change waits, later ones wait too: versions of a key must be stored in their
     * order. */
    if (tx && asset && !named && (d->entries.later_changes.count || !relevance_transaction(d)))
        return defer_change(d, change, contract, seq);
    if (tx && named)
        d->reach.asset |= relevance_takes_part(d, relevance_balance_holder(change->key), KEPT_CALL);
    return store_change(d, tx, change, contract, seq);
}

tide_status decode_later_changes(struct tide_decode *d, const struct tide_tx *tx)
{
    const struct later_change *changes = d->entries.later_changes.items;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < d->entries.later_changes.count && status == TIDE_OK; i++) {
        struct tide_change change = group_unpack(&changes[i].change);
        status = store_change(d, tx, &change, changes[i].contract, changes[i].seq);
    }
    return status;
}

tide_status decode_change(struct tide_decode *d, const struct tide_tx *tx,
                          const struct tide_change *change)
{
    if (change->kind == TIDE_CHANGE_STATE)
        return TIDE_OK;
    bool ttl = change->type == TIDE_ENTRY_TTL;
    /* Restorations and TTLs are no changes that the call itself made. */
    if (change->section == TIDE_SECTION_OP && !ttl && change->kind != TIDE_CHANGE_RESTORED)
        d->entries.changed++;
    if (change->type == TIDE_ENTRY_CONTRACT_DATA || (ttl && tx))
        return group_add(d, change);
    return TIDE_OK;
}

tide_status decode_changes_end(struct tide_decode *d, const struct tide_tx *tx)
{
    return group_each(d, tx, handle_data_change);
}

/* ---- TTLs ---- */

static void put_ttl(struct tide_decode *d, const struct version *v, const uint32_t *live_until,
                    bool evicted)
{
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_HISTORY_TTL);
    size_t mark = rows->copy.len;
    tide_copy_row(&rows->copy, TTL_COLUMNS);
    put_common(d, &rows->copy, v);
    tide_copy_int2(&rows->copy, (int16_t)v->durability);
    if (live_until)
        tide_copy_int8(&rows->copy, *live_until);
    else
        tide_copy_null(&rows->copy);
    tide_copy_bool(&rows->copy, evicted);
    rows->count++;
    if (!d->history_only && !rows->copy.failed &&
        !latest_note(&d->lives, v->hash, TIDE_TABLE_HISTORY_TTL, rows, mark))
        rows->copy.failed = true;
}

/* Notes the footprint's keys that belong to the deployment: a TTL entry holds only the hash of its
 * key. */
static bool hash_footprint(struct tide_decode *d, tide_slice keys, uint32_t count)
{
    struct tide_xdr x = tide_xdr_of(keys);
    for (uint32_t i = 0; i < count; i++) {
        struct tide_change key = { 0 };
        if (!tide_ledger_key_data(&x, &key))
            continue;
        const struct tide_contract *contract = owner_of(d, key.contract);
        bool wallet = contract && contract->role == TIDE_ROLE_wallet;
        if (!contract || (!wallet && !relevance_entry(d, contract, key.key)))
            continue;
        uint8_t hash[TIDE_HASH_BYTES];
        tide_data_key_hash(hash, key.contract, key.key, key.durability);
        if (!remember_key(d, hash, contract, key.key, key.durability))
            return false;
    }
    return true;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, TIDE_HASH_BYTES);
}

/* Returns the noted key with that hash, or NULL. By bisection, since a transaction may have many
 * keys and many TTL changes. */
static const struct seen_key *find_seen_key(struct tide_decode *d, const uint8_t *hash)
{
    static_assert(offsetof(struct seen_key, hash) == 0, "a hash is compared with a key");
    struct entries *e = &d->entries;
    if (e->keys.count == 0)
        return NULL;
    if (!e->keys_sorted)
        qsort(e->keys.items, e->keys.count, sizeof(struct seen_key), by_hash);
    e->keys_sorted = true;
    return bsearch(hash, e->keys.items, e->keys.count, sizeof(struct seen_key), by_hash);
}

/* Finds the key with that hash among the changed ones, then in the footprint. *found is NULL if it
 * belongs to no contract of the deployment. Returns false without memory. */
static bool find_key(struct tide_decode *d, const uint8_t *hash, const struct seen_key **found)
{
    *found = find_seen_key(d, hash);
    if (*found || d->entries.footprint_hashed)
        return true;
    d->entries.footprint_hashed = true;
    if (!hash_footprint(d, d->envelope.read_only, d->envelope.read_only_count) ||
        !hash_footprint(d, d->envelope.read_write, d->envelope.read_write_count))
        return false;
    *found = find_seen_key(d, hash);
    return true;
}

/* Returns the column's bytes in a COPY row. Empty if it is NULL. */
static tide_slice column_of(const uint8_t *row, uint32_t column)
{
    for (row += 2;; column--) {
        uint32_t len = tide_be32(row);
        size_t bytes = len == UINT32_MAX ? 0 : len;
        if (column == 0)
            return tide_slice_of(row + 4, bytes);
        row += 4 + bytes;
    }
}

/* Returns the entry's lifetime after this transaction. Transactions of one ledger each extend it
 * from its value before the ledger, so the longest of them holds. */
static uint32_t longest_lifetime(const struct tide_decode *d, const uint8_t *hash,
                                 uint32_t live_until)
{
    const uint8_t *row = latest_row(&d->lives, hash, TIDE_TABLE_HISTORY_TTL,
                                    &d->batch->rows[TIDE_TABLE_HISTORY_TTL]);
    if (!row || column_of(row, TTL_REMOVED).ptr[0])
        return live_until;
    tide_slice before = column_of(row, TTL_LIVE_UNTIL);
    uint64_t earlier = before.len ? tide_be64(before.ptr) : 0;
    return earlier > live_until ? (uint32_t)earlier : live_until;
}

tide_status decode_ttl_owners(struct tide_decode *d)
{
    const struct ttl_change *ttls = d->entries.ttls.items;
    for (uint32_t i = 0; i < d->entries.ttls.count && !relevance_is_known(d); i++) {
        const struct seen_key *key;
        if (!find_key(d, ttls[i].key_hash, &key))
            return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": keys of a footprint",
                             d->header.sequence);
        if (key)
            relevance_touched(d, key->contract);
    }
    return TIDE_OK;
}

tide_status decode_ttls(struct tide_decode *d, const struct tide_tx *tx)
{
    const struct ttl_change *ttls = d->entries.ttls.items;
    for (uint32_t i = 0; i < d->entries.ttls.count; i++) {
        const struct seen_key *key;
        if (!find_key(d, ttls[i].key_hash, &key))
            return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": keys of a footprint",
                             d->header.sequence);
        if (!key || !key->follows_life)
            continue;
        uint32_t live_until = longest_lifetime(d, key->hash, ttls[i].live_until);
        struct version v = { .contract = key->contract,
                             .durability = key->durability,
                             .tx = tx->index,
                             .seq = d->entries.seq + i,
                             .removed = ttls[i].removed };
        memcpy(v.hash, key->hash, TIDE_HASH_BYTES);
        put_ttl(d, &v, ttls[i].removed ? NULL : &live_until, false);
    }
    return TIDE_OK;
}

/* Stores an evicted entry. A persistent entry is archived and keeps its value; a temporary one is
 * removed. */
static tide_status put_evicted(struct tide_decode *d, const struct tide_tx *tx,
                               const struct tide_change *key)
{
    (void)tx;
    const struct tide_contract *contract = owner_of(d, key->contract);
    uint32_t seq = d->entries.seq_after;
    d->entries.seq_after += 2; /* one number for the entry's row, one for its TTL's */
    if (!contract || !relevance_entry(d, contract, key->key))
        return TIDE_OK;
    struct version v = { .contract = contract,
                         .key = key->key,
                         .durability = key->durability,
                         .tx = TX_AFTER_ALL,
                         .seq = seq,
                         .removed = key->durability == 0 };
    tide_data_key_hash(v.hash, key->contract, key->key, key->durability);
    if (v.removed)
        put_version(d, &v);
    v.seq = seq + 1;
    if (follows_life(contract, key->key))
        put_ttl(d, &v, NULL, !v.removed);
    return TIDE_OK;
}

tide_status decode_evicted_end(struct tide_decode *d)
{
    return group_each(d, NULL, put_evicted);
}

/* Returns whether the version of an entry as of a ledger is stored. What a Stellar asset keeps
 * beside balances is not, except its instance, which names the asset. */
static bool is_stored_as_of(const struct tide_decode *d, const struct tide_contract *contract,
                            tide_slice key)
{
    bool whole = contract->role != TIDE_ROLE_stellar_asset;
    return !contract->unsettled && relevance_entry(d, contract, key) &&
           (whole || relevance_balance_holder(key).len > 0 ||
            tide_scval_type_of(key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
}

void decode_entry_as_of(struct tide_decode *d, const struct tide_redecode_entry *entry)
{
    const struct tide_contract *contract = tide_deployment_find(d->deployment, entry->contract);
    struct version v = { .contract = contract,
                         .key = entry->key,
                         .value = entry->value,
                         .durability = entry->durability,
                         .seq = entry->seq };
    static_assert(TIDE_REDECODE_ENTRY_TX == 0, "v.tx");
    bool instance = tide_scval_type_of(entry->key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE;
    if (!contract)
        return;
    if (instance && relevance_may_show(d, contract))
        relevance_see_instance(d, contract, entry->value, v.tx);
    if (!is_stored_as_of(d, contract, entry->key))
        return;
    memcpy(v.hash, entry->key_hash, TIDE_HASH_BYTES);
    if (instance)
        relevance_created(d, contract, v.tx);
    put_version(d, &v);
    v.seq++;
    if (follows_life(contract, entry->key) && (entry->archived || entry->live_until))
        put_ttl(d, &v, entry->archived ? NULL : &entry->live_until, entry->archived);
}
