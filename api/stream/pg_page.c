#include "api/stream/pg_source.h"
#include "tidemark/catalogue.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES_MAX = 64 << 20 };

/* Rows of one page, while its pieces are made. */
struct page {
    struct stream_pg *pg;
    uint32_t from, until; /* ledgers that are whole in it: from .. until, none when until < from */
    uint32_t part;        /* that it holds the beginning of, 0: none                             */
    struct tide_pg_rows log, ledgers, prices, changes;
    uint32_t log_at, ledgers_at, prices_at, changes_at; /* next rows of each */
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
    LOG_FIELDS
};
enum { LEDGER_ARCHIVED = 3 };
enum { CHANGE_LEDGER, CHANGE_FROZEN, CHANGE_REMOVED, CHANGE_WHO, CHANGE_STATUS };
enum { CHANGE_JURISDICTION = CHANGE_STATUS + 1, CHANGE_EXPIRES };

static uint32_t u32(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    return (uint32_t)tide_pg_u64(rows, row, column);
}

static uint16_t kind_of(const struct tide_pg_rows *log, uint32_t row)
{
    uint32_t count;
    int table = tide_table_find("event", tide_pg_text(log, row, LOG_KIND));
    (void)tide_tables(&count);
    for (int kind = 0; kind < (int)TIDE_EV_COUNT && table >= 0; kind++)
        if (tide_events()[kind].table == table)
            return (uint16_t)kind;
    return TIDE_EV_COUNT;
}

/* --- notes ---------------------------------------------------------------------------------
 * The bytes of a piece move while it grows: until it is settled its slices begin at offsets. */

static tide_slice since(const struct stream_piece *piece, size_t from)
{
    return (tide_slice){ (const uint8_t *)(uintptr_t)from, piece->bytes.len - from };
}

static void settle(const struct stream_piece *piece, tide_slice *slice)
{
    slice->ptr = slice->len ? piece->bytes.ptr + (uintptr_t)slice->ptr : NULL;
}

void stream_pg_settle(struct stream_piece *piece)
{
    for (uint32_t i = 0; i < piece->note_count; i++) {
        struct stream_note *note = &piece->notes[i];
        settle(piece, &note->text);
        settle(piece, &note->contract);
        settle(piece, &note->subject);
        settle(piece, &note->addresses);
    }
    settle(piece, &piece->text);
}

/* "event: …", and data as far as every message begins. */
static void put_head(struct stream_piece *piece, const char *event)
{
    char closed[TIDE_RFC3339_BYTES];
    tide_time_rfc3339(closed, (int64_t)piece->close_time);
    tide_buf_putf(&piece->bytes, "event: %s\ndata: {\"ledger\":\"%u\",\"closedAt\":\"%s\",", event,
                  piece->ledger, closed);
}

/* An object's fields behind those of the head; it has some. */
static void put_rest(struct stream_piece *piece, tide_slice object)
{
    assert(object.len > 2 && object.ptr[0] == '{');
    tide_buf_put(&piece->bytes, object.ptr + 1, object.len - 1);
    tide_buf_str(&piece->bytes, "\n\n");
}

static tide_slice keep(struct stream_piece *piece, const char *text, const char *behind)
{
    size_t from = piece->bytes.len;
    tide_buf_str(&piece->bytes, text);
    tide_buf_str(&piece->bytes, behind);
    return since(piece, from);
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
    put_rest(piece, tide_pg_slice(rows, row, first + 1));
    note->text = since(piece, from);
    piece->note_count++;
}

/* One line, whatever white space JSON of the ledger holds. */
static void put_line(struct tide_buf *bytes, tide_slice json)
{
    size_t from = bytes->len;
    tide_buf_slice(bytes, json);
    for (size_t i = from; i < bytes->len; i++)
        if (bytes->ptr[i] == '\n' || bytes->ptr[i] == '\r')
            bytes->ptr[i] = ' ';
}

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
                                  .kind = kind_of(log, row) };
    size_t from = bytes->len;
    put_head(piece, "event");
    tide_buf_putf(
        bytes,
        "\"id\":\"%s\",\"txHash\":\"%s\",\"tx\":%u,\"op\":%u,\"event\":%u,\"kind\":\"%s\","
        "\"contract\":\"%s\",\"subject\":",
        tide_pg_text(log, row, LOG_ID), tide_pg_text(log, row, LOG_TX_HASH), note->position.tx,
        note->position.op, note->position.event, tide_pg_text(log, row, LOG_KIND),
        tide_pg_text(log, row, LOG_CONTRACT));
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
    note->text = since(piece, from);
    note->contract = keep(piece, tide_pg_text(log, row, LOG_CONTRACT), "");
    note->subject = keep(piece, tide_pg_text(log, row, LOG_SUBJECT), "");
    note->addresses = keep(piece, tide_pg_text(log, row, LOG_ADDRESSES), " ");
    piece->end = note->position;
}

static void add_change(struct page *page, struct stream_piece *piece, uint32_t row)
{
    const struct tide_pg_rows *rows = &page->changes;
    struct stream_change *change = &piece->changes[piece->change_count];
    bool removed = tide_pg_bool(rows, row, CHANGE_REMOVED);
    *change = (struct stream_change){ .frozen_entry = tide_pg_bool(rows, row, CHANGE_FROZEN) };
    if (!tide_hot_address_parse(&change->address, tide_pg_slice(rows, row, CHANGE_WHO)))
        return; /* no client can name it */
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

/* Rows from at on that are of the ledger in their column. */
static uint32_t run_of(const struct tide_pg_rows *rows, uint32_t at, uint32_t column,
                       uint32_t ledger)
{
    uint32_t end = at;
    while (end < rows->count && u32(rows, end, column) == ledger)
        end++;
    return end - at;
}

static bool blocks_in(const struct stream_pg *pg, uint32_t ledger)
{
    for (uint32_t i = pg->block_count; i-- > 0 && pg->blocks[i].ledger >= ledger;)
        if (pg->blocks[i].ledger == ledger)
            return true;
    return false;
}

static void add_whole(struct page *page, struct stream_piece *piece, uint32_t prices,
                      uint32_t changes)
{
    for (uint32_t i = 0; i < prices; i++)
        stream_pg_price(piece, &page->prices, page->prices_at++, 0);
    for (uint32_t i = 0; i < changes; i++)
        add_change(page, piece, page->changes_at++);
    piece->blocks_changed = blocks_in(page->pg, piece->ledger);
    size_t from = piece->bytes.len;
    put_head(piece, "ledger");
    put_rest(piece, tide_pg_slice(&page->ledgers, page->ledgers_at++, 2));
    piece->text = since(piece, from);
    piece->last = true;
    piece->end = stream_whole(piece->ledger);
}

static tide_status make_piece(struct page *page, uint32_t ledger, struct stream_piece **out,
                              struct tide_err *err)
{
    bool whole = ledger != page->part;
    struct stream_piece *piece = calloc(1, sizeof *piece);
    if (!piece)
        return tide_fail(err, TIDE_E_MEMORY, "stream: ledger %u", ledger);
    *out = piece;
    uint32_t events = run_of(&page->log, page->log_at, LOG_LEDGER, ledger);
    uint32_t prices = whole ? run_of(&page->prices, page->prices_at, 2, ledger) : 0;
    uint32_t changes = whole ? run_of(&page->changes, page->changes_at, CHANGE_LEDGER, ledger) : 0;
    piece->ledger = ledger;
    piece->close_time = whole ? tide_pg_u64(&page->ledgers, page->ledgers_at, 1)
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
    if (piece->bytes.failed)
        return tide_fail(err, TIDE_E_LIMIT, "stream: ledger %u is too large", ledger);
    stream_pg_settle(piece);
    return TIDE_OK;
}

static tide_status make_pieces(struct page *page, struct stream_piece **out, struct tide_err *err)
{
    struct stream_piece **tail = out;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < page->ledgers.count && status == TIDE_OK; i++) {
        status = make_piece(page, page->from + i, tail, err);
        if (*tail)
            tail = &(*tail)->next;
    }
    return status == TIDE_OK && page->part ? make_piece(page, page->part, tail, err) : status;
}

/* --- reading ---------------------------------------------------------------- */

#define NUMBER(name, value) \
    char name[16];          \
    snprintf(name, sizeof name, "%u", (unsigned)(value))

/* Events behind the place; what of the ledgers is whole with them. */
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
    if (status == TIDE_OK && page->log.count == STREAM_PAGE_EVENTS) {
        page->part = u32(&page->log, page->log.count - 1, LOG_LEDGER);
        page->until = page->part - 1;
    }
    return status;
}

static tide_status read_whole(struct page *page, struct tide_err *err)
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
    if (status == TIDE_OK && page->ledgers.count != page->until - page->from + 1)
        status = tide_fail(err, TIDE_E_MISSING, "stream: ledgers %u to %u are not all there",
                           page->from, page->until);
    if (status == TIDE_OK && u32(&page->ledgers, 0, LEDGER_ARCHIVED) != page->pg->head.archived_to)
        status = tide_fail(err, TIDE_E_MISSING, "stream: events were archived meanwhile");
    return status;
}

static void release(struct page *page)
{
    tide_pg_rows_release(&page->log);
    tide_pg_rows_release(&page->ledgers);
    tide_pg_rows_release(&page->prices);
    tide_pg_rows_release(&page->changes);
    free(page);
}

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
        status = read_whole(page, err);
    if (status == TIDE_OK)
        status = make_pieces(page, out, err);
    release(page);
    if (status != TIDE_OK) {
        stream_piece_free(*out);
        *out = NULL;
    }
    return status;
}
