-- list: deployment at after limit address
-- tag: Earnings
-- summary: Claims
-- about: Newest first. The contract says how much; it moves no tokens.
-- answer: EarningsClaims of EarningsClaim
--
-- Claims of shares, the newest first. The contract says how much, it moves no tokens.
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM event.earnings_distributor_revenue_claimed AS y,
-- part: claim_item
WHERE y.deployment = $1::smallint AND y.ledger <= $2::integer AND ($5::text IS NULL OR y.claimer = $5)
  AND ($3::text IS NULL OR (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer,
    split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer))
  AND ($3::text IS NULL OR y.ledger <= split_part($3, '.', 1)::integer)
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4::integer
