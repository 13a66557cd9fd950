#include "indexer/write/writer_impl.h"
#include "tidemark/liveness.h"

#include <pthread.h>
#include <stdlib.h>

/* The tables of the partition after the one that loads, by a thread with a session of its own:
 * PostgreSQL waits for the disk once for each of them, and the writer's session would wait with
 * it. A spare partition has its row in chain.partition and nothing loaded. partition_create takes
 * it, in this process or, after a kill, in the next. A spare that can't be made is no failure: then
 * partition_create makes the tables. The thread gives up when the writer stops, when the lease is
 * lost, and when its server is silent (silence_ms). */

struct spare {
    struct tide_writer second;        /* a copy of the writer, on the session of the thread */
    const struct tide_writer *writer; /* borrowed, for its lease */
    uint32_t from;
    atomic_bool stopped, ended;
    pthread_t thread;
};

static bool is_stopped(void *self)
{
    const struct spare *spare = self;
    return atomic_load(&spare->stopped) || writer_stopped(&spare->second) ||
           tide_writer_lost(spare->writer);
}

static tide_status make_spare(struct spare *spare, struct tide_err *err)
{
    struct tide_writer *second = &spare->second;
    tide_status status = writer_open_session(second, &second->pg, is_stopped, spare, err);
    if (status == TIDE_OK) {
        tide_pg_patience(second->pg, second->options.silence_ms);
        status = tide_pg_run(second->pg, "BEGIN", "BEGIN", err);
    }
    if (status == TIDE_OK)
        status = partition_make_tables(second, spare->from, err);
    return status == TIDE_OK ? tide_pg_run(second->pg, "COMMIT", "COMMIT", err) : status;
}

static void *create_spare_tables(void *self)
{
    struct spare *spare = self;
    struct tide_err err;
    tide_liveness_begin("partition", TIDE_LIVENESS_LONG_MS);
    if (make_spare(spare, &err) != TIDE_OK && !is_stopped(spare)) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "partition.spare", "from=%u reason=%s", spare->from,
                 tide_log_quote(quoted, sizeof quoted, err.text));
    }
    tide_liveness_end();
    atomic_store(&spare->ended, true);
    return NULL;
}

static void release_spare(struct spare *spare)
{
    tide_pg_close(spare->second.pg);
    tide_buf_release(&spare->second.sql);
    free(spare);
}

/* Two thirds: early enough for hundreds of tables, and rarely in vain at the end of a job. */
void partition_spare_begin(struct tide_writer *w)
{
    const struct loading *l = &w->loading;
    uint32_t size = l->end - l->from;
    if (w->spare || l->last - l->from < size / 3 * 2 || w->spare_from == l->end ||
        !partition_fits(w, l->end))
        return;
    struct spare *spare = calloc(1, sizeof *spare);
    if (!spare)
        return;
    writer_second(&spare->second, w);
    spare->writer = w;
    atomic_init(&spare->stopped, false);
    atomic_init(&spare->ended, false);
    w->spare_from = spare->from = l->end;
    if (pthread_create(&spare->thread, NULL, create_spare_tables, spare) != 0)
        release_spare(spare);
    else
        w->spare = spare;
}

void partition_spare_end(struct tide_writer *w, bool stop)
{
    if (!w->spare)
        return;
    if (stop)
        atomic_store(&w->spare->stopped, true);
    writer_wait_helper(w, &w->spare->ended, &w->spare->ended, &w->spare->stopped);
    pthread_join(w->spare->thread, NULL);
    release_spare(w->spare);
    w->spare = NULL;
}
