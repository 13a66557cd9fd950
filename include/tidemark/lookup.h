/* Look-ups of hot routes over a reader: answers as structs, not yet as text. Knows no HTTP. */
#ifndef TIDEMARK_LOOKUP_H
#define TIDEMARK_LOOKUP_H

#include "tidemark/cache_meta.h"
#include "tidemark/reader.h"
#include "tidemark/rule.h"

/* Standing of an address; *person is its record, NULL when nothing is known of it. */
void tide_lookup_standing(struct tide_reader *reader, const struct tide_hot_address *who,
                          struct tide_standing *out, const struct tide_hot_person **person);
/* Returns true if the gate of that role's contract (pool, engine, stability pool) would let the
 * address pass. */
bool tide_lookup_gate(struct tide_reader *reader, const struct tide_standing *standing,
                      const struct tide_hot_person *person, enum tide_role role);

/* Trade of the last day; false when there is no such pool. */
bool tide_lookup_window(struct tide_reader *reader, const struct tide_hot_symbol *pool,
                        struct tide_window *out);
/* The contract that is usdc, as the deployment names it; false when there is none. */
bool tide_lookup_quote(struct tide_reader *reader, struct tide_hot_address *out);
/* The deployment file's contract of that role; of tokens and stellar assets the first by address
 * whose role_name that is (NULL: any). NULL: none. address may be NULL. */
const struct tide_hot_contract *tide_lookup_contract(struct tide_reader *reader,
                                                     enum tide_role role, const char *role_name,
                                                     struct tide_hot_address *address);
/* Decimals of a token, TIDE_JSON_UNKNOWN when its instance is not known. */
uint32_t tide_lookup_decimals(struct tide_reader *reader, const struct tide_hot_address *token);
/* The token's own symbol, as long as the reader; NULL when its instance is not known or names
 * none. */
const struct tide_hot_name *tide_lookup_symbol(struct tide_reader *reader,
                                               const struct tide_hot_address *token);
/* False for a token that was discovered and whose past is not read yet, or that is past the limit
 * of discovered tokens: little is known of it. */
bool tide_lookup_is_watched(struct tide_reader *reader, const struct tide_hot_address *token);

#endif
