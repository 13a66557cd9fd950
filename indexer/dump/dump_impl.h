/* Types and functions that write one ledger as JSON lines. Only indexer/dump includes them. */
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

    /* State of the present ledger. */
    tide_slice lcm;
    struct tide_ledger_header header;
    struct tide_buf phases;   /* txSetPhases */
    struct tide_buf upgrades; /* JSON array members */
    struct tide_buf evicted;
    uint32_t changes[6][5][10]; /* counts by section, kind, type */
    uint32_t events[3];         /* counts by level */
    uint32_t tx_count;
    uint32_t success_count;
    /* State of the present transaction. */
    uint32_t op_events[TIDE_OPS_PER_TX_MAX];
    uint32_t tx_events;
    uint32_t diagnostics;

    /* The ledger before. */
    uint32_t last_sequence; /* 0: none */
    uint8_t last_hash[TIDE_HASH_BYTES];
    bool last_holds; /* all checks passed, and the link to its predecessor */
};

tide_status dump_sink_open(struct dump_sink *sink, FILE *out,
                           const struct tide_dump_options *options, struct tide_err *err);
void dump_sink_close(struct dump_sink *sink);
tide_status dump_sink_ledger(struct dump_sink *sink, tide_slice lcm, struct tide_err *err);

/* Writes null if value is NULL. */
static inline void dump_put_text(struct tide_json *j, const char *name, const char *value)
{
    if (value)
        tide_json_text(j, name, tide_slice_str(value));
    else
        tide_json_null(j, name);
}

/* key has 32 bytes. */
static inline void dump_put_strkey(struct tide_json *j, const char *name, enum tide_strkey kind,
                                   const uint8_t *key)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    size_t len = tide_strkey_encode(text, kind, tide_slice_of(key, 32));
    assert(len < sizeof text);
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, len));
}

/* ledger.c: the line of a ledger. */
void dump_put_ledger(struct dump_sink *sink, const struct tide_ledger_tail *tail, bool linked);
void dump_put_phases(struct tide_json *j, tide_slice tx_set);
/* tx.c: the line of a transaction. */
void dump_put_tx(struct dump_sink *sink, const struct tide_tx *tx, enum tide_call_proof proof);

#endif
