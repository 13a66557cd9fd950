/* The command reset: begins a new epoch of a network that was reset, beside the old one. An epoch
 * is one row of chain.deployment. The writer uses the latest epoch, whose tables are empty. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"

struct epoch {
    char network[2 * TIDE_HASH_BYTES + 1], deployment[12];
    uint32_t number, cursor;
};

/* Reads the deployment's epoch and cursor, and the newest epoch of its network. */
static tide_status find_epoch(struct tide_pg *pg, uint16_t deployment, struct epoch *out,
                              struct tide_err *err)
{
    struct tide_pg_rows rows;
    snprintf(out->deployment, sizeof out->deployment, "%u", deployment);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT encode(d.network_id, 'hex'), d.epoch, coalesce(c.ledger, 0),"
        " (SELECT max(epoch) FROM chain.deployment AS o WHERE o.network_id = d.network_id)"
        " FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id"
        " WHERE d.id = $1::integer",
        (const char *[]){ out->deployment }, 1, err);
    if (status)
        return status;
    if (rows.count == 1) {
        snprintf(out->network, sizeof out->network, "%s", tide_pg_text(&rows, 0, 0));
        out->number = (uint32_t)tide_pg_u64(&rows, 0, 3);
        out->cursor = (uint32_t)tide_pg_u64(&rows, 0, 2);
    } else {
        status = tide_fail(err, TIDE_E_MISSING, "deployment %u does not exist", deployment);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* Fails if a writer holds the deployment's lock: it would go on writing the old epoch. */
static tide_status reject_writer(struct tide_pg *pg, const struct epoch *epoch,
                                 struct tide_err *err)
{
    struct tide_pg_rows rows;
    assert(tide_pg_in_transaction(pg)); /* the lock ends with it */
    tide_status status =
        tide_pg_query(pg, &rows, "SELECT pg_try_advisory_xact_lock(x'74696465'::int, $1::integer)",
                      (const char *[]){ epoch->deployment }, 1, err);
    bool free_now = status == TIDE_OK && tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    if (status || free_now)
        return status;
    return tide_fail(err, TIDE_E_CONFLICT, "an indexer is writing deployment %s: stop it first",
                     epoch->deployment);
}

/* The lock is held until COMMIT, so no writer can start on the old epoch in between. */
static tide_status open_epoch(struct tide_pg *pg, const struct epoch *epoch, struct tide_err *err)
{
    assert(epoch->cursor > 0);
    tide_status status = tide_pg_run(pg, "BEGIN", "BEGIN", err);
    if (!status)
        status = reject_writer(pg, epoch, err);
    if (!status)
        status = tide_pg_query(
            pg, NULL,
            "INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash,"
            " contracts, first_ledger, dao_wallet) SELECT d.passphrase, d.network_id, 1 + "
            "(SELECT"
            " max(epoch) FROM chain.deployment AS o WHERE o.network_id = d.network_id),"
            " d.contracts_hash, d.contracts, d.first_ledger, d.dao_wallet FROM"
            " chain.deployment AS d WHERE d.id = $1::integer",
            (const char *[]){ epoch->deployment }, 1, err);
    return status ? status : tide_pg_run(pg, "COMMIT", "COMMIT", err);
}

int tide_reset_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    struct epoch epoch = { 0 };
    uint16_t deployment = 0;
    (void)argc;
    tide_status status = tide_query_connect(&pg, config, "tidemark-reset", true, &err);
    if (!status)
        status = tide_query_deployment(pg, config, &deployment, &err);
    if (!status)
        status = find_epoch(pg, deployment, &epoch, &err);
    if (!status && epoch.cursor == 0)
        status = tide_fail(&err, TIDE_E_CONFLICT, "epoch %u of the network is still empty",
                           epoch.number);
    if (!status && !tide_option_given(options, "confirm"))
        status = tide_fail(&err, TIDE_E_USAGE,
                           "this would close epoch %u of the network, indexed up to ledger %u, and "
                           "begin epoch %u: pass --confirm if the network was reset",
                           epoch.number, epoch.cursor, epoch.number + 1);
    if (!status)
        status = open_epoch(pg, &epoch, &err);
    if (!status)
        printf(
            "epoch %u of the network begins; the index of epoch %u, up to ledger %u, stays as it "
            "is, as deployment %s\n`tidemark-indexer run` begins at the first ledger; if the "
            "contracts are new, give their deployment file\n",
            epoch.number + 1, epoch.number, epoch.cursor, epoch.deployment);
    fflush(stdout);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
