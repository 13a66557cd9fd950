/* Pages of KYC, for people: documents of api/web with what they are about written into them, and
 * who may frame them.
 *
 * Data     {{data}} in a document is replaced by the page's JSON, {{brand}} by that of colours and
 *          logo, {{key}} by a text in the visitor's language (text.h). All of it is put there as
 *          text, so that no page needs a script of its own and nothing of a session is ever run
 * Frames   the page that is made to be embedded may be framed by the origins that the session's
 *          integrator registered, each by its name; what stands inside of it (the way back, the
 *          sandbox) by these and by ourselves; everything else by none. Taken from the file by
 *          way of the token, never from what a request says of itself.
 * Verdicts none: a page shows what our API answers; the address it was called by decides nothing */
#ifndef API_KYC_PAGES_PAGE_H
#define API_KYC_PAGES_PAGE_H

#include "api/kyc/base/handler.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/pages/text.h"
#include "api/kyc/sessions/session_store.h"

#define TIDE_KYC_PAGE_DATA_MAX 16384u

enum tide_kyc_framing {
    TIDE_KYC_FRAMED_NEVER,
    TIDE_KYC_FRAMED_BY_THEM, /* the integrator's origins              */
    TIDE_KYC_FRAMED_BY_BOTH, /* these, and a page of ours within them */
};

/* A request for a page: the parameter lang, or else the header Accept-Language, gives the language.
 * request NULL: it could not be read, so the page is in the default language. */
struct tide_kyc_visit {
    const struct tide_kyc_settings *settings;
    struct tide_kyc_keys *keys;
    const struct tide_kyc_words *words;
};
struct tide_kyc_visit tide_kyc_visit_of(const struct tide_kyc *kyc,
                                        const struct tide_request *request);

struct tide_kyc_sheet {
    const char *document; /* the path that names it: tide_static_file_of */
    tide_slice data;      /* JSON */
    struct tide_kyc_visit visit;
    const struct tide_kyc_integrator *integrator; /* the session's; filled by tide_kyc_page */
    const struct tide_kyc_session *session;       /* NULL: about none, and never framed */
    enum tide_kyc_framing framing;
    bool form; /* it sends a form to where it came from */
};

/* Status as it stands. The headers leave no word to any other host but the session's provider's. */
void tide_kyc_page(struct tide_reply *reply, const struct tide_kyc_sheet *sheet);
/* The page that says: this link is no good; with that status. */
void tide_kyc_page_gone(struct tide_reply *reply, struct tide_kyc_visit visit, uint16_t status);
/* 503: the provider has no page for this session just now; to be tried again. */
void tide_kyc_page_away(struct tide_reply *reply, struct tide_kyc_visit visit,
                        const struct tide_kyc_session *session);
/* The page of a session; returned: the browser came back from the provider. */
void tide_kyc_page_session(struct tide_reply *reply, struct tide_kyc_visit visit,
                           const struct tide_kyc_session *session, enum tide_kyc_framing framing,
                           bool returned);

#endif
