-- schema: EventPlace
--   id           EventId    Stellar RPC's id of the event
--   ledger       Ledger     in which it happened
--   closedAt     Time       when that ledger closed
--   txHash       Hash?      of the transaction; null where the index does not hold it
--   innerTxHash  Hash?      of the transaction in a fee bump; null: no fee bump, or the index does not hold it
--   tx           integer    place of the transaction in the ledger, from 1
--   op           integer    operation, from 0
--   event        integer    event of the operation, from 0
--   contract     Address    that emitted it
--   subject      string?    pool, market or feed; null: of none
--   addresses    Address[]  addresses in it, each once
    chain.event_id(l.ledger, l.tx, l.op, l.event) AS "id",
    l.ledger::text AS "ledger",
    chain.rfc3339(l.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx) AS "txHash",
    (SELECT encode(t.inner_hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx) AS "innerTxHash",
    l.tx AS "tx",
    l.op AS "op",
    l.event AS "event",
    l.kind AS "kind",
    l.contract AS "contract",
    l.subject AS "subject",
    l.addresses AS "addresses",
