/* Webhooks that were not taken, counted: by provider and why. A flood of them costs a counter each,
 * no query and no line of a log; the audit gets one row a minute at most (worker_maintenance.c).
 *
 * Threads  any */
#ifndef API_KYC_WORKER_REFUSED_H
#define API_KYC_WORKER_REFUSED_H

#include "api/kyc/providers/provider.h"

#define TIDE_KYC_REFUSED_WORDS 24u
#define TIDE_KYC_PATIENCE      600u /* forgeries a minute that are told so; more are 429 */

struct tide_kyc_refused; /* opaque */

/* What a webhook came to. */
enum tide_kyc_fate {
    TIDE_KYC_KEPT,       /* in the inbox, new          */
    TIDE_KYC_REPEATED,   /* was there before           */
    TIDE_KYC_NOT_OURS,   /* genuine, of no session     */
    TIDE_KYC_UNREADABLE, /* genuine, not as documented */
    TIDE_KYC_FALSE,      /* forged                     */
    TIDE_KYC_UNKEPT,     /* the database was away      */
    TIDE_KYC_FATE_COUNT
};
const char *tide_kyc_fate_text(enum tide_kyc_fate fate);

/* NULL: no memory. */
struct tide_kyc_refused *tide_kyc_refused_open(void);
void tide_kyc_refused_close(struct tide_kyc_refused *refused); /* NULL is fine */

/* provider: its place in the settings. why: a static word; beyond the table's they count as
 * "other". Of those that went well it is NULL, and they are no matter of the audit. */
void tide_kyc_count(struct tide_kyc_refused *refused, uint32_t provider, enum tide_kyc_fate fate,
                    const char *why);

struct tide_kyc_count_line {
    enum tide_kyc_fate fate;
    const char *why; /* NULL: none */
    uint64_t count;
};
/* Takes one token of the bucket of a provider's forgeries: false when it is empty. Other
 * requests take none, so forgeries lock out no client. */
bool tide_kyc_has_patience(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms);

/* All that was counted of a provider; returns how many lines, at most TIDE_KYC_REFUSED_WORDS. */
uint32_t tide_kyc_counted(struct tide_kyc_refused *refused, uint32_t provider,
                          struct tide_kyc_count_line out[TIDE_KYC_REFUSED_WORDS]);

/* Those with a why that were not told yet, pings and the like aside, each at most once in every_ms.
 * False: none. A caller that can't report them gives them back (tide_kyc_untold). */
bool tide_kyc_to_tell(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms,
                      int64_t every_ms, struct tide_kyc_count_line *out);
void tide_kyc_untold(struct tide_kyc_refused *refused, uint32_t provider,
                     const struct tide_kyc_count_line *line);

#endif
