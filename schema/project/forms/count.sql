-- The number of entries, those that were removed after ledger $2 included; at most $3 are counted of either.
SELECT (SELECT count(*) FROM (SELECT FROM state.{table} AS s WHERE s.deployment = $1 LIMIT $3::integer) AS k) +
  (SELECT count(*) FROM (SELECT FROM history.{table} AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
    LIMIT $3::integer) AS g)
