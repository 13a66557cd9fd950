/* Records of one ledger: the newest snapshot of the cache, or the same records as of the close of
 * an earlier ledger, read from PostgreSQL. A caller cannot tell which: there is one way of
 * computing an answer, for the API and for verify.
 *
 * Time     everything is evaluated at reader.now: the later of the wall clock and the newest close
 *          time, the close time of that ledger, or what the caller sets.
 * Unkept   an index that keeps a part of the tables (tidemark/table.h) lacks what some records are
 *          made of. What is asked for is noted: tide_reader_unkept.
 * Failure  what cannot be read is taken for absent, and the end says so.
 * Memory   records live until the end; those of the cache are in the map.
 * Threads  that of its reader or connection. The cache never waits, the past does. */
#ifndef TIDEMARK_READER_H
#define TIDEMARK_READER_H

#include "tidemark/hot.h"
#include "tidemark/project.h"

struct reader_past;

struct tide_reader {
    const struct tide_hot_meta *meta;
    uint64_t now;    /* unix seconds */
    uint64_t age_ms; /* since the indexer was last heard of; 0 of the past */
    uint32_t unkept; /* sources that the index does not keep: PROJECT_BIT */
    uint32_t needs;  /* sources that were asked for beside … */
    uint32_t kinds;  /* … those of records of these kinds: 1 << enum tide_hot_kind */
    struct tide_hot_reader *hot;
    struct reader_past *past; /* NULL: the cache */
    struct tide_pg *pg;       /* of the past */
};

/* For fields of META and CONTRACT, and those that are no record's own. */
static inline void tide_reader_need(struct tide_reader *reader, enum project_source_id source)
{
    reader->needs |= PROJECT_BIT(source);
}
/* Bits of what was asked for and is not kept. */
uint32_t tide_reader_unkept(const struct tide_reader *reader);
/* Over a snapshot that the caller began and will end. */
static inline struct tide_reader tide_reader_of(struct tide_hot_reader *hot,
                                                const struct tide_hot_meta *meta, uint64_t now)
{
    return (struct tide_reader){ .meta = meta, .now = now, .unkept = meta->unkept, .hot = hot };
}

/* The past's half of the verbs below. (reader_past.c) */
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
/* Within a transaction of the caller's, as of a ledger that is indexed. *meta lives as long as
 * *out. */
tide_status reader_past_open(struct reader_past **out, const struct tide_hot_meta **meta,
                             struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                             struct tide_err *err) TIDE_MUST_USE;
/* The first failure of all that was read. */
tide_status reader_past_close(struct reader_past *past, struct tide_err *err) TIDE_MUST_USE;

/* As tide_hot_get, tide_hot_scan, tide_hot_floor, tide_hot_blocked. Of the past, persons and vaults
 * are not scanned: there may be millions. */
TIDE_INLINE const void *tide_reader_get(struct tide_reader *reader, const struct tide_hot_key *key)
{
    reader->kinds |= 1u << key->bytes[0];
    return TIDE_UNLIKELY(reader->past != NULL) ? reader_past_get(reader->past, key)
                                               : tide_hot_get(reader->hot, key);
}

/* Many persons will be asked for: of the past they are read at once. */
static inline void tide_reader_expect(struct tide_reader *reader,
                                      const struct tide_hot_address *who, uint32_t count)
{
    if (reader->past)
        reader_past_expect(reader->past, who, count);
}

/* Before a page of feeds is scanned: of the past only those behind after are read, of the next most
 * that there are now, and of those that were removed since. True: there may be more, behind end. */
static inline bool tide_reader_expect_feeds(struct tide_reader *reader, const char *after,
                                            uint32_t most, struct tide_hot_symbol *end)
{
    return reader->past && reader_past_expect_feeds(reader->past, after, most, end);
}

/* Before what markets say of their vaults is used: of the past it is summed now. */
static inline void tide_reader_count_vaults(struct tide_reader *reader)
{
    reader->kinds |= 1u << TIDE_HOT_VAULT;
    if (reader->past)
        reader_past_count_vaults(reader->past);
}

static inline void tide_reader_scan(struct tide_reader *reader, const struct tide_hot_key *prefix,
                                    tide_hot_each_fn *each, void *self)
{
    reader->kinds |= 1u << prefix->bytes[0];
    if (reader->past)
        reader_past_scan(reader->past, prefix, each, self);
    else
        tide_hot_scan(reader->hot, prefix, NULL, each, self);
}

static inline const void *tide_reader_floor(struct tide_reader *reader,
                                            const struct tide_hot_key *key, size_t prefix_len)
{
    reader->kinds |= 1u << key->bytes[0];
    return reader->past ? reader_past_floor(reader->past, key, prefix_len)
                        : tide_hot_floor(reader->hot, key, prefix_len);
}

static inline bool tide_reader_blocked(struct tide_reader *reader, uint32_t code)
{
    reader->kinds |= 1u << TIDE_HOT_BLOCKED;
    return TIDE_UNLIKELY(reader->past != NULL) ? reader_past_blocked(reader->past, code)
                                               : tide_hot_blocked(reader->hot, reader->meta, code);
}

#endif
