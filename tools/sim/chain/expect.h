/* Files with the model's own view of a chain, which an index of the chain must equal. They are
 * written from the model's values while these are made: no ledger is decoded.
 *
 * Files in the folder, one JSON object a line:
 *   events.jsonl   every event of the protocol's calls: ledger, closeTime, tx, op, event, hash,
 *                  type, contract, role, topics, data
 *   calls.jsonl    every call: ledger, closeTime, tx, hash, source, contract, role, name, fn, args,
 *                  ok, ret or reason, events, changed
 *   history.jsonl  every version of every entry: ledger, tx, contract, role, key, durability, and
 *                  val with live_until, or "removed": true. A change of life alone has no val; its
 *                  live_until is null if the entry was evicted
 *   state.jsonl    the entries at the end: contract, role, key, durability, live_until, val */
#ifndef SIM_EXPECT_H
#define SIM_EXPECT_H

#include "tools/sim/chain/chain.h"
#include <stdio.h>

/* The open files. Zeros: none. */
struct expect {
    FILE *events, *calls, *history, *state;
    struct tide_buf line;
    bool failed; /* a write failed; stays set */
};

/* Opens the files; creates the folder if it does not exist. Returns TIDE_E_IO. */
tide_status expect_open(struct expect *expect, const char *dir, struct tide_err *err) TIDE_MUST_USE;
/* Returns a chain_observer that writes the files. */
struct chain_observer expect_observer(struct expect *expect);
/* Writes the state of host (NULL: none) and closes the files. Returns TIDE_E_IO if any write
 * failed. */
tide_status expect_close(struct expect *expect, struct sim_host *host,
                         struct tide_err *err) TIDE_MUST_USE;

/* Appends a value as JSON, in the form of the fixtures. */
void expect_value(struct tide_buf *json, const sim_val *val);
/* Appends an address as a strkey in quotes. */
void expect_address(struct tide_buf *json, struct sim_addr party);

#endif
