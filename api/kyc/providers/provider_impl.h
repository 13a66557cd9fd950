/* What the adapters share: signatures of webhooks, members of JSON, calls to a provider's API. */
#ifndef API_KYC_PROVIDERS_PROVIDER_IMPL_H
#define API_KYC_PROVIDERS_PROVIDER_IMPL_H

#include "api/kyc/providers/provider.h"
#include "schema/base/json_read.h"
#include "tidemark/buf.h"

extern const struct tide_kyc_adapter tide_kyc_sandbox, tide_kyc_sumsub, tide_kyc_persona,
    tide_kyc_veriff, tide_kyc_didit;

enum { TIDE_KYC_CLOCK_S = 300 }; /* a signed time may differ from ours by so much */

/* --- webhooks ----------------------------------------------------------------------------- */

/* verify's refusals: out->why is set. */
enum tide_kyc_verdict tide_kyc_forged(struct tide_kyc_event *out, const char *why);
enum tide_kyc_verdict tide_kyc_malformed(struct tide_kyc_event *out, const char *why);
enum tide_kyc_verdict tide_kyc_irrelevant(struct tide_kyc_event *out, const char *why);

/* The one header line of that name; false when there is none, an empty one, or more than one. */
bool tide_kyc_header(const struct tide_kyc_hook *hook, const char *name, tide_slice *out);

/* What was signed: before, then the body. */
struct tide_kyc_signed {
    enum tide_hmac algorithm;
    tide_slice before; /* "": the body alone */
};
/* True when hex (any case) is the HMAC by one of the secrets that are still good; *secret says by
 * which. All of them are tried, whichever it is. */
bool tide_kyc_signature(const struct tide_kyc_provider *provider, const struct tide_kyc_hook *hook,
                        struct tide_kyc_signed what, tide_slice hex, uint32_t *secret);
bool tide_kyc_is_near(int64_t then, int64_t now);

/* The body as JSON, private; NULL when it is none. The event's key is its hash until the adapter
 * knows better. */
json_t *tide_kyc_hook_json(const struct tide_kyc_hook *hook, struct tide_kyc_event *out);

/* A provider's id of [A-Za-z0-9_.-] into out, which is "" afterwards when it is no string or not
 * one of those: false only in the last case. */
bool tide_kyc_take_id(char out[TIDE_KYC_ID_BYTES], const json_t *value);

/* --- JSON --------------------------------------------------------------------------------- */

/* The value at "a.b.0.c"; NULL where there is none. */
json_t *tide_kyc_at(json_t *root, const char *path);
tide_slice tide_kyc_text_at(json_t *root, const char *path); /* "" where there is no text */
/* Unix milliseconds of an RFC 3339 time; also "2026-01-31 10:11:12+0000", and without a zone, which
 * is UTC then. 0: it is none. */
int64_t tide_kyc_ms(tide_slice text);
/* A country as it is written: "" where none is stated (absent, null, ""); "?", which is no country,
 * where something else than a text is: another member does not stand in for that. */
tide_slice tide_kyc_country_at(json_t *root, const char *path);
/* Unix seconds at which a day ("2030-01-31") is over in UTC; 0: it is none. */
int64_t tide_kyc_day_end(tide_slice text);
/* The end of a document, a day: the earliest of several counts. Absent, null and "" mean that the
 * provider states no end: the policy's end (attestationDays) alone applies. An end that is there
 * and cannot be read makes the decision doubtful (tide_kyc_settle): it is not "no end". */
void tide_kyc_ends(struct tide_kyc_decision *out, const json_t *end);
/* The ends of several documents: an array of objects with that member. Anything else but null is an
 * end that cannot be read. */
void tide_kyc_ends_each(struct tide_kyc_decision *out, const json_t *documents, const char *member);

/* --- decisions ---------------------------------------------------------------------------- */

/* The last word on an approval: country as the provider writes it. REVIEW with a reason where that
 * is missing or no country, so that no attestation is a guess. */
void tide_kyc_settle(struct tide_kyc_decision *out, tide_slice country);
/* Whose decision it is, by our reference; what is none of ours is "?". */
void tide_kyc_about(struct tide_kyc_decision *out, const json_t *ref);
/* Approved by something else than what was asked for. */
void tide_kyc_other_level(struct tide_kyc_decision *out);
/* A provider's word for a state, and ours; a list of them ends with a word that is NULL. */
struct tide_kyc_word {
    const char *word;
    enum tide_kyc_state state;
};
/* The state of a word; one that is not in the list is as tide_kyc_unknown has it. */
void tide_kyc_map(struct tide_kyc_decision *out, const struct tide_kyc_word *words,
                  tide_slice word);
/* A provider's label for why it did not approve, and the reason that the person may be shown
 * (tide_kyc_reason_shown); a list of them ends with a label that is NULL. Sets the reason of a
 * DECLINED or ACTION_REQUIRED decision; a label that is not in the list gives none. */
struct tide_kyc_label {
    const char *label, *reason;
};
void tide_kyc_because(struct tide_kyc_decision *out, const struct tide_kyc_label *labels,
                      tide_slice label);
tide_slice tide_kyc_label_of(const json_t *value); /* "" of anything but a text */

/* The reason, from what a provider's decision says of it: static words, never a provider's text.
 * Several labels of one decision may hide a suspicion behind a harmless one: if one of them is not
 * in the list, there is no reason. labels of Sumsub: review.reviewResult.rejectLabels. code of
 * Veriff: verification.reasonCode, documented as a text; a number counts too. root of Didit: the
 * decision, whose features each have warnings. Persona says in an inquiry that it declined, not
 * which of the checks was why. */
void tide_kyc_sumsub_because(struct tide_kyc_decision *out, json_t *labels);
void tide_kyc_veriff_because(struct tide_kyc_decision *out, json_t *code);
void tide_kyc_didit_because(struct tide_kyc_decision *out, json_t *root);

/* A status that we do not know: a person must look. */
void tide_kyc_unknown(struct tide_kyc_decision *out);

/* --- calls -------------------------------------------------------------------------------- */

struct tide_kyc_question {
    enum tide_http_method method;
    const char *path;           /* behind the provider's baseUrl, as it goes on the wire */
    const char *const *headers; /* ended by NULL; at most four */
    tide_slice body;            /* JSON, of a POST */
    uint32_t accept;            /* a status that is as good as 200 and 201; 0: none */
};

/* One exchange. *out is private JSON (tide_json_wipe), *code the status: 200, 201 or accept.
 * What is returned is as tide_kyc_adapter has it; no message holds an address, a header, a body. */
tide_status tide_kyc_ask(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         json_t **out, uint32_t *code, struct tide_err *err) TIDE_MUST_USE;

/* The page of an answer, checked: id, URL, host. TIDE_E_DECODE. */
tide_status tide_kyc_page_of(const struct tide_kyc_call *call, struct tide_kyc_page *out,
                             const json_t *id, const json_t *url, struct tide_err *err);

/* The body of a request, built as it is sent: "name":"text",… of names and texts ended by NULL. */
void tide_kyc_put(struct tide_buf *buf, const char *const *pairs);

/* What Sumsub wants signed of a request: time, method, path and query behind the path of baseUrl,
 * body; exactly the bytes that go out. */
void tide_kyc_sumsub_message(struct tide_buf *out, int64_t now, tide_slice base,
                             const struct tide_kyc_question *question);

/* TIDE_E_DECODE: the answer is not what the provider documents. */
tide_status tide_kyc_odd(struct tide_err *err, const char *what);

#endif
