/* Any bytes as the KYC file: an accepted file is complete, a refusal names the place. */
#include "api/kyc/base/settings.h"
#include "tests/fuzz/fuzz.h"
#include "tidemark/url.h"

static void look_at(const struct tide_kyc_settings *s)
{
    struct tide_kyc_url url;
    assert(tide_kyc_url_read(&url, tide_slice_str(s->public_url)) && url.rest.len == 0);
    assert(s->challenge && *s->home_domain && s->provider_count);
    for (uint32_t i = 0; i < s->provider_count; i++) {
        const struct tide_kyc_provider *p = &s->providers[i];
        assert(p->secret_count && p->host_count && p->timeout_ms);
        assert(tide_kyc_provider_of(s, tide_slice_str(p->key)) == p);
        assert(p->type == TIDE_KYC_SANDBOX || tide_kyc_url_read(&url, tide_slice_str(p->base_url)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tide_kyc_settings *s = NULL;
    struct tide_err err = { 0 };
    if (tide_kyc_settings_parse(&s, tide_slice_of(data, size), &err) == TIDE_OK)
        look_at(s);
    else
        assert(!s && err.code && *err.text);
    tide_kyc_settings_release(s);
    return 0;
}
