/* Any bytes as a webhook of any provider. The first byte chooses the provider and whether the
 * target signs the body as that provider does, so that the fuzzer reaches the code behind the
 * signature. Three header lines follow, the rest is the body. The reader must reject every webhook
 * without a right signature. */
#include "api/kyc/providers/provider.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/api/kyc/kyc_settings.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"

#include <stdlib.h>
#include <strings.h>

enum { NOW = 1780000000, SIGNED = 8, HEADERS = 3 };

static const char *const secrets[TIDE_KYC_TYPE_COUNT] = {
    [TIDE_KYC_SANDBOX] = "sandbox-webhook", [TIDE_KYC_SUMSUB] = "sumsub-webhook",
    [TIDE_KYC_PERSONA] = "wbhsec_persona",  [TIDE_KYC_VERIFF] = "veriff-shared",
    [TIDE_KYC_DIDIT] = "didit-webhook",
};
static const char *const names[TIDE_KYC_TYPE_COUNT][HEADERS] = {
    [TIDE_KYC_SANDBOX] = { "X-Sandbox-Signature", "", "" },
    [TIDE_KYC_SUMSUB] = { "X-Payload-Digest", "X-Payload-Digest-Alg", "" },
    [TIDE_KYC_PERSONA] = { "Persona-Signature", "", "" },
    [TIDE_KYC_VERIFF] = { "X-HMAC-SIGNATURE", "X-AUTH-CLIENT", "" },
    [TIDE_KYC_DIDIT] = { "X-Signature", "X-Timestamp", "" },
};

struct input {
    const struct tide_kyc_provider *provider;
    tide_slice headers[HEADERS], body;
    char made[HEADERS][160];
};

static tide_slice header(void *self, const char *name, uint32_t *occurrences)
{
    struct input *in = self;
    *occurrences = 0;
    for (size_t i = 0; i < HEADERS; i++) {
        if (strcasecmp(names[in->provider->type][i], name) == 0) {
            *occurrences = 1;
            return in->headers[i];
        }
    }
    return (tide_slice){ 0 };
}

static void sign(struct input *in)
{
    enum tide_kyc_type type = in->provider->type;
    bool timed = type == TIDE_KYC_PERSONA || type == TIDE_KYC_SANDBOX;
    static const char before[] = "1780000000.";
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    char hex[65];
    size_t skip = timed ? sizeof before - 1 : 0;
    uint8_t *message = malloc(skip + in->body.len + 1);
    if (!message)
        return;
    memcpy(message, before, skip);
    if (in->body.len)
        memcpy(message + skip, in->body.ptr, in->body.len);
    tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_str(secrets[type]),
              tide_slice_of(message, skip + in->body.len));
    free(message);
    tide_hex(hex, tide_slice_of(mac, 32));
    snprintf(in->made[0], sizeof in->made[0], "%s%.64s",
             type == TIDE_KYC_PERSONA ? "t=1780000000,v1=" : "", hex);
    snprintf(in->made[1], sizeof in->made[1], "%s",
             type == TIDE_KYC_SUMSUB   ? "HMAC_SHA256_HEX"
             : type == TIDE_KYC_VERIFF ? "veriff-key"
                                       : "1780000000");
    for (size_t i = 0; i < HEADERS; i++)
        in->headers[i] = tide_slice_str(in->made[i]);
}

static bool is_id(const char *id)
{
    return strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
               strlen(id) &&
           strcmp(id, ".") != 0 && strcmp(id, "..") != 0;
}

static void look_at(enum tide_kyc_verdict verdict, const struct tide_kyc_event *event)
{
    if (verdict != TIDE_KYC_GENUINE)
        assert(event->why && *event->why);
    if (verdict == TIDE_KYC_GENUINE)
        assert(*event->key && (*event->provider_id || *event->ref));
    if (verdict == TIDE_KYC_FORGED)
        assert(!*event->provider_id && !*event->ref);
    assert(is_id(event->provider_id) && is_id(event->ref) && is_id(event->key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tide_kyc_settings *settings;
    struct tide_err err;
    if (!settings && tide_kyc_settings_parse(&settings, TIDE_SLICE(KYC_FILE), &err))
        abort();
    if (size == 0)
        return 0;
    struct input in = { .provider = &settings->providers[(data[0] & 7) % TIDE_KYC_TYPE_COUNT] };
    size_t at = 1;
    for (size_t i = 0; i < HEADERS && at < size; i++) {
        const uint8_t *line = memchr(data + at, '\n', size - at);
        size_t end = line ? (size_t)(line - data) : size;
        in.headers[i] = tide_slice_of(data + at, end - at);
        at = end + 1;
    }
    in.body = at < size ? tide_slice_of(data + at, size - at) : (tide_slice){ 0 };
    if (data[0] & SIGNED)
        sign(&in);
    const struct tide_kyc_hook hook = {
        .body = in.body, .header = header, .self = &in, .now = NOW
    };
    struct tide_kyc_event event = { 0 };
    enum tide_kyc_verdict verdict = tide_kyc_verify(in.provider, &hook, &event);
    look_at(verdict, &event);
    return 0;
}
