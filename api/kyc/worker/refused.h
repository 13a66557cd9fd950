/* Counts webhooks by provider, fate and reason. A flood of forged webhooks costs one counter each,
 * no query and no log line. The audit gets at most one row a minute for each reason
 * (worker_maintenance.c).
 *
 * Threads  any */
#ifndef API_KYC_WORKER_REFUSED_H
#define API_KYC_WORKER_REFUSED_H

#include "api/kyc/providers/provider.h"

#define TIDE_KYC_REFUSED_WORDS 24u
/* forgeries a minute that get 401; further ones get 429 */
#define TIDE_KYC_FORGERIES_MINUTE 600u

struct tide_kyc_refused; /* opaque */

/* The fate of a webhook. */
enum tide_kyc_fate {
    TIDE_KYC_KEPT,       /* new, stored in the inbox */
    TIDE_KYC_REPEATED,   /* already in the inbox */
    TIDE_KYC_NOT_OURS,   /* genuine, about no session */
    TIDE_KYC_UNREADABLE, /* genuine, not as documented */
    TIDE_KYC_FALSE,      /* forged */
    TIDE_KYC_UNKEPT,     /* not stored: the database was unreachable */
    TIDE_KYC_FATE_COUNT
};
const char *tide_kyc_fate_text(enum tide_kyc_fate fate);

/* Returns NULL without memory. */
struct tide_kyc_refused *tide_kyc_refused_open(void);
void tide_kyc_refused_close(struct tide_kyc_refused *refused); /* NULL is allowed */

/* Counts a webhook. provider: its index in the settings. why: a static word; NULL for webhooks that
 * were accepted, which the audit does not need. If the table is full, further reasons count as
 * "other". */
void tide_kyc_count(struct tide_kyc_refused *refused, uint32_t provider, enum tide_kyc_fate fate,
                    const char *why);

struct tide_kyc_count_line {
    enum tide_kyc_fate fate;
    const char *why; /* NULL: accepted */
    uint64_t count;
};
/* Takes a token from the provider's bucket of forgeries. Returns false if the bucket is empty.
 * Other requests take no tokens, so forgeries cannot lock out a client. */
bool tide_kyc_take_forgery_token(struct tide_kyc_refused *refused, uint32_t provider,
                                 int64_t now_ms);

/* Copies all counters of a provider. Returns their number, at most TIDE_KYC_REFUSED_WORDS. */
uint32_t tide_kyc_counted(struct tide_kyc_refused *refused, uint32_t provider,
                          struct tide_kyc_count_line out[TIDE_KYC_REFUSED_WORDS]);

/* Returns the next counter that has grown since its last report, at most once in every_ms. Webhooks
 * about no session (pings) are not reported. False: there is none. A caller that cannot write the
 * report calls tide_kyc_undo_report. */
bool tide_kyc_next_report(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms,
                          int64_t every_ms, struct tide_kyc_count_line *out);
void tide_kyc_undo_report(struct tide_kyc_refused *refused, uint32_t provider,
                          const struct tide_kyc_count_line *line);

#endif
