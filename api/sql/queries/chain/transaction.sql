-- one: deployment hash
-- none: no transaction of that hash touched the protocol
-- tag: Activity
-- summary: One transaction
-- about: With its calls and events of the protocol. A fee bump is found by its own hash and by that of the transaction in it.
-- answer: TransactionAnswer
--   transaction           object      the transaction
--     txHash              Hash        of the transaction; of a fee bump its own
--     innerTxHash         Hash?       of the transaction in a fee bump; null: no fee bump
--     ledger              Ledger      in which it happened
--     closedAt            Time        when that ledger closed
--     tx                  integer     place of the transaction in the ledger, from 1
--     source              Address     the account that pays the sequence number
--     sourceMuxedId       U64?        id of a multiplexed source; null: it is not multiplexed
--     feeSource           Address     the account that pays the fee
--     feeSourceMuxedId    U64?        id of a multiplexed feeSource; null: it is not multiplexed
--     ok                  boolean     whether it succeeded
--     resultCode          integer     TransactionResultCode; 0: success
--     feeCharged          Amount+     in XLM, which has 7 decimals
--     calls               object[]    calls of the protocol, refused ones too
--       op                integer     operation, from 0
--       source            Address     the caller: the operation's source, else the transaction's
--       sourceMuxedId     U64?        id of a multiplexed caller; null: it is not multiplexed
--       contract          Address     that was called, or created
--       function          string?     its function; null: the contract was created
--       ok                boolean     whether it succeeded
--       resultCode        integer     InvokeHostFunctionResultCode; 0: success
--       events            Count       events of the operation
--       changes           Count       ledger entries that it changed
--       proof             "unchecked|verified|rewritten|unverified"?  whether its arguments were proved by its hash
--     events              object[]    events of the protocol, in their order
--       id                EventId     Stellar RPC's id of the event
--       op                integer     operation, from 0
--       event             integer     event of the operation, from 0
--       kind              EventKind?  contract and name; null: not decoded
--       contract          Address     that emitted it
--       subject           string?     pool, market or feed; null: of none
--       addresses         Address[]?  addresses in it, each once; null: not decoded
--       fields            EventFields?  what the event says; null: its kind is not indexed, or it is not decoded
--       undecodedBecause  string?     why it could not be decoded; null: it was
--
-- A transaction with its calls, refused ones too, and its events in their order, one that could not be decoded
-- says why. A fee bump is found by its own hash and by that of the transaction in it.
SELECT row_to_json(z)::text
FROM (
  SELECT * FROM chain.tx AS h WHERE h.deployment = $1::smallint AND h.hash = decode($2::text, 'hex')
  UNION ALL
  SELECT * FROM chain.tx AS i WHERE i.deployment = $1 AND i.inner_hash = decode($2, 'hex')
) AS t, LATERAL (SELECT
    encode(t.hash, 'hex') AS "txHash",
    encode(t.inner_hash, 'hex') AS "innerTxHash",
    t.ledger::text AS "ledger",
    chain.rfc3339(t.closed_at) AS "closedAt",
    t.tx AS "tx",
    t.source AS "source",
    t.source_muxed_id::text AS "sourceMuxedId",
    t.fee_source AS "feeSource",
    t.fee_source_muxed_id::text AS "feeSourceMuxedId",
    t.ok AS "ok",
    t.result_code AS "resultCode",
    t.fee_charged::text AS "feeCharged",
    analyst.scaled(t.fee_charged, 7)::text AS "feeChargedScaled",
    to_json(ARRAY(SELECT row_to_json(x) FROM (SELECT
        c.op AS "op",
        c.source AS "source",
        c.source_muxed_id::text AS "sourceMuxedId",
        c.contract AS "contract",
        c.fn AS "function",
        c.ok AS "ok",
        c.result_code AS "resultCode",
        c.events AS "events",
        c.changed AS "changes",
        (ARRAY['unchecked', 'verified', 'rewritten', 'unverified'])[c.proof + 1] AS "proof"
      FROM chain.call AS c WHERE c.deployment = $1 AND c.ledger = t.ledger AND c.tx = t.tx) AS x ORDER BY x.op)) AS "calls",
    to_json(ARRAY(SELECT row_to_json(x) FROM (SELECT
        chain.event_id(l.ledger, l.tx, l.op, l.event) AS "id",
        l.op AS "op",
        l.event AS "event",
        l.kind AS "kind",
        l.contract AS "contract",
        l.subject AS "subject",
        l.addresses AS "addresses",
        chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event, l.ledger) AS "fields",
        l.reason AS "undecodedBecause"
      FROM (
        SELECT e.ledger, e.tx, e.op, e.event, e.kind, e.contract, e.subject, e.addresses, NULL AS reason
        FROM event.log AS e WHERE e.deployment = $1 AND e.ledger = t.ledger AND e.tx = t.tx
        UNION ALL
        SELECT r.ledger, r.tx, r.op, r.event, NULL, r.contract, NULL, NULL, r.reason
        FROM event.raw AS r WHERE r.deployment = $1 AND r.ledger = t.ledger AND r.tx = t.tx
      ) AS l) AS x ORDER BY x.op, x.event)) AS "events"
  ) AS y, LATERAL (SELECT row_to_json(y) AS "transaction") AS z
LIMIT 1
