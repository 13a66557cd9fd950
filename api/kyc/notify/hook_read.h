/* Requests of the routes of webhooks to partners, read strictly. Pure. */
#ifndef API_KYC_NOTIFY_HOOK_READ_H
#define API_KYC_NOTIFY_HOOK_READ_H

#include "api/http/route.h"
#include "api/kyc/base/settings.h"
#include "tidemark/buf.h"

#define TIDE_NOTIFY_URL_MAX       1024u
#define TIDE_NOTIFY_ADDRESSES_MAX 200u     /* of one request */
#define TIDE_NOTIFY_OVERLAP_MAX   2592000u /* seconds */
#define TIDE_NOTIFY_REVISION_MAX  999999u  /* of a secret that is to be replaced */
#define TIDE_NOTIFY_LIST_BYTES    (TIDE_NOTIFY_ADDRESSES_MAX * 58u + 3u)

/* What a body says; lists are array literals of PostgreSQL. "": not given. */
struct tide_notify_body {
    char url[TIDE_NOTIFY_URL_MAX + 1];
    char events[256];
    char enabled[8]; /* "true", "false" */
    char overlap[16];
    char replaces[16]; /* revision of a secret */
    char add[TIDE_NOTIFY_LIST_BYTES], remove[TIDE_NOTIFY_LIST_BYTES];
};

enum tide_notify_form {
    TIDE_NOTIFY_CREATE,   /* url, events                          */
    TIDE_NOTIFY_CHANGE,   /* url, events, enabled: one or several */
    TIDE_NOTIFY_ROTATE,   /* overlapSeconds, secretRevision       */
    TIDE_NOTIFY_ADDRESSES /* add, remove                          */
};

/* False: the reply names each member that is wrong. */
bool tide_notify_body_read(struct tide_notify_body *out, enum tide_notify_form form,
                           const struct tide_kyc_settings *settings, tide_slice text,
                           struct tide_reply *reply);

/* Whether notifications may go there as far as the text tells: https, port 443 or from 1024, and no
 * address of a private network. Names are checked when they are resolved. */
bool tide_notify_url_allowed(const struct tide_kyc_settings *settings, tide_slice url);

#endif
