/* Derives secrets of webhooks and signs notifications. */
#include "api/kyc/notify/secret.h"
#include "tidemark/buf.h"
#include "tidemark/text.h"

/* The NULs separate purpose, id and revision, so that no two inputs are the same text. */
static void derive_key(uint8_t out[TIDE_HMAC_BYTES_MAX], const struct tide_kyc_settings *settings,
                       const char *hook, uint32_t revision)
{
    char text[64];
    int len = snprintf(text, sizeof text, "webhook%c%s%c%" PRIu32, 0, hook, 0, revision);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_hmac(TIDE_HMAC_SHA256, out,
              tide_slice_of(settings->webhook_key, sizeof settings->webhook_key),
              tide_slice_of(text, (size_t)len));
}

enum { BASE64_BYTES = (TIDE_HASH_BYTES + 2) / 3 * 4 };
static_assert(6 + BASE64_BYTES + 1 <= TIDE_NOTIFY_SECRET_BYTES, "room for a secret");
static_assert(2 * (3 + BASE64_BYTES) + 1 + 1 <= TIDE_NOTIFY_SIGNATURE_BYTES, "for two signatures");

/* Writes into the caller's memory, so that no lack of memory can make a secret or a signature
 * empty. */
static void put_base64(char *out, const uint8_t digest[TIDE_HASH_BYTES])
{
    struct tide_buf text = { .ptr = (uint8_t *)out, .cap = BASE64_BYTES, .max = BASE64_BYTES };
    tide_buf_base64(&text, tide_slice_of(digest, TIDE_HASH_BYTES));
    assert(!text.failed && text.len == BASE64_BYTES);
    out[BASE64_BYTES] = 0;
}

void tide_notify_secret(char out[TIDE_NOTIFY_SECRET_BYTES],
                        const struct tide_kyc_settings *settings, const char *hook,
                        uint32_t revision)
{
    uint8_t key[TIDE_HMAC_BYTES_MAX];
    derive_key(key, settings, hook, revision);
    memcpy(out, "whsec_", 6);
    put_base64(out + 6, key);
    tide_sign_wipe(key, sizeof key);
}

void tide_notify_blind(char out[2 * TIDE_HASH_BYTES + 1], const struct tide_kyc_settings *settings,
                       const char *hook, const char *address)
{
    uint8_t digest[TIDE_HMAC_BYTES_MAX];
    char text[192];
    int len = snprintf(text, sizeof text, "notification%c%s%c%s", 0, hook, 0, address);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_hmac(TIDE_HMAC_SHA256, digest,
              tide_slice_of(settings->webhook_key, sizeof settings->webhook_key),
              tide_slice_of(text, (size_t)len));
    tide_hex(out, tide_slice_of(digest, TIDE_HASH_BYTES));
    out[2 * TIDE_HASH_BYTES] = 0;
}

void tide_notify_id(char out[TIDE_KYC_SESSION_BYTES], const struct tide_kyc_settings *settings,
                    const char *integrator, tide_slice idempotency)
{
    uint8_t request_hash[TIDE_HASH_BYTES], digest[TIDE_HMAC_BYTES_MAX];
    struct tide_sha256 sha;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(integrator, strlen(integrator) + 1));
    tide_sha256_update(&sha, idempotency);
    tide_sha256_final(&sha, request_hash);
    tide_hmac(TIDE_HMAC_SHA256, digest,
              tide_slice_of(settings->webhook_key, sizeof settings->webhook_key),
              tide_slice_of(request_hash, sizeof request_hash));
    tide_hex(out, tide_slice_of(digest, (TIDE_KYC_SESSION_BYTES - 1) / 2));
    out[TIDE_KYC_SESSION_BYTES - 1] = 0;
}

/* During an overlap there are two signatures, the current secret's first. Receivers accept
 * either. */
bool tide_notify_sign(char out[TIDE_NOTIFY_SIGNATURE_BYTES],
                      const struct tide_kyc_settings *settings,
                      const struct tide_notify_message *message)
{
    struct tide_buf signed_text;
    uint8_t key[TIDE_HMAC_BYTES_MAX], digest[TIDE_HMAC_BYTES_MAX];
    char *at = out;
    *out = 0;
    tide_buf_init(&signed_text, message->body.len + 128);
    tide_buf_putf(&signed_text, "%s.%" PRId64 ".", message->id, message->at);
    tide_buf_slice(&signed_text, message->body);
    bool signs = !signed_text.failed;
    for (uint32_t back = 0; signs && back <= (uint32_t)message->previous; back++) {
        derive_key(key, settings, message->hook, message->revision - back);
        tide_hmac(TIDE_HMAC_SHA256, digest, tide_slice_of(key, TIDE_HASH_BYTES),
                  tide_buf_view(&signed_text));
        memcpy(at, back ? " v1," : "v1,", back ? 4 : 3);
        at += back ? 4 : 3;
        put_base64(at, digest);
        at += strlen(at);
    }
    tide_sign_wipe(key, sizeof key);
    tide_buf_release(&signed_text);
    return signs;
}
