/* The interface through which the stream reads ledgers: PostgreSQL (pg_source.c), or a test's
 * own implementation. Only the stream thread calls it. */
#ifndef API_STREAM_SOURCE_H
#define API_STREAM_SOURCE_H

#include "api/stream/position.h"
#include "tidemark/buf.h"
#include "tidemark/catalogue.h"

/* Limits of one page. */
#define STREAM_PAGE_LEDGERS 64u
#define STREAM_PAGE_EVENTS  2000u
#define STREAM_PAGE_PRICES  1000u

/* The state of the database. */
struct stream_head {
    uint16_t deployment;
    uint32_t ledger;    /* the newest indexed ledger */
    uint32_t first;     /* first of the contiguous range that ends with ledger */
    uint64_t closed_ms; /* close time of ledger, unix milliseconds */
    uint64_t age_ms;    /* since the newest sign of the indexer (age.h) */
    /* The events of some ledgers in this range, ends included, are archived; 0: of none. */
    uint32_t archived_from, archived_to;
    bool registry_undecoded; /* an entry of the compliance registry cannot be decoded */
    bool forked;             /* validators contradict the index: chain.fork */
};

/* A note: one message, shared by all subscribers, without its id: "event: …\ndata: …\n\n". Its
 * slices borrow from the piece's bytes. */
struct stream_note {
    struct stream_position position;
    tide_slice text;
    uint16_t kind;        /* events: enum tide_event_id */
    tide_slice contract;  /* events                     */
    tide_slice subject;   /* events: pool, market, feed; empty: none */
    tide_slice addresses; /* events: each address is followed by a space */
};

/* A change of an address's ComplianceRec or Frozen entry. */
struct stream_change {
    struct tide_hot_address address;
    bool frozen_entry;             /* only person.frozen is set; otherwise all other members are */
    struct tide_hot_person person; /* the entry's new value */
};

/* A ledger, or a part of a large one. The last part also has the changes of compliance and the
 * ledger's own message. Notes are in the order of their positions. */
struct stream_piece {
    struct stream_piece *next;
    uint32_t ledger;
    uint64_t closed_ms;
    bool last;
    bool blocks_changed;        /* a jurisdiction was blocked or unblocked in the ledger */
    struct stream_position end; /* the piece completes everything up to here */
    struct stream_note *notes;
    struct stream_change *changes;
    uint32_t note_count, change_count;
    tide_slice text;       /* the ledger's own message */
    struct tide_buf bytes; /* all slices borrow from here */
};

/* Frees the piece and all that follow it in the list. */
void stream_piece_free(struct stream_piece *piece);

/* A request for a page of present prices: as of `ledger`, of assets after `after` (zero: from
 * the first), of the named assets only (count 0: of all). */
struct stream_prices_ask {
    uint32_t ledger;
    struct tide_hot_symbol after;
    const struct tide_hot_symbol *assets;
    uint32_t count;
};

struct stream_source {
    void *self;
    /* Reads the head. Fails while the database is away. */
    tide_status (*head)(void *self, struct stream_head *out, struct tide_err *err);
    /* Waits for a notification, at most ms. *news: the head may have changed. */
    void (*wait)(void *self, int ms, bool *news);
    /* Reads one page after the position, at most to the end of ledger `until`, which is never
     * above the head's. *out has at least one piece; the caller frees it. */
    tide_status (*read)(void *self, const struct stream_position *after, uint32_t until,
                        struct stream_piece **out, struct tide_err *err);
    /* Reads the records of the addresses as of the ledger (zero: no record), and its close time
     * (0: there is no such ledger). */
    tide_status (*people)(void *self, uint32_t ledger, const struct tide_hot_address *addresses,
                          uint32_t count, struct tide_hot_person *out, uint64_t *closed_ms,
                          struct tide_err *err);
    /* Returns whether a jurisdiction was blocked as of a ledger, which is never above the
     * head's. */
    bool (*blocked)(void *self, uint32_t code, uint32_t ledger);
    /* Reads one page of prices, ordered by asset, as the notes of one piece, which the caller
     * frees. piece->last: no asset follows; otherwise piece->end names the last asset. */
    tide_status (*prices)(void *self, const struct stream_prices_ask *ask,
                          struct stream_piece **out, struct tide_err *err);
};

#endif
