-- list: deployment after limit partnerId
-- of: partner
-- tag: Partners
-- summary: A partner's revenue by epoch and token
-- about: The newest epoch first.
--   503 `incomplete` if the index began with the state of a checkpoint (`History-From`): revenue before that is unknown.
-- answer: PartnerRevenueEpochs of PartnerEpochRevenue
-- schema: PartnerEpochRevenue
--   epoch        U64      number of the epoch
--   token        Address  the token
--   tokenSymbol  string?  its symbol, where it is known
--   amount       Amount+?  what it earned in that token
--   forwards     Count    times that revenue arrived
-- example: {"epoch":"2", "token":"CCLBEMPLMZ545UWSFVFUPBCF6JQULBJ3ZZT3YPRMKDBSUJKEVFCBQE64", "tokenSymbol":"sGOLD",
--   "amount":"23654", "amountScaled":"0.0023654", "forwards":1}
--
-- The revenue of a partner per epoch and token, the newest epoch first.
SELECT row_to_json(x)::text, r.epoch || '.' || r.token
FROM rollup.partner_epoch_revenue AS r, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, r.token, 2147483647) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    r.epoch::text AS "epoch",
    r.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, r.token, 2147483647) AS t) AS "tokenSymbol",
    r.amount::text AS "amount",
    analyst.scaled(r.amount, unit.decimals)::text AS "amountScaled",
    r.forwards AS "forwards"
  ) AS x
WHERE r.deployment = $1::smallint
  AND r.partner_id = (CASE WHEN $4::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $4::bigint END)
  AND ($2::text IS NULL OR (r.epoch, r.token) < (split_part($2, '.', 1)::numeric, split_part($2, '.', 2)))
ORDER BY r.epoch DESC, r.token DESC
LIMIT $3::integer
