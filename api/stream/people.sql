-- Records of addresses as of ledger $2. $3, $4: hashes, in hex, of the keys of ComplianceRec and Frozen. At least one row, for the
-- ledger's close time.
SELECT chain.unix_ms((SELECT closed_at FROM chain.ledger WHERE deployment = $1 AND ledger = $2)), a.n - 1, r.key_hash IS NOT NULL,
  r.status, r.jurisdiction, r.expires_at, f.key_hash IS NOT NULL
FROM (SELECT 1) AS one
  LEFT JOIN unnest($3::text[], $4::text[]) WITH ORDINALITY AS a(rec, frozen, n) ON true
  LEFT JOIN LATERAL (SELECT * FROM (SELECT * FROM history.compliance_registry_compliance_rec AS h
    WHERE h.deployment = $1 AND h.key_hash = decode(a.rec, 'hex') AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v WHERE NOT v.removed) AS r ON true
  LEFT JOIN LATERAL (SELECT * FROM (SELECT * FROM history.compliance_registry_frozen AS h
    WHERE h.deployment = $1 AND h.key_hash = decode(a.frozen, 'hex') AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v WHERE NOT v.removed) AS f ON true
ORDER BY a.n
