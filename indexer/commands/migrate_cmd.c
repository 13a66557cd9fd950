/* The command migrate: applies or checks migrations. */
#include "indexer/commands/command.h"
#include "indexer/database/migrate.h"

int tide_migrate_main(const struct tide_config *config, const struct tide_option *options, int argc,
                      char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    uint32_t applied = 0;
    (void)argc;
    struct tide_pg_options to = { .conninfo = config->database_url,
                                  .application = "tidemark-migrate",
                                  .server = TIDE_PG_WRITABLE,
                                  .stopped = tide_stop_asked };
    tide_status status = tide_pg_open(&pg, &to, &err);
    if (status == TIDE_OK && tide_option_given(options, "check"))
        status = tide_migrate_check(pg, tide_migrations, tide_migration_count, &err);
    else if (status == TIDE_OK)
        status = tide_migrate(pg, tide_migrations, tide_migration_count, &applied, &err);
    if (status == TIDE_OK)
        printf("schema is at %s, %" PRIu32 " applied now\n",
               tide_migrations[tide_migration_count - 1].name, applied);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
