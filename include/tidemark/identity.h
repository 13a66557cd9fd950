/* The deployment file as the database keeps it: which network, which contracts, the role of each.
 *
 * A deployment's roles are fixed. Rows were decoded by them: a contract of another role would have
 * left other rows. So a file that says otherwise of a deployment that has rows is refused by each
 * program that reads the file. */
#ifndef TIDEMARK_STORE_IDENTITY_H
#define TIDEMARK_STORE_IDENTITY_H

#include "tidemark/buf.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct tide_identity {
    /* bytea literals: the network; the hash of the protocol's own contracts */
    char network[2 * TIDE_HASH_BYTES + 3], contracts[2 * TIDE_HASH_BYTES + 3];
    struct tide_buf json; /* [{"name", "role", "address"}], NUL-terminated */
};

/* TIDE_E_LIMIT: the list is too long. The caller releases *out in either case. */
tide_status tide_identity_make(struct tide_identity *out, const struct tide_deployment *file,
                               struct tide_err *err) TIDE_MUST_USE;
void tide_identity_release(struct tide_identity *identity);

/* TIDE_E_CONFLICT: the database has rows of this deployment, in any epoch of its network, and a
 * contract of the file has another role or name there, or a name another contract; err has both
 * values. Wallets may be renamed, and contracts may be added and left out. TIDE_OK if there is no
 * such deployment. The role needs SELECT on chain.deployment and chain.cursor. */
tide_status tide_identity_check(struct tide_pg *pg, const struct tide_identity *identity,
                                struct tide_err *err) TIDE_MUST_USE;
/* The same of a file. */
tide_status tide_identity_check_file(struct tide_pg *pg, const struct tide_deployment *file,
                                     struct tide_err *err) TIDE_MUST_USE;

#endif
