-- schema: IndexedLedger
--   ledger                Ledger                  its number
--   hash                  Hash                    of its header
--   previousHash          Hash                    of the one before
--   closedAt              Time                    when it closed
--   protocol              integer                 protocol version of the network
--   transactions          Count                   in the ledger
--   protocolTransactions  Count?                  of them, those that touch the protocol. As of a ledger this and the
--                                                 counts below are null: they grow when a token is found later
--   events                Count?                  of the protocol
--   changes               Count?                  of the protocol's entries
--   rawEvents             Count?                  events that could not be decoded, kept as they came
--   rawStates             Count?                  entries that could not be decoded, kept as they came
--   rawCalls              Count?                  calls whose arguments or answer are too long or deep for JSON, kept
--                                                 as XDR
--   proof                 "chain|results|events"  what was recomputed and fits: the header chain, results too, events
--                                                 too
--   chainProof            "linked|signed"?        signed: signatures of the operator's validators prove the hash, by
--                                                 themselves or by those of a later ledger; linked: only its place
--                                                 between its neighbours does. Null as of a ledger, because it changes
--   callsVerified         Count?                  calls whose events fit their result's hash
--   callsRewritten        Count?                  calls whose result names other events than the ledger's meta
--   callsUnverified       Count?                  calls that no hash covers
-- example: {"ledger":"1535", "hash":"ce64a095f1533daddc5633d6e3b2c0f0cd4e0af34288ab4ef7be7a4f405c1146",
--   "previousHash":"ae3c2d4808e456dc9695767a0cc97fa9111a27ae5b911f50c251e8567fe41107",
--   "closedAt":"2026-01-31T07:24:04Z", "protocol":25, "transactions":4, "protocolTransactions":3, "events":3,
--   "changes":4, "rawEvents":0, "rawStates":0, "rawCalls":0, "proof":"events", "chainProof":"linked",
--   "callsVerified":2, "callsRewritten":0, "callsUnverified":0}
  , LATERAL (SELECT
    l.ledger::text AS "ledger",
    encode(l.hash, 'hex') AS "hash",
    encode(l.previous_hash, 'hex') AS "previousHash",
    chain.rfc3339(l.closed_at) AS "closedAt",
    l.protocol AS "protocol",
    l.tx_count AS "transactions",
    CASE WHEN l.counted THEN l.our_txs END AS "protocolTransactions",
    CASE WHEN l.counted THEN l.events END AS "events",
    CASE WHEN l.counted THEN l.changes END AS "changes",
    CASE WHEN l.counted THEN l.raw_events END AS "rawEvents",
    CASE WHEN l.counted THEN l.raw_states END AS "rawStates",
    CASE WHEN l.counted THEN l.raw_calls END AS "rawCalls",
    (ARRAY['chain', 'results', 'events'])[l.proof + 1] AS "proof",
    CASE WHEN l.counted THEN CASE WHEN EXISTS (SELECT FROM chain.coverage AS v JOIN chain.checkpoint AS k
        ON k.deployment = v.deployment AND k.ledger BETWEEN l.ledger AND v.to_ledger
      WHERE v.deployment = l.deployment AND l.ledger BETWEEN v.from_ledger AND v.to_ledger)
      THEN 'signed' ELSE 'linked' END END AS "chainProof",
    CASE WHEN l.counted THEN l.calls_verified END AS "callsVerified",
    CASE WHEN l.counted THEN l.calls_rewritten END AS "callsRewritten",
    CASE WHEN l.counted THEN l.calls_unverified END AS "callsUnverified"
  ) AS x
