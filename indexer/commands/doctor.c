/* The command doctor: runs all checks and prints their findings. */
#include "indexer/commands/doctor.h"
#include "indexer/commands/command.h"
#include "tidemark/json.h"
#include "tidemark/text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- in the unit of a daemon ------------------------------------------------------------ */

enum { WORDS_MAX = 64, LINE_BYTES = 4096 };

/* The command line of systemd-run. */
struct unit_run {
    char *words[WORDS_MAX + 1];
    size_t count;
    char config[LINE_BYTES]; /* the unit's --config; "": none */
    bool account;            /* the unit names its User */
    bool api;                /* the unit runs tidemark-api */
    char other[64];          /* another program of Tidemark that the unit runs; "": none */
};

/* Appends a word. Returns whether there was room. The words live until the process ends. */
static bool add_word(struct unit_run *run, const char *prefix, const char *text)
{
    assert(run->count <= WORDS_MAX && !run->words[run->count]);
    size_t size = strlen(prefix) + strlen(text) + 1;
    char *word = run->count < WORDS_MAX ? malloc(size) : NULL;
    if (!word)
        return false;
    snprintf(word, size, "%s%s", prefix, text);
    run->words[run->count++] = word;
    run->words[run->count] = NULL;
    return true;
}

/* Copies the value of --config from the command line of ExecStart. */
static void read_config_path(struct unit_run *run, const char *command)
{
    static const char option[] = "--config";
    const char *at = strstr(command, option);
    if (!at)
        return;
    at += sizeof option - 1;
    at += strspn(at, " =");
    snprintf(run->config, sizeof run->config, "%.*s", (int)strcspn(at, " \t"), at);
}

/* Finds out which daemon the first word of ExecStart starts. Another program than those of Tidemark
 * may be a wrapper around the indexer. */
static void read_program(struct unit_run *run, const char *command)
{
    size_t len = strcspn(command, " \t");
    const char *name = command + len;
    while (name > command && name[-1] != '/')
        name--;
    len = (size_t)(command + len - name);
    run->other[0] = '\0';
    run->api = len == strlen("tidemark-api") && strncmp(name, "tidemark-api", len) == 0;
    bool indexer = len == strlen("tidemark-indexer") && strncmp(name, "tidemark-indexer", len) == 0;
    if (!run->api && !indexer && strncmp(name, "tidemark-", strlen("tidemark-")) == 0)
        snprintf(run->other, sizeof run->other, "%.*s", (int)len, name);
}

/* Takes over a line of the unit that says as whom, with which secrets and in which environment the
 * daemon runs. Returns false if the unit has more of them than a command line may. */
static bool take_line(struct unit_run *run, const char *line)
{
    static const char *const taken[] = {
        "User=",          "LoadCredential=", "LoadCredentialEncrypted=",
        "SetCredential=", "Environment=",    "EnvironmentFile="
    };
    if (strncmp(line, "ExecStart=", 10) == 0) {
        read_program(run, line + 10);
        read_config_path(run, line + 10);
    }
    for (size_t i = 0; i < TIDE_COUNT(taken); i++)
        if (strncmp(line, taken[i], strlen(taken[i])) == 0) {
            run->account = run->account || i == 0;
            return add_word(run, "--property=", line);
        }
    return true;
}

/* Starts `systemctl cat UNIT` with its output in a pipe. Returns NULL with errno if that failed. */
static FILE *start_systemctl(const char *unit, pid_t *child)
{
    static struct unit_run ask;
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (!add_word(&ask, "", "systemctl") || !add_word(&ask, "", "cat") ||
        !add_word(&ask, "", "--") || !add_word(&ask, "", unit) || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    errno = posix_spawn_file_actions_init(&actions);
    if (errno == 0) {
        errno = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (errno == 0)
            errno = posix_spawnp(child, ask.words[0], &actions, NULL, ask.words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    FILE *from = errno == 0 ? fdopen(ends[0], "r") : NULL;
    int why = errno;
    close(ends[1]);
    if (!from)
        close(ends[0]);
    errno = why;
    return from;
}

/* Reads the unit as systemd has it. */
static tide_status read_unit(struct unit_run *run, const char *unit, struct tide_err *err)
{
    char line[LINE_BYTES];
    int code = -1;
    pid_t child;
    tide_status status = TIDE_OK;
    FILE *from = start_systemctl(unit, &child);
    if (!from)
        return tide_fail(err, TIDE_E_IO, "systemctl: %s", strerror(errno));
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        if (status == TIDE_OK && !take_line(run, line))
            status = tide_fail(err, TIDE_E_LIMIT, "%s sets too much for a command line", unit);
    }
    fclose(from);
    waitpid(child, &code, 0);
    if (code != 0)
        return tide_fail(err, TIDE_E_USAGE, "systemctl does not know the unit %s", unit);
    if (status == TIDE_OK && !run->account)
        return tide_fail(err, TIDE_E_USAGE, "the unit %s names no User", unit);
    if (status == TIDE_OK && run->other[0])
        return tide_fail(err, TIDE_E_USAGE,
                         "the unit %s runs %s; doctor checks tidemark-indexer and tidemark-api",
                         unit, run->other);
    return status;
}

static bool add_words(struct unit_run *run, const char *program, bool json)
{
    return add_word(run, "", "--") && add_word(run, "", program) && add_word(run, "", "doctor") &&
           (!run->config[0] || add_word(run, "--config=", run->config)) &&
           (!run->api || add_word(run, "", "--daemon=api")) &&
           (!json || add_word(run, "", "--json"));
}

/* Runs `doctor` again as the systemd unit runs its daemon: same account, secrets, environment and
 * configuration file. Needs root. Does not return on success: systemd-run replaces this process and
 * ends with the exit code of that doctor. TIDE_E_USAGE: no such unit; TIDE_E_LIMIT: the unit sets
 * too much for a command line; TIDE_E_IO: there is no systemd. */
static tide_status doctor_run_in_unit(const char *unit, bool json, struct tide_err *err)
{
    static const char *const first[] = { "systemd-run", "--quiet", "--pipe", "--wait",
                                         "--collect" };
    static struct unit_run run; /* large; used once */
    assert(run.count == 0);
    char program[LINE_BYTES];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len < 0)
        return tide_fail(err, TIDE_E_IO, "/proc/self/exe: %s", strerror(errno));
    program[len] = '\0';
    for (size_t i = 0; i < TIDE_COUNT(first); i++)
        add_word(&run, "", first[i]);
    tide_status status = read_unit(&run, unit, err);
    if (status != TIDE_OK)
        return status;
    if (!add_words(&run, program, json))
        return tide_fail(err, TIDE_E_LIMIT, "%s sets too much for a command line", unit);
    execvp(run.words[0], run.words);
    return tide_fail(err, TIDE_E_IO, "systemd-run: %s", strerror(errno));
}

/* --- coverage --------------------------------------------------------------------------- */

/* Two answers: ledgers that are covered and have no row, and ledgers between covered ranges. Of
 * each: how many ledgers, the first ranges as text, the first and the last ledger. */
static const char coverage_sql[] =
    "WITH r AS (SELECT false AS open, h.* FROM chain.holes(%u::smallint) AS h UNION ALL SELECT "
    "true,"
    " g.* FROM (SELECT lag(v.to_ledger) OVER (ORDER BY v.from_ledger) + 1 AS from_ledger,"
    " v.from_ledger - 1 AS to_ledger FROM chain.coverage AS v WHERE v.deployment = %u) AS g WHERE"
    " g.to_ledger >= g.from_ledger), n AS (SELECT r.*, row_number() OVER (PARTITION BY r.open ORDER"
    " BY r.from_ledger) AS n FROM r) SELECT n.open, sum(n.to_ledger - n.from_ledger + 1),"
    " string_agg(n.from_ledger || ' to ' || n.to_ledger, ', ' ORDER BY n.n) FILTER (WHERE n.n <= 4)"
    " || CASE WHEN count(*) > 4 THEN ' and more' ELSE '' END, min(n.from_ledger), max(n.to_ledger)"
    " FROM n GROUP BY n.open ORDER BY n.open LIMIT 1";

static void say_ranges(const struct tide_pg_rows *rows, struct doctor_finding *out)
{
    char remedy[DOCTOR_TEXT];
    bool open = tide_pg_bool(rows, 0, 0);
    snprintf(remedy, sizeof remedy,
             "stop the indexer, tidemark-indexer backfill --from %s --to %s, start it",
             tide_pg_text(rows, 0, 3), tide_pg_text(rows, 0, 4));
    if (open)
        doctor_say(out, DOCTOR_WARNING, remedy, "%s ledgers between others are not indexed: %s",
                   tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2));
    else
        doctor_say(out, DOCTOR_FAILED, remedy,
                   "the rows of %s ledgers that count as indexed are missing: %s",
                   tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2));
}

void doctor_coverage(struct doctor *d, struct doctor_finding *out)
{
    char sql[1400];
    if (!doctor_prepared(d, out))
        return;
    int len = snprintf(sql, sizeof sql, coverage_sql, d->id, d->id);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    /* Counting reads an index of all ledgers. It ends before doctor gives the server up. */
    if (!doctor_ask(d, "SET statement_timeout = '4s'", out))
        return;
    if (!doctor_ask(d, sql, out)) {
        if (strcmp(tide_pg_sqlstate(d->pg), "57014") == 0)
            doctor_say(out, DOCTOR_SKIPPED, NULL,
                       "counting the ledgers takes more than 4 s; tidemark-indexer verify does it");
        return;
    }
    if (d->rows.count)
        say_ranges(&d->rows, out);
    else
        doctor_say(out, DOCTOR_OK, NULL, "each ledger that counts as indexed has its row");
}

/* Publications with tables of Tidemark, and what each leaves out. The indexer does not attach a
 * range that was loaded before a publication with partitioned tables was made: subscribers would
 * not get its rows. */
static const char publications_sql[] =
    "WITH ours AS (SELECT c.oid, c.relkind, c.relispartition, c.relnamespace, n.nspname FROM"
    " pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = ANY"
    " ('{chain,event,state,history,rollup,chain_rows,event_rows,history_rows}')"
    " AND c.relkind IN ('r', 'p')),"
    " named AS (SELECT r.prpubid AS pub, o.*, r.prqual IS NOT NULL OR r.prattrs IS NOT NULL AS cut"
    " FROM pg_publication_rel AS r JOIN ours AS o ON o.oid = r.prrelid"
    " UNION ALL SELECT s.pnpubid, o.*, false FROM pg_publication_namespace AS s"
    " JOIN ours AS o ON o.relnamespace = s.pnnspid"
    " UNION ALL SELECT p.oid, o.*, false FROM pg_publication AS p, ours AS o WHERE p.puballtables),"
    " found AS (SELECT p.pubname, p.pubviaroot, bool_or(n.relkind = 'p') AS parents,"
    " bool_or(n.cut) OR NOT (p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate) AS cut,"
    " bool_or(n.relispartition AND NOT EXISTS (SELECT FROM named AS r WHERE r.pub = n.pub"
    " AND r.oid = pg_partition_root(n.oid))) AS single, bool_or(n.nspname LIKE '%\\_rows')"
    " AND NOT bool_or(n.oid = 'chain.word'::regclass) AS wordless"
    " FROM pg_publication AS p JOIN named AS n ON n.pub = p.oid GROUP BY p.oid)"
    " SELECT count(*), string_agg(pubname, ', ' ORDER BY pubname),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE single),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE cut),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE parents AND NOT pubviaroot),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE wordless),"
    " (SELECT string_agg(first_loaded || ' to ' || last_loaded, ', ' ORDER BY first_loaded)"
    " FROM chain.partition WHERE NOT attached AND first_loaded > 0"
    " AND (SELECT bool_or(parents) FROM found)) FROM found";
enum { PUBLISHED, NAMES, SINGLE, CUT, LEAVES, WORDLESS, LOADED };

void doctor_publications(struct doctor *d, struct doctor_finding *out)
{
    if (!d->migrated && doctor_connected(d, out)) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the schema");
        return;
    }
    if (!doctor_ask(d, publications_sql, out))
        return;
    if (!tide_pg_is_null(&d->rows, 0, LOADED))
        doctor_say(
            out, DOCTOR_FAILED,
            "drop the publication, let the indexer attach the range, then make publication "
            "and subscription again; the indexer ends with 76 otherwise",
            "ledgers %s were loaded before the publication was made, and no subscriber would "
            "get them: %s",
            tide_pg_text(&d->rows, 0, LOADED), tide_pg_text(&d->rows, 0, NAMES));
    else if (!tide_pg_is_null(&d->rows, 0, SINGLE))
        doctor_say(out, DOCTOR_WARNING,
                   "let it name the partitioned tables: later partitions then belong to it",
                   "partitions are named one by one, so later ones are not sent: %s",
                   tide_pg_text(&d->rows, 0, SINGLE));
    else if (!tide_pg_is_null(&d->rows, 0, CUT))
        doctor_say(out, DOCTOR_WARNING,
                   "publish whole tables with all changes: state rows are updated and deleted",
                   "only some rows, columns or kinds of change are sent: %s",
                   tide_pg_text(&d->rows, 0, CUT));
    else if (!tide_pg_is_null(&d->rows, 0, LEAVES))
        doctor_say(out, DOCTOR_WARNING,
                   "ALTER PUBLICATION NAME SET (publish_via_partition_root), then ALTER "
                   "SUBSCRIPTION NAME REFRESH PUBLICATION",
                   "subscribers need a table for each partition, also for those to come: %s",
                   tide_pg_text(&d->rows, 0, LEAVES));
    else if (!tide_pg_is_null(&d->rows, 0, WORDLESS))
        doctor_say(out, DOCTOR_WARNING, "ALTER PUBLICATION NAME ADD TABLE chain.word",
                   "subscribers get keys without the words that they stand for: %s",
                   tide_pg_text(&d->rows, 0, WORDLESS));
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s",
                   tide_pg_u64(&d->rows, 0, PUBLISHED) ? tide_pg_text(&d->rows, 0, NAMES) : "none");
}

static const struct {
    const char *name;
    doctor_check *check;
    bool of_indexer; /* --daemon api skips it: the API neither needs it nor has the rights for it */
} checks[] = {
    { "deployment file", doctor_deployment, false },
    { "database", doctor_database, false },
    { "server", doctor_server, false },
    { "durability", doctor_durability, false },
    { "encoding", doctor_encoding, false },
    { "collation", doctor_collation, false },
    { "migrations", doctor_migrations, false },
    { "words", doctor_words, true },
    { "roles", doctor_roles, false },
    { "grants", doctor_grants, false },
    { "contracts", doctor_contracts, false },
    { "writer", doctor_writer, false },
    { "coverage", doctor_coverage, true },
    { "publications", doctor_publications, true },
    { "disk", doctor_disk, true },
    { "clock", doctor_clock, false },
    { "rpc", doctor_rpc, false },
    { "lake", doctor_lake, true },
    { "stream", doctor_stream, true },
    { "port", doctor_port, false },
    { "cache", doctor_cache, false },
};

static const char *const grades[] = { [DOCTOR_OK] = "ok",
                                      [DOCTOR_SKIPPED] = "skipped",
                                      [DOCTOR_WARNING] = "warning",
                                      [DOCTOR_FAILED] = "failed" };
static_assert(TIDE_COUNT(grades) == DOCTOR_FAILED + 1, "each grade has its word");

/* Prints a finding on one line, and the remedy below. Control characters of the server's texts
 * become blanks. */
static void print_line(const char *name, struct doctor_finding *f)
{
    assert((size_t)f->grade < TIDE_COUNT(grades));
    for (char *p = f->found; *p; p++)
        *p = (uint8_t)*p < 0x20 ? ' ' : *p;
    printf("%-8s %-16s %s\n", grades[f->grade], name, f->found);
    if (*f->remedy)
        printf("%-8s %-16s -> %s\n", "", "", f->remedy);
    fflush(stdout);
}

static void add_json(struct tide_json *j, const char *name, const struct doctor_finding *f)
{
    assert((size_t)f->grade < TIDE_COUNT(grades));
    tide_json_open(j, '{');
    tide_json_text(j, "check", tide_slice_str(name));
    tide_json_text(j, "grade", tide_slice_str(grades[f->grade]));
    tide_json_text(j, "found", tide_slice_str(f->found));
    tide_json_text(j, "remedy", tide_slice_str(f->remedy));
    tide_json_close(j, '}');
}

/* Limits the time of each check, because a person waits: a server without an answer within seconds
 * is reported as such. */
static void shorten_limits(struct tide_config *config)
{
    /* LONGEST_HTTP_MS: an RPC server has a quarter of it. */
    enum { LONGEST_MS = 5000, LONGEST_HTTP_MS = 20000 };
    if (config->db_silence_ms > LONGEST_MS)
        config->db_silence_ms = LONGEST_MS;
    if (config->http_timeout_ms > LONGEST_HTTP_MS)
        config->http_timeout_ms = LONGEST_HTTP_MS;
    config->http_tries = 1;
}

/* Reads --daemon. Returns false if it names another program. */
static bool read_daemon(struct doctor *d, const char *name)
{
    d->for_api = name && strcmp(name, "api") == 0;
    return !name || d->for_api || strcmp(name, "indexer") == 0;
}

/* Runs all checks and prints each finding, or adds it to the JSON list. */
static void run_checks(struct doctor *d, struct tide_json *list, uint32_t count[])
{
    for (size_t i = 0; i < TIDE_COUNT(checks); i++) {
        struct doctor_finding f = { 0 };
        if (d->for_api && checks[i].of_indexer)
            doctor_say(&f, DOCTOR_SKIPPED, NULL, "only tidemark-indexer needs it");
        else
            checks[i].check(d, &f);
        if (tide_stop_asked(NULL)) /* the check may have failed because of the stop */
            return;
        assert(*f.found && (f.grade < DOCTOR_WARNING || *f.remedy));
        count[f.grade]++;
        if (list)
            add_json(list, checks[i].name, &f);
        else
            print_line(checks[i].name, &f);
    }
}

static void print_json(struct doctor *d, uint32_t count[])
{
    struct tide_buf text;
    struct tide_json list = { .buf = &text };
    tide_buf_init(&text, 1u << 20);
    tide_json_open(&list, '[');
    run_checks(d, &list, count);
    tide_json_close(&list, ']');
    assert(!text.failed);
    printf("{\"failed\":%u,\"warnings\":%u,\"interrupted\":%s,\"checks\":%.*s}\n",
           count[DOCTOR_FAILED], count[DOCTOR_WARNING], tide_stop_asked(NULL) ? "true" : "false",
           TIDE_SLICE_FMT(tide_buf_view(&text)));
    tide_buf_release(&text);
}

int tide_doctor_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    static struct doctor d; /* large; used once */
    uint32_t count[TIDE_COUNT(grades)] = { 0 };
    struct tide_err err;
    tide_status status = TIDE_OK;
    (void)argc;
    const char *unit = tide_option_find(options, "unit")->value;
    if (unit)
        return tide_command_end(
            argv[0], doctor_run_in_unit(unit, tide_option_given(options, "json"), &err), &err);
    if (!read_daemon(&d, tide_option_find(options, "daemon")->value))
        return tide_command_end(
            argv[0], tide_fail(&err, TIDE_E_USAGE, "--daemon must be indexer or api"), &err);
    d.config = *config;
    d.silence_ms = config->db_silence_ms;
    shorten_limits(&d.config);
    if (tide_option_given(options, "json"))
        print_json(&d, count);
    else
        run_checks(&d, NULL, count);
    tide_pg_rows_release(&d.rows);
    tide_pg_close(d.pg);
    free(d.deployment);
    uint32_t done = 0;
    for (size_t i = 0; i < TIDE_COUNT(count); i++)
        done += count[i];
    assert(done <= TIDE_COUNT(checks));
    if (done < TIDE_COUNT(checks))
        status = tide_fail(&err, TIDE_E_FINDING, "interrupted after %u of %zu checks", done,
                           TIDE_COUNT(checks));
    else if (count[DOCTOR_FAILED])
        status = tide_fail(&err, TIDE_E_FINDING, "%u of %zu checks failed; each names its remedy",
                           count[DOCTOR_FAILED], TIDE_COUNT(checks));
    return tide_command_end(argv[0], status, &err);
}
