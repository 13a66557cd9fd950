/* Functions that the files of notify/ share. notify.c calls send.c and watch.c; watch.c calls
 * watch_compare.c. */
#ifndef API_KYC_NOTIFY_NOTIFY_IMPL_H
#define API_KYC_NOTIFY_NOTIFY_IMPL_H

#include "api/kyc/base/thread.h"
#include "api/kyc/notify/notify.h"

#include <stdatomic.h>

/* --- send.c ------------------------------------------------------------------------------- */

/* Senders by index, as kyc.hook_claim knows their shares: up to NOTIFY_ANY take any delivery, up to
 * NOTIFY_NEW avoid slow endpoints, the others serve proven endpoints only. */
enum { NOTIFY_ANY = 2, NOTIFY_NEW = 4, NOTIFY_SENDERS = 8 };

/* Attempts of this process's senders. */
struct notify_sent {
    atomic_uint_least64_t delivered, failed;
};

struct notify_sender {
    struct notify_sent *sent;
    uint32_t index; /* from 1 */
    struct tide_kyc_thread thread;
    struct tide_kyc_context context;
    struct tide_http *http; /* connects to public addresses only */
};

/* Opens the sender without starting its thread. *sender must stay where it is. */
tide_status notify_sender_open(struct notify_sender *sender,
                               const struct tide_kyc_context_options *options,
                               struct tide_err *err);
void notify_sender_close(struct notify_sender *sender);

/* --- watch.c ------------------------------------------------------------------------------ */

struct notify_watch; /* opaque: only the watcher's thread writes it */

tide_status notify_watch_open(struct notify_watch **out,
                              const struct tide_kyc_context_options *options, struct tide_hot *hot,
                              struct tide_err *err);
tide_status notify_watch_start(struct notify_watch *watch, struct tide_err *err);
void notify_watch_close(struct notify_watch *watch); /* NULL is allowed */
/* Appends to /metrics. Any thread. */
void notify_watch_metrics(const struct notify_watch *watch, struct tide_buf *out);

/* --- both --------------------------------------------------------------------------------- */

/* Sets *agree to false if the clocks of host, database and chain differ by more than clock_skew_s:
 * then nothing may be deleted or disabled because of its age. */
tide_status notify_clocks_agree(struct tide_kyc_context *context, bool *agree,
                                struct tide_err *err);

#endif
