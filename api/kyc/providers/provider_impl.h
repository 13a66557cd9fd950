/* Shared by the adapters: signatures of webhooks, members of JSON, calls to a provider's API. */
#ifndef API_KYC_PROVIDERS_PROVIDER_IMPL_H
#define API_KYC_PROVIDERS_PROVIDER_IMPL_H

#include "api/kyc/providers/provider.h"
#include "tidemark/buf.h"
#include "tidemark/json_read.h"

struct tide_kyc_question;
struct tide_kyc_lines;

/* A provider, as the functions of provider.h need it. Paths are those of tide_kyc_at. */
struct tide_kyc_adapter {
    const char *type; /* "type" in the KYC file */
    uint32_t link_s;  /* seconds for which the provider's page may be used */
    tide_status (*create)(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                          struct tide_kyc_page *out, struct tide_err *err);
    /* Checks a webhook's signature and time. Returns NULL, or why it is forged, a static word. */
    const char *(*check)(const struct tide_kyc_provider *provider, const struct tide_kyc_hook *hook,
                         struct tide_kyc_event *out);
    /* Reads a webhook whose signature is valid. Its decision is ignored; the worker asks for it. */
    enum tide_kyc_verdict (*read)(const struct tide_kyc_provider *provider,
                                  const struct tide_kyc_hook *hook, json_t *root,
                                  struct tide_kyc_event *out);
    /* Adds the lines that authorise a request. Returns false without memory. */
    bool (*sign)(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                 struct tide_kyc_lines *out);
    /* Asks for a decision instead of the members below; NULL: they say how. */
    tide_status (*fetch)(const struct tide_kyc_call *call, const char *provider_id,
                         struct tide_kyc_decision *out, struct tide_err *err);
    const char *path, *path_end; /* around the id */
    const char *decision;        /* the member that has the decision; "": the answer has it */
    bool waits;                  /* the provider leaves that member null until it has decided */
    const char *id, *ref, *decided, *level; /* decided, level NULL: there is none */
    const char *gone; /* true or a text: the provider has erased the person; NULL: never */
    /* Sets the decision's state, reason and end. Returns the country. */
    tide_slice (*map)(struct tide_kyc_decision *out, json_t *decision);
};

extern const struct tide_kyc_adapter tide_kyc_sandbox, tide_kyc_sumsub, tide_kyc_persona,
    tide_kyc_veriff, tide_kyc_didit;

enum { TIDE_KYC_CLOCK_S = 300 }; /* largest difference between a signed time and the clock */

/* --- webhooks ----------------------------------------------------------------------------- */

/* Return the verdict and set out->why. */
enum tide_kyc_verdict tide_kyc_malformed(struct tide_kyc_event *out, const char *why);
enum tide_kyc_verdict tide_kyc_irrelevant(struct tide_kyc_event *out, const char *why);

/* Reads a header. Returns false if the header is missing, empty or repeated. */
bool tide_kyc_header(const struct tide_kyc_hook *hook, const char *name, tide_slice *out);

/* The signed bytes: before, then the body. */
struct tide_kyc_signed {
    enum tide_hmac algorithm;
    tide_slice before; /* "": only the body is signed */
};
/* True if hex (any case) is the HMAC of the signed bytes with a secret that has not ended. *secret
 * is the index of that secret. Tries every secret, so that the time does not depend on the
 * match. */
bool tide_kyc_signature(const struct tide_kyc_provider *provider, const struct tide_kyc_hook *hook,
                        struct tide_kyc_signed what, tide_slice hex, uint32_t *secret);
/* True if the times differ by at most TIDE_KYC_CLOCK_S. */
bool tide_kyc_is_near(int64_t then, int64_t now);

/* Parses the body; the caller wipes the result (tide_json_wipe). NULL: not an object. Sets out->key
 * to the hash of the body; the adapter replaces it if the provider sends an event id. */
json_t *tide_kyc_hook_json(const struct tide_kyc_hook *hook, struct tide_kyc_event *out);

/* Copies a provider's id of [A-Za-z0-9_.-]. *out is "" if value is missing or no string. Returns
 * false only if the text cannot be an id. */
bool tide_kyc_take_id(char out[TIDE_KYC_ID_BYTES], const json_t *value);
/* Members of a verified webhook: the whole, and the two ids by which it names its person, the
 * provider's and the reference that an application gave. */
struct tide_kyc_named {
    const json_t *root, *provider_id, *ref;
};
/* Decides whether a verified webhook may be about a session of this server: the same for every
 * provider. Copies the two ids. Irrelevant: another environment, a person of another application at
 * the same account, or no id at all. Malformed: the provider's id cannot be one. */
enum tide_kyc_verdict tide_kyc_concerns(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_named *named,
                                        struct tide_kyc_event *out);

/* --- JSON --------------------------------------------------------------------------------- */

/* Returns the value at "a.b.0.c", or NULL. */
json_t *tide_kyc_at(json_t *root, const char *path);
tide_slice tide_kyc_text_at(json_t *root, const char *path); /* "" if there is no text */
/* Returns the unix milliseconds of an RFC 3339 time. Also reads "2026-01-31 10:11:12+0000", and a
 * time without zone as UTC. 0: not a time. */
int64_t tide_kyc_ms(tide_slice text);
/* Returns the country as the provider writes it. "" if none is given (missing, null, ""). "?" if
 * the member is not a text: the caller must not fall back to another member then. */
tide_slice tide_kyc_country_at(json_t *root, const char *path);
/* Returns the country of an array of documents with that member. Documents of two countries give
 * "?", so that a person decides. */
tide_slice tide_kyc_country_each(json_t *documents, const char *member);
/* Returns the unix seconds at which a day ("2030-01-31") ends in UTC. 0: not a day. */
int64_t tide_kyc_day_end(tide_slice text);
/* Takes the end of a document, a day, into account: the earliest end wins. Missing, null or "": the
 * provider gives no end, so attestationDays alone decides. An end that cannot be read is not "no
 * end": tide_kyc_settle then makes the decision doubtful. */
void tide_kyc_ends(struct tide_kyc_decision *out, const json_t *end);
/* Takes the ends of several documents into account: an array of objects with that member. Anything
 * else but null counts as an end that cannot be read. */
void tide_kyc_ends_each(struct tide_kyc_decision *out, const json_t *documents, const char *member);

/* --- decisions ---------------------------------------------------------------------------- */

/* Completes a decision. An answer (NULL: the sandbox has none) of another environment is doubtful,
 * whatever it says. country is the provider's text. An approval becomes doubtful if the country is
 * missing or unknown, so that no attestation rests on a guess. */
void tide_kyc_settle(struct tide_kyc_decision *out, const struct tide_kyc_provider *provider,
                     const json_t *answer, tide_slice country);
/* Sets the reference that the decision is about; "?" if it cannot be a reference of Tidemark. */
void tide_kyc_about(struct tide_kyc_decision *out, const json_t *ref);
/* Makes the decision doubtful: another level than the requested one approved the person. */
void tide_kyc_other_level(struct tide_kyc_decision *out);
/* A provider's word and the state it means. Lists end with word NULL. */
struct tide_kyc_word {
    const char *word;
    enum tide_kyc_state state;
};
/* Sets the state of a word. An unknown word is handled by tide_kyc_unknown. */
void tide_kyc_map(struct tide_kyc_decision *out, const struct tide_kyc_word *words,
                  tide_slice word);
/* A provider's label for a refusal, and the reason that the person may see (tide_kyc_reason_shown).
 * Lists end with label NULL. */
struct tide_kyc_label {
    const char *label, *reason;
};
/* Sets the reason of a DECLINED or ACTION_REQUIRED decision. An unlisted label gives no reason. */
void tide_kyc_because(struct tide_kyc_decision *out, const struct tide_kyc_label *labels,
                      tide_slice label);
tide_slice tide_kyc_label_of(const json_t *value); /* "" unless value is a text */

/* Set the reason from a provider's decision: static words, never the provider's text. A decision
 * may have several labels, and a harmless one may hide a suspicion. If one label is not in the
 * list, there
 * is therefore no reason.
 *   Sumsub   labels: review.reviewResult.rejectLabels
 *   Veriff   code: verification.reasonCode, documented as a text; a number is read too
 *   Didit    root: the decision; each of its features has warnings
 *   Persona  has none: an inquiry does not say which of its checks decided */
void tide_kyc_sumsub_because(struct tide_kyc_decision *out, json_t *labels);
void tide_kyc_veriff_because(struct tide_kyc_decision *out, json_t *code);
void tide_kyc_didit_because(struct tide_kyc_decision *out, json_t *root);

/* Makes the decision doubtful: the provider's status is unknown, so a person must decide. */
void tide_kyc_unknown(struct tide_kyc_decision *out);

/* --- calls -------------------------------------------------------------------------------- */

/* Header lines. tide_kyc_line appends one, which must fit. */
struct tide_kyc_lines {
    char text[4][TIDE_KYC_SECRET_BYTES + 48];
    uint32_t count;
};
void tide_kyc_line(struct tide_kyc_lines *lines, const char *form, ...)
    __attribute__((format(printf, 2, 3)));

/* A request to a provider's API. */
struct tide_kyc_question {
    const struct tide_kyc_adapter *adapter;
    enum tide_http_method method;
    const char *path;  /* appended to baseUrl, percent-encoded */
    tide_slice body;   /* JSON of a POST */
    uint32_t accept;   /* another status that counts as success; 0: none */
    const char *about; /* POST: the idempotency key; GET: the id in the path. For sign */
};

/* Sends a request. *out is JSON that the caller wipes (tide_json_wipe), *code the HTTP status: 200,
 * 201 or accept. Fails as tide_kyc_create does. No message contains an address, header or body. */
tide_status tide_kyc_ask(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         json_t **out, uint32_t *code, struct tide_err *err) TIDE_MUST_USE;
/* Does the same with POST. Releases the body; its failure is TIDE_E_MEMORY. */
tide_status tide_kyc_post(const struct tide_kyc_call *call, struct tide_kyc_question question,
                          struct tide_buf *body, json_t **out, uint32_t *code,
                          struct tide_err *err) TIDE_MUST_USE;

/* Reads a page from an answer. TIDE_E_DECODE unless id, URL and host are valid. */
tide_status tide_kyc_page_of(const struct tide_kyc_call *call, struct tide_kyc_page *out,
                             const json_t *id, const json_t *url, struct tide_err *err);

/* Appends "name":"text",… for pairs of names and texts that end with NULL. */
void tide_kyc_put(struct tide_buf *buf, const char *const *pairs);

/* Writes the bytes that Sumsub requires to be signed: time, method, path of baseUrl, path with
 * query, body. They must be exactly the bytes on the wire. */
void tide_kyc_sumsub_message(struct tide_buf *out, int64_t now, tide_slice base,
                             const struct tide_kyc_question *question);

/* Returns TIDE_E_DECODE: the answer is not as the provider documents. */
tide_status tide_kyc_odd(struct tide_err *err, const char *what);

#endif
