-- list: deployment at after limit from to order
-- tag: Ledgers
-- summary: Indexed ledgers
-- about: By time. With `ledger` those up to it, without counts of what concerns the protocol.
-- answer: Ledgers of IndexedLedger
-- Ledgers that are indexed, over the primary key.
SELECT row_to_json(x)::text, l.ledger
FROM (SELECT l.*, $2::integer = 2147483647 AS counted FROM chain.ledger AS l) AS l
-- part: ledger_item
WHERE l.deployment = $1::smallint AND l.ledger <= $2::integer
  AND ($5::text IS NULL OR l.ledger > chain.ledger_before($1::smallint, to_timestamp($5::numeric)))
  AND ($6::text IS NULL OR l.ledger <= chain.ledger_before($1::smallint, to_timestamp($6::numeric)))
  AND ($3::text IS NULL OR CASE WHEN $7::text = 'asc' THEN l.ledger > $3::integer ELSE l.ledger < $3::integer END)
ORDER BY CASE WHEN $7 = 'asc' THEN l.ledger END, l.ledger DESC
LIMIT $4::integer
