/* A session: who may use it, how it connects, and the text of statements. */
#include "indexer/write/session/session.h"
#include "indexer/database/query.h"
#include "tidemark/text.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* --- the plan --------------------------------------------------------------------------- */

bool write_plan_stopped(const struct write_plan *plan)
{
    return plan->stopped && plan->stopped(plan->stopped_self);
}

bool write_plan_has_contracts(const struct write_plan *plan)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if (strcmp(plan->tables[i].name, "contract_seen") == 0)
            return true;
    return false;
}

uint32_t write_plan_partition(const struct write_plan *plan, uint32_t ledger)
{
    assert(plan->partition_ledgers > 0);
    uint32_t from = ledger - ledger % plan->partition_ledgers;
    return plan->cut > from && plan->cut <= ledger ? plan->cut : from;
}

uint32_t write_plan_end(const struct write_plan *plan, uint32_t ledger)
{
    uint32_t end = ledger - ledger % plan->partition_ledgers + plan->partition_ledgers;
    return plan->cut > ledger && plan->cut < end ? plan->cut : end;
}

bool write_plan_holds(const struct write_plan *plan, uint32_t ledger)
{
    return ledger < plan->held_before;
}

bool write_plan_fits(const struct write_plan *plan, uint32_t from)
{
    return from <= INT32_MAX - plan->partition_ledgers;
}

uint32_t write_plan_ahead(const struct write_plan *plan, uint32_t ledger)
{
    uint32_t next = write_plan_end(plan, ledger);
    return next - ledger > plan->partition_ledgers / 10 ? 0 : next;
}

/* A writer that its host suspended must not hold locks for ever: the server ends its idle session,
 * a standby takes over, and the fence stops the first writer when it wakes. While a writer sends a
 * batch's rows no timeout of the server applies; then only a standby ends it. */
#define SESSION_SQL                                                                      \
    "SET lock_timeout = '15s'; SET statement_timeout = '10min';"                         \
    "SET idle_in_transaction_session_timeout = '30s'; SET idle_session_timeout = '90s';" \
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1;"                      \
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = '8s';"                         \
    "SET client_connection_check_interval = '500ms';"                                    \
    "SELECT set_config('maintenance_work_mem', '262144', false)"                         \
    " WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < "                   \
    "268435456;" TIDE_COMPRESSION_SQL "SET jit = off;" WRITE_STATISTICS_SQL ";"          \
    "SET plan_cache_mode = force_generic_plan"

/* ---- owner and thread ---- */

void write_session_init(struct write_session *s, const struct write_plan *plan,
                        enum write_owner owner)
{
    *s = (struct write_session){ .plan = plan, .owner = owner, .thread = pthread_self() };
    tide_buf_init(&s->sql, WRITE_SQL_MAX);
}

void write_session_close(struct write_session *s)
{
    assert(s->given || write_session_is_mine(s));
    tide_pg_close(s->pg);
    s->pg = NULL;
    tide_buf_release(&s->sql);
    tide_pg_rows_release(&s->rows);
}

bool write_session_is_mine(const struct write_session *s)
{
    return !s->given && pthread_equal(s->thread, pthread_self());
}

void write_session_give(struct write_session *s)
{
    assert(write_session_is_mine(s));
    s->given = true;
}

void write_session_take(struct write_session *s)
{
    assert(s->given);
    s->given = false;
    s->thread = pthread_self();
}

struct tide_pg *write_pg(const struct write_session *s)
{
    assert(write_session_is_mine(s));
    return s->pg;
}

/* ---- the connection ---- */

static struct tide_pg_options options_of(const struct write_session *s)
{
    return (struct tide_pg_options){ .conninfo = s->plan->conninfo,
                                     .application = "tidemark-indexer",
                                     .server = TIDE_PG_WRITABLE,
                                     .stopped = s->plan->stopped,
                                     .stopped_self = s->plan->stopped_self };
}

tide_status write_session_connect(struct write_session *s, struct tide_err *err)
{
    struct tide_pg_options to = options_of(s);
    assert(write_session_is_mine(s));
    assert(s->owner == WRITE_OWNER_WRITER); /* helpers connect once, by write_session_open */
    to.silence_ms = s->plan->silence_ms;
    s->number++;
    return tide_pg_connect(&s->pg, &to, err);
}

tide_status write_session_configure(struct write_session *s, struct tide_err *err)
{
    return tide_pg_run(write_pg(s), SESSION_SQL, NULL, err);
}

tide_status write_session_reopen(struct write_session *s, struct tide_err *err)
{
    assert(s->owner == WRITE_OWNER_WRITER);
    s->number++;
    tide_status status = tide_pg_reopen(write_pg(s), err);
    return status == TIDE_OK ? write_session_configure(s, err) : status;
}

tide_status write_session_open(struct write_session *s, bool (*stopped)(void *self), void *self,
                               struct tide_err *err)
{
    struct tide_pg_options to = options_of(s);
    assert(write_session_is_mine(s) && !s->pg && s->owner != WRITE_OWNER_WRITER);
    to.stopped = stopped;
    to.stopped_self = self;
    s->number++;
    tide_status status = tide_pg_open(&s->pg, &to, err);
    if (status == TIDE_OK)
        status = write_session_configure(s, err);
    if (status != TIDE_OK)
        write_session_close(s);
    return status;
}

/* ---- text ---- */

TIDE_PRINTF(2, 0)
static void append_sql(struct tide_buf *sql, const char *format, va_list args)
{
    char text[2048];
    int len = vsnprintf(text, sizeof text, format, args);
    assert(len >= 0 && (size_t)len < sizeof text);
    tide_buf_put(sql, text, (size_t)len);
}

void write_sql(struct write_session *s, const char *format, ...)
{
    va_list args;
    tide_buf_reset(&s->sql);
    va_start(args, format);
    append_sql(&s->sql, format, args);
    va_end(args);
}

void write_sql_more(struct write_session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_sql(&s->sql, format, args);
    va_end(args);
}

void write_sql_hash(struct write_session *s, const uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_str(&s->sql, "'\\x");
    tide_buf_hex(&s->sql, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(&s->sql, "'::bytea");
}

void write_sql_time(struct write_session *s, uint64_t closed_ms)
{
    write_sql_more(s, "to_timestamp(%" PRIu64 " / 1000.0)", closed_ms);
}

void write_sql_columns(struct write_session *s, const struct tide_table *table, const char *prefix)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        write_sql_more(s, "%s%s\"%s\"", i ? "," : "", prefix, table->columns[i].name);
}

tide_status write_sql_sealed(struct write_session *s, struct tide_err *err)
{
    tide_buf_u8(&s->sql, 0);
    if (s->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: a statement is longer than %u bytes",
                         WRITE_SQL_MAX);
    return TIDE_OK;
}

tide_status write_run_sql(struct write_session *s, const char *tag, struct tide_err *err)
{
    tide_status status = write_sql_sealed(s, err);
    return status == TIDE_OK ? tide_pg_run(write_pg(s), (const char *)s->sql.ptr, tag, err)
                             : status;
}

tide_status write_query_sql(struct write_session *s, struct tide_err *err)
{
    tide_pg_rows_release(&s->rows);
    tide_status status = write_sql_sealed(s, err);
    return status == TIDE_OK ? tide_pg_script(write_pg(s), &s->rows, (const char *)s->sql.ptr, err)
                             : status;
}

void write_sql_leaf(struct write_session *s, const struct tide_table *table, uint32_t from)
{
    const struct tide_table *stored = tide_table_stored(table);
    write_sql_more(s, "%s.\"%s_p%u_%u\"", stored->schema, stored->name, s->plan->deployment, from);
}

tide_status write_point(bool fired, struct tide_err *err)
{
    return fired ? tide_fail(err, TIDE_E_DB, "failpoint") : TIDE_OK;
}

tide_status write_commit(struct write_session *s, struct tide_err *err)
{
    tide_status status = write_point(TIDE_FAILPOINT("commit.before"), err);
    if (status == TIDE_OK)
        status = tide_pg_run(write_pg(s), "COMMIT", "COMMIT", err);
    if (status == TIDE_OK)
        (void)!TIDE_FAILPOINT("commit.after");
    return status;
}
