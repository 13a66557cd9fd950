/* A reader of the records of one ledger: the newest snapshot of the cache, or the same records as
 * of the close of an earlier ledger ("the past"), read from PostgreSQL. Callers treat both alike,
 * so the API and verify compute an answer by the same code.
 *
 * Time     everything is evaluated at reader.now: the later of the wall clock and the newest close
 *          time, the close time of the earlier ledger, or a value that the caller sets.
 * Failure  a record that cannot be read is treated as absent, and the end of the reading fails.
 * Memory   records are valid until the end. Those of the cache are in the map.
 * Threads  the thread of its cache reader or connection. The cache never waits, PostgreSQL does. */
#ifndef TIDEMARK_READER_H
#define TIDEMARK_READER_H

#include "tidemark/hot.h"
#include "tidemark/project.h"

struct reader_past;

struct tide_reader {
    const struct tide_hot_meta *meta;
    uint64_t now;    /* unix seconds */
    uint64_t age_ms; /* since the indexer was last heard of; 0 if the reader is of the past */
    struct tide_hot_reader *hot;
    struct reader_past *past; /* NULL: the cache */
    struct tide_pg *pg;       /* connection of the past */
};

/* Makes a reader of a snapshot that the caller began and will end. */
static inline struct tide_reader tide_reader_of(struct tide_hot_reader *hot,
                                                const struct tide_hot_meta *meta, uint64_t now)
{
    return (struct tide_reader){ .meta = meta, .now = now, .hot = hot };
}

/* The counterparts of the functions below for records of the past (reader_past.c). */
const void *reader_past_get(struct reader_past *past, const struct tide_hot_key *key);
void reader_past_scan(struct reader_past *past, const struct tide_hot_key *prefix,
                      tide_hot_each_fn *each, void *self);
const void *reader_past_floor(struct reader_past *past, const struct tide_hot_key *key,
                              size_t prefix_len);
bool reader_past_blocked(struct reader_past *past, uint32_t code);
void reader_past_count_vaults(struct reader_past *past);
void reader_past_expect(struct reader_past *past, const struct tide_hot_address *who,
                        uint32_t count);
bool reader_past_expect_feeds(struct reader_past *past, const char *after, uint32_t most,
                              struct tide_hot_symbol *end);
/* Opens the records as of an indexed ledger, inside a transaction of the caller. *meta is valid as
 * long as *out. */
tide_status reader_past_open(struct reader_past **out, const struct tide_hot_meta **meta,
                             struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                             struct tide_err *err) TIDE_MUST_USE;
/* Closes the past. Returns the first failure of all its reads. */
tide_status reader_past_close(struct reader_past *past, struct tide_err *err) TIDE_MUST_USE;

/* The functions below do what tide_hot_get, tide_hot_scan, tide_hot_floor and tide_hot_blocked do.
 * Persons and vaults of the past must not be scanned: there may be millions. */
TIDE_INLINE const void *tide_reader_get(struct tide_reader *reader, const struct tide_hot_key *key)
{
    return TIDE_UNLIKELY(reader->past != NULL) ? reader_past_get(reader->past, key)
                                               : tide_hot_get(reader->hot, key);
}

/* Announces persons that will be asked for, so that the past reads them in one statement. */
static inline void tide_reader_expect(struct tide_reader *reader,
                                      const struct tide_hot_address *who, uint32_t count)
{
    if (reader->past)
        reader_past_expect(reader->past, who, count);
}

/* Call before a page of feeds is scanned. The past then reads only feeds behind `after`: as many as
 * the next `most` present ones span, with those removed since. Returns true if there may be more
 * behind *end. */
static inline bool tide_reader_expect_feeds(struct tide_reader *reader, const char *after,
                                            uint32_t most, struct tide_hot_symbol *end)
{
    return reader->past && reader_past_expect_feeds(reader->past, after, most, end);
}

/* Call once, before totals of markets' vaults and their collateral by token (TIDE_HOT_HELD) are
 * used. The past adds them up now; a second call would add them again. */
static inline void tide_reader_count_vaults(struct tide_reader *reader)
{
    if (reader->past)
        reader_past_count_vaults(reader->past);
}

static inline void tide_reader_scan(struct tide_reader *reader, const struct tide_hot_key *prefix,
                                    tide_hot_each_fn *each, void *self)
{
    if (reader->past)
        reader_past_scan(reader->past, prefix, each, self);
    else
        tide_hot_scan(reader->hot, prefix, NULL, each, self);
}

static inline const void *tide_reader_floor(struct tide_reader *reader,
                                            const struct tide_hot_key *key, size_t prefix_len)
{
    return reader->past ? reader_past_floor(reader->past, key, prefix_len)
                        : tide_hot_floor(reader->hot, key, prefix_len);
}

static inline bool tide_reader_blocked(struct tide_reader *reader, uint32_t code)
{
    return TIDE_UNLIKELY(reader->past != NULL) ? reader_past_blocked(reader->past, code)
                                               : tide_hot_blocked(reader->hot, reader->meta, code);
}

#endif
