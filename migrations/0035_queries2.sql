-- 0035_queries2: the orders in which lists of partners, epochs, feeds, proposals, wallets and verifiers
-- are read, and the events of one owner, provider, proposal or contract.

-- State by natural key. These tables are small but for attestations.
CREATE INDEX ON state."partner_registry_partner" (deployment, key_id);
CREATE INDEX ON state."partner_registry_partner_asset" (deployment, partner_id, key_symbol);
CREATE INDEX ON state."earnings_distributor_epoch" (deployment, key_id);
CREATE INDEX ON state."earnings_distributor_epoch_revenue" (deployment, epoch, token);
CREATE INDEX ON state."earnings_distributor_epoch_token_list" (deployment, epoch);
CREATE INDEX ON state."earnings_distributor_epoch_partner_revenue" (deployment, epoch, partner_id);
CREATE INDEX ON state."earnings_distributor_claimed" (deployment, epoch, claimer);
CREATE INDEX ON state."oracle_feed" (deployment, asset);
CREATE INDEX ON state."oracle_pending_observations" (deployment, asset);
CREATE INDEX ON state."oracle_provider" (deployment, address);
CREATE INDEX ON state."dao_governance_proposal" (deployment, key_id);
CREATE INDEX ON state."dao_governance_proposal_multi_sig_txs" (deployment, proposal_id);
CREATE INDEX ON state."dao_governance_multi_sig_wallet" (deployment, wallet_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, wallet_id, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, status, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, wallet_id, status, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_approval" (deployment, tx_id, signer);
CREATE INDEX ON state."compliance_registry_verifier_list" (deployment, index);
CREATE INDEX ON state."compliance_registry_verifier" (deployment, address);
CREATE INDEX ON state."compliance_registry_attestation" (deployment, address, index);
CREATE INDEX ON state."compliance_registry_blocked_jurisdiction" (deployment, code);
CREATE INDEX ON state."synth_token_instance" (deployment, contract);
CREATE INDEX ON state."stellar_asset_instance" (deployment, contract);

-- Keys that an earlier ledger had and the newest has not: nearly none.
CREATE INDEX ON history."partner_registry_partner" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."partner_registry_partner_asset" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_epoch" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_epoch_partner_revenue" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_claimed" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."oracle_feed" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."oracle_provider" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."dao_governance_proposal" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."dao_governance_multi_sig_wallet" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."dao_governance_multi_sig_tx" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."compliance_registry_verifier_list" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."compliance_registry_attestation" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."compliance_registry_blocked_jurisdiction" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."compliance_registry_verifier" (deployment, address, ledger) WHERE removed;

CREATE INDEX ON event."earnings_distributor_partner_revenue_forwarded" (deployment, partner_id, epoch, ledger);
CREATE INDEX ON event."partner_registry_preg_claim" (deployment, partner_owner, ledger);
CREATE INDEX ON event."earnings_distributor_revenue_claimed" (deployment, claimer, ledger);
CREATE INDEX ON event."dao_governance_proposed" (deployment, proposal_id, ledger);
CREATE INDEX ON event."dao_governance_voted" (deployment, proposal_id, ledger);

-- What partners earned per token: indexer/rollup/partner.sql keeps them. Cuts of revenue whose token
-- is not indexed (--only) are left out.
CREATE TABLE rollup.partner_revenue (
    deployment smallint      NOT NULL,
    partner_id bigint        NOT NULL,
    token      text          NOT NULL,
    amount     numeric(45,0) NOT NULL,
    forwards   bigint        NOT NULL,
    PRIMARY KEY (deployment, partner_id, token)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.partner_revenue IS 'What a partner earned per token';
COMMENT ON COLUMN rollup.partner_revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN rollup.partner_revenue.token IS 'Token of the revenue, contract address';
COMMENT ON COLUMN rollup.partner_revenue.amount IS 'Sum of its cuts, raw units';
COMMENT ON COLUMN rollup.partner_revenue.forwards IS 'How many';

CREATE TABLE rollup.partner_epoch_revenue (
    deployment smallint      NOT NULL,
    partner_id bigint        NOT NULL,
    epoch      numeric(20,0) NOT NULL,
    token      text          NOT NULL,
    amount     numeric(45,0) NOT NULL,
    forwards   bigint        NOT NULL,
    PRIMARY KEY (deployment, partner_id, epoch, token)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.partner_epoch_revenue IS 'What a partner earned per token, by epoch';
COMMENT ON COLUMN rollup.partner_epoch_revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_epoch_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN rollup.partner_epoch_revenue.epoch IS 'Epoch';
COMMENT ON COLUMN rollup.partner_epoch_revenue.token IS 'Token of the revenue, contract address';
COMMENT ON COLUMN rollup.partner_epoch_revenue.amount IS 'Sum of its cuts, raw units';
COMMENT ON COLUMN rollup.partner_epoch_revenue.forwards IS 'How many';

-- Where a role could not be made by its migration there is nobody to grant to yet.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_api') THEN
    CALL chain.grant_api();
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'tidemark_api may not read the schema rollup (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
