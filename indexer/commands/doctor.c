/* The command doctor: runs all checks and prints their findings. */
#include "indexer/commands/doctor.h"
#include "indexer/commands/command.h"
#include "tidemark/json.h"

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
    enum { LONGEST_MS = 5000, LONGEST_S = 5 };
    uint32_t *const limits[] = { &config->db_silence_ms, &config->rpc_timeout_ms,
                                 &config->http_connect_ms, &config->http_timeout_ms };
    for (size_t i = 0; i < TIDE_COUNT(limits); i++)
        *limits[i] = *limits[i] < LONGEST_MS ? *limits[i] : LONGEST_MS;
    if (config->http_stall_s > LONGEST_S)
        config->http_stall_s = LONGEST_S;
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
