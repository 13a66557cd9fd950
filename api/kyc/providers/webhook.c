/* Helpers for webhooks and JSON that all adapters share. Pure. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

enum tide_kyc_verdict tide_kyc_malformed(struct tide_kyc_event *out, const char *why)
{
    out->why = why;
    return TIDE_KYC_MALFORMED;
}

enum tide_kyc_verdict tide_kyc_irrelevant(struct tide_kyc_event *out, const char *why)
{
    assert(why);
    out->why = why;
    return TIDE_KYC_IRRELEVANT;
}

bool tide_kyc_header(const struct tide_kyc_hook *hook, const char *name, tide_slice *out)
{
    uint32_t occurrences = 0;
    *out = hook->header(hook->self, name, &occurrences);
    return occurrences == 1 && out->len > 0;
}

/* Compares in constant time. */
static bool secret_matches(const char *secret, struct tide_kyc_signed what, tide_slice message,
                           const uint8_t *got, size_t len)
{
    uint8_t want[TIDE_HMAC_BYTES_MAX];
    size_t made = tide_hmac(what.algorithm, want, tide_slice_str(secret), message);
    return made == len && tide_same_secret(want, got, len);
}

/* Decodes the hex first, so that upper and lower case are equal. A secret that has ended is
 * computed too, and then ignored. */
bool tide_kyc_signature(const struct tide_kyc_provider *provider, const struct tide_kyc_hook *hook,
                        struct tide_kyc_signed what, tide_slice hex, uint32_t *secret)
{
    static const size_t lens[] = {
        [TIDE_HMAC_SHA1] = 20, [TIDE_HMAC_SHA256] = 32, [TIDE_HMAC_SHA512] = 64
    };
    static_assert(TIDE_COUNT(lens) == TIDE_HMAC_SHA512 + 1, "a length for each algorithm");
    uint8_t got[TIDE_HMAC_BYTES_MAX];
    assert(what.algorithm < TIDE_COUNT(lens) && lens[what.algorithm] <= sizeof got);
    size_t len = lens[what.algorithm];
    if (tide_hex_decode(got, len, hex) != TIDE_OK)
        return false;
    struct tide_buf joined;
    tide_slice message = hook->body;
    tide_buf_init(&joined, what.before.len + hook->body.len + 1);
    if (what.before.len) {
        tide_buf_slice(&joined, what.before);
        tide_buf_slice(&joined, hook->body);
        message = tide_buf_view(&joined);
    }
    assert(provider->secret_count <= TIDE_COUNT(provider->secrets));
    bool found = false;
    for (uint32_t i = 0; i < provider->secret_count && !joined.failed; i++) {
        const struct tide_kyc_secret *one = &provider->secrets[i];
        bool good = one->not_after == 0 || hook->now <= one->not_after;
        if (secret_matches(one->text, what, message, got, len) && good && !found) {
            found = true;
            *secret = i;
        }
    }
    tide_buf_release(&joined);
    return found;
}

bool tide_kyc_is_near(int64_t then, int64_t now)
{
    return then >= now - TIDE_KYC_CLOCK_S && then <= now + TIDE_KYC_CLOCK_S;
}

json_t *tide_kyc_hook_json(const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    uint8_t hash[TIDE_HASH_BYTES];
    json_error_t error;
    static_assert(sizeof out->key > 2 * sizeof hash, "the hash in hex fits");
    tide_sha256(hash, hook->body);
    tide_hex(out->key, tide_slice_of(hash, sizeof hash));
    out->key[2 * sizeof hash] = '\0';
    json_t *root = tide_json_load_private(hook->body, JSON_REJECT_DUPLICATES, &error);
    tide_sign_wipe(&error, sizeof error); /* the error may quote the body */
    if (json_is_object(root))
        return root;
    tide_json_wipe(root);
    return NULL;
}

/* "." and ".." are refused because an id becomes part of a URL's path. */
bool tide_kyc_take_id(char out[TIDE_KYC_ID_BYTES], const json_t *value)
{
    *out = '\0';
    if (!json_is_string(value) || json_string_length(value) == 0)
        return true;
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    bool good = len < TIDE_KYC_ID_BYTES && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
    for (size_t i = 0; i < len && good; i++)
        good = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
               (text[i] >= '0' && text[i] <= '9') || strchr("_.-", text[i]);
    if (!good)
        return false;
    memcpy(out, text, len + 1);
    return true;
}

static bool is_none(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_string(value) && !json_string_length(value));
}

/* True for a text in the form of Tidemark's references (tide_kyc_reference). References of other
 * applications at the same account are any text, often an email address. */
static bool is_reference(const json_t *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    size_t len = json_is_string(value) ? json_string_length(value) : 0;
    return len == TIDE_KYC_REF_BYTES - 1 && strspn(json_string_value(value), digits) == len;
}

/* An id that cannot be one matters only if the webhook may be about a person of Tidemark. */
enum tide_kyc_verdict tide_kyc_concerns(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_named *named,
                                        struct tide_kyc_event *out)
{
    if (tide_kyc_is_elsewhere(provider->type, provider->live, named->root))
        return tide_kyc_irrelevant(out, "environment");
    if (!is_none(named->ref) && !is_reference(named->ref))
        return tide_kyc_irrelevant(out, "other_person");
    if (!tide_kyc_take_id(out->provider_id, named->provider_id) ||
        !tide_kyc_take_id(out->ref, named->ref))
        return tide_kyc_malformed(out, "id");
    return *out->provider_id || *out->ref ? TIDE_KYC_GENUINE
                                          : tide_kyc_irrelevant(out, "no_reference");
}

/* --- JSON --------------------------------------------------------------------------------- */

json_t *tide_kyc_at(json_t *root, const char *path)
{
    while (*path && root) {
        char name[64];
        size_t len = strcspn(path, ".");
        assert(len < sizeof name);
        memcpy(name, path, len);
        name[len] = '\0';
        root = json_is_array(root) ? json_array_get(root, (size_t)(name[0] - '0'))
                                   : json_object_get(root, name);
        path += len + (path[len] == '.');
    }
    return root;
}

tide_slice tide_kyc_text_at(json_t *root, const char *path)
{
    const json_t *value = tide_kyc_at(root, path);
    const char *text = json_string_value(value);
    return text ? tide_slice_of(text, json_string_length(value)) : (tide_slice){ 0 };
}

tide_slice tide_kyc_country_at(json_t *root, const char *path)
{
    const json_t *value = tide_kyc_at(root, path);
    bool other = value && !json_is_null(value) && !json_is_string(value);
    return other ? TIDE_SLICE("?") : tide_kyc_text_at(root, path);
}

tide_slice tide_kyc_country_each(json_t *documents, const char *member)
{
    tide_slice first = { 0 };
    for (size_t i = 0; i < json_array_size(documents); i++) {
        tide_slice one = tide_kyc_country_at(json_array_get(documents, i), member);
        if (first.len && one.len && !tide_slice_eq(first, one))
            return TIDE_SLICE("?");
        first = first.len ? first : one;
    }
    return first;
}

/* Rewrites the text as RFC 3339 for tide_time_parse: date, "T", time without fraction, zone with a
 * colon. */
int64_t tide_kyc_ms(tide_slice text)
{
    char plain[32];
    uint32_t ms = 0, unit = 100;
    int64_t seconds;
    if (text.len < 19 || (text.ptr[10] != 'T' && text.ptr[10] != ' '))
        return 0;
    tide_slice zone = tide_slice_of(text.ptr + 19, text.len - 19);
    if (zone.len && zone.ptr[0] == '.') {
        size_t i = 1;
        for (; i < zone.len && zone.ptr[i] >= '0' && zone.ptr[i] <= '9'; i++, unit /= 10)
            ms += unit * (uint32_t)(zone.ptr[i] - '0');
        zone = tide_slice_of(zone.ptr + i, zone.len - i);
    }
    if (zone.len == 0)
        zone = TIDE_SLICE("Z");
    bool colon = zone.len != 5; /* "+0000" */
    snprintf(plain, sizeof plain, "%.10sT%.8s%.*s%s%.*s", (const char *)text.ptr,
             (const char *)text.ptr + 11, (int)(colon ? zone.len : 3), (const char *)zone.ptr,
             colon ? "" : ":", colon ? 0 : 2, (const char *)zone.ptr + (colon ? 0 : 3));
    if (zone.len > 6 || tide_time_parse(&seconds, tide_slice_str(plain)) != TIDE_OK || seconds <= 0)
        return 0;
    return seconds * 1000 + ms;
}

int64_t tide_kyc_day_end(tide_slice text)
{
    char midnight[32];
    int64_t seconds;
    if (text.len != 10)
        return 0;
    snprintf(midnight, sizeof midnight, "%.10sT00:00:00Z", (const char *)text.ptr);
    if (tide_time_parse(&seconds, tide_slice_str(midnight)) != TIDE_OK || seconds <= 0)
        return 0;
    return seconds + 86400;
}
