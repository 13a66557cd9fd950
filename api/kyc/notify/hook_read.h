/* Reads the bodies of the webhook routes strictly. Pure. */
#ifndef API_KYC_NOTIFY_HOOK_READ_H
#define API_KYC_NOTIFY_HOOK_READ_H

#include "api/http/route.h"
#include "api/kyc/base/settings.h"
#include "tidemark/buf.h"

#define TIDE_NOTIFY_URL_MAX       1024u
#define TIDE_NOTIFY_ADDRESSES_MAX 200u /* most addresses in one request */
#define TIDE_NOTIFY_LIST_BYTES    (TIDE_NOTIFY_ADDRESSES_MAX * 58u + 3u)

/* The members of a body as texts for SQL; lists are PostgreSQL array literals. "": not given. */
struct tide_notify_body {
    char url[TIDE_NOTIFY_URL_MAX + 1];
    char events[256];
    char enabled[8]; /* "true" or "false" */
    char overlap[16];
    char replaces[16]; /* revision of the secret to replace */
    char add[TIDE_NOTIFY_LIST_BYTES], remove[TIDE_NOTIFY_LIST_BYTES];
};

enum tide_notify_form {
    TIDE_NOTIFY_CREATE,   /* url, events */
    TIDE_NOTIFY_CHANGE,   /* url, events, enabled; each optional */
    TIDE_NOTIFY_ROTATE,   /* overlapSeconds, secretRevision */
    TIDE_NOTIFY_ADDRESSES /* add, remove */
};

/* Returns false if the body has a fault; the reply names each faulty member. */
bool tide_notify_body_read(struct tide_notify_body *out, enum tide_notify_form form,
                           const struct tide_kyc_settings *settings, tide_slice text,
                           struct tide_reply *reply);

/* True if notifications may be sent to url, as far as the text tells: https, port 443 or from 1024,
 * not an address of a private network. The sender checks addresses again after resolving the host
 * name. */
bool tide_notify_url_allowed(const struct tide_kyc_settings *settings, tide_slice url);

#endif
