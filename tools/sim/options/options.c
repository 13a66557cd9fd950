/* The reader of options, and the options of a chain. */
#include "tools/sim/options/options.h"
#include "tidemark/text.h"

/* clang-format off */
#define AT(field) offsetof(struct sim_settings, field)
static const struct sim_option chain_table[] = {
    { "lake",        SIM_TEXT,   AT(lake),       0, 0, "DIR  write a SEP-54 data lake there" },
    { "deployment",  SIM_TEXT,   AT(deployment), 0, 0, "FILE  names and addresses (default: deployment.json beside the lake)" },
    { "passphrase",  SIM_TEXT,   AT(passphrase), 0, 0, "TEXT  of the network (default: " SIM_PASSPHRASE ")" },
    { "profile",     SIM_TEXT,   AT(profile),    0, 0, "mixed|swaps|showcase  the kind of calls; showcase: what a person believes, for screens (default: mixed)" },
    { "seed",        SIM_NUMBER, AT(seed),       0, UINT64_MAX, "N  the same seed gives the same chain (default: 1)" },
    { "ledgers",     SIM_NUMBER, AT(ledgers),    1, UINT32_MAX, "N  how many, rounded up to whole objects (default: 512, or what --events needs)" },
    { "txs",         SIM_NUMBER, AT(txs),        1, 10000, "N  calls a ledger, on average (default: 12)" },
    { "full",        SIM_FLAG,   AT(full),       0, 0, "every ledger behind the deployment has exactly --txs calls, and closes --close-step after the last" },
    { "addresses",   SIM_NUMBER, AT(addresses),  1, PARTY_USERS_MAX, "N  accounts of the population (default, and least: 36 and two for each of --txs)" },
    { "noise",       SIM_NUMBER, AT(noise),      0, 100, "N  transactions of strangers to a hundred calls (default: 15)" },
    { "life",        SIM_NUMBER, AT(life),       0, 2073599, "N  ledgers that an entry lives unless it is extended; 0 is the network's 2073599 (default: 1200)" },
    { "first-ledger", SIM_NUMBER, AT(first_ledger), 2, UINT32_MAX / 2, "N  (default: 1024)" },
    { "close-step",  SIM_NUMBER, AT(close_step), 1, 3600, "S  seconds between ledgers (default: 5)" },
    { "start-time",  SIM_NUMBER, AT(start_time), 1, UINT32_MAX, "S  unix time before the first ledger (default: 1767225600)" },
    { "lcm",         SIM_NUMBER, AT(lcm),        1, 2, "1|2  version of LedgerCloseMeta (default: 2)" },
    { "shuffle",     SIM_NUMBER, AT(shuffle),    1, UINT64_MAX, "SEED  entry changes in another order, as another node lists them; the hashes stay (default: as they were made)" },
    { "ledgers-per-object", SIM_NUMBER, AT(ledgers_per_object), 1, 65536, "N  (default: 64; serve: 1)" },
    { "objects-per-partition", SIM_NUMBER, AT(objects_per_partition), 1, 1u << 20u, "N  (default: 1000; serve: 64000)" },
    { "hostile",     SIM_NUMBER, AT(hostile),    1, UINT64_MAX, "SEED  adds attackers, who send anything that the network accepts" },
    { "hostile-all-from", SIM_NUMBER, AT(hostile_all_from), 2, UINT32_MAX, "N  from this ledger on they also overwrite entries of the workload (default: never)" },
    { "hostile-bulk", SIM_NUMBER, AT(hostile_bulk), 1, 480, "N  repetitions of each event and entry by the attack bulk (default: 100)" },
    { "hostile-attacks", SIM_TEXT, AT(hostile_attacks), 0, 0, "LIST  attacks, separated by commas (default: all; see hostile/attacks.def)" },
    { "strict-auth", SIM_FLAG,   AT(strict_auth), 0, 0, "no call is signed for a protocol contract, as on the real network" },
    { "catalog-native", SIM_FLAG, AT(catalog_native), 0, 0, "partners list the native asset's contract as their token" },
    { "diagnostics", SIM_FLAG,   AT(diagnostics), 0, 0, "write diagnostic events too" },
    { "milliseconds", SIM_FLAG,  AT(milliseconds), 0, 0, "close times in milliseconds, as from protocol 30 on; every other ledger closes within the second of the one before" },
};
/* clang-format on */

/* --- the reader -------------------------------------------------------------- */

void sim_options_help(FILE *to, const struct sim_options *tables, size_t table_count)
{
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++)
            fprintf(to, "  --%-22s %s\n", tables[t].rows[i].name, tables[t].rows[i].help);
    }
}

/* Finds an option and sets *to to the structure that its field is in. Returns NULL if there is
 * none. */
static const struct sim_option *find_option(const struct sim_options *tables, size_t table_count,
                                            tide_slice name, char **to)
{
    for (size_t t = 0; t < table_count; t++) {
        *to = tables[t].to;
        for (size_t i = 0; i < tables[t].count; i++) {
            if (tide_slice_eq_str(name, tables[t].rows[i].name))
                return &tables[t].rows[i];
        }
    }
    return NULL;
}

/* Parses a number and checks its range. */
static tide_status set_number(uint64_t *to, const struct sim_option *option, const char *value,
                              struct tide_err *err)
{
    tide_status status = tide_parse_u64(to, tide_slice_str(value), option->max);
    if (status == TIDE_OK && *to >= option->min)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_USAGE, "--%s=%s: expected %" PRIu64 "..%" PRIu64, option->name,
                     value, option->min, option->max);
}

/* Appends a text to an option that may be given more than once. */
static tide_status add_text(struct sim_texts *to, const struct sim_option *option,
                            const char *value, struct tide_err *err)
{
    if (to->count == TIDE_COUNT(to->text))
        return tide_fail(err, TIDE_E_USAGE, "--%s: at most %zu times", option->name,
                         TIDE_COUNT(to->text));
    to->text[to->count++] = value;
    return TIDE_OK;
}

/* Sets the option's field in the structure at `at`. */
static tide_status set_option(char *at, const struct sim_option *option, const char *value,
                              struct tide_err *err)
{
    void *field = at + option->at;
    switch (option->kind) {
    case SIM_FLAG:
        *(bool *)field = true;
        return TIDE_OK;
    case SIM_TEXT:
        *(const char **)field = value;
        return TIDE_OK;
    case SIM_TEXTS:
        return add_text(field, option, value, err);
    case SIM_NUMBER:
        break;
    }
    return set_number(field, option, value, err);
}

tide_status sim_options_read(const struct sim_options *tables, size_t table_count, int argc,
                             char **argv, struct tide_err *err)
{
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (strncmp(text, "--", 2) != 0)
            return tide_fail(err, TIDE_E_USAGE, "%s is not an option", text);
        const char *equals = strchr(text, '=');
        size_t len = equals ? (size_t)(equals - text) : strlen(text);
        char *to = NULL;
        const struct sim_option *option =
            find_option(tables, table_count, tide_slice_of(text + 2, len - 2), &to);
        if (!option)
            return tide_fail(err, TIDE_E_USAGE, "unknown option %s", text);
        const char *value = equals ? equals + 1 : NULL;
        if (option->kind == SIM_FLAG && value)
            return tide_fail(err, TIDE_E_USAGE, "--%s takes no value", option->name);
        /* The value is the rest of the argument, or the next one. */
        if (option->kind != SIM_FLAG && !value && (i + 1 == argc || !(value = argv[++i])))
            return tide_fail(err, TIDE_E_USAGE, "--%s needs a value", option->name);
        tide_status status = set_option(to, option, value, err);
        if (status != TIDE_OK)
            return status;
    }
    return TIDE_OK;
}

/* --- settings of a chain ------------------------------------------------------- */

struct sim_settings sim_settings_default(void)
{
    return (struct sim_settings){ .passphrase = SIM_PASSPHRASE,
                                  .profile = "mixed",
                                  .seed = 1,
                                  .txs = 12,
                                  .noise = 15,
                                  .life = 1200,
                                  .first_ledger = 1024,
                                  .close_step = 5,
                                  .start_time = 1767225600,
                                  .lcm = 2,
                                  .ledgers_per_object = 64,
                                  .objects_per_partition = 1000 };
}

struct sim_options sim_settings_options(struct sim_settings *settings)
{
    return (struct sim_options){ chain_table, TIDE_COUNT(chain_table), settings };
}

static const char *const profiles[] = {
    [WORKLOAD_MIXED] = "mixed", [WORKLOAD_SWAPS] = "swaps", [WORKLOAD_SHOWCASE] = "showcase"
};

/* Returns the profile of that name; TIDE_COUNT(profiles): there is none. */
static size_t find_profile(const char *name)
{
    size_t at = 0;
    while (at < TIDE_COUNT(profiles) && strcmp(profiles[at], name) != 0)
        at++;
    return at;
}

tide_status sim_settings_check(const struct sim_settings *s, struct tide_err *err)
{
    if (strlen(s->passphrase) > 255)
        return tide_fail(err, TIDE_E_USAGE, "--passphrase is longer than 255 bytes");
    uint32_t attacks;
    if (s->hostile_attacks && !s->hostile)
        return tide_fail(err, TIDE_E_USAGE, "--hostile-attacks needs --hostile");
    if (s->hostile_attacks && hostile_parse(&attacks, s->hostile_attacks, err) != TIDE_OK)
        return TIDE_E_USAGE;
    if (find_profile(s->profile) == TIDE_COUNT(profiles))
        return tide_fail(err, TIDE_E_USAGE, "--profile=%s: expected mixed, swaps or showcase",
                         s->profile);
    if (s->addresses && s->addresses < chain_founders((uint32_t)s->txs))
        return tide_fail(err, TIDE_E_USAGE,
                         "--addresses=%" PRIu64 ": --txs %" PRIu64 " needs at least %u",
                         s->addresses, s->txs, chain_founders((uint32_t)s->txs));
    return TIDE_OK;
}

/* The list is known to be valid: sim_settings_check has parsed it. */
struct hostile_options sim_settings_hostile(const struct sim_settings *s)
{
    struct tide_err err;
    struct hostile_options out = { .seed = s->hostile,
                                   .all_from = (uint32_t)s->hostile_all_from,
                                   .bulk = (uint32_t)s->hostile_bulk };
    tide_status status =
        s->hostile_attacks ? hostile_parse(&out.attacks, s->hostile_attacks, &err) : TIDE_OK;
    assert(status == TIDE_OK);
    (void)status;
    return out;
}

struct chain_options sim_settings_chain(const struct sim_settings *s)
{
    return (struct chain_options){
        .seed = s->seed,
        .passphrase = s->passphrase,
        .version = (uint32_t)s->lcm,
        .first_ledger = (uint32_t)s->first_ledger,
        .start_time = s->start_time,
        .close_step = (uint32_t)s->close_step,
        .txs = (uint32_t)s->txs,
        .addresses = (uint32_t)s->addresses,
        .noise = (uint32_t)s->noise,
        .life = (uint32_t)s->life,
        .profile = (enum workload_profile)find_profile(s->profile),
        .past = (uint32_t)s->ledgers,
        .full = s->full,
        .strict_auth = s->strict_auth,
        .catalog_native = s->catalog_native,
        .diagnostics = s->diagnostics,
        .shuffle = s->shuffle,
        .milliseconds = s->milliseconds,
    };
}

struct lake_options sim_settings_lake(const struct sim_settings *s)
{
    return (struct lake_options){ .dir = s->lake,
                                  .passphrase = s->passphrase,
                                  .ledgers_per_object = (uint32_t)s->ledgers_per_object,
                                  .objects_per_partition = (uint32_t)s->objects_per_partition,
                                  .level = 3 };
}

/* --- deployment.json ---------------------------------------------------------------- */

enum { TEXT_MAX = 1 << 20, PATH_TEXT = 4096 }; /* bytes */

/* Returns the path: --deployment, or deployment.json in the folder that contains the lake's
 * folder. */
static tide_status deployment_path(const struct sim_settings *s, char path[PATH_TEXT],
                                   struct tide_err *err)
{
    int len = s->deployment ? snprintf(path, PATH_TEXT, "%s", s->deployment)
                            : snprintf(path, PATH_TEXT, "%s/../deployment.json", s->lake);
    if (len < 0 || len >= PATH_TEXT)
        return tide_fail(err, TIDE_E_USAGE, "the name of --deployment is too long");
    return TIDE_OK;
}

tide_status sim_settings_deployment(const struct sim_settings *s, const struct parties *parties,
                                    uint32_t last, struct tide_err *err)
{
    char path[PATH_TEXT];
    struct tide_buf json;
    if (!s->deployment && !s->lake)
        return TIDE_OK;
    tide_status status = deployment_path(s, path, err);
    if (status != TIDE_OK)
        return status;
    tide_buf_init(&json, TEXT_MAX);
    parties_deployment(&json, parties, (uint32_t)s->first_ledger, last);
    FILE *file = fopen(path, "wb");
    bool whole = file && !json.failed && fwrite(json.ptr, 1, json.len, file) == json.len;
    if (file && fclose(file) != 0)
        whole = false;
    tide_buf_release(&json);
    return whole ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot write %s", path);
}
