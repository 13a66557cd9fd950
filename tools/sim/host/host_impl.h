/* Declarations that host*.c share and contracts do not see: tables, touches, undo. */
#ifndef SIM_HOST_IMPL_H
#define SIM_HOST_IMPL_H

#include "tools/sim/host/host.h"

/* realloc that aborts the program if there is no memory. */
void *sim_room(void *old, size_t size);
/* Grows *array, which holds count elements of size bytes, so that one more fits. *max is its
 * capacity. */
void sim_grow(void **array, uint32_t *max, uint32_t count, size_t size);

/* Frees the memory of the last call's outcome: replaced values, and entries that do not exist. */
void sim_drop_outcome(struct sim_host *h);
/* Restores every entry, account and trustline to its state before the call. */
void sim_undo(struct sim_host *h);
/* Gives up the temporary entries that an attempt found lapsed. Called when the attempt is kept. */
void sim_drop_lapsed(struct sim_host *h);
/* Stamps written entries with the present ledger and counts those that differ. */
void sim_commit(struct sim_host *h);

/* Returns the entry of the key, created if need be, and records it in the touches of this call. */
struct sim_entry *sim_entry_touch(struct sim_host *h, struct sim_contract *contract,
                                  const sim_val *key, uint32_t durability);
/* Marks a touched entry as written. The caller calls it before it changes the entry. */
struct sim_touch *sim_entry_write(struct sim_host *h, struct sim_entry *entry);
/* Writes a value; an equal value leaves the stored bytes as they are. */
void sim_entry_store(struct sim_host *h, struct sim_entry *entry, const sim_val *val);
/* Removes an existing, touched entry. */
void sim_entry_clear(struct sim_host *h, struct sim_entry *entry);
/* Frees all entries. */
void sim_store_close(struct sim_host *h);

/* Records the account entry (asset 0) or a trustline in the touches; write marks it as written. */
struct sim_touch *sim_account_touch(struct sim_host *h, struct sim_account *account, uint32_t asset,
                                    bool write);

/* Returns the contract's instance as a tree and touches the entry; NULL if the contract is not
 * deployed. */
struct sim_instance *sim_instance_load(struct sim_host *h, struct sim_contract *contract);
/* Writes the tree, changed in place by the caller, back to the entry. */
void sim_instance_save(struct sim_host *h, struct sim_contract *contract);

/* Refuses if the call's arena is full. */
void sim_check_arena(struct sim_host *h);

#endif
