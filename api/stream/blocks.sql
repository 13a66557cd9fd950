-- Changes of blocked jurisdictions in the ledgers ($2, $3].
SELECT code, ledger, removed FROM history.compliance_registry_blocked_jurisdiction
WHERE deployment = $1 AND ledger > $2 AND ledger <= $3 ORDER BY ledger, tx, seq
