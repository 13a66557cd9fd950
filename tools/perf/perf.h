/* The programs behind tools/bench: `tidemark-perf COMMAND …`. What is timed is printed as one
 * line of JSON each. */
#ifndef TIDEMARK_PERF_H
#define TIDEMARK_PERF_H

#include "tidemark/status.h"

/* Ends the program with what and the error's text. */
_Noreturn void perf_die(const char *what, const struct tide_err *err);

/* Each takes the arguments after its name; 0 on success. */
int perf_walk(int argc, char **argv);
int perf_scan(int argc, char **argv);
int perf_dump(int argc, char **argv);
int perf_replay(int argc, char **argv);
int perf_raw(int argc, char **argv);
int perf_latency(int argc, char **argv);
int perf_lookups(int argc, char **argv);
int perf_snapshot(int argc, char **argv);

#endif
