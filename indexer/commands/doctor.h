/* doctor: checks what the programs need, and names the remedy for each problem. A check is one row
 * of checks[] (doctor.c) and one function. It changes nothing, prints nothing, and never puts a
 * secret into its texts. Checks run in order, and a later one may use the results of an earlier
 * one. */
#ifndef INDEXER_COMMANDS_DOCTOR_H
#define INDEXER_COMMANDS_DOCTOR_H

#include "tidemark/config.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

enum doctor_grade {
    DOCTOR_OK,
    DOCTOR_SKIPPED, /* not configured, or a requirement of the check is missing */
    DOCTOR_WARNING, /* works, but an operator should look */
    DOCTOR_FAILED,
};

enum { DOCTOR_TEXT = 640 };

struct doctor_finding {
    enum doctor_grade grade;
    char found[DOCTOR_TEXT];
    char remedy[DOCTOR_TEXT]; /* "" if nothing is to be done */
};

struct doctor {
    struct tide_config config;          /* a copy with short time limits */
    uint32_t silence_ms;                /* db_silence_ms as configured */
    bool for_api;                       /* --daemon api: checks what tidemark-api needs */
    struct tide_deployment *deployment; /* NULL: the file cannot be read */
    struct tide_pg *pg;                 /* NULL: the server cannot be reached */
    struct tide_pg_rows rows;           /* rows of the last doctor_ask */
    bool migrated;                      /* the schema has exactly this build's migrations */
    uint16_t id;                        /* id of `deployment` in chain.deployment; 0: not found */
};

typedef void doctor_check(struct doctor *d, struct doctor_finding *out);

/* Fills a finding. remedy may be NULL. */
void doctor_say(struct doctor_finding *out, enum doctor_grade grade, const char *remedy,
                const char *format, ...) TIDE_PRINTF(4, 5);
/* Returns true if there is a connection; otherwise fills `out`. */
bool doctor_connected(const struct doctor *d, struct doctor_finding *out);
/* Returns true if there is a connection, the schema and the deployment file; otherwise fills
 * `out`. */
bool doctor_prepared(const struct doctor *d, struct doctor_finding *out);
/* Runs a statement; d->rows are its rows. On failure, returns false and fills `out`. */
bool doctor_ask(struct doctor *d, const char *sql, struct doctor_finding *out);

doctor_check doctor_deployment, doctor_clock, doctor_rpc, doctor_lake, doctor_port, doctor_cache;
doctor_check doctor_stream;
doctor_check doctor_database, doctor_server, doctor_durability, doctor_encoding;
doctor_check doctor_collation, doctor_migrations;
doctor_check doctor_contracts, doctor_words, doctor_roles, doctor_grants, doctor_writer,
    doctor_coverage, doctor_publications;
doctor_check doctor_disk;

#endif
