/* A hostile chain: attackers add transactions that the network would accept, in ledgers whose
 * hashes are right.
 *
 * Place    The attackers' transactions stand behind all others of a ledger. So the workload's
 *          transactions and event ids are those of the same chain without attackers.
 * Code     Foreign code runs at the protocol's addresses. It does what the published code did, and
 *          also what the attackers want. The model does not learn of the latter.
 * Names    Before all_from, attackers use names of their own: symbols that begin with Z, numbers
 *          from 2^31 on, addresses of their own. They also rename the DAO's contracts for some
 *          ledgers. From all_from on they overwrite entries of the workload too.
 * Bytes    The options of the chain and of this module decide every byte. */
#ifndef SIM_HOSTILE_H
#define SIM_HOSTILE_H

#include "tidemark/status.h"

#include <stdint.h>

struct chain;
struct hostile;

/* The attacks, numbered in the order of attacks.def. */
enum hostile_attack {
#define HOSTILE_ATTACK(name, weight, doc) HOSTILE_##name,
#include "tools/sim/hostile/attacks.def"
#undef HOSTILE_ATTACK
    HOSTILE_ATTACKS
};

/* Options of the attackers. Zeros: there are none. */
struct hostile_options {
    uint64_t seed;     /* 0: no attackers */
    uint32_t all_from; /* ledger from which the workload's entries are attacked too; 0: never */
    uint32_t bulk;     /* repetitions in the attack bulk; 0: 100 */
    uint32_t attacks;  /* bits by enum hostile_attack; 0: all but those of weight 0 */
};

/* Parses a comma-separated list of names into bits. Returns TIDE_E_USAGE, with the name, for an
 * unknown one. */
tide_status hostile_parse(uint32_t *attacks, const char *list, struct tide_err *err) TIDE_MUST_USE;

/* Attaches attackers to an open chain, which must outlive them. *out is NULL if options->seed is 0.
 * Returns TIDE_E_MEMORY. */
tide_status hostile_open(struct hostile **out, struct chain *chain,
                         const struct hostile_options *options) TIDE_MUST_USE;
void hostile_close(struct hostile *h); /* accepts NULL */

#endif
