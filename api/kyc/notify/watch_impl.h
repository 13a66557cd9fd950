/* The watcher's state: only its own thread writes it, except for figures, which /metrics reads.
 *
 * watch.c           one turn: takes the lead (ledger, baseline and lists begin anew), then compares
 *                   a new ledger, due addresses and a window of prices, in this order
 * watch_compare.c   compares with the states that endpoints were last notified of, and stores what
 *                   differs. Writes lists and next_feed, and nothing else of the state */
#ifndef API_KYC_NOTIFY_WATCH_IMPL_H
#define API_KYC_NOTIFY_WATCH_IMPL_H

#include "api/hot/reader.h"
#include "api/kyc/notify/notify_impl.h"

/* A feed or market in the state that the watcher last stored. */
struct notify_seen {
    struct tide_hot_symbol symbol;
    bool state;     /* feed: stale. market: listed */
    uint64_t since; /* stale feed: time of its price, which tells one staleness from another */
};

/* Sorted by symbol. max: allocated items. */
struct notify_list {
    struct notify_seen *items;
    uint32_t count, max;
};

/* Results of kyc.hook_figures for all nodes together. Each node queries them itself. */
struct notify_figures {
    atomic_int_least64_t asked_ms; /* monotonic; 0: never queried */
    atomic_uint_least64_t waiting, oldest_ms, disabled, behind;
};

struct notify_watch {
    struct tide_api api; /* for tide_reader_trusted; only config, clock, select and hot are set */
    struct tide_kyc_thread thread;
    struct tide_kyc_context context;
    struct tide_hot_reader *reader;
    atomic_bool leads; /* this node holds the advisory lock */
    uint32_t ledger;   /* last compared ledger */
    /* False in the very first run of a deployment: existing markets and proposals are then stored
     * without a notification. */
    bool baseline;
    struct notify_list feeds, markets;
    /* next turn's first feed; a turn compares NOTIFY_WINDOW feeds */
    struct tide_hot_symbol next_feed;
    int64_t maintained_ms;
    struct notify_figures figures;
};

#define NOTIFY_WINDOW 4096u /* feeds or markets read in one snapshot */

/* Opens a snapshot of the cache. Returns false, with nothing open, if nothing may be concluded from
 * the cache now: it is stale, incomplete, or behind the ledger that another node has compared. Such
 * a cache would take back notified changes and miss later ones. */
bool notify_cache_open(struct notify_watch *w, struct tide_reader *reader);
/* Compares one batch of due addresses in one transaction. *more: an endpoint may have further
 * rows. */
tide_status notify_compare_addresses(struct notify_watch *w, bool *more, struct tide_err *err);
/* Compares the next window of feeds. */
tide_status notify_compare_feeds(struct notify_watch *w, struct tide_err *err);
/* Compares all markets, so that a listing is notified together with its ledger. */
tide_status notify_compare_markets(struct notify_watch *w, struct tide_err *err);
/* Stores each version since the last compared ledger, so that no state is skipped. The tables may
 * be ahead of the cache: versions after `ledger` follow in a later turn. */
tide_status notify_compare_proposals(struct notify_watch *w, uint32_t ledger, struct tide_err *err);

#endif
