-- One entry, by the hash of its ledger key, as of ledger $3.
SELECT {columns}, removed, ledger, chain.unix(closed_at), contract FROM history.{table}
WHERE deployment = $1 AND key_hash = $2 AND ledger <= $3 ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1
