FROM chain.ledger AS l, LATERAL (SELECT
    l.ledger::text AS "sequence",
    encode(l.hash, 'hex') AS "hash",
    encode(l.previous_hash, 'hex') AS "previousHash",
    chain.rfc3339(l.closed_at) AS "closeTime",
    l.protocol AS "protocol",
    l.tx_count AS "transactions",
    l.our_txs AS "protocolTransactions",
    l.events AS "events",
    l.changes AS "changes",
    l.raw_events AS "rawEvents",
    l.raw_states AS "rawStates",
    l.raw_calls AS "rawCalls",
    (ARRAY['chain', 'results', 'events'])[l.proof + 1] AS "proof",
    l.calls_verified AS "callsVerified",
    l.calls_rewritten AS "callsRewritten",
    l.calls_unverified AS "callsUnverified"
  ) AS x
