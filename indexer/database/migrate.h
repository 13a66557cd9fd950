/* Migrations: SQL texts embedded in the binary at build time (../../migrations).
 *
 * Each is applied in one transaction, in order of name, under an advisory lock, and recorded with
 * its SHA-256 in chain.migration. A database is refused with the migration's name (TIDE_E_SCHEMA)
 * if it has one that this build does not know, or one with another text. Before 1.0 that means a
 * new database. */
#ifndef INDEXER_DATABASE_MIGRATE_H
#define INDEXER_DATABASE_MIGRATE_H

#include "tidemark/pg.h"

struct tide_migration {
    const char *name; /* file name without .sql */
    tide_slice sql;   /* NUL-terminated after len */
};

/* Generated from migrations/. */
extern const struct tide_migration tide_migrations[];
extern const size_t tide_migration_count;

/* The error about a database that an earlier build made says so: no migration mends it. */
#define TIDE_OTHER_VERSION "another version made this database"

/* Applies what is missing of list; *applied counts them. */
tide_status tide_migrate(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                         uint32_t *applied, struct tide_err *err) TIDE_MUST_USE;

/* Changes nothing: TIDE_OK when the database is exactly at this build's schema, TIDE_E_SCHEMA
 * otherwise, saying which migration is missing, altered or unknown. */
tide_status tide_migrate_check(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
