-- The tokens that each pool ever had, and since when. A pool that is removed had them still.
INSERT INTO {=pool_token} AS p (deployment, contract, pool_id, token_a, token_b, first_ledger)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = v.contract_key), (SELECT w.word FROM chain.word AS w WHERE w.id = v.pool_id_key),
  coalesce((SELECT w.word FROM chain.word AS w WHERE w.id = v.token_a_key), ''),
  coalesce((SELECT w.word FROM chain.word AS w WHERE w.id = v.token_b_key), ''), v.first_ledger
FROM (
  SELECT contract_key, pool_id_key, token_a_key, token_b_key, min(ledger) AS first_ledger
  FROM {!history.liquidity_pool_pool} AS h WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer AND NOT removed
  GROUP BY contract_key, pool_id_key, token_a_key, token_b_key
) AS v
ON CONFLICT (deployment, contract, pool_id, token_a, token_b) DO UPDATE SET first_ledger = excluded.first_ledger
WHERE p.first_ledger > excluded.first_ledger
