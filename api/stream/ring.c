/* Pieces of ledgers, and the ring: the recent ledgers that all live subscribers are served from. */
#include "api/stream/stream_impl.h"

#include <stdlib.h>

void stream_piece_free(struct stream_piece *piece)
{
    while (piece) {
        struct stream_piece *next = piece->next;
        tide_buf_release(&piece->bytes);
        free(piece->notes);
        free(piece->changes);
        free(piece);
        piece = next;
    }
}

/* Counts capacities, not lengths: they are what the piece occupies. */
static size_t stream_piece_bytes(const struct stream_piece *piece)
{
    return sizeof *piece + piece->bytes.cap + piece->note_count * sizeof *piece->notes +
           piece->change_count * sizeof *piece->changes;
}

void stream_ring_reset(struct stream_ring *ring, const struct stream_position *at)
{
    stream_piece_free(ring->first);
    *ring = (struct stream_ring){ .start = *at, .end = *at, .fresh_from = *at };
}

/* Removes and frees the oldest piece. */
static void drop_first(struct stream_ring *ring)
{
    assert(ring->bytes >= stream_piece_bytes(ring->first));
    assert(ring->ledgers >= ring->first->last);
    struct stream_piece *first = ring->first;
    ring->start = first->end;
    ring->bytes -= stream_piece_bytes(first);
    ring->ledgers -= first->last;
    ring->first = first->next;
    first->next = NULL;
    stream_piece_free(first);
}

void stream_ring_add(struct stream_ring *ring, struct stream_piece *pieces, uint64_t max)
{
    assert(pieces); /* a page without a piece would be read for ever */
    assert(ring->first || (ring->bytes == 0 && ring->ledgers == 0));
    ring->fresh = pieces;
    ring->fresh_from = ring->end;
    if (ring->first)
        ring->last->next = pieces;
    else
        ring->first = pieces;
    for (struct stream_piece *piece = pieces; piece; piece = piece->next) {
        assert(stream_position_cmp(&piece->end, &ring->end) > 0); /* nothing is given twice */
        ring->last = piece;
        ring->end = piece->end;
        ring->bytes += stream_piece_bytes(piece);
        ring->ledgers += piece->last;
    }
    /* Pieces added now are never removed here: every live subscriber gets them from the ring. */
    while (ring->bytes > max && ring->first != pieces)
        drop_first(ring);
}

const struct stream_piece *stream_piece_after(const struct stream_piece *first,
                                              const struct stream_position *position)
{
    while (first && stream_position_cmp(&first->end, position) <= 0)
        first = first->next;
    return first;
}
