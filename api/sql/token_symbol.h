/* Requests may name a token by its symbol instead of its address (a parameter of type TOKEN), if
 * exactly one token has it, now or as of the ledger that is asked for. Symbols are the tokens' own:
 * any account may deploy one that bears another's, so two that are alike are refused, never chosen
 * from. */
#ifndef API_SQL_TOKEN_SYMBOL_H
#define API_SQL_TOKEN_SYMBOL_H

#include "api/sql/session.h"
#include "tidemark/strkey.h"

/* at: the ledger in decimal; 2147483647 for now. The address, NUL-terminated, of the token that the
 * request's parameter token names by symbol; empty: it names none by symbol, or none has it.
 * *refused: the reply is 400 ambiguous_symbol. */
tide_status tide_token_symbol(char out[TIDE_STRKEY_TEXT_MAX], bool *refused,
                              struct tide_session *session, const char *at,
                              const struct tide_request *request, struct tide_reply *reply,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
