/* Positions in the stream, and their text, which is the id of a message.
 *
 *   1:812                  after ledger 812 of deployment 1
 *   1:812:e:4-0-2          after its event (tx 4, op 0, event 2)
 *   1:812:p:XLM            after the price of XLM in it
 *   1:812:c:GABC…          after the compliance of that address in it
 *   1:812:t:GABC…@1700000  after ledger 812, that address lapsed at unix second 1700000
 *
 * @SECONDS at the end of any position is the time at which compliance was evaluated. It is there
 * if that time is later than the close of the last complete ledger. */
#ifndef API_STREAM_POSITION_H
#define API_STREAM_POSITION_H

#include "tidemark/hot_record.h"
#include "tidemark/status.h"

/* The kinds of positions, in their order within a ledger. */
enum stream_class {
    STREAM_EVENT,
    STREAM_PRICE,
    STREAM_COMPLIANCE,
    STREAM_WHOLE, /* the end of the ledger */
    STREAM_TIME,  /* a lapse by time, between this ledger and the next */
};

struct stream_position {
    uint32_t ledger;
    enum stream_class class;
    uint32_t tx, op, event;
    struct tide_hot_symbol asset;
    struct tide_hot_address address;
    uint64_t time; /* when compliance was evaluated, unix seconds; 0: at the ledger's close */
};

#define STREAM_POSITION_TEXT 128u

static inline struct stream_position stream_whole(uint32_t ledger)
{
    return (struct stream_position){ .ledger = ledger, .class = STREAM_WHOLE };
}

/* Returns the order of two positions: < 0, 0, > 0. The time matters only for STREAM_TIME. */
int stream_position_cmp(const struct stream_position *a, const struct stream_position *b);
/* Writes the position's text with a NUL. Returns its length. */
size_t stream_position_text(char out[STREAM_POSITION_TEXT], uint16_t deployment,
                            const struct stream_position *position);
/* Fails with TIDE_E_DECODE if the text is not one that stream_position_text writes. */
tide_status stream_position_parse(struct stream_position *out, uint16_t *deployment,
                                  tide_slice text) TIDE_MUST_USE;

#endif
