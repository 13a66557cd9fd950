-- schema: EarningsClaim
--   id        EventId  Stellar RPC's id of the event
--   ledger    Ledger   in which it happened
--   closedAt  Time     when that ledger closed
--   txHash    Hash?    of the transaction; null where the index does not hold it
--   claimer   Address  the claimer
--   total     Amount+?  what was claimed, tokens added up as the contract does; scaled as USDC
-- example: {"id":"0026529016554987520-0000000000", "ledger":"1508", "closedAt":"2026-01-27T16:03:19Z",
--   "txHash":"485e123ef4c62732a10c5105c355fe03041b553ac0fac793dce12fae104825d6",
--   "claimer":"GBH4UAZ4VAD2ZHZ7GSUXCH57J4KHBWRCAMAMMAWYOQAHLBDPW35MH3QP", "total":"400795", "totalScaled":"0.0400795"}
LATERAL (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, y.ledger) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.claimer AS "claimer",
    y.total::text AS "total",
    analyst.scaled(y.total, unit.quote)::text AS "totalScaled"
  ) AS x
