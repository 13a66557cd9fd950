/* Deliberate misbehaviour: which answer goes wrong, how, from when, how often.
 *
 * Text     METHOD=KIND[:ARGUMENT][@FROM][xCOUNT], for instance getLedgers=gap:1050,
 *          sendTransaction=close:after@2x1, *=status:503x10. FROM counts the calls of METHOD since
 *          the fault was set, from 1. COUNT is how many calls it affects (default: all). METHOD is
 *          a method of JSON-RPC, or * for all. faults.def lists the kinds.
 * Threads  Any thread may call any function but open and close. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

/* Kinds of faults, in the order of faults.def. */
enum sim_fault_kind {
#define SIM_FAULT(name, word, where, argument, help) SIM_FAULT_##name,
#include "tools/sim/rpc/faults.def"
#undef SIM_FAULT
    SIM_FAULT_COUNT
};

/* Bytes of an argument's text and of a status word, NUL included. */
enum { SIM_FAULT_TEXT = 128, SIM_FAULT_WORD = 24 };

/* Faults that affect one call. */
struct sim_fault_hit {
    uint64_t on;                      /* a bit for each kind */
    uint64_t number[SIM_FAULT_COUNT]; /* numeric argument of each kind; 0: none was given */
    uint32_t rule[SIM_FAULT_COUNT];   /* place of the fault, for sim_faults_strike */
    char text[SIM_FAULT_TEXT];        /* argument of a kind that takes a text */
};

struct sim_faults;

/* Opens an empty set of faults. Returns TIDE_E_MEMORY. */
tide_status sim_faults_open(struct sim_faults **faults, struct tide_err *err) TIDE_MUST_USE;
void sim_faults_close(struct sim_faults *faults);
/* Adds a fault. Returns TIDE_E_USAGE with the error in the text, or TIDE_E_LIMIT if there are 64
 * faults. */
tide_status sim_faults_add(struct sim_faults *faults, tide_slice text,
                           struct tide_err *err) TIDE_MUST_USE;
/* Removes all faults. */
void sim_faults_clear(struct sim_faults *faults);
/* Appends a JSON array of {"fault", "seen", "struck"}: its text, calls counted, calls affected. */
void sim_faults_list(struct sim_faults *faults, struct tide_buf *json);
/* Appends one line of help for each kind. */
void sim_faults_help(struct tide_buf *text);

/* Counts a call of the method and returns the faults that affect it. Faults that alter a ledger or
 * an event of a page are only proposed: sim_faults_strike decides when the answer is made. */
void sim_faults_match(struct sim_faults *faults, const char *method, struct sim_fault_hit *hit);
/* Returns true if a fault of that kind affects the call. */
static inline bool sim_fault_on(const struct sim_fault_hit *hit, enum sim_fault_kind kind)
{
    return (hit->on >> kind & 1) != 0;
}
/* Splits an argument of the kinds says and claims, such as "PENDING" or "ERROR -9", into the status
 * and the error's code (0 without one). Returns false if text is no such argument. */
bool sim_fault_word(const char *text, char word[SIM_FAULT_WORD], int32_t *code);
/* Counts a proposed fault as having affected the call. Returns false if other calls have used up
 * its count meanwhile. */
bool sim_faults_strike(struct sim_faults *faults, const struct sim_fault_hit *hit,
                       enum sim_fault_kind kind);

#endif
