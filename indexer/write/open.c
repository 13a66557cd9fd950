#include "indexer/database/migrate.h"
#include "indexer/database/query.h"
#include "indexer/write/rows/rollup.h"
#include "indexer/write/writer_impl.h"
#include "tidemark/identity.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"

/* ---- the deployment's row in chain.deployment ---- */

/* Writes the account that the deployment file calls daowallet. Returns false if there is none. */
static bool dao_wallet(char text[TIDE_STRKEY_TEXT_MAX], const struct tide_deployment *d)
{
    for (uint32_t i = 0; i < d->account_count; i++) {
        if (strcmp(d->accounts[i].name, "daowallet") != 0)
            continue;
        size_t len =
            tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT,
                               tide_slice_of(d->accounts[i].key, sizeof d->accounts[i].key));
        assert(len < TIDE_STRKEY_TEXT_MAX);
        text[len] = '\0';
        return true;
    }
    return false;
}

static tide_status refuse_other_network(struct tide_writer *w, const struct tide_identity *id,
                                        struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(write_pg(s), &rows,
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
    struct write_session *s = &w->main.session;
    struct tide_pg_rows rows;
    const struct tide_deployment *d = w->options.deployment;
    char wallet[TIDE_STRKEY_TEXT_MAX], first[12];
    snprintf(first, sizeof first, "%u", d->first_ledger);
    const char *values[] = { d->passphrase, id->network,
                             id->contracts, (const char *)id->json.ptr,
                             first,         dao_wallet(wallet, d) ? wallet : NULL };
    tide_status status = tide_pg_query(
        write_pg(s), &rows,
        "WITH latest AS (SELECT coalesce(max(epoch), 0) AS epoch FROM chain.deployment"
        " WHERE network_id = $2::bytea), known AS (UPDATE chain.deployment AS k SET contracts ="
        " $4::jsonb, dao_wallet = $6, first_ledger = CASE WHEN $5::integer > 0 THEN $5::integer "
        "ELSE"
        " k.first_ledger END FROM latest WHERE k.network_id = $2::bytea AND k.epoch = latest.epoch"
        " AND k.contracts_hash = $3::bytea RETURNING k.id), made AS ("
        "INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash, contracts,"
        " first_ledger, dao_wallet) SELECT $1, $2::bytea, epoch, $3::bytea, $4::jsonb,"
        " $5::integer, $6"
        " FROM latest WHERE NOT EXISTS (SELECT FROM known)"
        " ON CONFLICT (network_id, epoch, contracts_hash) DO UPDATE SET contracts ="
        " excluded.contracts, dao_wallet = excluded.dao_wallet, first_ledger = CASE WHEN "
        "excluded.first_ledger > 0 THEN"
        " excluded.first_ledger ELSE deployment.first_ledger END RETURNING id),"
        " d AS (SELECT id FROM known UNION ALL SELECT id FROM made)"
        " INSERT INTO chain.cursor (deployment) SELECT id FROM d"
        " ON CONFLICT (deployment) DO UPDATE SET writer = cursor.writer RETURNING deployment",
        values, TIDE_COUNT(values), err);
    if (status == TIDE_OK)
        w->plan.deployment = (uint32_t)tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

/* Checks and stores the deployment. The lock keeps a second indexer from storing other roles
 * between the check and the insert. */
static tide_status agree_and_store(struct tide_writer *w, const struct tide_identity *id,
                                   struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    tide_status status = tide_pg_run(write_pg(s), "BEGIN", "BEGIN", err);
    if (status == TIDE_OK)
        status = tide_pg_run(write_pg(s), "LOCK TABLE chain.deployment IN SHARE ROW EXCLUSIVE MODE",
                             "LOCK TABLE", err);
    if (status == TIDE_OK)
        status = tide_identity_check(write_pg(s), id, err);
    if (status == TIDE_OK)
        status = upsert_deployment(w, id, err);
    return status == TIDE_OK ? tide_pg_run(write_pg(s), "COMMIT", "COMMIT", err) : status;
}

static tide_status resolve_deployment(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    struct tide_identity id;
    tide_status status = tide_identity_make(&id, w->options.deployment, err);
    if (status == TIDE_OK)
        status = refuse_other_network(w, &id, err);
    if (status == TIDE_OK)
        status = agree_and_store(w, &id, err);
    tide_identity_release(&id);
    if (status == TIDE_OK)
        w->options.deployment->id = (uint16_t)s->plan->deployment;
    return status;
}

/* ---- the lock, the writer, the place ---- */

/* Writes the statement that draws a new writer. A server with fewer moves than this process has
 * seen, or with another timeline, may have lost commits: its generation grows. */
static void sql_draw(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    write_sql(s,
              "UPDATE chain.cursor c SET writer = gen_random_uuid(), timeline = t.id, generation ="
              " c.generation + (c.moves < %" PRIu64 " OR c.timeline <> t.id"
              " AND c.timeline IS NOT NULL)::int FROM chain.deployment d, chain.cursor o,"
              " (SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int"
              " AS id) t WHERE c.deployment = %u AND d.id = c.deployment AND o.deployment ="
              " c.deployment RETURNING c.writer, c.moves, c.ledger, c.hash, d.passphrase,"
              " c.generation, c.generation > o.generation",
              w->options.moves_seen, s->plan->deployment);
}

/* Becomes the writer of chain.cursor, and reads where it stands. The statement waits for a
 * transaction of the former writer that is still open. */
static tide_status draw_writer(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    struct write_cursor *cursor = &w->main.cursor;
    sql_draw(w);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count != 1)
        status =
            tide_fail(err, TIDE_E_FENCED, "writer: deployment %u is gone", s->plan->deployment);
    if (status == TIDE_OK) {
        assert(s->rows.columns == 7); /* sql_draw returns them */
        snprintf(cursor->writer, sizeof cursor->writer, "%s", tide_pg_text(&s->rows, 0, 0));
        cursor->moves = tide_pg_u64(&s->rows, 0, 1);
        cursor->ledger = (uint32_t)tide_pg_u64(&s->rows, 0, 2);
        if (cursor->ledger)
            tide_pg_bytes(&s->rows, 0, 3, cursor->hash, TIDE_HASH_BYTES);
        if (tide_pg_bool(&s->rows, 0, 6))
            tide_log(TIDE_WARN, "database.generation",
                     "deployment=%u generation=%s ledger=%u reason=\"another timeline, or commits "
                     "are lost; going on from what is there\"",
                     s->plan->deployment, tide_pg_text(&s->rows, 0, 5), cursor->ledger);
    }
    return status == TIDE_OK ? write_take_lease(&w->main, w->options.hold_lease, err) : status;
}

/* Reads the partition size: the size of the existing partitions applies, whatever the configuration
 * says. Of a partition that was cut, the upper part begins at the cut. */
static tide_status read_size(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    write_sql(s,
              "SELECT max(coalesce(p.cut_of, p.end_ledger - p.from_ledger)), coalesce(max("
              "p.from_ledger) FILTER (WHERE p.from_ledger %% p.cut_of > 0), 0), coalesce((SELECT"
              " o.ledger FROM chain.start AS o WHERE o.deployment = %u), 0) FROM chain.partition"
              " AS p WHERE p.deployment = %u",
              s->plan->deployment, s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    uint64_t size = status == TIDE_OK ? tide_pg_u64(&s->rows, 0, 0) : 0;
    w->plan.cut = status == TIDE_OK ? (uint32_t)tide_pg_u64(&s->rows, 0, 1) : 0;
    w->plan.held_before = status == TIDE_OK ? (uint32_t)tide_pg_u64(&s->rows, 0, 2) : 0;
    if (size && size != w->plan.partition_ledgers) {
        tide_log(TIDE_WARN, "partition.size", "configured=%u used=%" PRIu64,
                 w->plan.partition_ledgers, size);
        w->plan.partition_ledgers = (uint32_t)size;
    }
    return status;
}

static tide_status settle_in(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    uint32_t applied = 0;
    tide_status status =
        w->options.migrate
            ? tide_migrate(write_pg(s), tide_migrations, tide_migration_count, &applied, err)
            : tide_migrate_check(write_pg(s), tide_migrations, tide_migration_count, err);
    if (status == TIDE_OK)
        status = write_session_configure(s, err);
    if (status == TIDE_OK)
        status = resolve_deployment(w, err);
    snprintf(w->plan.deployment_text, sizeof w->plan.deployment_text, "%u", w->plan.deployment);
    if (status == TIDE_OK)
        status = write_wait_lock(&w->main, w->options.standby, w->options.standby_poll_ms, err);
    if (status == TIDE_OK)
        status = tide_fork_reject(write_pg(s), w->plan.deployment, err);
    if (status == TIDE_OK)
        status = draw_writer(w, err);
    if (status == TIDE_OK)
        status = read_size(w, err);
    if (status == TIDE_OK)
        status = write_load_read(&w->load, err);
    /* This step is the last: if a later one failed, the next attempt would take the discovered
     * contracts for those of the deployment file. */
    return status == TIDE_OK && write_plan_has_contracts(s->plan) ? writer_adopt_contracts(w, err)
                                                                  : status;
}

/* Connects and repeats all steps up to the lease while the database is away: until then nothing
 * depends on this session. */
static tide_status connect_in(struct tide_writer *w, struct tide_err *err)
{
    for (uint32_t attempt = 0;; attempt++) {
        tide_status status = write_session_connect(&w->main.session, err);
        if (status == TIDE_OK)
            status = settle_in(w, err);
        if (status != TIDE_E_DB)
            return status;
        write_main_note_away(&w->main, attempt, err);
        if (write_plan_stopped(&w->plan))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop while the database is away");
    }
}

/* ---- open and close ---- */

static struct write_plan plan_of(const struct tide_writer_options *o)
{
    return (struct write_plan){ .conninfo = o->conninfo,
                                .tables = o->tables,
                                .table_count = o->table_count,
                                .partition_ledgers = o->partition_ledgers,
                                .silence_ms = o->silence_ms,
                                .retry_ms_max = o->retry_ms_max,
                                .stopped = o->stopped,
                                .stopped_self = o->stopped_self };
}

/* Initialises the parts. tide_writer_close is allowed afterwards, also after a failure. */
static tide_status init_parts(struct tide_writer *w, const struct tide_writer_options *options,
                              struct tide_err *err)
{
    const struct load_build_options build = { &w->rollups, options->index_connections };
    w->options = *options;
    w->plan = plan_of(options);
    write_session_init(&w->main.session, &w->plan, WRITE_OWNER_WRITER);
    write_rollups_learn(&w->rollups, &w->plan);
    write_statements_init(&w->statements, &w->main.session, &w->keys, &w->rollups);
    w->tip = (struct write_tip){ &w->main, &w->statements, options->array_bytes };
    write_load_init(&w->load, &w->main, &w->keys, &build);
    tide_status status = write_keys_open(&w->keys, &w->plan, err);
    w->main.words = w->keys.words;
    return status;
}

tide_status tide_writer_open(struct tide_writer **out, const struct tide_writer_options *options,
                             struct tide_err *err)
{
    assert(options->partition_ledgers > 0);
    assert(options->table_count <= TIDE_TABLES_MAX);
    struct tide_writer *w = calloc(1, sizeof *w);
    if (!w)
        return tide_fail(err, TIDE_E_MEMORY, "writer");
    tide_status status = init_parts(w, options, err);
    if (status == TIDE_OK)
        status = connect_in(w, err);
    const struct write_cursor *cursor = &w->main.cursor;
    const struct load_range *loading = &w->load.loading;
    const struct tide_lease_options keep = { options->conninfo, w->plan.deployment, cursor->writer,
                                             cursor->moves };
    if (status == TIDE_OK && options->hold_lease)
        status = tide_lease_open(&w->main.lease, &keep, err);
    if (status == TIDE_OK)
        status = write_rollup_settle(&w->main, &w->rollups, err);
    if (status != TIDE_OK) {
        tide_writer_close(w);
        return status;
    }
    assert(write_session_is_mine(&w->main.session) && !options->hold_lease == !w->main.lease);
    tide_log(TIDE_INFO, "writer.ready", "deployment=%u cursor=%u loading=%u writer=%s",
             w->plan.deployment, cursor->ledger, loading->active ? loading->last : 0,
             cursor->writer);
    *out = w;
    return TIDE_OK;
}

void tide_writer_close(struct tide_writer *w)
{
    if (!w)
        return;
    write_load_close(&w->load);
    tide_lease_close(w->main.lease);
    write_session_close(&w->main.session);
    write_statements_release(&w->statements);
    write_keys_close(&w->keys);
    free(w);
}
