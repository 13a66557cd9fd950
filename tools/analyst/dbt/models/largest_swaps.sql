SELECT deployment, token_in_symbol, place, closed_at, trader, pool_id, amount_in_raw, amount_in, tx_hash
FROM (
    SELECT *, row_number() OVER (PARTITION BY token_in ORDER BY amount_in_raw DESC, ledger, tx_order, op_order, event_order) AS place
    FROM {{ source('analyst', 'swaps') }}
    WHERE deployment = {{ var('deployment') }}
  ) AS s
WHERE place <= 100
