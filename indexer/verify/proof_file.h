/* verify --proof: checks a proof of a transaction that an API gave, offline, against the validators
 * of the deployment file.
 *
 * TIDE_OK          it proves what is printed
 * TIDE_E_CONFLICT  it proves nothing
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT  the file is no proof, or of a newer protocol */
#ifndef INDEXER_VERIFY_PROOF_FILE_H
#define INDEXER_VERIFY_PROOF_FILE_H

#include "tidemark/config.h"
#include "tidemark/status.h"

tide_status tide_verify_proof(const char *path, const struct tide_config *config,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
