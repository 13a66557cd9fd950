#include "api/kyc/base/context.h"
#include "tidemark/text.h"

enum { SILENCE_MS = 8000, CONNECT_MS = 4000, EXCHANGE_MS = 9000, STALL_S = 8 };

static const char main_network[] = "Public Global Stellar Network ; September 2015";

bool tide_kyc_network_allowed(const struct tide_kyc_settings *settings,
                              const uint8_t network_id[TIDE_HASH_BYTES], const char **what)
{
    uint8_t id[TIDE_HASH_BYTES];
    tide_network_id(id, tide_slice_str(main_network));
    *what = NULL;
    if (memcmp(id, network_id, sizeof id) != 0)
        return true;
    if (settings->open)
        *what = "\"open\"";
    for (uint32_t i = 0; i < settings->provider_count; i++)
        if (!settings->providers[i].live)
            *what = "a provider of type or environment sandbox";
    return !*what;
}

tide_status tide_kyc_place_open(struct tide_kyc_place *place,
                                const struct tide_kyc_place_options *options, struct tide_err *err)
{
    struct tide_http_options http = { .agent = "tidemark-api",
                                      .ca_file = options->ca_file,
                                      .connect_ms = CONNECT_MS,
                                      .timeout_ms = EXCHANGE_MS,
                                      .stall_s = STALL_S };
    *place = (struct tide_kyc_place){ .options = *options, .settings = options->settings };
    return tide_http_open(&place->http, &http, err);
}

void tide_kyc_place_close(struct tide_kyc_place *place)
{
    tide_pg_close(place->pg);
    tide_http_close(place->http);
    *place = (struct tide_kyc_place){ 0 };
}

bool tide_kyc_place_ready(const struct tide_kyc_place *place)
{
    return place->ready && place->pg && tide_pg_alive(place->pg) &&
           tide_chosen_is_current(place->options.select, &place->chosen);
}

static tide_status read_network(struct tide_kyc_place *place, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *what;
    tide_status status =
        tide_pg_query(place->pg, &rows,
                      "SELECT network_id, passphrase FROM chain.deployment WHERE id = $1::smallint",
                      (const char *[]){ place->deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count != 1 ||
        !tide_pg_bytes(&rows, 0, 0, place->network_id, sizeof place->network_id) ||
        tide_pg_slice(&rows, 0, 1).len >= sizeof place->passphrase)
        status = tide_fail(err, TIDE_E_DB_FATAL, "chain.deployment names no network");
    else
        snprintf(place->passphrase, sizeof place->passphrase, "%s", tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK && !tide_kyc_network_allowed(place->settings, place->network_id, &what))
        status = tide_fail(err, TIDE_E_CONFIG,
                           "kyc_file has %s, which is not for the public main network", what);
    return status;
}

tide_status tide_kyc_place_connect(struct tide_kyc_place *place, struct tide_err *err)
{
    static const char settings[] = "SET statement_timeout = '5s'; SET lock_timeout = '4s';"
                                   " SET idle_in_transaction_session_timeout = '15s';"
                                   " SET jit = off; SET search_path = pg_catalog";
    struct tide_pg_options to = { .conninfo = place->options.conninfo,
                                  .application = "tidemark-kyc",
                                  .writable = true,
                                  .silence_ms = SILENCE_MS,
                                  .stopped = place->options.stopped,
                                  .stopped_self = place->options.stopped_self };
    place->ready = false;
    tide_status status =
        tide_chosen_connect(&place->pg, &to, place->options.select, &place->chosen, err);
    if (status != TIDE_OK)
        return status;
    place->deployment = place->chosen.id;
    memcpy(place->deployment_text, place->chosen.text, sizeof place->deployment_text);
    status = tide_pg_run(place->pg, settings, "SET", err);
    if (status == TIDE_OK)
        status = read_network(place, err);
    place->ready = status == TIDE_OK;
    return status;
}

tide_status tide_kyc_begin(struct tide_kyc_place *place, struct tide_err *err)
{
    return tide_pg_run(place->pg, "BEGIN", "BEGIN", err);
}

tide_status tide_kyc_commit(struct tide_kyc_place *place, struct tide_err *err)
{
    return tide_pg_run(place->pg, "COMMIT", "COMMIT", err);
}

void tide_kyc_rollback(struct tide_kyc_place *place)
{
    struct tide_err err;
    if (place->pg && tide_pg_alive(place->pg) && tide_pg_in_transaction(place->pg) &&
        tide_pg_run(place->pg, "ROLLBACK", "ROLLBACK", &err) != TIDE_OK)
        place->ready = false;
}

enum tide_crew_room tide_kyc_enter(struct tide_kyc_place *place,
                                   const struct tide_kyc_provider *provider)
{
    static_assert(TIDE_KYC_PROVIDERS_MAX <= TIDE_CREW_LANES, "a lane for each provider");
    uint32_t index = (uint32_t)(provider - place->settings->providers);
    return tide_crew_enter(place->crew, place->job, index + 1);
}

bool tide_kyc_place_cancelled(void *self)
{
    const struct tide_kyc_place *place = self;
    const struct tide_clock *clock = place->options.clock;
    if (place->deadline_ms && clock->now_ms(clock->self) >= place->deadline_ms)
        return true;
    return place->options.stopped && place->options.stopped(place->options.stopped_self);
}

int64_t tide_kyc_now(const struct tide_kyc_place *place)
{
    return place->options.clock->wall_ms(place->options.clock->self) / 1000;
}
