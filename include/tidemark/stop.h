/* A stop that SIGTERM or SIGINT asks for. One flag per process, the only mutable state beside main.
 *
 * Threads  tide_stop_asked is for any thread. Call tide_stop_install before starting threads. */
#ifndef TIDEMARK_STOP_H
#define TIDEMARK_STOP_H

#include <stdbool.h>

/* Handles SIGTERM and SIGINT, and ignores SIGPIPE. If text is not NULL, a process that still
 * runs TIDE_STOP_LAST_RESORT_S after the first signal writes it to stderr and exits with
 * exit_code. text is borrowed for the life of the process. */
enum { TIDE_STOP_LAST_RESORT_S = 8 };
void tide_stop_install(const char *text, int exit_code);

/* True after the first of the two signals. Matches callbacks with a self argument. */
bool tide_stop_asked(void *ignored);

#endif
