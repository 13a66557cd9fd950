/* verify --proof: checks a proof of a transaction or of an entry that an API gave, against the
 * validators of the deployment file. The proof of an entry is checked offline up to the hashes of
 * the buckets; if `archive` is set, the buckets are read and the entry is compared.
 *
 * TIDE_OK          it proves what is printed
 * TIDE_E_CONFLICT  it proves nothing, or the entry is another one
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT  the file is no proof, or of a newer protocol
 * TIDE_E_MISSING, TIDE_E_CHAIN, TIDE_E_IO  a bucket is missing or damaged in each place */
#ifndef INDEXER_VERIFY_PROOF_FILE_H
#define INDEXER_VERIFY_PROOF_FILE_H

#include "tidemark/config.h"
#include "tidemark/status.h"

tide_status tide_verify_proof(const char *path, const struct tide_config *config,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
