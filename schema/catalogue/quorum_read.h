/* Reads the quorum set of a deployment file. */
#ifndef SCHEMA_CATALOGUE_QUORUM_READ_H
#define SCHEMA_CATALOGUE_QUORUM_READ_H

#include "tidemark/json_read.h"
#include "tidemark/quorum.h"

/* Reads a quorum set in the form of tidemark/quorum.h. TIDE_E_CONFIG names the place in it. */
tide_status tide_quorum_read(struct tide_quorum *out, const json_t *value,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
