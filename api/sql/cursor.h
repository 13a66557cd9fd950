/* Cursors of lists: opaque to clients, nothing to us but the key that the next page begins after.
 *
 *   base64url( tag (7 bytes), key text )     tag = SHA-256(scope, key), cut
 *
 * The scope is the deployment (network, its epoch, its contracts), the route and every parameter
 * but limit and cursor. A cursor of another scope, or a damaged one, does not fit its tag. The tag
 * is no secret: a forged key is a value like any other. Each list checks its form, or binds it to
 * a statement whose refusal (SQLSTATE 22...) is answered with 400. Cursors do not age: a key says
 * where to go on, whatever came since. */
#ifndef API_SQL_CURSOR_H
#define API_SQL_CURSOR_H

#include "api/http/route.h"

#define TIDE_CURSOR_MAX     176u /* characters of a cursor */
#define TIDE_CURSOR_KEY_MAX 125u /* bytes of a key         */

struct tide_cursor_scope {
    uint8_t hash[TIDE_HASH_BYTES];
};

void tide_cursor_scope(struct tide_cursor_scope *out, const uint8_t deployment[TIDE_HASH_BYTES],
                       const struct tide_request *request);
/* Writes the cursor and returns its length, no NUL; 0 when key is empty or longer than
 * TIDE_CURSOR_KEY_MAX. */
size_t tide_cursor_write(char out[TIDE_CURSOR_MAX], const struct tide_cursor_scope *scope,
                         tide_slice key);
/* The key, UTF-8 and NUL-terminated; false when text is no cursor of this scope. The caller looks
 * whether the key is one that its list gives out. */
bool tide_cursor_read(char key[TIDE_CURSOR_KEY_MAX + 1], const struct tide_cursor_scope *scope,
                      tide_slice text);
/* 400 cursor_invalid. */
void tide_cursor_refuse(struct tide_reply *reply);

#endif
