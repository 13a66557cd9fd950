-- 0125_settled: what a discovered contract is, a Stellar asset's or another token's, is settled once.
--
-- Until a ledger shows it, the contract is not followed. Then all indexed ledgers are read again for it.

ALTER TABLE chain.contract_seen DROP CONSTRAINT contract_seen_discovered;
ALTER TABLE chain.contract_seen ADD CONSTRAINT contract_seen_discovered CHECK (what = 'created'
  OR what IN ('discovered', 'ignored', 'asset', 'token') AND role IN ('synth_token', 'stellar_asset'));
COMMENT ON COLUMN chain.contract_seen.what IS
  'created: its instance appeared; discovered: the chain names this token; asset, token: it shows that it is a Stellar asset''s contract, or is not, and is followed; ignored: named, past the limit';

-- Until now a contract was followed as a token unless it had shown to be an asset's. One that has rows as a token is one; what the
-- others are is not known yet.
INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
SELECT DISTINCT ON (s.deployment, s.contract) s.deployment, s.contract, s.ledger, s.tx, 'token', 'synth_token', s.name
FROM chain.contract_seen AS s
WHERE s.what = 'discovered' AND NOT EXISTS (SELECT FROM chain.contract_seen AS a WHERE a.deployment = s.deployment
    AND a.contract = s.contract AND a.what = 'asset')
  AND (EXISTS (SELECT FROM event.log AS l WHERE l.deployment = s.deployment AND hashtext(l.contract) = hashtext(s.contract)
      AND l.contract = s.contract)
    OR (s.deployment, s.contract) IN (SELECT h.deployment, h.contract FROM history.synth_token_instance AS h
      UNION ALL SELECT h.deployment, h.contract FROM history.synth_token_balance AS h
      UNION ALL SELECT h.deployment, h.contract FROM history.synth_token_total_supply AS h
      UNION ALL SELECT h.deployment, h.contract FROM history.synth_token_frozen_account AS h
      UNION ALL SELECT h.deployment, h.contract FROM history.synth_token_allowance AS h))
ORDER BY s.deployment, s.contract, s.ledger, s.tx;

ALTER TABLE chain.contract_coverage ADD COLUMN known_as text CHECK (known_as IN ('synth_token', 'stellar_asset'));
COMMENT ON COLUMN chain.contract_coverage.known_as IS 'role by which these ledgers are read; null: not shown yet';
UPDATE chain.contract_coverage AS c SET known_as = (SELECT min(s.role) FROM chain.contract_seen AS s
  WHERE s.deployment = c.deployment AND s.contract = c.contract AND s.what IN ('asset', 'token'));

CREATE OR REPLACE FUNCTION chain.note_discovered(id smallint) RETURNS void LANGUAGE sql AS $$
  DELETE FROM chain.contract_coverage AS c
  USING (SELECT s.contract, min(s.role) AS role FROM chain.contract_seen AS s
    WHERE s.deployment = id AND s.what IN ('asset', 'token') GROUP BY s.contract) AS k
  WHERE c.deployment = id AND c.contract = k.contract AND c.known_as IS DISTINCT FROM k.role;
  INSERT INTO chain.contract_coverage (deployment, contract, from_ledger, to_ledger, next_ledger, known_as)
  SELECT id, s.contract, r.from_ledger, r.to_ledger, r.from_ledger, s.role
  FROM (SELECT n.contract, min(n.role) FILTER (WHERE n.what <> 'discovered') AS role FROM chain.contract_seen AS n
      WHERE n.deployment = id AND n.what IN ('discovered', 'asset', 'token')
      AND NOT EXISTS (SELECT FROM chain.contract_coverage AS c WHERE c.deployment = id AND c.contract = n.contract)
      GROUP BY n.contract) AS s
    CROSS JOIN (SELECT v.from_ledger, v.to_ledger FROM chain.coverage AS v WHERE v.deployment = id
      UNION ALL SELECT p.first_loaded, p.last_loaded FROM chain.partition AS p
      WHERE p.deployment = id AND NOT p.attached AND p.last_loaded IS NOT NULL) AS r
$$;
COMMENT ON FUNCTION chain.note_discovered IS
  'adds to chain.contract_coverage what was indexed before contracts were discovered, or before they showed what they are';
