/* The KYC pages: documents of api/web, filled with a session's data, and the rules for framing
 * them.
 *
 * Data     {{data}} in a document is replaced by the page's JSON, {{brand}} by the JSON of colours
 *          and logo, {{key}} by a text in the visitor's language (text.h). Each value is written as
 *          escaped text. No page needs an inline script, and no value is ever executed.
 * Frames   the embedded page may be framed by the origins that the session's integrator registered.
 *          Pages inside it (the return, the sandbox) may be framed by these origins and by this
 *          server. Other pages may not be framed. The integrator follows from the token, never from
 *          headers of the request.
 * Verdicts none: a page shows answers of the API. The URL of the page decides nothing. */
#ifndef API_KYC_PAGES_PAGE_H
#define API_KYC_PAGES_PAGE_H

#include "api/kyc/base/handler.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/pages/text.h"
#include "api/kyc/sessions/session_store.h"

enum tide_kyc_framing {
    TIDE_KYC_FRAMED_NEVER,
    TIDE_KYC_FRAMED_BY_THEM, /* the integrator's origins may frame the page */
    TIDE_KYC_FRAMED_BY_BOTH, /* these origins may, and this server's page inside them */
};

/* The settings, keys and texts for one request. The parameter lang gives the language, else the
 * header Accept-Language. request NULL: it could not be read, so the page is in the default
 * language. */
struct tide_kyc_visit {
    const struct tide_kyc_settings *settings;
    struct tide_kyc_keys *keys;
    const struct tide_kyc_words *words;
};
struct tide_kyc_visit tide_kyc_visit_of(const struct tide_kyc *kyc,
                                        const struct tide_request *request);

struct tide_kyc_sheet {
    const char *document; /* path for tide_static_file_of */
    tide_slice data;      /* JSON for {{data}} */
    struct tide_kyc_visit visit;
    /* integrator of the session; set by tide_kyc_page */
    const struct tide_kyc_integrator *integrator;
    const struct tide_kyc_session *session; /* NULL: a page without a session, never framed */
    enum tide_kyc_framing framing;
    bool form; /* the page posts a form to this server */
};

/* Writes the page and its security headers. Keeps the reply's status. The headers allow the page to
 * contact this server and the session's provider only. */
void tide_kyc_page(struct tide_reply *reply, const struct tide_kyc_sheet *of);
/* Writes the page for an invalid link, with that status. */
void tide_kyc_page_gone(struct tide_reply *reply, struct tide_kyc_visit visit, uint16_t status);
/* Replaces the reply by a 503 page: the provider has no page for this session now; the visitor
 * retries. */
void tide_kyc_page_away(struct tide_reply *reply, struct tide_kyc_visit visit,
                        const struct tide_kyc_session *session);
/* Writes the page of a session. returned: the browser came back from the provider. */
void tide_kyc_page_session(struct tide_reply *reply, struct tide_kyc_visit visit,
                           const struct tide_kyc_session *session, enum tide_kyc_framing framing,
                           bool returned);

#endif
