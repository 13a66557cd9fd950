/* A hostile chain: whatever the network would accept, in ledgers whose hashes are right.
 *
 * Where    Attackers' transactions stand behind all others of a ledger. So the workload's
 *          transactions and event ids are those of the same chain without attackers.
 * What     Foreign code runs at our contracts' addresses. It does what the published code did, and
 *          also what the attackers want. The model does not learn of it.
 * Apart    Before all_from, attackers use names of their own (symbols that begin with Z, numbers
 *          from 2^31 on, addresses of their own), and rename the DAO's contracts for some ledgers.
 *          From all_from on they also overwrite entries of the workload.
 * Same     The options of the chain and the seed here decide every byte. */
#ifndef SIM_HOSTILE_H
#define SIM_HOSTILE_H

#include "tidemark/status.h"

#include <stdint.h>

struct chain;
struct hostile;

enum hostile_attack {
#define HOSTILE_ATTACK(name, weight, doc) HOSTILE_##name,
#include "tools/sim/hostile/attacks.def"
#undef HOSTILE_ATTACK
    HOSTILE_ATTACKS
};

/* Zeros: no attackers. */
struct hostile_options {
    uint64_t seed;     /* 0: no attackers                                     */
    uint32_t all_from; /* ledger from which nothing is spared; 0: never       */
    uint32_t bulk;     /* repetitions of the attack bulk; 0: 100             */
    uint32_t attacks;  /* bits by enum hostile_attack; 0: all                 */
};

/* attacks from a comma list of names; TIDE_E_USAGE names what it does not know. */
tide_status hostile_parse(uint32_t *attacks, const char *list, struct tide_err *err) TIDE_MUST_USE;

/* Attackers on an open chain, which must live longer; none when options->seed is 0 (*out is NULL).
 * TIDE_E_MEMORY. */
tide_status hostile_open(struct hostile **out, struct chain *chain,
                         const struct hostile_options *options) TIDE_MUST_USE;
void hostile_close(struct hostile *h); /* NULL is fine */

#endif
