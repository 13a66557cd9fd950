-- Active users by day, traders by pool and day, and users ever. Only addresses that are new in the table active are counted.
-- Rows of active with pool_key 0 are of all pools; the day '-infinity' stands for all days. Who has a row of a pool and a day has one of
-- all pools and the day, and who has that has one of all days, so few addresses are looked up more than once. The sort ends
-- all look-ups before the first row is added.
WITH seen AS MATERIALIZED (
  SELECT DISTINCT pool_id_key AS pool_key, (closed_at AT TIME ZONE 'UTC')::date AS day, trader_key AS address_key
  FROM {!event.liquidity_pool_swap} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
), traded AS MATERIALIZED (
  SELECT * FROM seen AS s WHERE (SELECT a.day FROM {=active} AS a
    WHERE a.deployment = $1::smallint AND a.pool_key = s.pool_key AND a.day = s.day AND a.address_key = s.address_key) IS NULL
), acted AS (
  SELECT day, address_key FROM traded
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, provider_key
  FROM {!event.liquidity_pool_add_liquidity} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, provider_key
  FROM {!event.liquidity_pool_remove_liquidity} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, provider_key
  FROM {!event.liquidity_pool_claim} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, owner_key
  FROM {!event.synthetic_engine_open} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, owner_key
  FROM {!event.synthetic_engine_deposit} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, owner_key
  FROM {!event.synthetic_engine_mint} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, owner_key
  FROM {!event.synthetic_engine_burn} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, owner_key
  FROM {!event.synthetic_engine_withdraw} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, depositor_key
  FROM {!event.stability_pool_deposit} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, depositor_key
  FROM {!event.stability_pool_withdraw} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION SELECT (closed_at AT TIME ZONE 'UTC')::date, depositor_key
  FROM {!event.stability_pool_claim} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
), came AS MATERIALIZED (
  SELECT * FROM acted AS s WHERE (SELECT a.day FROM {=active} AS a
    WHERE a.deployment = $1::smallint AND a.pool_key = 0 AND a.day = s.day AND a.address_key = s.address_key) IS NULL
), fresh AS (
  INSERT INTO {=active} (deployment, pool_key, day, address_key)
  SELECT $1::smallint, pool_key, day, address_key FROM traded
  UNION ALL SELECT $1::smallint, 0, day, address_key FROM came
  UNION ALL SELECT DISTINCT $1::smallint, 0, '-infinity'::date, address_key FROM came
  ORDER BY pool_key, day, address_key
  ON CONFLICT DO NOTHING
  RETURNING pool_key, day
), traders AS (
  INSERT INTO {=pool_day} AS p (deployment, pool_id, day, traders)
  SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = f.pool_key), f.day, f.traders
  FROM (SELECT pool_key, day, count(*) AS traders FROM fresh WHERE pool_key <> 0 GROUP BY pool_key, day) AS f
  ON CONFLICT (deployment, pool_id, day) DO UPDATE SET traders = p.traders + excluded.traders
), ever AS (
  INSERT INTO {=total} AS t (deployment, users)
  SELECT $1::smallint, count(*) FROM fresh WHERE day = '-infinity' HAVING count(*) > 0
  ON CONFLICT (deployment) DO UPDATE SET users = t.users + excluded.users
)
INSERT INTO {=day} AS d (deployment, day, swaps, quoted_swaps, users)
SELECT $1::smallint, day, 0, 0, count(*) FROM fresh WHERE pool_key = 0 AND day <> '-infinity' GROUP BY day
ON CONFLICT (deployment, day) DO UPDATE SET users = d.users + excluded.users
