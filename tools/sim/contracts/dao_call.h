/* Execution of a proposal's call data, and the changes of multisig wallets. */
#ifndef SIM_DAO_CALL_H
#define SIM_DAO_CALL_H

#include "tools/sim/host/host.h"

/* Executes the call data. caller is passed on to the contracts that take a caller. Refuses if a
 * called contract refuses; data of an unknown form does nothing. */
void dao_apply(struct sim_host *h, tide_slice data, sim_val caller);

#define DAO_SIGNERS_MAX 15u

/* Wallet functions, shared by the contract's functions and by actions of call data. */
/* Returns the key of a wallet's entry. */
struct sim_key dao_wallet_key(struct sim_host *h, uint32_t wallet);
/* Returns the wallet. Refuses if it does not exist, or if it is inactive unless `any` is true. */
const sim_val *dao_wallet(struct sim_host *h, uint32_t wallet, bool any);
/* Returns true if the wallet lists the party; *at is its first index then. */
bool dao_wallet_lists(const sim_val *wallet, struct sim_addr party, uint32_t *at);
/* Change the list of signers and store the wallet and its signer entries. Removing refuses if the
 * party is no signer, or if fewer signers than the threshold would be left. */
void dao_signer_add(struct sim_host *h, const sim_val *wallet, sim_val party);
void dao_signer_remove(struct sim_host *h, const sim_val *wallet, struct sim_addr party);

#endif
