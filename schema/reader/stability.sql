-- The state of the stability pool, by the hash of its key, as of ledger $3.
SELECT p, epoch FROM (SELECT * FROM history.stability_pool_state
  WHERE deployment = $1 AND key_hash = $2 AND ledger <= $3 ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1) AS h
WHERE NOT removed
