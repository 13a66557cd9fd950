/* What host*.c share and contracts do not see: tables, touches, undo. */
#ifndef SIM_HOST_IMPL_H
#define SIM_HOST_IMPL_H

#include "tools/sim/host/host.h"

/* Memory that must be there: the simulator ends without it. */
void *sim_room(void *old, size_t size);
/* Grows *array, of count elements of size bytes, so that one more fits. */
void sim_grow(void **array, uint32_t *max, uint32_t count, size_t size);

uint64_t sim_hash(uint64_t seed, const void *bytes, size_t len);

/* Ends what the last call left: its replaced values, and entries that do not exist. */
void sim_drop_outcome(struct sim_host *h);
/* Puts every entry, account and trustline back to what it was before the call. */
void sim_undo(struct sim_host *h);
/* An attempt is kept: the temporary entries that it found lapsed are given up. */
void sim_drop_lapsed(struct sim_host *h);
/* Stamps what was written and counts what differs. */
void sim_commit(struct sim_host *h);

/* The entry, made if need be, in the touches of this call. */
struct sim_entry *sim_entry_touch(struct sim_host *h, struct sim_contract *contract,
                                  const sim_val *key, uint32_t durability);
/* Notes that a touched entry is written; call before changing it. */
struct sim_touch *sim_entry_write(struct sim_host *h, struct sim_entry *entry);
void sim_entry_store(struct sim_host *h, struct sim_entry *entry, const sim_val *val);
/* Removes an existing entry. */
void sim_entry_clear(struct sim_host *h, struct sim_entry *entry);
void sim_store_close(struct sim_host *h);

/* The account itself (asset 0) or its trustline, in the touches; write as above. */
struct sim_touch *sim_account_touch(struct sim_host *h, struct sim_account *account, uint32_t asset,
                                    bool write);

/* Instance entry and tree of a deployed contract; NULL when it has none. */
struct sim_instance *sim_instance_load(struct sim_host *h, struct sim_contract *contract);
/* Writes the (changed) tree back. */
void sim_instance_save(struct sim_host *h, struct sim_contract *contract);

/* Instance storage of a new Stellar asset contract. (contracts/stellar_asset.c) */
sim_val sim_asset_storage(struct sim_host *h, const struct sim_contract *contract);

/* Refuses when the call's arena is full. */
void sim_check_arena(struct sim_host *h);

#endif
