-- Changes of compliance records in the ledgers $2 to $3.
SELECT ledger, false, removed, address, status, jurisdiction, expires_at, tx, seq FROM history.compliance_registry_compliance_rec
WHERE deployment = $1 AND ledger BETWEEN $2 AND $3
UNION ALL
SELECT ledger, true, removed, address, NULL, NULL, NULL, tx, seq FROM history.compliance_registry_frozen
WHERE deployment = $1 AND ledger BETWEEN $2 AND $3
ORDER BY ledger, tx, seq
