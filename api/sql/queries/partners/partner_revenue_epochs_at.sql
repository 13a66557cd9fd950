-- list: deployment at after limit partnerId
-- of: partner
-- As of a ledger: the sums of epochs without an event after it; of the others, what had come.
-- part: partner_revenue_past
SELECT row_to_json(x)::text, r.epoch || '.' || r.token
FROM r, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, r.token, $2::integer) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    r.epoch::text AS "epoch",
    r.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, r.token, $2::integer) AS t) AS "tokenSymbol",
    r.amount::text AS "amount",
    analyst.scaled(r.amount, unit.decimals)::text AS "amountScaled",
    r.forwards AS "forwards"
  ) AS x
WHERE $3::text IS NULL OR (r.epoch, r.token) < (split_part($3, '.', 1)::numeric, split_part($3, '.', 2))
ORDER BY r.epoch DESC, r.token DESC
LIMIT $4::integer
