/* Drives the providers' adapters: kyc_driver KYC_FILE [DATABASE]
 *
 * Reads a JSON object a line from its input and answers each with one:
 *   {"do":"create","provider":KEY,"ref":…,"session":…,"return":URL}
 *                    -> {"status":"OK","id":…,"url":…,"expires":…} or {"status":"E_IO","text":…}
 *   {"do":"fetch","provider":KEY,"id":…}
 *                    -> {"status","state","reason","jurisdiction","decidedMs","validUntil"}
 *   {"do":"verify","provider":KEY,"headers":[[name,value],…],"body":TEXT}
 *                    -> {"verdict","why","key","id","ref","occurredMs","secret"}
 * "now" is the time to go by, else the clock's. */
#include "api/kyc/providers/provider.h"
#include "tidemark/json_read.h"
#include "tidemark/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

static const char *text_of(const json_t *said, const char *name)
{
    const char *text = json_string_value(json_object_get(said, name));
    return text ? text : "";
}

static tide_slice header(void *self, const char *name, uint32_t *occurrences)
{
    json_t *headers = json_object_get(self, "headers");
    tide_slice found = { 0 };
    *occurrences = 0;
    for (size_t i = 0; i < json_array_size(headers); i++) {
        json_t *one = json_array_get(headers, i);
        if (strcasecmp(json_string_value(json_array_get(one, 0)), name) != 0)
            continue;
        found = tide_slice_str(json_string_value(json_array_get(one, 1)));
        ++*occurrences;
    }
    return found;
}

static json_t *verify_webhook(const struct tide_kyc_call *call, json_t *said)
{
    static const char *const words[] = { [TIDE_KYC_GENUINE] = "genuine",
                                         [TIDE_KYC_FORGED] = "forged",
                                         [TIDE_KYC_MALFORMED] = "malformed",
                                         [TIDE_KYC_IRRELEVANT] = "irrelevant" };
    const json_t *body = json_object_get(said, "body");
    struct tide_kyc_event event = { 0 };
    const struct tide_kyc_hook hook = { .body = tide_slice_of(json_string_value(body),
                                                              json_string_length(body)),
                                        .header = header,
                                        .self = said,
                                        .now = call->now };
    enum tide_kyc_verdict verdict = tide_kyc_verify(call->provider, &hook, &event);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i}", "verdict", words[verdict], "why",
                     event.why ? event.why : "", "key", event.key, "id", event.provider_id, "ref",
                     event.ref, "occurredMs", (json_int_t)event.occurred_ms, "secret",
                     (int)event.secret);
}

static json_t *create_session(const struct tide_kyc_call *call, json_t *said)
{
    struct tide_err err = { 0 };
    struct tide_kyc_page page = { 0 };
    const struct tide_kyc_order order = { .ref = text_of(said, "ref"),
                                          .session_id = text_of(said, "session"),
                                          .return_url = text_of(said, "return") };
    tide_status status = tide_kyc_create(call, &order, &page, &err);
    if (status)
        return json_pack("{s:s, s:s}", "status", tide_status_name(status), "text", err.text);
    return json_pack("{s:s, s:s, s:s, s:I}", "status", "OK", "id", page.provider_id, "url",
                     page.url, "expires", (json_int_t)page.expires_at);
}

static json_t *fetch_decision(const struct tide_kyc_call *call, json_t *said)
{
    struct tide_err err = { 0 };
    struct tide_kyc_decision d = { 0 };
    tide_status status = tide_kyc_fetch(call, text_of(said, "id"), &d, &err);
    if (status)
        return json_pack("{s:s, s:s}", "status", tide_status_name(status), "text", err.text);
    return json_pack("{s:s, s:s, s:s, s:i, s:I, s:I}", "status", "OK", "state",
                     tide_kyc_state_text(d.state), "reason", d.reason ? d.reason : "",
                     "jurisdiction", (int)d.jurisdiction, "decidedMs", (json_int_t)d.decided_ms,
                     "validUntil", (json_int_t)d.valid_until);
}

static json_t *answer_request(struct tide_kyc_call *call, json_t *said)
{
    const char *what = text_of(said, "do");
    const json_t *now = json_object_get(said, "now");
    call->provider =
        tide_kyc_provider_of(call->settings, tide_slice_str(text_of(said, "provider")));
    call->now = now ? json_integer_value(now) : (int64_t)time(NULL);
    if (!call->provider)
        return json_pack("{s:s}", "status", "no such provider");
    if (strcmp(what, "create") == 0)
        return create_session(call, said);
    return strcmp(what, "fetch") == 0 ? fetch_decision(call, said) : verify_webhook(call, said);
}

static void serve_requests(struct tide_kyc_call *call)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        json_error_t error;
        json_t *said = tide_json_load(tide_slice_of(line, (size_t)len), 0, &error);
        json_t *made = said ? answer_request(call, said) : json_pack("{s:s}", "status", error.text);
        json_dumpf(made, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(made);
        json_decref(said);
    }
    free(line);
}

int main(int argc, char **argv)
{
    struct tide_err err = { 0 };
    struct tide_kyc_settings *settings = NULL;
    struct tide_kyc_call call = { 0 };
    const struct tide_http_options options = {
        .agent = "kyc_driver", .connect_ms = 2000, .timeout_ms = 5000, .stall_s = 5
    };
    if (argc < 2)
        return 64;
    tide_status status = tide_kyc_settings_load(&settings, argv[1], &err);
    call.settings = settings;
    if (!status)
        status = tide_http_open(&call.http, &options, &err);
    if (!status && argc > 2) {
        const struct tide_pg_options pg = { .conninfo = argv[2] };
        status = tide_pg_open(&call.pg, &pg, &err);
    }
    if (!status)
        serve_requests(&call);
    else
        fprintf(stderr, "%s\n", err.text);
    tide_pg_close(call.pg);
    tide_http_close(call.http);
    tide_kyc_settings_release(settings);
    return tide_status_exit(status);
}
