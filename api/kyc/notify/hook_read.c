/* Reads the bodies of the webhook routes. */
#include "api/kyc/notify/hook_read.h"
#include "api/http/body.h"
#include "tidemark/public_address.h"
#include "tidemark/url.h"

#include <arpa/inet.h>

enum {
    OVERLAP_S_MAX = 30 * 24 * 3600,
    REVISION_MAX = 999999 /* largest revision of a secret that can be replaced */
};

struct reading {
    struct tide_notify_body *out;
    const struct tide_kyc_settings *settings;
    struct tide_body_faults faults;
};

/* --- members ------------------------------------------------------------------------------ */

/* True for hosts that cannot be public: private IPv4 addresses, names without a dot, special
 * domains. A last label that begins with a digit is refused too, because resolvers accept such
 * names as IPv4 addresses. */
static bool is_private_literal(const char *host)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    const char *dot = strrchr(host, '.'), *last = dot ? dot + 1 : host;
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        return !tide_public_address((const struct sockaddr *)&v4);
    return *last == 0 || (*last >= '0' && *last <= '9') || !dot || strcmp(last, "local") == 0 ||
           strcmp(last, "internal") == 0 || strcmp(last, "localhost") == 0;
}

bool tide_notify_url_allowed(const struct tide_kyc_settings *settings, tide_slice url)
{
    struct tide_kyc_url read;
    if (url.len > TIDE_NOTIFY_URL_MAX || !tide_kyc_url_read(&read, url))
        return false;
    /* Ports below 1024 belong to other protocols: mail, name servers, SSH. */
    bool port = read.port == 0 || read.port == 443 || read.port >= 1024;
    return settings->webhook_local ||
           (read.secure && port && !read.local && !is_private_literal(read.host));
}

static void read_url(struct reading *r, const char *where, json_t *value)
{
    tide_slice url = tide_slice_of(json_string_value(value), json_string_length(value));
    if (!json_is_string(value) || !tide_notify_url_allowed(r->settings, url))
        tide_body_reject(
            &r->faults, where,
            "must be https://host/… of at most 1024 characters, with port 443 or from 1024, and"
            " not an address of a private network");
    else
        snprintf(r->out->url, sizeof r->out->url, "%.*s", TIDE_SLICE_FMT(url));
}

static bool is_event(const char *name)
{
    static const char *const names[] = { "kyc.session.updated", "compliance.updated",
                                         "price.stale",         "price.fresh",
                                         "market.listed",       "proposal.queued",
                                         "proposal.executed" };
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Writes the events as an array literal. Refuses unknown and repeated ones. */
static void read_events(struct reading *r, const char *where, json_t *value)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 0, at = 0;
    bool good = count >= 1 && count <= 7;
    for (size_t i = 0; i < count && good; i++) {
        const char *name = json_string_value(json_array_get(value, i));
        good = name && is_event(name);
        for (size_t k = 0; k < i && good; k++)
            good = strcmp(name, json_string_value(json_array_get(value, k))) != 0;
        if (good)
            at += (size_t)snprintf(r->out->events + at, sizeof r->out->events - at, "%c%s",
                                   i ? ',' : '{', name);
    }
    assert(at + 1 < sizeof r->out->events);
    if (good)
        snprintf(r->out->events + at, sizeof r->out->events - at, "}");
    else
        tide_body_reject(&r->faults, where,
                         "must list types of notifications, each once: see /docs");
}

static void read_enabled(struct reading *r, const char *where, json_t *value)
{
    if (!json_is_boolean(value))
        tide_body_reject(&r->faults, where, "must be true or false");
    else
        snprintf(r->out->enabled, sizeof r->out->enabled, "%s",
                 json_is_true(value) ? "true" : "false");
}

static void read_overlap(struct reading *r, const char *where, json_t *value)
{
    json_int_t seconds = json_integer_value(value);
    if (!json_is_integer(value) || seconds < 0 || seconds > OVERLAP_S_MAX)
        tide_body_reject(&r->faults, where, "must be a number of seconds, at most 2592000");
    else
        snprintf(r->out->overlap, sizeof r->out->overlap, "%u seconds", (unsigned)seconds);
}

static void read_revision(struct reading *r, const char *where, json_t *value)
{
    json_int_t revision = json_integer_value(value);
    if (!json_is_integer(value) || revision < 1 || revision > REVISION_MAX)
        tide_body_reject(&r->faults, where, "must be the secretRevision of the secret to replace");
    else
        snprintf(r->out->replaces, sizeof r->out->replaces, "%u", (unsigned)revision);
}

/* Writes the addresses as an array literal. Muxed addresses (M) are refused: only 56 characters
 * fit. */
static void read_addresses(struct reading *r, const char *where, json_t *value, char *out)
{
    size_t count = json_array_size(value), at = 0;
    char why[TIDE_PARAM_WHY] = "must be a list of at most 200 addresses";
    struct tide_param_value who;
    bool good = json_is_array(value) && count <= TIDE_NOTIFY_ADDRESSES_MAX;
    out[at++] = '{';
    for (size_t i = 0; i < count && good; i++) {
        json_t *item = json_array_get(value, i);
        tide_slice text = tide_slice_of(json_string_value(item), json_string_length(item));
        good = json_is_string(item) && text.len == 56 &&
               tide_param_read(&who, TIDE_PARAM_address, text, why);
        if (good)
            at += (size_t)snprintf(out + at, TIDE_NOTIFY_LIST_BYTES - at, "%s%.*s", i ? "," : "",
                                   TIDE_SLICE_FMT(text));
    }
    out[at++] = '}';
    assert(at < TIDE_NOTIFY_LIST_BYTES);
    out[at] = 0;
    if (!good)
        tide_body_reject(&r->faults, where, why);
}

static void read_add(struct reading *r, const char *where, json_t *value)
{
    read_addresses(r, where, value, r->out->add);
}

static void read_remove(struct reading *r, const char *where, json_t *value)
{
    read_addresses(r, where, value, r->out->remove);
}

static const struct member {
    const char *pointer;
    void (*read)(struct reading *r, const char *where, json_t *value);
    unsigned forms; /* bit of each form that allows the member */
    unsigned must;  /* bit of each form that requires the member */
} members[] = {
    { "/url", read_url, 1 << TIDE_NOTIFY_CREATE | 1 << TIDE_NOTIFY_CHANGE,
      1 << TIDE_NOTIFY_CREATE },
    { "/events", read_events, 1 << TIDE_NOTIFY_CREATE | 1 << TIDE_NOTIFY_CHANGE,
      1 << TIDE_NOTIFY_CREATE },
    { "/enabled", read_enabled, 1 << TIDE_NOTIFY_CHANGE, 0 },
    { "/overlapSeconds", read_overlap, 1 << TIDE_NOTIFY_ROTATE, 1 << TIDE_NOTIFY_ROTATE },
    { "/secretRevision", read_revision, 1 << TIDE_NOTIFY_ROTATE, 1 << TIDE_NOTIFY_ROTATE },
    { "/add", read_add, 1 << TIDE_NOTIFY_ADDRESSES, 0 },
    { "/remove", read_remove, 1 << TIDE_NOTIFY_ADDRESSES, 0 },
};

static bool is_known(const char *name, enum tide_notify_form form)
{
    for (size_t i = 0; i < TIDE_COUNT(members); i++)
        if (strcmp(name, members[i].pointer + 1) == 0)
            return members[i].forms >> form & 1;
    return false;
}

/* Reads each member that the form allows, then reports each unknown one. */
static void read_members(struct reading *r, enum tide_notify_form form, json_t *body)
{
    const char *name;
    json_t *value;
    for (size_t i = 0; i < TIDE_COUNT(members); i++) {
        value = json_object_get(body, members[i].pointer + 1);
        if (value && members[i].forms >> form & 1)
            members[i].read(r, members[i].pointer, value);
        else if (!value && members[i].must >> form & 1)
            tide_body_reject(&r->faults, members[i].pointer, "must be given");
    }
    json_object_foreach(body, name, value)
    {
        if (!is_known(name, form))
            tide_body_reject_unknown(&r->faults, name);
    }
}

bool tide_notify_body_read(struct tide_notify_body *out, enum tide_notify_form form,
                           const struct tide_kyc_settings *settings, tide_slice text,
                           struct tide_reply *reply)
{
    struct reading r = { .out = out, .settings = settings, .faults = { .reply = reply } };
    json_t *body = tide_body_object(text, 0, "bad_body", reply);
    if (!body)
        return false;
    read_members(&r, form, body);
    json_decref(body);
    return !r.faults.failed;
}
