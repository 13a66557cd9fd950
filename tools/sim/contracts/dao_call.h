/* What a proposal's call data does when it is carried out. */
#ifndef SIM_DAO_CALL_H
#define SIM_DAO_CALL_H

#include "tools/sim/host/host.h"

/* Carries data out; caller is named to the contracts that ask for one. Refuses as they do. */
void dao_apply(struct sim_host *h, tide_slice data, sim_val caller);

#define DAO_SIGNERS_MAX 15u

/* Wallets, as the functions and the actions both change them. */
struct sim_key dao_wallet_key(struct sim_host *h, uint32_t wallet);
/* The wallet; refused when absent, and unless any is given, when inactive. */
const sim_val *dao_wallet(struct sim_host *h, uint32_t wallet, bool any);
/* Whether the wallet lists the party; *at is its first index. */
bool dao_wallet_lists(const sim_val *wallet, struct sim_addr party, uint32_t *at);
void dao_signer_add(struct sim_host *h, const sim_val *wallet, sim_val party);
void dao_signer_remove(struct sim_host *h, const sim_val *wallet, struct sim_addr party);

#endif
