/* One ledger to JSON lines. Private to the command dump. */
#ifndef INDEXER_DUMP_DUMP_IMPL_H
#define INDEXER_DUMP_DUMP_IMPL_H

#include "indexer/dump/dump.h"
#include "tidemark/json.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"

struct dump_sink {
    FILE *out;
    const struct tide_dump_options *options;
    struct tide_proof_check *verify;
    uint8_t network_id[TIDE_HASH_BYTES];
    struct tide_buf line;
    struct tide_json json; /* writes to line */

    /* of the ledger at hand */
    tide_slice lcm;
    struct tide_ledger_header header;
    struct tide_buf phases;   /* txSetPhases                     */
    struct tide_buf upgrades; /* JSON array members              */
    struct tide_buf evicted;
    uint32_t changes[6][5][10]; /* section, kind, type */
    uint32_t events[3];         /* level */
    uint32_t tx_count;
    uint32_t success_count;
    /* of the transaction at hand */
    uint32_t op_events[TIDE_OPS_PER_TX_MAX];
    uint32_t tx_events;
    uint32_t diagnostics;

    /* of the ledger before */
    uint32_t last_sequence; /* 0: none */
    uint8_t last_hash[TIDE_HASH_BYTES];
    bool last_holds; /* its checks and its link hold */
};

tide_status dump_sink_open(struct dump_sink *sink, FILE *out,
                           const struct tide_dump_options *options, struct tide_err *err);
void dump_sink_close(struct dump_sink *sink);
tide_status dump_sink_ledger(struct dump_sink *sink, tide_slice lcm, struct tide_err *err);

/* Writes sink->line and empties it. */
tide_status dump_flush(struct dump_sink *sink);

/* Null for no value. */
void dump_put_text(struct tide_json *j, const char *name, const char *value);
/* key holds 32 bytes. */
void dump_put_strkey(struct tide_json *j, const char *name, enum tide_strkey kind,
                     const uint8_t *key);

/* ledger.c */
void dump_put_ledger(struct dump_sink *sink, const struct tide_ledger_tail *tail, bool linked);
void dump_put_phases(struct tide_json *j, tide_slice tx_set);
/* tx.c */
void dump_put_tx(struct dump_sink *sink, const struct tide_tx *tx, enum tide_call_proof proof);

#endif
