/* tidemark-sim write: writes a simulated chain to a lake or a stream. */
#include "tidemark/clock.h"
#include "tools/sim/chain/expect.h"
#include "tools/sim/ledger/archive_write.h"
#include "tools/sim/options/command.h"
#include "tools/sim/options/options.h"

#include <signal.h>
#include <unistd.h>

enum { QUORUM_BYTES = 64 << 10 };

/* The command's options. signers: UINT64_MAX, all. */
struct write_options {
    struct sim_settings chain;
    const char *stream, *expect, *archive;
    uint64_t events, follow, validators, signers, fork_at;
    bool append, quiet;
};

/* clang-format off */
#define AT(field) offsetof(struct write_options, field)
static const struct sim_option table[] = {
    { "stream",      SIM_TEXT,   AT(stream),     0, 0, "FILE  write framed ledgers to a file; - is standard output" },
    { "expect",      SIM_TEXT,   AT(expect),     0, 0, "DIR  also write the model's own events, calls, entry versions and state" },
    { "archive",     SIM_TEXT,   AT(archive),    0, 0, "DIR  also write a history archive for each 64 ledgers: headers, transactions, results, and the state in buckets. Header hashes differ from those without it" },
    { "validators",  SIM_NUMBER, AT(validators), 1, VALIDATORS_MAX, "N  simulated validators sign each ledger in the archive; the deployment file names them" },
    { "signers",     SIM_NUMBER, AT(signers),    0, VALIDATORS_MAX, "N  only so many of them sign, the others are silent (default: all)" },
    { "fork-at",     SIM_NUMBER, AT(fork_at),    1, UINT32_MAX, "N  in the archive they sign a ledger N that follows another ledger than the chain's" },
    { "events",      SIM_NUMBER, AT(events),     1, UINT64_MAX, "N  stop with the ledger that reaches so many events; with --ledgers: at whichever comes first" },
    { "follow",      SIM_NUMBER, AT(follow),     1, 3600000, "MS  then close a ledger every so many milliseconds, until a signal comes" },
    { "append",      SIM_FLAG,   AT(append),     0, 0, "continue behind the lake's last object: the options must be the same, but for more --ledgers" },
    { "quiet",       SIM_FLAG,   AT(quiet),      0, 0, "no summary on standard error" },
};
/* clang-format on */

/* Set by SIGTERM and SIGINT; the loops end after the present ledger. */
static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* Prints the help text. */
static void print_help(FILE *to, const struct sim_options *tables, size_t table_count)
{
    fprintf(
        to,
        "usage: tidemark-sim write --lake DIR | --stream FILE|- [options]\n\n"
        "Writes the ledgers of a simulated protocol. The same options give the same bytes.\n"
        "Objects of a lake are never overwritten: if one has other bytes, the exit code is 68.\n"
        "With --follow, ledgers close at the time of day, at least a second apart.\n\n");
    sim_options_help(to, tables, table_count);
}

/* Checks options that depend on each other. */
static tide_status check_options(const struct write_options *o, struct tide_err *err)
{
    if (!o->chain.lake && !o->stream)
        return tide_fail(err, TIDE_E_USAGE, "--lake or --stream is needed");
    if (o->append && !o->chain.lake)
        return tide_fail(err, TIDE_E_USAGE, "--append needs --lake");
    if (o->validators && !o->archive)
        return tide_fail(err, TIDE_E_USAGE, "--validators needs --archive");
    if ((o->signers != UINT64_MAX || o->fork_at) && !o->validators)
        return tide_fail(err, TIDE_E_USAGE, "--signers and --fork-at need --validators");
    if (o->archive && o->chain.lcm != 2)
        return tide_fail(err, TIDE_E_USAGE,
                         "--archive needs --lcm 2: protocol 22 has no hot archive");
    return sim_settings_check(&o->chain, err);
}

/* Advances *next by the period and sleeps until then. A signal ends the sleep. */
static void sleep_until_next(uint64_t follow_ms, struct timespec *next)
{
    *next = tide_timespec_later(*next, (int64_t)follow_ms);
    while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) != 0)
        continue;
}

/* Returns true if the chain has the requested ledgers or events, and ends with a whole object. */
static bool is_complete(const struct write_options *o, const struct chain *chain,
                        const struct lake_write *lake)
{
    uint64_t done = chain->ledger - o->chain.first_ledger + 1;
    bool reached =
        (o->events && chain->events >= o->events) || (o->chain.ledgers && done >= o->chain.ledgers);
    return reached && lake_whole(lake) && chain->ledger >= lake->skip_to;
}

/* The places that ledgers are written to. */
struct outputs {
    struct lake_write *lake;
    struct archive_write *archive; /* NULL: none */
};

/* Makes and writes one ledger. */
static tide_status write_ledger(struct chain *chain, const struct outputs *to, struct tide_err *err)
{
    tide_slice lcm;
    tide_status status = chain_ledger(chain, &lcm);
    if (status != TIDE_OK)
        return tide_fail(err, status, "ledger %u cannot be written: use fewer --txs",
                         chain->ledger);
    if (to->archive)
        status = archive_write_put(to->archive, lcm, err);
    return status == TIDE_OK ? lake_put(to->lake, chain->ledger, lcm, err) : status;
}

/* Writes the requested ledgers. With --follow, then writes one ledger a period, with the time of
 * day as close time. */
static tide_status write_all(const struct write_options *o, struct chain *chain,
                             const struct outputs *to, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && !stopped &&
           (chain->ledger < o->chain.first_ledger || !is_complete(o, chain, to->lake)))
        status = write_ledger(chain, to, err);
    struct timespec next = tide_monotonic_in(0);
    while (status == TIDE_OK && o->follow && !stopped) {
        sleep_until_next(o->follow, &next);
        chain->not_before = (uint64_t)time(NULL);
        if (!stopped)
            status = write_ledger(chain, to, err);
        if (status == TIDE_OK && to->lake->stream && fflush(to->lake->stream) != 0)
            status = tide_fail(err, TIDE_E_IO, "cannot write %s", o->stream);
    }
    return status;
}

/* Writes deployment.json and the ledgers, and prints the summary. The deployment names its last
 * ledger once that is known. */
static tide_status write_chain(const struct write_options *o, struct chain *chain,
                               const struct outputs *to, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (o->append)
        status = lake_last(to->lake, &to->lake->skip_to, err);
    if (status == TIDE_OK)
        status = sim_settings_deployment(&o->chain, &chain->parties, 0, err);
    if (status == TIDE_OK)
        status = write_all(o, chain, to, err);
    if (status == TIDE_OK && !o->follow)
        status = sim_settings_deployment(&o->chain, &chain->parties, chain->ledger, err);
    if (status == TIDE_OK && !o->quiet)
        fprintf(stderr,
                "ledgers=%" PRIu64 " last=%u txs=%" PRIu64 " refused=%" PRIu64 " events=%" PRIu64
                "\n",
                (uint64_t)chain->ledger - o->chain.first_ledger + 1, chain->ledger, chain->txs,
                chain->refused, chain->events);
    return status;
}

/* Runs the chain with bucket lists and signed by the validators. */
static tide_status run_signed(const struct write_options *o, struct chain *chain,
                              struct outputs *to, const struct validators *validators,
                              struct tide_err *err)
{
    struct archive_write archive;
    struct bucket_list *buckets;
    struct tide_buf quorum;
    if (bucket_list_open(&buckets, lcm_protocol(&chain->lcm)) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "bucket lists");
    const struct archive_write options = { .dir = o->archive,
                                           .passphrase = chain->lcm.passphrase,
                                           .buckets = buckets,
                                           .validators = validators,
                                           .fork = (uint32_t)o->fork_at };
    tide_buf_init(&quorum, QUORUM_BYTES);
    if (validators->count)
        validators_put_quorum(&quorum, validators);
    archive_write_open(&archive, &options);
    chain->lcm.buckets = buckets;
    chain->parties.validators = tide_buf_view(&quorum);
    to->archive = &archive;
    tide_status status = write_chain(o, chain, to, err);
    chain->parties.validators = tide_slice_str("");
    chain->lcm.buckets = NULL;
    archive_write_close(&archive);
    tide_buf_release(&quorum);
    bucket_list_close(buckets);
    return status;
}

/* Runs the chain, with an archive if one is written. */
static tide_status run_archived(const struct write_options *o, struct chain *chain,
                                struct lake_write *lake, struct tide_err *err)
{
    struct outputs to = { .lake = lake };
    struct validators validators;
    if (!o->archive)
        return write_chain(o, chain, &to, err);
    uint32_t signers = o->signers < VALIDATORS_MAX ? (uint32_t)o->signers : VALIDATORS_MAX;
    tide_status status =
        validators_open(&validators, chain->lcm.passphrase, (uint32_t)o->validators, signers);
    status = status == TIDE_OK ? run_signed(o, chain, &to, &validators, err)
                               : tide_fail(err, status, "cannot make the validators' keys");
    validators_close(&validators);
    return status;
}

/* Opens model and attackers and runs the chain. All is closed on failure too; the first error
 * counts. */
static tide_status run_chain(const struct write_options *o, struct lake_write *lake,
                             struct tide_err *err)
{
    struct chain chain;
    struct hostile *attackers = NULL;
    const struct hostile_options hostile = sim_settings_hostile(&o->chain);
    struct expect expect;
    struct tide_err late;
    struct chain_options options = sim_settings_chain(&o->chain);
    tide_status status = o->expect ? expect_open(&expect, o->expect, err) : TIDE_OK;
    if (status != TIDE_OK)
        return status;
    if (o->expect)
        options.observer = expect_observer(&expect);
    status = chain_open(&chain, &options);
    if (status == TIDE_OK)
        status = hostile_open(&attackers, &chain, &hostile);
    if (status == TIDE_OK)
        status = run_archived(o, &chain, lake, err);
    else
        tide_fail(err, status, "no memory for the chain");
    if (o->expect) {
        tide_status closed = expect_close(&expect, &chain.host, status == TIDE_OK ? err : &late);
        status = status == TIDE_OK ? closed : status;
    }
    hostile_close(attackers);
    chain_close(&chain);
    return status;
}

/* Opens the lake or stream and runs the chain. */
static tide_status run_write(const struct write_options *o, struct tide_err *err)
{
    struct lake_write lake;
    struct tide_err late;
    struct lake_options to = sim_settings_lake(&o->chain);
    to.stream = o->stream;
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
    struct write_options o = { .chain = sim_settings_default(), .signers = UINT64_MAX };
    const struct sim_options tables[] = { sim_settings_options(&o.chain),
                                          { table, TIDE_COUNT(table), &o } };
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        print_help(stdout, tables, TIDE_COUNT(tables));
        return 0;
    }
    struct sigaction action = { .sa_handler = on_stop };
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    tide_status status = sim_options_read(tables, TIDE_COUNT(tables), argc, argv, &err);
    if (status == TIDE_OK)
        status = check_options(&o, &err);
    if (!o.chain.ledgers && !o.events)
        o.chain.ledgers = 512;
    if (status == TIDE_OK)
        status = run_write(&o, &err);
    if (status != TIDE_OK)
        fprintf(stderr, "tidemark-sim write: %s\n", err.text);
    return tide_status_exit(status);
}
