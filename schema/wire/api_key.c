#include "tidemark/api_key.h"
#include "tidemark/buf.h"
#include "tidemark/sign.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <sys/random.h>

enum { SECRET_BYTES = 32 };

tide_status tide_api_key_make(struct tide_api_key *out, struct tide_err *err)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint8_t random[SECRET_BYTES + TIDE_API_KEY_ID_LEN], hash[TIDE_HASH_BYTES];
    struct tide_buf secret;
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return tide_fail(err, TIDE_E_IO, "the system has no random numbers to give");
    memcpy(out->id, "tk_", 4);
    for (size_t i = 3; i < TIDE_API_KEY_ID_LEN; i++)
        out->id[i] = digits[random[SECRET_BYTES + i] % (sizeof digits - 1)];
    out->id[TIDE_API_KEY_ID_LEN] = 0;
    tide_buf_init(&secret, TIDE_API_KEY_BYTES);
    tide_buf_base64url(&secret, tide_slice_of(random, SECRET_BYTES));
    bool made = !secret.failed;
    static_assert(TIDE_API_KEY_ID_LEN + 1 + (SECRET_BYTES * 4 + 2) / 3 < TIDE_API_KEY_BYTES,
                  "id, line and base64url of the secret fit");
    if (made)
        snprintf(out->text, sizeof out->text, "%s_%.*s", out->id, (int)secret.len, secret.ptr);
    tide_sha256(hash, tide_slice_str(out->text));
    tide_bytea_text(out->hash, tide_slice_of(hash, sizeof hash));
    tide_sign_wipe(random, sizeof random);
    if (secret.ptr)
        tide_sign_wipe(secret.ptr, secret.cap);
    tide_buf_release(&secret);
    return made ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "out of memory");
}
