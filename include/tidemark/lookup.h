/* Look-ups of hot routes through a reader. Answers are structs, not yet text. No function here
 * knows HTTP. */
#ifndef TIDEMARK_LOOKUP_H
#define TIDEMARK_LOOKUP_H

#include "tidemark/cache_meta.h"
#include "tidemark/reader.h"
#include "tidemark/rule.h"

/* Computes the standing of an address. *person is its record, or NULL if there is none. */
void tide_lookup_standing(struct tide_reader *reader, const struct tide_hot_address *who,
                          struct tide_standing *out, const struct tide_hot_person **person);
/* Returns true if the gate of that role's contract (pool, engine, stability pool) would let the
 * address pass. */
bool tide_lookup_gate(struct tide_reader *reader, const struct tide_standing *standing,
                      const struct tide_hot_person *person, enum tide_role role);

/* Computes the trade of the last day. Returns false if there is no such pool. */
bool tide_lookup_window(struct tide_reader *reader, const struct tide_hot_symbol *pool,
                        struct tide_window *out);
/* Finds the contract that the deployment file names usdc. Returns false if there is none. */
bool tide_lookup_quote(struct tide_reader *reader, struct tide_hot_address *out);
/* Returns the deployment file's contract of that role, or NULL. Of tokens and stellar assets it
 * returns the first by address whose role_name matches (NULL: any). address may be NULL. */
const struct tide_hot_contract *tide_lookup_contract(struct tide_reader *reader,
                                                     enum tide_role role, const char *role_name,
                                                     struct tide_hot_address *address);
/* Returns the decimals of a token, at most 38, or TIDE_JSON_UNKNOWN. */
uint32_t tide_lookup_decimals(struct tide_reader *reader, const struct tide_hot_address *token);
/* Returns the decimals that all tokens of the engine's list of collateral have, or
 * TIDE_JSON_UNKNOWN: sums of collateral add up whatever tokens. */
uint32_t tide_lookup_collateral_decimals(struct tide_reader *reader);
/* Returns the token's own symbol, valid as long as the reader, or NULL if its instance is not known
 * or has none. */
const struct tide_hot_name *tide_lookup_symbol(struct tide_reader *reader,
                                               const struct tide_hot_address *token);
/* Returns false for a discovered token whose past is not read yet, or that exceeds the limit of
 * discovered tokens: its records are incomplete. */
bool tide_lookup_is_watched(struct tide_reader *reader, const struct tide_hot_address *token);

#endif
