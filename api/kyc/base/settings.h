/* The KYC file (setting kyc_file): providers and their secrets. Integrators are in the database
 * (api/kyc/keys). The process reads the file once, at the start, and refuses a file that others may
 * read (mode & 077, another owner, a link).
 *
 *   { "publicUrl": "https://kyc.example",       address that people and providers use, without path
 *     "homeDomain": "kyc.example",              home domain of challenges (SEP-10); default: host of
 *                                               publicUrl
 *     "challengeSeed": "S…",                    signs challenges and nothing else
 *     "referenceKey": "64 hex digits",          HMAC key: reference of an address at a provider
 *     "metadataKey": "64 hex digits",           HMAC key: hash in the attestation on the chain
 *     "tokenKey": "64 hex digits",              HMAC key: tokens in URLs
 *     "intentKey": "64 hex digits",             HMAC key: intents (as attester_intent_key)
 *     "webhookKey": "64 hex digits",            HMAC key: secrets of webhooks to partners; default:
 *                                               no such webhooks
 *     "webhookLocal": false,                    true: webhooks may use http and private addresses;
 *                                               refused on the main network
 *     "open": false,                            true: sessions without key or challenge; refused on
 *                                               the main network
 *     "attestationDays": 365,                   longest validity of an attestation
 *     "sessionsPerAddressDay": 5,               per address and integrator
 *     "sessionsPerHour": 1000,                  per provider, all integrators together
 *     "anonymousPerHour": 200,                  per provider, sessions without an integrator
 *     "anonymousPerNetworkHour": 20,            the same from one IPv4 /24 or IPv6 /48
 *     "revocationsPerHour": 20,                 per provider; further ones need a person's decision
 *     "brand": {…},                             looks of the pages; an integrator may have its own
 *     "providers": [ { "key": "sumsub", "type": "sumsub", "name": "Sumsub", … } ] }
 *
 * Members of a provider      types that have it (others refuse)  if missing
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
 *   hosts                      all: hosts of the provider's      refused; sandbox: publicUrl's host
 *                              pages; a browser is sent to no
 *                              other
 *   frameHosts                 all: hosts of frames in those     hosts
 *                              pages
 *   timeoutMs                  all: 100 to 30000, for one call   10000
 * notAfter: RFC 3339; null or missing: no end. Hosts: "name" or "name:port". The reader refuses
 * unknown members. */
#ifndef API_KYC_BASE_SETTINGS_H
#define API_KYC_BASE_SETTINGS_H

#include "api/kyc/base/environment.h"
#include "tidemark/brand.h"
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

const char *tide_kyc_type_text(enum tide_kyc_type type);

enum tide_kyc_algorithm { TIDE_KYC_SHA256, TIDE_KYC_SHA1, TIDE_KYC_SHA512 };

struct tide_kyc_secret {
    char text[TIDE_KYC_SECRET_BYTES];
    int64_t not_after; /* unix seconds; 0: no end */
};

struct tide_kyc_provider {
    char key[TIDE_KYC_WORD_BYTES]; /* in URLs and rows */
    enum tide_kyc_type type;
    char name[TIDE_KYC_TEXT_BYTES]; /* display name */
    char base_url[TIDE_KYC_URL_BYTES];
    char api_key[TIDE_KYC_SECRET_BYTES];
    char api_secret[TIDE_KYC_SECRET_BYTES];
    /* secrets of webhooks; the newest first */
    struct tide_kyc_secret secrets[TIDE_KYC_SECRETS_MAX];
    uint32_t secret_count;
    /* pinned: a webhook that names another algorithm is refused */
    enum tide_kyc_algorithm algorithm;
    char level[TIDE_KYC_TEXT_BYTES];
    char api_version[TIDE_KYC_TEXT_BYTES];
    char hosts[TIDE_KYC_HOSTS_MAX][TIDE_KYC_TEXT_BYTES];
    uint32_t host_count;
    char frame_hosts[TIDE_KYC_HOSTS_MAX][TIDE_KYC_TEXT_BYTES];
    uint32_t frame_host_count;
    bool live;           /* true: environment is "live" */
    uint32_t timeout_ms; /* limit of one call */
};

struct tide_kyc_settings {
    char public_url[TIDE_KYC_URL_BYTES];
    char home_domain[TIDE_KYC_TEXT_BYTES];
    struct tide_sign *challenge; /* not thread-safe: hold struct tide_kyc's mutex signing */
    uint8_t reference_key[32], metadata_key[32], token_key[32], intent_key[32];
    uint8_t digest[16]; /* HMAC of the file by its token_key: shows only that the file changed */
    uint8_t webhook_key[32]; /* valid only if notifies */
    bool notifies;           /* the file has webhookKey */
    bool webhook_local;
    bool open;
    uint32_t attestation_days;
    uint32_t sessions_per_address_day, sessions_per_hour;
    uint32_t anonymous_per_hour;         /* per provider: sessions without an integrator */
    uint32_t anonymous_per_network_hour; /* the same from one IPv4 /24 or IPv6 /48 */
    uint32_t revocations_per_hour;       /* per provider; further ones need a person's decision */
    struct tide_kyc_brand brand;         /* for pages of integrators without a brand */
    struct tide_kyc_provider providers[TIDE_KYC_PROVIDERS_MAX];
    uint32_t provider_count;
};

/* Reads the file at path. The caller releases *out (tide_kyc_settings_release wipes it).
 * TIDE_E_CONFIG names the faulty member, never a value. Every URL needs https, except those of this
 * machine. */
tide_status tide_kyc_settings_load(struct tide_kyc_settings **out, const char *path,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Reads the file's text. For tests and fuzzing. */
tide_status tide_kyc_settings_parse(struct tide_kyc_settings **out, tide_slice text,
                                    struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_settings_release(struct tide_kyc_settings *settings); /* NULL is allowed */

/* Returns the provider with that key, or NULL. */
const struct tide_kyc_provider *tide_kyc_provider_of(const struct tide_kyc_settings *settings,
                                                     tide_slice key);

#endif
