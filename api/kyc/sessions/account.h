/* Reads an account's signers from Stellar RPC, when a client opens a session with a challenge. The
 * index has no accounts, so the server asks the network each time.
 *
 * Servers  the setting rpc, in its order. An answer counts if it is for this network and at most 20
 *          ledgers behind the index. A single server is believed. Of several, two must name the
 *          same signers. After a failure the context sends no request for a second. */
#ifndef API_KYC_SESSIONS_ACCOUNT_H
#define API_KYC_SESSIONS_ACCOUNT_H

#include "api/kyc/base/context.h"
#include "api/kyc/sessions/challenge.h"

/* Fetches the signers of an account. An account that is not on the ledger has its own key only.
 * TIDE_E_IO: no server gave a usable answer, or no two agree. TIDE_E_STOPPED: the deadline has
 * passed. TIDE_E_CONFIG: rpc names no server. Also TIDE_E_DB and TIDE_E_MEMORY. */
tide_status tide_kyc_signers_fetch(struct tide_kyc_context *context,
                                   const uint8_t account[TIDE_HASH_BYTES],
                                   struct tide_kyc_signers *out,
                                   struct tide_err *err) TIDE_MUST_USE;

/* Reads the signers from LedgerEntryData. TIDE_E_DECODE: not the entry of that account. Pure. */
tide_status tide_kyc_signers_read(struct tide_kyc_signers *out,
                                  const uint8_t account[TIDE_HASH_BYTES], tide_slice entry,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
