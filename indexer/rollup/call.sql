-- Calls by day, contract and function. Grouped by keys: their words are looked up for the sums alone.
INSERT INTO {=call_day} AS d (deployment, day, contract, created, fn, calls, refused)
SELECT $1::smallint, g.day, (SELECT w.word FROM chain.word AS w WHERE w.id = g.contract_key), g.fn_key IS NULL,
  coalesce((SELECT w.word FROM chain.word AS w WHERE w.id = g.fn_key), ''), g.calls, g.refused
FROM (
  SELECT (c.closed_at AT TIME ZONE 'UTC')::date AS day, c.contract_key, c.fn_key, count(*) AS calls,
    count(*) FILTER (WHERE NOT c.ok) AS refused
  FROM {!chain.call} AS c
  WHERE c.deployment = $1::smallint AND c.ledger BETWEEN $2::integer AND $3::integer
  GROUP BY day, c.contract_key, c.fn_key
) AS g
ON CONFLICT (deployment, day, contract, created, fn) DO UPDATE SET
  calls = d.calls + excluded.calls,
  refused = d.refused + excluded.refused
