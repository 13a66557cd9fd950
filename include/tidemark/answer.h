/* Answers of look-ups as JSON, made through a reader: tidemark-api sends them, and verify computes
 * them again. The caller opens the object (tide_answer_begin) and closes it.
 *
 * Returned  uint64_t: the last second at which the answer stays the same if nothing happens on the
 *           chain; 0: no such end is known. A receipt ends no later. */
#ifndef TIDEMARK_ANSWER_H
#define TIDEMARK_ANSWER_H

#include "tidemark/lookup.h"
#include "tidemark/record_json.h"

#define TIDE_WAD_DECIMALS 7u /* decimals of prices */

/* Opens the answer: {"ledger":"N","closedAt":"…" */
struct tide_json tide_answer_begin(struct tide_buf *out, const struct tide_reader *reader);
/* Writes "agreesWithDao": whether the DAO's storage names the contracts of the deployment file.
 * Compliance and prices come from the file's contracts in any case. */
void tide_answer_agrees(struct tide_json *j, const struct tide_reader *reader);

/* Writes status, reasonCode and validUntil, as each answer about an address has them. */
void tide_answer_reason(struct tide_json *j, const struct tide_standing *standing);
/* Writes the members of one standing. text is the address as the client wrote it. */
uint64_t tide_answer_standing(struct tide_json *j, struct tide_reader *reader,
                              const struct tide_hot_address *who, tide_slice text);
/* Writes evaluatedAt, agreesWithDao and the standing: the whole answer of
 * /api/sdk/kyc/status/{address}. */
uint64_t tide_answer_status(struct tide_json *j, struct tide_reader *reader,
                            const struct tide_hot_address *who, tide_slice text);

/* Writes "decimals" of a token; null: not known. */
void tide_answer_decimals(struct tide_json *j, struct tide_reader *reader,
                          const struct tide_hot_address *token);
/* Writes the members of a feed. feed NULL: all are null, and stale is true. */
void tide_answer_feed(struct tide_json *j, const struct tide_hot_feed *feed, uint64_t now);
/* Writes the whole answer of /api/prices/{asset}. feed is not NULL. */
uint64_t tide_answer_price(struct tide_json *j, struct tide_reader *reader,
                           const struct tide_hot_symbol *asset, const struct tide_hot_feed *feed);

struct tide_quote {
    const struct tide_hot_pool *pool; /* valid as long as the reader */
    struct tide_swap swap;
    tide_raw_i128 amount_in;
    bool a_to_b;
};
/* Computes the quote of the pool's contract. Returns the reason if the contract would refuse it. */
enum tide_refusal tide_answer_find_quote(struct tide_quote *out, struct tide_reader *reader,
                                         const struct tide_hot_symbol *id, tide_raw_i128 amount_in,
                                         bool a_to_b) TIDE_MUST_USE;
/* Writes spotPrice, as the contract says it, and spotPriceScaled, the same in whole tokens: A in B,
 * or B in A. */
void tide_answer_spot(struct tide_json *j, struct tide_reader *reader,
                      const struct tide_hot_pool *pool, bool a_to_b);
/* Writes the whole answer of /api/pools/{pool}/quote. */
void tide_answer_quote(struct tide_json *j, struct tide_reader *reader,
                       const struct tide_quote *quote);

#endif
