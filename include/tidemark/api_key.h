/* A new API key of an integrator. Its maker shows the text once and stores only the hash. */
#ifndef TIDEMARK_API_KEY_H
#define TIDEMARK_API_KEY_H

#include "tidemark/hash.h"
#include "tidemark/status.h"

#define TIDE_API_KEY_ID_LEN 15u
#define TIDE_API_KEY_BYTES  64u

struct tide_api_key {
    char id[TIDE_API_KEY_ID_LEN + 1];   /* tk_ and 12 of 0-9, a-z: the start of the text */
    char text[TIDE_API_KEY_BYTES];      /* id, _ and 43 digits of base64url: 256 random bits */
    char hash[2 * TIDE_HASH_BYTES + 3]; /* SHA-256 of the text, as SQL's bytea */
};

/* Makes a key. The caller wipes it (tide_sign_wipe). */
tide_status tide_api_key_make(struct tide_api_key *out, struct tide_err *err) TIDE_MUST_USE;

#endif
