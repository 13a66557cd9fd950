/* The bytes of snapshot files. Numbers are little-endian. */
#include "api/routes/snapshot_file.h"
#include "tidemark/jws.h"

enum { /* offsets of the head's parts */
       COUNT_AT = 16,
       NETWORK_AT = 24,
       PROTOCOL_AT = 56,
       REGISTRY_AT = 88,
       LEDGER_AT = 120,
       HASH_AT = 128,
       CLOSED_AT = 160,
       KIND_AT = 192,
       RECORDS_AT = 200,
       DEPLOYMENT_AT = 232,
       HEADER_BYTES = 256,
       SIGNATURE_AT = 288
};

/* Readers in other processes rely on these offsets (api/clients/c/tidemark_snapshot.h). */
static_assert(NETWORK_AT == COUNT_AT + 8 && PROTOCOL_AT == NETWORK_AT + TIDE_HASH_BYTES, "no gap");
static_assert(REGISTRY_AT == PROTOCOL_AT + TIDE_HASH_BYTES, "no gap");
static_assert(LEDGER_AT == REGISTRY_AT + TIDE_HASH_BYTES && HASH_AT == LEDGER_AT + 8, "no gap");
static_assert(CLOSED_AT == HASH_AT + TIDE_HASH_BYTES && KIND_AT == CLOSED_AT + 32, "no gap");
static_assert(RECORDS_AT == KIND_AT + 8 && DEPLOYMENT_AT == RECORDS_AT + TIDE_HASH_BYTES, "no gap");
static_assert(DEPLOYMENT_AT + 4 <= HEADER_BYTES, "the header's parts end inside it");
static_assert(SIGNATURE_AT == HEADER_BYTES + TIDE_HASH_BYTES, "the key's name follows the header");
static_assert(TIDE_SNAPSHOT_HEAD == SIGNATURE_AT + 64, "the signature ends the head");

/* Flags of a record. */
enum { RECORDED = 1, FROZEN = 2, BLOCKED = 4, WHITELISTED = 8, GONE = 128 };

/* The signed text begins with this, including its NUL */
static const char signed_as[] = "tidemark-snapshot-v1";

static void put_u32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put_u64(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put_header(uint8_t *out, const struct tide_snapshot_says *says)
{
    const struct tide_hot_meta *meta = says->meta;
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are little-endian");
    memset(out, 0, HEADER_BYTES);
    memcpy(out, "TIDESNP1", 8);
    put_u32(out + 8, HEADER_BYTES);
    put_u32(out + 12, TIDE_SNAPSHOT_RECORD);
    put_u64(out + COUNT_AT, says->count);
    memcpy(out + NETWORK_AT, meta->network_id, TIDE_HASH_BYTES);
    memcpy(out + PROTOCOL_AT, meta->protocol, TIDE_HASH_BYTES);
    memcpy(out + REGISTRY_AT, meta->contracts[TIDE_ROLE_compliance_registry].key, TIDE_HASH_BYTES);
    put_u32(out + LEDGER_AT, meta->ledger);
    put_u32(out + LEDGER_AT + 4, meta->compliance_complete ? 1 : 0);
    memcpy(out + HASH_AT, meta->hash, TIDE_HASH_BYTES);
    put_u64(out + CLOSED_AT, meta->close_time);
    put_u64(out + CLOSED_AT + 8, (uint64_t)meta->renewed_ms);
    put_u64(out + CLOSED_AT + 16, says->now_ms);
    put_u64(out + CLOSED_AT + 24, says->age_ms);
    put_u32(out + KIND_AT, says->changes);
    put_u32(out + KIND_AT + 4, says->after);
    memcpy(out + RECORDS_AT, says->hash, TIDE_HASH_BYTES);
    put_u32(out + DEPLOYMENT_AT, meta->deployment);
}

void tide_snapshot_put_head(uint8_t out[TIDE_SNAPSHOT_HEAD], const struct tide_snapshot_says *says,
                            const struct tide_sign *key)
{
    uint8_t text[sizeof signed_as + SIGNATURE_AT];
    put_header(out, says);
    tide_jws_thumbprint(out + HEADER_BYTES, tide_sign_public(key));
    memcpy(text, signed_as, sizeof signed_as);
    memcpy(text + sizeof signed_as, out, SIGNATURE_AT);
    tide_sign(key, out + SIGNATURE_AT, tide_slice_of(text, sizeof text));
}

/* The record never contains the jurisdiction, only whether it is blocked. */
void tide_snapshot_put_record(uint8_t out[TIDE_SNAPSHOT_RECORD],
                              const struct tide_hot_address *address,
                              const struct tide_hot_person *person, bool blocked)
{
    static_assert(sizeof *address == 33, "the flags follow the address");
    static_assert(TIDE_SNAPSHOT_RECORD == 40 + sizeof person->expires_at,
                  "the end is its last field");
    memset(out, 0, TIDE_SNAPSHOT_RECORD);
    memcpy(out, address, sizeof *address);
    if (!person) {
        out[33] = GONE;
        return;
    }
    uint16_t status = (uint16_t)(person->status < UINT16_MAX ? person->status : UINT16_MAX);
    out[33] = (uint8_t)((person->recorded ? RECORDED : 0) | (person->frozen ? FROZEN : 0) |
                        (person->recorded && blocked ? BLOCKED : 0) |
                        (person->whitelisted ? WHITELISTED : 0));
    memcpy(out + 34, &status, sizeof status);
    put_u32(out + 36, person->ledger);
    put_u64(out + 40, person->expires_at);
}
