/* Commands of `tidemark-perf`, which tools/bench runs. Each command prints its measurements as one
 * line of JSON per figure. */
#ifndef TIDEMARK_PERF_H
#define TIDEMARK_PERF_H

#include "tidemark/status.h"

#include <stdio.h>

/* Prints what failed and err's text to standard error, and exits with status 1. */
_Noreturn void perf_die(const char *what, const struct tide_err *err);

/* Opens a file, or ends the program through perf_die. */
FILE *perf_open_file(const char *path, const char *mode);

/* Each command takes the arguments after its name. Returns the exit status: 0 on success, 64 if the
 * arguments are wrong. Other failures end the program through perf_die. */
int perf_walk(int argc, char **argv);
int perf_scan(int argc, char **argv);
int perf_dump(int argc, char **argv);
int perf_replay(int argc, char **argv);
int perf_raw(int argc, char **argv);
int perf_latency(int argc, char **argv);
int perf_lookups(int argc, char **argv);
int perf_snapshot(int argc, char **argv);
int perf_bucket(int argc, char **argv);
int perf_floor(int argc, char **argv);

#endif
