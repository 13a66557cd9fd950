/* Export of events: a merge of all event tables in the order of the ledger. */
#include "indexer/decode/raw.h"
#include "indexer/export/cursor.h"
#include "indexer/export/export.h"
#include "indexer/export/value.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/table.h"

#include <stdlib.h>

enum event_column {
    EVENT_LEDGER,
    EVENT_CLOSE_TIME,
    EVENT_TX,
    EVENT_OP,
    EVENT_EVENT,
    EVENT_HASH,
    EVENT_TYPE,
    EVENT_CONTRACT,
    EVENT_ROLE,
    EVENT_TOPICS,
    EVENT_DATA,
};

const char *const tide_export_event_columns[] = { "ledger", "closeTime", "tx",   "op",
                                                  "event",  "hash",      "type", "contract",
                                                  "role",   "topics",    "data", NULL };

/* Columns of every table's query; the kind's fields follow. */
enum { AT_LEDGER, AT_TX, AT_OP, AT_EVENT, AT_TIME, AT_CONTRACT, AT_FIELDS };

static const char common_sql[] = "t.ledger, t.tx, t.op, t.event, "
                                 "chain.unix(t.closed_at), t.contract";

/* The events of one table in order. */
struct stream {
    const struct tide_kind *kind; /* NULL: event.raw */
    struct tide_export_cursor cursor;
    uint64_t order[4]; /* ledger, tx, op, event of the current row */
};

/* All streams, and the hashes of transactions beside them. */
struct merge {
    struct tide_export *x;
    struct tide_export_cursor hashes; /* ledger, tx, hash of all transactions */
    uint32_t count;
    struct stream *streams; /* one for each kind of the catalogue, and one for event.raw */
};

static tide_slice field_text(const void *self, uint32_t field)
{
    const struct stream *stream = self;
    return tide_cursor_text(&stream->cursor, AT_FIELDS + field);
}

static bool field_null(const void *self, uint32_t field)
{
    const struct stream *stream = self;
    return tide_cursor_null(&stream->cursor, AT_FIELDS + field);
}

static void read_order(struct stream *stream)
{
    for (uint32_t i = 0; i < 4 && stream->cursor.live; i++)
        stream->order[i] = tide_cursor_u64(&stream->cursor, i);
}

static void put_where(struct tide_buf *sql, const struct tide_export *x)
{
    tide_buf_putf(sql, " WHERE t.deployment = %u AND t.ledger BETWEEN %u AND %u", x->deployment,
                  x->from, x->to);
}

static tide_status open_stream(struct merge *m, struct stream *stream, uint32_t id,
                               struct tide_err *err)
{
    struct tide_buf sql;
    const struct tide_kind *kind = stream->kind;
    uint32_t tables;
    const struct tide_table *table =
        tide_tables(&tables) + (kind ? kind->table : (int)TIDE_TABLE_EVENT_RAW);
    tide_buf_init(&sql, 32u << 10);
    tide_buf_putf(&sql, "SELECT %s", common_sql);
    for (uint32_t i = 0; kind && i < kind->field_count; i++) {
        tide_buf_str(&sql, ", ");
        tide_export_value_select(&sql, "t", kind->fields[i].column, kind->fields[i].type);
    }
    if (kind && kind->form_count > 1)
        tide_buf_str(&sql, ", t.form");
    if (!kind)
        tide_buf_str(&sql, ", encode(t.xdr, 'hex')");
    tide_buf_putf(&sql, " FROM \"%s\".\"%s\" AS t", table->schema, table->name);
    put_where(&sql, m->x);
    tide_buf_str(&sql, " ORDER BY t.ledger, t.tx, t.op, t.event");
    tide_status status = tide_export_cursor_open(&stream->cursor, m->x->pg, id, &sql, err);
    tide_buf_release(&sql);
    read_order(stream);
    return status;
}

static tide_status open_all(struct merge *m, struct tide_err *err)
{
    assert(m->count == 0);
    struct tide_buf sql;
    tide_buf_init(&sql, 4096);
    tide_buf_str(&sql, "SELECT t.ledger, t.tx, encode(t.hash, 'hex') FROM chain.tx AS t");
    put_where(&sql, m->x);
    tide_buf_str(&sql, " ORDER BY t.ledger, t.tx");
    tide_status status =
        tide_export_cursor_open(&m->hashes, m->x->pg, TIDE_EV_COUNT + 1u, &sql, err);
    tide_buf_release(&sql);
    for (uint32_t i = 0; i <= TIDE_EV_COUNT && status == TIDE_OK; i++) {
        m->streams[i].kind = i < TIDE_EV_COUNT ? &tide_events()[i] : NULL;
        m->count = i + 1;
        status = open_stream(m, &m->streams[i], i, err);
    }
    return status;
}

/* Returns the stream whose current event comes first, or NULL at the end. */
static struct stream *first_of(const struct merge *m)
{
    assert(m->count <= TIDE_EV_COUNT + 1u);
    struct stream *first = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        struct stream *stream = &m->streams[i];
        if (!stream->cursor.live)
            continue;
        uint32_t k = 0;
        while (first && k < 4 && stream->order[k] == first->order[k])
            k++;
        if (!first || (k < 4 && stream->order[k] < first->order[k]))
            first = stream;
    }
    return first;
}

/* Writes the transaction's hash. Events come in the order of transactions, so the cursor of hashes
 * only moves forward. */
static tide_status put_hash(struct merge *m, const struct stream *stream, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    struct tide_export_cursor *at = &m->hashes;
    while (
        status == TIDE_OK && at->live &&
        (tide_cursor_u64(at, 0) < stream->order[0] ||
         (tide_cursor_u64(at, 0) == stream->order[0] && tide_cursor_u64(at, 1) < stream->order[1])))
        status = tide_export_cursor_next(at, err);
    if (status == TIDE_OK && at->live && tide_cursor_u64(at, 0) == stream->order[0] &&
        tide_cursor_u64(at, 1) == stream->order[1])
        tide_export_row_text(&m->x->row, EVENT_HASH, tide_cursor_text(at, 2));
    return status;
}

typedef void (*make_fn)(struct tide_buf *json, const struct tide_kind *kind,
                        const struct tide_value_row *row);

static void put_made(struct tide_export *x, uint32_t column, make_fn make,
                     const struct stream *stream)
{
    assert(stream->kind);
    struct tide_value_row row = {
        .text = field_text, .null = field_null, .self = stream, .with_private = x->with_private
    };
    tide_buf_reset(&x->json);
    make(&x->json, stream->kind, &row);
    tide_export_row_json(&x->row, column, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
}

static void put_raw_content(struct tide_export *x, const struct tide_raw_event *raw)
{
    tide_buf_reset(&x->json);
    if (tide_raw_topics_json(&x->json, raw))
        tide_export_row_json(&x->row, EVENT_TOPICS, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
    tide_buf_reset(&x->json);
    if (tide_scval_json(&x->json, raw->data) == TIDE_OK)
        tide_export_row_json(&x->row, EVENT_DATA, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
}

/* Writes type, topics and data of an event that is stored as XDR. Topics and data are left out if
 * they may contain private values. */
static void put_raw(struct tide_export *x, const struct stream *stream)
{
    assert(!stream->kind);
    struct tide_buf xdr;
    struct tide_raw_event raw;
    tide_buf_init(&xdr, TIDE_JSON_BYTES_MAX);
    if (tide_raw_event_hex(&raw, &xdr, tide_cursor_text(&stream->cursor, AT_FIELDS))) {
        tide_export_row_text(&x->row, EVENT_TYPE,
                             tide_slice_str(raw.system ? "system" : "contract"));
        if (!tide_export_hides(x, tide_cursor_text(&stream->cursor, AT_CONTRACT)))
            put_raw_content(x, &raw);
    }
    x->row.bytes.failed = x->row.bytes.failed || xdr.failed;
    tide_buf_release(&xdr);
}

static tide_status put_event(struct merge *m, const struct stream *stream, struct tide_err *err)
{
    assert(stream->cursor.live);
    struct tide_export *x = m->x;
    tide_slice contract = tide_cursor_text(&stream->cursor, AT_CONTRACT);
    const struct tide_export_contract *known = tide_export_contract(x, contract);
    tide_export_row_number(&x->row, EVENT_LEDGER, stream->order[AT_LEDGER]);
    tide_export_row_number(&x->row, EVENT_TX, stream->order[AT_TX]);
    tide_export_row_number(&x->row, EVENT_OP, stream->order[AT_OP]);
    tide_export_row_number(&x->row, EVENT_EVENT, stream->order[AT_EVENT]);
    tide_export_row_json(&x->row, EVENT_CLOSE_TIME, tide_cursor_text(&stream->cursor, AT_TIME));
    tide_export_row_text(&x->row, EVENT_CONTRACT, contract);
    if (known)
        tide_export_row_text(&x->row, EVENT_ROLE, tide_slice_str(known->role_name));
    if (stream->kind) {
        const char *type = stream->kind->system ? "system" : "contract";
        tide_export_row_text(&x->row, EVENT_TYPE, tide_slice_str(type));
        put_made(x, EVENT_TOPICS, tide_export_value_topics, stream);
        put_made(x, EVENT_DATA, tide_export_value_data, stream);
    } else {
        put_raw(x, stream);
    }
    tide_status status = put_hash(m, stream, err);
    return status == TIDE_OK ? tide_export_row_end(&x->row, err) : status;
}

tide_status tide_export_events(struct tide_export *x, struct tide_err *err)
{
    assert(x->from <= x->to);
    struct merge m = { .x = x };
    struct stream *first;
    m.streams = calloc(TIDE_EV_COUNT + 1u, sizeof *m.streams);
    if (!m.streams)
        return tide_fail(err, TIDE_E_MEMORY, "export: events");
    tide_status status = open_all(&m, err);
    while (status == TIDE_OK && (first = first_of(&m)) != NULL) {
        status = tide_export_stop(err);
        if (status == TIDE_OK)
            status = put_event(&m, first, err);
        if (status == TIDE_OK)
            status = tide_export_cursor_next(&first->cursor, err);
        read_order(first);
    }
    for (uint32_t i = 0; i < m.count; i++)
        tide_export_cursor_close(&m.streams[i].cursor);
    tide_export_cursor_close(&m.hashes);
    free(m.streams);
    return status;
}
