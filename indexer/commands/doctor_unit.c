/* doctor --unit: starts doctor again inside the account, secrets and environment of a systemd unit.
 * Only root reads the secrets, and root has no login at the database, so neither account alone can
 * check what the daemon would find. `systemctl cat` prints the unit with its drop-ins, and
 * systemd-run takes the same properties for one command. */
#include "indexer/commands/command.h"
#include "indexer/commands/doctor.h"
#include "tidemark/text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

tide_status doctor_run_in_unit(const char *unit, bool json, struct tide_err *err)
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
