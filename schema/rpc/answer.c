/* Reads JSON-RPC around a result or an error. */
#include "schema/rpc/answer.h"
#include "tidemark/text.h"

/* An answer while it is read. */
struct envelope {
    const struct rpc_question *question;
    uint64_t wanted;
    bool has_id, has_result, has_error;
    struct rpc_error *error;
    void *out;
};

/* Returns the decimal that follows `words` in text, or 0 if they are not in it. */
static uint32_t number_after(const char *text, const char *words, const char **rest)
{
    const char *at = strstr(text, words);
    uint64_t v = 0;
    if (!at)
        return 0;
    at += strlen(words);
    size_t len = strspn(at, "0123456789");
    *rest = at + len;
    return tide_parse_u64(&v, tide_slice_of(at, len), UINT32_MAX) == TIDE_OK ? (uint32_t)v : 0;
}

/* Reads the range from a message: "… between the oldest ledger: 12 and the latest ledger: 90 …", or
 * "… ledger range: 12 - 90". */
static void find_range(struct rpc_error *e)
{
    const char *rest = e->message;
    e->oldest = number_after(e->message, "oldest ledger: ", &rest);
    e->latest = number_after(e->message, "latest ledger: ", &rest);
    if (e->oldest || e->latest)
        return;
    e->oldest = number_after(e->message, "ledger range: ", &rest);
    e->latest = e->oldest ? number_after(rest, " - ", &rest) : 0;
}

static void read_id(struct json_scan *s, void *out)
{
    struct envelope *e = out;
    e->has_id = true;
    if (json_scan_u64(s, UINT64_MAX) != e->wanted)
        json_scan_fault(s, "an answer to another question");
}

static void read_result(struct json_scan *s, void *out)
{
    struct envelope *e = out;
    const struct rpc_question *q = e->question;
    e->has_result = true;
    json_scan_members(s, q->members, q->member_count, q->lacks, e->out);
    if (!s->fault && q->check)
        q->check(s, e->out);
}

static void read_error(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "code", JSON_SCAN_I64, .at = offsetof(struct rpc_error, code) },
        { "message", JSON_SCAN_TEXT, false, offsetof(struct rpc_error, message), RPC_TEXT_MAX,
          NULL },
    };
    struct envelope *e = out;
    e->has_error = true;
    json_scan_members(s, members, TIDE_COUNT(members), NULL, e->error);
    if (e->error->code == 0)
        json_scan_fault(s, "an error without a code");
    find_range(e->error);
}

tide_status rpc_answer_read(const struct rpc_question *question, struct rpc_error *error, void *out,
                            uint8_t *body, size_t len, uint64_t id, struct tide_err *err)
{
    static const struct json_scan_member members[] = {
        { "id", JSON_SCAN_VALUE, .read = read_id },
        { "result", JSON_SCAN_VALUE, .read = read_result },
        { "error", JSON_SCAN_VALUE, .read = read_error },
    };
    struct envelope e = { .question = question, .wanted = id, .error = error, .out = out };
    struct json_scan s = json_scan_of(body, len);
    *error = (struct rpc_error){ 0 };
    memset(out, 0, question->cleared);
    json_scan_members(&s, members, TIDE_COUNT(members), NULL, &e);
    json_scan_end(&s);
    if (!s.fault && e.has_result == e.has_error)
        json_scan_fault(&s, e.has_result ? "both a result and an error"
                                         : "neither a result nor an error");
    if (!s.fault && !e.has_id && !e.has_error)
        json_scan_fault(&s, "an answer without an id");
    if (!e.has_id) /* perhaps about another question: no range is read from it */
        error->oldest = error->latest = 0;
    if (!s.fault)
        return TIDE_OK;
    *error = (struct rpc_error){ 0 };
    memset(out, 0, question->cleared);
    return tide_fail(err, TIDE_E_DECODE, "byte %zu of the answer: %s", s.fault_at, s.fault);
}
