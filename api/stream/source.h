/* Where the hub gets ledgers from: PostgreSQL (pg_source.c), or a test's own. */
#ifndef API_STREAM_SOURCE_H
#define API_STREAM_SOURCE_H

#include "api/stream/position.h"
#include "tidemark/buf.h"
#include "tidemark/catalogue.h"

#define STREAM_PAGE_LEDGERS 64u
#define STREAM_PAGE_EVENTS  2000u
#define STREAM_PAGE_PRICES  1000u

/* Where the database stands. */
struct stream_head {
    uint16_t deployment;
    uint32_t ledger;     /* newest                          */
    uint32_t first;      /* of the contiguous range it ends */
    uint64_t close_time; /* of the newest                   */
    uint64_t age_ms;     /* since the indexer was last heard of (age.h) */
    /* Between these, ends included, are ledgers whose events are archived; 0: none are. */
    uint32_t archived_from, archived_to;
    /* Of an index that keeps a part of the tables: topics and kinds of events it cannot tell. */
    uint32_t unkept_topics;
    bool unkept_kinds[TIDE_EV_COUNT];
};

/* One message as every subscriber gets it, without its id: "event: …\ndata: …\n\n". */
struct stream_note {
    struct stream_position position;
    tide_slice text;
    uint16_t kind;        /* events: enum tide_event_id */
    tide_slice contract;  /* events                     */
    tide_slice subject;   /* events: pool, market, feed; empty: none */
    tide_slice addresses; /* events: each followed by a space        */
};

/* A version of ComplianceRec or Frozen of an address. */
struct stream_change {
    struct tide_hot_address address;
    bool frozen_entry;             /* only frozen is told, else all but frozen */
    struct tide_hot_person person; /* of what is told                          */
};

/* A ledger, or a part of one: notes in the order of their places, then, when it is the ledger's
 * last part, changes of people, and the ledger itself. */
struct stream_piece {
    struct stream_piece *next;
    uint32_t ledger;
    uint64_t close_time;
    bool last;
    bool blocks_changed;        /* a jurisdiction was blocked or unblocked in it */
    struct stream_position end; /* everything up to here is in it or before it   */
    struct stream_note *notes;
    struct stream_change *changes;
    uint32_t note_count, change_count;
    tide_slice text;       /* of the ledger */
    struct tide_buf bytes; /* what all the slices borrow from */
};

void stream_piece_free(struct stream_piece *piece); /* with all that follow */
size_t stream_piece_bytes(const struct stream_piece *piece);

/* Which present prices are asked for: those as of a ledger, of assets after one (zero: from the
 * first on), of these assets (count 0: of all). */
struct stream_prices_ask {
    uint32_t ledger;
    struct tide_hot_symbol after;
    const struct tide_hot_symbol *assets;
    uint32_t count;
};

struct stream_source {
    void *self;
    /* Where the database stands. */
    tide_status (*head)(void *self, struct stream_head *out, struct tide_err *err);
    /* Waits for news, at most ms. *news: worth asking for the head. */
    void (*wait)(void *self, int ms, bool *news);
    /* What comes after the place, up to the end of ledger until: one page of it, at least one
     * piece, the caller's to free. Only ledgers up to the head's are asked for. */
    tide_status (*read)(void *self, const struct stream_position *after, uint32_t until,
                        struct stream_piece **out, struct tide_err *err);
    /* Records of these addresses as of the ledger (zero: none), and its close time (0: there is
     * no such ledger). */
    tide_status (*people)(void *self, uint32_t ledger, const struct tide_hot_address *addresses,
                          uint32_t count, struct tide_hot_person *out, uint64_t *close_time,
                          struct tide_err *err);
    /* Whether a jurisdiction was blocked as of a ledger not after the head's. */
    bool (*blocked)(void *self, uint32_t code, uint32_t ledger);
    /* One page of prices, in the order of assets, as the notes of one piece, the caller's to free.
     * last: no asset comes after them; else end names the last of them. */
    tide_status (*prices)(void *self, const struct stream_prices_ask *ask,
                          struct stream_piece **out, struct tide_err *err);
};

#endif
