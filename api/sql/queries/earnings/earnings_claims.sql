-- list: deployment at after limit from to order address
-- tag: Earnings
-- summary: Claims
-- about: By time. The contract says how much; it moves no tokens.
-- answer: EarningsClaims of EarningsClaim
--
-- Claims of shares. The contract says how much, it moves no tokens.
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM event.earnings_distributor_revenue_claimed AS e, LATERAL (SELECT e.*) AS y,
-- part: claim_item
WHERE ($8::text IS NULL OR e.claimer_key = chain.word_key($8)) AND
-- part: event_where
-- part: event_order
LIMIT $4::integer
