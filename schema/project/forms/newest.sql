-- The newest versions, in parts of a statement.
SELECT {id} AS source, false AS removed, ledger, chain.unix(closed_at) AS closed, contract, tx, seq AS seq{values}
FROM state.{table} WHERE deployment = $1
