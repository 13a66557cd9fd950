/* The reader of hot routes: the newest snapshot of the cache, or, with ?ledger=N, the same
 * records as of the close of N, read from PostgreSQL. Handlers compute an answer in one way and
 * cannot tell the difference.
 *
 * Time     Everything is evaluated at reader.now: the later of the wall clock and the newest close
 *          time, or the close time of N.
 * Failure  A record that cannot be read counts as absent. tide_reader_close then replaces the
 *          answer by a problem.
 * Memory   Records live until close; those of the cache are in its map.
 * Threads  The thread of its cache reader or connection. The cache never waits; PostgreSQL does. */
#ifndef API_HOT_READER_H
#define API_HOT_READER_H

#include "api/hot/api.h"
#include "api/http/route.h"
#include "api/sql/cursor.h"
#include "tidemark/reader.h"

/* Opens the reader for a request. With ?ledger=N it uses tide_sql_task and reply->at. Returns
 * false with a problem in the reply and nothing open: 503 not_ready (no cache yet), 503 stale
 * (older than stale_after_ms, or than ?maxAgeMs=), 503 forked, or a failure of the database. */
bool tide_reader_open(struct tide_reader *reader, struct tide_handler_context *context,
                      const struct tide_request *request, struct tide_reply *reply);
/* The same for answers that people or programs act on: compliance, prices, quotes. If
 * api_require_signed is set, the answer's ledger must be proven by signatures. Otherwise the
 * problem is 503 not_proven. Only an answer with ?ledger=N can be proven: that no later ledger
 * changes the newest state is never proven. */
bool tide_reader_open_proven(struct tide_reader *reader, struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply);
/* Opens the reader for a SQL handler that tide_sql_handle runs: records as of the task's ledger,
 * evaluated at now (unix seconds). The connection's role must be allowed to read them. */
bool tide_reader_open_task(struct tide_reader *reader, struct tide_handler_context *context,
                           uint64_t now, struct tide_reply *reply);
/* Returns whether a compliance answer is allowed: the registry is indexed completely, and its
 * newest ledger is young enough. Returns false with a problem in the reply. */
bool tide_reader_trusted(const struct tide_reader *reader,
                         const struct tide_handler_context *context, struct tide_reply *reply);
/* Closes the reader. If something could not be read, the reply becomes a problem. */
void tide_reader_close(struct tide_reader *reader, struct tide_reply *reply);

/* Starts the answer in the reply's body: {"ledger":"N","closedAt":"…". The part that follows is
 * the content of the ETag. */
struct tide_json tide_reader_answer(const struct tide_reader *reader, struct tide_reply *reply);

/* A list that is answered in pages of a fixed size. */
struct tide_reader_page {
    struct tide_cursor_scope scope;
    /* The key after which the page begins; empty: the first page */
    char after[TIDE_CURSOR_KEY_MAX + 1];
};

/* Reads the request's cursor. Returns false if the cursor belongs to another request; the caller
 * then answers tide_cursor_refuse. */
bool tide_reader_page_read(struct tide_reader_page *page, const struct tide_reader *reader,
                           const struct tide_request *request) TIDE_MUST_USE;
/* Writes "next": the cursor of the page after the key `last`, or null if last is empty. */
void tide_reader_page_next(struct tide_json *j, const struct tide_reader_page *page,
                           tide_slice last);

#endif
