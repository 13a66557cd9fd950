/* views_driver's answers about governance. */
#ifndef TESTS_FAULTS_VIEWS_DAO_H
#define TESTS_FAULTS_VIEWS_DAO_H

#include "tests/faults/views.h"

#define HEX(name) "'\"" name "\":\"' || encode(" name ", 'hex') || '\",' || "
#define NUM(name) "'\"" name "\":\"' || " name " || '\",' || "
#define INT(name) "'\"" name "\":' || " name " || ',' || "
#define STR(name) "'\"" name "\":' || to_json(" name ") || ',' || "

static const char proposal_sql[] = "'{' || " HEX("call_data") HEX("description") HEX("title")
    NUM("end_time") NUM("execute_after") NUM("id") NUM("start_time") NUM("yes_votes")
        NUM("no_votes") STR("proposer") "'\"status\":[' || to_json(status) || ']}'";
static const char summary_sql[] = "'{' || " NUM("created_at") NUM("proposal_id") NUM("tx_id")
    INT("approvals") INT("rejections") INT("wallet_id") STR("function_name")
        STR("target") "'\"status\":[' || to_json(status) || '],'";

static inline tide_status get_proposal(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key =
        with(entry(v, "dao_governance_proposal", TIDE_ROLE_dao_governance, "Proposal"),
             TIDE_PART_U64(number_at(v, 0)));
    bool found = false;
    tide_status status = put_column(v, &key, proposal_sql, "", &found);
    *why = found ? TIDE_REFUSED_NOTHING : TIDE_REFUSED_NO_PROPOSAL;
    return status;
}

static inline tide_status get_proposal_multisig_txs(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = with(entry(v, "dao_governance_proposal_multi_sig_txs",
                                           TIDE_ROLE_dao_governance, "ProposalMultiSigTxs"),
                                     TIDE_PART_U64(number_at(v, 0)));
    (void)why;
    return put_column(v, &key, "to_json(value::text[])", "[]", NULL);
}

static struct tide_entry_key wallet_entry(struct view *v, uint64_t id)
{
    return with(
        entry(v, "dao_governance_multi_sig_wallet", TIDE_ROLE_dao_governance, "MultiSigWallet"),
        TIDE_PART_U32(id));
}

static struct tide_entry_key tx_entry(struct view *v, uint64_t id)
{
    return with(entry(v, "dao_governance_multi_sig_tx", TIDE_ROLE_dao_governance, "MultiSigTx"),
                TIDE_PART_U64(id));
}

static inline tide_status get_signers(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = wallet_entry(v, number_at(v, 0));
    bool found = false;
    tide_status status = put_column(v, &key, "to_json(signers)", "[]", &found);
    *why = found ? TIDE_REFUSED_NOTHING : TIDE_REFUSED_NO_WALLET;
    return status;
}

/* The transaction, with the present state of its wallet. */
static inline tide_status get_multisig_tx_summary(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = tx_entry(v, number_at(v, 0));
    bool found = false;
    uint64_t wallet = 0;
    tide_status status = put_column(v, &key, summary_sql, "", &found);
    *why = found ? TIDE_REFUSED_NOTHING : TIDE_REFUSED_NO_TX;
    if (status != TIDE_OK || !found)
        return status;
    status = number_of(v, &key, "wallet_id", &wallet);
    struct tide_entry_key in = wallet_entry(v, wallet);
    if (status == TIDE_OK)
        status = put_column(v, &in,
                            "'\"threshold\":' || threshold || ',\"signer_count\":' ||"
                            " cardinality(signers) || '}'",
                            "}", NULL);
    return status;
}

static inline tide_status put_pending(struct view *v, tide_slice id, bool *any)
{
    struct tide_pg_rows rows;
    bool found;
    uint64_t n = 0;
    (void)!tide_parse_u64(&n, id, UINT64_MAX);
    struct tide_entry_key key = tx_entry(v, n);
    tide_status status = tide_history_entry(&v->history, &rows, &found, &key, "status", &v->err);
    if (status != TIDE_OK || !found)
        return status;
    if (tide_slice_eq_str(tide_pg_slice(&rows, 0, 0), "Pending")) {
        tide_buf_putf(v->out, "%s\"%" PRIu64 "\"", *any ? "," : "", n);
        *any = true;
    }
    tide_pg_rows_release(&rows);
    return status;
}

static inline tide_status get_pending_multisig_txs(struct view *v, enum tide_refusal *why)
{
    struct tide_pg_rows rows;
    bool found, any = false;
    struct tide_entry_key wallet = wallet_entry(v, number_at(v, 0));
    struct tide_entry_key key = with(entry(v, "dao_governance_multi_sig_wallet_tx_ids",
                                           TIDE_ROLE_dao_governance, "MultiSigWalletTxIds"),
                                     TIDE_PART_U32(number_at(v, 0)));
    tide_status status = tide_history_entry(&v->history, &rows, &found, &wallet, "id", &v->err);
    tide_pg_rows_release(&rows);
    *why = found ? TIDE_REFUSED_NOTHING : TIDE_REFUSED_NO_WALLET;
    tide_buf_str(v->out, "[");
    if (status == TIDE_OK && found)
        status = tide_history_entry(&v->history, &rows, &found, &key, "array_to_string(value, ' ')",
                                    &v->err);
    if (status == TIDE_OK && found) {
        char *rest = NULL, ids[65536];
        snprintf(ids, sizeof ids, "%s", tide_pg_text(&rows, 0, 0));
        tide_pg_rows_release(&rows);
        for (char *id = strtok_r(ids, " ", &rest); id && status == TIDE_OK;
             id = strtok_r(NULL, " ", &rest))
            status = put_pending(v, tide_slice_str(id), &any);
    }
    tide_buf_str(v->out, "]");
    return status;
}

#endif
