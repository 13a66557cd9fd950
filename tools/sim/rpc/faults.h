/* Misbehaviour on purpose: which answer goes wrong, how, from when, how often.
 *
 * Text     METHOD=KIND[:ARGUMENT][@FROM][xCOUNT], for instance getLedgers=gap:1050,
 *          sendTransaction=close:after@2x1, *=status:503x10. FROM counts the calls of METHOD since
 *          the fault was set, from 1; COUNT is how often it strikes (default: always). METHOD is
 *          one of JSON-RPC's, or * for all. Kinds: faults.def.
 * Threads  any. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

enum sim_fault_kind {
#define SIM_FAULT(name, word, where, argument, help) SIM_FAULT_##name,
#include "tools/sim/rpc/faults.def"
#undef SIM_FAULT
    SIM_FAULT_COUNT
};

enum { SIM_FAULT_TEXT = 128, SIM_FAULT_WORD = 24 };

/* What strikes one call. */
struct sim_fault_hit {
    uint64_t on;                      /* a bit for each kind                    */
    uint64_t number[SIM_FAULT_COUNT]; /* its argument, 0 where none was given   */
    uint32_t rule[SIM_FAULT_COUNT];   /* for sim_faults_strike                  */
    char text[SIM_FAULT_TEXT];        /* of a kind that has one                 */
};

struct sim_faults;

tide_status sim_faults_open(struct sim_faults **faults, struct tide_err *err) TIDE_MUST_USE;
void sim_faults_close(struct sim_faults *faults);
/* Adds one. TIDE_E_USAGE with what is wrong with the text, TIDE_E_LIMIT for the 65th. */
tide_status sim_faults_add(struct sim_faults *faults, tide_slice text,
                           struct tide_err *err) TIDE_MUST_USE;
void sim_faults_clear(struct sim_faults *faults);
/* A JSON array of {"fault", "seen", "struck"}. */
void sim_faults_list(struct sim_faults *faults, struct tide_buf *json);
/* A line for each kind. */
void sim_faults_help(struct tide_buf *text);

/* Counts a call of method and tells what strikes it. Those that alter a ledger or an event of a
 * page are only proposed: sim_faults_strike takes them. */
void sim_faults_match(struct sim_faults *faults, const char *method, struct sim_fault_hit *hit);
static inline bool sim_fault_on(const struct sim_fault_hit *hit, enum sim_fault_kind kind)
{
    return (hit->on >> kind & 1) != 0;
}
/* "PENDING", "ERROR -9" of says and claims: the word, and the code that an error has. False when
 * text is none of them. */
bool sim_fault_word(const char *text, char word[SIM_FAULT_WORD], int32_t *code);
/* Counts a proposed one as having struck; false when it has done so often enough meanwhile. */
bool sim_faults_strike(struct sim_faults *faults, const struct sim_fault_hit *hit,
                       enum sim_fault_kind kind);

#endif
