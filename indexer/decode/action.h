/* What a DAO proposal's call_data will do, as JSON for a reader.
 *
 *   {"action":4,"name":"adjust_ratios","min_ratio":"15000","liq_penalty":"500"}
 *   {"action":99,"name":"generic","hex":"63000000…"}       opaque by design, or unknown
 *   {"action":null,"name":"none"}                          empty: does nothing
 *   {"action":9,"name":"…","undecodable":true,"hex":"…"}   known action, malformed payload;
 *                                                          under four bytes: action null
 * Numbers of 128 bits are strings, hashes hex, addresses strkeys. Bytes behind a payload, which
 * the contract ignores, come as "ignored" in hex. Any bytes give valid JSON. */
#ifndef INDEXER_DECODE_ACTION_H
#define INDEXER_DECODE_ACTION_H

#include "tidemark/buf.h"

/* TIDE_OK, or TIDE_E_LIMIT when json is full. */
tide_status tide_action_json(struct tide_buf *json, tide_slice call_data) TIDE_MUST_USE;

#endif
