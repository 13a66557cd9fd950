-- The tokens that the vault engine ever named, and since when: of each market, which had it still when it was removed, and of its list of
-- collateral, and those that were dropped from that list.
INSERT INTO {=engine_token} AS e (deployment, contract, what, market, token, first_ledger)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = v.contract_key), v.what,
  coalesce((SELECT w.word FROM chain.word AS w WHERE w.id = v.market_key), ''),
  coalesce((SELECT w.word FROM chain.word AS w WHERE w.id = v.token_key), ''), min(v.ledger)
FROM (
  SELECT contract_key, ledger, 'market' AS what, symbol_key AS market_key, token_key
  FROM {!history.synthetic_engine_asset_config} AS h WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer AND NOT removed
  UNION ALL
  SELECT contract_key, ledger, CASE WHEN removed THEN 'dropped' ELSE 'collateral' END, 0, token_key
  FROM {!history.synthetic_engine_collateral_allowed} AS h WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
) AS v
GROUP BY v.contract_key, v.what, v.market_key, v.token_key
ON CONFLICT (deployment, contract, what, market, token) DO UPDATE SET first_ledger = excluded.first_ledger
WHERE e.first_ledger > excluded.first_ledger
