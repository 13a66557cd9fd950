/* Makes the tables of the next partition in a thread with a session of its own. PostgreSQL waits
 * for the disk once for each table, and the writer's session would wait with it. A spare partition
 * has its row in chain.partition and no rows. The loader takes it when it creates that partition,
 * in this process or, after a kill, in the next one. If the spare cannot be made, the loader makes
 * the tables. The thread gives up when the writer stops, when the lease is lost, or when its server
 * is silent (silence_ms). */
#include "indexer/write/load/spare.h"
#include "indexer/write/load/partition.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdlib.h>

struct load_spare {
    struct write_session session;  /* used by the thread while it runs */
    const struct write_main *main; /* borrowed, for its lease */
    uint32_t from;
    atomic_bool stopped, ended;
    pthread_t thread;
};

static bool is_stopped(void *self)
{
    const struct load_spare *spare = self;
    return atomic_load(&spare->stopped) || write_plan_stopped(spare->session.plan) ||
           write_main_is_lost(spare->main);
}

static tide_status make_spare(struct load_spare *spare, struct tide_err *err)
{
    struct write_session *s = &spare->session;
    assert(s->owner == WRITE_OWNER_SPARE);
    tide_status status = write_session_open(s, is_stopped, spare, err);
    if (status == TIDE_OK) {
        tide_pg_patience(write_pg(s), s->plan->silence_ms);
        status = tide_pg_run(write_pg(s), "BEGIN", "BEGIN", err);
    }
    if (status == TIDE_OK)
        status = load_partition_make(s, spare->from, err);
    return status == TIDE_OK ? tide_pg_run(write_pg(s), "COMMIT", "COMMIT", err) : status;
}

static void *create_spare_tables(void *self)
{
    struct load_spare *spare = self;
    struct tide_err err;
    tide_liveness_begin("partition", TIDE_LIVENESS_LONG_MS);
    write_session_take(&spare->session);
    if (make_spare(spare, &err) != TIDE_OK && !is_stopped(spare)) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "partition.spare", "from=%u reason=%s", spare->from,
                 tide_log_quote(quoted, sizeof quoted, err.text));
    }
    write_session_give(&spare->session);
    tide_liveness_end();
    atomic_store(&spare->ended, true);
    return NULL;
}

static void release_spare(struct load_spare *spare)
{
    write_session_close(&spare->session);
    free(spare);
}

struct load_spare *load_spare_begin(struct write_main *m, uint32_t from)
{
    struct load_spare *spare = calloc(1, sizeof *spare);
    if (!spare)
        return NULL;
    write_session_init(&spare->session, m->session.plan, WRITE_OWNER_SPARE);
    spare->main = m;
    spare->from = from;
    atomic_init(&spare->stopped, false);
    atomic_init(&spare->ended, false);
    write_session_give(&spare->session);
    if (pthread_create(&spare->thread, NULL, create_spare_tables, spare) == 0)
        return spare;
    release_spare(spare);
    return NULL;
}

void load_spare_end(struct write_main *m, struct load_spare *spare, bool stop)
{
    if (!spare)
        return;
    if (stop)
        atomic_store(&spare->stopped, true);
    write_main_wait(m, &spare->ended, &spare->ended, &spare->stopped);
    pthread_join(spare->thread, NULL);
    release_spare(spare);
}
