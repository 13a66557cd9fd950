/* Receipts: the payload (JWT claims) of a signed answer, and its end. jws.h signs; the caller owns
 * the keys.
 *
 * Meaning   at iat the holder of the key stated: this answer follows from the state of these
 *           contracts at the close of that ledger, evaluated at evaluatedAt. A receipt says nothing
 *           about later ledgers. Its end limits how long a verifier may rely on it without knowing
 *           them. It names no client.
 * Privacy   a receipt never contains a jurisdiction, or anything else that the answer lacks.
 * Pure, without state. */
#ifndef TIDEMARK_RECEIPT_H
#define TIDEMARK_RECEIPT_H

#include "tidemark/buf.h"
#include "tidemark/reader.h"

#define TIDE_RECEIPT_TYPE    "tidemark-receipt+jwt" /* typ of the header */
#define TIDE_RECEIPT_QUERY   8u                     /* most parameters   */
#define TIDE_RECEIPT_ROLES   5u
#define TIDE_RECEIPT_SUBJECT 64u /* bytes of the variable part of a path */
static_assert(TIDE_RECEIPT_ROLES <= TIDE_ROLE_COUNT, "a route names a role once");
static_assert(TIDE_RECEIPT_SUBJECT >= TIDE_HOT_ADDRESS_TEXT, "an address is a subject");

enum tide_receipt_kind {
    TIDE_RECEIPT_STATUS,
    TIDE_RECEIPT_PRICE,
    TIDE_RECEIPT_QUOTE,
    TIDE_RECEIPT_KIND_COUNT
};

/* A route with receipts: its id, its path before and after the variable part, and the contracts
 * whose state its answers come from. */
struct tide_receipt_route {
    const char *id, *before, *after;
    uint32_t role_count;
    enum tide_role roles[TIDE_RECEIPT_ROLES];
};
extern const struct tide_receipt_route tide_receipt_routes[TIDE_RECEIPT_KIND_COUNT];

/* Limits of the time for which an answer may be relied upon; the server's settings. */
struct tide_receipt_limits {
    uint64_t stale_after_ms;   /* since the indexer was last heard of             */
    uint64_t compliance_age_s; /* since the newest ledger closed; 0: without limit */
    uint64_t clock_skew_s;     /* allowed difference between this clock and the database's */
};

struct tide_receipt {
    enum tide_receipt_kind kind;
    tide_slice issuer; /* borrowed, as subject and query */
    tide_slice subject;
    uint32_t query_count;
    struct {
        const char *name;
        tide_slice text;
    } query[TIDE_RECEIPT_QUERY];
    /* The reader's ledger and times, filled in by tide_receipt_read. */
    bool live; /* false: as of a ledger that the client named */
    uint32_t ledger;
    uint64_t closed_ms, evaluated_at, renewed_ms, age_ms;
    uint32_t proven; /* set by the caller: signatures prove the ledgers up to it; 0: none is */
    uint8_t hash[TIDE_HASH_BYTES], deployment[TIDE_HASH_BYTES];
    char network[sizeof(((struct tide_hot_meta *)0)->passphrase)];
    struct tide_hot_address contracts[TIDE_ROLE_COUNT];
    /* unix seconds, set by tide_receipt_end */
    uint64_t issued_at, expires_at;
};

/* Fills in the fields that come from the reader's ledger. The caller has set kind. */
void tide_receipt_read(struct tide_receipt *receipt, const struct tide_reader *reader);
/* Sets the times of issue and end. holds_until is the value that a function of answer.h returned.
 * A clock that is ahead does not postpone the end: a live answer ends stale_after_ms and
 * clock_skew_s after the indexer was last heard of by the database's clock.
 * For an answer as of an earlier ledger the end counts from that ledger's close. Such a receipt may
 * therefore have ended when it is issued: it is evidence of the past and opens no gate. */
void tide_receipt_end(struct tide_receipt *receipt, const struct tide_receipt_limits *limits,
                      uint64_t now_ms, uint64_t holds_until);
/* Appends the payload; answer is JSON. */
void tide_receipt_write(struct tide_buf *out, const struct tide_receipt *receipt,
                        tide_slice answer);

#endif
