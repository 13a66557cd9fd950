{{ config(materialized='view') }}
SELECT deployment, owner, market, ratio_bps, liquidation_ratio_bps, collateral, debt, collateral_feed, collateral_price
FROM {{ source('analyst', 'vaults') }}
WHERE deployment = {{ var('deployment') }} AND ratio_bps < liquidation_ratio_bps * 1.2
