-- one: deployment sequence
-- none: that ledger is not indexed, see /api/coverage
-- tag: Ledgers
-- summary: One ledger
-- answer: LedgerAnswer
--   ...IndexedLedger
SELECT row_to_json(x)::text
-- part: ledger_item
WHERE l.deployment = $1::smallint AND l.ledger = $2::bigint
