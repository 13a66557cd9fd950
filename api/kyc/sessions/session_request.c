/* Reads the body and the headers of a request for a session. */
#include "api/kyc/sessions/session_request.h"
#include "api/http/body.h"
#include "api/http/param.h"
#include "api/kyc/sessions/session_store.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

struct reading {
    struct tide_kyc_session_request *out;
    const struct tide_kyc_settings *settings;
    struct tide_kyc_keys *keys;
    struct tide_body_faults faults;
};

/* --- members ---------------------------------------------------------------------------- */

static void read_address(struct reading *r, tide_slice text)
{
    struct tide_kyc_session_request *out = r->out;
    struct tide_param_value who;
    char why[TIDE_PARAM_WHY];
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (!tide_param_read(&who, TIDE_PARAM_address, text, why)) {
        tide_body_reject(&r->faults, "/address", why);
        return;
    }
    if (tide_strkey_decode(&kind, payload, &len, text) != TIDE_OK || len != sizeof out->key ||
        text.len >= sizeof out->address) {
        tide_body_reject(&r->faults, "/address", "must be an account (G) or a contract (C)");
        return;
    }
    memcpy(out->address, text.ptr, text.len);
    memcpy(out->key, payload, sizeof out->key);
    out->contract = kind == TIDE_STRKEY_CONTRACT;
}

static void read_provider(struct reading *r, tide_slice text)
{
    r->out->provider = tide_kyc_provider_of(r->settings, text);
    if (!r->out->provider)
        tide_body_reject(&r->faults, "/providerKey",
                         "must be the key of a provider: see /api/sdk/kyc/providers");
}

static void read_mode(struct reading *r, tide_slice text)
{
    if (!tide_kyc_mode_of(text, &r->out->mode))
        tide_body_reject(&r->faults, "/mode", "must be redirect, iframe or direct");
}

static void read_challenge(struct reading *r, tide_slice text)
{
    struct tide_buf raw;
    static_assert(sizeof r->out->envelope >= TIDE_KYC_ENVELOPE_MAX, "raw fits");
    tide_buf_init(&raw, TIDE_KYC_ENVELOPE_MAX);
    if (tide_buf_base64_decode(&raw, text) != TIDE_OK || raw.len == 0)
        tide_body_reject(&r->faults, "/challenge",
                         "must be base64 of a transaction envelope of at most 2048 bytes");
    else
        memcpy(r->out->envelope, raw.ptr, raw.len);
    assert(raw.len <= sizeof r->out->envelope);
    r->out->envelope_len = raw.len;
    tide_buf_release(&raw);
}

static const struct member {
    const char *pointer;
    void (*read)(struct reading *r, tide_slice text);
    bool optional;
} members[] = {
    { "/address", read_address, false },
    { "/providerKey", read_provider, false },
    { "/mode", read_mode, false },
    { "/challenge", read_challenge, true },
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < TIDE_COUNT(members); i++)
        if (strcmp(name, members[i].pointer + 1) == 0)
            return true;
    return false;
}

/* Reads each known member, then reports each unknown one. */
static void read_members(struct reading *r, json_t *body)
{
    const char *name;
    json_t *value;
    for (size_t i = 0; i < TIDE_COUNT(members); i++) {
        assert(members[i].pointer[0] == '/');
        value = json_object_get(body, members[i].pointer + 1);
        if (!value && !members[i].optional)
            tide_body_reject(&r->faults, members[i].pointer, "must be given");
        else if (value && !json_is_string(value))
            tide_body_reject(&r->faults, members[i].pointer, "must be a string");
        else if (value)
            members[i].read(r, tide_slice_of(json_string_value(value), json_string_length(value)));
    }
    json_object_foreach(body, name, value)
    {
        if (!is_known(name))
            tide_body_reject_unknown(&r->faults, name);
    }
}

static bool read_body(struct reading *r, tide_slice text)
{
    json_t *body = tide_body_object(text, 0, "bad_body", r->faults.reply);
    if (!body)
        return false;
    read_members(r, body);
    json_decref(body);
    return !r->faults.failed;
}

/* --- the client -------------------------------------------------------------------------- */

static bool reject_request(struct tide_reply *reply, const char *code, const char *detail)
{
    tide_reply_problem(reply, 401, code, "%s", detail);
    return false;
}

/* Looks up the integrator of the key. The HTTP server has already checked the key's networks, scope
 * and rate; the key may have been revoked since. */
static bool read_key(struct reading *r, tide_slice key)
{
    struct tide_kyc_key_use use;
    struct tide_kyc_integrator integrator;
    enum tide_kyc_key_verdict verdict = tide_kyc_keys_check(r->keys, &use, key, NULL);
    if (verdict == TIDE_KYC_KEY_AWAY) {
        tide_reply_problem(r->faults.reply, 503, "key_unchecked",
                           "The key cannot be checked now: the database is unreachable.");
        r->faults.reply->retry_after_s = 5;
        return false;
    }
    if (verdict != TIDE_KYC_KEY_GOOD ||
        !tide_kyc_keys_integrator(r->keys, &integrator, tide_slice_str(use.integrator)))
        return reject_request(r->faults.reply, "key_unknown",
                              "No active integrator has this X-API-Key.");
    static_assert(sizeof r->out->integrator == sizeof integrator.id, "copied whole");
    memcpy(r->out->integrator, integrator.id, sizeof r->out->integrator);
    r->out->sessions_per_hour = integrator.sessions_per_hour;
    return true;
}

/* Requires a key or a challenge, unless the KYC file says open. */
static bool read_requester(struct reading *r, const struct tide_request *request)
{
    struct tide_kyc_session_request *out = r->out;
    uint32_t times;
    tide_slice key = tide_request_header(request, "X-API-Key", &times);
    if (times)
        return read_key(r, key);
    if (out->contract && !r->settings->open)
        return reject_request(
            r->faults.reply, "key_required",
            "A contract cannot sign a challenge: an integrator must open its session.");
    return out->envelope_len || r->settings->open ||
           reject_request(
               r->faults.reply, "proof_required",
               "Send an integrator's X-API-Key, or a challenge that the address has signed:"
               " see /api/sdk/kyc/challenge/{address}.");
}

/* Stores the hash of client and key, because two clients may choose the same key. */
static bool read_idempotency(struct reading *r, const struct tide_request *request)
{
    struct tide_kyc_session_request *out = r->out;
    struct tide_sha256 sha;
    tide_slice key;
    if (!tide_kyc_idempotency_read(&key, request, r->faults.reply))
        return false;
    const char *client = out->integrator[0] ? out->integrator : out->address;
    assert(client[0]); /* else all clients would share their keys */
    out->keyed = key.ptr != NULL;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(client, strlen(client) + 1));
    tide_sha256_update(&sha, key);
    tide_sha256_final(&sha, out->idempotency);
    return true;
}

/* Stores the client's network as a keyed hash. The address itself is never stored. */
static void read_network(struct reading *r, const struct tide_request *request)
{
    static const uint8_t v4[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    enum { V4_BYTES = 15, V6_BYTES = 6 }; /* bytes of ::ffff:a.b.c.0/24 and of an IPv6 /48 */
    static const char word[] = "network";
    const uint8_t *ip = request->client.ip;
    uint8_t text[sizeof word + 16] = { 0 }, digest[TIDE_HMAC_BYTES_MAX];
    static_assert(V4_BYTES <= sizeof text - sizeof word && V4_BYTES <= sizeof request->client.ip,
                  "a part of the address");
    static_assert(V6_BYTES < V4_BYTES && sizeof v4 < V4_BYTES, "a part of the address");
    static_assert(sizeof r->out->network <= TIDE_HASH_BYTES, "a part of the HMAC");
    memcpy(text, word, sizeof word);
    memcpy(text + sizeof word, ip, memcmp(ip, v4, sizeof v4) == 0 ? V4_BYTES : V6_BYTES);
    tide_hmac(TIDE_HMAC_SHA256, digest,
              tide_slice_of(r->settings->token_key, sizeof r->settings->token_key),
              tide_slice_of(text, sizeof text));
    memcpy(r->out->network, digest, sizeof r->out->network);
}

bool tide_kyc_session_request_read(struct tide_kyc_session_request *out, const struct tide_kyc *kyc,
                                   const struct tide_request *request, struct tide_reply *reply)
{
    struct reading r = {
        .out = out, .settings = kyc->settings, .keys = kyc->keys, .faults = { .reply = reply }
    };
    *out = (struct tide_kyc_session_request){ 0 };
    read_network(&r, request);
    return read_body(&r, request->body) && read_requester(&r, request) &&
           read_idempotency(&r, request);
}
