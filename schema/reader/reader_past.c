/* Records as of the close of a ledger, read when they are asked for: one by an index probe, all of
 * a kind by one statement. */
#include "schema/project/record_set.h"
#include "schema/reader/reader_sql.h"
#include "tidemark/history_lookup.h"
#include "tidemark/reader.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SQL_MAX = 32 << 10,
    WHOLE_MAX = 50000 /* most entries of one kind that one answer reads */
};

struct reader_past {
    struct record_set set; /* first: see sink_of */
    struct tide_history history;
    struct tide_buf sql;
    uint32_t whole; /* bit of each kind whose records are all in the set */
    /* Ticks after this time, the start of the answer's window, are not stored: the answer needs
     * the newest one up to it. 0: neither ticks nor trades are stored. */
    uint64_t ticks_till;
    tide_status status; /* the first failure; no statement runs after it */
    struct tide_err err;
};

/* --- into the set ------------------------------------ */

static tide_status past_put(void *self, const struct tide_hot_key *key, const void *record,
                            struct tide_err *err)
{
    struct reader_past *past = self;
    struct tide_hot_sink inner = record_set_sink(&past->set);
    const struct tide_hot_tick *tick = record;
    if (key->bytes[0] == TIDE_HOT_TICK && tick->time > past->ticks_till)
        return TIDE_OK;
    if (key->bytes[0] == TIDE_HOT_TRADE && past->ticks_till == 0)
        return TIDE_OK;
    return inner.put(inner.self, key, record, err);
}

static struct tide_hot_sink sink_of(struct reader_past *past)
{
    struct tide_hot_sink sink = record_set_sink(&past->set);
    sink.put = past_put; /* its self is the set, and so past */
    return sink;
}

static tide_status take_row(void *self, const struct tide_pg_rows *row, struct tide_err *err)
{
    return project_apply_row(self, row, 0, err);
}

/* Runs past->sql and applies its rows. $1 is the deployment, $2 = two; $3 and $4 depend on the
 * statement. */
static void stream_with(struct reader_past *past, uint32_t two, size_t count, const char *three,
                        const char *four)
{
    struct tide_hot_sink into = sink_of(past);
    struct tide_pg_sink sink = { take_row, &into };
    if (past->status != TIDE_OK)
        return;
    const char *sql = project_sql_text(&past->sql, &past->err);
    past->status = sql ? tide_pg_stream(past->history.pg, &sink, sql,
                                        (const char *[]){ TIDE_PG_NUMBER(past->history.deployment),
                                                          TIDE_PG_NUMBER(two), three, four },
                                        count, &past->err)
                       : TIDE_E_MEMORY;
}

/* The same with $3 = the reader's ledger and $4 = a symbol. */
static void stream(struct reader_past *past, uint32_t two, size_t count, const char *symbol)
{
    stream_with(past, two, count, TIDE_PG_NUMBER(past->history.ledger), symbol);
}

/* --- all of a kind ------------------------------------ */

/* Fails with TIDE_E_LIMIT if a source has more than WHOLE_MAX entries: those present and those
 * removed since the ledger. */
static void limit_source(struct reader_past *past, enum project_source_id source)
{
    uint64_t entries;
    if (past->status != TIDE_OK)
        return;
    past->status = tide_pg_value(past->history.pg, project_forms[source].count,
                                 (const char *[]){ TIDE_PG_NUMBER(past->history.deployment),
                                                   TIDE_PG_NUMBER(past->history.ledger),
                                                   TIDE_PG_NUMBER(WHOLE_MAX + 1) },
                                 3, &entries, &past->err);
    if (past->status == TIDE_OK && entries > WHOLE_MAX)
        past->status = tide_fail(&past->err, TIDE_E_LIMIT, "more than %d entries of %s", WHOLE_MAX,
                                 project_sources[source].name);
}

/* Loads all entries of a source. If the source's first column is the key, rows come in key order
 * and the set appends them. In any other order the set moves half of its slots for each row. */
static void load_source(struct reader_past *past, enum project_source_id source, bool removable)
{
    assert(source < PROJECT_SOURCE_COUNT);
    limit_source(past, source);
    project_sql_begin(&past->sql);
    tide_buf_str(&past->sql,
                 removable ? project_forms[source].as_of : project_forms[source].probes);
    /* Tokens that are followed only from a later ledger on are left out: their past was read
     * since. */
    if (source == PROJECT_TOKEN || source == PROJECT_ASSET)
        tide_buf_str(&past->sql, " AND NOT chain.followed_after($1::smallint, contract, $2)");
    tide_buf_str(&past->sql, " ORDER BY first COLLATE \"C\"");
    stream(past, past->history.ledger, 2, NULL);
}

static void need_whole(struct reader_past *past, enum tide_hot_kind kind)
{
    assert(kind < TIDE_HOT_KIND_COUNT);
    static const struct {
        enum tide_hot_kind kind;
        enum project_source_id source;
        bool removable;
    } sources[] = {
        { TIDE_HOT_BLOCKED, PROJECT_BLOCKED, true },
        { TIDE_HOT_FEED, PROJECT_FEED, false },
        { TIDE_HOT_POOL, PROJECT_POOL, false },
        { TIDE_HOT_MARKET, PROJECT_MARKET, false },
        { TIDE_HOT_MARKET, PROJECT_DEBT, false },
        { TIDE_HOT_CONTRACT, PROJECT_TOKEN, false },
        { TIDE_HOT_CONTRACT, PROJECT_ASSET, false },
        { TIDE_HOT_PARTNER, PROJECT_PARTNER, false },
        { TIDE_HOT_CATALOG, PROJECT_CATALOG, false },
        { TIDE_HOT_COLLATERAL, PROJECT_COLLATERAL, false },
    };
    if (past->whole & 1u << kind)
        return;
    past->whole |= 1u << kind;
    for (size_t i = 0; i < TIDE_COUNT(sources); i++)
        if (sources[i].kind == kind)
            load_source(past, sources[i].source, sources[i].removable);
}

/* Reads the last asset of a page, `most` places behind `after`; "" if no more assets follow. Only
 * feeds that existed at the ledger count, so that pages of the past stay the same. */
static void read_end_of_feeds(struct reader_past *past, const char *after, uint32_t most,
                              char end[sizeof(struct tide_hot_symbol) + 1])
{
    struct tide_pg_rows rows;
    *end = 0;
    if (past->status != TIDE_OK)
        return;
    past->status = tide_pg_query(past->history.pg, &rows, reader_sql_end_of_feeds,
                                 (const char *[]){ TIDE_PG_NUMBER(past->history.deployment), after,
                                                   TIDE_PG_NUMBER(most - 1),
                                                   TIDE_PG_NUMBER(past->history.ledger) },
                                 4, &past->err);
    if (past->status != TIDE_OK)
        return;
    if (rows.count == 2)
        snprintf(end, sizeof(struct tide_hot_symbol) + 1, "%s", tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
}

bool reader_past_expect_feeds(struct reader_past *past, const char *after, uint32_t most,
                              struct tide_hot_symbol *end)
{
    assert(most > 0);
    char last[sizeof *end + 1];
    read_end_of_feeds(past, after, most, last);
    past->whole |= 1u << TIDE_HOT_FEED;
    project_sql_begin(&past->sql);
    tide_buf_str(&past->sql, project_forms[PROJECT_FEED].page);
    stream_with(past, past->history.ledger, 4, after, *last ? last : NULL);
    return *last && tide_hot_symbol_of(end, tide_slice_str(last));
}

static tide_status count_vaults(struct reader_past *past, const struct tide_pg_rows *rows,
                                uint32_t at, struct tide_err *err)
{
    assert(at < rows->count);
    struct project_row row = { .rows = rows, .at = at };
    struct tide_hot_symbol symbol = project_symbol(&row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_MARKET, &symbol);
    struct tide_hot_sink sink = sink_of(past);
    struct tide_hot_market market;
    bool found;
    tide_status status = sink.get(sink.self, &key, &market, &found, err);
    struct tide_hot_address token = project_address(&row, 1);
    struct tide_hot_held held = { .collateral = project_amount(&row, 2),
                                  .vaults = project_u64(&row, 3) };
    struct tide_hot_key own = tide_hot_key_held(&symbol, &token);
    market.symbol = symbol;
    market.collateral =
        tide_hot_amount((tide_raw_i128)((tide_raw_u128)tide_hot_i128(market.collateral) +
                                        (tide_raw_u128)tide_hot_i128(held.collateral)));
    market.vaults += held.vaults;
    market.indebted += project_u64(&row, 4);
    if (row.bad)
        return tide_fail(err, TIDE_E_SCHEMA, "vaults: a sum does not fit");
    if (status == TIDE_OK)
        status = sink.put(sink.self, &own, &held, err);
    return status == TIDE_OK ? sink.put(sink.self, &key, &market, err) : status;
}

void reader_past_count_vaults(struct reader_past *past)
{
    struct tide_pg_rows rows;
    if (past->status == TIDE_OK)
        need_whole(past, TIDE_HOT_MARKET);
    if (past->status != TIDE_OK)
        return;
    past->status = tide_pg_query(past->history.pg, &rows, reader_sql_vaults,
                                 (const char *[]){ TIDE_PG_NUMBER(past->history.deployment),
                                                   TIDE_PG_NUMBER(past->history.ledger) },
                                 2, &past->err);
    if (past->status != TIDE_OK)
        return;
    for (uint32_t i = 0; i < rows.count && past->status == TIDE_OK; i++)
        past->status = count_vaults(past, &rows, i, &past->err);
    tide_pg_rows_release(&rows);
}

/* --- one ------------------------------------ */

/* The entries that make a record. The record's own key names them. */
static const struct part {
    enum tide_hot_kind kind;
    enum project_source_id source;
    enum tide_role role;
    const char *variant;
} parts[] = {
    { TIDE_HOT_PERSON, PROJECT_REC, TIDE_ROLE_compliance_registry, "ComplianceRec" },
    { TIDE_HOT_PERSON, PROJECT_FROZEN, TIDE_ROLE_compliance_registry, "Frozen" },
    { TIDE_HOT_PERSON, PROJECT_WHITELIST, TIDE_ROLE_compliance_registry, "Whitelist" },
    { TIDE_HOT_POOL, PROJECT_POOL, TIDE_ROLE_liquidity_pool, "Pool" },
    { TIDE_HOT_FEED, PROJECT_FEED, TIDE_ROLE_oracle, "Feed" },
    { TIDE_HOT_PARTNER, PROJECT_PARTNER, TIDE_ROLE_partner_registry, "Partner" },
};

static struct tide_entry_key entry_of(const struct tide_history *history, const struct part *part,
                                      const struct tide_hot_key *key)
{
    const uint8_t *id = key->bytes + 1;
    struct tide_hot_address who;
    uint32_t number;
    struct tide_entry_key entry = { .contract = history->contracts[part->role],
                                    .variant = part->variant,
                                    .count = 1 };
    memcpy(&who, id, sizeof who);
    memcpy(&number, id, sizeof number);
    if (part->kind == TIDE_HOT_PERSON)
        entry.parts[0] = TIDE_PART_ADDRESS(who);
    else if (part->kind == TIDE_HOT_PARTNER)
        entry.parts[0] = TIDE_PART_U32(__builtin_bswap32(number));
    else
        entry.parts[0] = TIDE_PART_SYMBOL(
            tide_slice_of(id, strnlen((const char *)id, sizeof(struct tide_hot_symbol))));
    return entry;
}

/* Loads the records of those keys, which are of one kind, with one statement for each part. */
static tide_status load_keys(struct tide_history *history, struct record_set *set,
                             const struct tide_hot_key *keys, uint32_t count, struct tide_err *err)
{
    struct tide_hot_sink sink = record_set_sink(set);
    struct tide_entry_key *entries = calloc(count + 1, sizeof *entries);
    tide_status status = entries ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "entries");
    for (size_t p = 0; p < TIDE_COUNT(parts) && status == TIDE_OK; p++) {
        if (parts[p].kind != keys[0].bytes[0])
            continue;
        for (uint32_t i = 0; i < count; i++)
            entries[i] = entry_of(history, &parts[p], &keys[i]);
        status = tide_history_records(history, &sink, parts[p].source, entries, count, err);
    }
    free(entries);
    return status;
}

/* Gives an unknown person an empty record: the rules treat it like none, and it saves a second
 * look-up. */
static tide_status put_empty(struct record_set *set, const struct tide_hot_key *key,
                             struct tide_err *err)
{
    static const struct tide_hot_person empty;
    struct tide_hot_sink sink = record_set_sink(set);
    return record_set_find(set, key) ? TIDE_OK : sink.put(sink.self, key, &empty, err);
}

void reader_past_expect(struct reader_past *past, const struct tide_hot_address *who,
                        uint32_t count)
{
    struct tide_hot_key *keys = calloc(count + 1, sizeof *keys);
    if (past->status == TIDE_OK && !keys)
        past->status = tide_fail(&past->err, TIDE_E_MEMORY, "people");
    for (uint32_t i = 0; i < count && past->status == TIDE_OK; i++)
        keys[i] = tide_hot_key_address(TIDE_HOT_PERSON, &who[i]);
    if (past->status == TIDE_OK && count)
        past->status = load_keys(&past->history, &past->set, keys, count, &past->err);
    for (uint32_t i = 0; i < count && past->status == TIDE_OK; i++)
        past->status = put_empty(&past->set, &keys[i], &past->err);
    free(keys);
}

static void load_one(struct reader_past *past, const struct tide_hot_key *key)
{
    enum tide_hot_kind kind = (enum tide_hot_kind)key->bytes[0];
    struct tide_hot_address who;
    memcpy(&who, key->bytes + 1, sizeof who);
    if (kind == TIDE_HOT_PERSON)
        reader_past_expect(past, &who, 1);
    else if (kind == TIDE_HOT_POOL || kind == TIDE_HOT_FEED || kind == TIDE_HOT_PARTNER)
        past->status = load_keys(&past->history, &past->set, key, 1, &past->err);
    else
        need_whole(past, kind);
}

const void *reader_past_get(struct reader_past *past, const struct tide_hot_key *key)
{
    const void *record = record_set_find(&past->set, key);
    bool looked = past->whole & 1u << key->bytes[0];
    bool in_parts = key->bytes[0] == TIDE_HOT_MARKET || key->bytes[0] == TIDE_HOT_CONTRACT;
    if (past->status != TIDE_OK || looked || (record && !in_parts))
        return record;
    load_one(past, key);
    return record_set_find(&past->set, key);
}

void reader_past_scan(struct reader_past *past, const struct tide_hot_key *prefix,
                      tide_hot_each_fn *each, void *self)
{
    assert(prefix->bytes[0] != TIDE_HOT_PERSON && prefix->bytes[0] != TIDE_HOT_VAULT);
    if (past->status == TIDE_OK)
        need_whole(past, (enum tide_hot_kind)prefix->bytes[0]);
    record_set_scan(&past->set, prefix, each, self);
}

bool reader_past_blocked(struct reader_past *past, uint32_t code)
{
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_BLOCKED, code);
    return reader_past_get(past, &key) != NULL;
}

/* --- the last day's trade ------------------------------------ */

/* Returns the last ledger that closed in that second or before, 0 if there is none. */
static uint32_t ledger_before(struct reader_past *past, uint64_t time)
{
    uint64_t ledger;
    past->status = tide_pg_value(
        past->history.pg,
        "SELECT ledger FROM chain.ledger WHERE deployment = $1 AND ledger <= $2 AND"
        " closed_at < to_timestamp($3::bigint + 1) ORDER BY ledger DESC LIMIT 1",
        (const char *[]){ TIDE_PG_NUMBER(past->history.deployment),
                          TIDE_PG_NUMBER(past->history.ledger), TIDE_PG_NUMBER(time) },
        3, &ledger, &past->err);
    return (uint32_t)ledger;
}

/* Adds the pool's tick as of that ledger, without its other records: callers hold those of now. */
static void load_tick(struct reader_past *past, const struct tide_hot_symbol *id, uint32_t ledger)
{
    struct tide_history history = past->history;
    struct tide_hot_sink sink = sink_of(past);
    struct tide_hot_key end = tide_hot_key_tick(id, past->ticks_till);
    struct tide_hot_key pool = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    struct record_set then = { 0 };
    history.ledger = ledger;
    past->status = load_keys(&history, &then, &pool, 1, &past->err);
    const struct tide_hot_tick *tick =
        record_set_floor(&then, &end, 1 + sizeof(struct tide_hot_symbol));
    if (past->status == TIDE_OK && tick) {
        struct tide_hot_key key = tide_hot_key_tick(id, tick->time);
        past->status = sink.put(sink.self, &key, tick, &past->err);
    }
    record_set_release(&then);
}

/* Loads the pool's tick from before the window, and applies each swap since to the sums. */
static void load_trade(struct reader_past *past, const struct tide_hot_symbol *id)
{
    static const struct tide_hot_trade none;
    char symbol[sizeof id->text + 1] = "";
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_TRADE, id);
    struct tide_hot_sink sink = sink_of(past);
    memcpy(symbol, id->text, sizeof id->text);
    past->status = sink.put(sink.self, &key, &none, &past->err); /* sums of an earlier call */
    uint32_t before = past->status == TIDE_OK ? ledger_before(past, past->ticks_till) : 0;
    if (before)
        load_tick(past, id, before);
    project_sql_begin(&past->sql);
    tide_buf_str(&past->sql, project_forms[PROJECT_SWAP].since);
    tide_buf_str(&past->sql, " AND pool_id = $4 ORDER BY ledger, tx, op, seq");
    stream(past, before, 4, symbol);
}

const void *reader_past_floor(struct reader_past *past, const struct tide_hot_key *key,
                              size_t prefix_len)
{
    struct tide_hot_symbol id;
    uint64_t start;
    assert(key->bytes[0] == TIDE_HOT_TICK);
    memcpy(&id, key->bytes + 1, sizeof id);
    memcpy(&start, key->bytes + 1 + sizeof id, sizeof start);
    start = __builtin_bswap64(start);
    if (past->status == TIDE_OK) {
        past->ticks_till = start;
        load_trade(past, &id);
        past->ticks_till = 0;
    }
    return record_set_floor(&past->set, key, prefix_len);
}

/* --- open ------------------------------------ */

static tide_status put_ledger(struct reader_past *past, struct tide_err *err)
{
    const struct tide_history *history = &past->history;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_sink sink = sink_of(past);
    struct tide_hot_meta meta = { .deployment = history->deployment,
                                  .ledger = history->ledger,
                                  .close_time = history->closed_ms / 1000,
                                  .close_ms = (uint16_t)(history->closed_ms % 1000) };
    memcpy(meta.hash, history->ledger_hash, sizeof meta.hash);
    memcpy(meta.protocol, history->protocol, sizeof meta.protocol);
    return sink.put(sink.self, &key, &meta, err);
}

static tide_status load_instance(struct reader_past *past, enum project_source_id source,
                                 enum tide_role role, struct tide_err *err)
{
    assert(role < TIDE_ROLE_COUNT);
    struct tide_hot_sink sink = sink_of(past);
    struct tide_entry_key key = { .contract = past->history.contracts[role] };
    return tide_history_records(&past->history, &sink, source, &key, 1, err);
}

static tide_status load_meta(struct reader_past *past, struct tide_err *err)
{
    struct tide_hot_sink sink = sink_of(past);
    tide_status status = put_ledger(past, err);
    if (status == TIDE_OK)
        status = project_contracts(past->history.pg, past->history.deployment, past->history.ledger,
                                   &sink, err);
    if (status == TIDE_OK)
        status = load_instance(past, PROJECT_POOLS, TIDE_ROLE_liquidity_pool, err);
    if (status == TIDE_OK)
        status = load_instance(past, PROJECT_ENGINE, TIDE_ROLE_synthetic_engine, err);
    if (status == TIDE_OK)
        status = load_instance(past, PROJECT_GOVERNANCE, TIDE_ROLE_dao_governance, err);
    return status;
}

static void release_past(struct reader_past *past)
{
    record_set_release(&past->set);
    tide_buf_release(&past->sql);
    free(past);
}

tide_status reader_past_open(struct reader_past **out, const struct tide_hot_meta **meta,
                             struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                             struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct reader_past *past = calloc(1, sizeof *past);
    if (!past)
        return tide_fail(err, TIDE_E_MEMORY, "reader");
    tide_buf_init(&past->sql, SQL_MAX);
    tide_status status = tide_history_open(&past->history, pg, deployment, ledger, err);
    if (status == TIDE_OK)
        status = load_meta(past, err);
    if (status != TIDE_OK) {
        release_past(past);
        return status;
    }
    *meta = record_set_find(&past->set, &key);
    *out = past;
    return TIDE_OK;
}

tide_status reader_past_close(struct reader_past *past, struct tide_err *err)
{
    tide_status status = past->status;
    if (status != TIDE_OK)
        *err = past->err;
    release_past(past);
    return status;
}
