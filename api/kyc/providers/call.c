/* Calls to a provider's API, and functions that build a decision from its answers. */
#include "api/kyc/providers/country.h"
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"
#include "tidemark/url.h"

#include <stdarg.h>

enum { LINES = 4, URL_BYTES = 1024, ANSWER_MAX = 1 << 20 /* bytes */ };
static_assert(LINES == TIDE_COUNT(((struct tide_kyc_lines *)0)->text), "the adapter's lines");

void tide_kyc_line(struct tide_kyc_lines *lines, const char *form, ...)
{
    va_list list;
    assert(lines->count < LINES);
    va_start(list, form);
    int len = vsnprintf(lines->text[lines->count], sizeof lines->text[0], form, list);
    va_end(list);
    assert(len > 0 && (size_t)len < sizeof lines->text[0]);
    (void)len;
    lines->count++;
}

bool tide_kyc_host_allowed(const struct tide_kyc_provider *provider, const char *url)
{
    struct tide_kyc_url read;
    if (!tide_kyc_url_read(&read, tide_slice_str(url)))
        return false;
    assert(provider->host_count <= TIDE_COUNT(provider->hosts));
    for (uint32_t i = 0; i < provider->host_count; i++)
        if (tide_kyc_host_is(&read, provider->hosts[i]))
            return true;
    return false;
}

tide_status tide_kyc_odd(struct tide_err *err, const char *what)
{
    return tide_fail(err, TIDE_E_DECODE, "the provider's answer: %s", what);
}

/* Translates an HTTP status that is no success. */
static tide_status map_http_error(const struct tide_http_answer *answer, struct tide_err *err)
{
    if (answer->code == 401 || answer->code == 403)
        return tide_fail(err, TIDE_E_CONFIG,
                         "the provider refuses the credentials (HTTP %" PRIu32 ")", answer->code);
    if (answer->code == 404 || answer->code == 410)
        return tide_fail(err, TIDE_E_MISSING, "the provider has no such object (HTTP %" PRIu32 ")",
                         answer->code);
    if (answer->again)
        return tide_fail(err, TIDE_E_IO, "the provider asks to retry later (HTTP %" PRIu32 ")",
                         answer->code);
    return tide_fail(err, TIDE_E_DECODE, "the provider refuses the request (HTTP %" PRIu32 ")",
                     answer->code);
}

/* Parses the answer's body. The caller wipes *out, which may hold personal data. */
static tide_status read_answer(json_t **out, const struct tide_http_answer *answer, tide_slice body,
                               struct tide_err *err)
{
    json_error_t error;
    if (strcmp(answer->type, "application/json") != 0 &&
        strcmp(answer->type, "application/vnd.api+json") != 0)
        return tide_kyc_odd(err, "not application/json");
    json_t *root = tide_json_load_private(body, 0, &error);
    bool memory = !root && json_error_code(&error) == json_error_out_of_memory;
    tide_sign_wipe(&error, sizeof error); /* the error may quote the body */
    if (memory)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    if (!json_is_object(root)) {
        tide_json_wipe(root);
        return tide_kyc_odd(err, "not a JSON object");
    }
    *out = root;
    return TIDE_OK;
}

/* Adds the headers and sends the request. */
static tide_status send_request(const struct tide_kyc_call *call,
                                const struct tide_kyc_question *question, struct tide_buf *body,
                                struct tide_http_answer *answer, struct tide_err *err)
{
    char url[URL_BYTES];
    const char *headers[2 + LINES + 1] = { "Accept: application/json" };
    size_t count = 1;
    struct tide_kyc_lines lines = { .count = 0 };
    bool signs = question->adapter->sign(call, question, &lines);
    if (question->method == TIDE_HTTP_POST)
        headers[count++] = "Content-Type: application/json";
    for (uint32_t i = 0; i < lines.count; i++)
        headers[count++] = lines.text[i];
    int len = snprintf(url, sizeof url, "%s%s", call->provider->base_url, question->path);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    const struct tide_http_request request = { .method = question->method,
                                               .url = url,
                                               .headers = headers,
                                               .body = question->body,
                                               .timeout_ms = call->provider->timeout_ms,
                                               .cancelled = call->cancelled,
                                               .self = call->self };
    tide_status status = signs ? tide_http_call(call->http, &request, body, answer, err)
                               : tide_fail(err, TIDE_E_MEMORY, "out of memory");
    tide_sign_wipe(&lines, sizeof lines);
    return status;
}

/* Wipes the answer's bytes: they may hold personal data. */
tide_status tide_kyc_ask(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         json_t **out, uint32_t *code, struct tide_err *err)
{
    assert(question->path && question->path[0] == '/');
    struct tide_http_answer answer;
    struct tide_buf body;
    *out = NULL;
    *code = 0;
    /* Allocate the whole buffer at once: growing would leave unwiped copies of personal data in
     * memory. */
    tide_buf_init(&body, ANSWER_MAX);
    tide_status status = tide_buf_grow(&body, ANSWER_MAX)
                             ? send_request(call, question, &body, &answer, err)
                             : tide_fail(err, TIDE_E_MEMORY, "out of memory");
    if (status == TIDE_E_LIMIT)
        status = tide_kyc_odd(err, "larger than allowed");
    if (!status) {
        *code = answer.code;
        if (answer.code == 200 || answer.code == 201)
            status = read_answer(out, &answer, tide_buf_view(&body), err);
        else if (answer.code != question->accept)
            status = map_http_error(&answer, err);
    }
    if (body.ptr && body.len)
        tide_sign_wipe(body.ptr, body.len);
    tide_buf_release(&body);
    assert(status != TIDE_OK || *out || *code == question->accept);
    return status;
}

tide_status tide_kyc_post(const struct tide_kyc_call *call, struct tide_kyc_question question,
                          struct tide_buf *body, json_t **out, uint32_t *code, struct tide_err *err)
{
    question.method = TIDE_HTTP_POST;
    question.body = tide_buf_view(body);
    tide_status status = body->failed ? tide_fail(err, TIDE_E_MEMORY, "out of memory")
                                      : tide_kyc_ask(call, &question, out, code, err);
    tide_buf_release(body);
    return status;
}

tide_status tide_kyc_page_of(const struct tide_kyc_call *call, struct tide_kyc_page *out,
                             const json_t *id, const json_t *url, struct tide_err *err)
{
    const char *text = json_string_value(url);
    if (!tide_kyc_take_id(out->provider_id, id) || !*out->provider_id)
        return tide_kyc_odd(err, "no valid id");
    if (!text || json_string_length(url) >= sizeof out->url)
        return tide_kyc_odd(err, "no URL of a page");
    if (!tide_kyc_host_allowed(call->provider, text))
        return tide_kyc_odd(err, "a page at a host that is not in \"hosts\"");
    memcpy(out->url, text, json_string_length(url) + 1);
    return TIDE_OK;
}

void tide_kyc_put(struct tide_buf *buf, const char *const *pairs)
{
    for (size_t i = 0; pairs[i]; i += 2) {
        if (i)
            tide_buf_u8(buf, ',');
        tide_buf_json_string(buf, tide_slice_str(pairs[i]));
        tide_buf_u8(buf, ':');
        tide_buf_json_string(buf, tide_slice_str(pairs[i + 1]));
    }
}

/* --- decisions ---------------------------------------------------------------------------- */

/* Makes the decision doubtful. A doubtful decision has no country, so nothing can attest it. */
static void set_review(struct tide_kyc_decision *out, const char *reason)
{
    out->approves |= out->state == TIDE_KYC_APPROVED;
    out->state = TIDE_KYC_REVIEW;
    out->doubtful = true;
    out->reason = reason;
    out->jurisdiction = 0;
}

/* value of valid_until until tide_kyc_settle: an end could not be read */
enum { END_UNKNOWN = -1 };
static_assert(END_UNKNOWN < 0, "no time and not \"none\"");

void tide_kyc_ends(struct tide_kyc_decision *out, const json_t *end)
{
    assert(out->valid_until >= END_UNKNOWN);
    const char *text = json_string_value(end);
    if (!end || json_is_null(end) || (text && !*text) || out->valid_until == END_UNKNOWN)
        return;
    int64_t seconds = text ? tide_kyc_day_end(tide_slice_of(text, json_string_length(end))) : 0;
    if (seconds == 0)
        out->valid_until = END_UNKNOWN;
    else if (out->valid_until == 0 || seconds < out->valid_until)
        out->valid_until = seconds;
}

void tide_kyc_ends_each(struct tide_kyc_decision *out, const json_t *documents, const char *member)
{
    if (documents && !json_is_null(documents) && !json_is_array(documents))
        out->valid_until = END_UNKNOWN;
    for (size_t i = 0; i < json_array_size(documents); i++) {
        const json_t *document = json_array_get(documents, i);
        tide_kyc_ends(out, json_is_object(document) ? json_object_get(document, member) : document);
    }
}

void tide_kyc_settle(struct tide_kyc_decision *out, const struct tide_kyc_provider *provider,
                     const json_t *answer, tide_slice country)
{
    bool end_unknown = out->valid_until == END_UNKNOWN;
    out->valid_until = end_unknown ? 0 : out->valid_until;
    assert(out->valid_until >= 0 && out->jurisdiction == 0);
    if (tide_kyc_is_elsewhere(provider->type, provider->live, answer)) {
        set_review(out, "environment");
        out->approves = false; /* nothing of the answer counts */
        return;
    }
    if (out->state != TIDE_KYC_APPROVED)
        return;
    if (end_unknown) {
        set_review(out, "end_unknown");
        return;
    }
    out->jurisdiction = tide_kyc_country(country);
    if (country.len == 0)
        set_review(out, "no_country");
    else if (out->jurisdiction == 0)
        set_review(out, "country_unknown");
    assert(out->state != TIDE_KYC_APPROVED || out->jurisdiction);
}

/* "?" can never equal a reference, so the worker rejects the decision. */
void tide_kyc_about(struct tide_kyc_decision *out, const json_t *ref)
{
    if (!tide_kyc_take_id(out->ref, ref))
        memcpy(out->ref, "?", sizeof "?");
}

void tide_kyc_other_level(struct tide_kyc_decision *out)
{
    set_review(out, "level");
}

tide_slice tide_kyc_label_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? tide_slice_of(text, json_string_length(value)) : (tide_slice){ 0 };
}

void tide_kyc_because(struct tide_kyc_decision *out, const struct tide_kyc_label *labels,
                      tide_slice label)
{
    if (out->state != TIDE_KYC_DECLINED && out->state != TIDE_KYC_ACTION_REQUIRED)
        return;
    while (labels->label && !tide_slice_eq_str(label, labels->label))
        labels++;
    out->reason = labels->reason;
    assert(!out->reason || tide_kyc_reason_shown(tide_slice_str(out->reason)));
}

void tide_kyc_map(struct tide_kyc_decision *out, const struct tide_kyc_word *words, tide_slice word)
{
    for (; words->word; words++)
        if (tide_slice_eq_str(word, words->word)) {
            out->state = words->state;
            return;
        }
    tide_kyc_unknown(out);
}

void tide_kyc_unknown(struct tide_kyc_decision *out)
{
    set_review(out, "status_unknown");
}
