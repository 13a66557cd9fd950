/* Cursors of lists: opaque to clients; they contain the key after which the next page begins.
 *
 *  base64url( tag (7 bytes), key text )     tag = first bytes of SHA-256(scope, key)
 *
 * The scope is the deployment (network, epoch, contracts), the route, and every parameter except
 * limit and cursor. A damaged cursor, or one of another scope, does not match its tag. The tag
 * is not secret, so a key can be forged and is treated like any parameter: each list checks its
 * form, or binds it to a statement whose rejection (SQLSTATE 22...) becomes 400. Cursors do not
 * expire: a key says where to continue, whatever was added since. */
#ifndef API_SQL_CURSOR_H
#define API_SQL_CURSOR_H

#include "api/http/route.h"

#define TIDE_CURSOR_MAX     316u /* characters of a cursor */
#define TIDE_CURSOR_KEY_MAX 230u /* bytes of a key         */

struct tide_cursor_scope {
    uint8_t hash[TIDE_HASH_BYTES];
};

/* Computes the scope of a request. */
void tide_cursor_scope(struct tide_cursor_scope *out, const uint8_t deployment[TIDE_HASH_BYTES],
                       const struct tide_request *request);
/* Writes the cursor, without a NUL, and returns its length. Returns 0 if the key is empty or
 * longer than TIDE_CURSOR_KEY_MAX. */
size_t tide_cursor_write(char out[TIDE_CURSOR_MAX], const struct tide_cursor_scope *scope,
                         tide_slice key);
/* Reads the key, UTF-8 and NUL-terminated. Returns false if the text is not a cursor of this
 * scope. The caller checks the key's form. */
bool tide_cursor_read(char key[TIDE_CURSOR_KEY_MAX + 1], const struct tide_cursor_scope *scope,
                      tide_slice text);
/* Answers 400 cursor_invalid. */
void tide_cursor_refuse(struct tide_reply *reply);

#endif
