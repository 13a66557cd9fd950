#include "api/base/clocks.h"

#include <stdio.h>

static const char clocks_sql[] =
    "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
    " coalesce(chain.unix_ms(c.closed_at), 0), coalesce(c.ledger, 0)"
    " FROM (SELECT) AS one LEFT JOIN chain.cursor AS c ON c.deployment = $1::int AND c.ledger > 0";

tide_status tide_clocks_read(struct tide_clocks *out, struct tide_pg *pg,
                             const struct tide_clock *clock, uint32_t deployment,
                             struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[16];
    snprintf(id, sizeof id, "%u", deployment);
    int64_t asked = clock->now_ms(clock->self);
    tide_status status = tide_pg_query(pg, &rows, clocks_sql, (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1);
    *out = (struct tide_clocks){ .host_ms = clock->wall_ms(clock->self),
                                 .took_ms = clock->now_ms(clock->self) - asked,
                                 .database_ms = (int64_t)tide_pg_u64(&rows, 0, 0),
                                 .chain_ms = (int64_t)tide_pg_u64(&rows, 0, 1),
                                 .ledger = (uint32_t)tide_pg_u64(&rows, 0, 2) };
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

enum tide_clocks_verdict tide_clocks_judge(const struct tide_clocks *c, uint32_t skew_s)
{
    int64_t skew = (int64_t)skew_s * 1000;
    if (c->database_ms > c->host_ms + skew || c->database_ms + c->took_ms + skew < c->host_ms)
        return TIDE_CLOCKS_DATABASE;
    if (c->ledger && c->chain_ms > c->host_ms + skew)
        return TIDE_CLOCKS_BEFORE_CHAIN;
    if (c->ledger && c->chain_ms + skew < c->host_ms)
        return TIDE_CLOCKS_AFTER_CHAIN;
    return TIDE_CLOCKS_AGREE;
}

const char *tide_clocks_name(enum tide_clocks_verdict verdict)
{
    static const char *const names[] = { "agree", "database", "before_chain", "after_chain" };
    assert(verdict < TIDE_COUNT(names));
    return names[verdict];
}

static int64_t seconds_of(int64_t ms)
{
    return (ms < 0 ? -ms : ms) / 1000;
}

void tide_clocks_say(char out[TIDE_CLOCKS_TEXT_BYTES], const struct tide_clocks *c,
                     enum tide_clocks_verdict verdict)
{
    int64_t database = c->database_ms - c->host_ms, chain = c->chain_ms - c->host_ms;
    switch (verdict) {
    case TIDE_CLOCKS_AGREE:
        snprintf(out, TIDE_CLOCKS_TEXT_BYTES, "the clocks agree");
        break;
    case TIDE_CLOCKS_DATABASE:
        snprintf(out, TIDE_CLOCKS_TEXT_BYTES,
                 "the database's clock is %" PRId64 " s %s this host's", seconds_of(database),
                 database < 0 ? "behind" : "ahead of");
        break;
    case TIDE_CLOCKS_BEFORE_CHAIN:
        snprintf(out, TIDE_CLOCKS_TEXT_BYTES,
                 "this host's clock is %" PRId64 " s behind ledger %u: it is wrong",
                 seconds_of(chain), c->ledger);
        break;
    case TIDE_CLOCKS_AFTER_CHAIN:
        snprintf(out, TIDE_CLOCKS_TEXT_BYTES,
                 "this host's clock is %" PRId64 " s ahead of ledger %u, the newest indexed:"
                 " the clock is wrong, or the index is late",
                 seconds_of(chain), c->ledger);
        break;
    }
}
