-- 0126_market_tokens: which discovered tokens a market of the engine names.
--
-- Anyone may fill partners' catalogs; what they name has a limit. Markets, which the DAO makes, have their own.

ALTER TABLE chain.contract_seen DROP CONSTRAINT contract_seen_discovered;
ALTER TABLE chain.contract_seen ADD CONSTRAINT contract_seen_discovered CHECK (what = 'created'
  OR what IN ('discovered', 'ignored', 'market', 'asset', 'token') AND role IN ('synth_token', 'stellar_asset'));
COMMENT ON COLUMN chain.contract_seen.what IS
  'created: its instance appeared; discovered: the chain names this token; market: a market does; asset, token: it shows that it is a Stellar asset''s contract, or is not, and is followed; ignored: named, past the limit';

INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
SELECT DISTINCT ON (s.deployment, s.contract) s.deployment, s.contract, s.ledger, s.tx, 'market', s.role, s.name
FROM chain.contract_seen AS s
WHERE s.what IN ('discovered', 'ignored') AND EXISTS (SELECT FROM history.synthetic_engine_asset_config AS h
    WHERE h.deployment = s.deployment AND h.token = s.contract)
ORDER BY s.deployment, s.contract, s.ledger, s.tx;
