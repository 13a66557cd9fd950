-- 0076_deployment_state: which deployments are served. A process that serves one asks here, again and
-- again, for the newest epoch that is ready.

-- One row. Standbys and restored copies have the same: they hold the same index.
CREATE TABLE chain.database (
    id      uuid    NOT NULL DEFAULT gen_random_uuid(),
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row)
);
COMMENT ON TABLE chain.database IS 'identifies this index: processes that share a port must serve the same';
INSERT INTO chain.database DEFAULT VALUES;

-- ready: each of the protocol's own contracts is covered from its creation up to the cursor.
CREATE VIEW chain.deployment_state AS
SELECT d.id, d.network_id, d.epoch, d.contracts_hash, b.id AS database,
  EXISTS (SELECT FROM chain.coverage AS v WHERE v.deployment = d.id) AS covered,
  coalesce(c.ledger, 0) > 0 AND NOT EXISTS (
    SELECT FROM jsonb_to_recordset(d.contracts) AS k(role text, address text)
    WHERE k.role IN ('liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry',
        'earnings_distributor', 'oracle', 'dao_governance')
      AND NOT EXISTS (
        SELECT FROM chain.contract_seen AS s JOIN chain.coverage AS v ON v.deployment = s.deployment AND v.from_ledger <= s.ledger
        WHERE s.deployment = d.id AND s.contract = k.address AND s.what = 'created'
          AND c.ledger BETWEEN v.from_ledger AND v.to_ledger)) AS ready
FROM chain.deployment AS d CROSS JOIN chain.database AS b LEFT JOIN chain.cursor AS c ON c.deployment = d.id;
COMMENT ON VIEW chain.deployment_state IS 'deployments, and whether they can be served';

DO $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT rolname FROM pg_catalog.pg_roles
    WHERE rolname IN ('tidemark_api', 'tidemark_feeder', 'tidemark_kyc', 'tidemark_attester') LOOP
    EXECUTE format('GRANT SELECT ON chain.deployment_state TO %I', name);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'roles are not granted chain.deployment_state: grant SELECT as a superuser';
END $$;
