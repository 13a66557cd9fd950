/* The KYC file (setting kyc_file): which providers there are, and their secrets; integrators are in
 * the database (api/kyc/keys). Read once, at the start; a file that others may read (mode & 077,
 * another owner, a link) is refused.
 *
 *   { "publicUrl": "https://kyc.example",       what people and providers reach us by, no path
 *     "homeDomain": "kyc.example",              of challenges (SEP-10); default: publicUrl's host
 *     "challengeSeed": "S…",                    signs challenges and nothing else
 *     "referenceKey": "64 hex digits",          HMAC keys: of the reference a provider gets,
 *     "metadataKey": "64 hex digits",           of the hash that goes on the chain,
 *     "tokenKey": "64 hex digits",              of tokens in URLs,
 *     "intentKey": "64 hex digits",             of intents: the attester's attester_intent_key
 *     "webhookKey": "64 hex digits",            of the secrets of webhooks to partners; default: none
 *                                               may be registered
 *     "webhookLocal": false,                    true: they may go to private addresses and by http;
 *                                               refused where the network is the main one
 *     "open": false,                            true: sessions without key or challenge; refused
 *                                               where the network is the main one
 *     "attestationDays": 365,                   most that an attestation lasts
 *     "sessionsPerAddressDay": 5,               of an address, for each integrator apart
 *     "sessionsPerHour": 1000,                  at a provider, of all integrators
 *     "anonymousPerHour": 200,                  at a provider, of those without integrator: apart
 *     "anonymousPerNetworkHour": 20,            of these, from one IPv4 /24 or IPv6 /48
 *     "revocationsPerHour": 20,                 of a provider; the rest is a person's to decide
 *     "brand": {…},                             of the pages; an integrator may have its own
 *     "providers": [ { "key": "sumsub", "type": "sumsub", "name": "Sumsub", … } ] }
 *
 * Members of a provider      of types (the others refuse it)    when it is not there
 *   key, type, name            all                               refused
 *   baseUrl                    all but sandbox                   the provider's; veriff: refused
 *   apiKey                     all but sandbox                   refused
 *   apiSecret                  sumsub, veriff                    refused
 *   webhookSecrets             all: [{ "secret", "notAfter" }]   refused; veriff: apiSecret
 *   algorithm                  sumsub: sha1, sha256, sha512      sha256
 *   level                      sumsub: levelName, persona:       refused
 *                              template, didit: workflow
 *   apiVersion                 persona                           refused
 *   environment                all but sandbox: live, sandbox    refused
 *   hosts                      all: of its pages, that we may    refused; sandbox: publicUrl's
 *                              send people to
 *   frameHosts                 all: whose frames its pages need  hosts
 *   timeoutMs                  all: 100 to 30000, of one call    10000
 * notAfter: RFC 3339, or null (as when it is not there): no end. Hosts: "name" or "name:port".
 * Unknown members are refused. */
#ifndef API_KYC_BASE_SETTINGS_H
#define API_KYC_BASE_SETTINGS_H

#include "api/kyc/base/brand.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_KYC_PROVIDERS_MAX 8u
#define TIDE_KYC_SECRETS_MAX   3u
#define TIDE_KYC_HOSTS_MAX     8u
#define TIDE_KYC_WORD_BYTES    33u  /* keys and ids: [a-z0-9_-]{1,32}, NUL-terminated */
#define TIDE_KYC_TEXT_BYTES    129u /* names, levels, hosts */
#define TIDE_KYC_SECRET_BYTES  257u
#define TIDE_KYC_SECRET_MIN    8u
#define TIDE_KYC_URL_BYTES     257u
#define TIDE_KYC_FILE_MAX      (1u << 20)

enum tide_kyc_type {
    TIDE_KYC_SANDBOX,
    TIDE_KYC_SUMSUB,
    TIDE_KYC_PERSONA,
    TIDE_KYC_VERIFF,
    TIDE_KYC_DIDIT,
    TIDE_KYC_TYPE_COUNT
};

const char *tide_kyc_type_text(enum tide_kyc_type type);

enum tide_kyc_algorithm { TIDE_KYC_SHA256, TIDE_KYC_SHA1, TIDE_KYC_SHA512 };

struct tide_kyc_secret {
    char text[TIDE_KYC_SECRET_BYTES];
    int64_t not_after; /* unix seconds; 0: no end */
};

struct tide_kyc_provider {
    char key[TIDE_KYC_WORD_BYTES]; /* in our URLs and rows */
    enum tide_kyc_type type;
    char name[TIDE_KYC_TEXT_BYTES]; /* for people */
    char base_url[TIDE_KYC_URL_BYTES];
    char api_key[TIDE_KYC_SECRET_BYTES];
    char api_secret[TIDE_KYC_SECRET_BYTES];
    struct tide_kyc_secret secrets[TIDE_KYC_SECRETS_MAX]; /* of webhooks; the current one first */
    uint32_t secret_count;
    enum tide_kyc_algorithm algorithm; /* pinned: a webhook that names another is refused */
    char level[TIDE_KYC_TEXT_BYTES];
    char api_version[TIDE_KYC_TEXT_BYTES];
    char hosts[TIDE_KYC_HOSTS_MAX][TIDE_KYC_TEXT_BYTES];
    uint32_t host_count;
    char frame_hosts[TIDE_KYC_HOSTS_MAX][TIDE_KYC_TEXT_BYTES];
    uint32_t frame_host_count;
    bool live;           /* environment */
    uint32_t timeout_ms; /* of one call */
};

struct tide_kyc_settings {
    char public_url[TIDE_KYC_URL_BYTES];
    char home_domain[TIDE_KYC_TEXT_BYTES];
    struct tide_sign *challenge; /* one thread at a time: a mutex of who uses it */
    uint8_t reference_key[32], metadata_key[32], token_key[32], intent_key[32];
    uint8_t digest[16]; /* of the file, by its tokenKey: shows that it changed, and nothing else */
    uint8_t webhook_key[32]; /* only if notifies */
    bool notifies;           /* webhookKey is there */
    bool webhook_local;
    bool open;
    uint32_t attestation_days;
    uint32_t sessions_per_address_day, sessions_per_hour;
    uint32_t anonymous_per_hour; /* at each provider: sessions that no integrator asks for */
    uint32_t anonymous_per_network_hour; /* of these, from one IPv4 /24 or IPv6 /48 */
    uint32_t revocations_per_hour;       /* of each provider; beyond it a person decides */
    struct tide_kyc_brand brand;         /* of the pages that are no branded integrator's */
    struct tide_kyc_provider providers[TIDE_KYC_PROVIDERS_MAX];
    uint32_t provider_count;
};

/* *out is the caller's (tide_kyc_settings_release, which wipes it). TIDE_E_CONFIG names the member
 * that is wrong, never a value of it. https is asked for in every URL but those of this machine. */
tide_status tide_kyc_settings_load(struct tide_kyc_settings **out, const char *path,
                                   struct tide_err *err) TIDE_MUST_USE;
/* The same of a text; for tests and fuzzing. */
tide_status tide_kyc_settings_parse(struct tide_kyc_settings **out, tide_slice text,
                                    struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_settings_release(struct tide_kyc_settings *settings); /* NULL is fine */

/* NULL when there is none such. */
const struct tide_kyc_provider *tide_kyc_provider_of(const struct tide_kyc_settings *settings,
                                                     tide_slice key);

#endif
