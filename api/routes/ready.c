/* GET /healthz: the process answers. GET /readyz: clients should use this node. */
#include "api/hot/feed.h"
#include "api/hot/reader.h"
#include "api/http/server/server.h"
#include "api/kyc/kyc.h"
#include "api/sql/deployment_select.h"
#include "api/sql/worker_pool.h"
#include "api/stream/service.h"
#include "tidemark/json.h"
#include "tidemark/lookup.h"

tide_handler_fn tide_route_healthz, tide_route_readyz;

enum { DATABASE_MS = 2000 }; /* a database without contact for this long counts as away */

void tide_route_healthz(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    (void)request;
    if (tide_server_stalled(context->api->server)) {
        tide_reply_problem(reply, 503, "stalled",
                           "a thread of the server makes no progress; the process is about to end");
        return;
    }
    tide_buf_str(&reply->body, "{\"alive\":true}");
}

/* The conditions of readiness, in order of the reasons in the answer. */
struct readiness {
    bool stalled, draining, cached, fresh, complete, database;
    bool unmigrated; /* the database has no tables yet (not migrated) */
    uint64_t fed_age_ms;
    bool with_sql, sql; /* SQL is configured; SQL works */
    bool standby;       /* a hot standby feeds the cache */
    bool forked;        /* validators signed another ledger than the indexed one */
    uint32_t proven;    /* last ledger proven by signatures; 0: none */
    /* The DAO's storage names the configured contracts: reported, but without effect on
     * readiness. */
    bool named;
    struct tide_answer_at at;
};

static void read_cache(struct tide_handler_context *context, struct readiness *r)
{
    const struct tide_hot_meta *meta;
    struct tide_err err;
    if (tide_hot_begin(context->thread, &meta, &err) != TIDE_OK)
        return;
    if (!tide_deployment_select_allows(context->api->select, meta->protocol)) {
        (void)!tide_hot_end(context->thread);
        return; /* another process feeds this cache, with another deployment */
    }
    r->at = (struct tide_answer_at){ true,
                                     meta->ledger,
                                     tide_cache_closed_ms(meta),
                                     tide_cache_age_ms(meta, context->host_ms),
                                     meta->proven,
                                     meta->history_from };
    r->forked = meta->forked != 0;
    r->proven = meta->proven;
    r->fed_age_ms = tide_cache_fed_age_ms(meta, context->host_ms);
    r->fresh = r->at.age_ms <= context->api->config->stale_after_ms;
    r->standby = meta->standby;
    r->complete = meta->complete && meta->compliance_complete;
    r->named = tide_cache_misnamed(meta) == 0;
    r->cached = tide_hot_end(context->thread) == TIDE_OK;
}

/* Returns whether the database answers: the feeder contacts it all the time, and notes that in
 * the cache each second. */
static bool database_answers(const struct tide_api *api, struct readiness *r)
{
    struct tide_feed_stats feed;
    tide_feed_stats(api->feed, &feed);
    r->unmigrated = feed.unmigrated;
    return feed.feeding || (r->cached && r->fed_age_ms <= DATABASE_MS);
}

/* --- state of each function: SQL, stream, … ----------------------------------------------- */

/* The stream counts as down when its thread has read no figures for this long: it reads them far
 * more often. */
enum { STREAM_SILENCE_MS = 30000 };

static const char *state_of(bool configured, bool works)
{
    return !configured ? "off" : works ? "ok" : "down";
}

static bool sql_works(const struct tide_api *api, const struct readiness *r)
{
    struct tide_worker_pool_stats pool;
    tide_worker_pool_stats(api->pool, &pool);
    return r->with_sql && r->database && pool.connected > 0;
}

static bool stream_works(const struct tide_api *api, const struct readiness *r)
{
    struct stream_figures figures;
    tide_stream_service_figures(api->stream, &figures);
    int64_t asked = api->clock->now_ms(api->clock->self) - figures.asked_ms;
    return r->database && figures.known && asked <= STREAM_SILENCE_MS;
}

/* Returns KYC's state. KYC writes, so it needs a primary; the other functions only read. */
static const char *kyc_state(const struct tide_api *api)
{
    if (api->kyc && tide_kyc_lacks_primary(api->kyc))
        return "no_primary";
    return state_of(api->kyc, api->kyc && tide_kyc_is_connected(api->kyc));
}

/* Writes whether a standby or a primary feeds the cache, and its delay by the indexer's lease
 * row. */
static void put_server(struct tide_json *j, const struct readiness *r)
{
    if (!r->cached) {
        tide_json_null(j, "server");
        return;
    }
    tide_json_name(j, "server");
    tide_json_open(j, '{');
    tide_json_bool(j, "standby", r->standby);
    tide_json_number(j, "lagMs", r->at.age_ms);
    tide_json_close(j, '}');
}

/* A late proof has no effect on readiness. */
static void put_proven(struct tide_json *j, const struct readiness *r)
{
    if (r->proven)
        tide_json_u64(j, "provenThrough", r->proven);
    else
        tide_json_null(j, "provenThrough");
}

/* A missing past has no effect on readiness either: the state is complete. */
static void put_history(struct tide_json *j, const struct readiness *r)
{
    if (r->at.history_from)
        tide_json_u64(j, "historyFrom", r->at.history_from);
    else
        tide_json_null(j, "historyFrom");
}

static void put_functions(struct tide_json *j, const struct tide_api *api,
                          const struct readiness *r)
{
    tide_json_name(j, "functions");
    tide_json_open(j, '{');
    tide_json_word(j, "lookups",
                   state_of(true, r->cached && r->fresh && r->complete && !r->forked));
    tide_json_word(j, "sql", state_of(r->with_sql, r->sql && !r->forked));
    tide_json_word(j, "stream", state_of(true, stream_works(api, r)));
    tide_json_word(j, "kyc", kyc_state(api));
    tide_json_close(j, '}');
}

/* Writes why the node is not ready. A missing schema is reported instead of "database", because
 * it needs another remedy. */
static void put_reasons(struct tide_json *j, const struct readiness *r)
{
    tide_json_name(j, "reasons");
    tide_json_open(j, '[');
    if (r->stalled)
        tide_json_raw(j, TIDE_SLICE("\"stalled\""));
    if (r->draining)
        tide_json_raw(j, TIDE_SLICE("\"draining\""));
    if (!r->cached)
        tide_json_raw(j, TIDE_SLICE("\"no_cache\""));
    if (r->forked)
        tide_json_raw(j, TIDE_SLICE("\"forked\""));
    if (r->cached && !r->fresh)
        tide_json_raw(j, TIDE_SLICE("\"stale\""));
    if (r->cached && !r->complete)
        tide_json_raw(j, TIDE_SLICE("\"incomplete\""));
    if (r->unmigrated && (r->with_sql || !r->cached) && !r->database)
        tide_json_raw(j, TIDE_SLICE("\"schema\""));
    else if (r->with_sql && !r->database)
        tide_json_raw(j, TIDE_SLICE("\"database\""));
    else if (r->with_sql && !r->sql)
        tide_json_raw(j, TIDE_SLICE("\"sql\""));
    tide_json_close(j, ']');
}

void tide_route_readyz(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    (void)request;
    struct readiness r = { .draining = tide_server_draining(context->api->server),
                           .stalled = tide_server_stalled(context->api->server) };
    struct tide_json j = { .buf = &reply->body };
    read_cache(context, &r);
    r.database = database_answers(context->api, &r);
    r.with_sql = context->api->pool != NULL;
    r.sql = sql_works(context->api, &r);
    bool ready = !r.stalled && !r.draining && r.cached && !r.forked && r.fresh && r.complete &&
                 (r.sql || !r.with_sql);
    assert(!ready || r.at.known); /* a ready node names its ledger */
    tide_json_open(&j, '{');
    tide_json_bool(&j, "ready", ready);
    put_reasons(&j, &r);
    tide_json_bool(&j, "fresh", r.fresh);
    tide_json_bool(&j, "complete", r.complete);
    tide_json_bool(&j, "database", r.database);
    put_proven(&j, &r);
    put_history(&j, &r);
    put_server(&j, &r);
    put_functions(&j, context->api, &r);
    if (r.cached)
        tide_json_bool(&j, "agreesWithDao", r.named);
    else
        tide_json_null(&j, "agreesWithDao");
    tide_json_close(&j, '}');
    reply->at = r.at;
    reply->status = ready ? 200 : 503;
    reply->retry_after_s = ready ? 0 : 1;
}
