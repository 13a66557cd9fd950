/* The stream service: opens the stream with its PostgreSQL source, and runs it in a thread. */
#include "api/stream/service.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* RING: recent messages kept in memory; older ones come from the database. RESUME: how far back a
 * stream may be resumed; a day. */
enum { RING_BYTES = 8 << 20, RESUME_LEDGERS = 17280, HEARTBEAT_MS = 15000 };

struct tide_stream_service {
    struct stream_pg *source;
    struct tide_event_stream *stream;
    pthread_t thread;
    bool started;
    atomic_bool stopped;
};

/* Polled by the stream and by the source's connection, so that a slow statement ends as well. */
static bool is_stopped(void *self)
{
    return atomic_load(&((struct tide_stream_service *)self)->stopped);
}

/* Returns an eighth of the connections that one address may have; where they have no limit, of
 * all. */
static uint32_t streams_of_client(const struct tide_config *config)
{
    uint32_t connections = config->api_connections_per_ip;
    connections = connections ? connections : config->api_connections;
    return connections > 8 ? connections / 8 : 1;
}

/* Opens the stream with the limits of the configuration. Proxies end what is silent for half a
 * minute: a longer api_idle_ms does not make heartbeats rarer. */
static tide_status open_stream(struct tide_stream_service *service,
                               const struct tide_config *config, struct tide_err *err)
{
    struct tide_event_stream_options options = {
        .clock = tide_clock_system(),
        .source = stream_pg_source(service->source),
        .subscribers_max = config->api_connections,
        .per_client_max = streams_of_client(config),
        .buffer_max = config->api_stream_kib << 10,
        .total_max = (uint64_t)config->api_streams_mib << 20,
        .ring_max = RING_BYTES,
        .resume_ledgers = RESUME_LEDGERS,
        .heartbeat_ms = config->api_idle_ms < HEARTBEAT_MS ? config->api_idle_ms : HEARTBEAT_MS,
        .full_ms = config->api_idle_ms / 3 * 2,
        .stale_ms = config->stale_after_ms,
        .stopped = is_stopped,
        .stopped_self = service,
    };
    return tide_event_stream_open(&service->stream, &options, err);
}

tide_status tide_stream_service_open(struct tide_stream_service **out,
                                     const struct tide_config *config, const char *conninfo,
                                     struct tide_deployment_select *select, struct tide_err *err)
{
    struct tide_stream_service *service = calloc(1, sizeof *service);
    if (!service)
        return tide_fail(err, TIDE_E_MEMORY, "stream");
    struct stream_pg_options source = {
        .conninfo = conninfo, .select = select, .stopped = is_stopped, .stopped_self = service
    };
    tide_status status = stream_pg_open(&service->source, &source, err);
    if (status == TIDE_OK)
        status = open_stream(service, config, err);
    if (status == TIDE_OK)
        *out = service;
    else
        tide_stream_service_close(service);
    return status;
}

/* The stream thread. */
static void *run_stream(void *self)
{
    struct tide_stream_service *service = self;
    tide_event_stream_run(service->stream);
    return NULL;
}

tide_status tide_stream_service_start(struct tide_stream_service *service, struct tide_err *err)
{
    assert(!service->started); /* the stream belongs to one thread */
    int failed = pthread_create(&service->thread, NULL, run_stream, service);
    if (failed)
        return tide_fail(err, TIDE_E_MEMORY, "stream: cannot start the thread: error %d", failed);
    service->started = true;
    return TIDE_OK;
}

void tide_stream_service_stop(struct tide_stream_service *service)
{
    atomic_store(&service->stopped, true);
    if (service->started)
        pthread_join(service->thread, NULL);
    service->started = false;
}

/* The thread must have ended before the stream and its source are freed. */
void tide_stream_service_close(struct tide_stream_service *service)
{
    if (!service)
        return;
    tide_stream_service_stop(service);
    tide_event_stream_close(service->stream);
    stream_pg_close(service->source);
    free(service);
}

struct tide_event_stream *tide_stream_service_stream(struct tide_stream_service *service)
{
    return service->stream;
}

void tide_stream_service_figures(struct tide_stream_service *service, struct stream_figures *out)
{
    stream_pg_figures(service->source, out);
}
