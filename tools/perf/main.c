/* The program tidemark-perf: calls the command that is named first. */
#include "perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void perf_die(const char *what, const struct tide_err *err)
{
    fprintf(stderr, "perf: %s: %s\n", what, err->text);
    exit(1);
}

FILE *perf_open_file(const char *path, const char *mode)
{
    struct tide_err err;
    FILE *file = fopen(path, mode);
    if (file)
        return file;
    tide_fail(&err, TIDE_E_IO, "%s", strerror(errno));
    perf_die(path, &err);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        { "walk", perf_walk },       { "scan", perf_scan },         { "dump", perf_dump },
        { "replay", perf_replay },   { "raw", perf_raw },           { "latency", perf_latency },
        { "lookups", perf_lookups }, { "snapshot", perf_snapshot }, { "bucket", perf_bucket },
        { "floor", perf_floor },
    };
    for (size_t i = 0; argc > 1 && i < TIDE_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    fputs(
        "usage: tidemark-perf walk ROUNDS FILE...\n"
        "       tidemark-perf scan ROUNDS LAKE                  time to read a page of getLedgers, "
        "against jansson\n"
        "       tidemark-perf dump LAKE DEPLOYMENT OUT [ONLY]   encode a lake's rows into a "
        "file, batch by batch\n"
        "       tidemark-perf replay FILE DEPLOYMENT CONNINFO   commit that file as the indexer "
        "would\n"
        "       tidemark-perf raw FILE CONNINFO                 COPY it into unlogged tables "
        "without indexes\n"
        "       tidemark-perf latency STREAM DEPLOYMENT CONNINFO CONNINFO LEDGERS WARM\n"
        "                                                       ledgers one by one, until they "
        "are seen\n"
        "       tidemark-perf lookups CACHE COUNT FILE          made-up addresses into a hot cache "
        "and their text into a file\n"
        "       tidemark-perf snapshot ROUNDS COUNT             look-ups in a snapshot of COUNT "
        "records\n"
        "       tidemark-perf bucket BYTES                      a bucket of a history archive, to "
        "standard output; its name to standard error\n"
        "       tidemark-perf floor ANSWER BODY PORTFILE        a server of libmicrohttpd that "
        "answers every request with these bytes\n",
        stderr);
    return 64;
}
