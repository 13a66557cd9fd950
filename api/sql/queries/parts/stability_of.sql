FROM pool AS p, unit, LATERAL (SELECT * FROM history.stability_pool_deposit AS h
    WHERE h.deployment = $1 AND h.key_hash = chain.entry_key(p.contract, 'Deposit', $3::text) AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS d,
