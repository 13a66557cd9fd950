/* The selection of the served deployment: candidates from chain.deployment_state, the choice,
 * and the deployment file. */
#include "api/sql/deployment_select.h"
#include "tidemark/clock.h"
#include "tidemark/deployment.h"
#include "tidemark/identity.h"
#include "tidemark/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Protocols whose caches may be served. Readers take no lock, so a replaced list is kept until
 * close: one for each reload or change of epoch. */
struct allowed {
    struct allowed *older;
    uint32_t count;
    uint8_t protocols[2][TIDE_HASH_BYTES];
};

/* Identifies a row of chain.deployment. The id alone does not: a promoted standby may give it to
 * another row. */
struct row_identity {
    uint32_t id; /* 0: none */
    uint64_t created_us;
};

enum { LOST_MAX = 16 }; /* remembered lost rows */
static_assert((LOST_MAX & (LOST_MAX - 1)) == 0, "the ring stays in order when lost_next wraps");

struct tide_deployment_select {
    char path[4096];
    atomic_uint current; /* the served id; 0: not known */
    _Atomic(struct allowed *) allowed;
    pthread_mutex_t mutex; /* guards all members below */
    bool has_file, has_served;
    struct tide_identity identity; /* the file's, if has_file */
    bool disagrees;                /* the database has other roles than the file */
    /* hashes of the file's network and contracts */
    uint8_t network[TIDE_HASH_BYTES], contracts[TIDE_HASH_BYTES];
    uint8_t protocol[TIDE_HASH_BYTES]; /* served deployment */
    uint8_t served[TIDE_HASH_BYTES];
    struct row_identity current_row; /* served deployment */
    /* Rows that a primary did not hold; the oldest is overwritten first. A standby that still
     * holds one has diverged. */
    struct row_identity lost[LOST_MAX];
    uint32_t lost_next;
    int64_t checked_ms;
    uint32_t awaited; /* id of a newer epoch that the log reported as not ready */
};

/* A candidate: a row of chain.deployment_state. */
struct candidate {
    uint32_t id, epoch;
    uint64_t created_us;
    uint8_t network[TIDE_HASH_BYTES], contracts[TIDE_HASH_BYTES];
    bool covered, ready;
};

/* A table without its primary key, or NULL. pg_restore makes the key of a table after all of its
 * rows, and that of a partitioned table after the keys of its partitions. Partitions have none
 * while they are loaded, and kyc.audit_turn, a table of one row, never has one. */
#define UNFINISHED_SQL                                                                           \
    "(SELECT n.nspname || '.' || t.relname FROM pg_catalog.pg_class AS t"                        \
    " JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace"                               \
    " WHERE n.nspname IN ('chain', 'chain_rows', 'event_rows', 'history_rows', 'kyc', 'rollup'," \
    " 'state') AND t.relkind IN ('r', 'p') AND NOT t.relispartition"                             \
    " AND t.relname !~ '_p[0-9]+_[0-9]+$' AND t.relname <> 'audit_turn'"                         \
    " AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid = t.oid"             \
    " AND i.indisprimary AND i.indisvalid) LIMIT 1)"

static const char state_sql[] =
    "SELECT s.id, s.epoch, s.network_id, s.contracts_hash, s.covered, s.ready,"
    " pg_is_in_recovery(), s.database || ' ' || (SELECT b.oid FROM pg_catalog.pg_database AS b"
    " WHERE b.datname = current_database()),"
    " (extract(epoch FROM s.created_at) * 1000000)::bigint, " UNFINISHED_SQL
    " FROM chain.deployment_state AS s ORDER BY s.epoch DESC, s.id DESC";
enum { ID, EPOCH, NETWORK, CONTRACTS, COVERED, READY, STANDBY, DATABASE, CREATED, UNFINISHED };

static bool read_candidate(struct candidate *out, const struct tide_pg_rows *rows, uint32_t row)
{
    assert(out);
    *out = (struct candidate){ .id = (uint32_t)tide_pg_u64(rows, row, ID),
                               .epoch = (uint32_t)tide_pg_u64(rows, row, EPOCH),
                               .created_us = tide_pg_u64(rows, row, CREATED),
                               .covered = tide_pg_bool(rows, row, COVERED),
                               .ready = tide_pg_bool(rows, row, READY) };
    return out->id && out->id <= UINT16_MAX &&
           tide_pg_bytes(rows, row, NETWORK, out->network, sizeof out->network) &&
           tide_pg_bytes(rows, row, CONTRACTS, out->contracts, sizeof out->contracts);
}

/* --- selection; the functions below need the mutex if they take s --------------------------- */

static bool is_same_protocol(const struct candidate *a, const struct candidate *b)
{
    return memcmp(a->network, b->network, TIDE_HASH_BYTES) == 0 &&
           memcmp(a->contracts, b->contracts, TIDE_HASH_BYTES) == 0;
}

/* Returns whether another row of the same network has a newer epoch. Rows without covered
 * ledgers do not count beside others: a wrong file leaves such rows behind. */
static bool is_outdated(const struct candidate *all, uint32_t count, const struct candidate *of,
                        bool any_covered)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].epoch > of->epoch && (all[i].covered || !any_covered) &&
            memcmp(all[i].network, of->network, TIDE_HASH_BYTES) == 0)
            return true;
    return false;
}

/* Selects without a file: the only protocol, each network in its newest epoch. Returns NULL if
 * there is none, or several (*choices). */
static const struct candidate *find_only(const struct candidate *all, uint32_t count,
                                         uint32_t *choices)
{
    const struct candidate *only = NULL;
    bool any_covered = false;
    *choices = 0;
    for (uint32_t i = 0; i < count; i++)
        any_covered |= all[i].covered;
    for (uint32_t i = 0; i < count; i++) {
        if ((any_covered && !all[i].covered) || is_outdated(all, count, &all[i], any_covered))
            continue;
        only = &all[i];
        ++*choices;
    }
    return *choices == 1 ? only : NULL;
}

static bool is_row(const struct candidate *c, const struct row_identity *row)
{
    return c->id == row->id && c->created_us == row->created_us;
}

static const struct candidate *find_row(const struct candidate *all, uint32_t count,
                                        const struct row_identity *row)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_row(&all[i], row))
            return &all[i];
    return NULL;
}

/* Removes from `all` the lost rows that a standby still holds, and returns how many rows remain.
 * Rows that a primary holds are no longer lost. */
static uint32_t drop_lost(struct tide_deployment_select *s, struct candidate *all, uint32_t count,
                          bool standby)
{
    for (uint32_t l = 0; l < LOST_MAX; l++) {
        const struct candidate *c = find_row(all, count, &s->lost[l]);
        if (c && !standby) {
            s->lost[l] = (struct row_identity){ 0 };
        } else if (c) {
            assert(c >= all && c < all + count);
            uint32_t at = (uint32_t)(c - all);
            memmove(&all[at], &all[at + 1], (--count - at) * sizeof *all);
        }
    }
    return count;
}

/* Selects among the rows of the wanted protocol (newest epoch first): the first that is ready
 * and newer than the served one; else the served one; else, at the start, the newest that has
 * covered ledgers. */
static const struct candidate *find_best(const struct candidate *all, uint32_t count,
                                         const struct candidate *wanted,
                                         const struct candidate *now)
{
    const struct candidate *newest = NULL;
    bool same = now && is_same_protocol(now, wanted);
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *c = &all[i];
        if (!is_same_protocol(c, wanted) || (same && c->epoch <= now->epoch))
            continue;
        if (c->ready)
            return c;
        if (!newest || (c->covered && !newest->covered))
            newest = c;
    }
    return now ? now : newest;
}
/* Stores the served protocol and row, and logs a change. Needs the mutex. */
static void store_choice(struct tide_deployment_select *s, const struct candidate *selected,
                         const struct tide_pg_rows *rows)
{
    assert(selected->id > 0 && rows->count > 0); /* selected is a row of rows */
    uint32_t before = atomic_load(&s->current);
    struct tide_sha256 sha;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_pg_slice(rows, 0, DATABASE));
    tide_deployment_protocol(s->protocol, selected->network, selected->contracts);
    tide_sha256_update(&sha, tide_slice_of(s->protocol, sizeof s->protocol));
    tide_sha256_final(&sha, s->served);
    s->has_served = true;
    s->current_row = (struct row_identity){ selected->id, selected->created_us };
    if (before != selected->id)
        tide_log(TIDE_INFO, "deployment.selected", "deployment=%u epoch=%u before=%u", selected->id,
                 selected->epoch, before);
}

/* Rebuilds the list of protocols whose caches may be served. Returns false without memory. */
static bool update_allowed(struct tide_deployment_select *s)
{
    struct allowed *old = atomic_load(&s->allowed), *list = calloc(1, sizeof *list);
    if (!list)
        return false;
    if (s->has_file)
        tide_deployment_protocol(list->protocols[list->count++], s->network, s->contracts);
    if (s->has_served)
        memcpy(list->protocols[list->count++], s->protocol, sizeof s->protocol);
    assert(list->count <= TIDE_COUNT(list->protocols));
    if (old && old->count == list->count &&
        memcmp(old->protocols, list->protocols, sizeof list->protocols) == 0) {
        free(list);
        return true;
    }
    list->older = old;
    atomic_store(&s->allowed, list);
    return true;
}

/* Logs once that a newer epoch is not ready yet. */
static void report_waiting(struct tide_deployment_select *s, const struct candidate *all,
                           uint32_t count, const struct candidate *wanted,
                           const struct candidate *selected)
{
    for (uint32_t i = 0; i < count && all[i].epoch > selected->epoch; i++) {
        if (!is_same_protocol(&all[i], wanted) || s->awaited == all[i].id)
            continue;
        s->awaited = all[i].id;
        tide_log(TIDE_INFO, "deployment.waiting",
                 "deployment=%u epoch=%u reason=\"its contracts are not indexed from their "
                 "creation yet\" served=%u",
                 all[i].id, all[i].epoch, selected->id);
    }
}

/* Marks the served row as lost: a primary does not hold it. Without a file, fails with
 * TIDE_E_CONFIG unless the replacement is of the same protocol: clients did not ask this process
 * for another network. */
static tide_status note_lost(struct tide_deployment_select *s, const struct candidate *selected,
                             struct tide_err *err)
{
    uint8_t protocol[TIDE_HASH_BYTES];
    assert(s->current_row.id > 0 && s->has_served);
    uint32_t id = s->current_row.id;
    tide_deployment_protocol(protocol, selected->network, selected->contracts);
    if (!s->has_file && memcmp(protocol, s->protocol, sizeof protocol) != 0)
        return tide_fail(
            err, TIDE_E_CONFIG,
            "the primary does not hold deployment %u any more, and deployment %u is of "
            "another protocol: name the wanted one with --deployment FILE, or restart",
            id, selected->id);
    s->lost[s->lost_next++ % LOST_MAX] = s->current_row;
    tide_log(TIDE_WARN, "deployment.lost", "deployment=%u reason=\"the primary does not hold it\"",
             id);
    return TIDE_OK;
}

/* Selects a row of `all` and makes it the served one. */
static tide_status select_row(struct tide_deployment_select *s, const struct candidate *all,
                              uint32_t count, const struct tide_pg_rows *rows,
                              const struct candidate **selected, struct tide_err *err)
{
    uint32_t current = s->current_row.id, choices = 0;
    const struct candidate *now = find_row(all, count, &s->current_row);
    struct candidate file = { 0 };
    const struct candidate *wanted = &file;
    memcpy(file.network, s->network, sizeof file.network);
    memcpy(file.contracts, s->contracts, sizeof file.contracts);
    bool lost = current && !now;
    if (lost && (count == 0 || tide_pg_bool(rows, 0, STANDBY)))
        return tide_fail(err, TIDE_E_DB, "this server does not hold deployment %u yet", current);
    if (!s->has_file)
        wanted = find_only(all, count, &choices);
    *selected = wanted ? find_best(all, count, wanted, now) : now;
    if (!*selected && choices > 1)
        return tide_fail(err, TIDE_E_CONFIG,
                         "the database holds %u deployments: say which with --deployment FILE",
                         choices);
    if (!*selected)
        return tide_fail(
            err, TIDE_E_MISSING,
            "the database does not hold this deployment yet: run tidemark-indexer with it");
    if (lost && note_lost(s, *selected, err) != TIDE_OK)
        return TIDE_E_CONFIG;
    store_choice(s, *selected, rows);
    if (wanted)
        report_waiting(s, all, count, wanted, *selected);
    if (!update_allowed(s))
        return tide_fail(err, TIDE_E_MEMORY, "deployment");
    atomic_store(&s->current, (*selected)->id);
    return TIDE_OK;
}

static void read_selected(struct tide_deployment_selected *out, const struct candidate *selected,
                          const struct tide_pg_rows *rows)
{
    static_assert(sizeof out->text > 5, "a text of 16 bits");
    assert(selected->id > 0 && selected->id <= UINT16_MAX); /* read_candidate checked it */
    struct tide_sha256 sha;
    char epoch[16];
    *out = (struct tide_deployment_selected){ .id = (uint16_t)selected->id,
                                              .standby = tide_pg_bool(rows, 0, STANDBY) };
    snprintf(out->text, sizeof out->text, "%u", out->id);
    tide_deployment_protocol(out->protocol, selected->network, selected->contracts);
    int len = snprintf(epoch, sizeof epoch, "%u", selected->epoch);
    assert(len > 0 && (size_t)len < sizeof epoch);
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(out->protocol, sizeof out->protocol));
    tide_sha256_update(&sha, tide_slice_of(epoch, (size_t)len));
    tide_sha256_final(&sha, out->identity);
}

/* Fails with TIDE_E_DB while a backup is being restored: rows are missing then. */
static tide_status check_whole(const struct tide_pg_rows *rows, struct tide_err *err)
{
    tide_slice table = rows->count ? tide_pg_slice(rows, 0, UNFINISHED) : (tide_slice){ 0 };
    if (table.len == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_DB,
                     "the database is not whole: %.*s has no primary key, as while a backup is "
                     "restored; the API waits for it",
                     (int)table.len, (const char *)table.ptr);
}

/* Reads the deployments and selects. out may be NULL. */
static tide_status check_deployments(struct tide_deployment_select *s, struct tide_pg *pg,
                                     struct tide_deployment_selected *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const struct candidate *selected = NULL;
    tide_status status = tide_pg_query(pg, &rows, state_sql, NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == UNFINISHED + 1);
    struct candidate *all = calloc(rows.count + 1u, sizeof *all);
    status = all ? check_whole(&rows, err) : tide_fail(err, TIDE_E_MEMORY, "deployments");
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        if (!read_candidate(&all[i], &rows, i))
            status = tide_fail(err, TIDE_E_SCHEMA, "chain.deployment_state: row %u", i);
    if (status == TIDE_OK) {
        pthread_mutex_lock(&s->mutex);
        uint32_t count =
            rows.count ? drop_lost(s, all, rows.count, tide_pg_bool(&rows, 0, STANDBY)) : 0;
        status = select_row(s, all, count, &rows, &selected, err);
        s->checked_ms = tide_now_ms();
        pthread_mutex_unlock(&s->mutex);
    }
    if (status == TIDE_OK && out)
        read_selected(out, selected, &rows);
    free(all);
    tide_pg_rows_release(&rows);
    return status;
}

/* Copies the file's identity, because a reload may replace it while a statement runs. Returns
 * false without a file. Without memory, the copy's buffer has failed. */
static bool copy_identity(struct tide_identity *out, struct tide_deployment_select *s)
{
    pthread_mutex_lock(&s->mutex);
    bool has_file = s->has_file;
    *out = s->identity;
    if (has_file) {
        tide_buf_init(&out->json, s->identity.json.len);
        tide_buf_slice(&out->json, tide_buf_view(&s->identity.json));
    }
    pthread_mutex_unlock(&s->mutex);
    return has_file;
}

/* Fails with TIDE_E_CONFIG if the file gives contracts other roles than those by which the
 * database decoded them. */
static tide_status check_roles(struct tide_deployment_select *s, struct tide_pg *pg,
                               struct tide_err *err)
{
    struct tide_identity identity;
    if (!copy_identity(&identity, s))
        return TIDE_OK;
    tide_status status = identity.json.failed ? tide_fail(err, TIDE_E_MEMORY, "deployment")
                                              : tide_identity_check(pg, &identity, err);
    tide_identity_release(&identity);
    pthread_mutex_lock(&s->mutex);
    s->disagrees = status == TIDE_E_CONFLICT;
    pthread_mutex_unlock(&s->mutex);
    if (status == TIDE_E_CONFLICT)
        err->code = TIDE_E_CONFIG;
    return status == TIDE_E_CONFLICT ? TIDE_E_CONFIG : status;
}

/* --- for connections --------------------------------------------------------------------- */

bool tide_deployment_select_disagrees(struct tide_deployment_select *select)
{
    pthread_mutex_lock(&select->mutex);
    bool disagrees = select->disagrees;
    pthread_mutex_unlock(&select->mutex);
    return disagrees;
}

bool tide_deployment_select_unmigrated(const struct tide_pg *pg)
{
    const char *code = pg ? tide_pg_sqlstate(pg) : "";
    /* Undefined table, undefined schema */
    return strcmp(code, "42P01") == 0 || strcmp(code, "3F000") == 0;
}

/* Puts in plain words what is likely when the tables cannot be read. The indexer grants the rights
 * in the last migration of its first start, so until then they are missing as if they were lost. */
static tide_status explain_tables(const struct tide_pg *pg, tide_status status,
                                  struct tide_err *err)
{
    if (tide_deployment_select_unmigrated(pg))
        return tide_fail(err, status,
                         "the database has no tables of Tidemark yet: run tidemark-indexer, or "
                         "\"tidemark-indexer migrate\"; the API waits for them");
    if (!pg || strcmp(tide_pg_sqlstate(pg), "42501") != 0)
        return status;
    struct tide_err cause = *err;
    return tide_fail(err, status,
                     "this login may not read the tables; if the indexer's first start is not "
                     "making them, \"tidemark-indexer doctor\" names the missing rights: %s",
                     cause.text);
}

tide_status tide_deployment_select_connect(struct tide_pg **pg, const struct tide_pg_options *to,
                                           struct tide_deployment_select *select,
                                           struct tide_deployment_selected *out,
                                           struct tide_err *err)
{
    struct tide_deployment_select *own = NULL;
    tide_status status = tide_pg_connect(pg, to, err);
    if (status == TIDE_OK && !select)
        status = tide_deployment_select_open(&own, "", err);
    if (status == TIDE_OK && select)
        status = check_roles(select, *pg, err);
    if (status == TIDE_OK)
        status = check_deployments(select ? select : own, *pg, out, err);
    if (status != TIDE_OK)
        status = explain_tables(*pg, status, err);
    tide_deployment_select_close(own);
    return status;
}

bool tide_deployment_select_is_current(const struct tide_deployment_select *select,
                                       const struct tide_deployment_selected *selected)
{
    return !select || selected->id == atomic_load(&select->current);
}

tide_status tide_deployment_select_refresh(struct tide_deployment_select *select,
                                           struct tide_pg *pg, struct tide_err *err)
{
    if (!select)
        return TIDE_OK;
    pthread_mutex_lock(&select->mutex);
    bool due = tide_now_ms() - select->checked_ms >= TIDE_SELECT_MS;
    if (due)
        select->checked_ms = tide_now_ms(); /* the other connections need not check as well */
    pthread_mutex_unlock(&select->mutex);
    return due ? check_deployments(select, pg, NULL, err) : TIDE_OK;
}

bool tide_deployment_select_allows(const struct tide_deployment_select *select,
                                   const uint8_t protocol[TIDE_HASH_BYTES])
{
    const struct allowed *list = select ? atomic_load(&select->allowed) : NULL;
    for (uint32_t i = 0; list && i < list->count; i++)
        if (memcmp(list->protocols[i], protocol, TIDE_HASH_BYTES) == 0)
            return true;
    return !list || list->count == 0;
}

bool tide_deployment_select_served(struct tide_deployment_select *select,
                                   uint8_t out[TIDE_HASH_BYTES])
{
    pthread_mutex_lock(&select->mutex);
    bool known = select->has_served;
    memcpy(out, select->served, TIDE_HASH_BYTES);
    pthread_mutex_unlock(&select->mutex);
    return known;
}

/* --- the file ---------------------------------------------------------------------------- */

static tide_status read_file(struct tide_deployment_select *s, struct tide_err *err)
{
    struct tide_deployment *file = NULL;
    if (!s->path[0])
        return TIDE_OK;
    tide_status status = tide_deployment_read(&file, s->path, err);
    if (status != TIDE_OK)
        return status;
    struct tide_identity identity;
    status = tide_identity_make(&identity, file, err);
    if (status != TIDE_OK) {
        tide_identity_release(&identity);
        free(file);
        return status;
    }
    pthread_mutex_lock(&s->mutex);
    if (s->has_file)
        tide_identity_release(&s->identity);
    s->identity = identity;
    tide_deployment_hash(s->contracts, file);
    memcpy(s->network, file->network_id, sizeof s->network);
    s->has_file = true;
    s->checked_ms = 0; /* the next connection checks at once */
    if (!update_allowed(s))
        status = tide_fail(err, TIDE_E_MEMORY, "deployment");
    pthread_mutex_unlock(&s->mutex);
    free(file);
    return status;
}

tide_status tide_deployment_select_open(struct tide_deployment_select **out, const char *path,
                                        struct tide_err *err)
{
    struct tide_deployment_select *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "deployment");
    pthread_mutex_init(&s->mutex, NULL);
    int len = snprintf(s->path, sizeof s->path, "%s", path);
    tide_status status =
        (size_t)len < sizeof s->path
            ? read_file(s, err)
            : tide_fail(err, TIDE_E_CONFIG, "deployment: the path is too long (%d bytes)", len);
    if (status == TIDE_OK)
        *out = s;
    else
        tide_deployment_select_close(s);
    return status;
}

void tide_deployment_select_close(struct tide_deployment_select *select)
{
    if (!select)
        return;
    struct allowed *list = atomic_load(&select->allowed);
    while (list) {
        struct allowed *older = list->older;
        free(list);
        list = older;
    }
    if (select->has_file)
        tide_identity_release(&select->identity);
    pthread_mutex_destroy(&select->mutex);
    free(select);
}

tide_status tide_deployment_select_reload(struct tide_deployment_select *select,
                                          struct tide_err *err)
{
    return read_file(select, err);
}
