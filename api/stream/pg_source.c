/* The stream's source in PostgreSQL: figures, connection, head, blocked jurisdictions, compliance
 * records and present prices. Pages of ledgers are in pg_page.c. */
#include "api/stream/pg_source.h"
#include "api/stream/stream.h"
#include "tidemark/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LIST_MAX = 64 << 10, /* bytes of a list of key hashes, as a statement's parameter */
    BLOCKS_MAX = 1 << 20 /* changes of jurisdictions that are kept in memory */
};

tide_status stream_pg_open(struct stream_pg **out, const struct stream_pg_options *options,
                           struct tide_err *err)
{
    struct stream_pg *pg = calloc(1, sizeof *pg);
    if (!pg)
        return tide_fail(err, TIDE_E_MEMORY, "stream: source");
    pg->options = *options;
    pthread_mutex_init(&pg->mutex, NULL);
    *out = pg;
    return TIDE_OK;
}

void stream_pg_close(struct stream_pg *pg)
{
    if (!pg)
        return;
    tide_pg_close(pg->pg);
    free(pg->blocks);
    pthread_mutex_destroy(&pg->mutex);
    free(pg);
}

/* --- the indexer's figures: heartbeat and counters, read while the stream waits ------------- */

static const char figures_sql[] = "SELECT h.state"
#define TIDE_FIGURE(member, type, expression) ", " expression
#include "api/stream/figures.def"
#undef TIDE_FIGURE
                                  " FROM chain.cursor AS c LEFT JOIN chain.heartbeat AS h"
                                  " ON h.deployment = c.deployment WHERE c.deployment = $1";

#define READ_U32(column)   (uint32_t) tide_pg_u64(rows, 0, column)
#define READ_U64(column)   tide_pg_u64(rows, 0, column)
#define READ_BOOL(column)  tide_pg_bool(rows, 0, column)
#define READ_MILLI(column) (double)tide_pg_u64(rows, 0, column) / 1000

static struct stream_figures read_figures(const struct tide_pg_rows *rows)
{
    uint32_t column = 0;
    struct stream_figures f = { .known = true,
                                .asked_ms = tide_now_ms(),
                                .has_heartbeat = !tide_pg_is_null(rows, 0, 0) };
    snprintf(f.state, sizeof f.state, "%s", tide_pg_text(rows, 0, column++));
#define TIDE_FIGURE(member, type, expression) f.member = READ_##type(column++);
#include "api/stream/figures.def"
#undef TIDE_FIGURE
    assert(column == rows->columns);
    return f;
}

/* Reads the figures if they are STREAM_FIGURES_MS old. */
static void refresh_figures(struct stream_pg *pg)
{
    struct tide_pg_rows rows;
    struct tide_err err;
    if (pg->figures.known && tide_now_ms() - pg->figures.asked_ms < STREAM_FIGURES_MS)
        return;
    if (tide_pg_execute(pg->pg, &rows, "figures", (const char *[]){ pg->selected.text }, 1, &err) !=
        TIDE_OK)
        return; /* the next read of the head reports the failure */
    if (rows.count == 1) {
        struct stream_figures figures = read_figures(&rows);
        pthread_mutex_lock(&pg->mutex);
        pg->figures = figures;
        pthread_mutex_unlock(&pg->mutex);
    }
    tide_pg_rows_release(&rows);
}

void stream_pg_figures(struct stream_pg *pg, struct stream_figures *out)
{
    pthread_mutex_lock(&pg->mutex);
    *out = pg->figures;
    pthread_mutex_unlock(&pg->mutex);
}

/* --- connection -------------------------------------------------------------------------- */

/* Prepares the statements. All read few rows by an index: sequential scans are disabled, so that
 * stale planner statistics cannot choose one. A standby cannot listen. */
static tide_status prepare_statements(struct stream_pg *pg, struct tide_err *err)
{
    static const struct {
        const char *name, *sql;
    } all[] = { { "head", stream_sql_head },
                { "figures", figures_sql },
                { "blocks", stream_sql_blocks },
                { "people", stream_sql_people },
                { "prices", stream_sql_prices },
                { "log", stream_sql_log },
                { "ledgers", stream_sql_ledgers },
                { "changes", stream_sql_changes },
                { "price_changes", stream_sql_price_changes } };
    tide_status status =
        tide_pg_run(pg->pg, "SET enable_seqscan = off; SET statement_timeout = '10s'", "SET", err);
    for (size_t i = 0; i < TIDE_COUNT(all) && status == TIDE_OK; i++)
        status = tide_pg_prepare(pg->pg, all[i].name, all[i].sql, err);
    if (status == TIDE_OK && !pg->selected.standby)
        status = tide_pg_listen(pg->pg, "tidemark", err);
    return status;
}

/* Discards what was read of the previous deployment. */
static void reset_deployment(struct stream_pg *pg)
{
    pg->head = (struct stream_head){ .deployment = pg->selected.id };
    pg->age = (struct tide_age){ 0 };
    pg->block_count = pg->blocks_to = 0;
}

/* Connects and prepares, unless the connection is alive and still serves the selected
 * deployment. */
static tide_status connect_now(struct stream_pg *pg, struct tide_err *err)
{
    struct tide_pg_options to = { .conninfo = pg->options.conninfo,
                                  .application = "tidemark-stream",
                                  .silence_ms = STREAM_PG_SILENCE_MS,
                                  .stopped = pg->options.stopped,
                                  .stopped_self = pg->options.stopped_self };
    if (pg->pg && tide_pg_alive(pg->pg) && pg->prepared) {
        tide_status status = tide_deployment_select_refresh(pg->options.select, pg->pg, err);
        if (status != TIDE_OK ||
            tide_deployment_select_is_current(pg->options.select, &pg->selected))
            return status;
    }
    pg->prepared = false;
    tide_status status =
        tide_deployment_select_connect(&pg->pg, &to, pg->options.select, &pg->selected, err);
    if (status == TIDE_OK && pg->head.deployment != pg->selected.id)
        reset_deployment(pg);
    if (status == TIDE_OK)
        status = prepare_statements(pg, err);
    if (status == TIDE_OK)
        status = tide_history_open(&pg->history, pg->pg, pg->head.deployment, 0, err);
    pg->prepared = status == TIDE_OK;
    return status;
}

/* --- blocked jurisdictions: few, so all changes are kept in memory -------------------------- */

static tide_status add_block(struct stream_pg *pg, struct stream_block block, struct tide_err *err)
{
    if (pg->block_count == pg->block_max) {
        uint32_t max = pg->block_max ? 2 * pg->block_max : 64;
        struct stream_block *blocks =
            max > BLOCKS_MAX ? NULL : realloc(pg->blocks, max * sizeof *blocks);
        if (!blocks)
            return tide_fail(err, TIDE_E_LIMIT,
                             "stream: more than %u blocks and unblocks of jurisdictions",
                             pg->block_count);
        pg->blocks = blocks;
        pg->block_max = max;
    }
    assert(pg->block_count < pg->block_max);
    pg->blocks[pg->block_count++] = block;
    return TIDE_OK;
}

/* Reads the changes since blocks_to. On failure the list stays as it was. */
static tide_status read_blocks(struct stream_pg *pg, struct tide_err *err)
{
    char from[16], to[16];
    struct tide_pg_rows rows;
    if (pg->blocks_to >= pg->head.ledger)
        return TIDE_OK;
    snprintf(from, sizeof from, "%u", pg->blocks_to);
    snprintf(to, sizeof to, "%u", pg->head.ledger);
    tide_status status = tide_pg_execute(pg->pg, &rows, "blocks",
                                         (const char *[]){ pg->selected.text, from, to }, 3, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 3);
    uint32_t before = pg->block_count;
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        status = add_block(pg,
                           (struct stream_block){ .code = (uint32_t)tide_pg_u64(&rows, i, 0),
                                                  .ledger = (uint32_t)tide_pg_u64(&rows, i, 1),
                                                  .blocked = !tide_pg_bool(&rows, i, 2) },
                           err);
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        pg->blocks_to = pg->head.ledger;
    else
        pg->block_count = before;
    return status;
}

static bool source_blocked(void *self, uint32_t code, uint32_t ledger)
{
    struct stream_pg *pg = self;
    for (uint32_t i = pg->block_count; i-- > 0;)
        if (pg->blocks[i].code == code && pg->blocks[i].ledger <= ledger)
            return pg->blocks[i].blocked;
    return false;
}

/* --- callbacks of the stream ------------------------------------------------------------------ */

/* Reads the head's row. asked_ms and wall_ms are this host's clocks from before the query, so
 * that the age is never too small. */
static void read_head_row(struct stream_pg *pg, const struct tide_pg_rows *rows, int64_t asked_ms,
                          int64_t wall_ms)
{
    enum { LEDGER, CLOSED, FIRST, ARCHIVED_FROM, ARCHIVED_TO, UNDECODED, FORKED, PARTS, SIGN };
    struct tide_age_sign sign = tide_age_read(rows, 0, SIGN);
    pg->head.ledger = (uint32_t)tide_pg_u64(rows, 0, LEDGER);
    pg->head.closed_ms = tide_pg_u64(rows, 0, CLOSED);
    pg->head.first = (uint32_t)tide_pg_u64(rows, 0, FIRST);
    pg->head.archived_from = (uint32_t)tide_pg_u64(rows, 0, ARCHIVED_FROM);
    pg->head.archived_to = (uint32_t)tide_pg_u64(rows, 0, ARCHIVED_TO);
    pg->head.age_ms = tide_age_of(&pg->age, &sign, wall_ms, asked_ms);
    pg->head.registry_undecoded = tide_pg_bool(rows, 0, UNDECODED);
    pg->head.forked = tide_pg_bool(rows, 0, FORKED);
    pg->parts = tide_pg_u64(rows, 0, PARTS);
    if (sign.standby != pg->selected.standby)
        /* The standby was promoted: the next read of the head reconnects, and listens */
        pg->prepared = false;
}

static tide_status source_head(void *self, struct stream_head *out, struct tide_err *err)
{
    struct stream_pg *pg = self;
    struct tide_pg_rows rows;
    tide_status status = connect_now(pg, err);
    if (status != TIDE_OK)
        return status;
    const struct tide_clock *clock = tide_clock_system();
    int64_t asked_ms = clock->now_ms(clock->self), wall_ms = clock->wall_ms(clock->self);
    status = tide_pg_execute(pg->pg, &rows, "head", (const char *[]){ pg->selected.text }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 1 && tide_pg_u64(&rows, 0, 0) > 0 && !tide_pg_is_null(&rows, 0, 2)) {
        read_head_row(pg, &rows, asked_ms, wall_ms);
        status = read_blocks(pg, err);
    } else {
        status = tide_fail(err, TIDE_E_MISSING, "no ledger is indexed yet");
    }
    tide_pg_rows_release(&rows);
    *out = pg->head;
    return status;
}

/* Uses the wait for refreshing the figures. A standby cannot notify, and a lost connection
 * cannot wait: both sleep. */
static void source_wait(void *self, int ms, bool *news)
{
    struct stream_pg *pg = self;
    struct tide_err err;
    const struct tide_clock *clock = tide_clock_system();
    *news = pg->selected.standby; /* a standby sends no notification: poll it */
    if (pg->prepared)
        refresh_figures(pg);
    if (!pg->prepared || pg->selected.standby || tide_pg_wait(pg->pg, ms, news, &err) != TIDE_OK)
        clock->sleep_ms(clock->self, ms);
}

/* Appends the hash of one of an address's keys to a PostgreSQL array. */
static tide_status put_hash(struct stream_pg *pg, struct tide_buf *list, const char *variant,
                            const struct tide_hot_address *who, struct tide_err *err)
{
    char text[TIDE_KEY_TEXT];
    struct tide_entry_key key = {
        .contract = pg->history.contracts[TIDE_ROLE_compliance_registry],
        .variant = variant,
        .count = 1,
        .parts = { TIDE_PART_ADDRESS(*who) },
    };
    tide_status status = tide_history_key(text, &key, err);
    if (status == TIDE_OK)
        tide_buf_putf(list, "%s%s", list->len > 1 ? "," : "", text + 2); /* without "\\x" */
    return status;
}

static void read_person(struct tide_hot_person *person, const struct tide_pg_rows *rows,
                        uint32_t row)
{
    enum { RECORDED = 2, STATUS, JURISDICTION, EXPIRES, FROZEN };
    *person = (struct tide_hot_person){
        .recorded = tide_pg_bool(rows, row, RECORDED),
        .status = (uint32_t)tide_pg_u64(rows, row, STATUS),
        .jurisdiction = (uint32_t)tide_pg_u64(rows, row, JURISDICTION),
        .expires_at = tide_pg_u64(rows, row, EXPIRES),
        .frozen = tide_pg_bool(rows, row, FROZEN),
    };
}

/* Reads all records in one statement, by the hashes of their keys. Without a compliance registry
 * no hash is sent, and only the close time is read. */
static tide_status source_people(void *self, uint32_t ledger,
                                 const struct tide_hot_address *addresses, uint32_t count,
                                 struct tide_hot_person *out, uint64_t *closed_ms,
                                 struct tide_err *err)
{
    assert(count <= TIDE_STREAM_NAMES_MAX);
    struct stream_pg *pg = self;
    struct tide_buf rec, frozen;
    struct tide_pg_rows rows;
    char at[16];
    tide_status status = TIDE_OK;
    tide_buf_init(&rec, LIST_MAX);
    tide_buf_init(&frozen, LIST_MAX);
    snprintf(at, sizeof at, "%u", ledger);
    tide_buf_str(&rec, "{");
    tide_buf_str(&frozen, "{");
    bool registry = pg->history.contracts[TIDE_ROLE_compliance_registry].kind != 0;
    for (uint32_t i = 0; i < count && registry && status == TIDE_OK; i++) {
        status = put_hash(pg, &rec, "ComplianceRec", &addresses[i], err);
        if (status == TIDE_OK)
            status = put_hash(pg, &frozen, "Frozen", &addresses[i], err);
    }
    tide_buf_put(&rec, "}", 2);
    tide_buf_put(&frozen, "}", 2);
    if (status == TIDE_OK && (rec.failed || frozen.failed))
        status = tide_fail(err, TIDE_E_MEMORY, "stream: keys");
    if (status == TIDE_OK)
        status = tide_pg_execute(pg->pg, &rows, "people",
                                 (const char *[]){ pg->selected.text, at, (const char *)rec.ptr,
                                                   (const char *)frozen.ptr },
                                 4, err);
    tide_buf_release(&rec);
    tide_buf_release(&frozen);
    if (status != TIDE_OK)
        return status;
    assert(rows.count > 0 && rows.columns == 7); /* one row even without addresses */
    memset(out, 0, count * sizeof *out);
    *closed_ms = tide_pg_u64(&rows, 0, 0);
    for (uint32_t i = 0; i < rows.count; i++)
        if (!tide_pg_is_null(&rows, i, 1) && tide_pg_u64(&rows, i, 1) < count)
            read_person(&out[tide_pg_u64(&rows, i, 1)], &rows, i);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Writes a PostgreSQL array of symbols. They are quoted, because an asset may be called NULL;
 * symbols contain nothing to escape. */
static void write_symbols(char *out, const struct tide_hot_symbol *symbols, uint32_t count)
{
    *out++ = '{';
    for (uint32_t i = 0; i < count; i++) {
        tide_slice text = tide_hot_symbol_slice(&symbols[i]);
        out = stpcpy(out, i ? ",\"" : "\"");
        memcpy(out, text.ptr, text.len);
        out = stpcpy(out + text.len, "\"");
    }
    memcpy(out, "}", 2);
}

/* Makes a piece of a page of prices, or returns NULL without memory. */
static struct stream_piece *make_prices(const struct tide_pg_rows *rows, uint32_t ledger)
{
    enum { TIME = 2, BYTES_MAX = 4 << 20 };
    assert(rows->count <= STREAM_PAGE_PRICES && rows->columns == TIME + 1);
    struct stream_piece *piece = calloc(1, sizeof *piece);
    if (!piece)
        return NULL;
    piece->ledger = ledger;
    piece->closed_ms = rows->count ? tide_pg_u64(rows, 0, TIME) : 0;
    piece->end = stream_whole(ledger);
    tide_buf_init(&piece->bytes, BYTES_MAX);
    piece->notes = calloc(rows->count + 1u, sizeof *piece->notes);
    for (uint32_t i = 0; piece->notes && i < rows->count; i++)
        stream_pg_price(piece, rows, i, 0);
    if (!piece->notes || piece->bytes.failed) {
        stream_piece_free(piece);
        return NULL;
    }
    stream_pg_resolve_slices(piece);
    piece->last = rows->count < STREAM_PAGE_PRICES || piece->note_count == 0;
    if (!piece->last)
        piece->end = piece->notes[piece->note_count - 1].position;
    return piece;
}

static tide_status source_prices(void *self, const struct stream_prices_ask *ask,
                                 struct stream_piece **out, struct tide_err *err)
{
    struct stream_pg *pg = self;
    struct tide_pg_rows rows;
    char at[16], limit[16], after[sizeof ask->after.text + 1];
    char wanted[TIDE_STREAM_NAMES_MAX * (sizeof ask->assets->text + 3) + 3];
    assert(ask->count <= TIDE_STREAM_NAMES_MAX);
    snprintf(at, sizeof at, "%u", ask->ledger);
    snprintf(limit, sizeof limit, "%u", STREAM_PAGE_PRICES);
    snprintf(after, sizeof after, "%.*s", TIDE_SLICE_FMT(tide_hot_symbol_slice(&ask->after)));
    write_symbols(wanted, ask->assets, ask->count);
    const char *values[] = { pg->selected.text, at, ask->count ? wanted : NULL, after, limit };
    tide_status status = tide_pg_execute(pg->pg, &rows, "prices", values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    *out = make_prices(&rows, ask->ledger);
    tide_pg_rows_release(&rows);
    return *out ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "stream: prices");
}

struct stream_source stream_pg_source(struct stream_pg *pg)
{
    return (struct stream_source){ .self = pg,
                                   .head = source_head,
                                   .wait = source_wait,
                                   .read = stream_pg_read,
                                   .people = source_people,
                                   .blocked = source_blocked,
                                   .prices = source_prices };
}
