-- The decimals that each token ever had, and the first and last ledgers that ended with a version that says so. An instance that is removed,
-- or says no number up to 38, as it does between its creation and its initialization, has -1.
WITH version AS (
  SELECT contract_key, ledger, tx, seq, CASE WHEN removed THEN -1 ELSE coalesce(chain.token_decimals(decimals, metadata), -1) END AS decimals
  FROM {!history.synth_token_instance} AS h WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT contract_key, ledger, tx, seq, CASE WHEN removed THEN -1 ELSE coalesce(chain.decimals(metadata ->> 'decimal'), -1) END
  FROM {!history.stellar_asset_instance} AS h WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
), last AS (
  SELECT DISTINCT ON (contract_key, ledger) contract_key, ledger, decimals FROM version ORDER BY contract_key, ledger, tx DESC, seq DESC
)
INSERT INTO {=decimals} AS d (deployment, token, decimals, first_ledger, last_ledger)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = l.contract_key), l.decimals, min(l.ledger), max(l.ledger)
FROM last AS l
GROUP BY l.contract_key, l.decimals
ON CONFLICT (deployment, token, decimals) DO UPDATE SET
  first_ledger = least(d.first_ledger, excluded.first_ledger),
  last_ledger = greatest(d.last_ledger, excluded.last_ledger)
WHERE d.first_ledger > excluded.first_ledger OR d.last_ledger < excluded.last_ledger
