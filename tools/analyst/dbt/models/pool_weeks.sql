SELECT deployment, date_trunc('week', day)::date AS week, pool_id, token_a_symbol, token_b_symbol, sum(swaps)::bigint AS swaps,
  sum(sold_a_raw)::numeric(38,0) AS sold_a_raw, sum(sold_b_raw)::numeric(38,0) AS sold_b_raw
FROM {{ source('analyst', 'daily_pools') }}
WHERE deployment = {{ var('deployment') }}
GROUP BY deployment, week, pool_id, token_a_symbol, token_b_symbol
