/* Answers of the hot routes, from one snapshot of the cache: between tide_hot_begin and
 * tide_hot_end, good only if end says TIDE_OK. Nothing here knows HTTP, nothing waits. */
#ifndef API_LOOKUP_H
#define API_LOOKUP_H

#include "tidemark/hot.h"
#include "tidemark/rule.h"

/* The later of the wall clock and the newest close time: what "now" is. */
uint64_t tide_lookup_now(const struct tide_hot_meta *meta, const struct tide_clock *clock);
/* How old the cache's knowledge is, milliseconds, never negative: how long ago the feeder last
 * saw the database. */
uint64_t tide_lookup_age_ms(const struct tide_hot_meta *meta, const struct tide_clock *clock);

/* Whether an answer may say "compliant" at all. */
enum tide_lookup_trust {
    TIDE_TRUST_YES,
    TIDE_TRUST_INCOMPLETE, /* the registry is not indexed from its creation: meta->start_from */
    TIDE_TRUST_STALE,      /* older than max_age_ms                                           */
};
enum tide_lookup_trust tide_lookup_trust(const struct tide_hot_meta *meta, uint64_t max_age_ms,
                                         const struct tide_clock *clock);

/* Standing of an address at a time; *person is its record, NULL when nothing is known of it. */
void tide_lookup_standing(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                          const struct tide_hot_address *who, uint64_t now,
                          struct tide_standing *out, const struct tide_hot_person **person);
/* What the gate of the contract of that role (pool, engine, stability pool) would say. */
bool tide_lookup_gate(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                      const struct tide_standing *standing, const struct tide_hot_person *person,
                      enum tide_role role);

/* Trade of the last day; false when there is no such pool. */
bool tide_lookup_window(struct tide_hot_reader *reader, const struct tide_hot_symbol *pool,
                        uint64_t now, struct tide_window *out);
/* The pool that pairs token with quote, the one with most of quote in it; NULL: none. Among
 * equals the first by name. */
const struct tide_hot_pool *tide_lookup_pool(struct tide_hot_reader *reader,
                                             const struct tide_hot_address *token,
                                             const struct tide_hot_address *quote);
/* The contract that is usdc, as the deployment names it; false when there is none. */
bool tide_lookup_quote(struct tide_hot_reader *reader, struct tide_hot_address *out);

#endif
