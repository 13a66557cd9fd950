#include "indexer/write/writer_impl.h"

struct hash_question {
    uint32_t ledger;
    bool *known;
    uint8_t *hash;
};

static tide_status read_hash(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct hash_question *q = arg;
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT hash FROM chain.coverage WHERE deployment = %u AND to_ledger = %u UNION ALL"
              " SELECT previous_hash FROM chain.coverage WHERE deployment = %u AND from_ledger = %u"
              " UNION ALL SELECT hash FROM chain.partition WHERE deployment = %u AND NOT attached"
              " AND last_loaded = %u",
              s->plan->deployment, q->ledger, s->plan->deployment, q->ledger + 1,
              s->plan->deployment, q->ledger);
    tide_status status = write_query_sql(s, &rows, err);
    *q->known =
        status == TIDE_OK && rows.count > 0 && tide_pg_bytes(&rows, 0, 0, q->hash, TIDE_HASH_BYTES);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_writer_hash(struct tide_writer *w, uint32_t ledger, bool *known,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct hash_question question = { ledger, known, hash };
    return write_retry(&w->main, read_hash, &question, false, err);
}

struct range_question {
    struct tide_range wanted;
    struct tide_range *out;
    uint32_t max;
    uint32_t *count;
};

static tide_status read_missing(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct range_question *q = arg;
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT from_ledger, to_ledger FROM chain.coverage WHERE deployment = %u UNION ALL"
              " SELECT first_loaded, last_loaded FROM chain.partition WHERE deployment = %u"
              " AND NOT attached AND last_loaded IS NOT NULL ORDER BY 1",
              s->plan->deployment, s->plan->deployment);
    tide_status status = write_query_sql(s, &rows, err);
    assert(q->max > 0 && q->wanted.from <= q->wanted.to);
    uint32_t at = q->wanted.from, found = 0;
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&rows, i, 0), to = (uint32_t)tide_pg_u64(&rows, i, 1);
        if (to < at || from > q->wanted.to)
            continue;
        if (from > at && found < q->max)
            q->out[found++] = (struct tide_range){ at, from - 1 };
        at = to + 1;
    }
    if (status == TIDE_OK && at <= q->wanted.to && found < q->max)
        q->out[found++] = (struct tide_range){ at, q->wanted.to };
    assert(found <= q->max);
    *q->count = found;
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_writer_missing(struct tide_writer *w, struct tide_range wanted,
                                struct tide_range *out, uint32_t max, uint32_t *count,
                                struct tide_err *err)
{
    struct range_question question = { wanted, out, max, count };
    return write_retry(&w->main, read_missing, &question, false, err);
}
