/* Refusals, and parameters that several methods have. */
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc.h"

#include <stdarg.h>

bool rpc_refuse(struct rpc_call *call, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(call->message, sizeof call->message, format, args);
    va_end(args);
    call->code = code;
    return false;
}

/* Refuses the call because of a parameter's type. */
static bool refuse_type(struct rpc_call *call, const char *name)
{
    return rpc_refuse(call, RPC_PARAMS, "invalid parameters: %s", name);
}

/* Returns a field, or NULL if it is absent or null. */
static const json_t *find_field(const json_t *object, const char *name)
{
    const json_t *value = object ? json_object_get(object, name) : NULL;
    return json_is_null(value) ? NULL : value;
}

bool rpc_u32(struct rpc_call *call, const json_t *object, const char *name, uint32_t *to)
{
    const json_t *value = find_field(object, name);
    if (!value)
        return true;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > UINT32_MAX)
        return refuse_type(call, name);
    *to = (uint32_t)number;
    return true;
}

bool rpc_text(struct rpc_call *call, const json_t *object, const char *name, const char **to)
{
    const json_t *value = find_field(object, name);
    if (value && !json_is_string(value))
        return refuse_type(call, name);
    if (value)
        *to = json_string_value(value);
    return true;
}

bool rpc_object(struct rpc_call *call, const json_t *object, const char *name, const json_t **to)
{
    const json_t *value = find_field(object, name);
    if (value && !json_is_object(value))
        return refuse_type(call, name);
    if (value)
        *to = value;
    return true;
}

bool rpc_array(struct rpc_call *call, const json_t *object, const char *name, const json_t **to)
{
    const json_t *value = find_field(object, name);
    if (value && !json_is_array(value))
        return refuse_type(call, name);
    if (value)
        *to = value;
    return true;
}

bool rpc_format(struct rpc_call *call)
{
    const char *format = "";
    if (!rpc_text(call, call->params, "xdrFormat", &format))
        return false;
    if (strcmp(format, "json") == 0)
        return rpc_refuse(call, RPC_PARAMS,
                          "xdrFormat 'json' is not offered by this simulated network: use base64");
    if (*format && strcmp(format, "base64") != 0)
        return rpc_refuse(call, RPC_PARAMS, "expected base64 for optional 'xdrFormat', got '%.40s'",
                          format);
    return true;
}

/* Returns true if the call sees the ledger. */
static bool is_in_range(const struct rpc_call *call, uint32_t ledger)
{
    return ledger >= call->oldest.sequence && ledger <= call->latest.sequence;
}

bool rpc_read_page(struct rpc_call *call, struct rpc_page *page, uint32_t usual, uint32_t most)
{
    const json_t *pagination = NULL;
    const char *cursor = "";
    *page = (struct rpc_page){ 0 };
    if (!rpc_u32(call, call->params, "startLedger", &page->start) ||
        !rpc_object(call, call->params, "pagination", &pagination) ||
        !rpc_text(call, pagination, "cursor", &cursor) ||
        !rpc_u32(call, pagination, "limit", &page->limit))
        return false;
    page->cursor = *cursor ? cursor : NULL;
    if (page->cursor && page->start != 0)
        return rpc_refuse(call, RPC_REQUEST,
                          "startLedger (%u) and cursor (%.64s) cannot both be set", page->start,
                          page->cursor);
    /* The texts are stellar-rpc's: clients look for them. */
    if (!page->cursor && !is_in_range(call, page->start))
        return rpc_refuse(call, RPC_REQUEST,
                          "start ledger (%u) must be between the oldest ledger: %u and the latest "
                          "ledger: %u for this rpc instance",
                          page->start, call->oldest.sequence, call->latest.sequence);
    if (page->limit > most)
        return rpc_refuse(call, RPC_REQUEST, "limit must not exceed %u", most);
    if (page->limit == 0)
        page->limit = usual;
    return rpc_format(call);
}

void rpc_put_base64(struct tide_buf *out, tide_slice xdr)
{
    tide_buf_u8(out, '"');
    tide_buf_base64(out, xdr);
    tide_buf_u8(out, '"');
}

void rpc_put_xdr(struct tide_buf *out, const char *name, tide_slice xdr)
{
    tide_buf_putf(out, "\"%s\":", name);
    rpc_put_base64(out, xdr);
    tide_buf_u8(out, ',');
}
