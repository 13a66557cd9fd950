#include "api/stream/service.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct tide_live {
    struct stream_pg *source;
    struct tide_hub *hub;
    pthread_t thread;
    bool started;
    atomic_bool stopped;
};

static bool is_stopped(void *self)
{
    return atomic_load(&((struct tide_live *)self)->stopped);
}

static tide_status open_hub(struct tide_live *live, const struct tide_config *config,
                            struct tide_err *err)
{
    struct tide_hub_options options = {
        .clock = tide_clock_system(),
        .source = stream_pg_source(live->source),
        .subscribers_max = config->api_streams,
        .per_who_max = config->api_streams_per_ip,
        .buffer_max = config->api_stream_kib << 10,
        .total_max = (uint64_t)config->api_streams_mib << 20,
        .ring_max = (uint64_t)config->api_stream_ring_mib << 20,
        .resume_ledgers = config->api_stream_resume,
        .heartbeat_ms = config->api_stream_heartbeat_ms,
        .full_ms = config->api_stream_slow_ms,
        .stale_ms = config->stale_after_ms,
        .stopped = is_stopped,
        .stopped_self = live,
    };
    return tide_hub_open(&live->hub, &options, err);
}

tide_status tide_live_open(struct tide_live **out, const struct tide_config *config,
                           const char *conninfo, struct tide_deployment_select *select,
                           struct tide_err *err)
{
    struct tide_live *live = calloc(1, sizeof *live);
    if (!live)
        return tide_fail(err, TIDE_E_MEMORY, "stream");
    struct stream_pg_options source = {
        .conninfo = conninfo, .select = select, .stopped = is_stopped, .stopped_self = live
    };
    tide_status status = stream_pg_open(&live->source, &source, err);
    if (status == TIDE_OK)
        status = open_hub(live, config, err);
    if (status == TIDE_OK)
        *out = live;
    else
        tide_live_close(live);
    return status;
}

static void *hub(void *self)
{
    struct tide_live *live = self;
    tide_hub_run(live->hub);
    return NULL;
}

tide_status tide_live_start(struct tide_live *live, struct tide_err *err)
{
    int failed = pthread_create(&live->thread, NULL, hub, live);
    if (failed)
        return tide_fail(err, TIDE_E_MEMORY, "stream: no thread (%d)", failed);
    live->started = true;
    return TIDE_OK;
}

void tide_live_stop(struct tide_live *live)
{
    atomic_store(&live->stopped, true);
    if (live->started)
        pthread_join(live->thread, NULL);
    live->started = false;
}

void tide_live_close(struct tide_live *live)
{
    if (!live)
        return;
    tide_live_stop(live);
    tide_hub_close(live->hub);
    stream_pg_close(live->source);
    free(live);
}

struct tide_hub *tide_live_hub(struct tide_live *live)
{
    return live->hub;
}

void tide_live_figures(struct tide_live *live, struct stream_figures *out)
{
    stream_pg_figures(live->source, out);
}
