/* Export of calls, one row each; arguments and answers that may be about a person are hidden. */
#include "indexer/export/cursor.h"
#include "indexer/export/export.h"

enum call_column {
    CALL_LEDGER,
    CALL_CLOSE_TIME,
    CALL_TX,
    CALL_HASH,
    CALL_SOURCE,
    CALL_CONTRACT,
    CALL_ROLE,
    CALL_NAME,
    CALL_FN,
    CALL_ARGS,
    CALL_OK,
    CALL_RET,
    CALL_EVENTS,
    CALL_CHANGED,
    CALL_ARGS_XDR,
    CALL_RET_XDR,
    CALL_TX_SOURCE,
    CALL_FEE_SOURCE,
    CALL_INNER_HASH,
    CALL_SOURCE_MUXED_ID,
    CALL_TX_SOURCE_MUXED_ID,
    CALL_FEE_SOURCE_MUXED_ID,
};

const char *const tide_export_call_columns[] = { "ledger",
                                                 "closeTime",
                                                 "tx",
                                                 "hash",
                                                 "source",
                                                 "contract",
                                                 "role",
                                                 "name",
                                                 "fn",
                                                 "args",
                                                 "ok",
                                                 "ret",
                                                 "events",
                                                 "changed",
                                                 "argsXdr",
                                                 "retXdr",
                                                 "txSource",
                                                 "feeSource",
                                                 "innerHash",
                                                 "sourceMuxedId",
                                                 "txSourceMuxedId",
                                                 "feeSourceMuxedId",
                                                 NULL };

enum {
    AT_LEDGER,
    AT_TIME,
    AT_TX,
    AT_HASH,
    AT_SOURCE,
    AT_CONTRACT,
    AT_FN,
    AT_ARGS,
    AT_OK,
    AT_RET,
    AT_EVENTS,
    AT_CHANGED,
    AT_ARGS_XDR,
    AT_RET_XDR,
    AT_OF_TX
};

/* Columns from AT_OF_TX on, in order: who pays, the hash in a fee bump, multiplexed ids. */
static const enum call_column of_tx[] = { CALL_TX_SOURCE,          CALL_FEE_SOURCE,
                                          CALL_INNER_HASH,         CALL_SOURCE_MUXED_ID,
                                          CALL_TX_SOURCE_MUXED_ID, CALL_FEE_SOURCE_MUXED_ID };

static const char call_sql[] =
    "SELECT t.ledger, chain.unix(t.closed_at), t.tx, encode(t.hash, 'hex'),"
    " t.source, t.contract, t.fn, t.args, t.ok, t.ret, t.events, t.changed,"
    " translate(encode(t.args_xdr, 'base64'), E'\n', ''),"
    " translate(encode(t.ret_xdr, 'base64'), E'\n', ''), x.source, x.fee_source,"
    " encode(x.inner_hash, 'hex'), t.source_muxed_id, x.source_muxed_id, x.fee_source_muxed_id"
    " FROM chain.call AS t LEFT JOIN chain.tx AS x ON x.deployment = t.deployment"
    " AND x.ledger = t.ledger AND x.tx = t.tx";

/* Returns the end of the JSON value that begins at i; i itself if there is none. */
static size_t value_end(tide_slice json, size_t i)
{
    uint32_t depth = 0;
    bool quoted = false;
    for (; i < json.len; i++) {
        uint8_t c = json.ptr[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && depth == 0 && (c == ',' || c == ']'))
            return i;
        else if (!quoted && (c == ']' || c == '}'))
            depth--;
    }
    return json.len;
}

/* Reads the next element of a JSON array. *at is behind the bracket or comma in front of it. */
static bool next_element(tide_slice json, size_t *at, tide_slice *value)
{
    size_t end = value_end(json, *at);
    if (*at >= json.len || end == *at)
        return false;
    *value = tide_slice_of(json.ptr + *at, end - *at);
    *at = end + 1;
    return true;
}

static bool is_number(tide_slice value)
{
    return value.len && value.ptr[0] >= '0' && value.ptr[0] <= '9';
}

static bool is_text(tide_slice value)
{
    return value.len && value.ptr[0] == '"';
}

static bool number_at(tide_slice args, uint32_t index)
{
    tide_slice value;
    size_t at = 1;
    for (uint32_t i = 0; next_element(args, &at, &value); i++)
        if (i == index)
            return is_number(value);
    return false;
}

/* Returns the index of the function's private argument, or UINT32_MAX. The catalogue knows which
 * arguments hold a person's data. */
static uint32_t private_argument(enum tide_role role, tide_slice fn)
{
    enum { ARGUMENTS_MAX = 16 };
    for (uint32_t i = 0; i < ARGUMENTS_MAX && role != TIDE_ROLE_COUNT; i++)
        if (tide_arg_private(role, fn, i))
            return i;
    return UINT32_MAX;
}

bool tide_export_args(struct tide_buf *json, enum tide_role role, tide_slice fn, tide_slice args)
{
    enum { ADDRESS_BYTES = 58 };
    uint32_t hidden = private_argument(role, fn);
    if (hidden == UINT32_MAX)
        return false;
    /* Arguments behind the private one are shown only if that one has its proper type: callers may
     * pass arguments in another order, and a person's data might then stand elsewhere. */
    bool sound = number_at(args, hidden);
    tide_slice value;
    size_t at = 1;
    tide_buf_u8(json, '[');
    for (uint32_t i = 0; next_element(args, &at, &value); i++) {
        bool show = i < hidden ? is_text(value) && value.len == ADDRESS_BYTES
                               : i > hidden && sound && is_text(value);
        if (i)
            tide_buf_u8(json, ',');
        tide_buf_slice(json, show ? value : TIDE_SLICE("null"));
    }
    tide_buf_u8(json, ']');
    return true;
}

/* Writes the XDR of the arguments. It is hidden whole, since single arguments cannot be left
 * out. */
static void put_args_xdr(struct tide_export *x, enum tide_role role,
                         const struct tide_export_cursor *at)
{
    assert(role <= TIDE_ROLE_COUNT && at->live);
    bool hidden =
        !x->with_private && private_argument(role, tide_cursor_text(at, AT_FN)) != UINT32_MAX;
    tide_export_row_json(&x->row, CALL_ARGS, TIDE_SLICE("null"));
    if (!hidden)
        tide_export_row_text(&x->row, CALL_ARGS_XDR, tide_cursor_text(at, AT_ARGS_XDR));
}

/* The catalogue does not describe constructors: what the compliance registry's one got is hidden
 * whole. */
static void put_args(struct tide_export *x, enum tide_role role, tide_slice fn, tide_slice args)
{
    tide_buf_reset(&x->json);
    bool constructor = fn.len == 0 && role == TIDE_ROLE_compliance_registry;
    bool hidden = !x->with_private && tide_export_args(&x->json, role, fn, args);
    if (constructor && !x->with_private)
        args = TIDE_SLICE("null");
    tide_export_row_json(&x->row, CALL_ARGS, hidden ? tide_buf_view(&x->json) : args);
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
}

static void put_nullable(struct tide_export *x, uint32_t column,
                         const struct tide_export_cursor *at, uint32_t field)
{
    if (tide_cursor_null(at, field))
        tide_export_row_json(&x->row, column, TIDE_SLICE("null"));
    else
        tide_export_row_text(&x->row, column, tide_cursor_text(at, field));
}

/* Returns whether the answer may be shown. The catalogue does not describe answers, and one could
 * be a person's record. true and false are shown. */
static bool answer_is_public(const struct tide_export *x, const struct tide_export_cursor *at)
{
    if (!tide_export_hides(x, tide_cursor_text(at, AT_CONTRACT)))
        return true;
    tide_slice answer = tide_cursor_text(at, AT_RET);
    return tide_slice_eq_str(answer, "true") || tide_slice_eq_str(answer, "false");
}

static void put_answer(struct tide_export *x, const struct tide_export_cursor *at, bool ok)
{
    bool shown = answer_is_public(x, at);
    if (ok)
        tide_export_row_json(&x->row, CALL_RET,
                             tide_cursor_null(at, AT_RET) || !shown ? TIDE_SLICE("null")
                                                                    : tide_cursor_text(at, AT_RET));
    if (shown && !tide_cursor_null(at, AT_RET_XDR))
        tide_export_row_text(&x->row, CALL_RET_XDR, tide_cursor_text(at, AT_RET_XDR));
}

static tide_status put_call(struct tide_export *x, const struct tide_export_cursor *at,
                            struct tide_err *err)
{
    assert(at->live);
    tide_slice contract = tide_cursor_text(at, AT_CONTRACT);
    const struct tide_export_contract *known = tide_export_contract(x, contract);
    bool ok = tide_pg_bool(&at->rows, at->at, AT_OK);
    tide_export_row_json(&x->row, CALL_LEDGER, tide_cursor_text(at, AT_LEDGER));
    tide_export_row_json(&x->row, CALL_CLOSE_TIME, tide_cursor_text(at, AT_TIME));
    tide_export_row_json(&x->row, CALL_TX, tide_cursor_text(at, AT_TX));
    tide_export_row_text(&x->row, CALL_HASH, tide_cursor_text(at, AT_HASH));
    tide_export_row_text(&x->row, CALL_SOURCE, tide_cursor_text(at, AT_SOURCE));
    tide_export_row_text(&x->row, CALL_CONTRACT, contract);
    enum tide_role role = TIDE_ROLE_COUNT;
    if (known) {
        role = tide_role_named(tide_slice_str(known->role_name));
        tide_export_row_text(&x->row, CALL_ROLE, tide_slice_str(known->role_name));
        tide_export_row_text(&x->row, CALL_NAME, tide_slice_str(known->name));
    }
    put_nullable(x, CALL_FN, at, AT_FN);
    if (tide_cursor_null(at, AT_ARGS))
        put_args_xdr(x, role, at);
    else
        put_args(x, role, tide_cursor_text(at, AT_FN), tide_cursor_text(at, AT_ARGS));
    tide_export_row_json(&x->row, CALL_OK, ok ? TIDE_SLICE("true") : TIDE_SLICE("false"));
    put_answer(x, at, ok);
    tide_export_row_json(&x->row, CALL_EVENTS, tide_cursor_text(at, AT_EVENTS));
    tide_export_row_json(&x->row, CALL_CHANGED, tide_cursor_text(at, AT_CHANGED));
    for (uint32_t i = 0; i < TIDE_COUNT(of_tx); i++)
        if (!tide_cursor_null(at, AT_OF_TX + i))
            tide_export_row_text(&x->row, of_tx[i], tide_cursor_text(at, AT_OF_TX + i));
    return tide_export_row_end(&x->row, err);
}

tide_status tide_export_calls(struct tide_export *x, struct tide_err *err)
{
    assert(x->from <= x->to);
    struct tide_export_cursor at;
    struct tide_buf sql;
    tide_buf_init(&sql, 4096);
    tide_buf_str(&sql, call_sql);
    tide_buf_putf(&sql,
                  " WHERE t.deployment = %u AND t.ledger BETWEEN %u AND %u ORDER BY t.ledger, t.tx,"
                  " t.op",
                  x->deployment, x->from, x->to);
    tide_status status = tide_export_cursor_open(&at, x->pg, 0, &sql, err);
    tide_buf_release(&sql);
    while (status == TIDE_OK && at.live) {
        status = tide_export_stop(err);
        if (status == TIDE_OK)
            status = put_call(x, &at, err);
        if (status == TIDE_OK)
            status = tide_export_cursor_next(&at, err);
    }
    tide_export_cursor_close(&at);
    return status;
}
