#include "schema/postgres/pg_impl.h"
#include "tidemark/pg.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

tide_status tide_pg_listen(struct tide_pg *pg, const char *channel, struct tide_err *err)
{
    char sql[128];
    int len = snprintf(sql, sizeof sql, "LISTEN %s", channel);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    return tide_pg_run(pg, sql, "LISTEN", err);
}

static bool take_all(struct tide_pg *pg)
{
    bool any = false;
    for (PGnotify *n = PQnotifies(pg->conn); n; n = PQnotifies(pg->conn)) {
        PQfreemem(n);
        any = true;
    }
    return any;
}

tide_status tide_pg_wait(struct tide_pg *pg, int ms, bool *notified, struct tide_err *err)
{
    enum { SLICE_MS = 200 };
    tide_status status;
    *notified = false;
    if (!pg_begin(pg, "wait", &status, err))
        return status;
    for (int left = ms; !take_all(pg); left -= SLICE_MS) {
        struct pollfd fd = { .fd = PQsocket(pg->conn), .events = POLLIN };
        bool stop = pg->options.stopped && pg->options.stopped(pg->options.stopped_self);
        if (left <= 0 || stop)
            return TIDE_OK;
        int ready = poll(&fd, 1, left < SLICE_MS ? left : SLICE_MS);
        if (ready < 0 && errno != EINTR)
            return pg_fail(pg, NULL, "wait", err);
        if (ready > 0 && !PQconsumeInput(pg->conn))
            return pg_fail(pg, NULL, "wait", err);
    }
    *notified = true;
    return TIDE_OK;
}
