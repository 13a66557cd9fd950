/* The loader's decisions, and the order in which partitions become visible. */
#include "indexer/write/load/load.h"
#include "indexer/write/load/attach.h"
#include "indexer/write/load/partition.h"
#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/keys.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

void write_load_init(struct write_load *load, struct write_main *m, struct write_keys *keys,
                     const struct load_build_options *build)
{
    *load = (struct write_load){ .main = m, .keys = keys, .build = *build };
}

void write_load_close(struct write_load *load)
{
    bool ignored;
    assert(load->full_count <= LOAD_FULL_MAX);
    for (uint32_t i = 0; i < load->full_count; i++)
        (void)!load_build_end(load->main, load->full[i].build, true, &ignored);
    load->full_count = 0;
    load_spare_end(load->main, load->spare, true);
    load->spare = NULL;
}

void load_range_read(struct load_range *l, const struct tide_pg_rows *rows, uint32_t row)
{
    *l = load_range_of((uint32_t)tide_pg_u64(rows, row, 0), (uint32_t)tide_pg_u64(rows, row, 1));
    l->first = (uint32_t)tide_pg_u64(rows, row, 2);
    l->last = (uint32_t)tide_pg_u64(rows, row, 3);
    l->closed_ms = tide_pg_u64(rows, row, 6);
    if (l->first) {
        tide_pg_bytes(rows, row, 4, l->previous_hash, TIDE_HASH_BYTES);
        tide_pg_bytes(rows, row, 5, l->hash, TIDE_HASH_BYTES);
    }
}

tide_status write_load_read(struct write_load *load, struct tide_err *err)
{
    struct write_session *s = &load->main->session;
    assert(!load->spare && (!load->full_count || !load->full[0].build));
    write_sql(s,
              "SELECT " LOAD_RANGE_COLUMNS " FROM chain.partition"
              " WHERE deployment = %u AND NOT attached AND first_loaded >= %u"
              " ORDER BY from_ledger LIMIT %u",
              s->plan->deployment, s->plan->held_before, LOAD_FULL_MAX + 1);
    tide_status status = write_query_sql(s, err);
    load->attached_from = load->attached_end = 0;
    load->loading = (struct load_range){ .active = false };
    load->full_count = 0;
    for (uint32_t row = 0; row + 1 < s->rows.count; row++) {
        assert(load->full_count < LOAD_FULL_MAX); /* LIMIT of the statement */
        load->full[load->full_count] = (struct load_full){ .build = NULL };
        load_range_read(&load->full[load->full_count++].range, &s->rows, row);
    }
    if (status == TIDE_OK && s->rows.count > 0)
        load_range_read(&load->loading, &s->rows, s->rows.count - 1);
    return status;
}

bool write_load_is_active(const struct write_load *load)
{
    return load->loading.active || load->full_count;
}

const struct load_range *write_load_onward(const struct write_load *load)
{
    const struct load_range *newest = NULL;
    struct write_cursor at = load->main->cursor;
    for (uint32_t i = 0; i <= load->full_count; i++) {
        const struct load_range *l = i < load->full_count ? &load->full[i].range : &load->loading;
        if (!l->active || !load_attach_moves(&at, l))
            continue;
        newest = l;
        at.ledger = l->last;
    }
    return newest;
}

/* Returns whether the loading partition lies below the state with which the index began. It stays
 * invisible until all ledgers below are loaded. */
static bool is_held(const struct write_load *load)
{
    return write_plan_holds(load->main->session.plan, load->loading.from);
}

/* ---- create ---- */

/* Sets *attached to whether the ledger's partition is attached. A true answer is remembered. */
static tide_status find_attached(struct write_load *load, uint32_t ledger, bool *attached,
                                 struct tide_err *err)
{
    uint32_t from, end;
    *attached = ledger >= load->attached_from && ledger < load->attached_end;
    if (*attached)
        return TIDE_OK;
    tide_status status = load_partition_find(load->main, ledger, &from, &end, err);
    *attached = status == TIDE_OK && end;
    if (*attached) {
        load->attached_from = from;
        load->attached_end = end;
    }
    return status;
}

static tide_status create_tables(struct write_main *m, const void *arg, struct tide_err *err)
{
    tide_status status = write_begin(m, err);
    if (status == TIDE_OK)
        status = load_partition_make(&m->session, *(const uint32_t *)arg, err);
    if (status == TIDE_OK)
        status = write_count(&m->session, NULL, err);
    return status == TIDE_OK ? write_commit(&m->session, err) : status;
}

/* Makes the partition, or takes the spare one, as load->loading. */
static tide_status create_partition(struct write_load *load, uint32_t from, struct tide_err *err)
{
    const struct write_plan *plan = load->main->session.plan;
    assert(write_plan_partition(plan, from) == from);
    assert(!load->loading.active);
    if (!write_plan_fits(plan, from))
        return tide_fail(err, TIDE_E_LIMIT, "ledger %u is beyond what the tables hold", from);
    load_spare_end(load->main, load->spare, false);
    load->spare = NULL;
    tide_status status = write_retry(load->main, create_tables, &from, true, err);
    if (status == TIDE_OK)
        load->loading = load_range_of(from, write_plan_end(plan, from));
    return status;
}

static void begin_spare(struct write_load *load)
{
    const struct load_range *l = &load->loading;
    const struct write_plan *plan = load->main->session.plan;
    if (load->spare || !load_range_wants_spare(l) || load->spare_from == l->end ||
        l->end == plan->held_before || !write_plan_fits(plan, l->end))
        return;
    assert(l->active);
    load->spare_from = l->end;
    load->spare = load_spare_begin(load->main, l->end);
}

/* ---- build and attach ---- */

/* Notes that the range has been attached. */
static void adopt_attached(struct write_load *load, const struct load_range *l)
{
    tide_log(TIDE_INFO, "partition.attached", "deployment=%u from=%u end=%u first=%u last=%u",
             load->main->session.plan->deployment, l->from, l->end, l->first, l->last);
    if (load_attach_moves(&load->main->cursor, l))
        write_main_advance(load->main, l->last, l->hash);
    load->attached_from = l->from;
    load->attached_end = l->end;
    load->unanalysed |= l->first != 0;
}

/* Builds and attaches a range on the writer's session. perhaps: the range is built and may already
 * be attached. */
static tide_status attach_range(struct write_load *load, const struct load_range *l, bool perhaps,
                                struct tide_err *err)
{
    struct write_main *m = load->main;
    const struct load_attach attach = { .rollups = load->build.rollups,
                                        .range = *l,
                                        .moves_cursor = load_attach_moves(&m->cursor, l),
                                        .perhaps = perhaps };
    assert(l->active);
    tide_status status = perhaps ? TIDE_OK : load_build_run(m, &load->build, l, err);
    if (status == TIDE_OK && l->first && !perhaps)
        status = write_retry(m, load_attach_words, NULL, false, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("attach.before"), err);
    if (status == TIDE_OK)
        status = write_retry(m, load_attach_step, &attach, true, err);
    if (status == TIDE_OK)
        adopt_attached(load, l);
    return status;
}

static tide_status attach_loading(struct write_load *load, struct tide_err *err)
{
    tide_status status = attach_range(load, &load->loading, false, err);
    if (status == TIDE_OK)
        load->loading.active = false;
    return status;
}

/* Attaches the oldest full partition. */
static tide_status settle_oldest(struct write_load *load, struct tide_err *err)
{
    bool perhaps = false;
    tide_status status = TIDE_OK;
    struct load_full *oldest = &load->full[0];
    assert(load->full_count > 0);
    bool attached = load_build_end(load->main, oldest->build, false, &perhaps);
    oldest->build = NULL;
    if (attached) {
        write_main_count(load->main);
        adopt_attached(load, &oldest->range);
    } else {
        status = attach_range(load, &oldest->range, perhaps, err);
    }
    if (status != TIDE_OK)
        return status;
    load->full_count--;
    assert(load->full_count < LOAD_FULL_MAX);
    memmove(&load->full[0], &load->full[1], load->full_count * sizeof load->full[0]);
    if (load->full_count)
        load_build_merge(load->full[0].build, &load->main->cursor);
    return TIDE_OK;
}

static tide_status settle_all(struct write_load *load, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && load->full_count)
        status = settle_oldest(load, err);
    return status;
}

tide_status write_load_settle_built(struct write_load *load, struct tide_err *err)
{
    bool built = load->full_count && load_build_is_done(load->full[0].build);
    return built ? settle_oldest(load, err) : TIDE_OK;
}

/* Handles a full partition that stays invisible: only its indexes are built. */
static tide_status hold_loading(struct write_load *load, struct tide_err *err)
{
    assert(!load->full_count);
    tide_status status = load_build_run(load->main, &load->build, &load->loading, err);
    if (status == TIDE_OK)
        load->loading.active = false;
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("partition.held"), err) : status;
}

/* Handles a full partition: its indexes are built while the next one loads. */
static tide_status complete_loading(struct write_load *load, struct tide_err *err)
{
    assert(load_range_is_full(&load->loading));
    if (is_held(load))
        return hold_loading(load, err);
    tide_status status = load->full_count == LOAD_FULL_MAX ? settle_oldest(load, err) : TIDE_OK;
    if (status != TIDE_OK)
        return status;
    if (load->full_count)
        load_build_wait_indexes(load->main, load->full[0].build);
    assert(load->full_count < LOAD_FULL_MAX);
    struct load_full *full = &load->full[load->full_count++];
    *full = (struct load_full){ .range = load->loading };
    load->loading.active = false;
    status = write_point(TIDE_FAILPOINT("partition.complete"), err);
    if (status == TIDE_OK)
        status = load_build_begin(load->main, &load->build, &full->range, &full->build, err);
    if (status == TIDE_OK && load->full_count == 1)
        load_build_merge(full->build, &load->main->cursor);
    return status;
}

tide_status write_load_finish(struct write_load *load, struct tide_err *err)
{
    tide_status status = settle_all(load, err);
    if (status == TIDE_OK && load->loading.active && !is_held(load))
        status = attach_loading(load, err);
    if (status != TIDE_OK || !load->unanalysed)
        return status;
    status = load_build_statistics(load->main, &load->build, err);
    load->unanalysed = status != TIDE_OK;
    return status;
}

/* ---- batches ---- */

static tide_status find_publications(struct write_main *m, const void *arg, struct tide_err *err)
{
    return load_publication_find(&m->session, *(struct load_publications *const *)arg, err);
}

/* Attaches the loading partition, which is empty, if rows must go through the parents. */
static tide_status attach_if_published(struct write_load *load, struct tide_err *err)
{
    struct load_publications found, *out = &found;
    assert(load->loading.active && !load->loading.first);
    tide_status status = write_retry(load->main, find_publications, &out, false, err);
    if (status != TIDE_OK || !found.any)
        return status;
    tide_log(TIDE_INFO, "partition.published", "deployment=%u from=%u publications=%s",
             load->main->session.plan->deployment, load->loading.from, found.names);
    return write_load_finish(load, err);
}

/* Returns whether the batch lies in the partition after the full ones, which must then be
 * loaded. */
static bool loads_behind(const struct write_load *load, const struct tide_batch *batch,
                         bool attached)
{
    assert(load->full_count > 0);
    return load->loading.active ||
           (batch->from == load->full[load->full_count - 1].range.end && !attached);
}

tide_status write_load_choose(struct write_load *load, const struct tide_batch *batch, bool *loads,
                              struct tide_err *err)
{
    const struct write_plan *plan = load->main->session.plan;
    struct load_range *l = &load->loading;
    bool attached = false;
    tide_status status = write_load_settle_built(load, err);
    if (status == TIDE_OK && l->active && !load_range_takes(l, batch))
        status = write_load_finish(load, err);
    if (status == TIDE_OK && !l->active)
        status = find_attached(load, batch->from, &attached, err);
    if (status == TIDE_OK && load->full_count && !loads_behind(load, batch, attached))
        status = settle_all(load, err);
    if (status == TIDE_OK && !l->active && !attached)
        status = create_partition(load, write_plan_partition(plan, batch->from), err);
    if (status == TIDE_OK && l->active && !l->first)
        status = attach_if_published(load, err);
    *loads = l->active;
    return status;
}

/* Sends the rows of the batch and the partition's progress in the running transaction. */
static tide_status send_progress(struct write_session *s, const struct tide_batch *batch,
                                 struct tide_err *err)
{
    uint32_t from = write_plan_partition(s->plan, batch->from);
    assert(batch->from > 0 && write_plan_partition(s->plan, batch->to) == from);
    write_sql(s,
              "UPDATE chain.partition SET first_loaded = coalesce(first_loaded, %u),"
              " last_loaded = %u, previous_hash = coalesce(previous_hash, ",
              batch->from, batch->to);
    write_sql_hash(s, batch->previous_hash);
    write_sql_more(s, "), hash = ");
    write_sql_hash(s, batch->hash);
    write_sql_more(s, ", closed_at = ");
    write_sql_time(s, batch->closed_ms);
    write_sql_more(s,
                   " WHERE deployment = %u AND from_ledger = %u AND NOT attached"
                   " AND coalesce(last_loaded, %u) = %u RETURNING 1",
                   s->plan->deployment, from, batch->from - 1, batch->from - 1);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count != 1)
        status = tide_fail(err, TIDE_E_CONFLICT, "writer: partition %u is not loaded up to %u",
                           from, batch->from - 1);
    return status;
}

struct step {
    struct write_keys *keys;
    const struct tide_batch *batch;
};

static tide_status load_batch(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct step *step = arg;
    const struct tide_batch *batch = step->batch;
    bool ask;
    tide_status status = write_keys_read(step->keys, batch, &ask, err);
    if (status == TIDE_OK)
        status = write_begin(m, err);
    if (status == TIDE_OK && ask)
        status = write_keys_ask(step->keys, s, err);
    if (status == TIDE_OK)
        status = write_copy_rows(s, step->keys, batch, err);
    if (status == TIDE_OK)
        status = write_count(s, &batch->counts, err);
    if (status == TIDE_OK)
        status = send_progress(s, batch, err);
    if (status == TIDE_OK && !write_plan_holds(s->plan, batch->from))
        status = write_note_discovered(s, batch, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("load.progress"), err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

tide_status write_load_commit(struct write_load *load, const struct tide_batch *batch,
                              struct tide_err *err)
{
    const struct step step = { load->keys, batch };
    assert(load_range_takes(&load->loading, batch));
    tide_status status = write_retry(load->main, load_batch, &step, true, err);
    if (status != TIDE_OK)
        return status;
    load_range_add(&load->loading, batch);
    begin_spare(load);
    return load_range_is_full(&load->loading) ? complete_loading(load, err) : TIDE_OK;
}

tide_status write_load_make(struct write_load *load, uint32_t ledger, struct tide_err *err)
{
    const struct write_plan *plan = load->main->session.plan;
    bool attached = false;
    /* A process that was killed may have left tables that are not attached yet. */
    tide_status status = load->loading.active ? attach_loading(load, err) : TIDE_OK;
    if (status == TIDE_OK)
        status = find_attached(load, ledger, &attached, err);
    if (status == TIDE_OK && !attached)
        status = create_partition(load, write_plan_partition(plan, ledger), err);
    return status == TIDE_OK && load->loading.active ? attach_loading(load, err) : status;
}

/* ---- drop ---- */

struct drop {
    uint32_t below;
    bool *more;
};

/* Finds the newest partition to drop. The newest goes first, so that after a kill the rest still
 * begins at the first one. */
static tide_status find_dropped(struct write_session *s, uint32_t below, uint32_t *from,
                                bool *found, struct tide_err *err)
{
    write_sql(s,
              "SELECT max(from_ledger) FROM chain.partition WHERE deployment = %u AND from_ledger"
              " < %u",
              s->plan->deployment, below);
    tide_status status = write_query_sql(s, err);
    *found = status == TIDE_OK && !tide_pg_is_null(&s->rows, 0, 0);
    *from = *found ? (uint32_t)tide_pg_u64(&s->rows, 0, 0) : 0;
    return status;
}

static tide_status forget_shown(struct write_session *s, uint32_t below, struct tide_err *err)
{
    write_sql(s,
              "DELETE FROM chain.contract_held WHERE deployment = %u; DELETE FROM chain.kept_for"
              " WHERE deployment = %u AND ledger < %u",
              s->plan->deployment, s->plan->deployment, below);
    return write_run_sql(s, "DELETE", err);
}

/* Drops one partition, because the server locks each of its tables. With the last one goes what all
 * of them showed of contracts: a kill leaves both or none. The transaction counts as one move. */
static tide_status drop_one(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct drop *drop = arg;
    uint32_t from;
    tide_status status = write_begin(m, err);
    if (status == TIDE_OK)
        status = find_dropped(s, drop->below, &from, drop->more, err);
    if (status == TIDE_OK)
        status = *drop->more ? load_partition_drop(s, from, err) : write_count(s, NULL, err);
    if (status == TIDE_OK && *drop->more)
        status = find_dropped(s, drop->below, &from, drop->more, err);
    if (status == TIDE_OK && !*drop->more)
        status = forget_shown(s, drop->below, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("partition.dropped"), err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

tide_status write_load_drop(struct write_load *load, uint32_t below, struct tide_err *err)
{
    bool more = true;
    const struct drop drop = { below, &more };
    tide_status status = TIDE_OK;
    load->loading.active = false;
    load->attached_from = load->attached_end = load->ahead = 0;
    while (status == TIDE_OK && more)
        status = write_retry(load->main, drop_one, &drop, true, err);
    return status;
}

tide_status write_load_ahead(struct write_load *load, uint32_t ledger, struct tide_err *err)
{
    uint32_t next = write_plan_ahead(load->main->session.plan, ledger);
    if (load->loading.active || next == 0 || next == load->ahead)
        return TIDE_OK;
    uint32_t from = load->attached_from, end = load->attached_end;
    tide_status status = write_load_make(load, next, err);
    if (status == TIDE_OK)
        load->ahead = next;
    load->attached_from = from;
    load->attached_end = end;
    return status;
}
