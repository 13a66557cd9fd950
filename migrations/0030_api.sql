-- 0030_api: what the API's hot cache needs: an index by ledger where it looks for what is new, and
-- a role that may read.

CREATE INDEX ON history."liquidity_pool_pool" (deployment, ledger);
CREATE INDEX ON history."liquidity_pool_instance" (deployment, ledger);
CREATE INDEX ON history."synthetic_engine_asset_config" (deployment, ledger);
CREATE INDEX ON history."synthetic_engine_vault" (deployment, ledger);
CREATE INDEX ON history."synthetic_engine_debt_total" (deployment, ledger);
CREATE INDEX ON history."synthetic_engine_collateral_allowed" (deployment, ledger);
CREATE INDEX ON history."synthetic_engine_instance" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_compliance_rec" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_frozen" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_whitelist" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_blocked_jurisdiction" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_verifier" (deployment, ledger);
CREATE INDEX ON history."compliance_registry_instance" (deployment, ledger);
CREATE INDEX ON history."partner_registry_partner" (deployment, ledger);
CREATE INDEX ON history."partner_registry_partner_asset" (deployment, ledger);
CREATE INDEX ON history."earnings_distributor_instance" (deployment, ledger);
CREATE INDEX ON history."oracle_feed" (deployment, ledger);
CREATE INDEX ON history."oracle_provider" (deployment, ledger);
CREATE INDEX ON history."dao_governance_instance" (deployment, ledger);
CREATE INDEX ON history."synth_token_instance" (deployment, ledger);
CREATE INDEX ON history."stellar_asset_instance" (deployment, ledger);

-- What the role may do, again and again the same: called below, and by hand where the role could
-- not be made by this migration. It reads jurisdictions: the compliance rule needs them.
CREATE PROCEDURE chain.grant_feeder()
  LANGUAGE plpgsql
AS $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['chain', 'event', 'state', 'history'] LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO tidemark_feeder', name);
  END LOOP;
  ALTER ROLE tidemark_feeder SET default_transaction_read_only = on;
  ALTER ROLE tidemark_feeder SET idle_in_transaction_session_timeout = '60s';
END $$;
COMMENT ON PROCEDURE chain.grant_feeder() IS 'gives tidemark_feeder, who keeps the hot cache, the rows to read and nothing else';
REVOKE ALL ON PROCEDURE chain.grant_feeder() FROM PUBLIC;

-- A role belongs to the whole cluster: it may be there already, or be beyond our privileges.
-- It has no password: nobody logs in by one until an operator sets it.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_feeder') THEN
    CREATE ROLE tidemark_feeder LOGIN;
  END IF;
  CALL chain.grant_feeder();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the role tidemark_feeder could not be set up (%): as a superuser, CREATE ROLE tidemark_feeder LOGIN and CALL chain.grant_feeder()', SQLERRM;
END $$;
