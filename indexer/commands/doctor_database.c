/* Checks of PostgreSQL. */
#include "indexer/commands/command.h"
#include "indexer/commands/doctor.h"
#include "indexer/commands/status_disk.h"
#include "indexer/database/migrate.h"
#include "tidemark/buf.h"
#include "tidemark/identity.h"
#include "tidemark/text.h"

#include <stdarg.h>

void doctor_say(struct doctor_finding *out, enum doctor_grade grade, const char *remedy,
                const char *format, ...)
{
    assert(remedy || grade < DOCTOR_WARNING);
    va_list args;
    va_start(args, format);
    vsnprintf(out->found, sizeof out->found, format, args);
    va_end(args);
    snprintf(out->remedy, sizeof out->remedy, "%s", remedy ? remedy : "");
    out->grade = grade;
}

bool doctor_connected(const struct doctor *d, struct doctor_finding *out)
{
    if (d->pg && tide_pg_alive(d->pg))
        return true;
    doctor_say(out, DOCTOR_SKIPPED, NULL,
               d->pg ? "needs the database; the connection was lost" : "needs the database");
    return false;
}

bool doctor_prepared(const struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_connected(d, out))
        return false;
    if (d->migrated && d->deployment)
        return true;
    doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the %s",
               d->migrated ? "deployment file" : "schema");
    return false;
}

/* Tells a lost connection from a failed statement: their remedies differ. */
static void say_failed(const struct doctor *d, const struct tide_err *err,
                       struct doctor_finding *out)
{
    assert(d->pg && err->code != TIDE_OK);
    doctor_say(out, DOCTOR_FAILED,
               tide_pg_alive(d->pg)
                   ? "see the server's log; the role needs the rights of roles.sql"
                   : "see the server's log: it restarted, or did not answer; run doctor again",
               "%s", err->text);
}

bool doctor_ask(struct doctor *d, const char *sql, struct doctor_finding *out)
{
    struct tide_err err;
    tide_pg_rows_release(&d->rows);
    if (!doctor_connected(d, out))
        return false;
    if (tide_pg_query(d->pg, &d->rows, sql, NULL, 0, &err) == TIDE_OK)
        return true;
    say_failed(d, &err, out);
    return false;
}

void doctor_database(struct doctor *d, struct doctor_finding *out)
{
    const char *own = d->for_api ? d->config.api_database_url : "";
    struct tide_pg_options to = { .conninfo = *own ? own : d->config.database_url,
                                  .application = "tidemark-doctor",
                                  .silence_ms = d->config.db_silence_ms,
                                  .stopped = tide_stop_asked };
    struct tide_err err;
    if (tide_pg_open(&d->pg, &to, &err) != TIDE_OK) {
        tide_pg_close(d->pg);
        d->pg = NULL;
        doctor_say(
            out, DOCTOR_FAILED,
            "start PostgreSQL, create the database and role, or correct database_url (unset: "
            "PGHOST, PGDATABASE, PGUSER)",
            "%s", err.text);
        return;
    }
    if (!doctor_ask(d, "SELECT current_database(), current_user", out))
        return;
    doctor_say(out, DOCTOR_OK, NULL, "%s, as role %s", tide_pg_text(&d->rows, 0, 0),
               tide_pg_text(&d->rows, 0, 1));
}

/* The writer needs a primary of version 15 or later. A standby would fail only at the first
 * write. */
void doctor_server(struct doctor *d, struct doctor_finding *out)
{
    enum { OLDEST = 150000 };
    if (!doctor_ask(d,
                    "SELECT current_setting('server_version'),"
                    " current_setting('server_version_num'), pg_is_in_recovery()",
                    out))
        return;
    const char *version = tide_pg_text(&d->rows, 0, 0);
    if (tide_pg_u64(&d->rows, 0, 1) < OLDEST)
        doctor_say(out, DOCTOR_FAILED, "upgrade to PostgreSQL 15 or later", "PostgreSQL %s",
                   version);
    else if (tide_pg_bool(&d->rows, 0, 2) && !d->for_api)
        doctor_say(out, DOCTOR_FAILED, "let database_url name the primary; the API may read here",
                   "PostgreSQL %s, a standby: it refuses writes", version);
    else
        doctor_say(out, DOCTOR_OK, NULL, "PostgreSQL %s%s", version,
                   tide_pg_bool(&d->rows, 0, 2) ? ", a standby" : "");
}

/* Without fsync or full_page_writes a crash of the host can leave tables that no restart repairs.
 * Without synchronous_commit it loses the last decisions of identity checks. */
void doctor_durability(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_ask(d,
                    "SELECT string_agg(name || ' = off', ', ' ORDER BY name) FILTER (WHERE name <>"
                    " 'synchronous_commit'), bool_or(name = 'synchronous_commit') FROM pg_settings"
                    " WHERE name = ANY ('{fsync,full_page_writes,synchronous_commit}')"
                    " AND reset_val = 'off'",
                    out))
        return;
    if (!tide_pg_is_null(&d->rows, 0, 0))
        doctor_say(
            out, DOCTOR_FAILED,
            "as a superuser: ALTER SYSTEM SET each of them = on, SELECT pg_reload_conf(); if "
            "the host crashed meanwhile, restore a backup",
            "%s: a crash of the host can destroy the database", tide_pg_text(&d->rows, 0, 0));
    else if (!tide_pg_is_null(&d->rows, 0, 1) && tide_pg_bool(&d->rows, 0, 1))
        doctor_say(out, DOCTOR_WARNING,
                   "as a superuser: ALTER SYSTEM SET synchronous_commit = on, SELECT "
                   "pg_reload_conf(); the indexer alone may do without",
                   "synchronous_commit = off: a crash loses the last decisions of identity checks");
    else
        doctor_say(out, DOCTOR_OK, NULL, "fsync and full_page_writes are on");
}

void doctor_encoding(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_ask(d, "SHOW server_encoding", out))
        return;
    const char *encoding = tide_pg_text(&d->rows, 0, 0);
    if (strcmp(encoding, "UTF8") == 0)
        doctor_say(out, DOCTOR_OK, NULL, "%s", encoding);
    else
        doctor_say(out, DOCTOR_FAILED,
                   "create a new database: createdb --encoding UTF8 --template template0 NAME",
                   "%s; texts of the chain need UTF8", encoding);
}

/* Warns if the C library orders texts differently than when the database's indexes were built: a
 * search in a b-tree could then miss a word that is there. */
void doctor_collation(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_ask(d,
                    "SELECT datcollate, datcollversion, pg_database_collation_actual_version(oid),"
                    " datcollversion IS NULL OR datcollversion IS NOT DISTINCT FROM"
                    " pg_database_collation_actual_version(oid)"
                    " FROM pg_database WHERE datname = current_database()",
                    out))
        return;
    const char *name = tide_pg_text(&d->rows, 0, 0);
    if (tide_pg_bool(&d->rows, 0, 3))
        doctor_say(out, DOCTOR_OK, NULL, "%s", name);
    else
        doctor_say(
            out, DOCTOR_WARNING,
            "stop the indexer, REINDEX DATABASE, then ALTER DATABASE NAME REFRESH COLLATION "
            "VERSION",
            "indexes were built with version %s of %s, the server has %s: they may miss rows",
            tide_pg_text(&d->rows, 0, 1), name,
            tide_pg_is_null(&d->rows, 0, 2) ? "none" : tide_pg_text(&d->rows, 0, 2));
}

/* Warns before the keys of chain.word are used up. Keys are positive int4. A transaction that is
 * rolled back uses up its keys, too. */
void doctor_words(struct doctor *d, struct doctor_finding *out)
{
    enum { PERCENT_LATE = 50 };
    if (!d->migrated && doctor_connected(d, out)) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the schema");
        return;
    }
    if (!doctor_ask(d,
                    "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('chain.word',"
                    " 'id')::regclass), 0), greatest(reltuples, 0)::bigint,"
                    " pg_total_relation_size(oid) >> 20 FROM pg_class"
                    " WHERE oid = 'chain.word'::regclass",
                    out))
        return;
    unsigned long long used = tide_pg_u64(&d->rows, 0, 0), words = tide_pg_u64(&d->rows, 0, 1);
    unsigned percent = (unsigned)(used * 100 / INT32_MAX);
    if (percent >= PERCENT_LATE)
        doctor_say(out, DOCTOR_WARNING,
                   "index again into a new database before they are used up; the manual's \"Words "
                   "and keys\" says what uses them",
                   "%llu keys (%u %% of all) are used up, for about %llu words", used, percent,
                   words);
    else
        doctor_say(out, DOCTOR_OK, NULL, "%llu keys, %llu MiB", used,
                   (unsigned long long)tide_pg_u64(&d->rows, 0, 2));
}

/* Sets d->migrated, on which all later checks of tables depend. */
void doctor_migrations(struct doctor *d, struct doctor_finding *out)
{
    struct tide_err err;
    if (!doctor_connected(d, out))
        return;
    tide_status status = tide_migrate_check(d->pg, tide_migrations, tide_migration_count, &err);
    d->migrated = status == TIDE_OK;
    if (status != TIDE_OK && !tide_pg_alive(d->pg))
        say_failed(d, &err, out);
    else if (d->migrated)
        doctor_say(out, DOCTOR_OK, NULL, "schema is at %s",
                   tide_migrations[tide_migration_count - 1].name);
    else
        doctor_say(out, DOCTOR_FAILED,
                   strstr(err.text, TIDE_OTHER_VERSION)
                       ? "run that command, then let database_url of all programs name the new "
                         "database; identity checks stay in the old one"
                   : status == TIDE_E_SCHEMA
                       ? "start tidemark-indexer, which applies it (migrate_on_start), or run "
                         "tidemark-indexer migrate as the role that owns the tables; a migration "
                         "that this build does not know needs a newer build"
                       : "let database_url name the role that owns the tables",
                   "%s", err.text);
}

/* All roles must exist. This one must not be a superuser, and other roles must not be able to take
 * the advisory locks of the daemons. */
void doctor_roles(struct doctor *d, struct doctor_finding *out)
{
    static const char remedy[] = "as a superuser: psql -f /usr/share/tidemark/roles.sql; then psql "
                                 "-d DATABASE -f /usr/share/tidemark/database.sql";
    if (!doctor_ask(
            d,
            "SELECT (SELECT string_agg(n, ', ') FROM unnest('{tidemark_indexer,"
            "tidemark_feeder,tidemark_api,tidemark_kyc,tidemark_attester,"
            "tidemark_console,tidemark_analyst}'::text[]) AS n WHERE to_regrole(n) IS NULL),"
            " (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),"
            " (SELECT bool_or(has_function_privilege('public', oid, 'execute')) FROM pg_proc"
            " WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~"
            " '^pg_(try_)?advisory_(xact_)?lock(_shared)?$')",
            out))
        return;
    if (!tide_pg_is_null(&d->rows, 0, 0))
        doctor_say(out, DOCTOR_FAILED, remedy,
                   "not in this cluster: %s; their programs cannot log in",
                   tide_pg_text(&d->rows, 0, 0));
    else if (tide_pg_bool(&d->rows, 0, 1))
        doctor_say(out, DOCTOR_WARNING,
                   d->for_api ? "let api_database_url name the role tidemark_feeder"
                              : "let database_url name the role tidemark_indexer",
                   "%sdatabase_url logs in as a superuser", d->for_api ? "api_" : "");
    else if (tide_pg_bool(&d->rows, 0, 2))
        doctor_say(out, DOCTOR_WARNING,
                   "as a superuser: psql -d DATABASE -f /usr/share/tidemark/database.sql",
                   "every login may take the locks of the daemons");
    else
        doctor_say(out, DOCTOR_OK, NULL, "all seven roles exist");
}

/* Returns whether this role owns the tables; otherwise fills `out`. The indexer must own them to
 * make partitions. */
static bool is_owner(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_ask(d,
                    "SELECT string_agg(nspname || ' (owner ' || pg_get_userbyid(nspowner) || ')',"
                    " ', ' ORDER BY nspname), current_user FROM pg_namespace WHERE nspname = ANY"
                    " ('{chain,event,state,history,rollup,chain_rows,event_rows,history_rows}') "
                    "AND NOT pg_has_role(nspowner, "
                    "'USAGE')",
                    out))
        return false;
    bool owner = tide_pg_is_null(&d->rows, 0, 0);
    if (!owner)
        doctor_say(
            out, DOCTOR_FAILED, "let database_url name the owner, or make this role a member of it",
            "role %s does not own %s", tide_pg_text(&d->rows, 0, 1), tide_pg_text(&d->rows, 0, 0));
    return owner;
}

/* Rights that roles lack: on schemas, on all tables of those that read all of a schema, and on the
 * tables that a program of identity checks cannot work without. tidemark_api may read some columns
 * only (chain.grant_api), so any column counts. */
static const char missing_rights_sql[] =
    "WITH role AS (SELECT * FROM (VALUES"
    " ('tidemark_feeder', '{chain,event,state,history}'::text[]),"
    " ('tidemark_api', '{chain,event,state,history,rollup,analyst}'),"
    " ('tidemark_analyst', '{analyst}'), ('tidemark_kyc', '{kyc,chain,history}'),"
    " ('tidemark_attester', '{kyc,chain,state,history}'),"
    " ('tidemark_console', '{kyc,chain,analyst}')) AS r (name, folders)"
    " WHERE to_regrole(name) IS NOT NULL),"
    " opened AS (SELECT name, unnest(folders) AS folder FROM role),"
    " reads AS (SELECT o.name, o.folder, c.oid FROM opened AS o"
    " JOIN pg_class AS c ON c.relnamespace = to_regnamespace(o.folder)"
    " AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition"
    " WHERE o.name = 'tidemark_feeder' OR o.name = 'tidemark_analyst'"
    " OR o.name = 'tidemark_api' AND o.folder <> 'analyst' AND (o.folder, c.relname::text) NOT IN"
    " (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))),"
    " needs AS (SELECT r.name, to_regclass(unnest(tables)) AS oid, privilege FROM (VALUES"
    " ('tidemark_kyc', 'SELECT', '{chain.cursor,chain.deployment_state,kyc.integrator,"
    "kyc.integrator_key,kyc.audit,kyc.attester,history.dao_governance_proposal}'::text[]),"
    " ('tidemark_kyc', 'INSERT', '{kyc.session,kyc.inbox,kyc.challenge,kyc.outbox,kyc.hook,"
    "kyc.hook_event,kyc.hook_delivery,kyc.hook_seen,kyc.hook_cursor}'),"
    " ('tidemark_attester', 'SELECT', '{chain.cursor,chain.tx,chain.coverage,kyc.audit,"
    "state.compliance_registry_kyc,history.compliance_registry_kyc}'),"
    " ('tidemark_attester', 'UPDATE', '{kyc.outbox,kyc.attester,kyc.attester_fee}'),"
    " ('tidemark_console', 'SELECT', '{kyc.integrator,kyc.integrator_key,kyc.console_review,"
    "kyc.console_session,kyc.proposal,kyc.audit,analyst.compliance,chain.cursor}'))"
    " AS n (name, privilege, tables) JOIN role AS r ON r.name = n.name),"
    " missing AS (SELECT name, 'schema ' || folder AS object FROM opened"
    " WHERE NOT has_schema_privilege(name, folder, 'USAGE')"
    " UNION ALL SELECT name, oid::regclass::text FROM reads"
    " WHERE NOT has_any_column_privilege(name, oid, 'SELECT')"
    " UNION ALL SELECT name, oid::text FROM needs"
    " WHERE NOT has_any_column_privilege(name, oid::oid, privilege))"
    " SELECT (SELECT count(*) FROM missing), string_agg(name || ' on ' || object, ', ')"
    " FROM (SELECT * FROM missing ORDER BY object NOT LIKE 'schema %', name, object LIMIT 5) AS m";

/* Checks the API's login. The owner's check of grants covers the rights of the role itself. */
static void say_feeder(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_ask(d,
                    "SELECT current_user, coalesce(pg_has_role(to_regrole('tidemark_feeder'),"
                    " 'USAGE'), false)",
                    out))
        return;
    if (tide_pg_bool(&d->rows, 0, 1))
        doctor_say(out, DOCTOR_OK, NULL, "role %s reads as tidemark_feeder",
                   tide_pg_text(&d->rows, 0, 0));
    else
        doctor_say(out, DOCTOR_FAILED,
                   "let api_database_url, or database_url, name the role tidemark_feeder or a "
                   "member of it",
                   "role %s is no member of tidemark_feeder", tide_pg_text(&d->rows, 0, 0));
}

/* Checks what the other roles may do. */
void doctor_grants(struct doctor *d, struct doctor_finding *out)
{
    if (d->for_api) {
        say_feeder(d, out);
        return;
    }
    if (!is_owner(d, out))
        return;
    if (!d->migrated) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the schema");
        return;
    }
    if (!doctor_ask(d, missing_rights_sql, out))
        return;
    unsigned long long missing = tide_pg_u64(&d->rows, 0, 0);
    if (missing == 0)
        doctor_say(out, DOCTOR_OK, NULL, "this role owns the tables; the others have their rights");
    else
        doctor_say(out, DOCTOR_FAILED,
                   "as the owner: CALL chain.restrict_public(); CALL chain.grant_feeder(); CALL "
                   "chain.grant_api(); CALL analyst.grant_access(); CALL kyc.grant_roles(); "
                   "CALL kyc.grant_console()",
                   "%llu rights are missing: %s%s", missing, tide_pg_text(&d->rows, 0, 1),
                   missing > 5 ? " …" : "");
}

/* Fills `out` with the writer's state. A live writer renews its lease every 500 ms. */
static void say_writer(const struct tide_pg_rows *rows, struct doctor_finding *out)
{
    enum { LATE_S = 30 };
    const char *state = tide_pg_text(rows, 0, 0), *error = tide_pg_text(rows, 0, 2);
    const char *ledger = tide_pg_text(rows, 0, 3);
    if (strcmp(state, "frozen") == 0 || strcmp(state, "quarantine") == 0)
        doctor_say(out, DOCTOR_FAILED,
                   "the manual's table of faults explains the message; nothing wrong was written",
                   "%s at ledger %s: %s", state, ledger, error);
    else if (strcmp(state, "stopped") == 0 || tide_pg_is_null(rows, 0, 1) ||
             tide_pg_u64(rows, 0, 1) > LATE_S)
        doctor_say(out, DOCTOR_WARNING, "tidemark-indexer run, or systemctl start tidemark-indexer",
                   "no process writes; ledger %s is the last", ledger);
    else if (strcmp(state, "retrying") == 0)
        doctor_say(out, DOCTOR_WARNING, "see the log of the PostgreSQL server",
                   "the database fails at ledger %s: %s", ledger, error);
    else if (strcmp(state, "degraded") == 0)
        doctor_say(out, DOCTOR_WARNING, "look at the ledger source: rpc, lake",
                   "degraded at ledger %s: %s", ledger, error);
    else if (!tide_pg_is_null(rows, 0, 5))
        doctor_say(out, DOCTOR_WARNING, "look at the ledger source: rpc, lake",
                   "%s at ledger %s, and the source: %s", state, ledger, tide_pg_text(rows, 0, 5));
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s at ledger %s, by %s", state, ledger,
                   tide_pg_text(rows, 0, 4));
}

/* Returns true if file and index agree on the contracts' roles; otherwise fills `out`. */
static bool check_roles(struct doctor *d, struct doctor_finding *out)
{
    struct tide_err err;
    tide_status status = tide_identity_check_file(d->pg, d->deployment, &err);
    if (status == TIDE_E_CONFLICT)
        doctor_say(out, DOCTOR_FAILED,
                   "give the file that the index was made with, or index into another database",
                   "%s", err.text);
    else if (status != TIDE_OK)
        say_failed(d, &err, out);
    return status == TIDE_OK;
}

void doctor_contracts(struct doctor *d, struct doctor_finding *out)
{
    if (!doctor_prepared(d, out))
        return;
    if (check_roles(d, out))
        doctor_say(out, DOCTOR_OK, NULL,
                   "index and deployment file give the contracts the same roles");
}

/* Finds the deployment of the file, in the newest epoch of its network, for later checks. On
 * failure, returns false and fills `out`. */
static bool find_deployment(struct doctor *d, struct doctor_finding *out)
{
    char sql[512], network[2 * TIDE_HASH_BYTES], contracts[2 * TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    tide_deployment_hash(hash, d->deployment);
    tide_hex(network, tide_slice_of(d->deployment->network_id, TIDE_HASH_BYTES));
    tide_hex(contracts, tide_slice_of(hash, sizeof hash));
    int len =
        snprintf(sql, sizeof sql,
                 "SELECT id FROM chain.deployment WHERE network_id = '\\x%.*s' AND contracts_hash ="
                 " '\\x%.*s' ORDER BY epoch DESC LIMIT 1",
                 (int)sizeof network, network, (int)sizeof contracts, contracts);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    if (!doctor_ask(d, sql, out))
        return false;
    d->id = d->rows.count ? (uint16_t)tide_pg_u64(&d->rows, 0, 0) : 0;
    return true;
}

void doctor_writer(struct doctor *d, struct doctor_finding *out)
{
    char sql[512];
    if (!doctor_prepared(d, out))
        return;
    if (!find_deployment(d, out))
        return;
    int len = snprintf(sql, sizeof sql,
                       "SELECT h.state, round(extract(epoch FROM clock_timestamp() -"
                       " e.renewed_at))::bigint, coalesce(h.error, ''), h.ledger, h.instance,"
                       " h.trouble"
                       " FROM chain.heartbeat AS h LEFT JOIN chain.lease AS e ON e.deployment ="
                       " h.deployment WHERE h.deployment = %u",
                       d->id);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    if (!doctor_ask(d, sql, out))
        return;
    if (d->rows.count)
        say_writer(&d->rows, out);
    else
        doctor_say(out, DOCTOR_OK, NULL, "no ledger of this deployment is indexed yet");
}

/* Returns the column with that name. The columns depend on the role's rights. */
static const char *value_of(const struct tide_pg_rows *rows, const char *name)
{
    for (uint32_t i = 0; i < rows->columns; i++)
        if (strcmp(tide_pg_column(rows, i), name) == 0)
            return tide_pg_text(rows, 0, i);
    return "";
}

/* Warns below 1 GiB of free space, or if the volume will be full within two weeks. */
void doctor_disk(struct doctor *d, struct doctor_finding *out)
{
    enum { DAYS_LEFT = 14, MIB_LEFT = 1024 };
    struct tide_buf sql;
    struct tide_err err;
    if (!doctor_connected(d, out))
        return;
    if (!d->migrated) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the schema");
        return;
    }
    tide_pg_patience(d->pg, d->silence_ms); /* sizes of a large database take long to compute */
    tide_buf_init(&sql, 64u << 10);
    bool asked = tide_status_disk_sql(d->pg, &sql, &err) == TIDE_OK;
    if (asked)
        asked = doctor_ask(d, (const char *)sql.ptr, out);
    else
        say_failed(d, &err, out);
    tide_buf_release(&sql);
    tide_pg_patience(d->pg, d->config.db_silence_ms);
    if (!asked)
        return;
    const char *note = value_of(&d->rows, "note"), *days = value_of(&d->rows, "days_until_full");
    unsigned long long mib = strtoull(value_of(&d->rows, "free_bytes"), NULL, 10) >> 20;
    if (*note)
        doctor_say(out, DOCTOR_SKIPPED, NULL, "%s", note);
    else if (mib < MIB_LEFT || (*days && strtoull(days, NULL, 10) < DAYS_LEFT))
        doctor_say(out, DOCTOR_WARNING,
                   "enlarge the volume of the server's data directory, or archive old partitions",
                   "%llu MiB are free%s%s%s", mib, *days ? ", enough for " : "", days,
                   *days ? " days" : "");
    else
        doctor_say(out, DOCTOR_OK, NULL, "%llu MiB are free%s%s%s", mib,
                   *days ? ", enough for " : "", days, *days ? " days" : "");
}
