/* The commands integrator and key: manage who may send an API key, for operators without the
 * console. They run as the owner of the tables. The database's functions write each change to the
 * audit. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"
#include "tidemark/api_key.h"
#include "tidemark/brand.h"
#include "tidemark/sign.h"
#include "tidemark/text.h"

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

/* --- integrator ----------------------------------------------------------------------------- */

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

/* --- key ------------------------------------------------------------------------------------ */

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
