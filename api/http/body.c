/* The JSON object in a request's body. */
#include "api/http/body.h"

json_t *tide_body_object(tide_slice text, size_t flags, const char *code, struct tide_reply *reply)
{
    json_error_t error;
    json_t *body = tide_json_load(text, flags | JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(body))
        return body;
    if (body) {
        tide_reply_problem(reply, 400, code, "The body is not a JSON object.");
        tide_reply_problem_field(reply, "", "is not a JSON object");
    } else {
        bool twice = json_error_code(&error) == json_error_duplicate_key;
        tide_reply_problem(reply, 400, code, "The body is not JSON from byte %d on%s.",
                           error.position, twice ? ": a member occurs twice" : "");
        tide_reply_problem_field(reply, "", twice ? "has a member twice" : "is not JSON");
    }
    json_decref(body);
    return NULL;
}

static void answer_once(struct tide_body_faults *faults)
{
    if (!faults->failed)
        tide_reply_problem(faults->reply, 400, "bad_body", "The body has faults: see errors.");
    faults->failed = true;
}

void tide_body_reject(struct tide_body_faults *faults, const char *where, const char *why)
{
    answer_once(faults);
    assert(faults->reply->status == 400); /* answer_once made it a problem */
    tide_reply_problem_field(faults->reply, where, why);
}

void tide_body_reject_unknown(struct tide_body_faults *faults, const char *name)
{
    answer_once(faults);
    assert(faults->reply->status == 400);
    tide_reply_problem_unknown(faults->reply, name);
}
