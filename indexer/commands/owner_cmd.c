/* Commands of the tables' owner, each a few statements. */
#include "indexer/commands/command.h"
#include "indexer/database/migrate.h"
#include "indexer/database/query.h"
#include "tidemark/api_key.h"
#include "tidemark/brand.h"
#include "tidemark/sign.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* ---- migrate: applies or checks migrations ---- */

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

/* ---- reset ---- */

/* Begins a new epoch of a network that was reset, beside the old one. An epoch is one row of
 * chain.deployment. The writer uses the latest epoch, whose tables are empty. */

struct epoch {
    char network[2 * TIDE_HASH_BYTES + 1], deployment[12];
    uint32_t number, cursor;
};

/* Reads the deployment's epoch and cursor, and the newest epoch of its network. */
static tide_status find_epoch(struct tide_pg *pg, uint16_t deployment, struct epoch *out,
                              struct tide_err *err)
{
    struct tide_pg_rows rows;
    snprintf(out->deployment, sizeof out->deployment, "%u", deployment);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT encode(d.network_id, 'hex'), d.epoch, coalesce(c.ledger, 0),"
        " (SELECT max(epoch) FROM chain.deployment AS o WHERE o.network_id = d.network_id)"
        " FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id"
        " WHERE d.id = $1::integer",
        (const char *[]){ out->deployment }, 1, err);
    if (status)
        return status;
    if (rows.count == 1) {
        snprintf(out->network, sizeof out->network, "%s", tide_pg_text(&rows, 0, 0));
        out->number = (uint32_t)tide_pg_u64(&rows, 0, 3);
        out->cursor = (uint32_t)tide_pg_u64(&rows, 0, 2);
    } else {
        status = tide_fail(err, TIDE_E_MISSING, "deployment %u does not exist", deployment);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* Fails if a writer holds the deployment's lock: it would go on writing the old epoch. */
static tide_status reject_writer(struct tide_pg *pg, const struct epoch *epoch,
                                 struct tide_err *err)
{
    struct tide_pg_rows rows;
    assert(tide_pg_in_transaction(pg)); /* the lock ends with it */
    tide_status status =
        tide_pg_query(pg, &rows, "SELECT pg_try_advisory_xact_lock(x'74696465'::int, $1::integer)",
                      (const char *[]){ epoch->deployment }, 1, err);
    bool free_now = status == TIDE_OK && tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    if (status || free_now)
        return status;
    return tide_fail(err, TIDE_E_CONFLICT, "an indexer is writing deployment %s: stop it first",
                     epoch->deployment);
}

/* The lock is held until COMMIT, so no writer can start on the old epoch in between. */
static tide_status open_epoch(struct tide_pg *pg, const struct epoch *epoch, struct tide_err *err)
{
    assert(epoch->cursor > 0);
    tide_status status = tide_pg_run(pg, "BEGIN", "BEGIN", err);
    if (!status)
        status = reject_writer(pg, epoch, err);
    if (!status)
        status = tide_pg_query(
            pg, NULL,
            "INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash,"
            " contracts, first_ledger, dao_wallet) SELECT d.passphrase, d.network_id, 1 + "
            "(SELECT"
            " max(epoch) FROM chain.deployment AS o WHERE o.network_id = d.network_id),"
            " d.contracts_hash, d.contracts, d.first_ledger, d.dao_wallet FROM"
            " chain.deployment AS d WHERE d.id = $1::integer",
            (const char *[]){ epoch->deployment }, 1, err);
    return status ? status : tide_pg_run(pg, "COMMIT", "COMMIT", err);
}

int tide_reset_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    struct epoch epoch = { 0 };
    uint16_t deployment = 0;
    (void)argc;
    tide_status status = tide_query_connect(&pg, config, "tidemark-reset", true, &err);
    if (!status)
        status = tide_query_deployment(pg, config, &deployment, &err);
    if (!status)
        status = find_epoch(pg, deployment, &epoch, &err);
    if (!status && epoch.cursor == 0)
        status = tide_fail(&err, TIDE_E_CONFLICT, "epoch %u of the network is still empty",
                           epoch.number);
    if (!status && !tide_option_given(options, "confirm"))
        status = tide_fail(&err, TIDE_E_USAGE,
                           "this would close epoch %u of the network, indexed up to ledger %u, and "
                           "begin epoch %u: pass --confirm if the network was reset",
                           epoch.number, epoch.cursor, epoch.number + 1);
    if (!status)
        status = open_epoch(pg, &epoch, &err);
    if (!status)
        printf(
            "epoch %u of the network begins; the index of epoch %u, up to ledger %u, stays as it "
            "is, as deployment %s\n`tidemark-indexer run` begins at the first ledger; if the "
            "contracts are new, give their deployment file\n",
            epoch.number + 1, epoch.number, epoch.cursor, epoch.deployment);
    fflush(stdout);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}

/* ---- fork: shows the fork that stopped the index, or forgets it ---- */

/* Prints the fork, the last ledger that is proven, and both ways out. */
static void print_fork(const struct tide_pg_rows *rows)
{
    printf("ledger     %s is the first that is known to differ\n"
           "index      %s\n"
           "signed     %s\n"
           "signed by  %s\n"
           "found at   %s\n"
           "proven     %s\n",
           tide_pg_text(rows, 0, 0), tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2),
           tide_pg_text(rows, 0, 3), tide_pg_text(rows, 0, 4), tide_pg_text(rows, 0, 5));
    printf("If the validators are right, the source of the index served ledgers that are not of "
           "this network: use\nanother source and begin a new index beside this one, with "
           "`tidemark-indexer reset --confirm`.\nIf `validators` of the deployment file were "
           "wrong, correct them: `tidemark-indexer fork --dismiss`.\n");
}

static tide_status show_fork(struct tide_pg *pg, const char *deployment, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT f.ledger, encode(f.hash, 'hex'), encode(f.signed_hash, 'hex'),"
        " array_to_string(f.signed_by, ' '), chain.rfc3339(f.found_at), coalesce((SELECT"
        " max(k.ledger) FROM chain.checkpoint AS k WHERE k.deployment = f.deployment AND k.ledger"
        " < f.ledger)::text, 'no ledger before it') FROM chain.fork AS f WHERE f.deployment ="
        " $1::integer",
        (const char *[]){ deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        print_fork(&rows);
    else
        printf("no fork: no signature contradicts the index\n");
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status dismiss_fork(struct tide_pg *pg, const char *deployment, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(pg, &rows, "DELETE FROM chain.fork WHERE deployment = $1::integer",
                      (const char *[]){ deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.affected)
        printf("the fork is forgotten: `tidemark-indexer run` goes on, and finds it again if the "
               "validators of the deployment file still sign it\n");
    else
        status = tide_fail(err, TIDE_E_MISSING, "no fork: there is nothing to forget");
    tide_pg_rows_release(&rows);
    return status;
}

int tide_fork_main(const struct tide_config *config, const struct tide_option *options, int argc,
                   char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    uint16_t id = 0;
    char deployment[8];
    bool dismiss = tide_option_given(options, "dismiss");
    (void)argc;
    tide_status status = tide_query_connect(&pg, config, "tidemark-fork", dismiss, &err);
    if (!status)
        status = tide_query_deployment(pg, config, &id, &err);
    snprintf(deployment, sizeof deployment, "%u", id);
    if (!status)
        status = dismiss ? dismiss_fork(pg, deployment, &err) : show_fork(pg, deployment, &err);
    fflush(stdout);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}

/* ---- erase ---- */

/* Deletes the identity checks that are stored for an address. No daemon that reads requests has the
 * right to delete a session. */

/* Fails with TIDE_E_USAGE unless the text is the address of an account or a contract. */
static tide_status check_address(const char *text, struct tide_err *err)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, tide_slice_str(text)) == TIDE_OK &&
        (kind == TIDE_STRKEY_ACCOUNT || kind == TIDE_STRKEY_CONTRACT))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_USAGE, "expected an account (G) or a contract (C)");
}

int tide_erase_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    bool approved = tide_option_given(options, "although-approved");
    tide_status status = argc == 2 ? check_address(argv[1], &err)
                                   : tide_fail(&err, TIDE_E_USAGE, "expected one address");
    if (!status)
        status = tide_query_connect(&pg, config, "tidemark-erase", true, &err);
    if (!status)
        status = tide_pg_query(pg, NULL, "CALL kyc.erase($1, $2::boolean)",
                               (const char *[]){ argv[1], approved ? "true" : "false" }, 2, &err);
    if (!status)
        printf("erased; the audit has a row for each session\n");
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}

/* ---- withdraw ---- */

/* Withdraws a receipt key, so that its receipts no longer count. The API's nodes read the table
 * through their caches. */

enum { KID_BYTES = 43 };

static tide_status check_kid(const char *kid, struct tide_err *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return strlen(kid) == KID_BYTES && strspn(kid, digits) == KID_BYTES
               ? TIDE_OK
               : tide_fail(err, TIDE_E_USAGE,
                           "expected a kid of /.well-known/jwks.json: 43 characters");
}

/* The row is never deleted: a withdrawn key stays withdrawn. */
static tide_status withdraw_key(struct tide_pg *pg, const char *kid, const char *reason,
                                struct tide_err *err)
{
    tide_status status = tide_pg_query(pg, NULL,
                                       "INSERT INTO chain.withdrawn_key (kid, reason)"
                                       " VALUES ($1, coalesce($2, '')) ON CONFLICT DO NOTHING",
                                       (const char *[]){ kid, reason }, 2, err);
    if (status == TIDE_OK)
        printf("withdrawn: API nodes drop it within seconds, clients five minutes later. Put "
               "another key first in api_receipt_keys\n");
    return status;
}

static tide_status list_keys(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows,
                                       "SELECT kid, chain.rfc3339(withdrawn_at), withdrawn_by,"
                                       " reason FROM chain.withdrawn_key"
                                       " ORDER BY withdrawn_at, kid",
                                       NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++)
        printf("%s  %s  %s  %s\n", tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1),
               tide_pg_text(&rows, i, 2), tide_pg_text(&rows, i, 3));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

int tide_withdraw_main(const struct tide_config *config, const struct tide_option *options,
                       int argc, char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    const char *reason = tide_option_find(options, "reason")->value;
    tide_status status = TIDE_OK;
    if (argc > 2)
        status = tide_fail(&err, TIDE_E_USAGE, "expected one kid, or none");
    if (!status && argc == 2)
        status = check_kid(argv[1], &err);
    if (!status)
        status = tide_query_connect(&pg, config, "tidemark-withdraw", argc == 2, &err);
    if (!status)
        status = argc == 2 ? withdraw_key(pg, argv[1], reason, &err) : list_keys(pg, &err);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}

/* ---- integrator, key ---- */

/* The two manage who may send an API key, for operators without the console. The database's
 * functions write each change to the audit. */

static const char *value_of(const struct tide_option *options, const char *name)
{
    return tide_option_find(options, name)->value;
}

/* Prints rows as lines with tabs between the columns. */
static tide_status print_rows(struct tide_pg *pg, const char *sql, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, sql, NULL, 0, err);
    if (status)
        return status;
    for (uint32_t c = 0; c < rows.columns; c++)
        printf("%s%s", c ? "\t" : "", tide_pg_column(&rows, c));
    putchar('\n');
    for (uint32_t r = 0; r < rows.count; r++)
        for (uint32_t c = 0; c < rows.columns; c++)
            printf("%s%s", tide_pg_text(&rows, r, c), c + 1 < rows.columns ? "\t" : "\n");
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static const char integrators_sql[] =
    "SELECT id, name, state, sessions_per_hour, array_to_string(origins, ',') AS origins,"
    " brand IS NOT NULL AS branded FROM kyc.integrator ORDER BY id";

/* Adds an integrator or replaces all its settings: options that are not given get their
 * defaults. */
static tide_status put_integrator(struct tide_pg *pg, const struct tide_option *options,
                                  char **argv, struct tide_err *err)
{
    const char *sessions = value_of(options, "sessions-per-hour"),
               *text = value_of(options, "brand");
    struct tide_kyc_brand brand; /* the API would ignore a brand that it cannot read */
    struct tide_err why;
    if (text && tide_kyc_brand_parse(&brand, tide_slice_str(text), &why) != TIDE_OK)
        return tide_fail(err, TIDE_E_USAGE, "--brand: %s", why.text);
    if (!tide_text_is_name(tide_slice_str(argv[3])))
        return tide_fail(err, TIDE_E_USAGE,
                         "the name needs a visible character, and no invisible ones (control "
                         "characters, direction marks, zero-width characters)");
    const char *values[] = { argv[2],
                             argv[3],
                             value_of(options, "origins"),
                             text,
                             sessions ? sessions : "200",
                             tide_option_given(options, "suspended") ? "suspended" : "active" };
    return tide_pg_query(pg, NULL,
                         "SELECT kyc.integrator_put('operator', $1, $2,"
                         " coalesce(string_to_array($3, ','), '{}'), $4::jsonb, $5::integer, $6)",
                         values, TIDE_COUNT(values), err);
}

int tide_integrator_main(const struct tide_config *config, const struct tide_option *options,
                         int argc, char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    bool list = argc == 2 && strcmp(argv[1], "list") == 0;
    bool put = argc == 4 && strcmp(argv[1], "put") == 0;
    tide_status status = list || put
                             ? tide_query_connect(&pg, config, "tidemark-keys", put, &err)
                             : tide_fail(&err, TIDE_E_USAGE, "expected list, or put ID NAME");
    if (!status)
        status =
            list ? print_rows(pg, integrators_sql, &err) : put_integrator(pg, options, argv, &err);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}

static const char keys_sql[] =
    "SELECT key_id, integrator, array_to_string(scopes, ',') AS scopes, rate, burst,"
    " array_to_string(networks, ',') AS networks, not_before, ends_at, last_used_at, revoked_at,"
    " created_by FROM kyc.integrator_key ORDER BY integrator, created_at, key_id";

/* SQL: a time "+90d" from now on, or an absolute time. */
#define TIME(n)                                                                       \
    "CASE WHEN $" n " LIKE '+%' THEN clock_timestamp() + substr($" n ", 2)::interval" \
    " ELSE $" n "::timestamptz END"

static tide_status add_key(struct tide_pg *pg, const struct tide_option *options, char **argv,
                           const struct tide_api_key *key, struct tide_err *err)
{
    const char *scopes = value_of(options, "scopes"), *rate = value_of(options, "rate");
    const char *burst = value_of(options, "burst");
    const char *values[] = { key->id,
                             argv[2],
                             key->hash,
                             scopes ? scopes : "kyc",
                             rate,
                             burst ? burst : rate,
                             value_of(options, "networks"),
                             value_of(options, "ends-at") };
    return tide_pg_query(pg, NULL,
                         "SELECT kyc.key_add('operator', $1, $2, $3::bytea,"
                         " string_to_array($4, ','), $5::integer, $6::integer,"
                         " coalesce(string_to_array($7, ',')::cidr[], '{}'), NULL, " TIME("8") ")",
                         values, TIDE_COUNT(values), err);
}

/* Replaces a key by a new one. Both are valid during the overlap. */
static tide_status rotate_key(struct tide_pg *pg, const struct tide_option *options, char **argv,
                              const struct tide_api_key *key, struct tide_err *err)
{
    const char *overlap = value_of(options, "overlap");
    const char *values[] = { argv[2], key->id, key->hash, overlap ? overlap : "24h" };
    return tide_pg_query(pg, NULL,
                         "SELECT kyc.key_rotate('operator', $1, $2, $3::bytea, $4::interval)",
                         values, TIDE_COUNT(values), err);
}

/* Adds, rotates, ends or revokes a key. The text of a new key is printed once and stored
 * nowhere. */
static tide_status change_key(struct tide_pg *pg, const struct tide_option *options, char **argv,
                              struct tide_err *err)
{
    struct tide_api_key key;
    bool add = strcmp(argv[1], "add") == 0;
    if (strcmp(argv[1], "revoke") == 0)
        return tide_pg_query(pg, NULL, "SELECT kyc.key_revoke('operator', $1)",
                             (const char *[]){ argv[2] }, 1, err);
    if (strcmp(argv[1], "end") == 0)
        return tide_pg_query(
            pg, NULL,
            "SELECT kyc.key_end('operator', $1, coalesce(" TIME("2") ", clock_timestamp()))",
            (const char *[]){ argv[2], value_of(options, "ends-at") }, 2, err);
    tide_status status = tide_api_key_make(&key, err);
    if (!status)
        status =
            add ? add_key(pg, options, argv, &key, err) : rotate_key(pg, options, argv, &key, err);
    if (!status)
        puts(key.text);
    tide_sign_wipe(&key, sizeof key);
    return status;
}

/* Returns whether the operand changes keys and needs a writable connection. */
static bool is_change(const char *word)
{
    static const char *const words[] = { "add", "rotate", "end", "revoke" };
    for (size_t i = 0; i < TIDE_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

int tide_key_main(const struct tide_config *config, const struct tide_option *options, int argc,
                  char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    bool list = argc == 2 && strcmp(argv[1], "list") == 0;
    tide_status status =
        list || (argc == 3 && is_change(argv[1]))
            ? tide_query_connect(&pg, config, "tidemark-keys", !list, &err)
            : tide_fail(&err, TIDE_E_USAGE,
                        "expected list, add INTEGRATOR, or rotate, end or revoke KEY_ID");
    if (!status)
        status = list ? print_rows(pg, keys_sql, &err) : change_key(pg, options, argv, &err);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
