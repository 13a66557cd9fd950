#include "schema/postgres/pg_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/pg.h"

#include <sys/socket.h>

tide_status tide_pg_pipe(struct tide_pg *pg, struct tide_err *err)
{
    tide_status status;
    if (!pg_begin(pg, "pipeline", &status, err))
        return status;
    return PQenterPipelineMode(pg->conn) ? TIDE_OK : pg_fail(pg, NULL, "pipeline", err);
}

tide_status tide_pg_pipe_run(struct tide_pg *pg, const char *sql, struct tide_err *err)
{
    tide_status status;
    if (!pg_begin(pg, sql, &status, err))
        return status;
    if (!PQsendQueryParams(pg->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
        return pg_fail(pg, NULL, sql, err);
    return TIDE_OK;
}

tide_status tide_pg_pipe_execute(struct tide_pg *pg, const char *name, const char *const *values,
                                 size_t count, struct tide_err *err)
{
    tide_status status;
    assert(count <= TIDE_PG_PARAMS_MAX);
    assert(name[0]); /* the unnamed statement is replaced by each query */
    if (!pg_begin(pg, name, &status, err))
        return status;
    if (!PQsendQueryPrepared(pg->conn, name, (int)count, values, NULL, NULL, 0))
        return pg_fail(pg, NULL, name, err);
    return TIDE_OK;
}

tide_status tide_pg_pipe_bytes(struct tide_pg *pg, const char *name, tide_slice value,
                               struct tide_err *err)
{
    static const int binary = 1;
    const char *values[] = { (const char *)value.ptr };
    tide_status status;
    assert(value.len <= INT32_MAX);
    int len = (int)value.len;
    if (!pg_begin(pg, name, &status, err))
        return status;
    if (!PQsendQueryPrepared(pg->conn, name, 1, values, &len, &binary, 0))
        return pg_fail(pg, NULL, name, err);
    return TIDE_OK;
}

/* Handles one result of the pipeline and keeps the first failure. Returns true at the end of the
 * pipeline. */
static bool take_result(struct tide_pg *pg, PGresult *result, const struct tide_pg_answers *sink,
                        uint32_t *index, tide_status *status, struct tide_err *err)
{
    ExecStatusType type = PQresultStatus(result);
    if (type == PGRES_PIPELINE_SYNC)
        return true;
    uint32_t at = (*index)++;
    if (*status != TIDE_OK || type == PGRES_PIPELINE_ABORTED)
        return false;
    if (type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK) {
        struct tide_pg_rows rows = pg_rows_of(result);
        *status = sink->answer(sink->self, at, &rows, err);
    } else {
        *status = pg_fail(pg, result, "pipeline", err);
    }
    return false;
}

/* Reads the results up to the end of the pipeline. libpq returns one NULL between two statements;
 * three in a row mean that the end was lost. */
static tide_status collect_results(struct tide_pg *pg, const struct tide_pg_answers *sink,
                                   struct tide_err *err)
{
    tide_status status = TIDE_OK;
    uint32_t index = 0, nothing = 0;
    bool over = false;
    while (!over && nothing < 3 && tide_pg_alive(pg)) {
        PGresult *result = pg_next_result(pg);
        nothing = result ? 0 : nothing + 1;
        if (result)
            over = take_result(pg, result, sink, &index, &status, err);
        PQclear(result);
    }
    if (status == TIDE_OK && !over)
        status = pg_fail(pg, NULL, "pipeline", err);
    return status;
}

tide_status tide_pg_pipe_end(struct tide_pg *pg, const struct tide_pg_answers *sink,
                             struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (!pg->conn || PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF)
        return TIDE_OK;
    if (!PQpipelineSync(pg->conn) || !pg_flush(pg))
        status = pg_fail(pg, NULL, "pipeline", err);
    if (TIDE_FAILPOINT("pg.answer")) /* the statements are sent, but their answers are lost */
        shutdown(PQsocket(pg->conn), SHUT_RDWR);
    if (status == TIDE_OK)
        status = collect_results(pg, sink, err);
    bool closed = tide_pg_alive(pg) && PQexitPipelineMode(pg->conn);
    if (!closed && status == TIDE_OK)
        status = pg_fail(pg, NULL, "pipeline", err);
    if (!closed)
        pg->remedy = TIDE_PG_RECONNECT;
    return status;
}
