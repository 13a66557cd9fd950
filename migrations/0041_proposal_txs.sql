-- 0041_proposal_txs: multisig transactions of one proposal.

CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, proposal_id, tx_id);
