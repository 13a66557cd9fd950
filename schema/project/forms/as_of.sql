-- All versions as of the end of ledger $2, in parts of a statement.
SELECT * FROM (
  SELECT {id} AS source, removed AS removed, ledger, chain.unix(closed_at) AS closed, contract, tx, seq AS seq{values}
  FROM (SELECT DISTINCT ON (key_hash) * FROM asof.{table} WHERE deployment = $1 AND ledger <= $2
    ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h
  WHERE NOT removed) AS u
WHERE true
