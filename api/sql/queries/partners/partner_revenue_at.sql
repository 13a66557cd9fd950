-- list: deployment at after limit partnerId
-- of: partner
-- As of a ledger: the sums of epochs without an event after it; of the others, what had come.
-- part: partner_revenue_past
SELECT row_to_json(x)::text, r.token
FROM (
    SELECT r.token, sum(r.amount) AS amount, sum(r.forwards) AS forwards FROM r
    WHERE $3::text IS NULL OR r.token > $3 GROUP BY r.token
  ) AS r, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, r.token, $2::integer) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    r.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, r.token, $2::integer) AS t) AS "tokenSymbol",
    r.amount::text AS "amount",
    analyst.scaled(r.amount, unit.decimals)::text AS "amountScaled",
    r.forwards AS "forwards"
  ) AS x
ORDER BY r.token
LIMIT $4::integer
