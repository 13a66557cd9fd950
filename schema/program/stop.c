#include "tidemark/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Lock-free atomics are safe in a signal handler, and other threads read the flag too. */
static atomic_bool stop_asked;
static const char *last_words;
static int last_code;

static void give_up(int signal_number)
{
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(last_code);
}

static void ask_stop(int signal_number)
{
    (void)signal_number;
    if (!atomic_exchange(&stop_asked, true) && last_words)
        alarm(TIDE_STOP_LAST_RESORT_S);
}

void tide_stop_install(const char *text, int exit_code)
{
    last_words = text;
    last_code = exit_code;
    struct sigaction act = { .sa_handler = ask_stop };
    sigemptyset(&act.sa_mask);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    act.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &act, NULL);
    act.sa_handler = give_up;
    if (text)
        sigaction(SIGALRM, &act, NULL);
}

bool tide_stop_asked(void *ignored)
{
    (void)ignored;
    return atomic_load(&stop_asked);
}
