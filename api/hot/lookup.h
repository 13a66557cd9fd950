/* What hot routes ask of a view: the answers, not yet as text. Nothing here knows HTTP. */
#ifndef API_HOT_LOOKUP_H
#define API_HOT_LOOKUP_H

#include "api/hot/reader.h"
#include "schema/rule/rule.h"

#define TIDE_LOOKUP_AGE_MAX (UINT64_C(1) << 52) /* milliseconds; exact in JSON and metrics */

/* The later of the wall clock and the newest close time, unix seconds: what "now" is. */
uint64_t tide_lookup_now(const struct tide_hot_meta *meta, int64_t wall_ms);
/* How old the cache's knowledge is, milliseconds: since the indexer was last heard of (age.h), as
 * the feeder found it, and the time since then. host_ms is tide_clock's now_ms. A cache that was
 * fed before this host started is as old as can be: TIDE_LOOKUP_AGE_MAX. */
uint64_t tide_lookup_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);
/* How long ago its newest ledger closed, by the latest of three clocks: the database's, the wall
 * clock when the cache was fed, the wall clock now. */
uint64_t tide_lookup_closed_age_ms(const struct tide_hot_meta *meta, int64_t wall_ms,
                                   int64_t host_ms);
/* Milliseconds since the feeder last reached the database; TIDE_LOOKUP_AGE_MAX as above. */
uint64_t tide_lookup_fed_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);

/* Standing of an address; *person is its record, NULL when nothing is known of it. */
void tide_lookup_standing(struct tide_reader *reader, const struct tide_hot_address *who,
                          struct tide_standing *out, const struct tide_hot_person **person);
/* What the gate of the contract of that role (pool, engine, stability pool) would say. */
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
/* False for a token that was discovered and whose past is not read yet, or that is past the limit
 * of discovered tokens: little is known of it. */
bool tide_lookup_is_watched(struct tide_reader *reader, const struct tide_hot_address *token);
/* Bit (1 << role) of each contract that the DAO's storage names otherwise than the deployment file.
 * It is reported and decides nothing. Not known where PROJECT_GOVERNANCE is not kept. */
uint32_t tide_lookup_misnamed(const struct tide_hot_meta *meta);

#endif
