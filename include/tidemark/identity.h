/* The deployment file as the database stores it: the network, the contracts, the role of each.
 *
 * A deployment's roles are fixed, because its rows were decoded by them: with another role the same
 * contract would have other rows. Each program that reads the file therefore refuses a file that
 * gives a contract another role than a deployment with rows has. */
#ifndef TIDEMARK_STORE_IDENTITY_H
#define TIDEMARK_STORE_IDENTITY_H

#include "tidemark/buf.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct tide_identity {
    /* bytea literals: the network's id, and the hash of the protocol's own contracts */
    char network[2 * TIDE_HASH_BYTES + 3], contracts[2 * TIDE_HASH_BYTES + 3];
    struct tide_buf json; /* [{"name", "role", "address"}], NUL-terminated */
};

/* Computes the identity of a file. TIDE_E_LIMIT if the list is too long. The caller releases *out
 * in any case. */
tide_status tide_identity_make(struct tide_identity *out, const struct tide_deployment *file,
                               struct tide_err *err) TIDE_MUST_USE;
void tide_identity_release(struct tide_identity *identity);

/* Compares the file with the database. TIDE_E_CONFLICT if the database has rows of this deployment,
 * in any epoch of its network, in which a contract of the file has another role or name, or a name
 * belongs to another contract. err has both values. Wallets may be renamed, and contracts may be
 * added or left out. TIDE_OK if there is no such deployment. The database role needs SELECT on
 * chain.deployment and chain.cursor. */
tide_status tide_identity_check(struct tide_pg *pg, const struct tide_identity *identity,
                                struct tide_err *err) TIDE_MUST_USE;
/* Makes the identity of the file and compares it. */
tide_status tide_identity_check_file(struct tide_pg *pg, const struct tide_deployment *file,
                                     struct tide_err *err) TIDE_MUST_USE;

#endif
