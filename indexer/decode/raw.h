/* Events that are stored as XDR because the catalogue did not know them. */
#ifndef INDEXER_DECODE_RAW_H
#define INDEXER_DECODE_RAW_H

#include "tidemark/buf.h"

struct tide_raw_event {
    bool system;
    uint32_t topic_count;
    tide_slice topics; /* ScVals, back to back */
    tide_slice data;   /* ScVal */
};

/* Reads a ContractEvent. Slices borrow from xdr. Returns false if the XDR is no ContractEvent. */
bool tide_raw_event_read(struct tide_raw_event *out, tide_slice xdr);
/* Reads a ContractEvent from its hex. The decoded bytes are appended to `bytes`, and out borrows
 * from them. */
bool tide_raw_event_hex(struct tide_raw_event *out, struct tide_buf *bytes, tide_slice hex);

/* Appends the bytes that hex stands for. Returns false if the text is no hex, or out is full. */
bool tide_raw_hex(struct tide_buf *out, tide_slice hex);

#endif
