-- 0070_contract_coverage: which ledgers were indexed before a discovered contract was known.
--
-- A contract of the deployment file is watched in every ledger of chain.coverage. One that was
-- discovered is not: the ledgers indexed before are read again for it, from next_ledger on. The
-- contract is watched everywhere when no row has next_ledger <= to_ledger.

CREATE TABLE chain.contract_coverage (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    contract    text        NOT NULL,
    from_ledger integer     NOT NULL CHECK (from_ledger > 0),
    to_ledger   integer     NOT NULL,
    next_ledger integer     NOT NULL,          -- read so far: from_ledger .. next_ledger - 1
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    trouble     text,                          -- why reading could not go on when it was last tried
    trouble_at  timestamptz,
    PRIMARY KEY (deployment, contract, from_ledger),
    CHECK (to_ledger >= from_ledger),
    CHECK (next_ledger BETWEEN from_ledger AND to_ledger + 1)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.contract_coverage IS 'ledgers that were indexed before a discovered contract was known, and how far they have been read again for it';

-- Notes the ledgers that are indexed now (those still being loaded too) for contracts that were
-- discovered and have no rows yet. Called in the transaction that stores the discovery.
CREATE FUNCTION chain.note_discovered(id smallint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO chain.contract_coverage (deployment, contract, from_ledger, to_ledger, next_ledger)
  SELECT id, s.contract, r.from_ledger, r.to_ledger, r.from_ledger
  FROM (SELECT DISTINCT n.contract FROM chain.contract_seen AS n WHERE n.deployment = id AND n.what = 'discovered'
      AND NOT EXISTS (SELECT FROM chain.contract_coverage AS c WHERE c.deployment = id AND c.contract = n.contract)) AS s
    CROSS JOIN (SELECT v.from_ledger, v.to_ledger FROM chain.coverage AS v WHERE v.deployment = id
      UNION ALL SELECT p.first_loaded, p.last_loaded FROM chain.partition AS p
      WHERE p.deployment = id AND NOT p.attached AND p.last_loaded IS NOT NULL) AS r
$$;
COMMENT ON FUNCTION chain.note_discovered IS 'adds to chain.contract_coverage what was indexed before the contracts that were just discovered';

SELECT chain.note_discovered(id) FROM chain.deployment;

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
