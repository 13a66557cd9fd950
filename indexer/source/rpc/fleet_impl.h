/* The fleet's own parts. Each calls only those before it:
 *
 *   state.c    what is known of each server
 *   trust.c    which servers are believed
 *   confirm.c  whether another server has a ledger, too
 *   watch.c    opens the fleet, and watches the servers not in use
 *   fleet.c    chooses the server to ask, and fetches */
#ifndef INDEXER_SOURCE_RPC_FLEET_IMPL_H
#define INDEXER_SOURCE_RPC_FLEET_IMPL_H

#include "indexer/source/rpc/fleet.h"
#include "indexer/source/rpc/size.h"
#include "tidemark/retry.h"

enum {
    RPC_LOG_MS = 30000,        /* pause between two log lines about the same server */
    RPC_WATCH_MS = 1000,       /* pause until a server that is not in use is asked again */
    RPC_GREET_MS = 3000,       /* time of a request to one of several servers */
    RPC_LAG_LEDGERS = 5,       /* a server so far behind another is left */
    RPC_ASIDE_MS_MAX = 3600000 /* longest pause until a server counts again */
};

/* UNCOMPARED: no ledger of the server has been compared with the others' yet. ASIDE: the server
 * contradicted itself or the others. Servers in these two states are not asked for ledgers, and
 * their ranges do not count. */
enum rpc_trust { RPC_UNCOMPARED, RPC_COMPARED, RPC_ASIDE };
/* The thread that asks. The fetcher and the watcher have a connection of their own to each server,
 * the reader has none. */
enum rpc_thread { RPC_FETCHER, RPC_WATCHER, RPC_READER };

struct rpc_server {
    struct tide_rpc_client client;  /* client of the fetching thread */
    struct tide_rpc_client watcher; /* client of the watching thread */
    uint32_t latest, oldest;        /* range as last reported; 0: not yet */
    int64_t latest_ms;              /* time of that report */
    bool silent; /* failed since it reported its range; under the lock, as latest and oldest */
    uint32_t failures;    /* failures in a row */
    struct rpc_size size; /* how many ledgers to ask for at once */
    uint32_t refused;     /* smallest page of the last log line about a refusal */
    int64_t refused_ms;   /* time of that line */
    uint32_t gone_for;    /* the ledger that it reported as gone */
    uint32_t gaps;        /* answers in a row that left the wanted ledger out */
    uint64_t owed;        /* ledgers that closed during its answers, less those that it delivered */
    int64_t retry_ms;     /* the fetching thread asks it not before this time */
    bool slow;        /* until then it is left because ledgers closed faster, as others report */
    int64_t watch_ms; /* the watching thread asks it not before this time; under the lock */
    int64_t logged_ms;
    bool overstated; /* reported a ledger that it did not deliver, and delivered none since */
    bool answered;   /* the server answered the last request for its range */
    /* Under the lock: */
    enum rpc_trust trust;
    /* why it is aside or uncompared although it answers; "": it is trusted */
    char reason[TIDE_ERR_TEXT_MAX];
    int64_t doubted_ms; /* time since which reason is set */
    int64_t aside_ms;   /* pause until it is compared again */
    int64_t mute_ms;    /* time at which it stopped answering for ledgers; 0: it answers */
    bool late;          /* the server lacked the last ledger that it was asked for */
    int64_t left_ms;    /* the fleet waits for this server again from this time on */
    int64_t left_pause_ms;
};

/* Hashes of ledgers by the servers that delivered them lately. Each server has slots of its own, so
 * no server displaces what another one delivered. Not locked. */
enum { RPC_MEMORY_LEDGERS = 1024 };

struct rpc_memory {
    struct {
        uint32_t sequence; /* 0: none */
        uint8_t hash[TIDE_HASH_BYTES];
    } delivered[TIDE_RPC_SERVERS_MAX][RPC_MEMORY_LEDGERS];
};

/* Stores the hash. Returns false if another hash of that ledger is known; *other is the server that
 * delivered it. */
bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other);
/* Returns the hash of a ledger, or NULL. *server is the server that delivered it. */
const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence,
                               uint32_t *server);
/* Reads the hash that this server delivered for a ledger. Returns false if there is none. */
bool rpc_memory_delivered(const struct rpc_memory *memory, uint32_t sequence, uint32_t server,
                          uint8_t hash[TIDE_HASH_BYTES]);

/* The newest ledger that servers report, and the time of a report; {0}: none. */
struct rpc_report {
    uint32_t ledger;
    int64_t at_ms;
};

/* The requests to the current server since the others reported their newest ledger. */
struct rpc_debt {
    uint32_t server;
    struct rpc_report before;   /* the report; ledger 0: none yet */
    int64_t asked_ms, spent_ms; /* start of the last request; length of all */
};

struct rpc_fleet {
    struct rpc_fleet_options options;
    const struct tide_config *config;
    struct tide_rpc_rate rate;
    uint32_t count, current;
    uint32_t failures;      /* failures of all servers since the last success */
    struct tide_err last;   /* the last failure */
    int64_t greet_until_ms; /* a request for a range ends then; 0: as any request */
    int64_t stored_ms;      /* time of the last comparison with the stored chain */
    struct tide_retry retry;
    uint32_t confirmer; /* the server that is asked first whether it has the ledger, too */
    bool alone;         /* the last ledgers were delivered although no other server has them */
    int64_t behind_ms;  /* time at which the others fell behind the current one; 0: they are not */
    struct {
        const struct tide_rpc_page *page; /* NULL: none is held */
        uint32_t first, last, server;
    } held;
    struct rpc_debt debt;
    pthread_t thread;
    bool watching;

    /* guards the members below, and latest, oldest and overstated of the servers */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool closing;
    uint32_t newest_reported; /* newest ledger of the trusted servers that are not overstated */
    uint32_t asked;           /* the ledger of the running request */
    bool overtaken;           /* the request was ended because other servers went on meanwhile */
    int64_t trouble_ms;
    char trouble[TIDE_ERR_TEXT_MAX];
    bool forked; /* a fork was found, for good; `fork` has the reason */
    struct tide_err fork;
    struct rpc_memory memory;
    struct {
        uint32_t sequence, server;
    } gave[RPC_MEMORY_LEDGERS]; /* the server of each ledger of a page */
    struct rpc_server servers[TIDE_RPC_SERVERS_MAX];
};

/* --- state.c --- */
/* Computes the newest ledger of all trusted servers, at least `least`. Call with the lock. */
void rpc_fleet_recount(struct rpc_fleet *f, uint32_t least);
/* Notes the range of ledgers that a server reported; 0: not reported. */
void rpc_fleet_note_range(struct rpc_fleet *f, uint32_t server, uint32_t oldest, uint32_t latest);
/* Notes that a server did not answer, or answered wrongly. */
void rpc_fleet_note_silent(struct rpc_fleet *f, uint32_t server);
/* Returns whether the server is known to have the ledger. A server that failed since its last
 * report may be dead, so its report counts only after it answers again. Call with the lock. */
bool rpc_fleet_has_ledger(const struct rpc_server *s, uint64_t ledger);
/* Reports what keeps the source from working; NULL: nothing does. */
void rpc_fleet_set_trouble(struct rpc_fleet *f, const char *text);
/* Returns the pause after failures. The server's Retry-After (asked_ms) may lengthen it. */
uint32_t rpc_fleet_pause(struct rpc_fleet *f, uint32_t failures, uint32_t asked_ms);
/* Leaves a server alone for a while after a failure. asked_ms: the pause that it asked for. */
void rpc_fleet_note_failure(struct rpc_fleet *f, uint32_t server, uint32_t asked_ms,
                            const struct tide_err *err);
void rpc_fleet_note_success(struct rpc_fleet *f, uint32_t server);
/* Returns whether the running request exceeds greet_until_ms. */
bool rpc_fleet_is_late(const struct rpc_fleet *f);
/* Returns true to end a request of the fetching thread (self is the fleet): the process stops, the
 * time to report a range is over, or the request for the next ledger hangs while another server is
 * RPC_LAG_LEDGERS past it. */
bool rpc_fleet_cancelled(void *self);
enum rpc_trust rpc_fleet_trust(struct rpc_fleet *f, uint32_t server);
/* Returns whether the server may have the ledger soon: it is trusted, answers, is less than
 * RPC_LAG_LEDGERS behind and was not waited for in vain. */
bool rpc_fleet_awaits(struct rpc_fleet *f, uint32_t server, uint32_t ledger);
/* Returns the newest ledger that the other servers reported, of those for which the source waits
 * before it delivers the ledger; UINT32_MAX: it waits for none. Call with the lock. */
uint32_t rpc_fleet_confirmable(const struct rpc_fleet *f, uint32_t ledger);
/* Reads the stored hash of a ledger. Returns false if the ledger is not stored, or if the database
 * does not answer now. */
bool rpc_fleet_stored_hash(struct rpc_fleet *f, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES]);
/* Returns whether a chain that has this hash of the ledger, its newest one, is another one than the
 * stored one, which ends before the wanted ledger: the network was reset. Another hash of the
 * ledger is stored, or the ledger is about an hour or more before those that are stored. */
bool rpc_fleet_is_other_chain(struct rpc_fleet *f, uint32_t wanted, uint32_t ledger,
                              const uint8_t hash[TIDE_HASH_BYTES]);

/* --- trust.c --- */
/* Puts a server aside. If no other one answers, it returns false instead and the source ends with
 * `why` (except when the reader calls). */
bool rpc_fleet_put_aside(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                         const struct tide_err *why);
/* Returns the milliseconds since a server is not trusted, with the reason; 0 if all are. Call with
 * the lock. */
int64_t rpc_fleet_doubted(struct rpc_fleet *f, char *text, size_t size);
/* Decides about a server's claim that contradicts the known hash of a ledger. Puts aside the
 * server, or the outvoted servers; err has the reason. TIDE_E_CHAIN: no vote decides, or the stored
 * chain is outvoted. TIDE_E_IO: no vote decides yet, because a server is behind. */
tide_status rpc_fleet_dispute(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                              uint32_t ledger, const uint8_t *claim, struct tide_err *err);
/* Returns the outcome after a dispute with the current server: RPC_PAGE if it is still trusted. */
enum rpc_outcome rpc_fleet_after_dispute(struct rpc_fleet *f, tide_status status);
/* Notes the hash that a server delivered for a ledger. If another one is known, starts a
 * dispute. */
tide_status rpc_fleet_note_ledger(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                                  uint32_t sequence, const uint8_t *hash, struct tide_err *err);
/* Compares all servers that answered. */
tide_status rpc_fleet_compare(struct rpc_fleet *f, enum rpc_thread thread, struct tide_err *err);
/* Compares a server that is not trusted with the others; `latest` is its newest ledger. */
void rpc_fleet_compare_one(struct rpc_fleet *f, uint32_t server, uint32_t latest);

/* --- confirm.c --- */
/* Finds another server that has the page's last ledger, with the same hash, or cuts the page to
 * what it has. RPC_HELD: none has the first one yet. RPC_PAUSE: the current one was put aside. */
enum rpc_outcome rpc_fleet_confirm(struct rpc_fleet *f, struct tide_rpc_page *page,
                                   struct tide_err *err);
/* Notes that a page is held. Once that was so for rpc_confirm_ms, and a single other server is
 * behind, that one is no longer waited for. */
void rpc_fleet_note_held(struct rpc_fleet *f, uint32_t ledger);

/* --- watch.c --- */
/* Asks all servers that are neither aside nor paused for their range, and compares them.
 * TIDE_E_CHAIN if the comparison ends the source, TIDE_E_STOPPED. */
tide_status rpc_fleet_greet(struct rpc_fleet *f, struct tide_err *err);
/* Reports that the current server, whose newest ledger is `newest`, is behind the ledger before
 * `first`, and returns RPC_TIP. If the network was reset, puts the server aside or ends the source
 * (TIDE_E_CHAIN). */
enum rpc_outcome rpc_fleet_look_behind(struct rpc_fleet *f, uint32_t first, uint32_t newest,
                                       struct tide_err *err);

#endif
