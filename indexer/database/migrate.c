/* Applies migrations and compares the database's record of them with this build's list. */
#include "indexer/database/migrate.h"
#include "tidemark/stop.h"

#include "tidemark/clock.h"
#include "tidemark/failpoint.h"
#include "tidemark/hash.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum { HEX_BYTES = 2 * TIDE_HASH_BYTES };

/* Timeouts that the role or the database sets by default are not meant for migrations: building an
 * index may take long. */
#define BEGIN_SQL "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '15s'"

/* The table of applied migrations must exist before the first migration. */
static const char record_sql[] =
    BEGIN_SQL ";"
              "CREATE SCHEMA IF NOT EXISTS chain;"
              "CREATE TABLE IF NOT EXISTS chain.migration ("
              " name text PRIMARY KEY, checksum text NOT NULL,"
              " applied_at timestamptz NOT NULL DEFAULT clock_timestamp());"
              "COMMIT";

static void checksum_of(char out[HEX_BYTES + 1], tide_slice sql)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, sql);
    tide_hex(out, tide_slice_of(hash, sizeof hash));
    out[HEX_BYTES] = 0;
}

static const struct tide_migration *find_migration(const struct tide_migration *list, size_t count,
                                                   const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

#define BEFORE_1_0                                                          \
    "before 1.0 an index is not upgraded but made again: " TIDE_INDEX_AGAIN \
    " (with your other settings), or use the version that made it"

/* Fails with TIDE_E_SCHEMA unless row i of the database's record is migration i of list, with the
 * same text. */
static tide_status compare_migration(const struct tide_migration *list, size_t count, size_t i,
                                     const char *name, const char *recorded, struct tide_err *err)
{
    const struct tide_migration *known = find_migration(list, count, name);
    char checksum[HEX_BYTES + 1];
    if (!known && i >= count)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "schema: the database has migration %.100s, which this build does not "
                         "know: use a newer build",
                         name);
    if (!known)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "schema: " TIDE_OTHER_VERSION ": this build has no migration "
                         "%.100s; " BEFORE_1_0,
                         name);
    checksum_of(checksum, known->sql);
    if (strcmp(checksum, recorded) != 0)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "schema: " TIDE_OTHER_VERSION ": its migration %.100s differs "
                         "from this build's; " BEFORE_1_0,
                         name);
    if (known != &list[i])
        return tide_fail(err, TIDE_E_SCHEMA, "schema: migration %s is missing before %.100s",
                         list[i].name, name);
    return TIDE_OK;
}

/* Compares the record with list. *known is the number of migrations that the database has: the
 * first ones of list. */
static tide_status compare_record(struct tide_pg *pg, const struct tide_migration *list,
                                  size_t count, size_t *known, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        pg, &rows, "SELECT name, checksum FROM chain.migration ORDER BY name COLLATE \"C\"", NULL,
        0, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        status = compare_migration(list, count, i, tide_pg_text(&rows, i, 0),
                                   tide_pg_text(&rows, i, 1), err);
    assert(status != TIDE_OK || rows.count <= count); /* each row was a migration of the list */
    *known = rows.count;
    tide_pg_rows_release(&rows);
    return status;
}

/* Applies one migration and its record in one transaction. The caller rolls back after a
 * failure. */
static tide_status apply_once(struct tide_pg *pg, const struct tide_migration *migration,
                              struct tide_err *err)
{
    char checksum[HEX_BYTES + 1];
    checksum_of(checksum, migration->sql);
    assert(migration->sql.ptr[migration->sql.len] == '\0'); /* the SQL runs as a C string */
    tide_status status = tide_pg_run(pg, BEGIN_SQL, "SET", err);
    if (status != TIDE_OK)
        return status;
    status = tide_pg_run(pg, (const char *)migration->sql.ptr, NULL, err);
    if (TIDE_FAILPOINT("migrate.applied"))
        status = tide_fail(err, TIDE_E_DB, "failpoint");
    if (status == TIDE_OK)
        status =
            tide_pg_query(pg, NULL, "INSERT INTO chain.migration (name, checksum) VALUES ($1, $2)",
                          (const char *[]){ migration->name, checksum }, 2, err);
    if (status == TIDE_OK)
        status = tide_pg_run(pg, "COMMIT", "COMMIT", err);
    return status;
}

/* Returns whether another database's migrate caused the failure, so that a repetition may succeed.
 * Roles belong to the whole cluster, but migrate's lock to one database. Two that change the same
 * role at once fail with an internal error ("tuple concurrently updated") or "already exists". The
 * repetition finds the role as it is then. */
static bool is_concurrent_migrate(const struct tide_pg *pg, tide_status status)
{
    static const char *const states[] = { "XX000", "42710", "23505" };
    for (size_t i = 0; i < TIDE_COUNT(states); i++)
        if (strcmp(tide_pg_sqlstate(pg), states[i]) == 0)
            return true;
    return status == TIDE_E_DB && tide_pg_remedy(pg) == TIDE_PG_AGAIN;
}

static tide_status apply_migration(struct tide_pg *pg, const struct tide_migration *migration,
                                   struct tide_err *err)
{
    enum { ATTEMPTS = 12, PAUSE_MS = 50 };
    const struct tide_clock *clock = tide_clock_system();
    for (uint32_t attempt = 1;; attempt++) {
        struct tide_err ignored;
        tide_status status = apply_once(pg, migration, err);
        if (status == TIDE_OK)
            break;
        bool again =
            attempt < ATTEMPTS && is_concurrent_migrate(pg, status) && !tide_stop_asked(NULL);
        (void)!tide_pg_run(pg, "ROLLBACK", NULL, &ignored);
        if (!again)
            return tide_fail_context(err, "schema: migration %s", migration->name);
        clock->sleep_ms(clock->self, (int64_t)PAUSE_MS * attempt);
    }
    tide_log(TIDE_INFO, "schema.migrated", "name=%s", migration->name);
    return TIDE_OK;
}

/* The server waits for the lock: another migrate is running and will end soon. */
static const char lock_sql[] = "SELECT pg_advisory_lock(x'7469646d'::int, 1)";
static const char unlock_sql[] = "SELECT pg_advisory_unlock(x'7469646d'::int, 1)";

static tide_status create_record(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_err ignored;
    tide_status status = tide_pg_run(pg, record_sql, "COMMIT", err);
    if (status != TIDE_OK)
        (void)!tide_pg_run(pg, "ROLLBACK", NULL, &ignored);
    return status;
}

tide_status tide_migrate(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                         uint32_t *applied, struct tide_err *err)
{
    size_t known = 0;
    tide_status status = tide_pg_run(pg, lock_sql, "SELECT", err);
    *applied = 0;
    if (status == TIDE_OK)
        status = create_record(pg, err);
    if (status == TIDE_OK)
        status = compare_record(pg, list, count, &known, err);
    for (size_t i = known; i < count && status == TIDE_OK; i++) {
        /* The record is compared in the order of names. */
        assert(i == 0 || strcmp(list[i - 1].name, list[i].name) < 0);
        status = apply_migration(pg, &list[i], err);
        *applied += status == TIDE_OK;
    }
    struct tide_err ignored;
    (void)!tide_pg_run(pg, unlock_sql, "SELECT", &ignored);
    return status;
}

tide_status tide_migrate_check(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                               struct tide_err *err)
{
    struct tide_pg_rows rows;
    size_t known = 0;
    tide_status status =
        tide_pg_query(pg, &rows, "SELECT to_regclass('chain.migration') IS NOT NULL", NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    bool any = tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    if (any)
        status = compare_record(pg, list, count, &known, err);
    if (status == TIDE_OK && known < count)
        status = tide_fail(err, TIDE_E_SCHEMA,
                           "schema: migration %s is not applied: run tidemark-indexer migrate",
                           list[known].name);
    return status;
}
