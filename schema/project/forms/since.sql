-- The rows after ledger $2 up to ledger $3, in parts of a statement.
SELECT {id} AS source, {removed} AS removed, ledger, chain.unix(closed_at) AS closed, contract, tx, {seq} AS seq{values}
FROM {changes} WHERE deployment = $1 AND ledger > $2
  AND ledger <= least((SELECT ledger FROM chain.cursor WHERE deployment = $1), $3)
