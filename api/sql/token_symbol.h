/* Tokens by symbol. A request may name a token by its symbol instead of its address (a parameter
 * of type TOKEN) if exactly one token has it, now or as of the requested ledger. Any account may
 * deploy a token with another's symbol, so an ambiguous symbol is rejected, never resolved. */
#ifndef API_SQL_TOKEN_SYMBOL_H
#define API_SQL_TOKEN_SYMBOL_H

#include "api/sql/statement.h"
#include "tidemark/strkey.h"

/* Writes the address, NUL-terminated, of the token that the request names by symbol; empty if it
 * names none by symbol, or no token has it. at: the ledger in decimal, 2147483647 for now.
 * *refused: the reply is 400 ambiguous_symbol. */
tide_status tide_token_symbol(char out[TIDE_STRKEY_TEXT_MAX], bool *refused,
                              struct tide_session *session, const char *at,
                              const struct tide_request *request, struct tide_reply *reply,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
