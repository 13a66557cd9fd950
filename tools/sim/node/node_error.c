/* Refusals as the network reports them. The model's contracts name their reason as text. The
 * network reports a type and a code; a diagnostic event contains the text too. */
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tools/sim/node/node_impl.h"

/* SCErrorType and SCErrorCode. */
enum {
    ERROR_CONTRACT = 0,
    ERROR_WASM = 1,
    ERROR_CONTEXT = 2,
    ERROR_STORAGE = 3,
    ERROR_BUDGET = 7,
    ERROR_VALUE = 8,
    ERROR_AUTH = 9
};
enum { CODE_INPUT = 2, CODE_MISSING = 3, CODE_EXCEEDED = 5, CODE_ACTION = 6, CODE_SIZE = 9 };

/* The type and code of a reason. */
struct error {
    const char *reason;
    uint32_t type, code;
};

/* clang-format off */
static const struct error errors[] = {
    { "not authorised",                        ERROR_AUTH,    CODE_ACTION },
    { NODE_NO_AUTH,                            ERROR_AUTH,    CODE_ACTION },
    { NODE_BAD_SIGNATURE,                      ERROR_AUTH,    CODE_ACTION },
    { NODE_LATE_SIGNATURE,                     ERROR_AUTH,    CODE_ACTION },
    { NODE_USED_NONCE,                         ERROR_AUTH,    4 }, /* ExistingValue */
    { NODE_NOT_ROOT,                           ERROR_AUTH,    CODE_ACTION },
    { NODE_NO_KEY,                             ERROR_STORAGE, CODE_EXCEEDED },
    { NODE_NO_RESOURCES,                       ERROR_BUDGET,  CODE_EXCEEDED },
    { NODE_ARCHIVED,                           ERROR_VALUE,   CODE_INPUT }, /* as core has it */
    { "no such contract",                      ERROR_STORAGE, CODE_MISSING },
    { "no such function",                      ERROR_WASM,    CODE_MISSING },
    { "arguments do not fit",                  ERROR_WASM,    CODE_SIZE },
    { "calls nested too deep",                 ERROR_CONTEXT, CODE_EXCEEDED },
    { "too much memory for one call",          ERROR_BUDGET,  CODE_EXCEEDED },
};

/* Names by SCErrorType and SCErrorCode. */
static const char *const types[] = { "Contract", "WasmVm", "Context", "Storage", "Object",
                                     "Crypto", "Events", "Budget", "Value", "Auth" };
static const char *const codes[] = { "ArithDomain", "IndexBounds", "InvalidInput", "MissingValue",
                                     "ExistingValue", "ExceededLimit", "InvalidAction",
                                     "InternalError", "UnexpectedType", "UnexpectedSize" };
/* clang-format on */

/* Returns the error of a reason. "Ok(Contract(N))" is error number N of a contract. An unknown
 * reason is a contract's panic. */
static struct error find_error(const char *reason)
{
    static const char numbered[] = "Ok(Contract(";
    uint64_t n = 0;
    if (strncmp(reason, numbered, sizeof numbered - 1) == 0) {
        const char *digits = reason + sizeof numbered - 1;
        if (tide_parse_u64(&n, tide_slice_of(digits, strspn(digits, "0123456789")), UINT32_MAX) !=
            TIDE_OK)
            n = 0;
        return (struct error){ reason, ERROR_CONTRACT, (uint32_t)n };
    }
    for (size_t i = 0; i < TIDE_COUNT(errors); i++) {
        if (strcmp(errors[i].reason, reason) == 0)
            return errors[i];
    }
    return (struct error){ reason, ERROR_WASM, CODE_ACTION }; /* a contract panicked */
}

/* Appends "Error(Contract, #10)" or "Error(Auth, InvalidAction)" for a reason. */
static void put_error_text(struct tide_buf *out, const char *reason)
{
    struct error e = find_error(reason);
    if (e.type == ERROR_CONTRACT)
        tide_buf_putf(out, "Error(Contract, #%u)", e.code);
    else
        tide_buf_putf(out, "Error(%s, %s)", types[e.type], codes[e.code]);
}

void node_error_message(struct tide_buf *out, const uint8_t *contract, const char *reason)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    size_t len =
        tide_strkey_encode(text, TIDE_STRKEY_CONTRACT, tide_slice_of(contract, TIDE_HASH_BYTES));
    tide_buf_str(out, "HostError: ");
    put_error_text(out, reason);
    tide_buf_putf(out,
                  "\n\nEvent log (newest first):\n   0: [Diagnostic Event] contract:%.*s, "
                  "topics:[error, ",
                  (int)len, text);
    put_error_text(out, reason);
    tide_buf_putf(out, "], data:\"%s\"\n", reason);
}

/* Topics: the symbol error and the error; data: the reason. */
void node_error_event(struct tide_buf *out, const uint8_t *contract, const char *reason)
{
    struct error e = find_error(reason);
    tide_buf_be32(out, 0); /* not in a successful call */
    lcm_put_event_head(out, contract, 2, 2);
    lcm_put_symbol(out, "error");
    lcm_words(out, TIDE_SCV_ERROR, e.type, e.code);
    lcm_put_string(out, reason);
}
