/* The writer's own session: it holds the advisory lock and the lease, checks the fence, and repeats
 * transactions that the database may take later. There is one in a process; its owner is
 * WRITE_OWNER_WRITER. All functions but write_main_is_lost are for the session's thread. */
#ifndef INDEXER_WRITE_SESSION_MAIN_SESSION_H
#define INDEXER_WRITE_SESSION_MAIN_SESSION_H

#include "indexer/database/words.h"
#include "indexer/write/session/lease.h"
#include "indexer/write/session/session.h"
#include "tidemark/retry.h"

#include <stdatomic.h>

/* The row of chain.cursor as this writer's last commit left it. The fence is the check that it
 * still is so. */
struct write_cursor {
    char writer[TIDE_WRITER_TEXT]; /* drawn by this writer: a uuid, which no other writer has */
    uint64_t moves;                /* commits counted in the row */
    uint32_t ledger;               /* the newest ledger of which all rows are committed; 0: none */
    uint8_t hash[TIDE_HASH_BYTES]; /* hash of `ledger` */
};

struct write_main {
    struct write_session session;
    struct write_cursor cursor;
    struct tide_lease *lease;        /* NULL: none */
    struct tide_words *words;        /* borrowed; forgotten when a transaction fails */
    int64_t spoke_ms;                /* when write_main_speak last sent a statement */
    uint64_t retries;                /* repeated transactions and reconnections */
    struct tide_retry retry;         /* random pauses, which differ between processes */
    struct tide_heartbeat heartbeat; /* the last report, without its texts */
};

/* A whole transaction, or a series that may be repeated. It is called again after a temporary
 * failure. */
typedef tide_status (*write_step)(struct write_main *m, const void *arg, struct tide_err *err);
/* Runs step until it succeeds or fails for good. commits: the step increases chain.cursor.moves by
 * one, and this number shows after a lost answer whether COMMIT succeeded. TIDE_E_STOPPED,
 * TIDE_E_FENCED, or a failure of step for which a repetition does not help. */
tide_status write_retry(struct write_main *m, write_step step, const void *arg, bool commits,
                        struct tide_err *err) TIDE_MUST_USE;
/* Counts and logs a connection that could not be opened, then pauses. */
void write_main_note_away(struct write_main *m, uint32_t attempt, const struct tide_err *err);

/* BEGIN and the fence. TIDE_E_FENCED if chain.cursor is not as this writer left it: its writer, the
 * number of commits, the ledger and the hash that the transaction continues. */
tide_status write_begin(struct write_main *m, struct tide_err *err) TIDE_MUST_USE;
/* The same for work that grows with the stored data: neither the server nor this process limits the
 * time of its statements, because a limit would end each repetition, too. The caller always calls
 * write_end_long after the transaction. */
tide_status write_begin_long(struct write_main *m, struct tide_err *err) TIDE_MUST_USE;
void write_end_long(struct write_main *m);
/* Appends the fence to the text of any session: one row if this process still is the writer. */
void write_sql_fence(struct write_session *s, const struct write_cursor *cursor);
/* Fails with TIDE_E_FENCED. */
tide_status write_fenced(const struct write_plan *plan, struct tide_err *err) TIDE_MUST_USE;

/* Notes a commit that chain.cursor.moves counts. */
void write_main_count(struct write_main *m);
/* Notes that the cursor's row is at ledger, after a commit that moved it there. */
void write_main_advance(struct write_main *m, uint32_t ledger, const uint8_t hash[TIDE_HASH_BYTES]);
/* Returns whether a range that begins at from continues the cursor. */
bool write_cursor_continues(const struct write_cursor *cursor, uint32_t from);

/* Sends a statement if this function sent none for WRITE_SPEAK_MS, because the server ends silent
 * sessions. */
tide_status write_main_speak(struct write_main *m, struct tide_err *err) TIDE_MUST_USE;
/* Waits until a helper's thread sets *ended or *enough. Sends statements meanwhile, because the
 * server ends a silent session, and the lock with it. A failure is ignored here: the next
 * statement meets it. If the writer stops, sets *stopped. The watchdog judges the helper by its
 * own progress. */
void write_main_wait(struct write_main *m, const atomic_bool *ended, const atomic_bool *enough,
                     atomic_bool *stopped);

/* Sets the report of the lease's thread, see tide_writer_heartbeat. */
void write_main_report(struct write_main *m, const struct tide_heartbeat *heartbeat);
/* Returns whether the lease found that another writer took over. For any thread. */
bool write_main_is_lost(const struct write_main *m);

/* standby.c */
/* Waits until this session has the advisory lock. Ends the sessions of a holder whose lease
 * expired. TIDE_E_CONFLICT if the lock is held and !standby; TIDE_E_STOPPED. */
tide_status write_wait_lock(struct write_main *m, bool standby, uint32_t poll_ms,
                            struct tide_err *err) TIDE_MUST_USE;
/* Takes the lease for cursor.writer; with hold, a thread renews it. */
tide_status write_take_lease(struct write_main *m, bool hold, struct tide_err *err) TIDE_MUST_USE;
/* Stores the new server session in the lease, after a reconnection. */
tide_status write_keep_lease(struct write_main *m, struct tide_err *err) TIDE_MUST_USE;

#endif
