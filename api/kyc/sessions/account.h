/* Who may sign for an account, as Stellar RPC tells it: the account's entry is asked for when a
 * session is opened by a challenge, since accounts are not indexed.
 *
 * Servers  those of the setting rpc, in its order. An answer counts if it is for this network and
 *          not behind our index. The only server is believed; of several, two have to name the same
 *          signers. A place that got no such answer leaves the servers alone for a second. */
#ifndef API_KYC_SESSIONS_ACCOUNT_H
#define API_KYC_SESSIONS_ACCOUNT_H

#include "api/kyc/base/context.h"
#include "api/kyc/sessions/challenge.h"

/* Of an account that is not on the ledger its own key alone. TIDE_E_IO: no server can be asked now,
 * or no two agree; TIDE_E_STOPPED: the time is over; TIDE_E_CONFIG: rpc names none; TIDE_E_DB,
 * TIDE_E_MEMORY. */
tide_status tide_kyc_signers_fetch(struct tide_kyc_context *context,
                                   const uint8_t account[TIDE_HASH_BYTES],
                                   struct tide_kyc_signers *out,
                                   struct tide_err *err) TIDE_MUST_USE;

/* LedgerEntryData of an account. TIDE_E_DECODE: none of that account. Pure. */
tide_status tide_kyc_signers_read(struct tide_kyc_signers *out,
                                  const uint8_t account[TIDE_HASH_BYTES], tide_slice entry,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
