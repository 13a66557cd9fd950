/* GET /metrics: the counters of this process, and the indexer's figures. Nothing here waits for
 * the database: the stream thread has read the figures before. */
#include "api/metrics/metrics.h"
#include "api/hot/feed.h"
#include "api/http/server/server.h"
#include "api/kyc/kyc.h"
#include "api/kyc/worker/figures.h"
#include "api/routes/handlers.h"
#include "api/routes/receipt_keys.h"
#include "api/routes/route_table.h"
#include "api/sql/worker_pool.h"
#include "api/stream/service.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* --- HTTP ------------------------------------------------------------------------------- */

/* Writes labels. Names of routes and values need no escape. */
static void route_labels(char out[96], size_t route, const char *more, const char *value)
{
    const struct tide_route_table *table = &tide_route_table;
    const char *id = route < table->count ? table->routes[route].id : "none";
    int len =
        snprintf(out, 96, *more ? "route=\"%s\",%s=\"%s\"" : "route=\"%s\"%s%s", id, more, value);
    assert(len > 0 && len < 96); /* ids of routes are short */
}

/* Writes one histogram. Prometheus wants cumulative buckets, so they are summed up. */
static void put_latency(struct tide_buf *out, const struct tide_metric_route *route, size_t r)
{
    char labels[96], bound[24];
    uint64_t sum = 0;
    for (size_t b = 0; b < TIDE_METRIC_BUCKET_COUNT; b++) {
        uint64_t us = tide_metric_bound_us(b);
        sum += route->bucket[b];
        if (us == UINT64_MAX)
            snprintf(bound, sizeof bound, "+Inf");
        else
            snprintf(bound, sizeof bound, "%g", (double)us / 1e6);
        route_labels(labels, r, "le", bound);
        tide_metric_part_u64(out, TIDE_M_api_request_duration_seconds, "_bucket", labels, sum);
    }
    route_labels(labels, r, "", "");
    tide_metric_part_real(out, TIDE_M_api_request_duration_seconds, "_sum", labels,
                          (double)route->us / 1e6);
    tide_metric_part_u64(out, TIDE_M_api_request_duration_seconds, "_count", labels, sum);
}

/* Writes the latencies of routes that were requested at least once: most routes on most nodes
 * never are. */
static void put_latencies(struct tide_buf *out, const struct tide_metrics *m)
{
    tide_metric_family(out, TIDE_M_api_request_duration_seconds);
    for (size_t r = 0; r < m->route_count; r++) {
        uint64_t answers = 0;
        for (size_t b = 0; b < TIDE_METRIC_BUCKET_COUNT; b++)
            answers += m->routes[r].bucket[b];
        if (answers)
            put_latency(out, &m->routes[r], r);
    }
}

/* Writes the server's metrics. The array is allocated, because the number of routes is too large
 * for the stack. */
static void put_server(struct tide_buf *out, struct tide_server *server)
{
    size_t count = tide_route_table.count;
    struct tide_metrics m = { .routes = calloc(count + 1, sizeof *m.routes),
                              .route_max = count + 1 };
    if (!m.routes) {
        out->failed = true;
        return;
    }
    tide_server_metrics(server, &m);
    assert(m.route_count <= m.route_max);
    tide_metric_requests(out, TIDE_M_api_requests_total, &tide_route_table, &m);
    put_latencies(out, &m);
#define COUNTER(name) tide_metric_counter(out, TIDE_M_api_##name##_total, m.name);
    TIDE_METRIC_COUNTERS(COUNTER)
#undef COUNTER
#define GAUGE(name) tide_metric_gauge(out, TIDE_M_api_##name, (double)m.name);
    TIDE_METRIC_GAUGES(GAUGE)
#undef GAUGE
    free(m.routes);
}

static void put_pool(struct tide_buf *out, struct tide_worker_pool *pool)
{
    struct tide_worker_pool_stats s;
    tide_worker_pool_stats(pool, &s);
    tide_metric_gauge(out, TIDE_M_pool_threads, s.threads);
    tide_metric_gauge(out, TIDE_M_pool_connected, s.connected);
    tide_metric_gauge(out, TIDE_M_pool_busy, s.busy);
    tide_metric_gauge(out, TIDE_M_pool_waiting, s.waiting);
    tide_metric_counter(out, TIDE_M_pool_jobs_total, s.jobs);
    tide_metric_counter(out, TIDE_M_pool_full_total, s.full);
    tide_metric_counter(out, TIDE_M_pool_late_total, s.late);
    tide_metric_counter(out, TIDE_M_pool_failed_total, s.failed);
    tide_metric_counter(out, TIDE_M_pool_connects_total, s.connects);
}

/* --- waits ------------------------------------------------------------------------------- */

/* Writes the waits that could delay a look-up, each counted where it happens. */
static void put_waits(struct tide_buf *out, const struct tide_api *api)
{
    struct tide_metric_route none;
    struct tide_metrics m = { .routes = &none, .route_max = 1 };
    struct tide_hot_stats hot;
    struct tide_worker_pool_stats pool;
    struct tide_event_stream_stats stream;
    tide_server_metrics(api->server, &m);
    assert(m.route_count <= m.route_max);
    tide_hot_stats(api->hot, &hot);
    tide_worker_pool_stats(api->pool, &pool);
    tide_event_stream_stats(tide_stream_service_stream(api->stream), &stream);
    const struct {
        const char *labels;
        uint64_t value;
    } all[] = {
        { "on=\"map\"", hot.waits_map },
        { "on=\"generation\"", hot.waits_generation },
        { "on=\"connections\"", m.waits_connections },
        { "on=\"wake\"", m.waits_wake },
        { "on=\"queue\"", pool.waits },
        { "on=\"stream\"", stream.waits },
    };
    tide_metric_family(out, TIDE_M_lookup_waits_total);
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_metric_u64(out, TIDE_M_lookup_waits_total, all[i].labels, all[i].value);
}

/* --- the cache --------------------------------------------------------------------------- */

/* Writes, for each role, whether the DAO's storage names another contract than the deployment
 * file. */
static void put_disagreement(struct tide_buf *out, uint32_t misnamed)
{
    static_assert((int)TIDE_ROLE_synth_token <= 32, "a bit for each role");
    tide_metric_family(out, TIDE_M_dao_disagrees);
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++) {
        char labels[96];
        snprintf(labels, sizeof labels, "role=\"%s\"", tide_role_name((enum tide_role)role));
        tide_metric_u64(out, TIDE_M_dao_disagrees, labels, misnamed >> role & 1);
    }
}

/* Writes age and ledger of the open cache, or nothing while there is none. */
static void put_cache_age(struct tide_buf *out, struct tide_handler_context *context)
{
    const struct tide_hot_meta *meta;
    struct tide_err err;
    if (tide_hot_begin(context->thread, &meta, &err) != TIDE_OK)
        return;
    double age = (double)tide_cache_age_ms(meta, context->host_ms) / 1000;
    double fed = (double)tide_cache_fed_age_ms(meta, context->host_ms) / 1000;
    uint32_t ledger = meta->ledger;
    uint64_t closed = tide_cache_closed_ms(meta);
    bool complete = meta->complete && meta->compliance_complete;
    bool standby = meta->standby;
    uint32_t misnamed = tide_cache_misnamed(meta);
    if (tide_hot_end(context->thread) != TIDE_OK)
        return;
    tide_metric_gauge(out, TIDE_M_cache_age_seconds, age);
    tide_metric_gauge(out, TIDE_M_cache_from_standby, standby);
    tide_metric_gauge(out, TIDE_M_cache_fed_age_seconds, fed);
    tide_metric_gauge(out, TIDE_M_cache_ledger, ledger);
    tide_metric_gauge(out, TIDE_M_cache_ledger_closed_timestamp_seconds, (double)closed / 1000);
    tide_metric_gauge(out, TIDE_M_cache_complete, complete);
    put_disagreement(out, misnamed);
}

static void put_cache(struct tide_buf *out, struct tide_handler_context *context)
{
    struct tide_hot_stats s;
    tide_hot_stats(context->api->hot, &s);
    put_cache_age(out, context);
    tide_metric_gauge(out, TIDE_M_receipt_keys_withdrawn,
                      tide_receipt_keys_withdrawn(context->api->receipts));
    tide_metric_gauge(out, TIDE_M_cache_generation, s.generation);
    tide_metric_gauge(out, TIDE_M_cache_map_bytes, (double)s.map_bytes);
    tide_metric_gauge(out, TIDE_M_cache_used_bytes, (double)s.used_bytes);
    tide_metric_gauge(out, TIDE_M_cache_records, (double)s.records);
    tide_metric_gauge(out, TIDE_M_cache_readers, s.readers);
    tide_metric_counter(out, TIDE_M_cache_grown_total, s.grown);
    tide_metric_counter(out, TIDE_M_cache_cleared_total, s.cleared);
    tide_metric_counter(out, TIDE_M_cache_expired_total, s.expired);
    tide_metric_counter(out, TIDE_M_cache_moved_aside_total, s.moved_aside);
}

static void put_feed(struct tide_buf *out, struct tide_feed *feed)
{
    struct tide_feed_stats s;
    tide_feed_stats(feed, &s);
    tide_metric_gauge(out, TIDE_M_feeder_feeding, s.feeding);
    tide_metric_gauge(out, TIDE_M_feeder_ledger, s.ledger);
    tide_metric_counter(out, TIDE_M_feeder_steps_total, s.steps);
    tide_metric_counter(out, TIDE_M_feeder_rows_total, s.rows);
    tide_metric_family(out, TIDE_M_feeder_step_seconds_total);
    tide_metric_real(out, TIDE_M_feeder_step_seconds_total, "of=\"ask\"", (double)s.asked_us / 1e6);
    tide_metric_real(out, TIDE_M_feeder_step_seconds_total, "of=\"apply\"",
                     (double)s.applied_us / 1e6);
    tide_metric_counter(out, TIDE_M_feeder_rebuilds_total, s.rebuilds);
    tide_metric_counter(out, TIDE_M_feeder_failures_total, s.failures);
}

/* --- the stream -------------------------------------------------------------------------- */

static void put_stream_counters(struct tide_buf *out, const struct tide_event_stream_stats *s)
{
    char labels[32];
    tide_metric_counter(out, TIDE_M_stream_opened_total, s->opened);
    tide_metric_counter(out, TIDE_M_stream_refused_total, s->refused);
    tide_metric_counter(out, TIDE_M_stream_messages_total, s->messages);
    tide_metric_counter(out, TIDE_M_stream_sent_bytes_total, s->bytes);
    tide_metric_counter(out, TIDE_M_stream_failures_total, s->failures);
    tide_metric_family(out, TIDE_M_stream_pages_total);
    tide_metric_u64(out, TIDE_M_stream_pages_total, "of=\"new\"", s->live_pages);
    tide_metric_u64(out, TIDE_M_stream_pages_total, "of=\"older\"", s->catch_up_pages);
    tide_metric_family(out, TIDE_M_stream_dropped_total);
    for (int r = 0; r < (int)TIDE_DROPPED_COUNT; r++) {
        int len = snprintf(labels, sizeof labels, "reason=\"%s\"",
                           tide_stream_drop_name((enum tide_stream_drop)r));
        assert(len > 0 && (size_t)len < sizeof labels);
        tide_metric_u64(out, TIDE_M_stream_dropped_total, labels, s->dropped[r]);
    }
}

static void put_stream(struct tide_buf *out, struct tide_stream_service *stream)
{
    struct tide_event_stream_stats s;
    tide_event_stream_stats(tide_stream_service_stream(stream), &s);
    tide_metric_gauge(out, TIDE_M_stream_subscribers, s.subscribers);
    tide_metric_gauge(out, TIDE_M_stream_behind, s.behind);
    tide_metric_gauge(out, TIDE_M_stream_ledger, s.ledger);
    tide_metric_gauge(out, TIDE_M_stream_stale, s.stale);
    tide_metric_gauge(out, TIDE_M_stream_buffered_bytes, (double)s.buffered);
    tide_metric_gauge(out, TIDE_M_stream_ring_bytes, (double)s.ring_bytes);
    tide_metric_gauge(out, TIDE_M_stream_ring_ledgers, (double)s.ring_ledgers);
    put_stream_counters(out, &s);
}

/* --- the indexer ------------------------------------------------------------------------- */

/* Writes one sample for each state of the writer, as Prometheus wants enumerations. An unknown
 * state counts as "other". */
static void put_state(struct tide_buf *out, const struct stream_figures *f)
{
    static const char *const states[] = { "starting",   "standby",  "loading",  "indexing",
                                          "following",  "degraded", "retrying", "frozen",
                                          "quarantine", "stopped" };
    char labels[48];
    bool known = false;
    tide_metric_family(out, TIDE_M_indexer_state);
    for (size_t i = 0; i < TIDE_COUNT(states); i++) {
        bool is = strcmp(f->state, states[i]) == 0;
        known |= is;
        snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        tide_metric_u64(out, TIDE_M_indexer_state, labels, is);
    }
    tide_metric_u64(out, TIDE_M_indexer_state, "state=\"other\"", !known);
}

/* Writes the heartbeat's figures. asked_ago: seconds since the figures were read, by which the
 * heartbeat is older now. */
static void put_heartbeat(struct tide_buf *out, const struct stream_figures *f, double asked_ago)
{
    put_state(out, f);
    tide_metric_gauge(out, TIDE_M_indexer_heartbeat_age_seconds, f->heartbeat_age_s + asked_ago);
    tide_metric_gauge(out, TIDE_M_indexer_tip_ledger, f->tip);
    tide_metric_gauge(out, TIDE_M_indexer_lag_ledgers, f->lag);
    tide_metric_gauge(out, TIDE_M_indexer_ledgers_per_second, f->rate);
    tide_metric_gauge(out, TIDE_M_indexer_events_per_second, f->event_rate);
    tide_metric_counter(out, TIDE_M_indexer_retries_total, f->retries);
    tide_metric_gauge(out, TIDE_M_indexer_trouble_seconds, (double)f->trouble_ms / 1000);
}

/* Writes how far signatures prove the index, and from where on it knows the past. asked_ago as in
 * put_heartbeat. */
static void put_proof(struct tide_buf *out, const struct stream_figures *f, double asked_ago)
{
    tide_metric_gauge(out, TIDE_M_indexed_proven_ledger, f->proven);
    if (f->proven)
        tide_metric_gauge(out, TIDE_M_indexed_unproven_ledgers,
                          f->ledger > f->proven ? f->ledger - f->proven : 0);
    tide_metric_gauge(out, TIDE_M_indexed_proof_trouble_seconds,
                      f->proof_trouble_s > 0 ? f->proof_trouble_s + asked_ago : 0);
    tide_metric_gauge(out, TIDE_M_indexed_forked, f->forked);
    if (f->history_from)
        tide_metric_gauge(out, TIDE_M_indexed_history_from_ledger, f->history_from);
}

static void put_indexed(struct tide_buf *out, const struct stream_figures *f)
{
    const struct {
        enum tide_metric name;
        uint64_t value;
    } all[] = {
        { TIDE_M_indexed_ledgers_total, f->ledgers },
        { TIDE_M_indexed_transactions_total, f->transactions },
        { TIDE_M_indexed_calls_total, f->calls },
        { TIDE_M_indexed_events_total, f->events },
        { TIDE_M_indexed_changes_total, f->changes },
        { TIDE_M_indexed_raw_events_total, f->raw_events },
        { TIDE_M_indexed_raw_states_total, f->raw_states },
        { TIDE_M_indexed_raw_calls_total, f->raw_calls },
        { TIDE_M_indexed_calls_verified_total, f->calls_verified },
        { TIDE_M_indexed_calls_rewritten_total, f->calls_rewritten },
        { TIDE_M_indexed_calls_unverified_total, f->calls_unverified },
    };
    tide_metric_gauge(out, TIDE_M_indexed_ledger, f->ledger);
    tide_metric_gauge(out, TIDE_M_indexed_ledger_closed_timestamp_seconds,
                      (double)f->closed_ms / 1000);
    tide_metric_gauge(out, TIDE_M_indexed_commit_timestamp_seconds, (double)f->moved_at);
    tide_metric_gauge(out, TIDE_M_indexed_contracts_waiting, (double)f->contracts_waiting);
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_metric_counter(out, all[i].name, all[i].value);
}

static void put_indexer(struct tide_buf *out, const struct tide_api *api)
{
    struct stream_figures f;
    tide_stream_service_figures(api->stream, &f);
    if (!f.known)
        return;
    double ago = (double)(api->clock->now_ms(api->clock->self) - f.asked_ms) / 1000;
    tide_metric_gauge(out, TIDE_M_indexer_figures_age_seconds, ago);
    put_indexed(out, &f);
    put_proof(out, &f, ago);
    if (f.has_heartbeat)
        put_heartbeat(out, &f, ago);
}

/* --- the process ------------------------------------------------------------------------- */

/* Reads the process's pages in memory, and how many of them are shared or files'. */
static bool read_pages(uint64_t *resident, uint64_t *shared)
{
    char line[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, line, sizeof line) : -1;
    uint64_t numbers[3];
    size_t at = 0;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < TIDE_COUNT(numbers); i++) {
        size_t from = at;
        while (len > 0 && at < (size_t)len && line[at] != ' ')
            at++;
        tide_slice digits = tide_slice_of(line + from, at - from);
        if (tide_parse_u64(&numbers[i], digits, UINT64_MAX) != TIDE_OK)
            return false;
        at++;
    }
    *resident = numbers[1];
    *shared = numbers[2];
    return true;
}

static void put_process(struct tide_buf *out)
{
    struct timespec cpu;
    uint64_t resident, shared;
    double page = (double)sysconf(_SC_PAGESIZE);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    tide_metric_family(out, TIDE_M_api_cpu_seconds_total);
    tide_metric_real(out, TIDE_M_api_cpu_seconds_total, "",
                     (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    if (!read_pages(&resident, &shared))
        return;
    tide_metric_gauge(out, TIDE_M_api_resident_bytes, (double)resident * page);
    tide_metric_gauge(out, TIDE_M_api_private_bytes, (double)(resident - shared) * page);
}

/* Returns whether the request has the metrics key as a bearer token. Comparing digests keeps the
 * duration independent of where the keys differ. */
static bool knows_key(const struct tide_config *config, const struct tide_request *request)
{
    static const char scheme[] = "Bearer ";
    uint8_t ours[TIDE_HASH_BYTES], theirs[TIDE_HASH_BYTES], differ = 0;
    uint32_t count;
    tide_slice value = tide_request_header(request, "Authorization", &count);
    size_t skip = sizeof scheme - 1;
    if (!config->api_metrics_key[0] || count != 1 || value.len <= skip ||
        strncasecmp((const char *)value.ptr, scheme, skip) != 0)
        return false;
    tide_sha256(ours, tide_slice_str(config->api_metrics_key));
    tide_sha256(theirs, tide_slice_of(value.ptr + skip, value.len - skip));
    for (size_t i = 0; i < sizeof ours; i++)
        differ |= ours[i] ^ theirs[i];
    return differ == 0;
}

/* KYC's figures are private: only a request with the metrics key gets them. */
void tide_route_metrics(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    struct tide_buf *out = &reply->body;
    reply->content_type = TIDE_METRICS_TYPE;
    tide_metric_family(out, TIDE_M_build_info);
    tide_metric_u64(out, TIDE_M_build_info, "version=\"" TIDE_VERSION "\"", 1);
    put_process(out);
    put_server(out, context->api->server);
    put_pool(out, context->api->pool);
    put_cache(out, context);
    put_waits(out, context->api);
    put_feed(out, context->api->feed);
    put_stream(out, context->api->stream);
    bool trusted = knows_key(context->api->config, request);
    bool private = context->api->keys || context->api->kyc;
    tide_metric_gauge(out, TIDE_M_private_withheld, private && !trusted);
    if (context->api->keys && trusted)
        tide_kyc_put_keys(out, context->api->keys);
    if (context->api->kyc && trusted)
        tide_kyc_metrics(context->api->kyc, out);
    put_indexer(out, context->api);
}
