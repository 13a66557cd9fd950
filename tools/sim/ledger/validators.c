#include "tools/sim/ledger/validators.h"

#include "tidemark/hash.h"
#include "tidemark/strkey.h"

#include <assert.h>
#include <stdio.h>

/* ENVELOPE_TYPE_SCP, SCP_ST_EXTERNALIZE: stellar-core's numbers. */
enum { SEED_TEXT = 512, ENVELOPE_SCP = 1, EXTERNALIZE = 2, STATEMENT_MAX = 1 << 20 };

static tide_status open_key(struct tide_sign **key, const char *passphrase, uint32_t number)
{
    char text[SEED_TEXT];
    uint8_t seed[TIDE_SEED_BYTES];
    snprintf(text, sizeof text, "%s validator %u", passphrase, number);
    tide_sha256(seed, tide_slice_str(text));
    return tide_sign_open(key, seed);
}

tide_status validators_open(struct validators *v, const char *passphrase, uint32_t count,
                            uint32_t signers)
{
    assert(count <= VALIDATORS_MAX);
    *v = (struct validators){ .count = count, .signers = signers < count ? signers : count };
    tide_sha256(v->network_id, tide_slice_str(passphrase));
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = open_key(&v->keys[i], passphrase, i);
    return status;
}

void validators_close(struct validators *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        tide_sign_close(v->keys[i]);
    v->count = 0;
}

void validators_put_quorum(struct tide_buf *json, const struct validators *v)
{
    char address[TIDE_STRKEY_ADDRESS_MAX];
    tide_buf_putf(json, "{ \"threshold\": %u, \"validators\": [", v->count - (v->count - 1) / 3);
    for (uint32_t i = 0; i < v->count; i++) {
        size_t len =
            tide_strkey_encode(address, TIDE_STRKEY_ACCOUNT,
                               tide_slice_of(tide_sign_public(v->keys[i]), TIDE_HASH_BYTES));
        tide_buf_putf(json, "%s\"%.*s\"", i ? ", " : "", (int)len, address);
    }
    tide_buf_str(json, "] }");
}

static void put_opaque(struct tide_buf *out, tide_slice bytes)
{
    static const uint8_t padding[4];
    tide_buf_be32(out, (uint32_t)bytes.len);
    tide_buf_slice(out, bytes);
    tide_buf_put(out, padding, (4 - bytes.len % 4) % 4);
}

/* Appends the SCPStatement of a validator: its commit has counter 1, and names no quorum set. */
static void put_statement(struct tide_buf *out, const uint8_t *public, uint32_t ledger,
                          tide_slice value)
{
    static const uint8_t no_hash[TIDE_HASH_BYTES];
    tide_buf_be32(out, 0); /* a key of Ed25519 */
    tide_buf_put(out, public, TIDE_HASH_BYTES);
    tide_buf_be32(out, 0); /* slot index of 64 bits */
    tide_buf_be32(out, ledger);
    tide_buf_be32(out, EXTERNALIZE);
    tide_buf_be32(out, 1);
    put_opaque(out, value);
    tide_buf_be32(out, 1);
    tide_buf_put(out, no_hash, sizeof no_hash);
}

/* Appends the SCPEnvelope: the statement and its signature over network, type and statement. */
static void put_envelope(struct tide_buf *out, const struct validators *v, uint32_t number,
                         uint32_t ledger, tide_slice value)
{
    const struct tide_sign *key = v->keys[number];
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    struct tide_buf message;
    tide_buf_init(&message, STATEMENT_MAX);
    tide_buf_put(&message, v->network_id, TIDE_HASH_BYTES);
    tide_buf_be32(&message, ENVELOPE_SCP);
    size_t head = message.len;
    put_statement(&message, tide_sign_public(key), ledger, value);
    if (message.failed) {
        out->failed = true;
    } else {
        tide_sign(key, signature, tide_buf_view(&message));
        tide_buf_put(out, message.ptr + head, message.len - head);
        put_opaque(out, tide_slice_of(signature, sizeof signature));
    }
    tide_buf_release(&message);
}

void validators_put_votes(struct tide_buf *out, const struct validators *v, uint32_t ledger,
                          tide_slice value)
{
    tide_buf_be32(out, 0); /* version */
    tide_buf_be32(out, 0); /* no quorum sets */
    tide_buf_be32(out, ledger);
    tide_buf_be32(out, v->signers);
    for (uint32_t i = 0; i < v->signers; i++)
        put_envelope(out, v, i, ledger, value);
}
