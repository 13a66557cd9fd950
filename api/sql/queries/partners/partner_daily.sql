-- list: deployment at after limit partnerId from to order
-- of: partner
-- tag: Partners
-- summary: A partner by day and token
-- about: Days are UTC, the newest first. A day and token without a trade or revenue has no item. With `ledger` those days that
--   were over when it closed. A month is `from` its first day and `to` the first day of the next, as 2026-01-01T00:00:00Z.
--   Each figure can be computed again from `/api/events` of the same time. `swaps` and `volume` are the `liquidity_pool_swap` with this
--   `partnerId`, and their `amountIn` of the token sold: the pool's `tokenA` if `aToB`, else its `tokenB`. `forwards` and `revenue` are the
--   `earnings_distributor_partner_revenue_forwarded` with it, and their `partnerCut`. Their token, and the fee that `fees` adds up (`amount`),
--   are those of the next `earnings_distributor_revenue_received` of the same operation (`ledger`, `tx`, `op`; `event` counts on).
-- answer: PartnerDays of PartnerDay
-- schema: PartnerDay
--   day          date     the day, UTC
--   token        Address  the token
--   tokenSymbol  string?  its symbol, where it is known
--   swaps        Count    trades that it brought and that sold this token (`liquidity_pool_swap`)
--   volume       Amount+?  what these sold, fees included: their `amountIn`
--   forwards     Count    times that revenue arrived in this token (`earnings_distributor_partner_revenue_forwarded`)
--   fees         Amount+?  the whole fees that it was taken from: `amount` of `earnings_distributor_revenue_received`
--   revenue      Amount+?  what the partner earned: their `partnerCut`
-- example: {"day":"2026-01-31", "token":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "tokenSymbol":"USDC",
--   "swaps":2, "volume":"4378355430662", "volumeScaled":"437835.5430662", "forwards":2, "fees":"8923",
--   "feesScaled":"0.0008923", "revenue":"4461", "revenueScaled":"0.0004461"}
--
-- Over the keys of both tables, a page of each. As of a ledger, days that were over: no later row changes them.
WITH p AS MATERIALIZED (
  SELECT CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END AS id,
    nullif(split_part($3::text, '.', 1), '')::date AS day, split_part($3, '.', 2) AS token,
    chain.day(to_timestamp(ceil($6::numeric) + 86399)) AS lo,
    least(chain.day(to_timestamp(ceil($7::numeric) + 86399)), (SELECT chain.day(l.closed_at) FROM chain.ledger AS l
      WHERE l.deployment = $1::smallint AND l.ledger = $2::integer)) AS hi
)
SELECT row_to_json(x)::text, d.day || '.' || d.token
FROM (
    (SELECT k.day, k.token FROM rollup.partner_day_volume AS k
    WHERE k.deployment = $1 AND k.partner_id = (SELECT p.id FROM p)
      AND ($6::text IS NULL OR k.day >= (SELECT p.lo FROM p))
      AND ($7::text IS NULL AND $2 = 2147483647 OR k.day < (SELECT p.hi FROM p))
      AND ($3 IS NULL OR CASE WHEN $8::text = 'asc' THEN (k.day, k.token) > ((SELECT p.day FROM p), (SELECT p.token FROM p))
        ELSE (k.day, k.token) < ((SELECT p.day FROM p), (SELECT p.token FROM p)) END)
    ORDER BY CASE WHEN $8 = 'asc' THEN k.day END, CASE WHEN $8 = 'asc' THEN k.token END, k.day DESC, k.token DESC
    LIMIT $4::integer)
    UNION
    (SELECT k.day, k.token FROM rollup.partner_day_revenue AS k
    WHERE k.deployment = $1 AND k.partner_id = (SELECT p.id FROM p)
      AND ($6::text IS NULL OR k.day >= (SELECT p.lo FROM p))
      AND ($7::text IS NULL AND $2 = 2147483647 OR k.day < (SELECT p.hi FROM p))
      AND ($3 IS NULL OR CASE WHEN $8 = 'asc' THEN (k.day, k.token) > ((SELECT p.day FROM p), (SELECT p.token FROM p))
        ELSE (k.day, k.token) < ((SELECT p.day FROM p), (SELECT p.token FROM p)) END)
    ORDER BY CASE WHEN $8 = 'asc' THEN k.day END, CASE WHEN $8 = 'asc' THEN k.token END, k.day DESC, k.token DESC
    LIMIT $4)
  ) AS d
  LEFT JOIN LATERAL (SELECT v.swaps, v.volume FROM rollup.partner_day_volume AS v
    WHERE v.deployment = $1 AND v.partner_id = (SELECT p.id FROM p) AND v.day = d.day AND v.token = d.token LIMIT 1) AS v ON true
  LEFT JOIN LATERAL (SELECT r.forwards, r.fees, r.amount FROM rollup.partner_day_revenue AS r
    WHERE r.deployment = $1 AND r.partner_id = (SELECT p.id FROM p) AND r.day = d.day AND r.token = d.token LIMIT 1) AS r ON true,
  LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, d.token, $2::integer) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    d.day::text AS "day",
    d.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1, d.token, $2) AS t) AS "tokenSymbol",
    coalesce(v.swaps, 0) AS "swaps",
    coalesce(v.volume, 0)::text AS "volume",
    analyst.scaled(coalesce(v.volume, 0), unit.decimals)::text AS "volumeScaled",
    coalesce(r.forwards, 0) AS "forwards",
    coalesce(r.fees, 0)::text AS "fees",
    analyst.scaled(coalesce(r.fees, 0), unit.decimals)::text AS "feesScaled",
    coalesce(r.amount, 0)::text AS "revenue",
    analyst.scaled(coalesce(r.amount, 0), unit.decimals)::text AS "revenueScaled"
  ) AS x
ORDER BY CASE WHEN $8 = 'asc' THEN d.day END, CASE WHEN $8 = 'asc' THEN d.token END, d.day DESC, d.token DESC
LIMIT $4
