/* GET /api/sdk/kyc/providers: the identity providers of the KYC file. */
#include "api/kyc/base/handler.h"
#include "tidemark/json.h"

void tide_route_kyc_providers(struct tide_handler_context *context,
                              const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    struct tide_json j = { .buf = &reply->body };
    (void)request;
    tide_json_open(&j, '{');
    tide_json_name(&j, "providers");
    tide_json_open(&j, '[');
    for (uint32_t i = 0; i < settings->provider_count; i++) {
        const struct tide_kyc_provider *provider = &settings->providers[i];
        tide_json_open(&j, '{');
        tide_json_word(&j, "key", provider->key);
        tide_json_text(&j, "name", tide_slice_str(provider->name));
        tide_json_bool(&j, "sandbox", !provider->live);
        tide_json_close(&j, '}');
    }
    tide_json_close(&j, ']');
    tide_json_close(&j, '}');
}
