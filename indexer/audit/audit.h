/* The audit of the whole state: compares every entry of the deployment's contracts with the buckets
 * of a checkpoint of a history archive.
 *
 * Proven     the buckets hash to the bucketListHash of the checkpoint's header, and that header to
 *            the hash that the index stored for the ledger. The meta, from which rows are made,
 *            proves neither that an entry's change is right nor that none was left out; buckets do.
 * Compared   each entry's value, its time to live, and whether it is archived, with the tables as
 *            of the checkpoint's ledger; and the bytes of each contract's code with the hash that
 *            the tables have. Missing, surplus and different entries are reported one by one.
 * Left out   what the index does not follow by design (indexer/README.md, "Relevance"): nonces,
 *            balances of strangers, and what a Stellar asset keeps beside balances. The time
 *            to live of code.
 * Memory     fixed, whatever the size of the buckets and the tables: rows that are compared are in
 *            temporary tables of the server.
 * Writes     nothing that stays. */
#ifndef INDEXER_AUDIT_AUDIT_H
#define INDEXER_AUDIT_AUDIT_H

#include "tidemark/config.h"
#include "tidemark/status.h"

struct tide_audit_options {
    const struct tide_config *config; /* archive, database and deployment */
    uint32_t checkpoint;              /* a checkpoint's last ledger; 0: the newest indexed one */
};

/* Prints what was proven, what was compared and each difference (at most 20) on standard output.
 * TIDE_E_CONFLICT  there are differences
 * TIDE_E_CHAIN     the archive's header is not the stored one, or its buckets are not the header's
 * TIDE_E_MISSING   the archive lacks a file, or the ledger is not indexed
 * and what archive_read and the database return. */
tide_status tide_audit(const struct tide_audit_options *options,
                       struct tide_err *err) TIDE_MUST_USE;

#endif
