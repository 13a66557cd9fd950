-- The last version on each day of the entries with reserves, debts, deposits, prices and collateral. Balances are looked up by
-- their keys, because only few of all balances belong to the engine. The statement reads history only, never state: the
-- content of state depends on where the folded range ends. Numbers stand for the names in what, because a sort compares columns
-- behind a text slowly.
WITH version AS (
  SELECT 1 AS what, pool_id_key AS name_key, closed_at, ledger, tx, seq, reserve_a AS amount, reserve_b AS amount_b
  FROM {!history.liquidity_pool_pool} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 2, synth_key, closed_at, ledger, tx, seq, value, NULL
  FROM {!history.synthetic_engine_debt_total} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 3, 0, closed_at, ledger, tx, seq, total_deposits, NULL
  FROM {!history.stability_pool_state} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 4, asset_key, closed_at, ledger, tx, seq, twap_price, NULL
  FROM {!history.oracle_feed} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 5, contract_key, closed_at, ledger, tx, seq, amount, NULL
  FROM {!history.stellar_asset_balance} AS b WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
    AND address_key = (SELECT chain.word_key(j.address)
      FROM chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j (address text, role text)
      WHERE d.id = $1::smallint AND j.role = 'synthetic_engine')
), last AS (
  SELECT DISTINCT ON (what, name_key, day) what, name_key, (closed_at AT TIME ZONE 'UTC')::date AS day, ledger, tx, seq, amount, amount_b
  FROM version ORDER BY what, name_key, day, ledger DESC, tx DESC, seq DESC
)
INSERT INTO {=closing} AS c (deployment, what, name, day, ledger, tx, seq, amount, amount_b)
SELECT $1::smallint, (ARRAY['pool', 'debt', 'stability', 'price', 'collateral'])[what], CASE WHEN name_key = 0 THEN '' ELSE (SELECT w.word FROM chain.word AS w WHERE w.id = name_key) END, day, ledger, tx, seq,
  amount, amount_b
FROM last
ON CONFLICT (deployment, what, name, day) DO UPDATE SET
  ledger = excluded.ledger,
  tx = excluded.tx,
  seq = excluded.seq,
  amount = excluded.amount,
  amount_b = excluded.amount_b
WHERE (c.ledger, c.tx, c.seq) < (excluded.ledger, excluded.tx, excluded.seq)
