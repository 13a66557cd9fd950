/* Identity checks (KYC): sessions at providers, the providers' webhooks, and the decisions.
 *
 *   session   POST /api/sdk/kyc/session stores a row, then asks the provider for a hosted page
 *   webhook   says only that something happened: the route verifies it, stores it in the inbox and
 *             answers
 *   worker    asks the provider for the decision, checks that the decision belongs to the session,
 *             and in one transaction updates the session, puts an intent into the outbox and writes
 *             the audit row
 *   attester  another process, which holds the signing key and submits the outbox to the chain
 *
 * Privacy   no personal data is stored, logged or answered: no name, date, document or network
 *           address. Such data in a provider's answer is wiped together with its buffer.
 * Database  the primary, as role tidemark_kyc (kyc_database_url). The replica serves reads only.
 * Threads   a provider may take ten seconds and a webhook may not wait. Sessions and webhooks
 *           therefore have worker threads of their own, apart from those of the SQL pool. */
#ifndef API_KYC_KYC_H
#define API_KYC_KYC_H

#include "api/kyc/base/process.h"
#include "api/kyc/base/state.h"

struct tide_api;

/* Opens the store of integrators and API keys. Routes outside KYC check keys with the same store.
 * Returns TIDE_OK with *out NULL if neither kyc_file nor kyc_database_url is configured: the server
 * then ignores X-API-Key. Does not connect yet (tide_kyc_keys_start does). */
tide_status tide_kyc_open_keys(struct tide_kyc_keys **out, const struct tide_config *config,
                               const struct tide_clock *clock, struct tide_err *err) TIDE_MUST_USE;

/* Opens KYC. Returns TIDE_OK with *out NULL if kyc_file is not set and systemd passes no credential
 * tidemark_kyc_file: KYC's routes then answer 404 kyc_not_configured. Reads the file and returns
 * TIDE_E_CONFIG with the faulty member's name. Does not connect yet. Borrows api, and uses its
 * config, clock, select, hot and keys. The caller starts keys before it calls tide_kyc_start. */
tide_status tide_kyc_open(struct tide_kyc **out, const struct tide_api *api,
                          struct tide_err *err) TIDE_MUST_USE;
/* Connects once, starts the workers and the webhook sender. TIDE_E_CONFIG: the KYC file contains a
 * setting that the main network forbids. */
tide_status tide_kyc_start(struct tide_kyc *kyc, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_close(struct tide_kyc *kyc); /* Answers all waiting jobs first. NULL is allowed. */

/* True while at least one worker thread is connected to the database. Any thread; never blocks. */
bool tide_kyc_is_connected(const struct tide_kyc *kyc);
/* True while no worker is connected and each server that answered is a standby. */
bool tide_kyc_lacks_primary(const struct tide_kyc *kyc);
/* Appends KYC's lines of /metrics. Any thread; never blocks. */
void tide_kyc_metrics(const struct tide_kyc *kyc, struct tide_buf *out);

/* Handles a request of a KYC route on the connection's thread; never blocks. TIDE_JOB_ANSWERED: the
 * handler has already written the reply, because the request needed no worker. */
enum tide_job_submitted tide_kyc_submit(struct tide_kyc *kyc, struct tide_job *job) TIDE_MUST_USE;

#endif
