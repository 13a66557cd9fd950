-- one: deployment sequence
-- none: that ledger is not indexed, see /api/coverage
-- tag: Ledgers
-- summary: One ledger
-- about: Its hashes, what it has of the protocol, and how far it was verified.
-- answer: LedgerAnswer
--   item  IndexedLedger  the ledger asked for
SELECT row_to_json(z)::text
FROM (SELECT l.*, true AS counted FROM chain.ledger AS l) AS l
-- part: ledger_item
  , LATERAL (SELECT row_to_json(x) AS "item") AS z
WHERE l.deployment = $1::smallint AND l.ledger = $2::bigint
  AND NOT EXISTS (SELECT FROM chain.start AS o WHERE o.deployment = l.deployment AND o.ledger = l.ledger)
