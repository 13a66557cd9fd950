/* What is kept as XDR because the catalogue did not know it. */
#ifndef INDEXER_DECODE_RAW_H
#define INDEXER_DECODE_RAW_H

#include "tidemark/buf.h"

struct tide_raw_event {
    bool system;
    uint32_t topic_count;
    tide_slice topics; /* ScVals, back to back */
    tide_slice data;   /* ScVal */
};

/* A ContractEvent. Slices borrow from xdr. False when it is not one. */
bool tide_raw_event_read(struct tide_raw_event *out, tide_slice xdr);
/* The same from its hex; bytes takes the bytes that out borrows from. */
bool tide_raw_event_hex(struct tide_raw_event *out, struct tide_buf *bytes, tide_slice hex);
/* [topic, …] as JSON. */
bool tide_raw_topics_json(struct tide_buf *json, const struct tide_raw_event *event);

/* Hex as bytes appended to out; false when it is not hex or does not fit. */
bool tide_raw_hex(struct tide_buf *out, tide_slice hex);

#endif
