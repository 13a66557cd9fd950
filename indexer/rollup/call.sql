-- Calls by day, contract and function. A refused call is one that failed.
INSERT INTO {=call_day} AS d (deployment, day, contract_key, fn_key, calls, refused)
SELECT $1::smallint, (c.closed_at AT TIME ZONE 'UTC')::date AS day, c.contract_key, coalesce(c.fn_key, 0), count(*),
  count(*) FILTER (WHERE NOT c.ok)
FROM {!chain.call} AS c
WHERE c.deployment = $1::smallint AND c.ledger BETWEEN $2::integer AND $3::integer
GROUP BY day, c.contract_key, c.fn_key
ON CONFLICT (deployment, day, contract_key, fn_key) DO UPDATE SET
  calls = d.calls + excluded.calls,
  refused = d.refused + excluded.refused
