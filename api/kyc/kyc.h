/* Know your customer: sessions at providers, their webhooks, and the decisions that come of them.
 *
 *   session   POST /api/sdk/kyc/session makes a row, then asks the provider for a page
 *   webhook   says only that something happened: verified, kept in the inbox, answered
 *   worker    fetches the decision by our own address, compares it with the session's, and in one
 *             transaction moves the session, puts an intent into the outbox, notes it in the audit
 *   attester  another process, which holds the key: takes the outbox to the chain
 *
 * People    nothing of a person is kept, logged or answered: no name, date, document, address of
 *           the network. What a provider's answer has of these dies with its buffer.
 * Database  the primary's, as tidemark_kyc (kyc_database_url): not the replica that reads use.
 * Threads   a provider may take ten seconds, a webhook may not wait: sessions and webhooks have
 *           threads of their own (desk.h), and none of either is the SQL pool's. */
#ifndef API_KYC_KYC_H
#define API_KYC_KYC_H

#include "api/kyc/base/settings.h"
#include "api/sql/sql_pool.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

#define TIDE_KYC_ADDRESS_BYTES 57u /* G… or C…, NUL-terminated */

struct tide_kyc; /* opaque: all of it, of one process */

/* Where a session stands. Texts are those of kyc.session.state. */
enum tide_kyc_state {
    TIDE_KYC_CREATED,         /* nobody came yet                                     */
    TIDE_KYC_PENDING,         /* the person, or the provider, is at it               */
    TIDE_KYC_REVIEW,          /* somebody must look: at the provider's, or with us   */
    TIDE_KYC_ACTION_REQUIRED, /* the person must come again                          */
    TIDE_KYC_APPROVED,
    TIDE_KYC_DECLINED,
    TIDE_KYC_EXPIRED,
    TIDE_KYC_REVOKED, /* approved once, withdrawn by the provider since */
    TIDE_KYC_STATE_COUNT
};

const char *tide_kyc_state_text(enum tide_kyc_state state);
bool tide_kyc_state_of(tide_slice text, enum tide_kyc_state *out);
/* created, pending, review, action_required: the same request asked again is the same session. */
bool tide_kyc_is_open(enum tide_kyc_state state);

/* TIDE_OK with *out NULL when kyc_file is not set and systemd hands over no tidemark_kyc_file:
 * routes of KYC answer 404 not_configured. Reads the file (TIDE_E_CONFIG says what is wrong with
 * it), connects to nobody yet. */
tide_status tide_kyc_open(struct tide_kyc **out, const struct tide_config *config,
                          const struct tide_clock *clock, struct tide_deployment_select *select,
                          struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_start(struct tide_kyc *kyc, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_close(struct tide_kyc *kyc); /* NULL is fine; answers what waits */

const struct tide_kyc_settings *tide_kyc_settings(const struct tide_kyc *kyc);
/* Webhooks that were refused: api/kyc/worker/refused.h. */
struct tide_kyc_refused;
struct tide_kyc_refused *tide_kyc_refused_of(const struct tide_kyc *kyc);
/* The provider of a webhook's path; NULL: there is none, and the reply says so. Does not wait. */
const struct tide_kyc_provider *tide_kyc_webhook_provider(const struct tide_kyc *kyc,
                                                          const struct tide_request *request,
                                                          struct tide_reply *reply);
/* True while one of its threads is connected to its database. Any thread; does not wait. */
bool tide_kyc_is_connected(const struct tide_kyc *kyc);
/* Appends what /metrics says of KYC. Any thread; waits for nobody. */
void tide_kyc_metrics(const struct tide_kyc *kyc, struct tide_buf *out);

/* A request of kind KYC. On the connection's thread, never waits.
 * TIDE_KYC_ANSWERED  the reply is complete: a page, or what is refused without looking anything up
 * TIDE_KYC_QUEUED    job->done follows on another thread
 * TIDE_KYC_FULL      too many wait: 503 */
enum tide_kyc_taken { TIDE_KYC_ANSWERED, TIDE_KYC_QUEUED, TIDE_KYC_FULL };
enum tide_kyc_taken tide_kyc_take(struct tide_kyc *kyc, struct tide_job *job) TIDE_MUST_USE;

#endif
