/* Reads the KYC file into struct tide_kyc_settings and checks that its members fit together. */
#include "api/kyc/base/settings.h"
#include "api/base/secret.h"
#include "tidemark/json_members.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/url.h"

enum { FILE_MAX = 1 << 20 }; /* bytes */

/* --- providers ------------------------------------------------------------------------------- */

static const struct type {
    const char *name, *base_url;
} types[TIDE_KYC_TYPE_COUNT] = {
    [TIDE_KYC_SANDBOX] = { "sandbox", "" },
    [TIDE_KYC_SUMSUB] = { "sumsub", "https://api.sumsub.com" },
    [TIDE_KYC_PERSONA] = { "persona", "https://api.withpersona.com" },
    [TIDE_KYC_VERIFF] = { "veriff", "" },
    [TIDE_KYC_DIDIT] = { "didit", "https://verification.didit.me" },
};

const char *tide_kyc_type_text(enum tide_kyc_type type)
{
    assert(type < TIDE_KYC_TYPE_COUNT);
    return types[type].name;
}

static tide_status read_type(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    (void)m;
    for (int type = 0; type < TIDE_KYC_TYPE_COUNT; type++) {
        if (tide_slice_eq_str(tide_read_string(value), types[type].name)) {
            *(enum tide_kyc_type *)to = (enum tide_kyc_type)type;
            return TIDE_OK;
        }
    }
    return tide_read_refuse(r, "expected sandbox, sumsub, persona, veriff or didit");
}

static tide_status read_algorithm(struct tide_members_reader *r, const struct tide_member *m,
                                  void *to, json_t *value)
{
    static const char *const names[] = {
        [TIDE_KYC_SHA256] = "sha256", [TIDE_KYC_SHA1] = "sha1", [TIDE_KYC_SHA512] = "sha512"
    };
    (void)m;
    static_assert(TIDE_COUNT(names) == TIDE_KYC_SHA512 + 1, "a name for each algorithm");
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        if (tide_slice_eq_str(tide_read_string(value), names[i])) {
            *(enum tide_kyc_algorithm *)to = (enum tide_kyc_algorithm)i;
            return TIDE_OK;
        }
    }
    return tide_read_refuse(r, "expected sha1, sha256 or sha512");
}

static tide_status read_environment(struct tide_members_reader *r, const struct tide_member *m,
                                    void *to, json_t *value)
{
    (void)m;
    bool live = tide_slice_eq_str(tide_read_string(value), "live");
    if (!live && !tide_slice_eq_str(tide_read_string(value), "sandbox"))
        return tide_read_refuse(r, "expected live or sandbox");
    *(bool *)to = live;
    return TIDE_OK;
}

/* clang-format off */
#define SECRET(member) offsetof(struct tide_kyc_secret, member)
static const struct tide_member secret_members[] = {
    { "secret",   tide_read_token, SECRET(text),      0, TIDE_KYC_SECRET_BYTES, false, 0 },
    { "notAfter", tide_read_time,  SECRET(not_after), 0, 0,                     true,  0 },
};
/* clang-format on */

/* Refuses short secrets: one webhook is enough to guess a secret of a few bytes. */
static tide_status read_secret(struct tide_members_reader *r, const struct tide_member *m, void *to,
                               json_t *value)
{
    (void)m;
    struct tide_kyc_secret *secret = to;
    tide_status status =
        tide_read_object(r, secret_members, TIDE_COUNT(secret_members), secret, value);
    if (!status && strlen(secret->text) < TIDE_KYC_SECRET_MIN)
        return tide_read_refuse(r, "expected a secret of 8 bytes or more");
    return status;
}

static tide_status read_secrets(struct tide_members_reader *r, const struct tide_member *m,
                                void *to, json_t *value)
{
    struct tide_kyc_provider *p = TIDE_MEMBER_OWNER(tide_kyc_provider, m, to);
    assert(m->high == TIDE_COUNT(p->secrets)); /* the list's limit is the array's room */
    struct tide_list list = { read_secret, sizeof p->secrets[0], &p->secret_count };
    return tide_read_list(r, m, list, p->secrets, value);
}

static tide_status read_hosts(struct tide_members_reader *r, const struct tide_member *m, void *to,
                              json_t *value)
{
    struct tide_kyc_provider *p = TIDE_MEMBER_OWNER(tide_kyc_provider, m, to);
    assert(m->high == TIDE_COUNT(p->hosts));
    struct tide_list list = { tide_read_host, sizeof p->hosts[0], &p->host_count };
    return tide_read_list(r, m, list, p->hosts, value);
}

static tide_status read_frame_hosts(struct tide_members_reader *r, const struct tide_member *m,
                                    void *to, json_t *value)
{
    struct tide_kyc_provider *p = TIDE_MEMBER_OWNER(tide_kyc_provider, m, to);
    assert(m->high == TIDE_COUNT(p->frame_hosts));
    struct tide_list list = { tide_read_host, sizeof p->frame_hosts[0], &p->frame_host_count };
    return tide_read_list(r, m, list, p->frame_hosts, value);
}

enum {
    SANDBOX = 1 << TIDE_KYC_SANDBOX,
    SUMSUB = 1 << TIDE_KYC_SUMSUB,
    PERSONA = 1 << TIDE_KYC_PERSONA,
    VERIFF = 1 << TIDE_KYC_VERIFF,
    DIDIT = 1 << TIDE_KYC_DIDIT,
    REAL = SUMSUB | PERSONA | VERIFF | DIDIT,
    ALL = SANDBOX | REAL,
};

static_assert(ALL == (1 << TIDE_KYC_TYPE_COUNT) - 1, "each type has its bit");

/* Members of a provider by type (mask). A member has two rows if some types need it and others may
 * leave it out. */
/* clang-format off */
#define AT(member) offsetof(struct tide_kyc_provider, member)
static const struct tide_member provider_members[] = {
    { "key",            tide_read_word,   AT(key),         0,   TIDE_KYC_WORD_BYTES,   false, ALL },
    { "type",           read_type,        AT(type),        0,   0,                     false, ALL },
    { "name",           tide_read_text,   AT(name),        0,   TIDE_KYC_TEXT_BYTES,   false, ALL },
    { "baseUrl",        tide_read_url,    AT(base_url),    0,   TIDE_KYC_URL_BYTES,    false, VERIFF },
    { "baseUrl",        tide_read_url,    AT(base_url),    0,   TIDE_KYC_URL_BYTES,    true,  REAL & ~VERIFF },
    { "apiKey",         tide_read_token,  AT(api_key),     0,   TIDE_KYC_SECRET_BYTES, false, REAL },
    { "apiSecret",      tide_read_token,  AT(api_secret),  0,   TIDE_KYC_SECRET_BYTES, false, SUMSUB | VERIFF },
    { "webhookSecrets", read_secrets,     AT(secrets),     1,   TIDE_KYC_SECRETS_MAX,  false, ALL & ~VERIFF },
    { "webhookSecrets", read_secrets,     AT(secrets),     1,   TIDE_KYC_SECRETS_MAX,  true,  VERIFF },
    { "algorithm",      read_algorithm,   AT(algorithm),   0,   0,                     true,  SUMSUB },
    { "level",          tide_read_text,   AT(level),       0,   TIDE_KYC_TEXT_BYTES,   false, REAL & ~VERIFF },
    { "apiVersion",     tide_read_token,  AT(api_version), 0,   TIDE_KYC_TEXT_BYTES,   false, PERSONA },
    { "environment",    read_environment, AT(live),        0,   0,                     false, REAL },
    { "hosts",          read_hosts,       AT(hosts),       1,   TIDE_KYC_HOSTS_MAX,    false, REAL },
    { "hosts",          read_hosts,       AT(hosts),       1,   TIDE_KYC_HOSTS_MAX,    true,  SANDBOX },
    { "frameHosts",     read_frame_hosts, AT(frame_hosts), 0,   TIDE_KYC_HOSTS_MAX,    true,  ALL },
    { "timeoutMs",      tide_read_u32,    AT(timeout_ms),  100, 30000,                 true,  ALL },
};
/* clang-format on */

/* Refuses an API key whose prefix contradicts "environment". Otherwise sandbox decisions about
 * invented people could pass for real ones. */
static tide_status check_environment(struct tide_members_reader *r,
                                     const struct tide_kyc_provider *p)
{
    if (!tide_kyc_key_is_elsewhere(p->type, p->live, p->api_key))
        return TIDE_OK;
    tide_read_enter(r, "environment");
    return tide_read_refuse(r, "the apiKey belongs to the other environment");
}

/* Fills members that the file leaves out with their defaults. */
static void complete_provider(struct tide_kyc_provider *p, bool has_frame_hosts)
{
    static_assert(sizeof p->secrets[0].text == sizeof p->api_secret, "copied whole");
    static_assert(sizeof p->frame_hosts == sizeof p->hosts, "copied whole");
    assert(p->type < TIDE_KYC_TYPE_COUNT);
    if (!*p->base_url)
        snprintf(p->base_url, sizeof p->base_url, "%s", types[p->type].base_url);
    if (p->type == TIDE_KYC_VERIFF && p->secret_count == 0) {
        memcpy(p->secrets[0].text, p->api_secret, sizeof p->api_secret);
        p->secret_count = 1;
    }
    if (!has_frame_hosts) {
        memcpy(p->frame_hosts, p->hosts, sizeof p->hosts);
        p->frame_host_count = p->host_count;
    }
}

/* Reads one provider: first its type, then the members that this type has. */
static tide_status read_provider(struct tide_members_reader *r, const struct tide_member *m,
                                 void *to, json_t *value)
{
    (void)m;
    struct tide_kyc_provider *p = to;
    struct tide_member own[TIDE_COUNT(provider_members)];
    size_t count = 0, at = tide_read_enter(r, "type");
    json_t *type = json_object_get(value, "type");
    tide_status status = json_is_object(value) ? read_type(r, NULL, &p->type, type) : TIDE_OK;
    if (status)
        return status;
    tide_read_leave(r, at);
    for (size_t i = 0; i < TIDE_COUNT(provider_members); i++)
        if (provider_members[i].mask >> p->type & 1)
            own[count++] = provider_members[i];
    assert(count > 0 && count < TIDE_COUNT(own)); /* no type has every row */
    p->timeout_ms = 10000;
    status = tide_read_object(r, own, count, p, value);
    if (!status)
        status = check_environment(r, p);
    if (!status)
        complete_provider(p, json_object_get(value, "frameHosts") != NULL);
    return status;
}

/* --- the file -------------------------------------------------------------------------------- */

/* Rejects "integrators" with a hint: earlier versions had this member, integrators are now in the
 * database. */
static tide_status refuse_integrators(struct tide_members_reader *r, const struct tide_member *m,
                                      void *to, json_t *value)
{
    (void)m;
    (void)to;
    (void)value;
    return tide_read_refuse(r, "no such member here: see tidemark-indexer integrator --help");
}

static tide_status read_providers(struct tide_members_reader *r, const struct tide_member *m,
                                  void *to, json_t *value)
{
    struct tide_kyc_settings *s = TIDE_MEMBER_OWNER(tide_kyc_settings, m, to);
    assert(m->low > 0 && m->high == TIDE_COUNT(s->providers));
    struct tide_list list = { read_provider, sizeof s->providers[0], &s->provider_count };
    return tide_read_list(r, m, list, s->providers, value);
}

/* Decodes the seed straight into a signing object. The decoded bytes are wiped, also on failure. */
static tide_status read_seed(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    (void)m;
    static_assert(TIDE_STRKEY_PAYLOAD_MAX >= TIDE_SEED_BYTES, "a seed fits");
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len = 0;
    tide_status status = tide_strkey_decode(&kind, payload, &len, tide_read_string(value));
    if (status || kind != TIDE_STRKEY_SEED || len != TIDE_SEED_BYTES)
        status = tide_read_refuse(r, "expected a secret seed, S…");
    else if (tide_sign_open(to, payload) != TIDE_OK)
        status = tide_fail(r->err, TIDE_E_MEMORY, "out of memory");
    tide_sign_wipe(payload, sizeof payload);
    return status;
}

static tide_status read_webhook_key(struct tide_members_reader *r, const struct tide_member *m,
                                    void *to, json_t *value)
{
    struct tide_kyc_settings *s = TIDE_MEMBER_OWNER(tide_kyc_settings, m, to);
    s->notifies = true;
    return tide_read_hex32(r, m, to, value);
}

/* clang-format off */
#define OF(member) offsetof(struct tide_kyc_settings, member)
static const struct tide_member file_members[] = {
    { "publicUrl",             tide_read_origin, OF(public_url),               0, TIDE_KYC_URL_BYTES,       false, 0 },
    { "homeDomain",            tide_read_host,   OF(home_domain),              0, TIDE_KYC_TEXT_BYTES,      true,  0 },
    { "challengeSeed",         read_seed,        OF(challenge),                0, 0,                        false, 0 },
    { "referenceKey",          tide_read_hex32,  OF(reference_key),            0, 0,                        false, 0 },
    { "metadataKey",           tide_read_hex32,  OF(metadata_key),             0, 0,                        false, 0 },
    { "tokenKey",              tide_read_hex32,  OF(token_key),                0, 0,                        false, 0 },
    { "intentKey",             tide_read_hex32,  OF(intent_key),               0, 0,                        false, 0 },
    { "webhookKey",            read_webhook_key, OF(webhook_key),              0, 0,                        true,  0 },
    { "webhookLocal",          tide_read_bool,   OF(webhook_local),            0, 0,                        true,  0 },
    { "open",                  tide_read_bool,   OF(open),                     0, 0,                        true,  0 },
    { "attestationDays",       tide_read_u32,    OF(attestation_days),         1, 3650,                     true,  0 },
    { "sessionsPerAddressDay", tide_read_u32,    OF(sessions_per_address_day), 1, 1000,                     true,  0 },
    { "sessionsPerHour",       tide_read_u32,    OF(sessions_per_hour),        1, 1000000,                  true,  0 },
    { "anonymousPerHour",      tide_read_u32,    OF(anonymous_per_hour),       1, 1000000,                  true,  0 },
    { "anonymousPerNetworkHour", tide_read_u32,  OF(anonymous_per_network_hour), 1, 1000000,                true,  0 },
    { "revocationsPerHour",    tide_read_u32,    OF(revocations_per_hour),     1, 1000000,                  true,  0 },
    { "brand",                 tide_kyc_brand_read, OF(brand),                 0, 0,                        true,  0 },
    { "integrators",           refuse_integrators, 0,                          0, 0,                        true,  0 },
    { "providers",             read_providers,   OF(providers),                1, TIDE_KYC_PROVIDERS_MAX,   false, 0 },
};
/* clang-format on */

static tide_status refuse_at(struct tide_err *err, const char *list, uint32_t index,
                             const char *what)
{
    return tide_fail(err, TIDE_E_CONFIG, "/%s/%" PRIu32 "%s", list, index, what);
}

static tide_status check_names(const struct tide_kyc_settings *s, struct tide_err *err)
{
    for (uint32_t i = 0; i < s->provider_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(s->providers[i].key, s->providers[j].key) == 0)
                return refuse_at(err, "providers", i, "/key: another provider has it");
    return TIDE_OK;
}

/* Refuses two equal keys: a value made for one purpose would then be valid for another. */
static tide_status check_keys(const struct tide_kyc_settings *s, struct tide_err *err)
{
    const uint8_t *keys[] = { s->reference_key, s->metadata_key, s->token_key, s->intent_key,
                              s->webhook_key };
    static_assert(sizeof s->reference_key == sizeof s->token_key &&
                      sizeof s->metadata_key == sizeof s->token_key &&
                      sizeof s->intent_key == sizeof s->token_key &&
                      sizeof s->webhook_key == sizeof s->token_key,
                  "compared whole");
    for (size_t i = 0; i < TIDE_COUNT(keys) - !s->notifies; i++)
        for (size_t j = 0; j < i; j++)
            if (memcmp(keys[i], keys[j], sizeof s->token_key) == 0)
                return tide_fail(err, TIDE_E_CONFIG,
                                 "/referenceKey, /metadataKey, /tokenKey, /intentKey and"
                                 " /webhookKey: two of them are the same");
    return TIDE_OK;
}

/* Stores a keyed digest of the file, so that the audit shows a change without showing the
 * contents. */
static void put_digest(struct tide_kyc_settings *s, tide_slice text)
{
    uint8_t hash[TIDE_HMAC_BYTES_MAX];
    static_assert(sizeof s->digest <= TIDE_HASH_BYTES, "a part of the HMAC");
    tide_hmac(TIDE_HMAC_SHA256, hash, tide_slice_of(s->token_key, sizeof s->token_key), text);
    memcpy(s->digest, hash, sizeof s->digest);
}

/* Fills the home domain, and the hosts of providers without any: the sandbox's pages are under
 * publicUrl. */
static void complete_settings(struct tide_kyc_settings *s)
{
    struct tide_kyc_url url;
    bool good = tide_kyc_url_read(&url, tide_slice_str(s->public_url));
    assert(good);
    (void)good;
    static_assert(sizeof s->home_domain >= sizeof url.host, "copied whole");
    if (!*s->home_domain)
        memcpy(s->home_domain, url.host, sizeof url.host);
    for (uint32_t i = 0; i < s->provider_count; i++) {
        struct tide_kyc_provider *p = &s->providers[i];
        if (p->host_count == 0) {
            snprintf(p->hosts[0], sizeof p->hosts[0], "%s", strstr(s->public_url, "://") + 3);
            p->host_count = 1;
        }
    }
}

/* Parses and reads the file. Wipes the JSON tree and the parser's error, which hold secrets. */
static tide_status read_file(struct tide_kyc_settings *s, tide_slice text, struct tide_err *err)
{
    json_error_t error;
    struct tide_members_reader r = { .err = err };
    json_t *root = tide_json_load_private(text, JSON_REJECT_DUPLICATES, &error);
    /* The message does not contain error.text, which may quote a secret of the file. */
    tide_status status =
        root ? tide_read_object(&r, file_members, TIDE_COUNT(file_members), s, root)
        : json_error_code(&error) == json_error_out_of_memory
            ? tide_fail(err, TIDE_E_MEMORY, "out of memory")
            : tide_fail(err, TIDE_E_CONFIG, "line %d: not JSON, or an object with a member twice",
                        error.line);
    tide_sign_wipe(&error, sizeof error);
    tide_json_wipe(root);
    return status;
}

/* Sets the defaults first, then reads the file over them. */
tide_status tide_kyc_settings_parse(struct tide_kyc_settings **out, tide_slice text,
                                    struct tide_err *err)
{
    struct tide_kyc_settings *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    s->attestation_days = 365;
    s->sessions_per_address_day = 5;
    s->sessions_per_hour = 1000;
    s->anonymous_per_hour = 200;
    s->anonymous_per_network_hour = 20;
    s->revocations_per_hour = 20;
    tide_status status = read_file(s, text, err);
    if (!status)
        status = check_names(s, err);
    if (!status)
        status = check_keys(s, err);
    if (status) {
        tide_kyc_settings_release(s);
        return status;
    }
    assert(s->provider_count > 0 && s->provider_count <= TIDE_COUNT(s->providers));
    complete_settings(s);
    put_digest(s, text);
    *out = s;
    return TIDE_OK;
}

/* The buffer held all secrets, so it is wiped before it is released. */
tide_status tide_kyc_settings_load(struct tide_kyc_settings **out, const char *path,
                                   struct tide_err *err)
{
    struct tide_buf text;
    tide_buf_init(&text, FILE_MAX);
    tide_status status = tide_secret_file(&text, path, err);
    if (!status) {
        status = tide_kyc_settings_parse(out, tide_buf_view(&text), err);
        if (status)
            tide_fail_context(err, "%s", path);
        tide_sign_wipe(text.ptr, text.cap);
    }
    tide_buf_release(&text);
    return status;
}

void tide_kyc_settings_release(struct tide_kyc_settings *settings)
{
    if (!settings)
        return;
    tide_sign_close(settings->challenge);
    tide_sign_wipe(settings, sizeof *settings);
    free(settings);
}

/* --- look-ups -------------------------------------------------------------------------------- */

const struct tide_kyc_provider *tide_kyc_provider_of(const struct tide_kyc_settings *settings,
                                                     tide_slice key)
{
    for (uint32_t i = 0; i < settings->provider_count; i++)
        if (tide_slice_eq_str(key, settings->providers[i].key))
            return &settings->providers[i];
    return NULL;
}
