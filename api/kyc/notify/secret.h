/* Secrets of webhooks to partners, and signatures by the Standard Webhooks specification. Secrets
 * are derived, not stored: HMAC-SHA256(webhookKey, "webhook" || 0 || id || 0 || revision). */
#ifndef API_KYC_NOTIFY_SECRET_H
#define API_KYC_NOTIFY_SECRET_H

#include "api/kyc/base/settings.h"
#include "api/kyc/base/token.h"

#define TIDE_NOTIFY_SECRET_BYTES    51u  /* "whsec_", base64 of 32 bytes, NUL */
#define TIDE_NOTIFY_SIGNATURE_BYTES 104u /* two of "v1," and base64 of 32 bytes, NUL */

/* Writes the secret of a revision as the integrator sees it. The caller wipes out. */
void tide_notify_secret(char out[TIDE_NOTIFY_SECRET_BYTES],
                        const struct tide_kyc_settings *settings, const char *hook,
                        uint32_t revision);

/* Writes what goes into the id of a notification about an address, and what the receiver cannot
 * compute: the other parts alone would let it try which jurisdiction's block is one of them. */
void tide_notify_blind(char out[2 * TIDE_HASH_BYTES + 1], const struct tide_kyc_settings *settings,
                       const char *hook, const char *address);

/* Derives the id of the webhook that an integrator registers with this Idempotency-Key, so that a
 * repeated request creates no second webhook. */
void tide_notify_id(char out[TIDE_KYC_SESSION_BYTES], const struct tide_kyc_settings *settings,
                    const char *integrator, tide_slice idempotency);

struct tide_notify_message {
    const char *hook; /* 32 hex digits */
    uint32_t revision;
    bool previous; /* true: the secret of revision - 1 signs too */
    const char *id;
    int64_t at; /* unix seconds of this attempt */
    tide_slice body;
};

/* Writes the value of the header webhook-signature. Returns false without memory. */
bool tide_notify_sign(char out[TIDE_NOTIFY_SIGNATURE_BYTES],
                      const struct tide_kyc_settings *settings,
                      const struct tide_notify_message *message);

#endif
