-- Entries, by the hashes of their ledger keys, as of ledger $3. Removed ones are left out.
SELECT {id} AS source, removed, ledger, chain.unix(closed_at) AS closed, contract, tx, seq{values}
FROM unnest($2::bytea[]) AS k(hash), LATERAL (SELECT * FROM asof.{table} AS v
  WHERE v.deployment = $1 AND v.key_hash = k.hash AND v.ledger <= $3 ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS h
WHERE NOT h.removed
