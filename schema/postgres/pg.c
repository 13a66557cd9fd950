#include "tidemark/pg.h"
#include "schema/postgres/pg_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>

/* Session settings that the statements rely on, whatever the server's defaults are. */
static const char session_sql[] =
    "SET search_path = pg_catalog; SET timezone = 'UTC'; SET bytea_output = 'hex';"
    "SET datestyle = 'ISO, MDY'; SET standard_conforming_strings = on;"
    "SET client_min_messages = warning; SET extra_float_digits = 1;"
    /* Otherwise a new session, as after a failover, would compile its first statements for
     * seconds. */
    "SET jit = off;"
    /* Ends a statement whose client is gone: repeated attempts would otherwise overload a slow
     * server. */
    "SET client_connection_check_interval = '5s'";

/* Logs warnings that the project's statements raise (RAISE WARNING). Other notices of the server
 * are dropped. */
static void log_warning(void *self, const PGresult *result)
{
    char quoted[1024];
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    (void)self;
    if (state && text && strcmp(state, "01000") == 0)
        tide_log(TIDE_WARN, "database.warning", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, text));
}

/* Returns false if a password in a URI contains an @ or / that is not escaped. libpq would take a
 * part of it for the host, port or database, and show that part in messages. */
static bool is_uri_clear(const char *conninfo)
{
    static const char *const schemes[] = { "postgresql://", "postgres://" };
    for (size_t i = 0; i < TIDE_COUNT(schemes); i++) {
        size_t len = strlen(schemes[i]);
        if (strncmp(conninfo, schemes[i], len) != 0)
            continue;
        const char *at = strchr(conninfo + len, '@');
        const char *path = strchr(conninfo + len, '/');
        return !at || (!strchr(at + 1, '@') && (!path || at < path));
    }
    return true;
}

static bool is_port_clear(const PQconninfoOption *options)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, "port") == 0 && options->val)
            return options->val[strspn(options->val, "0123456789,")] == '\0';
    return true;
}

/* Checks conninfo. libpq's own messages quote the string with its password, so none is shown. */
static tide_status check_conninfo(const char *conninfo, struct tide_err *err)
{
    char *message = NULL;
    const char *text = conninfo ? conninfo : "";
    PQconninfoOption *options = PQconninfoParse(text, &message);
    bool clear = options && is_uri_clear(text) && is_port_clear(options);
    bool memory = !options && !message;
    if (options)
        PQconninfoFree(options);
    PQfreemem(message);
    if (memory)
        return tide_fail(err, TIDE_E_MEMORY, "database: connection string");
    return clear ? TIDE_OK
                 : tide_fail(err, TIDE_E_CONFIG,
                             "database: the connection string (not shown: it may hold a password) "
                             "is no URI and no list of key=value; in a URI write %% @ / : of user "
                             "and password as %%25 %%40 %%2F %%3A");
}

static const char *session_attrs(enum tide_pg_server server)
{
    static const char *const names[] = { [TIDE_PG_ANY_SERVER] = "any",
                                         [TIDE_PG_WRITABLE] = "read-write",
                                         [TIDE_PG_PRIMARY] = "primary" };
    static_assert(TIDE_COUNT(names) == TIDE_PG_PRIMARY + 1, "each kind of server has its word");
    assert(server < TIDE_COUNT(names));
    return names[server];
}

/* Connects. libpq takes the last of two equal keywords, so the operator's connection string wins
 * over the defaults before it, and forced (target_session_attrs, or NULL) over all. */
static PGconn *connect_now(const struct tide_pg_options *options, const char *forced)
{
    const char *keys[16] = { "connect_timeout",     "keepalives",       "keepalives_idle",
                             "keepalives_interval", "keepalives_count", "tcp_user_timeout",
                             "client_encoding" };
    const char *values[TIDE_COUNT(keys)] = { "5", "1", "10", "3", "3", "20000", "UTF8" };
    size_t n = 7;
    assert(keys[n - 1] && values[n - 1] && !keys[n]); /* the defaults above */
    keys[n] = "fallback_application_name";
    values[n++] = options->application ? options->application : "tidemark";
    keys[n] = "target_session_attrs";
    values[n++] = session_attrs(options->server);
    if (options->conninfo && *options->conninfo) {
        keys[n] = "dbname";
        values[n++] = options->conninfo;
    }
    if (forced) {
        keys[n] = "target_session_attrs";
        values[n++] = forced;
    }
    assert(n < TIDE_COUNT(keys)); /* room for the NULL at the end */
    return PQconnectdbParams(keys, values, 1);
}

/* Returns whether a standby answers where a primary is wanted: libpq reports no code for a server
 * of another kind, so this function asks for a standby. */
static bool meets_standby(const struct tide_pg_options *options)
{
    if (options->server != TIDE_PG_PRIMARY)
        return false;
    PGconn *conn = connect_now(options, "standby");
    bool met = PQstatus(conn) == CONNECTION_OK;
    PQfinish(conn);
    return met;
}

/* Returns true if a line of the message is the SQLSTATE of a failure that does not heal by itself:
 * wrong credentials, a database that does not exist, no right to connect. A server's line is
 * "…SEVERITY:  SQLSTATE". */
static bool has_lasting_state(const char *message)
{
    static const char *const states[] = { "28000", "28P01", "3D000", "42501" };
    for (const char *line = message; *line; line += strspn(line, "\n")) {
        size_t len = strcspn(line, "\n");
        for (size_t i = 0; i < TIDE_COUNT(states) && len > 8; i++)
            if (strncmp(line + len - 8, ":  ", 3) == 0 &&
                strncmp(line + len - 5, states[i], 5) == 0)
                return true;
        line += len;
    }
    return false;
}

/* Returns true if waiting cannot open this connection. Decided by SQLSTATE, because the server's
 * texts are in its language (lc_messages). libpq reports the SQLSTATE of a failed connection only
 * in the message, and only if the verbosity was set before. A PGconn exists only after the first
 * attempt, so the function makes a second one. */
static bool is_misconfigured(PGconn *conn)
{
    if (PQconnectionNeedsPassword(conn))
        return true;
    PQsetErrorVerbosity(conn, PQERRORS_SQLSTATE);
    PQreset(conn);
    return PQstatus(conn) != CONNECTION_OK && has_lasting_state(PQerrorMessage(conn));
}

static tide_status code_of_failure(const struct tide_pg_options *options, PGconn *conn, bool first)
{
    if (meets_standby(options))
        return TIDE_E_NO_PRIMARY;
    /* At the first connection such a failure is probably a wrong setting, and waiting would hide
     * it. */
    return first && conn && is_misconfigured(conn) ? TIDE_E_DB_FATAL : TIDE_E_DB;
}

/* Makes one line: replaces newlines of libpq's messages by spaces and removes trailing ones. */
static void trim_message(char *text)
{
    size_t len = strlen(text);
    while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
        text[--len] = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\n' || text[i] == '\t')
            text[i] = ' ';
}

/* Opens the connection. first: this struct has had no connection yet. */
static tide_status open_connection(struct tide_pg *pg, bool first, struct tide_err *err)
{
    assert(!pg->conn);
    PGconn *conn = connect_now(&pg->options, NULL);
    if (PQstatus(conn) != CONNECTION_OK) {
        pg->remedy = TIDE_PG_RECONNECT;
        pg->sqlstate[0] = 0;
        (void)!tide_fail(err, TIDE_E_DB, "database: %s",
                         conn ? PQerrorMessage(conn) : "out of memory");
        trim_message(err->text);
        err->code = code_of_failure(&pg->options, conn, first);
        assert(err->code != TIDE_OK);
        if (err->code == TIDE_E_NO_PRIMARY)
            tide_fail_context(err, "no primary among the servers");
        PQfinish(conn);
        return err->code;
    }
    PQsetNoticeReceiver(conn, log_warning, NULL);
    PQsetnonblocking(conn, 1);
    pg->conn = conn;
    tide_status status = tide_pg_run(pg, session_sql, "SET", err);
    if (status != TIDE_OK) {
        PQfinish(pg->conn);
        pg->conn = NULL;
    }
    return status;
}

tide_status tide_pg_open(struct tide_pg **out, const struct tide_pg_options *options,
                         struct tide_err *err)
{
    tide_status status = check_conninfo(options->conninfo, err);
    if (status != TIDE_OK)
        return status;
    struct tide_pg *pg = calloc(1, sizeof *pg);
    if (!pg)
        return tide_fail(err, TIDE_E_MEMORY, "database connection");
    pg->options = *options;
    status = open_connection(pg, true, err);
    if (status != TIDE_OK) {
        free(pg);
        return status;
    }
    *out = pg;
    return TIDE_OK;
}

void tide_pg_close(struct tide_pg *pg)
{
    if (!pg)
        return;
    PQfinish(pg->conn);
    free(pg);
}

tide_status tide_pg_reopen(struct tide_pg *pg, struct tide_err *err)
{
    PQfinish(pg->conn);
    pg->conn = NULL;
    return open_connection(pg, false, err);
}

tide_status tide_pg_connect(struct tide_pg **pg, const struct tide_pg_options *options,
                            struct tide_err *err)
{
    return *pg ? tide_pg_reopen(*pg, err) : tide_pg_open(pg, options, err);
}

void tide_pg_patience(struct tide_pg *pg, uint32_t silence_ms)
{
    pg->options.silence_ms = silence_ms;
}

bool tide_pg_alive(const struct tide_pg *pg)
{
    return pg->conn && PQstatus(pg->conn) == CONNECTION_OK;
}

bool tide_pg_in_transaction(const struct tide_pg *pg)
{
    return pg->conn && PQtransactionStatus(pg->conn) != PQTRANS_IDLE;
}

enum tide_pg_remedy tide_pg_remedy(const struct tide_pg *pg)
{
    return pg->remedy;
}

const char *tide_pg_sqlstate(const struct tide_pg *pg)
{
    return pg->sqlstate;
}

tide_status pg_fail(struct tide_pg *pg, const PGresult *result, const char *what,
                    struct tide_err *err)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    snprintf(pg->sqlstate, sizeof pg->sqlstate, "%s", state ? state : "");
    pg->remedy = tide_pg_remedy_of(pg->sqlstate);
    if (!tide_pg_alive(pg))
        pg->remedy = TIDE_PG_RECONNECT;
    bool asked = pg->cancelled && strcmp(pg->sqlstate, "57014") == 0;
    tide_status code = asked                        ? TIDE_E_STOPPED
                       : pg->remedy == TIDE_PG_NONE ? TIDE_E_DB_FATAL
                                                    : TIDE_E_DB;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *detail = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL) : NULL;
    const char *table = result ? PQresultErrorField(result, PG_DIAG_TABLE_NAME) : NULL;
    if (!text)
        text = PQerrorMessage(pg->conn);
    tide_fail(err, code, "database: %.80s: %s%s%s%s%s%s%s", what, pg->sqlstate,
              pg->sqlstate[0] ? " " : "", text, detail ? ": " : "", detail ? detail : "",
              table ? " Table " : "", table ? table : "");
    trim_message(err->text);
    return code;
}

void pg_cancel(struct tide_pg *pg)
{
    char ignored[256];
    assert(pg->conn);
    PGcancel *cancel = PQgetCancel(pg->conn);
    if (cancel)
        PQcancel(cancel, ignored, sizeof ignored);
    PQfreeCancel(cancel);
}

/* Sends a cancel request once the stop has lasted longer than the grace. */
static void mind_stop(struct tide_pg *pg, int64_t *stopping_ms, int waited_ms)
{
    if (!pg->options.stopped || !pg->options.stopped(pg->options.stopped_self))
        return;
    *stopping_ms += waited_ms;
    if (*stopping_ms < TIDE_PG_GRACE_MS)
        return;
    if (*stopping_ms >= (int64_t)2 * TIDE_PG_GRACE_MS)
        /* the server did not react to the cancel request */
        shutdown(PQsocket(pg->conn), SHUT_RDWR);
    else if (!pg->cancelled)
        pg_cancel(pg);
    pg->cancelled = true;
}

/* Cuts the connection after silence_ms, so that libpq notices a dead link or a hanging server. */
static void mind_silence(struct tide_pg *pg, uint32_t waited_ms)
{
    pg->silent_ms += waited_ms;
    if (pg->options.silence_ms == 0 || pg->silent_ms < pg->options.silence_ms)
        return;
    tide_log(TIDE_WARN, "db.silent", "ms=%u", pg->silent_ms);
    shutdown(PQsocket(pg->conn), SHUT_RDWR);
    pg->silent_ms = 0;
}

static bool wait_socket(struct tide_pg *pg, short events, int64_t *stopping_ms)
{
    enum { SLICE_MS = 200 };
    struct pollfd fd = { .fd = PQsocket(pg->conn), .events = events };
    if (fd.fd < 0)
        return false;
    int ready = poll(&fd, 1, SLICE_MS);
    if (ready == 0) {
        mind_stop(pg, stopping_ms, SLICE_MS);
        mind_silence(pg, SLICE_MS);
    } else if (ready > 0) {
        pg->silent_ms = 0;
        tide_liveness_mark();
    }
    if (ready > 0 && (fd.revents & (POLLIN | POLLERR | POLLHUP)))
        return PQconsumeInput(pg->conn) == 1;
    return ready >= 0 || errno == EINTR;
}

bool pg_wait(struct tide_pg *pg, int64_t *stopping_ms)
{
    return wait_socket(pg, POLLIN, stopping_ms);
}

bool pg_flush(struct tide_pg *pg)
{
    int64_t stopping_ms = 0;
    int pending;
    while ((pending = PQflush(pg->conn)) == 1)
        if (!wait_socket(pg, POLLIN | POLLOUT, &stopping_ms))
            return false;
    return pending == 0;
}

PGresult *pg_next_result(struct tide_pg *pg)
{
    int64_t stopping_ms = 0;
    while (PQisBusy(pg->conn))
        if (!wait_socket(pg, POLLIN, &stopping_ms))
            break;
    return PQgetResult(pg->conn);
}

void pg_drain(struct tide_pg *pg)
{
    PGresult *result;
    while (tide_pg_alive(pg) && (result = pg_next_result(pg)) != NULL) {
        ExecStatusType type = PQresultStatus(result);
        PQclear(result);
        if (type == PGRES_COPY_IN && (PQputCopyEnd(pg->conn, "abandoned") != 1 || !pg_flush(pg)))
            break;
        if (type == PGRES_COPY_OUT || type == PGRES_COPY_BOTH)
            break;
    }
}

bool pg_begin(struct tide_pg *pg, const char *what, tide_status *status, struct tide_err *err)
{
    pg->cancelled = false;
    pg->silent_ms = 0;
    tide_liveness_mark();
    pg->remedy = TIDE_PG_NONE;
    pg->sqlstate[0] = 0;
    if (TIDE_FAILPOINT("pg.statement")) {
        pg->remedy = TIDE_PG_AGAIN;
        *status = tide_fail(err, TIDE_E_DB, "failpoint: %.80s", what);
        return false;
    }
    if (tide_pg_alive(pg))
        return true;
    pg->remedy = TIDE_PG_RECONNECT;
    *status = tide_fail(err, TIDE_E_DB, "database: %.80s: connection is lost", what);
    return false;
}

/* Reads all results. Keeps the last good one in *last and reports the first failure. */
tide_status pg_collect(struct tide_pg *pg, PGresult **last, const char *what, struct tide_err *err)
{
    tide_status status = pg_flush(pg) ? TIDE_OK : pg_fail(pg, NULL, what, err);
    if (TIDE_FAILPOINT("pg.answer")) /* the statement is sent, but its answer is lost */
        shutdown(PQsocket(pg->conn), SHUT_RDWR);
    PGresult *result, *kept = NULL;
    while (status == TIDE_OK && (result = pg_next_result(pg)) != NULL) {
        ExecStatusType type = PQresultStatus(result);
        PQclear(kept);
        kept = result;
        if (type != PGRES_COMMAND_OK && type != PGRES_TUPLES_OK && type != PGRES_EMPTY_QUERY)
            status = pg_fail(pg, result, what, err);
    }
    if (status == TIDE_OK && !kept)
        status = pg_fail(pg, NULL, what, err);
    if (status == TIDE_OK) {
        *last = kept;
        return TIDE_OK;
    }
    PQclear(kept);
    pg_drain(pg);
    if (!tide_pg_alive(pg))
        pg->remedy = TIDE_PG_RECONNECT;
    return status;
}

tide_status tide_pg_run(struct tide_pg *pg, const char *sql, const char *tag, struct tide_err *err)
{
    tide_status status;
    PGresult *result = NULL;
    if (!pg_begin(pg, sql, &status, err))
        return status;
    if (!PQsendQuery(pg->conn, sql))
        return pg_fail(pg, NULL, sql, err);
    status = pg_collect(pg, &result, sql, err);
    if (status != TIDE_OK)
        return status;
    const char *got = PQcmdStatus(result);
    if (tag && strncmp(got, tag, strlen(tag)) != 0) {
        pg->remedy = TIDE_PG_AGAIN;
        status = tide_fail(err, TIDE_E_DB, "database: %.80s: answered %s, not %s", sql, got, tag);
    }
    PQclear(result);
    return status;
}
