/* tidemark-sim write: a simulated chain into a lake or a stream. */
#include "tidemark/text.h"
#include "tools/sim/chain.h"
#include "tools/sim/command.h"
#include "tools/sim/expect.h"
#include "tools/sim/lake_write.h"
#include "tools/sim/tally.h"

#include <signal.h>
#include <unistd.h>

#define PASSPHRASE "Tidemark Simulated Network ; 2026"

/* What was asked for. */
struct write_options {
    const char *lake, *stream, *expect, *deployment, *passphrase, *profile;
    uint64_t seed, ledgers, txs, events, ledgers_per_object, objects_per_partition, lcm;
    uint64_t first_ledger, close_step, start_time, users, noise, life, level, follow;
    bool strict_auth, diagnostics, append, quiet, tally;
};

enum option_kind { OPTION_TEXT, OPTION_NUMBER, OPTION_FLAG };

struct option {
    const char *name;
    enum option_kind kind;
    size_t at; /* in struct write_options */
    uint64_t min, max;
    const char *help;
};

/* clang-format off */
#define AT(field) offsetof(struct write_options, field)
static const struct option table[] = {
    { "lake",        OPTION_TEXT,   AT(lake),       0, 0, "DIR  write a SEP-54 data lake there" },
    { "stream",      OPTION_TEXT,   AT(stream),     0, 0, "FILE  write framed ledgers there; - is standard output" },
    { "deployment",  OPTION_TEXT,   AT(deployment), 0, 0, "FILE  names and addresses (default: deployment.json beside the lake)" },
    { "expect",      OPTION_TEXT,   AT(expect),     0, 0, "DIR  write the model's own account of the chain" },
    { "passphrase",  OPTION_TEXT,   AT(passphrase), 0, 0, "TEXT  of the network (default: " PASSPHRASE ")" },
    { "profile",     OPTION_TEXT,   AT(profile),    0, 0, "mixed|swaps  what people do (default: mixed)" },
    { "seed",        OPTION_NUMBER, AT(seed),       0, UINT64_MAX, "N  everything follows from it (default: 1)" },
    { "ledgers",     OPTION_NUMBER, AT(ledgers),    1, UINT32_MAX, "N  how many, rounded up to whole objects (default: 512)" },
    { "events",      OPTION_NUMBER, AT(events),     1, UINT64_MAX, "N  stop with the ledger that reaches so many events" },
    { "txs",         OPTION_NUMBER, AT(txs),        1, 2000, "N  calls a ledger, on average (default: 12)" },
    { "users",       OPTION_NUMBER, AT(users),      4, 100000, "N  how many (default: enough for the calls)" },
    { "noise",       OPTION_NUMBER, AT(noise),      0, 100, "N  transactions of strangers to a hundred calls (default: 15)" },
    { "life",        OPTION_NUMBER, AT(life),       0, 2073599, "N  ledgers an entry lives without care; 0 is the network's 2073599 (default: 1200)" },
    { "first-ledger", OPTION_NUMBER, AT(first_ledger), 2, UINT32_MAX / 2, "N  (default: 1024)" },
    { "close-step",  OPTION_NUMBER, AT(close_step), 1, 3600, "S  seconds between ledgers (default: 5)" },
    { "start-time",  OPTION_NUMBER, AT(start_time), 1, UINT32_MAX, "S  unix time before the first ledger (default: 1767225600)" },
    { "lcm",         OPTION_NUMBER, AT(lcm),        1, 2, "1|2  version of LedgerCloseMeta (default: 2)" },
    { "ledgers-per-object", OPTION_NUMBER, AT(ledgers_per_object), 1, 65536, "N  (default: 64)" },
    { "objects-per-partition", OPTION_NUMBER, AT(objects_per_partition), 1, 1u << 20u, "N  (default: 1000)" },
    { "level",       OPTION_NUMBER, AT(level),      1, 19, "N  of zstd (default: 3)" },
    { "follow",      OPTION_NUMBER, AT(follow),     1, 3600000, "MS  then go on, a ledger every so many milliseconds, until stopped" },
    { "append",      OPTION_FLAG,   AT(append),     0, 0, "go on behind the lake's last object: same options as before, more ledgers" },
    { "strict-auth", OPTION_FLAG,   AT(strict_auth), 0, 0, "nobody signs for a protocol contract, as on the real network" },
    { "diagnostics", OPTION_FLAG,   AT(diagnostics), 0, 0, "write diagnostic events too" },
    { "tally",       OPTION_FLAG,   AT(tally),      0, 0, "count on standard error what was called and what came of it" },
    { "quiet",       OPTION_FLAG,   AT(quiet),      0, 0, "no summary on standard error" },
};
/* clang-format on */

static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static void print_help(FILE *to)
{
    fprintf(to,
            "usage: tidemark-sim write --lake DIR | --stream FILE|- [options]\n\n"
            "Writes the ledgers of a simulated protocol. The same options give the same bytes.\n"
            "In --follow, ledgers close by the wall clock (a second apart at least).\n\n");
    for (size_t i = 0; i < TIDE_COUNT(table); i++)
        fprintf(to, "  --%-22s %s\n", table[i].name, table[i].help);
}

static const struct option *find_option(const char *text, size_t len)
{
    for (size_t i = 0; i < TIDE_COUNT(table); i++) {
        if (strlen(table[i].name) == len && strncmp(table[i].name, text, len) == 0)
            return &table[i];
    }
    return NULL;
}

static tide_status set_number(uint64_t *to, const struct option *option, const char *value,
                              struct tide_err *err)
{
    tide_status status = tide_parse_u64(to, tide_slice_str(value), option->max);
    if (status == TIDE_OK && *to >= option->min)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_USAGE, "--%s=%s: expected %" PRIu64 "..%" PRIu64, option->name,
                     value, option->min, option->max);
}

static tide_status set_option(struct write_options *o, const struct option *option,
                              const char *value, struct tide_err *err)
{
    char *at = (char *)o + option->at;
    if (option->kind == OPTION_FLAG)
        *(bool *)(void *)at = true;
    else if (option->kind == OPTION_TEXT)
        *(const char **)(void *)at = value;
    else
        return set_number((uint64_t *)(void *)at, option, value, err);
    return TIDE_OK;
}

static tide_status parse(struct write_options *o, int argc, char **argv, struct tide_err *err)
{
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (strncmp(text, "--", 2) != 0)
            return tide_fail(err, TIDE_E_USAGE, "%s is no option", text);
        const char *equals = strchr(text, '=');
        size_t len = equals ? (size_t)(equals - text) : strlen(text);
        const struct option *option = find_option(text + 2, len - 2);
        if (!option)
            return tide_fail(err, TIDE_E_USAGE, "unknown option %s", text);
        const char *value = equals ? equals + 1 : NULL;
        if (option->kind == OPTION_FLAG && value)
            return tide_fail(err, TIDE_E_USAGE, "--%s takes no value", option->name);
        if (option->kind != OPTION_FLAG && !value && (i + 1 == argc || !(value = argv[++i])))
            return tide_fail(err, TIDE_E_USAGE, "--%s needs a value", option->name);
        tide_status status = set_option(o, option, value, err);
        if (status != TIDE_OK)
            return status;
    }
    return TIDE_OK;
}

static tide_status check(const struct write_options *o, struct tide_err *err)
{
    if (!o->lake && !o->stream)
        return tide_fail(err, TIDE_E_USAGE, "--lake or --stream is needed");
    if (o->tally && o->expect)
        return tide_fail(err, TIDE_E_USAGE, "--tally and --expect exclude each other");
    if (o->append && !o->lake)
        return tide_fail(err, TIDE_E_USAGE, "--append needs --lake");
    if (strlen(o->passphrase) > 255)
        return tide_fail(err, TIDE_E_USAGE, "--passphrase is longer than 255 bytes");
    if (strcmp(o->profile, "mixed") != 0 && strcmp(o->profile, "swaps") != 0)
        return tide_fail(err, TIDE_E_USAGE, "--profile=%s: expected mixed or swaps", o->profile);
    return TIDE_OK;
}

static struct chain_options chain_options_of(const struct write_options *o)
{
    return (struct chain_options){
        .seed = o->seed,
        .passphrase = o->passphrase,
        .version = (uint32_t)o->lcm,
        .first_ledger = (uint32_t)o->first_ledger,
        .start_time = o->start_time,
        .close_step = (uint32_t)o->close_step,
        .txs = (uint32_t)o->txs,
        .users = (uint32_t)o->users,
        .noise = (uint32_t)o->noise,
        .life = (uint32_t)o->life,
        .profile = strcmp(o->profile, "swaps") == 0 ? STORY_SWAPS : STORY_MIXED,
        .strict_auth = o->strict_auth,
        .diagnostics = o->diagnostics,
    };
}

static tide_status write_deployment(const struct write_options *o, const struct chain *chain,
                                    uint32_t last, struct tide_err *err)
{
    char path[4096];
    struct tide_buf json;
    const char *wanted = o->deployment ? o->deployment : o->lake;
    if (!wanted)
        return TIDE_OK;
    int len = o->deployment ? snprintf(path, sizeof path, "%s", wanted)
                            : snprintf(path, sizeof path, "%s/../deployment.json", wanted);
    if (len < 0 || (size_t)len >= sizeof path)
        return tide_fail(err, TIDE_E_USAGE, "--deployment is too long a name");
    tide_buf_init(&json, 1u << 20);
    cast_deployment(&json, &chain->cast, (uint32_t)o->first_ledger, last);
    FILE *file = fopen(path, "wb");
    bool whole = file && !json.failed && fwrite(json.ptr, 1, json.len, file) == json.len;
    if (file && fclose(file) != 0)
        whole = false;
    tide_buf_release(&json);
    return whole ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot write %s", path);
}

static void sleep_until_next(uint64_t follow_ms, struct timespec *next)
{
    next->tv_nsec += (long)(follow_ms % 1000) * 1000000;
    next->tv_sec += (time_t)(follow_ms / 1000) + next->tv_nsec / 1000000000;
    next->tv_nsec %= 1000000000;
    while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) != 0)
        continue;
}

static bool enough(const struct write_options *o, const struct chain *chain,
                   const struct lake_write *lake)
{
    uint64_t done = chain->ledger - o->first_ledger + 1;
    bool reached = o->events ? chain->events >= o->events && (!o->ledgers || done >= o->ledgers)
                             : done >= o->ledgers;
    return reached && lake_whole(lake) && chain->ledger >= lake->skip_to;
}

static tide_status one_ledger(struct chain *chain, struct lake_write *lake, struct tide_err *err)
{
    tide_slice lcm;
    tide_status status = chain_ledger(chain, &lcm);
    if (status != TIDE_OK)
        return tide_fail(err, status, "ledger %u cannot be written: fewer --txs", chain->ledger);
    return lake_put(lake, chain->ledger, lcm, err);
}

static tide_status write_all(const struct write_options *o, struct chain *chain,
                             struct lake_write *lake, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && !stopped &&
           (chain->ledger < o->first_ledger || !enough(o, chain, lake)))
        status = one_ledger(chain, lake, err);
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (status == TIDE_OK && o->follow && !stopped) {
        sleep_until_next(o->follow, &next);
        chain->not_before = (uint64_t)time(NULL);
        if (!stopped)
            status = one_ledger(chain, lake, err);
        if (status == TIDE_OK && lake->stream && fflush(lake->stream) != 0)
            status = tide_fail(err, TIDE_E_IO, "cannot write %s", o->stream);
    }
    return status;
}

static tide_status write_chain(const struct write_options *o, struct chain *chain,
                               struct lake_write *lake, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (o->append)
        status = lake_last(lake, &lake->skip_to, err);
    if (status == TIDE_OK)
        status = write_deployment(o, chain, 0, err);
    if (status == TIDE_OK)
        status = write_all(o, chain, lake, err);
    if (status == TIDE_OK && !o->follow)
        status = write_deployment(o, chain, chain->ledger, err);
    if (status == TIDE_OK && !o->quiet)
        fprintf(stderr,
                "ledgers=%" PRIu64 " last=%u txs=%" PRIu64 " refused=%" PRIu64 " events=%" PRIu64
                "\n",
                (uint64_t)chain->ledger - o->first_ledger + 1, chain->ledger, chain->txs,
                chain->refused, chain->events);
    return status;
}

/* Who is told what happens: at most one of the two. */
struct audience {
    struct tally *tally;
    struct expect expect;
    bool expecting;
};

static tide_status seat(struct audience *audience, const struct write_options *o,
                        struct chain_options *options, struct tide_err *err)
{
    *audience = (struct audience){ .expecting = o->expect != NULL };
    if (o->expect) {
        tide_status status = expect_open(&audience->expect, o->expect, err);
        options->observer = expect_observer(&audience->expect);
        return status;
    }
    if (!o->tally)
        return TIDE_OK;
    audience->tally = calloc(1, sizeof *audience->tally);
    if (!audience->tally)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the tally");
    options->observer = (struct chain_observer){ .self = audience->tally, .tx = tally_tx };
    return TIDE_OK;
}

static tide_status dismiss(struct audience *audience, struct chain *chain, struct tide_err *err)
{
    if (audience->tally)
        tally_print(audience->tally, stderr);
    free(audience->tally);
    return audience->expecting ? expect_close(&audience->expect, &chain->host, err) : TIDE_OK;
}

static tide_status run_chain(const struct write_options *o, struct lake_write *lake,
                             struct tide_err *err)
{
    struct chain chain;
    struct audience audience;
    struct tide_err late;
    struct chain_options options = chain_options_of(o);
    tide_status status = seat(&audience, o, &options, err);
    if (status != TIDE_OK)
        return status;
    status = chain_open(&chain, &options);
    if (status == TIDE_OK)
        status = write_chain(o, &chain, lake, err);
    else
        tide_fail(err, status, "no memory for the chain");
    tide_status told = dismiss(&audience, &chain, status == TIDE_OK ? err : &late);
    chain_close(&chain);
    return status == TIDE_OK ? told : status;
}

static tide_status run(const struct write_options *o, struct tide_err *err)
{
    struct lake_write lake;
    struct tide_err late;
    struct lake_options to = { .dir = o->lake,
                               .stream = o->stream,
                               .passphrase = o->passphrase,
                               .ledgers_per_object = (uint32_t)o->ledgers_per_object,
                               .objects_per_partition = (uint32_t)o->objects_per_partition,
                               .level = (int)o->level };
    tide_status status = lake_open(&lake, &to, err);
    if (status != TIDE_OK)
        return status;
    status = run_chain(o, &lake, err);
    tide_status closed = lake_close(&lake, status == TIDE_OK ? err : &late);
    return status == TIDE_OK ? closed : status;
}

int sim_write_command(int argc, char **argv)
{
    struct tide_err err;
    struct write_options o = { .passphrase = PASSPHRASE,
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
                               .objects_per_partition = 1000,
                               .level = 3 };
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        print_help(stdout);
        return 0;
    }
    struct sigaction action = { .sa_handler = on_stop };
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    tide_status status = parse(&o, argc, argv, &err);
    if (status == TIDE_OK)
        status = check(&o, &err);
    if (!o.ledgers && !o.events)
        o.ledgers = 512;
    if (status == TIDE_OK)
        status = run(&o, &err);
    if (status != TIDE_OK)
        fprintf(stderr, "tidemark-sim write: %s\n", err.text);
    return tide_status_exit(status);
}
