/* The plan of a writer: settings and facts that its sessions share. The writer's thread fills it
 * in while it opens the writer. From then on any thread may read it. Only cut and held_before
 * change, in the writer's thread, while no helper runs: when an index begins with the state of a
 * checkpoint, and when its past is filled. */
#ifndef INDEXER_WRITE_SESSION_PLAN_H
#define INDEXER_WRITE_SESSION_PLAN_H

#include "tidemark/table.h"

struct write_plan {
    const char *conninfo;            /* borrowed, like all pointers here */
    const struct tide_table *tables; /* table_count of them, at most TIDE_TABLES_MAX */
    uint32_t table_count;
    uint32_t deployment;
    char deployment_text[12];   /* deployment as text, for parameters of statements */
    uint32_t partition_ledgers; /* ledgers of a partition, above 0 */
    /* The ledger of the state with which the index began, from which on it cut its partition in
     * two: the lower part is loaded like any other. 0: none. */
    uint32_t cut;
    /* Ledgers below are loaded, but held back until all are there. 0: none. */
    uint32_t held_before;
    uint32_t silence_ms;         /* see struct tide_pg_options */
    uint32_t retry_ms_max;       /* longest pause between attempts */
    bool (*stopped)(void *self); /* NULL: never; any thread calls it */
    void *stopped_self;
};

/* Returns whether the process was asked to stop. */
bool write_plan_stopped(const struct write_plan *plan);
/* Returns whether the tables are those of the catalogue. False: a test's own tables. */
bool write_plan_has_contracts(const struct write_plan *plan);

/* Returns the first ledger of the partition that holds ledger. */
uint32_t write_plan_partition(const struct write_plan *plan, uint32_t ledger);
/* Returns the first ledger after that partition. */
uint32_t write_plan_end(const struct write_plan *plan, uint32_t ledger);
/* Returns whether rows of the ledger are held back. */
bool write_plan_holds(const struct write_plan *plan, uint32_t ledger);
/* Returns whether a partition may begin at ledger from: its last one has to fit an SQL integer. */
bool write_plan_fits(const struct write_plan *plan, uint32_t from);
/* Returns the first ledger of the next partition if ledger is in the last tenth of its own, and 0
 * otherwise. */
uint32_t write_plan_ahead(const struct write_plan *plan, uint32_t ledger);

#endif
