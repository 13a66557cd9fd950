/* What hot routes are answered from: the newest snapshot of the cache, or, with ?ledger=N, the same
 * records as of the close of N, read from PostgreSQL. A handler cannot tell which: there is one way
 * of computing an answer.
 *
 * Time     everything is evaluated at reader.now: the later of the wall clock and the newest close
 *          time, or the close time of N.
 * Unkept   an index that keeps a part of the tables (api/sql/scope.h) lacks what some records are
 *          made of. What is asked for is noted, and close answers 503 incomplete if that is
 *          among it.
 * Failure  what cannot be read is taken for absent. tide_reader_close then replaces the answer
 *          with a problem.
 * Memory   records live until close; those of the cache are in the map.
 * Threads  that of its reader or connection. The cache never waits, the past does. */
#ifndef API_HOT_READER_H
#define API_HOT_READER_H

#include "api/hot/api.h"
#include "api/http/route.h"
#include "api/sql/cursor.h"
#include "schema/reader/reader.h"

/* Opens what the request asks for: with ?ledger=N that is what tide_sql_task and reply->at say.
 * False: the reply holds the problem, nothing is open. That is 503 not_ready (no cache yet), 503
 * stale (older than stale_after_ms, or than ?maxAgeMs=), or a failure of the database. */
bool tide_reader_open(struct tide_reader *reader, struct tide_handler_context *context,
                      const struct tide_request *request, struct tide_reply *reply);
/* The same for a handler of kind SQL that tide_sql_handle runs: records as of the ledger that the
 * task answers, evaluated at now (unix seconds). The connection's role must be allowed to read
 * them. */
bool tide_reader_open_task(struct tide_reader *reader, struct tide_handler_context *context,
                           uint64_t now, struct tide_reply *reply);
/* Whether what is known allows a compliance answer at all: the registry is indexed whole, and its
 * newest ledger is young enough. False: the reply says why not. */
bool tide_reader_trusted(const struct tide_reader *reader,
                         const struct tide_handler_context *context, struct tide_reply *reply);
/* Ends it and says in the reply what the answer is true at, or what went wrong. */
void tide_reader_close(struct tide_reader *reader, struct tide_reply *reply);

/* The answer's beginning in the reply's body: {"ledger":"N","closedAt":"…". What follows is its
 * content. */
struct tide_json tide_reader_answer(const struct tide_reader *reader, struct tide_reply *reply);

/* A list that is answered in pages of a fixed size. */
struct tide_reader_page {
    struct tide_cursor_scope scope;
    char after[TIDE_CURSOR_KEY_MAX + 1]; /* key that the page begins after; "": the first page */
};

/* False: the cursor belongs to another question. The caller answers tide_cursor_refuse. */
bool tide_reader_page_read(struct tide_reader_page *page, const struct tide_reader *reader,
                           const struct tide_request *request) TIDE_MUST_USE;
/* "next": the cursor of the page after the key last; if last is empty, null. */
void tide_reader_page_next(struct tide_json *j, const struct tide_reader_page *page,
                           tide_slice last);

/* 503 incomplete, which names the first table of those bits. */
void tide_reader_refuse(struct tide_reply *reply, uint32_t unkept);

#endif
