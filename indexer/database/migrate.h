/* Migrations: SQL texts, embedded in the binary at build time (../../migrations).
 *
 * Each migration is applied in one transaction, in order of name, under an advisory lock, and
 * recorded with its SHA-256 in chain.migration. A database that has a migration which this build
 * does not know, or one with another text, is rejected with the migration's name (TIDE_E_SCHEMA).
 * Before 1.0 there is no upgrade: index into a new database. */
#ifndef INDEXER_DATABASE_MIGRATE_H
#define INDEXER_DATABASE_MIGRATE_H

#include "tidemark/pg.h"

struct tide_migration {
    const char *name; /* file name without .sql */
    tide_slice sql;   /* a NUL follows behind len */
};

/* The build generates this list from migrations/. */
extern const struct tide_migration tide_migrations[];
extern const size_t tide_migration_count;

/* The text with which the error about a database of an earlier build begins: no migration mends
 * such a database. */
#define TIDE_OTHER_VERSION "another version made this database"
/* The command by which an operator mends that. */
#define TIDE_INDEX_AGAIN "createdb NEW && tidemark-indexer run --database-url postgresql:///NEW"

/* Applies the migrations of list that the database lacks. *applied is their number, also after a
 * failure. */
tide_status tide_migrate(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                         uint32_t *applied, struct tide_err *err) TIDE_MUST_USE;

/* Changes nothing. Returns TIDE_OK if the database has exactly this build's migrations, else
 * TIDE_E_SCHEMA with the missing, altered or unknown one. */
tide_status tide_migrate_check(struct tide_pg *pg, const struct tide_migration *list, size_t count,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
