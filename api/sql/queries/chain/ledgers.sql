-- list: deployment at after limit
-- tag: Ledgers
-- summary: Indexed ledgers
-- about: Newest first. With `ledger` those up to it.
-- answer: Ledgers of IndexedLedger
-- Ledgers that are indexed, the newest first, over the primary key.
SELECT row_to_json(x)::text, l.ledger
-- part: ledger_item
WHERE l.deployment = $1::smallint AND l.ledger <= $2::integer AND ($3::text IS NULL OR l.ledger < $3::integer)
ORDER BY l.ledger DESC
LIMIT $4::integer
