/* The signature of an intent (a row of kyc.outbox). KYC signs the intent, and the attester checks
 * the signature. Both have the key, but the database has not. A database login that can write rows
 * therefore cannot make an intent that the attester acts upon. */
#ifndef API_BASE_INTENT_H
#define API_BASE_INTENT_H

#include "tidemark/slice.h"

/* The signed fields, each as PostgreSQL prints it. action is attest or revoke. */
enum tide_intent_field {
    TIDE_INTENT_DEPLOYMENT,
    TIDE_INTENT_SUBJECT,
    TIDE_INTENT_SESSION,
    TIDE_INTENT_REV,
    TIDE_INTENT_ACTION,
    TIDE_INTENT_JURISDICTION,
    TIDE_INTENT_EXPIRES,
    TIDE_INTENT_META, /* \x and 64 hex digits */
    TIDE_INTENT_FIELDS
};

/* Computes the HMAC-SHA256 of the fields and the network's id with a key of 32 bytes. No field may
 * be NULL. */
void tide_intent_mac(uint8_t out[TIDE_HASH_BYTES], const uint8_t key[TIDE_HASH_BYTES],
                     const uint8_t network_id[TIDE_HASH_BYTES],
                     const char *const fields[TIDE_INTENT_FIELDS]);
/* Returns whether mac is the MAC of the fields. The time does not depend on mac. */
bool tide_intent_genuine(const uint8_t *mac, size_t mac_len, const uint8_t key[TIDE_HASH_BYTES],
                         const uint8_t network_id[TIDE_HASH_BYTES],
                         const char *const fields[TIDE_INTENT_FIELDS]) TIDE_MUST_USE;

#endif
