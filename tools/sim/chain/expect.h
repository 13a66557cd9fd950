/* The model's own account of a chain: what an index of it must hold. Written from the model's
 * values while they are made; no ledger is decoded.
 *
 * Files in the folder, one JSON object a line:
 *   events.jsonl   every event of the protocol's calls: ledger, closeTime, tx, op, event, hash,
 *                  type, contract, role, topics, data
 *   calls.jsonl    every call: ledger, closeTime, tx, hash, source, contract, role, name, fn, args,
 *                  ok, ret or reason, events, changed
 *   history.jsonl  every version of every entry: ledger, tx, contract, role, key, durability, and
 *                  val with live_until, or "removed": true; a change of life alone has no val,
 *                  and live_until null when the entry was evicted
 *   state.jsonl    the entries at the end: contract, role, key, durability, live_until, val */
#ifndef SIM_EXPECT_H
#define SIM_EXPECT_H

#include "tools/sim/chain/chain.h"
#include <stdio.h>

struct expect {
    FILE *events, *calls, *history, *state;
    struct tide_buf line;
    bool failed; /* a write; sticky */
};

/* The folder is made when it is not there. TIDE_E_IO. */
tide_status expect_open(struct expect *expect, const char *dir, struct tide_err *err) TIDE_MUST_USE;
/* A chain_observer of this account. */
struct chain_observer expect_observer(struct expect *expect);
/* Writes the state and closes; TIDE_E_IO when anything could not be written. */
tide_status expect_close(struct expect *expect, struct sim_host *host,
                         struct tide_err *err) TIDE_MUST_USE;

/* A value in the form of the fixtures. (expect_value.c) */
void expect_value(struct tide_buf *json, const sim_val *val);
void expect_address(struct tide_buf *json, struct sim_addr party);

#endif
