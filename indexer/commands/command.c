#include "indexer/commands/command.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const struct tide_command commands[] = {
#define TIDE_COMMAND(name, usage, summary) { #name, usage, summary, tide_##name##_main },
#include "indexer/commands/command.def"
#undef TIDE_COMMAND
};

const struct tide_command *tide_commands(size_t *count)
{
    *count = TIDE_COUNT(commands);
    return commands;
}

const struct tide_command *tide_command_find(const char *name)
{
    for (size_t i = 0; i < TIDE_COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* A reader of our output that went away (`… | head`) has what it wanted. */
static bool reader_left(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

int tide_command_end(const char *name, tide_status status, const struct tide_err *err)
{
    if (status == TIDE_E_IO && reader_left())
        status = TIDE_E_STOPPED;
    if (status != TIDE_OK && status != TIDE_E_STOPPED)
        fprintf(stderr, "tidemark-indexer %s: %s\n", name, err->text);
    return tide_status_exit(status);
}

bool tide_command_options(struct tide_option out[TIDE_COMMAND_OPTIONS_MAX + 1],
                          char names[TIDE_COMMAND_USAGE_MAX], const char *usage)
{
    size_t count = 0;
    if (strlen(usage) >= TIDE_COMMAND_USAGE_MAX)
        return false;
    memcpy(names, usage, strlen(usage) + 1);
    for (char *at = strstr(names, "--"); at; at = strstr(at, "--")) {
        size_t len = strcspn(at, " ]|");
        char end = at[len];
        if (count == TIDE_COMMAND_OPTIONS_MAX)
            return false;
        out[count++] = (struct tide_option){ .name = at + 2, .flag = end != ' ' };
        at[len] = 0;
        at += end ? len + 1 : len;
    }
    out[count] = (struct tide_option){ .name = NULL };
    return true;
}

const struct tide_option *tide_option_find(const struct tide_option *options, const char *name)
{
    while (options->name && strcmp(options->name, name) != 0)
        options++;
    assert(options->name);
    return options;
}

bool tide_option_given(const struct tide_option *options, const char *name)
{
    return tide_option_find(options, name)->value != NULL;
}

/* Lock-free atomics are safe in a signal handler, and other threads read it too. */
static atomic_bool stop_asked;

/* A batch that cannot end in time is dropped: nothing of it is in the database before COMMIT. */
static void give_up(int signal_number)
{
    static const char text[] =
        "tidemark-indexer: the batch in flight was dropped to stop in time\n";
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(0);
}

static void ask_stop(int signal_number)
{
    enum { LAST_RESORT_S = 8 };
    (void)signal_number;
    if (!atomic_exchange(&stop_asked, true))
        alarm(LAST_RESORT_S);
}

void tide_stop_install(void)
{
    struct sigaction act = { .sa_handler = ask_stop };
    sigemptyset(&act.sa_mask);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    act.sa_handler = give_up;
    sigaction(SIGALRM, &act, NULL);
    act.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &act, NULL);
}

bool tide_stop_asked(void *ignored)
{
    (void)ignored;
    return atomic_load(&stop_asked);
}
