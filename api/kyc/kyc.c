/* Assembles KYC: opens, starts and closes its parts, and passes requests to the worker pools. */
#include "api/kyc/kyc.h"
#include "api/base/secret.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/notify/notify.h"
#include "api/kyc/pages/text.h"
#include "api/kyc/request_pool.h"
#include "api/kyc/sessions/session_request.h"
#include "api/kyc/worker/figures.h"
#include "api/kyc/worker/worker.h"
#include "tidemark/log.h"
#include "tidemark/rpc.h"

#include <stdlib.h>
#include <unistd.h>

bool tide_kyc_is_connected(const struct tide_kyc *kyc)
{
    uint32_t connected = 0;
    for (int i = 0; i < TIDE_KYC_POOL_COUNT; i++) {
        struct tide_worker_pool_stats stats;
        tide_worker_pool_stats(kyc->pools[i], &stats);
        connected += stats.connected;
    }
    return connected > 0;
}

bool tide_kyc_lacks_primary(const struct tide_kyc *kyc)
{
    bool lacks = false;
    for (int i = 0; i < TIDE_KYC_POOL_COUNT; i++) {
        struct tide_worker_pool_stats stats;
        tide_worker_pool_stats(kyc->pools[i], &stats);
        lacks |= stats.no_primary;
    }
    return lacks && !tide_kyc_is_connected(kyc);
}

void tide_kyc_metrics(const struct tide_kyc *kyc, struct tide_buf *out)
{
    assert(kyc->workers && kyc->refused);
    struct tide_kyc_pool_line pools[TIDE_KYC_POOL_COUNT];
    for (int i = 0; i < TIDE_KYC_POOL_COUNT; i++) {
        pools[i].name = tide_kyc_pool_name((enum tide_kyc_pool_id)i);
        tide_worker_pool_stats(kyc->pools[i], &pools[i].stats);
    }
    tide_kyc_put_pools(out, pools, TIDE_KYC_POOL_COUNT);
    tide_kyc_put_figures(out, kyc->settings, kyc->workers, kyc->refused,
                         kyc->clock->now_ms(kyc->clock->self));
    if (kyc->notify)
        tide_notify_metrics(kyc->notify, out);
}

/* Returns kyc_database_url, else database_url, else NULL: libpq then uses its environment. */
static const char *database_of(const struct tide_config *config)
{
    const char *url = config->kyc_database_url[0] ? config->kyc_database_url : config->database_url;
    return *url ? url : NULL;
}

static struct tide_kyc_context_options context_options_of(const struct tide_kyc *kyc)
{
    return (struct tide_kyc_context_options){ .settings = kyc->settings,
                                              .config = kyc->config,
                                              .clock = kyc->clock,
                                              .conninfo = database_of(kyc->config),
                                              .select = kyc->select };
}

/* Fails with TIDE_E_CONFIG if a domain of the file does not fit into a challenge: the name and the
 * value of a ManageData operation have at most 64 bytes each. */
static tide_status check_domains(const struct tide_kyc_settings *settings, struct tide_err *err)
{
    struct tide_kyc_context context = { .settings = settings };
    struct tide_kyc_challenger who = tide_kyc_challenger_of(&context);
    if (strlen(who.home_domain) > TIDE_KYC_HOME_DOMAIN_MAX || strlen(who.web_domain) > 64)
        return tide_fail(err, TIDE_E_CONFIG,
                         "kyc_file: /homeDomain may have %u bytes, the host of /publicUrl 64",
                         TIDE_KYC_HOME_DOMAIN_MAX);
    return TIDE_OK;
}

/* Fails if a request may take less time than a provider gets, and if the servers that name signers
 * are none that the client of Stellar RPC takes. */
static tide_status check_settings(const struct tide_config *config, struct tide_err *err)
{
    if (config->api_idle_ms < TIDE_KYC_IDLE_MS_MIN)
        return tide_fail(err, TIDE_E_CONFIG,
                         "api_idle_ms: identity checks need at least %u: a provider may take two "
                         "thirds of it",
                         TIDE_KYC_IDLE_MS_MIN);
    return config->rpc[0] ? tide_rpc_check_list(config->rpc, err) : TIDE_OK;
}

/* Opens the workers of the providers, and the counters of webhooks that they report. */
static tide_status open_workers(struct tide_kyc *kyc,
                                const struct tide_kyc_context_options *options,
                                struct tide_err *err)
{
    kyc->refused = tide_kyc_refused_open();
    if (!kyc->refused)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: KYC workers");
    return tide_kyc_workers_open(&kyc->workers, options, kyc->refused, err);
}

/* Writes the path of the KYC file: the setting kyc_file, else systemd's credential if that exists.
 * Returns false if there is neither. */
static bool file_of(char *out, size_t size, const struct tide_config *config)
{
    return tide_secret_path(out, size, config->kyc_file, "tidemark_kyc_file") &&
           (config->kyc_file[0] || access(out, F_OK) == 0);
}

tide_status tide_kyc_open_keys(struct tide_kyc_keys **out, const struct tide_config *config,
                               const struct tide_clock *clock, struct tide_err *err)
{
    char file[TIDE_CONFIG_TEXT_MAX + 64];
    *out = NULL;
    if (!file_of(file, sizeof file, config) && !config->kyc_database_url[0])
        return TIDE_OK;
    return tide_kyc_keys_open(out, database_of(config), clock, err);
}

/* After a failure tide_kyc_close releases the parts that were opened. */
tide_status tide_kyc_open(struct tide_kyc **out, const struct tide_api *api, struct tide_err *err)
{
    const struct tide_config *config = api->config;
    char file[TIDE_CONFIG_TEXT_MAX + 64];
    *out = NULL;
    if (!file_of(file, sizeof file, config))
        return TIDE_OK;
    struct tide_kyc *kyc = calloc(1, sizeof *kyc);
    if (!kyc)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: KYC");
    kyc->config = config;
    kyc->clock = api->clock;
    kyc->select = api->select;
    kyc->keys = api->keys;
    pthread_mutex_init(&kyc->signing, NULL);
    tide_status status = check_settings(config, err);
    if (status == TIDE_OK)
        status = tide_kyc_settings_load(&kyc->settings, file, err);
    if (status == TIDE_OK)
        status = check_domains(kyc->settings, err);
    if (status == TIDE_OK)
        status = tide_kyc_texts_open(&kyc->texts, err);
    const struct tide_kyc_context_options options = context_options_of(kyc);
    if (status == TIDE_OK)
        status = tide_kyc_pools_open(kyc->pools, &options, err);
    if (status == TIDE_OK)
        status = open_workers(kyc, &options, err);
    if (status == TIDE_OK && kyc->settings->notifies)
        status = tide_notify_open(&kyc->notify, &options, api->hot, err);
    if (status == TIDE_OK)
        *out = kyc;
    else
        tide_kyc_close(kyc);
    return status;
}

/* Fails if the KYC file contains a setting that the main network forbids. Only the database knows
 * the network: if the database is unreachable, the start goes on and each worker checks when it
 * connects. */
static tide_status check_network(struct tide_kyc *kyc, struct tide_err *err)
{
    struct tide_kyc_context_options options = context_options_of(kyc);
    struct tide_kyc_context context;
    tide_status status = tide_kyc_context_open(&context, &options, err);
    if (status == TIDE_OK)
        status = tide_kyc_context_connect(&context, err);
    tide_kyc_context_close(&context);
    return status == TIDE_E_CONFIG || status == TIDE_E_MEMORY ? status : TIDE_OK;
}

/* Warns about each provider whose webhook secrets have all expired: the routes reject every webhook
 * of such a provider as forged. */
static void log_ended_secrets(const struct tide_kyc *kyc)
{
    int64_t now = kyc->clock->wall_ms(kyc->clock->self) / 1000;
    for (uint32_t p = 0; p < kyc->settings->provider_count; p++) {
        const struct tide_kyc_provider *provider = &kyc->settings->providers[p];
        assert(provider->secret_count <= TIDE_COUNT(provider->secrets));
        uint32_t ended = 0;
        for (uint32_t i = 0; i < provider->secret_count; i++) {
            int64_t until = provider->secrets[i].not_after;
            ended += until != 0 && until < now;
        }
        if (ended > 0 && ended == provider->secret_count)
            tide_log(TIDE_WARN, "kyc.webhook_secrets_ended",
                     "provider=%s text=\"all webhookSecrets have expired (notAfter): webhooks are "
                     "refused, decisions come from polling only; add a secret and restart\"",
                     provider->key);
    }
}

tide_status tide_kyc_start(struct tide_kyc *kyc, struct tide_err *err)
{
    assert(kyc->workers && kyc->settings);
    tide_status status = check_network(kyc, err);
    for (int i = 0; i < TIDE_KYC_POOL_COUNT && status == TIDE_OK; i++)
        status = tide_worker_pool_start(kyc->pools[i], err);
    if (status == TIDE_OK)
        status = tide_kyc_workers_start(kyc->workers, err);
    if (status == TIDE_OK && kyc->notify)
        status = tide_notify_start(kyc->notify, err);
    if (status == TIDE_OK)
        log_ended_secrets(kyc);
    if (status == TIDE_OK)
        tide_log(TIDE_INFO, "kyc.open", "providers=%u", kyc->settings->provider_count);
    return status;
}

/* Closes the pools first: their jobs use the workers, texts and settings that are released
 * after. */
void tide_kyc_close(struct tide_kyc *kyc)
{
    if (!kyc)
        return;
    for (int i = 0; i < TIDE_KYC_POOL_COUNT; i++)
        tide_worker_pool_close(kyc->pools[i]);
    tide_kyc_workers_close(kyc->workers);
    tide_notify_close(kyc->notify);
    tide_kyc_refused_close(kyc->refused);
    tide_kyc_texts_close(kyc->texts);
    tide_kyc_settings_release(kyc->settings);
    pthread_mutex_destroy(&kyc->signing);
    free(kyc);
}

/* --- requests --------------------------------------------------------------------------- */

/* Runs the route's handler, which answers or leaves work in the context. Frees the work if the pool
 * does not take it. */
enum tide_job_submitted tide_kyc_submit(struct tide_kyc *kyc, struct tide_job *job)
{
    job->context.task = NULL;
    job->request->route->handle(&job->context, job->request, job->reply);
    struct tide_kyc_work *work = job->context.task;
    if (!work)
        return TIDE_JOB_ANSWERED;
    assert((unsigned)work->pool < TIDE_KYC_POOL_COUNT);
    assert(work->size >= sizeof *work); /* wipe_work wipes that much */
    /* The object of the connection's thread, which a worker must not use. */
    job->context.thread = NULL;
    enum tide_job_submitted submitted = tide_worker_pool_submit(kyc->pools[work->pool], job);
    if (submitted != TIDE_JOB_QUEUED) {
        job->context.task = NULL;
        free(work);
    }
    return submitted;
}
