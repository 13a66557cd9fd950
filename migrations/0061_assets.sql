-- 0061_assets: a discovered token that turns out to be a Stellar asset's own contract.

ALTER TABLE chain.contract_seen DROP CONSTRAINT contract_seen_discovered;
ALTER TABLE chain.contract_seen ADD CONSTRAINT contract_seen_discovered CHECK (what = 'created'
  OR what IN ('discovered', 'ignored', 'asset') AND role IN ('synth_token', 'stellar_asset'));
COMMENT ON COLUMN chain.contract_seen.what IS
  'created: its instance appeared; discovered: the chain names this token, it is followed; asset: it is a Stellar asset''s; ignored: named, past the limit';

CREATE OR REPLACE VIEW analyst.contracts AS
  SELECT
    x.deployment,
    x.address AS contract,
    x.name,
    x.role
  FROM (
    SELECT u.deployment, u.address, u.name, u.role,
      row_number() OVER (PARTITION BY u.deployment, u.address ORDER BY u.later, u.role) AS n
    FROM (
      SELECT d.id AS deployment, j.address, j.name, j.role, 0 AS later
      FROM chain.deployment AS d
        CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, name text, role text)
      UNION ALL
      SELECT s.deployment, s.contract, s.name, s.role, 1 FROM chain.contract_seen AS s
      WHERE s.what IN ('discovered', 'asset')
    ) AS u
  ) AS x WHERE x.n = 1;
