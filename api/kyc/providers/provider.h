/* Providers: one adapter each behind one small interface. Their dialects, and nothing of ours.
 *
 * create   one to three calls to the provider, with a deadline; gives the page for the person
 * verify   a webhook: pure, no calls, any bytes; says who it is about, never what was decided
 * fetch    the decision, by our own address built of the file's base URL and the id we stored
 * Country  as the provider gives it, turned into ISO 3166-1 numeric by country.h */
#ifndef API_KYC_PROVIDERS_PROVIDER_H
#define API_KYC_PROVIDERS_PROVIDER_H

#include "api/kyc/base/settings.h"
#include "api/kyc/base/state.h"
#include "tidemark/buf.h"
#include "tidemark/http.h"

#define TIDE_KYC_REF_BYTES  33u   /* base32 of an HMAC, NUL-terminated */
#define TIDE_KYC_ID_BYTES   129u  /* a provider's ids: [A-Za-z0-9_.-]  */
#define TIDE_KYC_LINK_BYTES 2049u /* a page's URL                      */
#define TIDE_KYC_BODY_MAX   (64u << 10)
#define TIDE_KYC_ANSWER_MAX (1u << 20) /* of a provider's API */

enum tide_kyc_mode { TIDE_KYC_REDIRECT, TIDE_KYC_IFRAME, TIDE_KYC_DIRECT };

/* What an adapter's calls are made with. pg is of the sandbox alone, whose API is our database. */
struct tide_kyc_call {
    const struct tide_kyc_settings *settings;
    const struct tide_kyc_provider *provider;
    struct tide_http *http;
    struct tide_pg *pg;
    int64_t now; /* unix seconds */
    bool (*cancelled)(void *self);
    void *self;
};

struct tide_kyc_order {
    const char *ref;        /* the person, to this provider */
    const char *session_id; /* the same in a second try: the provider's idempotency key */
    const char *return_url; /* where the browser comes back to */
    enum tide_kyc_mode mode;
};

struct tide_kyc_page {
    char provider_id[TIDE_KYC_ID_BYTES];
    char url[TIDE_KYC_LINK_BYTES]; /* https and on one of the provider's hosts, or refused */
    int64_t expires_at;            /* unix seconds */
};

/* Header lines of a webhook: the value, and how often it came. */
struct tide_kyc_hook {
    tide_slice body;                                                           /* as it came */
    tide_slice (*header)(void *self, const char *name, uint32_t *occurrences); /* any case */
    void *self;
    int64_t now; /* unix seconds */
};

enum tide_kyc_verdict {
    TIDE_KYC_GENUINE,
    TIDE_KYC_FORGED,     /* 401: no, wrong, repeated or outdated signature        */
    TIDE_KYC_MALFORMED,  /* 400: genuine, and not what the provider documents     */
    TIDE_KYC_IRRELEVANT, /* 200: genuine, of no session (ping, other environment) */
};

struct tide_kyc_event {
    char key[TIDE_KYC_ID_BYTES]; /* the provider's event id, else hex of the body's SHA-256 */
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": it names none */
    char ref[TIDE_KYC_ID_BYTES];         /* "": it names none */
    int64_t occurred_ms;                 /* 0: it says none   */
    uint32_t secret;                     /* index of the secret that verified it */
    const char *why;                     /* of a refusal: a static word for the audit */
};

/* The provider's truth, now. */
struct tide_kyc_decision {
    enum tide_kyc_state state;
    bool doubtful; /* not a verdict about this session: reason says why, state is REVIEW */
    const char
        *reason; /* static word of ours ("country_unknown", "no_country", "level"; of a decline
                    one that may be shown, state.h), or NULL */
    uint32_t jurisdiction;       /* ISO 3166-1 numeric; 0: none known, then state is not APPROVED */
    int64_t decided_ms;          /* the provider's time of it; 0: it says none */
    int64_t valid_until;         /* unix seconds: document's or provider's end; 0: none said */
    char ref[TIDE_KYC_ID_BYTES]; /* who it says it is about, by our reference; "": it says none */
};

struct tide_kyc_adapter {
    const char *type; /* of the file */
    /* TIDE_E_IO: no answer in time, or one that says try again; TIDE_E_DECODE: not what it
     * documents; TIDE_E_CONFIG: our credentials are refused; TIDE_E_STOPPED, _MEMORY, _DB. */
    tide_status (*create)(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                          struct tide_kyc_page *out, struct tide_err *err);
    enum tide_kyc_verdict (*verify)(const struct tide_kyc_provider *provider,
                                    const struct tide_kyc_hook *hook, struct tide_kyc_event *out);
    /* As create; TIDE_E_MISSING: the provider does not know the id any more. */
    tide_status (*fetch)(const struct tide_kyc_call *call, const char *provider_id,
                         struct tide_kyc_decision *out, struct tide_err *err);
};

const struct tide_kyc_adapter *tide_kyc_adapter_of(enum tide_kyc_type type);

/* True for an https URL (http only of this machine) whose host is one of the provider's. */
bool tide_kyc_host_allowed(const struct tide_kyc_provider *provider, const char *url);

#endif
