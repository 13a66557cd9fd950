/* One PostgreSQL session of the writer's process, and the text of its next statement.
 *
 * Owner    the part that opens a session and closes it: see enum write_owner.
 * Thread   exactly one thread may use a session, at first the one that opened it. To move a session
 *          to another thread, its thread calls write_session_give, then the other one
 *          write_session_take. Something that synchronises the two, like pthread_create or
 *          pthread_join, stands between. Use by any other thread is a bug: an assertion ends the
 *          process before a statement is sent.
 * Number   grows when the server's session is replaced by a new one. The server has forgotten what
 *          was prepared then. */
#ifndef INDEXER_WRITE_SESSION_SESSION_H
#define INDEXER_WRITE_SESSION_SESSION_H

#include "tidemark/buf.h"
#include "tidemark/failpoint.h"
#include "tidemark/pg.h"
#include "tidemark/table.h"

#include <pthread.h>

/* The plan of a writer: settings and facts that its sessions share. The writer's thread fills it
 * in while it opens the writer. From then on any thread may read it. Only cut and held_before
 * change, in the writer's thread, while no helper runs: when an index begins with the state of a
 * checkpoint, and when its past is filled. */

struct write_plan {
    const char *conninfo;            /* borrowed, like all pointers here */
    const struct tide_table *tables; /* table_count of them, at most TIDE_TABLES_MAX */
    uint32_t table_count;
    uint32_t deployment;
    char deployment_text[12];   /* deployment as text, for parameters of statements */
    uint32_t partition_ledgers; /* ledgers of a partition, above 0 */
    /* The ledger of the state with which the index began, from which on it cut its partition in
     * two: the lower part is loaded like any other. 0: none. */
    uint32_t cut;
    /* Ledgers below are loaded, but held back until all are there. 0: none. */
    uint32_t held_before;
    uint32_t silence_ms;         /* see struct tide_pg_options */
    uint32_t retry_ms_max;       /* longest pause between attempts */
    bool (*stopped)(void *self); /* NULL: never; any thread calls it */
    void *stopped_self;
};

/* Returns whether the process was asked to stop. */
bool write_plan_stopped(const struct write_plan *plan);
/* Returns whether the tables are those of the catalogue. False: a test's own tables. */
bool write_plan_has_contracts(const struct write_plan *plan);

/* Returns the first ledger of the partition that holds ledger. */
uint32_t write_plan_partition(const struct write_plan *plan, uint32_t ledger);
/* Returns the first ledger after that partition. */
uint32_t write_plan_end(const struct write_plan *plan, uint32_t ledger);
/* Returns whether rows of the ledger are held back. */
bool write_plan_holds(const struct write_plan *plan, uint32_t ledger);
/* Returns whether a partition may begin at ledger from: its last one has to fit an SQL integer. */
bool write_plan_fits(const struct write_plan *plan, uint32_t from);
/* Returns the first ledger of the next partition if ledger is in the last tenth of its own, and 0
 * otherwise. */
uint32_t write_plan_ahead(const struct write_plan *plan, uint32_t ledger);

#define WRITE_SQL_MAX (1u << 20)

/* Statistics of parents use samples of 9 000 rows. With 30 000, PostgreSQL's default, they cost
 * more than the indexes of small partitions. */
#define WRITE_STATISTICS_SQL "SET default_statistics_target = 30"

/* Interval at which a waiting session sends a statement, far below idle_session_timeout. */
enum { WRITE_SPEAK_MS = 5000 };
static_assert(WRITE_SPEAK_MS <= 90000 / 10, "the session's idle_session_timeout is 90 s");

enum write_owner {
    WRITE_OWNER_WRITER, /* the writer: holds the advisory lock, commits batches */
    WRITE_OWNER_BUILD,  /* the build of a loaded partition: makes indexes, merges */
    WRITE_OWNER_SPARE,  /* the spare partition: makes tables */
};

struct write_session {
    const struct write_plan *plan; /* borrowed */
    enum write_owner owner;
    bool given; /* its thread gave it away; no thread may use it until write_session_take */
    pthread_t thread;
    uint32_t number;
    struct tide_pg *pg;       /* NULL: not connected. Use write_pg */
    struct tide_buf sql;      /* the statement, see the functions below */
    struct tide_pg_rows rows; /* rows of the last write_query_sql, until the next one */
};

/* Makes a session that is not connected. The calling thread may use it. */
void write_session_init(struct write_session *s, const struct write_plan *plan,
                        enum write_owner owner);
/* Disconnects, and frees. Any thread may close a session that was given away (write_session_give).
 * A second call does nothing. */
void write_session_close(struct write_session *s);

/* Gives the session away; the calling thread may use it no more. */
void write_session_give(struct write_session *s);
/* Takes a given session for the calling thread. */
void write_session_take(struct write_session *s);
/* Returns whether the calling thread may use the session. */
bool write_session_is_mine(const struct write_session *s);
/* Returns the connection, for the session's thread alone. */
struct tide_pg *write_pg(const struct write_session *s);

/* Connects, or connects anew, to a server that takes writes. Uses the plan's stopped and
 * silence_ms. write_session_configure follows. */
tide_status write_session_connect(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;
/* Sets the time-outs and planner settings of the server's session. */
tide_status write_session_configure(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;
/* Replaces a lost connection, and configures the new one. */
tide_status write_session_reopen(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;
/* Connects a helper's session once, without a limit on silence, and configures it. stopped(self)
 * ends what it waits for. After a failure the session is closed. */
tide_status write_session_open(struct write_session *s, bool (*stopped)(void *self), void *self,
                               struct tide_err *err) TIDE_MUST_USE;

/* Begins the text of a statement, or of several. At most 2 047 bytes a call. */
void write_sql(struct write_session *s, const char *format, ...) TIDE_PRINTF(2, 3);
/* Appends to the text, with the same limit. */
void write_sql_more(struct write_session *s, const char *format, ...) TIDE_PRINTF(2, 3);
/* Appends '\x…' of a hash. */
void write_sql_hash(struct write_session *s, const uint8_t hash[TIDE_HASH_BYTES]);
/* Appends seconds as an SQL timestamp expression. */
void write_sql_time(struct write_session *s, uint64_t closed_ms);
/* Appends the columns of table as "a,b,c". */
void write_sql_columns(struct write_session *s, const struct tide_table *table, const char *prefix);
/* Appends the name of the table that stores table's rows of the partition: schema.name_pD_F. */
void write_sql_leaf(struct write_session *s, const struct tide_table *table, uint32_t from);
/* Ends the text. TIDE_E_LIMIT if it is longer than WRITE_SQL_MAX. */
tide_status write_sql_sealed(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;
/* Runs the text; the last command tag must begin with tag. */
tide_status write_run_sql(struct write_session *s, const char *tag,
                          struct tide_err *err) TIDE_MUST_USE;
/* Runs the text; s->rows are the rows of its last statement, none after a failure. */
tide_status write_query_sql(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;

/* Sends COMMIT, with failpoints before and after it. */
tide_status write_commit(struct write_session *s, struct tide_err *err) TIDE_MUST_USE;
/* Fails as a database would if the failpoint has fired. */
tide_status write_point(bool fired, struct tide_err *err) TIDE_MUST_USE;

#endif
