/* GET /metrics: what this process counts, and what the indexer says of itself. Nothing here waits
 * for the database: its figures are those that the stream's thread read last. */
#include "api/hot/feed.h"
#include "api/http/metrics_text.h"
#include "api/http/server/server.h"
#include "api/kyc/kyc.h"
#include "api/routes/handlers.h"
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

/* Names of routes and words of ours need no escape. */
static void route_labels(char out[96], size_t route, const char *more, const char *value)
{
    const struct tide_route_table *table = &tide_route_table;
    const char *id = route < table->count ? table->routes[route].id : "none";
    snprintf(out, 96, *more ? "route=\"%s\",%s=\"%s\"" : "route=\"%s\"%s%s", id, more, value);
}

static void put_statuses(struct tide_buf *out, const struct tide_metrics *m)
{
    char labels[96], code[8];
    tide_metric_family(out, "api_requests_total", "counter",
                       "Requests answered, by route and status; route none: matched no route.");
    for (size_t r = 0; r < m->route_count; r++)
        for (int s = 0; s < (int)TIDE_METRIC_STATUS_COUNT; s++) {
            uint16_t status = tide_metric_status_code((enum tide_metric_status)s);
            if (m->routes[r].status[s] == 0)
                continue;
            snprintf(code, sizeof code, "%u", status);
            route_labels(labels, r, "status", status ? code : "other");
            tide_metric_u64(out, "api_requests_total", labels, m->routes[r].status[s]);
        }
}

static void put_latency(struct tide_buf *out, const struct tide_metric_route *route, size_t r)
{
    char labels[96], bound[24];
    uint64_t sum = 0;
    for (int b = 0; b < (int)TIDE_METRIC_BUCKET_COUNT; b++) {
        uint64_t us = tide_metric_bound_us((enum tide_metric_bucket)b);
        sum += route->bucket[b];
        if (us == UINT64_MAX)
            snprintf(bound, sizeof bound, "+Inf");
        else
            snprintf(bound, sizeof bound, "%g", (double)us / 1e6);
        route_labels(labels, r, "le", bound);
        tide_metric_u64(out, "api_request_duration_seconds_bucket", labels, sum);
    }
    route_labels(labels, r, "", "");
    tide_metric_real(out, "api_request_duration_seconds_sum", labels, (double)route->us / 1e6);
    tide_metric_u64(out, "api_request_duration_seconds_count", labels, sum);
}

static void put_latencies(struct tide_buf *out, const struct tide_metrics *m)
{
    tide_metric_family(out, "api_request_duration_seconds", "histogram",
                       "From the request line to the last byte of the answer, by route.");
    for (size_t r = 0; r < m->route_count; r++) {
        uint64_t answers = 0;
        for (int b = 0; b < (int)TIDE_METRIC_BUCKET_COUNT; b++)
            answers += m->routes[r].bucket[b];
        if (answers)
            put_latency(out, &m->routes[r], r);
    }
}

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
    put_statuses(out, &m);
    put_latencies(out, &m);
#define COUNTER(name, help) tide_metric_counter(out, "api_" #name "_total", help ".", m.name);
    TIDE_METRIC_COUNTERS(COUNTER)
#undef COUNTER
#define GAUGE(name, help) tide_metric_gauge(out, "api_" #name, help ".", (double)m.name);
    TIDE_METRIC_GAUGES(GAUGE)
#undef GAUGE
    free(m.routes);
}

static void put_pool(struct tide_buf *out, struct tide_worker_pool *pool)
{
    struct tide_worker_pool_stats s;
    tide_worker_pool_stats(pool, &s);
    tide_metric_gauge(out, "pool_threads", "Threads that answer from PostgreSQL.", s.threads);
    tide_metric_gauge(out, "pool_connected", "Of these, with a connection.", s.connected);
    tide_metric_gauge(out, "pool_busy", "Of these, at work.", s.busy);
    tide_metric_gauge(out, "pool_waiting", "Requests in the queue before them.", s.waiting);
    tide_metric_counter(out, "pool_jobs_total", "Requests answered by them.", s.jobs);
    tide_metric_counter(out, "pool_full_total", "Requests refused: the queue was full.", s.full);
    tide_metric_counter(out, "pool_late_total", "Requests whose time was over before their turn.",
                        s.late);
    tide_metric_counter(out, "pool_failed_total", "Requests that the database failed.", s.failed);
    tide_metric_counter(out, "pool_connects_total", "Connections opened.", s.connects);
}

/* --- waits ------------------------------------------------------------------------------- */

/* What could hold a look-up up, each counted where it would. */
static void put_waits(struct tide_buf *out, const struct tide_api *api)
{
    struct tide_metric_route none;
    struct tide_metrics m = { .routes = &none, .route_max = 1 };
    struct tide_hot_stats hot;
    struct tide_worker_pool_stats pool;
    struct tide_stream_hub_stats hub;
    tide_server_metrics(api->server, &m);
    tide_hot_stats(api->hot, &hot);
    tide_worker_pool_stats(api->pool, &pool);
    tide_stream_hub_stats(tide_stream_service_hub(api->stream), &hub);
    const struct {
        const char *labels;
        uint64_t value;
    } all[] = {
        { "on=\"map\"", hot.waits_map },
        { "on=\"generation\"", hot.waits_generation },
        { "on=\"connections\"", m.waits_connections },
        { "on=\"wake\"", m.waits_wake },
        { "on=\"queue\"", pool.waits },
        { "on=\"stream\"", hub.waits },
    };
    tide_metric_family(out, "lookup_waits_total", "counter",
                       "Times that a thread which answers look-ups waited, by what for.");
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_metric_u64(out, "lookup_waits_total", all[i].labels, all[i].value);
}

/* --- the cache --------------------------------------------------------------------------- */

/* The contracts that the DAO's storage names otherwise than the deployment file. */
static void put_disagreement(struct tide_buf *out, uint32_t misnamed)
{
    tide_metric_family(out, "dao_disagrees", "gauge",
                       "1: the DAO's storage names another contract for that role than the"
                       " deployment file, whose contract is used.");
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++) {
        char labels[96];
        snprintf(labels, sizeof labels, "role=\"%s\"", tide_role_name((enum tide_role)role));
        tide_metric_u64(out, "dao_disagrees", labels, misnamed >> role & 1);
    }
}

/* Age and ledger, of the cache that is open; nothing while there is none. */
static void put_cache_age(struct tide_buf *out, struct tide_handler_context *context)
{
    const struct tide_hot_meta *meta;
    struct tide_err err;
    if (tide_hot_begin(context->thread, &meta, &err) != TIDE_OK)
        return;
    double age = (double)tide_cache_age_ms(meta, context->host_ms) / 1000;
    double fed = (double)tide_cache_fed_age_ms(meta, context->host_ms) / 1000;
    uint32_t ledger = meta->ledger;
    uint64_t closed = meta->close_time;
    bool complete = meta->complete && meta->compliance_complete;
    bool names_known = !(meta->unkept & PROJECT_BIT(PROJECT_GOVERNANCE));
    uint32_t misnamed = tide_cache_misnamed(meta);
    if (tide_hot_end(context->thread) != TIDE_OK)
        return;
    tide_metric_gauge(out, "cache_age_seconds", "Since the indexer was last heard of.", age);
    tide_metric_gauge(out, "cache_fed_age_seconds", "Since the feeder last saw the database.", fed);
    tide_metric_gauge(out, "cache_ledger", "Ledger that the cache stands for.", ledger);
    tide_metric_gauge(out, "cache_ledger_closed_timestamp_seconds", "When that ledger closed.",
                      (double)closed);
    tide_metric_gauge(out, "cache_complete",
                      "1: the contracts of the deployment file are known from their creation.",
                      complete);
    if (names_known)
        put_disagreement(out, misnamed);
}

static void put_cache(struct tide_buf *out, struct tide_handler_context *context)
{
    struct tide_hot_stats s;
    tide_hot_stats(context->api->hot, &s);
    put_cache_age(out, context);
    tide_metric_gauge(out, "cache_generation", "Generation that is open; 0: none.", s.generation);
    tide_metric_gauge(out, "cache_map_bytes", "Size of the map.", (double)s.map_bytes);
    tide_metric_gauge(out, "cache_used_bytes", "Bytes of the map in use.", (double)s.used_bytes);
    tide_metric_gauge(out, "cache_records", "Records.", (double)s.records);
    tide_metric_gauge(out, "cache_readers", "Reader slots in use, of all processes.", s.readers);
    tide_metric_counter(out, "cache_grown_total", "Doublings of the map.", s.grown);
    tide_metric_counter(out, "cache_cleared_total", "Slots of dead readers cleared.", s.cleared);
    tide_metric_counter(out, "cache_expired_total", "Reads ended for taking too long.", s.expired);
    tide_metric_counter(out, "cache_moved_aside_total", "Generations found bad.", s.moved_aside);
}

static void put_feed(struct tide_buf *out, struct tide_feed *feed)
{
    struct tide_feed_stats s;
    tide_feed_stats(feed, &s);
    tide_metric_gauge(out, "feeder_feeding",
                      "1: this process feeds the cache of the host, and the database answers.",
                      s.feeding);
    tide_metric_gauge(out, "feeder_standby", "1: it feeds from a hot standby.", s.standby);
    tide_metric_gauge(out, "feeder_ledger", "Ledger that it brought the cache to.", s.ledger);
    tide_metric_counter(out, "feeder_steps_total", "Steps from a ledger to a later one.", s.steps);
    tide_metric_counter(out, "feeder_rows_total", "Rows applied in them.", s.rows);
    tide_metric_family(
        out, "feeder_step_seconds_total", "counter",
        "Time of these steps: waiting for the database's answer, writing the cache.");
    tide_metric_real(out, "feeder_step_seconds_total", "of=\"ask\"", (double)s.asked_us / 1e6);
    tide_metric_real(out, "feeder_step_seconds_total", "of=\"apply\"", (double)s.applied_us / 1e6);
    tide_metric_counter(out, "feeder_rebuilds_total", "Caches built anew.", s.rebuilds);
    tide_metric_counter(out, "feeder_failures_total", "Steps that failed here, where it feeds.",
                        s.failures);
}

/* --- the stream -------------------------------------------------------------------------- */

static void put_stream_counters(struct tide_buf *out, const struct tide_stream_hub_stats *s)
{
    char labels[32];
    tide_metric_counter(out, "stream_opened_total", "Subscriptions taken.", s->opened);
    tide_metric_counter(out, "stream_refused_total", "Subscriptions refused.", s->refused);
    tide_metric_counter(out, "stream_messages_total", "Messages given to subscribers.",
                        s->messages);
    tide_metric_counter(out, "stream_sent_bytes_total", "Bytes taken by subscribers.", s->bytes);
    tide_metric_counter(out, "stream_failures_total", "Questions to the database that failed.",
                        s->failures);
    tide_metric_family(out, "stream_pages_total", "counter",
                       "Pages of ledgers read: new ones, and older ones for who resumes.");
    tide_metric_u64(out, "stream_pages_total", "of=\"new\"", s->live_pages);
    tide_metric_u64(out, "stream_pages_total", "of=\"older\"", s->catch_up_pages);
    tide_metric_family(out, "stream_dropped_total", "counter", "Subscribers dropped, by reason.");
    for (int r = 0; r < (int)TIDE_DROPPED_COUNT; r++) {
        snprintf(labels, sizeof labels, "reason=\"%s\"",
                 tide_stream_drop_name((enum tide_stream_drop)r));
        tide_metric_u64(out, "stream_dropped_total", labels, s->dropped[r]);
    }
}

static void put_stream(struct tide_buf *out, struct tide_stream_service *stream)
{
    struct tide_stream_hub_stats s;
    tide_stream_hub_stats(tide_stream_service_hub(stream), &s);
    tide_metric_gauge(out, "stream_subscribers", "Subscribers of /api/stream.", s.subscribers);
    tide_metric_gauge(out, "stream_behind", "Of these, not yet at the newest ledger.", s.behind);
    tide_metric_gauge(out, "stream_ledger", "Newest ledger given to all.", s.ledger);
    tide_metric_gauge(out, "stream_stale", "1: no word of the database, or of the indexer.",
                      s.stale);
    tide_metric_gauge(out, "stream_buffered_bytes", "Buffers of all subscribers.",
                      (double)s.buffered);
    tide_metric_gauge(out, "stream_ring_bytes", "Recent messages kept for all.",
                      (double)s.ring_bytes);
    tide_metric_gauge(out, "stream_ring_ledgers", "Recent ledgers kept for all.",
                      (double)s.ring_ledgers);
    put_stream_counters(out, &s);
}

/* --- the indexer ------------------------------------------------------------------------- */

static void put_state(struct tide_buf *out, const struct stream_figures *f)
{
    static const char *const states[] = { "starting",   "standby",  "loading",  "indexing",
                                          "following",  "degraded", "retrying", "frozen",
                                          "quarantine", "stopped" };
    char labels[48];
    bool known = false;
    tide_metric_family(out, "indexer_state", "gauge", "1 for the state that the writer is in.");
    for (size_t i = 0; i < TIDE_COUNT(states); i++) {
        bool is = strcmp(f->state, states[i]) == 0;
        known |= is;
        snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        tide_metric_u64(out, "indexer_state", labels, is);
    }
    tide_metric_u64(out, "indexer_state", "state=\"other\"", !known);
}

static void put_heartbeat(struct tide_buf *out, const struct stream_figures *f, double asked_ago)
{
    put_state(out, f);
    tide_metric_gauge(out, "indexer_heartbeat_age_seconds", "Since the writer last said something.",
                      f->heartbeat_age_s + asked_ago);
    tide_metric_gauge(out, "indexer_tip_ledger", "Newest ledger that its source has.", f->tip);
    tide_metric_gauge(out, "indexer_lag_ledgers", "Ledgers that it is behind.", f->lag);
    tide_metric_gauge(out, "indexer_ledgers_per_second", "Lately.", f->rate);
    tide_metric_gauge(out, "indexer_events_per_second", "Lately.", f->event_rate);
    tide_metric_counter(out, "indexer_retries_total",
                        "Transactions repeated and connections sought again since it began.",
                        f->retries);
    tide_metric_gauge(out, "indexer_trouble_seconds",
                      "For how long its source could not go on; 0: it can.",
                      (double)f->trouble_ms / 1000);
}

static void put_indexed(struct tide_buf *out, const struct stream_figures *f)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } all[] = {
        { "indexed_ledgers_total", "Ledgers indexed.", f->ledgers },
        { "indexed_transactions_total", "Transactions of the protocol.", f->transactions },
        { "indexed_calls_total", "Calls of its contracts.", f->calls },
        { "indexed_events_total", "Events.", f->events },
        { "indexed_changes_total", "Versions of entries.", f->changes },
        { "indexed_raw_events_total", "Events that could not be decoded.", f->raw_events },
        { "indexed_raw_states_total", "Entries that could not be decoded.", f->raw_states },
        { "indexed_raw_calls_total", "Calls whose arguments or answer are kept as XDR.",
          f->raw_calls },
        { "indexed_calls_verified_total", "Calls whose events hash to their result.",
          f->calls_verified },
        { "indexed_calls_rewritten_total", "Calls whose events do after undoing a rewriting.",
          f->calls_rewritten },
        { "indexed_calls_unverified_total", "Calls whose events do not.", f->calls_unverified },
    };
    tide_metric_gauge(out, "indexed_ledger", "Newest ledger that is indexed.", f->ledger);
    tide_metric_gauge(out, "indexed_ledger_closed_timestamp_seconds", "When it closed.",
                      (double)f->closed_at);
    tide_metric_gauge(out, "indexed_commit_timestamp_seconds", "When it was committed.",
                      (double)f->moved_at);
    tide_metric_gauge(
        out, "indexed_contracts_waiting",
        "Discovered tokens whose past is not indexed yet: their markets are incomplete.",
        (double)f->contracts_waiting);
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_metric_counter(out, all[i].name, all[i].help, all[i].value);
}

static void put_indexer(struct tide_buf *out, const struct tide_api *api)
{
    struct stream_figures f;
    tide_stream_service_figures(api->stream, &f);
    if (!f.known)
        return;
    double ago = (double)(api->clock->now_ms(api->clock->self) - f.asked_ms) / 1000;
    tide_metric_gauge(out, "indexer_figures_age_seconds",
                      "How old the figures of the indexer are: since the database was asked.", ago);
    put_indexed(out, &f);
    if (f.has_heartbeat)
        put_heartbeat(out, &f, ago);
}

/* --- the process ------------------------------------------------------------------------- */

/* Pages in memory, and those of them that are files' or shared. */
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
    tide_metric_family(out, "api_cpu_seconds_total", "counter", "CPU time of the process.");
    tide_metric_real(out, "api_cpu_seconds_total", "",
                     (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    if (!read_pages(&resident, &shared))
        return;
    tide_metric_gauge(out, "api_resident_bytes", "Memory of the process, the map's pages included.",
                      (double)resident * page);
    tide_metric_gauge(out, "api_private_bytes", "Memory of the process without files' pages.",
                      (double)(resident - shared) * page);
}

/* "Bearer" and the key, compared by digests: the time says nothing of where they differ. */
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

void tide_route_metrics(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    struct tide_buf *out = &reply->body;
    reply->content_type = TIDE_METRICS_TYPE;
    tide_metric_family(out, "build_info", "gauge", "Always 1; which version runs.");
    tide_metric_u64(out, "build_info", "version=\"" TIDE_VERSION "\"", 1);
    put_process(out);
    put_server(out, context->api->server);
    put_pool(out, context->api->pool);
    put_cache(out, context);
    put_waits(out, context->api);
    put_feed(out, context->api->feed);
    put_stream(out, context->api->stream);
    if (context->api->kyc && knows_key(context->api->config, request))
        tide_kyc_metrics(context->api->kyc, out);
    put_indexer(out, context->api);
}
