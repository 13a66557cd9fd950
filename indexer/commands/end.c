/* How a command ends: the file that all commands stand on. */
#include "indexer/commands/command.h"

#include <poll.h>
#include <unistd.h>

/* Returns whether the reader of standard output went away (`… | head`): that ends a command without
 * an error. */
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
