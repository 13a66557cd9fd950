-- The last version on each day of entries that say what is held, owed and priced.
-- Few of the balances are the engine's, and the pool has one state: those are looked up by key.
WITH own AS MATERIALIZED (
  SELECT 'stability' AS what, s.key_hash FROM {state.stability_pool_state} AS s WHERE s.deployment = $1::smallint
  UNION ALL
  SELECT 'collateral', s.key_hash
  FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
    CROSS JOIN LATERAL (SELECT b.key_hash FROM {state.stellar_asset_balance} AS b
      WHERE b.deployment = d.id AND b.address = j.address OFFSET 0) AS s
  WHERE d.id = $1::smallint AND j.role = 'synthetic_engine'
), version AS (
  SELECT 'pool' AS what, pool_id_key AS name_key, closed_at, ledger, tx, seq, reserve_a AS amount, reserve_b AS amount_b
  FROM {!history.liquidity_pool_pool} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 'debt', synth_key, closed_at, ledger, tx, seq, value, NULL
  FROM {!history.synthetic_engine_debt_total} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 'stability', 0, v.closed_at, v.ledger, v.tx, v.seq, v.total_deposits, NULL
  FROM own AS o CROSS JOIN LATERAL (SELECT * FROM {!history.stability_pool_state} AS h
    WHERE h.deployment = $1::smallint AND h.key_hash = o.key_hash AND h.ledger BETWEEN $2::integer AND $3::integer
    OFFSET 0) AS v
  WHERE o.what = 'stability'
  UNION ALL
  SELECT 'price', asset_key, closed_at, ledger, tx, seq, twap_price, NULL
  FROM {!history.oracle_feed} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT 'collateral', v.contract_key, v.closed_at, v.ledger, v.tx, v.seq, v.amount, NULL
  FROM own AS o CROSS JOIN LATERAL (SELECT * FROM {!history.stellar_asset_balance} AS h
    WHERE h.deployment = $1::smallint AND h.key_hash = o.key_hash AND h.ledger BETWEEN $2::integer AND $3::integer
    OFFSET 0) AS v
  WHERE o.what = 'collateral'
), last AS (
  SELECT DISTINCT ON (what, name_key, day) what, name_key, (closed_at AT TIME ZONE 'UTC')::date AS day, ledger, tx, seq, amount, amount_b
  FROM version ORDER BY what, name_key, day, ledger DESC, tx DESC, seq DESC
)
INSERT INTO {=closing} AS c (deployment, what, name, day, ledger, tx, seq, amount, amount_b)
SELECT $1::smallint, what, CASE WHEN name_key = 0 THEN '' ELSE (SELECT w.word FROM chain.word AS w WHERE w.id = name_key) END, day, ledger, tx, seq,
  amount, amount_b
FROM last
ON CONFLICT (deployment, what, name, day) DO UPDATE SET
  ledger = excluded.ledger,
  tx = excluded.tx,
  seq = excluded.seq,
  amount = excluded.amount,
  amount_b = excluded.amount_b
WHERE (c.ledger, c.tx, c.seq) < (excluded.ledger, excluded.tx, excluded.seq)
