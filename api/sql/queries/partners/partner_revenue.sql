-- list: deployment after limit partnerId
-- of: partner
-- tag: Partners
-- summary: A partner's revenue by token
-- about: Its cuts of revenue, one item per token.
--   503 `incomplete` if the index began with the state of a checkpoint (`History-From`): revenue before that is unknown.
-- answer: PartnerRevenue of PartnerTokenRevenue
-- schema: PartnerTokenRevenue
--   token        Address  the token
--   tokenSymbol  string?  its symbol, where it is known
--   amount       Amount+?  what it earned in that token
--   forwards     Count    times that revenue arrived
-- example: {"token":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "tokenSymbol":"USDC",
--   "amount":"4616343", "amountScaled":"0.4616343", "forwards":16}
--
-- The revenue of a partner per token: its cuts of revenue, each in the token that its revenue_received names.
SELECT row_to_json(x)::text, r.token
FROM rollup.partner_revenue AS r, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, r.token, 2147483647) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    r.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, r.token, 2147483647) AS t) AS "tokenSymbol",
    r.amount::text AS "amount",
    analyst.scaled(r.amount, unit.decimals)::text AS "amountScaled",
    r.forwards AS "forwards"
  ) AS x
WHERE r.deployment = $1::smallint
  AND r.partner_id = (CASE WHEN $4::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $4::bigint END)
  AND ($2::text IS NULL OR r.token > $2)
ORDER BY r.token
LIMIT $3::integer
