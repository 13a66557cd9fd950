/* Entries as the rows that the writer stores, and the wanted contracts. */
#include "indexer/start/start_impl.h"

#include <stdlib.h>

enum {
    PIECE_BYTES = 4 << 20,
    SEEN_BYTES_MAX = 16 << 20,               /* rows of ignored tokens, each once */
    REPEATED_BYTES_MAX = 3 * SEEN_BYTES_MAX, /* the same with repeated rows */
    SEEN_SLACK_BYTES = 1 << 20
};

tide_status start_rows_open(struct start *s, struct tide_err *err)
{
    const struct tide_decode_options options = { .deployment = s->options->deployment,
                                                 .proof = TIDE_PROOF_CHAIN,
                                                 .history_only = true,
                                                 .discovered_max =
                                                     s->options->config->discovered_tokens };
    tide_buf_init(&s->seen, REPEATED_BYTES_MAX);
    s->piece = malloc(sizeof *s->piece);
    if (!s->piece)
        return tide_fail(err, TIDE_E_MEMORY, "a start");
    tide_batch_init(s->piece);
    return tide_decode_open(&s->decode, &options, err);
}

void start_rows_close(struct start *s)
{
    tide_decode_close(s->decode);
    tide_buf_release(&s->seen);
    if (s->piece)
        tide_batch_release(s->piece);
    free(s->piece);
}

static size_t piece_bytes(const struct start *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        bytes += s->piece->rows[i].copy.len;
    return bytes;
}

static void reset_piece(struct start *s)
{
    tide_batch_reset(s->piece);
    s->piece->from = s->piece->to = s->ledger;
}

/* ---- contracts that the entries name ---- */

/* Returns the length of the COPY row at the beginning of `rows`. */
static size_t row_length(tide_slice rows)
{
    enum { COUNT_BYTES = 2, LENGTH_BYTES = 4 };
    size_t at = COUNT_BYTES;
    assert(rows.len >= COUNT_BYTES);
    for (uint32_t i = (uint32_t)(rows.ptr[0] << 8 | rows.ptr[1]); i; i--) {
        uint32_t len = tide_be32(rows.ptr + at);
        at += LENGTH_BYTES + (len == UINT32_MAX ? 0 : len); /* NULL has the length -1 */
    }
    assert(at <= rows.len);
    return at;
}

static int compare_rows(const void *a, const void *b)
{
    const tide_slice *x = a, *y = b;
    size_t shorter = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->ptr, y->ptr, shorter);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Appends each of the sorted rows once, and returns how many these are. */
static uint64_t put_distinct(struct tide_buf *out, const tide_slice *rows, size_t count)
{
    uint64_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_rows(&rows[i - 1], &rows[i]) != 0) {
            tide_buf_slice(out, rows[i]);
            distinct++;
        }
    return distinct;
}

/* Drops repeated rows of s->seen. Each pass over the entries adds the rows of ignored tokens again,
 * and so does each entry that names one. */
static void drop_repeated(struct start *s)
{
    size_t count = 0;
    struct tide_buf distinct;
    tide_slice left = tide_buf_view(&s->seen);
    tide_slice *rows = calloc(s->seen_count + 1, sizeof *rows);
    if (!rows) {
        s->seen.failed = true;
        return;
    }
    for (; left.len && !s->seen.failed; count++) {
        assert(count < s->seen_count);
        rows[count] = tide_slice_of(left.ptr, row_length(left));
        left = tide_slice_of(left.ptr + rows[count].len, left.len - rows[count].len);
    }
    if (!s->seen.failed) {
        tide_buf_init(&distinct, REPEATED_BYTES_MAX);
        qsort(rows, count, sizeof *rows, compare_rows);
        s->seen_count = put_distinct(&distinct, rows, count);
        tide_buf_release(&s->seen);
        s->seen = distinct;
        s->seen.failed |= s->seen.len > SEEN_BYTES_MAX;
    }
    s->seen_distinct = s->seen.len;
    free(rows);
}

/* Moves the piece's rows of chain.contract_seen to s->seen, and drops its other rows. Repeated rows
 * are dropped when they may be half of all, so a row costs the same however many there are. */
static void keep_seen(struct start *s)
{
    const struct tide_rows *rows = &s->piece->rows[TIDE_TABLE_CONTRACT_SEEN];
    s->seen.failed |= rows->copy.failed;
    tide_buf_slice(&s->seen, tide_buf_view(&rows->copy));
    s->seen_count += rows->count;
    if (s->seen.len > 2 * s->seen_distinct + SEEN_SLACK_BYTES)
        drop_repeated(s);
    reset_piece(s);
}

static tide_status look_at(struct start *s, const struct tide_redecode_entry *entry, void *self,
                           struct tide_err *err)
{
    (void)self;
    (void)err;
    tide_redecode_entry(s->decode, s->piece, entry);
    keep_seen(s);
    return TIDE_OK;
}

/* Looks at all entries until they tell nothing new. *more: further contracts have entries in the
 * buckets. */
static tide_status look_at_all(struct start *s, bool *more, struct tide_err *err)
{
    uint32_t known = tide_redecode_contracts(s->decode)->contract_count;
    tide_status status = TIDE_OK;
    for (bool fresh = true; fresh && status == TIDE_OK;) {
        status = start_found_each(s, look_at, NULL, err);
        fresh = tide_redecode_settle(s->decode, s->piece);
        keep_seen(s);
    }
    drop_repeated(s);
    if (status == TIDE_OK && s->seen.failed)
        status = tide_fail(err, TIDE_E_MEMORY, "contracts of the state");
    *more = tide_redecode_contracts(s->decode)->contract_count > known;
    return status;
}

tide_status start_rows_find(struct start *s, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    reset_piece(s);
    for (bool more = true; more && status == TIDE_OK;) {
        status = start_found_read(s, err);
        if (status == TIDE_OK)
            status = look_at_all(s, &more, err);
    }
    return status;
}

/* ---- the rows ---- */

struct putting {
    tide_status (*put)(void *self, const struct tide_batch *piece, struct tide_err *err);
    void *self;
};

static tide_status put_piece(struct start *s, const struct putting *to, struct tide_err *err)
{
    tide_status status = to->put(to->self, s->piece, err);
    reset_piece(s);
    return status;
}

static tide_status put_entry(struct start *s, const struct tide_redecode_entry *entry, void *self,
                             struct tide_err *err)
{
    struct tide_redecode_entry numbered = *entry;
    numbered.seq = (uint32_t)(2 * (s->entries + s->archived));
    tide_redecode_entry(s->decode, s->piece, &numbered);
    s->entries += !entry->archived;
    s->archived += entry->archived;
    return piece_bytes(s) >= PIECE_BYTES ? put_piece(s, self, err) : TIDE_OK;
}

/* A failure of the temporary tables' session is no failure of the writer's, which would repeat the
 * transaction without end. */
tide_status start_rows_give(void *self,
                            tide_status (*put)(void *put_self, const struct tide_batch *piece,
                                               struct tide_err *err),
                            void *put_self, struct tide_err *err)
{
    struct start *s = self;
    struct putting to = { put, put_self };
    struct tide_rows *seen = &s->piece->rows[TIDE_TABLE_CONTRACT_SEEN];
    reset_piece(s);
    s->entries = s->archived = 0;
    tide_buf_slice(&seen->copy, tide_buf_view(&s->seen));
    seen->count = s->seen_count;
    tide_status status = start_found_each(s, put_entry, &to, err);
    if (status == TIDE_OK)
        status = put_piece(s, &to, err);
    if (status == TIDE_E_DB && !tide_pg_alive(s->temp))
        err->code = status = TIDE_E_IO;
    return status;
}
