/* The meaning of a DAO proposal's call_data, as JSON for people.
 *
 *   {"action":4,"name":"adjust_ratios","min_ratio":"15000","liq_penalty":"500"}
 *   {"action":99,"name":"generic","hex":"63000000…"}       unknown number, opaque by design
 *   {"action":null,"name":"none"}                          empty: does nothing
 *   {"action":9,"name":"…","undecodable":true,"hex":"…"}   known action, malformed payload;
 *                                                          action is null below four bytes
 * Numbers of 128 bits are strings, hashes are hex, addresses are strkeys. Bytes behind the payload,
 * which the contract ignores, are shown in hex as "ignored". Any input gives valid JSON. */
#ifndef INDEXER_DECODE_ACTION_H
#define INDEXER_DECODE_ACTION_H

#include "tidemark/buf.h"

/* Returns TIDE_OK, or TIDE_E_LIMIT if json is full. */
tide_status tide_action_json(struct tide_buf *json, tide_slice call_data) TIDE_MUST_USE;

#endif
