/* Tokens by symbol. */
#include "api/sql/token_symbol.h"
#include "api/http/param.h"

#include <stdio.h>

enum {
    TOKENS_MAX = 8, /* the limit in token_symbol.sql */
    LIST_BYTES = TOKENS_MAX * (TIDE_STRKEY_TEXT_MAX + 2)
};

static void reject_ambiguous(struct tide_reply *reply, const struct tide_pg_rows *rows)
{
    char list[LIST_BYTES] = "";
    size_t len = 0;
    assert(rows->count > 1 && rows->count <= TOKENS_MAX && rows->columns == 1);
    for (uint32_t i = 0; i < rows->count && len < sizeof list; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "",
                                tide_pg_text(rows, i, 0));
    tide_reply_problem(reply, 400, "ambiguous_symbol",
                       "Several tokens have this symbol: use an address.");
    tide_reply_problem_field(reply, "{token}", list);
}

tide_status tide_token_symbol(char out[TIDE_STRKEY_TEXT_MAX], bool *refused,
                              struct tide_session *session, const char *at,
                              const struct tide_request *request, struct tide_reply *reply,
                              struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    const struct tide_param_value *token = tide_request_param(request, TIDE_PARAM_token);
    out[0] = 0;
    *refused = false;
    if (!token || !token->given || token->address.kind)
        return TIDE_OK;
    const char *const values[] = { session->selected.text, at, (const char *)token->text.ptr };
    tide_status status = tide_pg_query(session->pg, &rows, tide_query_file_text("token_symbol"),
                                       values, TIDE_COUNT(values), err);
    *refused = status == TIDE_OK && rows.count > 1;
    if (*refused)
        reject_ambiguous(reply, &rows);
    else if (status == TIDE_OK && rows.count == 1)
        snprintf(out, TIDE_STRKEY_TEXT_MAX, "%s", tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return status;
}
