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
 *           threads of their own, and none of either is the SQL pool's. */
#ifndef API_KYC_KYC_H
#define API_KYC_KYC_H

#include "api/kyc/base/process.h"
#include "api/kyc/base/state.h"

struct tide_api;

/* Integrators and their API keys, of which routes without KYC want to know too. TIDE_OK with *out
 * NULL when there is neither a KYC file nor kyc_database_url: X-API-Key is then ignored. Does not
 * connect yet (tide_kyc_keys_start). */
tide_status tide_kyc_open_keys(struct tide_kyc_keys **out, const struct tide_config *config,
                               const struct tide_clock *clock, struct tide_err *err) TIDE_MUST_USE;

/* TIDE_OK with *out NULL when kyc_file is not set and systemd hands over no tidemark_kyc_file:
 * routes of KYC answer 404 kyc_not_configured. Reads the file (TIDE_E_CONFIG says what is wrong
 * with it), does not connect yet. Of api, which is borrowed, config, clock, select, hot and keys
 * are used; keys is started before tide_kyc_start. */
tide_status tide_kyc_open(struct tide_kyc **out, const struct tide_api *api,
                          struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_start(struct tide_kyc *kyc, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_close(struct tide_kyc *kyc); /* NULL is fine; answers what waits */

/* True while one of its threads is connected to its database. Any thread; does not wait. */
bool tide_kyc_is_connected(const struct tide_kyc *kyc);
/* True while none is and the servers of its database that answer are standbys. */
bool tide_kyc_lacks_primary(const struct tide_kyc *kyc);
/* Appends what /metrics says of KYC. Any thread; does not wait. */
void tide_kyc_metrics(const struct tide_kyc *kyc, struct tide_buf *out);

/* A request of a route of KYC. On the connection's thread; never waits. TIDE_JOB_ANSWERED: the
 * reply is a page, or a refusal that needed no look-up. */
enum tide_job_submitted tide_kyc_submit(struct tide_kyc *kyc, struct tide_job *job) TIDE_MUST_USE;

#endif
