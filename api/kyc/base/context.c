/* Connects a worker's context and runs its transactions. */
#include "api/kyc/base/context.h"
#include "api/sql/sql_problem.h"
#include "tidemark/text.h"

/* A provider or server that is silent longer than this is given up. All of them stay below the two
 * thirds of api_idle_ms that a session request may take. */
enum {
    SILENCE_MS = 8000,
    CONNECT_MS = 4000,
    EXCHANGE_MS = 9000,
    STALL_S = 8,
    SESSION_MS = TIDE_KYC_IDLE_MS_MIN / 3 * 2,
};
static_assert(SILENCE_MS < SESSION_MS && CONNECT_MS < SESSION_MS && EXCHANGE_MS < SESSION_MS &&
                  STALL_S * 1000 < SESSION_MS,
              "below the time of a session request");
static_assert(TIDE_KYC_STATEMENT_MS < SILENCE_MS, "PostgreSQL reports a slow statement first");

static const char main_network[] = "Public Global Stellar Network ; September 2015";

/* The forbidden settings would let people without a real check trade on the main network. */
bool tide_kyc_network_allowed(const struct tide_kyc_settings *settings,
                              const uint8_t network_id[TIDE_HASH_BYTES], const char **what)
{
    uint8_t id[TIDE_HASH_BYTES];
    assert(settings->provider_count <= TIDE_KYC_PROVIDERS_MAX);
    tide_network_id(id, tide_slice_str(main_network));
    *what = NULL;
    if (memcmp(id, network_id, sizeof id) != 0)
        return true;
    if (settings->open)
        *what = "\"open\"";
    if (settings->webhook_local)
        *what = "\"webhookLocal\"";
    for (uint32_t i = 0; i < settings->provider_count; i++)
        if (!settings->providers[i].live)
            *what = "a provider of type or environment sandbox";
    return !*what;
}

tide_status tide_kyc_context_open(struct tide_kyc_context *context,
                                  const struct tide_kyc_context_options *options,
                                  struct tide_err *err)
{
    assert(options->settings && options->config && options->clock);
    struct tide_http_options http = { .agent = "tidemark-api",
                                      .ca_file = options->config->http_ca_file,
                                      .connect_ms = CONNECT_MS,
                                      .timeout_ms = EXCHANGE_MS,
                                      .stall_s = STALL_S };
    *context = (struct tide_kyc_context){ .options = *options, .settings = options->settings };
    return tide_http_open(&context->http, &http, err);
}

void tide_kyc_context_close(struct tide_kyc_context *context)
{
    tide_pg_close(context->pg);
    tide_http_close(context->http);
    *context = (struct tide_kyc_context){ 0 };
}

bool tide_kyc_context_ready(const struct tide_kyc_context *context)
{
    return context->ready && context->pg && tide_pg_alive(context->pg) &&
           tide_deployment_select_is_current(context->options.select, &context->selected);
}

/* Reads the deployment's network. TIDE_E_CONFIG: this network forbids a setting of the KYC file. */
static tide_status read_network(struct tide_kyc_context *context, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *what;
    tide_status status =
        tide_pg_query(context->pg, &rows,
                      "SELECT network_id, passphrase FROM chain.deployment WHERE id = $1::smallint",
                      (const char *[]){ context->deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 2);
    if (rows.count != 1 ||
        !tide_pg_bytes(&rows, 0, 0, context->network_id, sizeof context->network_id) ||
        tide_pg_slice(&rows, 0, 1).len >= sizeof context->passphrase)
        status = tide_fail(err, TIDE_E_DB_FATAL, "chain.deployment has no usable network");
    else
        snprintf(context->passphrase, sizeof context->passphrase, "%s", tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK &&
        !tide_kyc_network_allowed(context->settings, context->network_id, &what))
        status = tide_fail(err, TIDE_E_CONFIG,
                           "kyc_file has %s, which the public main network forbids", what);
    return status;
}

/* statement_timeout and lock_timeout stay below silence_ms, so that PostgreSQL reports a slow
 * statement before the connection is given up. */
tide_status tide_kyc_context_connect(struct tide_kyc_context *context, struct tide_err *err)
{
    static const char settings[] = "SET statement_timeout = '5s'; SET lock_timeout = '4s';"
                                   " SET idle_in_transaction_session_timeout = '15s';"
                                   " SET search_path = pg_catalog";
    struct tide_pg_options to = { .conninfo = context->options.conninfo,
                                  .application = "tidemark-kyc",
                                  .server = TIDE_PG_PRIMARY,
                                  .silence_ms = SILENCE_MS,
                                  .stopped = context->options.stopped,
                                  .stopped_self = context->options.stopped_self };
    context->ready = false;
    tide_status status = tide_deployment_select_connect(&context->pg, &to, context->options.select,
                                                        &context->selected, err);
    if (status != TIDE_OK)
        return status;
    context->deployment = context->selected.id;
    static_assert(sizeof context->deployment_text == sizeof context->selected.text, "copied whole");
    memcpy(context->deployment_text, context->selected.text, sizeof context->deployment_text);
    status = tide_pg_run(context->pg, settings, "SET", err);
    if (status == TIDE_OK)
        status = read_network(context, err);
    context->ready = status == TIDE_OK;
    return status;
}

tide_status tide_kyc_begin(struct tide_kyc_context *context, struct tide_err *err)
{
    assert(context->pg);
    return tide_pg_run(context->pg, "BEGIN", "BEGIN", err);
}

tide_status tide_kyc_commit(struct tide_kyc_context *context, struct tide_err *err)
{
    assert(context->pg);
    return tide_pg_run(context->pg, "COMMIT", "COMMIT", err);
}

void tide_kyc_rollback(struct tide_kyc_context *context)
{
    tide_sql_roll_back(context->pg, &context->ready);
}

/* Bulkhead 0 belongs to no provider; provider i has bulkhead i + 1. */
enum tide_worker_pool_room tide_kyc_context_enter(struct tide_kyc_context *context,
                                                  const struct tide_kyc_provider *provider)
{
    static_assert(TIDE_KYC_PROVIDERS_MAX <= TIDE_BULKHEADS_MAX, "a bulkhead for each provider");
    uint32_t index = (uint32_t)(provider - context->settings->providers);
    assert(index < context->settings->provider_count);
    assert(context->pool && context->job);
    return tide_worker_pool_enter(context->pool, context->job, index + 1);
}

bool tide_kyc_context_cancelled(void *self)
{
    const struct tide_kyc_context *context = self;
    if (context->deadline_ms && tide_kyc_now_ms(context) >= context->deadline_ms)
        return true;
    return context->options.stopped && context->options.stopped(context->options.stopped_self);
}

int64_t tide_kyc_now(const struct tide_kyc_context *context)
{
    return context->options.clock->wall_ms(context->options.clock->self) / 1000;
}

int64_t tide_kyc_now_ms(const struct tide_kyc_context *context)
{
    return context->options.clock->now_ms(context->options.clock->self);
}
