/* Pages: reads ledgers, events, prices and compliance changes after a position, and makes pieces
 * of the rows. */
#include "api/stream/pg_source.h"
#include "tidemark/catalogue.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES_MAX = 64 << 20 }; /* a larger ledger fails instead of exhausting the memory */

/* The rows of one page, while pieces are made of them. */
struct page {
    struct stream_pg *pg;
    uint32_t from, until; /* complete ledgers of the page: [from, until]; none if until < from */
    uint32_t part;        /* the ledger whose first events the page ends with; 0: none */
    struct tide_pg_rows log, ledgers, prices, changes;
    uint32_t log_at, ledgers_at, prices_at, changes_at; /* next row of each result */
};

enum {
    LOG_LEDGER,
    LOG_TX,
    LOG_OP,
    LOG_EVENT,
    LOG_TIME,
    LOG_CONTRACT,
    LOG_KIND,
    LOG_SUBJECT,
    LOG_ADDRESSES,
    LOG_ID,
    LOG_LIST,
    LOG_TX_HASH,
    LOG_INNER_HASH,
    LOG_FIELDS
};
enum { LEDGER_PARTS = 3 };
enum { CHANGE_LEDGER, CHANGE_FROZEN, CHANGE_REMOVED, CHANGE_WHO, CHANGE_STATUS };
enum { CHANGE_JURISDICTION = CHANGE_STATUS + 1, CHANGE_EXPIRES };

static uint32_t u32(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    return (uint32_t)tide_pg_u64(rows, row, column);
}

/* Returns the row's enum tide_event_id, or TIDE_EV_COUNT if this release does not know the kind. */
static uint16_t event_kind(const struct tide_pg_rows *log, uint32_t row)
{
    uint32_t count;
    int table = tide_table_find("event", tide_pg_text(log, row, LOG_KIND));
    (void)tide_tables(&count);
    for (int kind = 0; kind < (int)TIDE_EV_COUNT && table >= 0; kind++)
        if (tide_events()[kind].table == table)
            return (uint16_t)kind;
    return TIDE_EV_COUNT;
}

/* --- notes -----------------------------------------------------------------------------------
 * A piece's bytes move while they grow. Until stream_pg_resolve_slices, a slice's ptr is
 * therefore an offset into them. */

/* Returns the unresolved slice from an offset to the end of the bytes. */
static tide_slice slice_from(const struct stream_piece *piece, size_t from)
{
    assert(from <= piece->bytes.len);
    return (tide_slice){ (const uint8_t *)(uintptr_t)from, piece->bytes.len - from };
}

static void resolve_slice(const struct stream_piece *piece, tide_slice *slice)
{
    assert((uintptr_t)slice->ptr + slice->len <= piece->bytes.len); /* an offset until now */
    slice->ptr = slice->len ? piece->bytes.ptr + (uintptr_t)slice->ptr : NULL;
}

void stream_pg_resolve_slices(struct stream_piece *piece)
{
    assert(!piece->bytes.failed);
    for (uint32_t i = 0; i < piece->note_count; i++) {
        struct stream_note *note = &piece->notes[i];
        resolve_slice(piece, &note->text);
        resolve_slice(piece, &note->contract);
        resolve_slice(piece, &note->subject);
        resolve_slice(piece, &note->addresses);
    }
    resolve_slice(piece, &piece->text);
}

/* Writes the start of a message: its event, and the fields that all messages begin with. */
static void put_head(struct stream_piece *piece, const char *event)
{
    char closed[TIDE_RFC3339_BYTES];
    tide_time_rfc3339_ms(closed, (int64_t)piece->closed_ms);
    tide_buf_putf(&piece->bytes, "event: %s\ndata: {\"ledger\":\"%u\",\"closedAt\":\"%s\",", event,
                  piece->ledger, closed);
}

/* Ends a message with the members of a JSON object, which is not empty. The message has the brace
 * that opens it. */
static void put_fields(struct stream_piece *piece, tide_slice object)
{
    assert(object.len > 2 && object.ptr[0] == '{');
    tide_buf_put(&piece->bytes, object.ptr + 1, object.len - 1);
    tide_buf_str(&piece->bytes, "\n\n");
}

static tide_slice put_string(struct stream_piece *piece, const char *text, const char *behind)
{
    size_t from = piece->bytes.len;
    tide_buf_str(&piece->bytes, text);
    tide_buf_str(&piece->bytes, behind);
    return slice_from(piece, from);
}

void stream_pg_price(struct stream_piece *piece, const struct tide_pg_rows *rows, uint32_t row,
                     uint32_t first)
{
    struct stream_note *note = &piece->notes[piece->note_count];
    *note = (struct stream_note){ .position = { .ledger = piece->ledger, .class = STREAM_PRICE } };
    if (!tide_hot_symbol_of(&note->position.asset, tide_pg_slice(rows, row, first)))
        return;
    size_t from = piece->bytes.len;
    put_head(piece, "price");
    put_fields(piece, tide_pg_slice(rows, row, first + 1));
    note->text = slice_from(piece, from);
    piece->note_count++;
}

/* Writes JSON from the ledger with line breaks as spaces: an SSE data line ends at a line break. */
static void put_line(struct tide_buf *bytes, tide_slice json)
{
    size_t from = bytes->len;
    tide_buf_slice(bytes, json);
    for (size_t i = from; i < bytes->len; i++)
        if (bytes->ptr[i] == '\n' || bytes->ptr[i] == '\r')
            bytes->ptr[i] = ' ';
}

/* Writes a hash, or null where the index holds none. */
static void put_hash(struct tide_buf *bytes, const char *name, const struct tide_pg_rows *log,
                     uint32_t row, uint32_t column)
{
    if (tide_pg_is_null(log, row, column))
        tide_buf_putf(bytes, ",\"%s\":null", name);
    else
        tide_buf_putf(bytes, ",\"%s\":\"%s\"", name, tide_pg_text(log, row, column));
}

/* Adds an event's note, with the strings that the filters of subscribers compare. */
static void add_event(struct page *page, struct stream_piece *piece, uint32_t row)
{
    const struct tide_pg_rows *log = &page->log;
    struct stream_note *note = &piece->notes[piece->note_count++];
    struct tide_buf *bytes = &piece->bytes;
    *note = (struct stream_note){ .position = { .ledger = piece->ledger,
                                                .class = STREAM_EVENT,
                                                .tx = u32(log, row, LOG_TX),
                                                .op = u32(log, row, LOG_OP),
                                                .event = u32(log, row, LOG_EVENT) },
                                  .kind = event_kind(log, row) };
    size_t from = bytes->len;
    put_head(piece, "event");
    tide_buf_putf(bytes, "\"id\":\"%s\"", tide_pg_text(log, row, LOG_ID));
    put_hash(bytes, "txHash", log, row, LOG_TX_HASH);
    put_hash(bytes, "innerTxHash", log, row, LOG_INNER_HASH);
    tide_buf_putf(bytes,
                  ",\"tx\":%u,\"op\":%u,\"event\":%u,\"kind\":\"%s\",\"contract\":\"%s\","
                  "\"subject\":",
                  note->position.tx, note->position.op, note->position.event,
                  tide_pg_text(log, row, LOG_KIND), tide_pg_text(log, row, LOG_CONTRACT));
    if (tide_pg_is_null(log, row, LOG_SUBJECT))
        tide_buf_str(bytes, "null");
    else
        tide_buf_json_string(bytes, tide_pg_slice(log, row, LOG_SUBJECT));
    tide_buf_putf(bytes, ",\"addresses\":%s,\"fields\":", tide_pg_text(log, row, LOG_LIST));
    if (tide_pg_is_null(log, row, LOG_FIELDS))
        tide_buf_str(bytes, "null");
    else
        put_line(bytes, tide_pg_slice(log, row, LOG_FIELDS));
    tide_buf_str(bytes, "}\n\n");
    note->text = slice_from(piece, from);
    note->contract = put_string(piece, tide_pg_text(log, row, LOG_CONTRACT), "");
    note->subject = put_string(piece, tide_pg_text(log, row, LOG_SUBJECT), "");
    note->addresses = put_string(piece, tide_pg_text(log, row, LOG_ADDRESSES), " ");
    piece->end = note->position;
}

/* Adds a change of compliance. A removed entry becomes an empty record. */
static void add_change(struct page *page, struct stream_piece *piece, uint32_t row)
{
    const struct tide_pg_rows *rows = &page->changes;
    struct stream_change *change = &piece->changes[piece->change_count];
    bool removed = tide_pg_bool(rows, row, CHANGE_REMOVED);
    *change = (struct stream_change){ .frozen_entry = tide_pg_bool(rows, row, CHANGE_FROZEN) };
    if (!tide_hot_address_parse(&change->address, tide_pg_slice(rows, row, CHANGE_WHO)))
        return; /* not an account or contract: no client can watch it */
    piece->change_count++;
    if (change->frozen_entry)
        change->person.frozen = !removed;
    else if (!removed)
        change->person = (struct tide_hot_person){
            .recorded = 1,
            .status = u32(rows, row, CHANGE_STATUS),
            .jurisdiction = u32(rows, row, CHANGE_JURISDICTION),
            .expires_at = tide_pg_u64(rows, row, CHANGE_EXPIRES),
        };
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* Returns the number of rows from `at` on whose column holds the ledger. */
static uint32_t count_rows(const struct tide_pg_rows *rows, uint32_t at, uint32_t column,
                           uint32_t ledger)
{
    uint32_t end = at;
    while (end < rows->count && u32(rows, end, column) == ledger)
        end++;
    return end - at;
}

/* Returns whether a jurisdiction was blocked or unblocked in the ledger. The list is in order of
 * ledger: search from its end. */
static bool has_block_change(const struct stream_pg *pg, uint32_t ledger)
{
    for (uint32_t i = pg->block_count; i-- > 0 && pg->blocks[i].ledger >= ledger;)
        if (pg->blocks[i].ledger == ledger)
            return true;
    return false;
}

/* Completes a ledger: prices, compliance changes, and the ledger's own message. */
static void add_whole(struct page *page, struct stream_piece *piece, uint32_t prices,
                      uint32_t changes)
{
    for (uint32_t i = 0; i < prices; i++)
        stream_pg_price(piece, &page->prices, page->prices_at++, 0);
    for (uint32_t i = 0; i < changes; i++)
        add_change(page, piece, page->changes_at++);
    piece->blocks_changed = has_block_change(page->pg, piece->ledger);
    size_t from = piece->bytes.len;
    put_head(piece, "ledger");
    assert(page->ledgers_at < page->ledgers.count);
    put_fields(piece, tide_pg_slice(&page->ledgers, page->ledgers_at++, 2));
    piece->text = slice_from(piece, from);
    piece->last = true;
    piece->end = stream_whole(piece->ledger);
}

/* Makes the piece of one ledger, in *out, also on failure. Fails with TIDE_E_MEMORY or
 * TIDE_E_LIMIT. */
static tide_status make_piece(struct page *page, uint32_t ledger, struct stream_piece **out,
                              struct tide_err *err)
{
    bool whole = ledger != page->part;
    struct stream_piece *piece = calloc(1, sizeof *piece);
    if (!piece)
        return tide_fail(err, TIDE_E_MEMORY, "stream: ledger %u", ledger);
    *out = piece;
    assert(whole ? page->ledgers_at < page->ledgers.count : page->log_at < page->log.count);
    uint32_t events = count_rows(&page->log, page->log_at, LOG_LEDGER, ledger);
    uint32_t prices = whole ? count_rows(&page->prices, page->prices_at, 2, ledger) : 0;
    uint32_t changes =
        whole ? count_rows(&page->changes, page->changes_at, CHANGE_LEDGER, ledger) : 0;
    piece->ledger = ledger;
    piece->closed_ms = whole ? tide_pg_u64(&page->ledgers, page->ledgers_at, 1)
                             : tide_pg_u64(&page->log, page->log_at, LOG_TIME);
    tide_buf_init(&piece->bytes, PIECE_BYTES_MAX);
    piece->notes = calloc(events + prices + 1u, sizeof *piece->notes);
    piece->changes = calloc(changes + 1u, sizeof *piece->changes);
    if (!piece->notes || !piece->changes)
        return tide_fail(err, TIDE_E_MEMORY, "stream: ledger %u", ledger);
    for (uint32_t i = 0; i < events; i++)
        add_event(page, piece, page->log_at++);
    if (whole)
        add_whole(page, piece, prices, changes);
    assert(piece->note_count <= events + prices && piece->change_count <= changes);
    if (piece->bytes.failed)
        return tide_fail(err, TIDE_E_LIMIT, "stream: no room for the events of ledger %u", ledger);
    stream_pg_resolve_slices(piece);
    return TIDE_OK;
}

/* Makes one piece for each complete ledger, then one for the incomplete ledger at the end. */
static tide_status make_pieces(struct page *page, struct stream_piece **out, struct tide_err *err)
{
    struct stream_piece **tail = out;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < page->ledgers.count && status == TIDE_OK; i++) {
        status = make_piece(page, page->from + i, tail, err);
        if (*tail)
            tail = &(*tail)->next;
    }
    assert(status != TIDE_OK || page->ledgers_at == page->ledgers.count);
    return status == TIDE_OK && page->part ? make_piece(page, page->part, tail, err) : status;
}

/* --- reading ---------------------------------------------------------------- */

#define NUMBER(name, value) \
    char name[16];          \
    snprintf(name, sizeof name, "%u", (unsigned)(value))

/* Reads the events after the position. If the page is full, its last ledger may be incomplete:
 * it becomes `part`, and the complete ledgers end before it. */
static tide_status read_log(struct page *page, const struct stream_position *after,
                            struct tide_err *err)
{
    bool within = after->class == STREAM_EVENT;
    NUMBER(ledger, after->ledger);
    NUMBER(tx, within ? after->tx : INT32_MAX);
    NUMBER(op, within ? after->op : INT32_MAX);
    NUMBER(event, within ? after->event : INT32_MAX);
    NUMBER(until, page->until);
    NUMBER(limit, STREAM_PAGE_EVENTS);
    tide_status status = tide_pg_execute(
        page->pg->pg, &page->log, "log",
        (const char *[]){ page->pg->selected.text, ledger, tx, op, event, until, limit }, 7, err);
    assert(status != TIDE_OK || page->log.columns == LOG_FIELDS + 1);
    assert(page->log.count <= STREAM_PAGE_EVENTS); /* more would be taken for a whole page */
    if (status == TIDE_OK && page->log.count == STREAM_PAGE_EVENTS) {
        page->part = u32(&page->log, page->log.count - 1, LOG_LEDGER);
        page->until = page->part - 1;
    }
    return status;
}

/* Reads ledgers, prices and compliance changes of the complete ledgers. Fails with
 * TIDE_E_MISSING if some are missing, or if partitions changed after the head was read: the
 * next turn starts again from a new head. */
static tide_status read_ledgers(struct page *page, struct tide_err *err)
{
    NUMBER(from, page->from);
    NUMBER(until, page->until);
    const char *values[] = { page->pg->selected.text, from, until };
    if (page->until < page->from)
        return TIDE_OK;
    tide_status status = tide_pg_execute(page->pg->pg, &page->ledgers, "ledgers", values, 3, err);
    if (status == TIDE_OK)
        status = tide_pg_execute(page->pg->pg, &page->prices, "price_changes", values, 3, err);
    if (status == TIDE_OK)
        status = tide_pg_execute(page->pg->pg, &page->changes, "changes", values, 3, err);
    assert(status != TIDE_OK || page->ledgers.columns == LEDGER_PARTS + 1);
    assert(status != TIDE_OK || page->changes.columns > CHANGE_EXPIRES);
    if (status == TIDE_OK && page->ledgers.count != page->until - page->from + 1)
        status = tide_fail(err, TIDE_E_MISSING,
                           "stream: some of the ledgers %u to %u are not in the database",
                           page->from, page->until);
    if (status == TIDE_OK && tide_pg_u64(&page->ledgers, 0, LEDGER_PARTS) != page->pg->parts)
        status = tide_fail(err, TIDE_E_MISSING, "stream: partitions changed as the page was read");
    return status;
}

static void free_page(struct page *page)
{
    tide_pg_rows_release(&page->log);
    tide_pg_rows_release(&page->ledgers);
    tide_pg_rows_release(&page->prices);
    tide_pg_rows_release(&page->changes);
    free(page);
}

/* A page starts in the position's ledger if that is incomplete, otherwise in the next one. */
tide_status stream_pg_read(void *self, const struct stream_position *after, uint32_t until,
                           struct stream_piece **out, struct tide_err *err)
{
    struct page *page = calloc(1, sizeof *page);
    *out = NULL;
    if (!page)
        return tide_fail(err, TIDE_E_MEMORY, "stream: page");
    page->pg = self;
    page->from = after->class >= STREAM_WHOLE ? after->ledger + 1 : after->ledger;
    uint32_t most = page->from + STREAM_PAGE_LEDGERS - 1;
    page->until = until < most ? until : most;
    tide_status status = read_log(page, after, err);
    if (status == TIDE_OK)
        status = read_ledgers(page, err);
    if (status == TIDE_OK)
        status = make_pieces(page, out, err);
    free_page(page);
    if (status != TIDE_OK) {
        stream_piece_free(*out);
        *out = NULL;
    }
    return status;
}
