/* Identity providers: one adapter per provider behind three functions. An adapter knows its
 * provider's API and nothing of sessions or tables.
 *
 * create   one to three calls to the provider, with a deadline; returns the page for the person
 * verify   verifies a webhook of any bytes, without calls (pure). Says whom the webhook is about;
 *          the decision in the webhook is ignored
 * fetch    asks the provider for the decision. The URL is built from baseUrl of the KYC file and
 *          the stored id, never from a webhook
 * Country  the provider's text, turned into ISO 3166-1 numeric by country.h */
#ifndef API_KYC_PROVIDERS_PROVIDER_H
#define API_KYC_PROVIDERS_PROVIDER_H

#include "api/kyc/base/settings.h"
#include "api/kyc/base/state.h"
#include "tidemark/buf.h"
#include "tidemark/http.h"

#define TIDE_KYC_REF_BYTES  33u   /* reference: base32 of an HMAC, NUL-terminated */
#define TIDE_KYC_ID_BYTES   129u  /* a provider's ids: [A-Za-z0-9_.-] */
#define TIDE_KYC_LINK_BYTES 2049u /* URL of a page */
#define TIDE_KYC_BODY_MAX   (64u << 10)

enum tide_kyc_mode { TIDE_KYC_REDIRECT, TIDE_KYC_IFRAME, TIDE_KYC_DIRECT };

/* The resources for an adapter's calls. Only the sandbox uses pg: its API is a table. */
struct tide_kyc_call {
    const struct tide_kyc_settings *settings;
    const struct tide_kyc_provider *provider;
    struct tide_http *http;
    struct tide_pg *pg;
    int64_t now; /* unix seconds */
    bool (*cancelled)(void *self);
    void *self;
};

/* A request for a hosted page. */
struct tide_kyc_order {
    const char *ref;        /* reference of the person at this provider */
    const char *session_id; /* idempotency key: the same when the request is repeated */
    const char *return_url; /* the provider sends the browser back here */
    enum tide_kyc_mode mode;
};

struct tide_kyc_page {
    char provider_id[TIDE_KYC_ID_BYTES];
    /* https and on one of the provider's hosts; others are refused */
    char url[TIDE_KYC_LINK_BYTES];
    int64_t expires_at; /* unix seconds */
    bool known; /* the provider had this person before the order: it may have decided already */
};

/* A received webhook. header returns a header's value and its number of occurrences. */
struct tide_kyc_hook {
    tide_slice body;                                                           /* unchanged bytes */
    tide_slice (*header)(void *self, const char *name, uint32_t *occurrences); /* ignores case */
    void *self;
    int64_t now; /* unix seconds */
};

enum tide_kyc_verdict {
    TIDE_KYC_GENUINE,
    TIDE_KYC_FORGED,     /* 401: signature missing, wrong, repeated or too old */
    TIDE_KYC_MALFORMED,  /* 400: genuine, but not as the provider documents */
    TIDE_KYC_IRRELEVANT, /* 200: genuine, about no session (ping, other environment) */
};

struct tide_kyc_event {
    char key[TIDE_KYC_ID_BYTES]; /* the provider's event id, else the hex SHA-256 of the body */
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": not given */
    char ref[TIDE_KYC_ID_BYTES];         /* "": not given */
    int64_t occurred_ms;                 /* unix; 0: not given */
    uint32_t secret;                     /* index of the secret that verified it */
    const char *why;                     /* static word for the audit; set unless GENUINE */
};

/* The decision that the provider reports now. */
struct tide_kyc_decision {
    enum tide_kyc_state state;
    /* ISO 3166-1 numeric; 0: unknown, and then state is not APPROVED */
    uint32_t jurisdiction;
    /* Static word or NULL: "country_unknown", "no_country", "level"… For a decline a reason that
     * the person may see (state.h). */
    const char *reason;
    int64_t decided_ms; /* time of the decision at the provider; 0: not given */
    /* unix seconds: end of the document or of the provider's verdict; 0: none */
    int64_t valid_until;
    /* Tidemark's reference in the provider's answer; "": none, "?": no reference of Tidemark */
    char ref[TIDE_KYC_ID_BYTES];
    /* true: not usable as a verdict on the session; state is REVIEW and reason says why */
    bool doubtful;
    bool approves; /* doubtful, but the provider approves the person */
};

/* Asks for a page. Repeating the same order returns the same person. TIDE_E_IO: no answer in time,
 * or the provider says retry. TIDE_E_DECODE: not as documented. TIDE_E_CONFIG: the provider refuses
 * the credentials. Also TIDE_E_STOPPED, TIDE_E_MEMORY, TIDE_E_DB. */
tide_status tide_kyc_create(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                            struct tide_kyc_page *out, struct tide_err *err) TIDE_MUST_USE;
enum tide_kyc_verdict tide_kyc_verify(const struct tide_kyc_provider *provider,
                                      const struct tide_kyc_hook *hook, struct tide_kyc_event *out);
/* Asks for the decision. Fails as tide_kyc_create does. TIDE_E_MISSING: the provider no longer
 * knows the id. */
tide_status tide_kyc_fetch(const struct tide_kyc_call *call, const char *provider_id,
                           struct tide_kyc_decision *out, struct tide_err *err) TIDE_MUST_USE;

/* True for an https URL on one of the provider's hosts. http is allowed for this machine only. */
bool tide_kyc_host_allowed(const struct tide_kyc_provider *provider, const char *url);

#endif
