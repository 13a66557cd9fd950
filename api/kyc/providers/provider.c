/* The table of adapters, and the check of a page's host. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/url.h"

const struct tide_kyc_adapter *tide_kyc_adapter_of(enum tide_kyc_type type)
{
    static const struct tide_kyc_adapter *const adapters[TIDE_KYC_TYPE_COUNT] = {
        [TIDE_KYC_SANDBOX] = &tide_kyc_sandbox, [TIDE_KYC_SUMSUB] = &tide_kyc_sumsub,
        [TIDE_KYC_PERSONA] = &tide_kyc_persona, [TIDE_KYC_VERIFF] = &tide_kyc_veriff,
        [TIDE_KYC_DIDIT] = &tide_kyc_didit,
    };
    assert(type < TIDE_KYC_TYPE_COUNT);
    assert(strcmp(adapters[type]->type, tide_kyc_type_text(type)) == 0);
    return adapters[type];
}

bool tide_kyc_host_allowed(const struct tide_kyc_provider *provider, const char *url)
{
    struct tide_kyc_url read;
    if (!tide_kyc_url_read(&read, tide_slice_str(url)))
        return false;
    assert(provider->host_count <= TIDE_COUNT(provider->hosts));
    for (uint32_t i = 0; i < provider->host_count; i++)
        if (tide_kyc_host_is(&read, provider->hosts[i]))
            return true;
    return false;
}
