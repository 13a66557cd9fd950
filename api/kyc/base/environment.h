/* Types of providers, and the environment of an account at one: live, about real people, or
 * sandbox, about invented ones. The only place that knows how each provider names it. */
#ifndef API_KYC_BASE_ENVIRONMENT_H
#define API_KYC_BASE_ENVIRONMENT_H

#include "tidemark/json_read.h"

enum tide_kyc_type {
    TIDE_KYC_SANDBOX,
    TIDE_KYC_SUMSUB,
    TIDE_KYC_PERSONA,
    TIDE_KYC_VERIFF,
    TIDE_KYC_DIDIT,
    TIDE_KYC_TYPE_COUNT
};

/* True if the key's prefix names another environment than the KYC file does (live). */
bool tide_kyc_key_is_elsewhere(enum tide_kyc_type type, bool live, const char *api_key);

/* True if a webhook or an answer (said) names another environment than the KYC file does. A value
 * that the provider does not document counts as another environment. False if said does not name
 * one. */
bool tide_kyc_is_elsewhere(enum tide_kyc_type type, bool live, const json_t *said);

#endif
