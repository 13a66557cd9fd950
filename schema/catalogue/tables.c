#include "schema/catalogue/catalogue_impl.h"

#include <stdio.h>
#include <string.h>

/* Built once by tide_tables_assign, constant from then on. */
static struct {
    struct tide_table tables[TIDE_TABLES_MAX];
    uint32_t count;
    char names[49152]; /* table names and index lists made from the catalogue */
    size_t names_len;
    struct tide_table stored[TIDE_TABLES_MAX]; /* the stored form of tables with keyed columns */
} built;
static_assert((int)TIDE_TABLE_FIXED_COUNT + (int)TIDE_EV_COUNT +
                      2 * ((int)TIDE_EN_COUNT + (int)TIDE_IN_COUNT) <=
                  (int)TIDE_TABLES_MAX,
              "an event has one table, an entry and an instance two");

static const char *keep_text(const char *text)
{
    size_t len = strlen(text) + 1;
    assert(built.names_len + len <= sizeof built.names);
    char *to = built.names + built.names_len;
    memcpy(to, text, len);
    built.names_len += len;
    return to;
}

static const struct tide_column event_common[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order, from 1" },
    { "op", TIDE_PG_INT4, .comment = "Operation, from 0" },
    { "event", TIDE_PG_INT4, .comment = "Event within the operation, from 0" },
    { "closed_at", TIDE_PG_TIMESTAMPTZ, .comment = "Close time of the ledger" },
    { "contract", TIDE_PG_TEXT, .keyed = true, .comment = "Contract that emitted it" },
};

/* tables of state lack the last one */
static const struct tide_column history_common[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "key_hash", TIDE_PG_BYTEA, .comment = "SHA-256 of the ledger key" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger that wrote this version" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order; 1048575 after all of them" },
    { "seq", TIDE_PG_INT4,
      .comment =
          "Change within the transaction, in the order of keys: see indexer/decode/README.md" },
    { "closed_at", TIDE_PG_TIMESTAMPTZ, .comment = "Close time of the ledger" },
    { "contract", TIDE_PG_TEXT, .keyed = true, .comment = "Contract that owns the entry" },
    { "removed", TIDE_PG_BOOL, .comment = "The entry was removed; value columns are null" },
};
/* Columns of event_rows.log before the slots: those of all events, kind, subject, two addresses,
 * and `listed`. */
enum { SLOTS_FIRST = TIDE_COUNT(event_common) + 5 };
enum { HISTORY_COMMON = TIDE_COUNT(history_common), STATE_COMMON = HISTORY_COMMON - 1 };

static const struct tide_column ledger_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "hash", TIDE_PG_BYTEA, .comment = "SHA-256 of the header, recomputed" },
    { "previous_hash", TIDE_PG_BYTEA, .comment = "Hash of the ledger before" },
    { "closed_at", TIDE_PG_TIMESTAMPTZ, .comment = "Close time" },
    { "protocol", TIDE_PG_INT4, .comment = "Protocol version" },
    { "tx_count", TIDE_PG_INT4, .comment = "Transactions in the ledger" },
    { "our_txs", TIDE_PG_INT4, .comment = "Transactions that touched the deployment" },
    { "events", TIDE_PG_INT4, .comment = "Events kept" },
    { "changes", TIDE_PG_INT4, .comment = "Versions of entries kept" },
    { "raw_events", TIDE_PG_INT4, .comment = "Events kept undecoded" },
    { "raw_states", TIDE_PG_INT4, .comment = "Versions of entries kept undecoded" },
    { "proof", TIDE_PG_INT2, .comment = "0 chained, 1 results checked, 2 events checked" },
    { "calls_verified", TIDE_PG_INT4, .comment = "Calls with events that hash to their result" },
    { "calls_rewritten", TIDE_PG_INT4,
      .comment = "Calls with events that hash to their result after undoing the SAC backfill" },
    { "calls_unverified", TIDE_PG_INT4, .comment = "Calls with events that do not" },
    { "raw_calls", TIDE_PG_INT4, .comment = "Calls with arguments or an answer kept as XDR" },
};

static const struct tide_column tx_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order, from 1" },
    { "hash", TIDE_PG_BYTEA, .comment = "Transaction hash; of a fee bump its own" },
    { "closed_at", TIDE_PG_TIMESTAMPTZ, .comment = "Close time of the ledger" },
    { "source", TIDE_PG_TEXT, .keyed = true, .as = "tx_source",
      .comment = "Source account, which pays the sequence number" },
    { "ok", TIDE_PG_BOOL, .comment = "Succeeded" },
    { "result_code", TIDE_PG_INT4, .as = "tx_result_code", .comment = "TransactionResultCode" },
    { "fee_charged", TIDE_PG_INT8, .comment = "Stroops" },
    { "fee_source", TIDE_PG_TEXT, .keyed = true,
      .comment = "Account that pays the fee: the fee bump's, else the source" },
    { "inner_hash", TIDE_PG_BYTEA, .nullable = true,
      .comment = "Hash of the transaction in a fee bump; null: no fee bump" },
    { "source_muxed_id", TIDE_PG_NUMERIC20, .nullable = true, .as = "tx_source_muxed_id",
      .comment = "Id of a multiplexed source; null: it is not multiplexed" },
    { "fee_source_muxed_id", TIDE_PG_NUMERIC20, .nullable = true,
      .comment = "Id of a multiplexed fee_source; null: it is not multiplexed" },
};

static const struct tide_column call_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order, from 1" },
    { "op", TIDE_PG_INT4, .comment = "Operation, from 0" },
    { "closed_at", TIDE_PG_TIMESTAMPTZ, .comment = "Close time of the ledger" },
    { "hash", TIDE_PG_BYTEA, .comment = "Transaction hash" },
    { "source", TIDE_PG_TEXT, .keyed = true,
      .comment = "Caller: the operation's source account, else the transaction's" },
    { "contract", TIDE_PG_TEXT, .keyed = true, .comment = "Contract called or created" },
    { "fn", TIDE_PG_TEXT, .nullable = true, .keyed = true,
      .comment = "Function; null when the contract was created" },
    { "args", TIDE_PG_JSON, .nullable = true, .is_private = true,
      .comment = "Arguments, null when args_xdr has them; attestations carry a jurisdiction" },
    { "ok", TIDE_PG_BOOL, .comment = "Succeeded" },
    { "ret", TIDE_PG_JSON, .nullable = true,
      .comment = "Answer; null when refused, and when ret_xdr has it" },
    { "result_code", TIDE_PG_INT4, .comment = "InvokeHostFunctionResultCode" },
    { "events", TIDE_PG_INT4, .comment = "Events of the operation" },
    { "changed", TIDE_PG_INT4, .comment = "Ledger entries changed, TTLs apart" },
    { "proof", TIDE_PG_INT2, .comment = "0 unchecked, 1 verified, 2 rewritten, 3 unverified" },
    { "args_xdr", TIDE_PG_BYTEA, .nullable = true, .is_private = true,
      .comment = "Arguments too long or deep for JSON, as XDR SCVal<>" },
    { "ret_xdr", TIDE_PG_BYTEA, .nullable = true, .is_private = true,
      .comment = "Answer too long or deep for JSON, as XDR SCVal" },
    { "source_muxed_id", TIDE_PG_NUMERIC20, .nullable = true,
      .comment = "Id of a multiplexed source; null: it is not multiplexed" },
};

static const struct tide_column seen_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "contract", TIDE_PG_TEXT, .comment = "Contract" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order" },
    { "what", TIDE_PG_TEXT,
      .comment =
          "created: its instance appeared; discovered: the chain names this token; market: a "
          "market does; asset, token: it shows that it is a Stellar asset's contract, or is "
          "not, and is followed; ignored: named, past the limit" },
    { "role", TIDE_PG_TEXT, .comment = "Role" },
    /* name in the deployment file */
    { "name", TIDE_PG_TEXT, .no_digest = true, .comment = "Name" },
};

static const struct tide_column kept_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order, from 1" },
    { "event", TIDE_PG_INT4,
      .comment = "Event within the operation; -1: the call; -2: the call and all its events" },
    { "contract", TIDE_PG_TEXT,
      .comment = "Token that the chain names; empty: what the deployment file names" },
};

static const struct tide_column preimage_columns[] = {
    { "deployment", TIDE_PG_INT2, .no_digest = true,
      .comment = "Deployment, see chain.deployment" },
    { "ledger", TIDE_PG_INT4, .comment = "Ledger sequence" },
    { "tx", TIDE_PG_INT4, .comment = "Transaction in apply order, from 1" },
    { "preimage", TIDE_PG_BYTEA,
      .comment =
          "InvokeHostFunctionSuccessPreImage: answer and events, as its result hashes them" },
};

static const struct tide_column log_columns[] = {
    { "kind", TIDE_PG_TEXT, .keyed = true, .words = "chain.kind",
      .comment = "Name of the event's table" },
    { "subject", TIDE_PG_TEXT, .nullable = true, .keyed = true, .comment = "Pool, market or feed" },
    /* No event names more than two (tests/unit/schema/catalogue/test_catalogue.c). */
    { "addresses", TIDE_PG_TEXT_ARRAY, .keyed = true, .split = 2,
      .comment = "Addresses in it, each once" },
};

static const struct tide_column raw_event_columns[] = {
    { "type", TIDE_PG_INT2, .comment = "0 system, 1 contract" },
    { "reason", TIDE_PG_TEXT, .comment = "Why it was not decoded" },
    { "xdr", TIDE_PG_BYTEA, .is_private = true, .comment = "The ContractEvent" },
};

static const struct tide_column raw_state_columns[] = {
    { "durability", TIDE_PG_INT2, .comment = "0 temporary, 1 persistent" },
    { "reason", TIDE_PG_TEXT, .comment = "Why it was not decoded" },
    { "key_xdr", TIDE_PG_BYTEA, .is_private = true, .comment = "Key, ScVal" },
    { "value_xdr", TIDE_PG_BYTEA, .nullable = true, .is_private = true,
      .comment = "Value, ScVal; null when removed" },
};

static const struct tide_column ttl_columns[] = {
    { "durability", TIDE_PG_INT2, .comment = "0 temporary, 1 persistent" },
    { "live_until", TIDE_PG_INT8, .nullable = true,
      .comment =
          "Last ledger the entry is live at; null: evicted, or removed. Instances of Stellar "
          "assets have no row: transfers of strangers extend them" },
    { "evicted", TIDE_PG_BOOL,
      .comment = "Archived: its last value holds, and a call restores it" },
};

static const enum tide_pg_type pg_types[] = {
    [TIDE_T_BOOL] = TIDE_PG_BOOL,          [TIDE_T_U32] = TIDE_PG_INT8,
    [TIDE_T_U64] = TIDE_PG_NUMERIC20,      [TIDE_T_I128] = TIDE_PG_NUMERIC39,
    [TIDE_T_SYM] = TIDE_PG_TEXT,           [TIDE_T_ADDR] = TIDE_PG_TEXT,
    [TIDE_T_BYTES] = TIDE_PG_BYTEA,        [TIDE_T_B32] = TIDE_PG_BYTEA,
    [TIDE_T_STR] = TIDE_PG_BYTEA,          [TIDE_T_TEXT] = TIDE_PG_TEXT,
    [TIDE_T_ENUM_U32] = TIDE_PG_INT8,      [TIDE_T_ENUM_SYM] = TIDE_PG_TEXT,
    [TIDE_T_VEC_SYM] = TIDE_PG_TEXT_ARRAY, [TIDE_T_VEC_ADDR] = TIDE_PG_TEXT_ARRAY,
    [TIDE_T_VEC_U32] = TIDE_PG_INT8_ARRAY, [TIDE_T_VEC_U64] = TIDE_PG_NUMERIC_ARRAY,
    [TIDE_T_ANY] = TIDE_PG_JSON,           [TIDE_T_MUXED] = TIDE_PG_JSON,
};

static void add_columns(struct tide_table *t, const struct tide_column *columns, size_t count)
{
    assert(t->column_count + count <= TIDE_COLUMNS_MAX);
    memcpy(t->columns + t->column_count, columns, count * sizeof *columns);
    t->column_count += (uint32_t)count;
}

static struct tide_table *new_table(const char *schema, const char *name, enum tide_table_kind kind,
                                    const char *comment)
{
    assert(built.count < TIDE_TABLES_MAX);
    struct tide_table *t = &built.tables[built.count];
    t->schema = schema;
    t->name = name;
    t->kind = kind;
    t->comment = comment;
    t->partitioned = kind != TIDE_TABLE_STATE;
    t->pair = (uint16_t)built.count++;
    t->primary_key = kind == TIDE_TABLE_EVENT     ? "deployment, ledger, tx, op, event"
                     : kind == TIDE_TABLE_HISTORY ? "deployment, key_hash, ledger, tx, seq"
                                                  : "deployment, key_hash";
    return t;
}

/* An index by time. Rows are stored in ledger order, so the least and the greatest time of each 128
 * pages suffice to find a span of time (BRIN). Autovacuum summarizes new pages at the tip. */
#define BY_TIME "USING brin (closed_at) WITH (autosummarize = on)"

static void add_index(struct tide_table *t, const char *columns)
{
    uint32_t i = 0;
    while (i < TIDE_INDEXES_MAX && t->indexes[i])
        i++;
    assert(i < TIDE_INDEXES_MAX); /* otherwise the database would lack the index */
    t->indexes[i] = columns;
}

/* Adds a history table and its state table with the same columns. Returns the index of the history
 * table. */
static uint32_t new_pair(const char *name, const char *comment, const struct tide_column *columns,
                         size_t count, enum tide_life life)
{
    struct tide_table *history = new_table("history", name, TIDE_TABLE_HISTORY, comment);
    struct tide_table *state = new_table("state", name, TIDE_TABLE_STATE, comment);
    add_columns(history, history_common, HISTORY_COMMON);
    add_columns(state, history_common, STATE_COMMON);
    add_columns(history, columns, count);
    add_columns(state, columns, count);
    uint16_t at = history->pair;
    history->pair = state->pair;
    state->pair = at;
    history->life = life;
    for (uint32_t i = HISTORY_COMMON; i < history->column_count; i++)
        history->columns[i].nullable = true; /* a removal has only the key */
    return at;
}

static void log_table(void)
{
    struct tide_table *t = new_table("event", "log", TIDE_TABLE_EVENT,
                                     "Every event, narrow: what lists of mixed kinds page over");
    add_columns(t, event_common, TIDE_COUNT(event_common));
    add_columns(t, log_columns, TIDE_COUNT(log_columns));
    /* Without it a page of a list would seem to be all of it. */
    t->together = "kind, contract, listed, addresses_1";
    /* Events in the order of the ledger: of a kind, contract, address or subject, and of what the
     * lists of a kind are about. GIN has no order: each page of a busy address would read and sort
     * all of its events. */
    add_index(t, "(deployment, kind, ledger)");
    add_index(t, "(deployment, contract, ledger)");
    add_index(t, "(deployment, addresses_1, ledger) WHERE addresses_1 IS NOT NULL");
    add_index(t, "(deployment, addresses_2, ledger) WHERE addresses_2 IS NOT NULL");
    add_index(t, "(deployment, subject, ledger) WHERE subject IS NOT NULL");
    add_index(t, "(deployment, kind, listed, ledger) WHERE listed IS NOT NULL");
    add_index(t, BY_TIME);
}

static void fixed_tables(void)
{
    struct tide_table *t = new_table("chain", "ledger", TIDE_TABLE_CHAIN, "Every ledger indexed");
    add_columns(t, ledger_columns, TIDE_COUNT(ledger_columns));
    t->primary_key = "deployment, ledger";
    t = new_table("chain", "tx", TIDE_TABLE_CHAIN,
                  "Transactions that touched the deployment, failed ones too");
    add_columns(t, tx_columns, TIDE_COUNT(tx_columns));
    t->primary_key = "deployment, ledger, tx";
    add_index(t, "USING hash (hash)");
    add_index(t, "USING hash (inner_hash)");
    t = new_table("chain", "call", TIDE_TABLE_CHAIN,
                  "Calls of the deployment's contracts, refused ones too");
    add_columns(t, call_columns, TIDE_COUNT(call_columns));
    t->primary_key = "deployment, ledger, tx";
    t->where = "t.contract IS NOT NULL";
    t->completes = true;
    add_index(t, "(deployment, source, ledger)");
    add_index(t, BY_TIME);
    t = new_table("chain", "contract_seen", TIDE_TABLE_CHAIN,
                  "Where contracts were created or named");
    add_columns(t, seen_columns, TIDE_COUNT(seen_columns));
    t->primary_key = "deployment, contract, ledger, tx, what";
    t->partitioned = false;
    t->check =
        "CONSTRAINT contract_seen_discovered CHECK (what = 'created' OR what IN ('discovered', "
        "'ignored', 'market', 'asset', 'token') AND role IN ('synth_token', 'stellar_asset'))";
    /* Only rows with what = 'created' are facts of the ledgers. The others say how this index came
     * to know a contract. */
    t->digest_column = "what";
    t->digest_value = "created";
    t = new_table(
        "chain", "kept_for", TIDE_TABLE_CHAIN,
        "Rows of the past that are kept for tokens found later: any one of them suffices");
    add_columns(t, kept_columns, TIDE_COUNT(kept_columns));
    t->primary_key = "deployment, ledger, tx, event, contract";
    t->partitioned = false;
    /* No row has this value, so no row enters the digest. */
    t->digest_column = "contract";
    t->digest_value = "-";
    t = new_table("chain", "preimage", TIDE_TABLE_CHAIN,
                  "Answer and events of calls that are proven to others; without validators in the "
                  "deployment file it is empty");
    add_columns(t, preimage_columns, TIDE_COUNT(preimage_columns));
    t->primary_key = "deployment, ledger, tx";
    /* No digest has these rows: whether they are there depends on the deployment file. */
    t->digest_column = "preimage";
    t->digest_value = "-";

    log_table();
    t = new_table("event", "raw", TIDE_TABLE_EVENT, "Events that could not be decoded");
    add_columns(t, event_common, TIDE_COUNT(event_common));
    add_columns(t, raw_event_columns, TIDE_COUNT(raw_event_columns));
    uint32_t raw = new_pair("raw", "Entries that could not be decoded", raw_state_columns,
                            TIDE_COUNT(raw_state_columns), TIDE_LIFE_COLUMN);
    uint32_t ttl = new_pair("ttl", "How long entries live", ttl_columns, TIDE_COUNT(ttl_columns),
                            TIDE_LIFE_NONE);
    assert(raw == TIDE_TABLE_HISTORY_RAW && ttl == TIDE_TABLE_HISTORY_TTL);
    (void)raw, (void)ttl;
    built.tables[TIDE_TABLE_STATE_TTL].is_view = true;
    built.tables[TIDE_TABLE_STATE_TTL].primary_key = "";
}

static const char *table_name(const struct tide_kind *kind)
{
    char name[96];
    int len = snprintf(name, sizeof name, "%s_%s", tide_role_name(kind->role), kind->id);
    assert(len > 0 && len < 64 && "PostgreSQL cuts names at 63 bytes");
    (void)len;
    return keep_text(name);
}

/* Returns whether the field is stored as a key of chain.word. Private fields are not: every reading
 * role may read chain.word. */
static bool is_word(const struct tide_field *f)
{
    bool word = f->type == TIDE_T_SYM || f->type == TIDE_T_ADDR || f->type == TIDE_T_ENUM_SYM ||
                f->type == TIDE_T_VEC_SYM || f->type == TIDE_T_VEC_ADDR;
    return word && !f->is_private;
}

static size_t kind_columns(const struct tide_kind *kind, struct tide_column *out)
{
    assert(kind->field_count + 2 <= TIDE_COLUMNS_MAX);
    size_t count = 0;
    if (kind->class == TIDE_KIND_INSTANCE) {
        out[count++] =
            (struct tide_column){ "executable", TIDE_PG_TEXT, .keyed = true,
                                  .comment = "contractExecutableWasm, "
                                             "contractExecutableStellarAsset or "
                                             "contractExecutableExternalRef: other contract's "
                                             "code, named in the raw row" };
        out[count++] = (struct tide_column){ "wasm", TIDE_PG_BYTEA, .nullable = true,
                                             .comment = "Hash of the code" };
    }
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        bool nullable = f->place == TIDE_P_SLOT || f->place == TIDE_P_TOPIC_OPT ||
                        f->place == TIDE_P_DATA_OPT || f->place == TIDE_P_TYPE ||
                        f->place == TIDE_P_ACTION;
        out[count++] = (struct tide_column){ f->column,
                                             pg_types[f->type],
                                             .nullable = nullable,
                                             .is_private = f->is_private,
                                             .keyed = is_word(f),
                                             .of_key = f->place == TIDE_P_KEY,
                                             .comment = f->doc };
    }
    if (kind->form_count > 1)
        out[count++] =
            (struct tide_column){ "form", TIDE_PG_INT2,
                                  .comment = "Form in which the event was written, from 0" };
    return count;
}

static void add_indexes(struct tide_table *t, const struct tide_kind *kind)
{
    for (uint32_t i = 0; i < TIDE_KIND_INDEXES_MAX && kind->indexes[i]; i++)
        add_index(t, kind->indexes[i]);
}

static void event_table(struct tide_kind *kind)
{
    struct tide_column columns[TIDE_COLUMNS_MAX];
    size_t count = kind_columns(kind, columns);
    kind->table = (int)built.count;
    struct tide_table *t = new_table("event", table_name(kind), TIDE_TABLE_EVENT, kind->doc);
    add_columns(t, event_common, TIDE_COUNT(event_common));
    add_columns(t, columns, count);
    add_indexes(t, kind);
}

static void entry_tables(struct tide_kind *kind)
{
    struct tide_column columns[TIDE_COLUMNS_MAX];
    size_t count = kind_columns(kind, columns);
    kind->table = (int)new_pair(table_name(kind), kind->doc, columns, count,
                                kind->temporary ? TIDE_LIFE_TEMPORARY : TIDE_LIFE_PERSISTENT);
    kind->state_table = built.tables[kind->table].pair;
    add_indexes(&built.tables[kind->state_table], kind);
    if (kind->by_ledger)
        add_index(&built.tables[kind->table], "(deployment, ledger)");
    built.tables[kind->table].packed = kind->packed;
}

static bool has_keyed(const struct tide_table *t)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (t->columns[i].keyed)
            return true;
    return false;
}

static enum tide_pg_type stored_type(const struct tide_column *column)
{
    if (!column->keyed)
        return column->type;
    if (column->words)
        return TIDE_PG_INT2;
    return column->type == TIDE_PG_TEXT ? TIDE_PG_INT4 : TIDE_PG_INT4_ARRAY;
}

/* Adds the stored form of a column, unless a view that shares the table has one of that name. A row
 * of another view lacks it. */
static void add_stored_column(struct tide_table *to, struct tide_column *column)
{
    struct tide_column stored = *column;
    stored.name = column->as ? column->as : column->name;
    stored.nullable |= to->is_shared;
    for (column->slot = 0; column->slot < to->column_count; column->slot++)
        if (strcmp(to->columns[column->slot].name, stored.name) == 0)
            return;
    if (column->split) {
        stored.type = TIDE_PG_INT4;
        stored.nullable = true;
        for (uint32_t i = 1; i <= column->split; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%u", column->name, i);
            stored.name = keep_text(name);
            add_columns(to, &stored, 1);
        }
        return;
    }
    stored.type = stored_type(column);
    add_columns(to, &stored, 1);
}

/* Stores the calls in the rows of their transactions: a transaction of a contract has one
 * operation, so one call. */
static void store_calls(void)
{
    struct tide_table *t = &built.tables[TIDE_TABLE_CALL], *to = &built.stored[TIDE_TABLE_TX];
    to->name = t->name;
    to->is_shared = true;
    for (uint32_t i = 0; i < t->column_count; i++)
        add_stored_column(to, &t->columns[i]);
    for (uint32_t i = 0; i < TIDE_INDEXES_MAX && t->indexes[i]; i++)
        add_index(to, t->indexes[i]);
    t->stored = to;
}

static const struct tide_column life_column = {
    "life", TIDE_PG_INT8,
    .comment = "Number of the row of history.ttl that this one stands for, and live_until << 32"
};

/* Types of the columns of which the values of several versions fit into an array. */
static const enum tide_pg_type arrays[] = { [TIDE_PG_BOOL] = TIDE_PG_BOOL_ARRAY,
                                            [TIDE_PG_INT4] = TIDE_PG_INT4_ARRAY,
                                            [TIDE_PG_NUMERIC20] = TIDE_PG_NUMERIC_ARRAY,
                                            [TIDE_PG_NUMERIC39] = TIDE_PG_NUMERIC_ARRAY };

static void add_earlier_column(struct tide_table *stored, const struct tide_column *of)
{
    char name[64];
    if ((size_t)of->type >= TIDE_COUNT(arrays) || !arrays[of->type])
        return;
    int len = snprintf(name, sizeof name, TIDE_EARLIER "%s", of->name);
    assert(len > 0 && (size_t)len < sizeof name);
    (void)len;
    const struct tide_column column = { keep_text(name), arrays[of->type], .nullable = true,
                                        .comment = "Of the versions before, oldest first" };
    add_columns(stored, &column, 1);
}

/* Adds the columns of versions that share a row to the stored form of a packed history. Versions
 * of one key have the same key arguments. */
static void add_earlier(const struct tide_table *t, struct tide_table *stored)
{
    enum { TX = 3, SEQ = 4 };
    assert(strcmp(stored->columns[TX].name, "tx") == 0 &&
           strcmp(stored->columns[SEQ].name, "seq") == 0);
    stored->own_columns = stored->column_count;
    add_earlier_column(stored, &stored->columns[TX]);
    add_earlier_column(stored, &stored->columns[SEQ]);
    for (uint32_t i = HISTORY_COMMON; i < t->column_count; i++)
        if (!t->columns[i].of_key)
            add_earlier_column(stored, &stored->columns[i]);
}

/* Makes the stored form of a table with keyed columns. Tables of state store the words themselves:
 * they are small, and lists of the present state are in the order of addresses. */
static void store_keyed(struct tide_table *t, struct tide_table *stored)
{
    char schema[32];
    if (t->kind == TIDE_TABLE_STATE) {
        for (uint32_t i = 0; i < t->column_count; i++)
            t->columns[i].keyed = false;
        return;
    }
    if (!has_keyed(t) || t->stored)
        return;
    int len = snprintf(schema, sizeof schema, "%s_rows", t->schema);
    assert(len > 0 && (size_t)len < sizeof schema);
    (void)len;
    *stored = *t;
    stored->schema = keep_text(schema);
    stored->owner = (uint16_t)(t - built.tables);
    stored->column_count = 0;
    for (uint32_t i = 0; i < t->column_count; i++)
        add_stored_column(stored, &t->columns[i]);
    if (t->life)
        add_columns(stored, &life_column, 1);
    if (t->packed)
        add_earlier(t, stored);
    t->stored = stored;
}

/* ---- one table for the events of all kinds ---- */

static uint8_t stored_place(const struct tide_table *stored, const char *name)
{
    for (uint8_t i = 0; i < stored->column_count; i++)
        if (strcmp(stored->columns[i].name, name) == 0)
            return i;
    assert(false && "a column of event_rows.log");
    return 0;
}

/* Returns the first place behind `after` whose column has the type of the field, and adds one if
 * there is none. */
static uint8_t slot_of_type(struct tide_table *stored, enum tide_pg_type type, uint8_t after)
{
    static const char *const names[] = {
        [TIDE_PG_BOOL] = "bool",        [TIDE_PG_INT2] = "int2", [TIDE_PG_INT4] = "word",
        [TIDE_PG_INT8] = "int8",        [TIDE_PG_TEXT] = "text", [TIDE_PG_NUMERIC20] = "u64",
        [TIDE_PG_NUMERIC39] = "i128",   [TIDE_PG_JSON] = "json", [TIDE_PG_BYTEA] = "bytea",
        [TIDE_PG_INT4_ARRAY] = "words",
    };
    uint32_t number = 1;
    for (uint32_t i = SLOTS_FIRST; i < stored->column_count; i++) {
        if (stored->columns[i].type != type)
            continue;
        if (i > after)
            return (uint8_t)i;
        number++;
    }
    char name[16];
    assert(type < TIDE_COUNT(names) && names[type]);
    snprintf(name, sizeof name, "%s_%u", names[type], number);
    struct tide_column column = { keep_text(name), type, .nullable = true };
    add_columns(stored, &column, 1);
    return (uint8_t)(stored->column_count - 1);
}

/* Returns the place of a field that event.log has too: the subject, and the addresses in their
 * order. More than two addresses never come together, so they are where their turn is. */
static uint8_t place_in_log(const struct tide_table *stored, const struct tide_kind *kind,
                            uint32_t field, bool *in_turn)
{
    uint32_t before = 0, all = 0;
    const struct tide_field *f = &kind->fields[field];
    for (uint32_t i = 0; i < kind->field_count; i++) {
        before += i < field && kind->fields[i].type == TIDE_T_ADDR;
        all += kind->fields[i].type == TIDE_T_ADDR;
    }
    *in_turn = f->type == TIDE_T_ADDR && all > 2;
    if (f->type == TIDE_T_ADDR)
        return (uint8_t)(stored_place(stored, "addresses_1") + (*in_turn ? 0 : before));
    return f->subject && f->type == TIDE_T_SYM ? stored_place(stored, "subject") : 0;
}

/* Returns whether the first further index of the kind begins with the column, and that is a word:
 * the column is then in `listed`. */
static bool is_listed(const struct tide_kind *kind, const struct tide_column *column)
{
    static const char before[] = "(deployment, ";
    const char *index = kind->indexes[0];
    size_t len = strlen(column->name);
    return column->keyed && index && strncmp(index, before, sizeof before - 1) == 0 &&
           strncmp(index + sizeof before - 1, column->name, len) == 0 &&
           strcmp(index + sizeof before - 1 + len, ", ledger)") == 0;
}

/* Gives each column of a kind its place. */
static void assign_slots(struct tide_table *t, struct tide_table *stored,
                         const struct tide_kind *kind)
{
    uint8_t last[TIDE_PG_INT4_ARRAY + 1] = { 0 };
    uint32_t common = TIDE_COUNT(event_common);
    for (uint32_t i = 0; i < common; i++)
        t->columns[i].slot = (uint8_t)i;
    for (uint32_t i = common; i < t->column_count; i++) {
        struct tide_column *column = &t->columns[i];
        bool in_turn = false;
        uint8_t place =
            i - common < kind->field_count ? place_in_log(stored, kind, i - common, &in_turn) : 0;
        enum tide_pg_type type = stored_type(column);
        if (is_listed(kind, column)) {
            column->slot = stored_place(stored, "listed");
            column->also = place;
        } else if (place && !in_turn) {
            column->slot = place;
        } else {
            column->slot = last[type] = slot_of_type(stored, type, last[type]);
            column->also = place;
        }
    }
}

static const struct tide_column *column_named(const struct tide_table *t, const char *name,
                                              size_t len)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strlen(t->columns[i].name) == len && strncmp(t->columns[i].name, name, len) == 0)
            return &t->columns[i];
    return NULL;
}

/* Adds an index of one kind, with the names of the stored columns. */
static void add_kind_index(struct tide_table *stored, const struct tide_table *t,
                           const char *columns)
{
    char text[192];
    size_t at = 0;
    while (*columns) {
        size_t len = strcspn(columns, "(), ");
        const struct tide_column *column = len ? column_named(t, columns, len) : NULL;
        int wrote = snprintf(text + at, sizeof text - at, "%.*s", (int)(len ? len : 1), columns);
        if (column)
            wrote = snprintf(text + at, sizeof text - at, "%s", stored->columns[column->slot].name);
        assert(wrote > 0 && at + (size_t)wrote < sizeof text);
        at += (size_t)wrote;
        columns += len ? len : 1;
    }
    snprintf(text + at, sizeof text - at, " WHERE kind = %u", t->number);
    add_index(stored, keep_text(text));
}

static void store_kind(const struct tide_kind *kind, uint16_t number, struct tide_table *stored)
{
    struct tide_table *t = &built.tables[kind->table];
    char where[32];
    snprintf(where, sizeof where, "t.kind = %u", number);
    t->where = keep_text(where);
    t->number = number;
    t->stored = stored;
    assign_slots(t, stored, kind);
    for (uint32_t i = 0; i < TIDE_INDEXES_MAX && t->indexes[i]; i++) {
        const char *first = t->indexes[i] + strlen("(deployment, ");
        const struct tide_column *column = column_named(t, first, strcspn(first, ","));
        if (i > 0 || !column || !is_listed(kind, column))
            add_kind_index(stored, t, t->indexes[i]);
    }
}

/* Stores the events of all kinds in one table: each column of a kind has a slot of its type, which
 * other kinds use for theirs. A slot that a row does not use takes one bit. */
static void store_events(const struct tide_kind *kinds)
{
    struct tide_table *stored = &built.stored[TIDE_TABLE_EVENT_LOG];
    const struct tide_column listed = { "listed", TIDE_PG_INT4, .nullable = true };
    store_keyed(&built.tables[TIDE_TABLE_EVENT_LOG], stored);
    stored->is_shared = true;
    add_columns(stored, &listed, 1);
    assert(stored->column_count == SLOTS_FIRST);
    for (uint32_t i = 0, number = 0; number < TIDE_EV_COUNT; i++)
        if (kinds[i].class == TIDE_KIND_EVENT)
            store_kind(&kinds[i], (uint16_t)++number, stored);
}

void tide_tables_assign(struct tide_kind *kinds, uint32_t count)
{
    fixed_tables();
    assert(built.count == TIDE_TABLE_FIXED_COUNT);
    for (uint32_t i = 0; i < count; i++) {
        if (kinds[i].class == TIDE_KIND_EVENT)
            event_table(&kinds[i]);
        else
            entry_tables(&kinds[i]);
    }
    store_keyed(&built.tables[TIDE_TABLE_TX], &built.stored[TIDE_TABLE_TX]);
    store_calls();
    store_events(kinds);
    for (uint32_t i = 0; i < built.count; i++)
        store_keyed(&built.tables[i], &built.stored[i]);
}

const struct tide_table *tide_tables(uint32_t *count)
{
    (void)tide_events(); /* builds the catalogue and the tables */
    *count = built.count;
    return built.tables;
}

int tide_table_find(const char *schema, const char *name)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(tables[i].schema, schema) == 0 && strcmp(tables[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct tide_column *tide_table_earlier(const struct tide_table *stored, const char *name)
{
    for (uint32_t i = stored->own_columns; stored->own_columns && i < stored->column_count; i++)
        if (strcmp(stored->columns[i].name + sizeof TIDE_EARLIER - 1, name) == 0)
            return &stored->columns[i];
    return NULL;
}

const char *tide_pg_type_name(enum tide_pg_type type)
{
    static const char *const names[] = {
        [TIDE_PG_BOOL] = "boolean",
        [TIDE_PG_INT2] = "smallint",
        [TIDE_PG_INT4] = "integer",
        [TIDE_PG_INT8] = "bigint",
        [TIDE_PG_NUMERIC20] = "numeric(20,0)",
        [TIDE_PG_NUMERIC39] = "numeric(39,0)",
        [TIDE_PG_TEXT] = "text",
        [TIDE_PG_BYTEA] = "bytea",
        [TIDE_PG_TIMESTAMPTZ] = "timestamp with time zone",
        [TIDE_PG_JSON] = "json",
        [TIDE_PG_TEXT_ARRAY] = "text[]",
        [TIDE_PG_INT8_ARRAY] = "bigint[]",
        [TIDE_PG_NUMERIC_ARRAY] = "numeric[]",
        [TIDE_PG_INT4_ARRAY] = "integer[]",
        [TIDE_PG_BOOL_ARRAY] = "boolean[]",
    };
    assert(type < TIDE_COUNT(names) && names[type]);
    return names[type];
}
