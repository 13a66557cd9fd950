#include "indexer/database/migrate.h"
#include "indexer/write/writer_impl.h"
#include "tidemark/identity.h"
#include "tidemark/strkey.h"

/* ---- who we are: chain.deployment ---- */

/* The account that the file calls daowallet; false: there is none. */
static bool dao_wallet(char text[TIDE_STRKEY_TEXT_MAX], const struct tide_deployment *d)
{
    for (uint32_t i = 0; i < d->account_count; i++) {
        if (strcmp(d->accounts[i].name, "daowallet") != 0)
            continue;
        size_t len =
            tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT,
                               tide_slice_of(d->accounts[i].key, sizeof d->accounts[i].key));
        text[len] = '\0';
        return true;
    }
    return false;
}

static tide_status refuse_other_network(struct tide_writer *w, const struct tide_identity *id,
                                        struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(w->pg, &rows,
                      "SELECT passphrase FROM chain.deployment WHERE contracts_hash = $1::bytea"
                      " AND network_id <> $2::bytea",
                      (const char *[]){ id->contracts, id->network }, 2, err);
    if (status == TIDE_OK && rows.count)
        status =
            tide_fail(err, TIDE_E_CONFLICT,
                      "deployment: the database holds these contracts on the network \"%.120s\","
                      " not on \"%.120s\": correct the deployment file or use another database",
                      tide_pg_text(&rows, 0, 0), w->options.deployment->passphrase);
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status upsert_deployment(struct tide_writer *w, const struct tide_identity *id,
                                     struct tide_err *err)
{
    struct tide_pg_rows rows;
    const struct tide_deployment *d = w->options.deployment;
    char wallet[TIDE_STRKEY_TEXT_MAX], first[12];
    snprintf(first, sizeof first, "%u", d->first_ledger);
    const char *values[] = { d->passphrase,
                             id->network,
                             id->contracts,
                             (const char *)id->json.ptr,
                             first,
                             w->options.scope,
                             dao_wallet(wallet, d) ? wallet : NULL };
    tide_status status = tide_pg_query(
        w->pg, &rows,
        "WITH latest AS (SELECT coalesce(max(epoch), 0) AS epoch FROM chain.deployment"
        " WHERE network_id = $2::bytea), known AS (UPDATE chain.deployment AS k SET contracts ="
        " $4::jsonb, dao_wallet = $7, first_ledger = CASE WHEN $5::integer > 0 THEN $5::integer "
        "ELSE"
        " k.first_ledger END FROM latest WHERE k.network_id = $2::bytea AND k.epoch = latest.epoch"
        " AND k.contracts_hash = $3::bytea RETURNING k.id), made AS ("
        "INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash, contracts,"
        " first_ledger, scope, dao_wallet) SELECT $1, $2::bytea, epoch, $3::bytea, $4::jsonb,"
        " $5::integer, $6, $7"
        " FROM latest WHERE NOT EXISTS (SELECT FROM known)"
        " ON CONFLICT (network_id, epoch, contracts_hash) DO UPDATE SET contracts ="
        " excluded.contracts, dao_wallet = excluded.dao_wallet, first_ledger = CASE WHEN "
        "excluded.first_ledger > 0 THEN"
        " excluded.first_ledger ELSE deployment.first_ledger END RETURNING id),"
        " d AS (SELECT id FROM known UNION ALL SELECT id FROM made)"
        " INSERT INTO chain.cursor (deployment) SELECT id FROM d"
        " ON CONFLICT (deployment) DO UPDATE SET fence = cursor.fence RETURNING deployment",
        values, 7, err);
    if (status == TIDE_OK)
        w->deployment = (uint32_t)tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

/* The lock keeps a second indexer from storing other roles between the look and the row. */
static tide_status agree_and_store(struct tide_writer *w, const struct tide_identity *id,
                                   struct tide_err *err)
{
    tide_status status = tide_pg_run(w->pg, "BEGIN", "BEGIN", err);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, "LOCK TABLE chain.deployment IN SHARE ROW EXCLUSIVE MODE",
                             "LOCK TABLE", err);
    if (status == TIDE_OK)
        status = tide_identity_check(w->pg, id, err);
    if (status == TIDE_OK)
        status = upsert_deployment(w, id, err);
    return status == TIDE_OK ? tide_pg_run(w->pg, "COMMIT", "COMMIT", err) : status;
}

static tide_status resolve_deployment(struct tide_writer *w, struct tide_err *err)
{
    struct tide_identity id;
    tide_status status = tide_identity_make(&id, w->options.deployment, err);
    if (status == TIDE_OK)
        status = refuse_other_network(w, &id, err);
    if (status == TIDE_OK)
        status = agree_and_store(w, &id, err);
    tide_identity_release(&id);
    if (status == TIDE_OK)
        w->options.deployment->id = (uint16_t)w->deployment;
    return status;
}

/* ---- the lock, the fence, the place ---- */

/* A server that knows less than we saw, or whose log took another turn, may have lost commits. */
static void sql_fence(struct tide_writer *w)
{
    const struct tide_witness *seen = &w->options.witness;
    writer_sql(w,
               "UPDATE chain.cursor c SET fence = greatest(c.fence, %" PRIu64 ") + 1, timeline ="
               " t.id, generation = c.generation + (c.moves < %" PRIu64 " OR c.timeline <> t.id"
               " AND c.timeline IS NOT NULL)::int FROM chain.deployment d, chain.cursor o,"
               " (SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int"
               " AS id) t WHERE c.deployment = %u AND d.id = c.deployment AND o.deployment ="
               " c.deployment RETURNING c.fence, c.moves, c.ledger, c.hash, d.scope, d.passphrase,"
               " c.generation, c.generation > o.generation",
               seen->fence, seen->moves, w->deployment);
}

/* Drawing a new fence waits for a transaction of the former writer, if one is still open. */
static tide_status draw_fence(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    sql_fence(w);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && rows.count != 1)
        status = tide_fail(err, TIDE_E_FENCED, "writer: deployment %u is gone", w->deployment);
    if (status == TIDE_OK) {
        w->fence = tide_pg_u64(&rows, 0, 0);
        w->moves = tide_pg_u64(&rows, 0, 1);
        w->cursor = (uint32_t)tide_pg_u64(&rows, 0, 2);
        if (w->cursor)
            tide_pg_bytes(&rows, 0, 3, w->hash, TIDE_HASH_BYTES);
        if (tide_pg_bool(&rows, 0, 7))
            tide_log(TIDE_WARN, "database.generation",
                     "deployment=%u generation=%s ledger=%u reason=\"another timeline, or commits "
                     "are lost; going on from what is there\"",
                     w->deployment, tide_pg_text(&rows, 0, 6), w->cursor);
    }
    if (status == TIDE_OK && strcmp(tide_pg_text(&rows, 0, 4), w->options.scope) != 0)
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "only: the database was indexed with \"%.200s\", not \"%.200s\": use the"
                           " same, or another database",
                           tide_pg_text(&rows, 0, 4), w->options.scope);
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? writer_take_lease(w, err) : status;
}

/* An index that is still empty may begin with another scope than the last attempt's. */
static tide_status adopt_scope(struct tide_writer *w, struct tide_err *err)
{
    return tide_pg_query(w->pg, NULL,
                         "UPDATE chain.deployment d SET scope = $1 WHERE id = $2::integer"
                         " AND scope <> $1 AND NOT EXISTS (SELECT 1 FROM chain.coverage WHERE"
                         " deployment = d.id) AND NOT EXISTS (SELECT 1 FROM chain.partition WHERE"
                         " deployment = d.id AND last_loaded IS NOT NULL)",
                         (const char *[]){ w->options.scope, w->deployment_text }, 2, err);
}

static tide_status settle_in(struct tide_writer *w, struct tide_err *err)
{
    uint32_t applied = 0;
    tide_status status =
        w->options.migrate
            ? tide_migrate(w->pg, tide_migrations, tide_migration_count, &applied, err)
            : tide_migrate_check(w->pg, tide_migrations, tide_migration_count, err);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, WRITER_SESSION_SQL, NULL, err);
    if (status == TIDE_OK)
        status = resolve_deployment(w, err);
    snprintf(w->deployment_text, sizeof w->deployment_text, "%u", w->deployment);
    if (status == TIDE_OK)
        status = writer_wait_lock(w, err);
    if (status == TIDE_OK)
        status = adopt_scope(w, err);
    if (status == TIDE_OK)
        status = draw_fence(w, err);
    if (status == TIDE_OK)
        status = partition_read(w, err);
    /* last, so that no second attempt takes them for the file's */
    return status == TIDE_OK && writer_has_contracts(w) ? writer_adopt_contracts(w, err) : status;
}

/* Everything up to the fence may be repeated: until then nothing depends on this session. */
static tide_status connect_in(struct tide_writer *w, struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = w->options.conninfo,
                                        .application = "tidemark-indexer",
                                        .server = TIDE_PG_WRITABLE,
                                        .silence_ms = w->options.silence_ms,
                                        .stopped = w->options.stopped,
                                        .stopped_self = w->options.stopped_self };
    for (uint32_t attempt = 0;; attempt++) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_status status = tide_pg_connect(&w->pg, &to, err);
        if (status == TIDE_OK)
            status = settle_in(w, err);
        if (status != TIDE_E_DB)
            return status;
        w->retries++;
        tide_log(TIDE_WARN, "db.retry", "attempt=%u reason=%s", attempt + 1,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        writer_pause(w, attempt);
        if (writer_stopped(w))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop while the database is away");
    }
}

tide_status tide_writer_open(struct tide_writer **out, const struct tide_writer_options *options,
                             struct tide_err *err)
{
    assert(options->partition_ledgers > 0);
    assert(options->table_count <= TIDE_TABLES_MAX);
    struct tide_writer *w = calloc(1, sizeof *w);
    if (!w)
        return tide_fail(err, TIDE_E_MEMORY, "writer");
    w->options = *options;
    tide_buf_init(&w->sql, WRITER_SQL_MAX);
    tide_buf_init(&w->array, INT32_MAX);
    tide_buf_init(&w->keyed, INT32_MAX);
    writer_rollup_learn(w);
    tide_status status = tide_words_open(&w->words, err);
    if (status == TIDE_OK)
        status = connect_in(w, err);
    const struct tide_lease_options keep = { options->conninfo, w->deployment, w->fence };
    if (status == TIDE_OK && options->hold_lease)
        status = tide_lease_open(&w->lease, &keep, err);
    if (status == TIDE_OK)
        status = writer_rollup_settle(w, err);
    if (status != TIDE_OK) {
        tide_writer_close(w);
        return status;
    }
    tide_log(TIDE_INFO, "writer.ready", "deployment=%u cursor=%u loading=%u fence=%" PRIu64,
             w->deployment, w->cursor, w->loading.active ? w->loading.last : 0, w->fence);
    *out = w;
    return TIDE_OK;
}

/* ---- further sessions ---- */

void writer_second(struct tide_writer *second, const struct tide_writer *w)
{
    *second = *w;
    second->pg = NULL;
    second->lease = NULL;
    second->full_count = 0;
    second->spare = NULL;
    second->words = NULL;
    memset(&second->session, 0, sizeof second->session);
    tide_buf_init(&second->sql, WRITER_SQL_MAX);
}

tide_status writer_open_session(const struct tide_writer *w, struct tide_pg **out,
                                bool (*stopped)(void *self), void *self, struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = w->options.conninfo,
                                        .application = "tidemark-indexer",
                                        .server = TIDE_PG_WRITABLE,
                                        .stopped = stopped,
                                        .stopped_self = self };
    tide_status status = tide_pg_open(out, &to, err);
    if (status == TIDE_OK)
        status = tide_pg_run(*out, WRITER_SESSION_SQL, NULL, err);
    if (status != TIDE_OK) {
        tide_pg_close(*out);
        *out = NULL;
    }
    return status;
}

void writer_wait_helper(struct tide_writer *w, const atomic_bool *ended, const atomic_bool *enough,
                        atomic_bool *stopped)
{
    const struct tide_clock *clock = w->options.clock;
    struct tide_err ignored;
    while (!atomic_load(ended) && !atomic_load(enough)) {
        int64_t until = clock->now_ms(clock->self) + WRITER_SPEAK_MS;
        while (!atomic_load(ended) && !atomic_load(enough) && clock->now_ms(clock->self) < until) {
            clock->sleep_ms(clock->self, 20);
            if (writer_stopped(w))
                atomic_store(stopped, true);
        }
        if (!atomic_load(ended) && !atomic_load(enough) && tide_pg_alive(w->pg))
            (void)!tide_pg_run(w->pg, "SELECT 1", "SELECT", &ignored);
    }
}

void tide_writer_close(struct tide_writer *w)
{
    if (!w)
        return;
    bool ignored;
    for (uint32_t i = 0; i < w->full_count; i++)
        (void)!partition_build_end(w, &w->full[i], true, &ignored);
    partition_spare_end(w, true);
    tide_lease_close(w->lease);
    tide_pg_close(w->pg);
    tide_buf_release(&w->sql);
    tide_buf_release(&w->array);
    tide_buf_release(&w->keyed);
    tide_words_close(w->words);
    free(w);
}

void tide_writer_heartbeat(struct tide_writer *w, const struct tide_heartbeat *heartbeat)
{
    w->heartbeat = *heartbeat;
    w->heartbeat.error = w->heartbeat.trouble = w->heartbeat.source = NULL;
    if (w->lease)
        tide_lease_report(w->lease, heartbeat, w->retries);
}

bool tide_writer_lost(const struct tide_writer *w)
{
    return w->lease && tide_lease_lost(w->lease);
}

struct tide_witness tide_writer_witness(const struct tide_writer *w)
{
    return (struct tide_witness){ w->moves, w->fence };
}
