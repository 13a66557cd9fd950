-- Amounts and counts of vaults by market and day, and liquidations by day.
WITH change AS (
  SELECT synth_asset_key, closed_at, 1 AS opened, 0 AS liquidations, 0 AS minted, 0 AS repaid,
    collateral_amount AS deposited, 0 AS withdrawn, 0 AS seized
  FROM {!event.synthetic_engine_open} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT synth_asset_key, closed_at, 0, 0, 0, 0, amount, 0, 0
  FROM {!event.synthetic_engine_deposit} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT synth_asset_key, closed_at, 0, 0, amount, 0, 0, 0, 0
  FROM {!event.synthetic_engine_mint} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT synth_asset_key, closed_at, 0, 0, 0, amount, 0, 0, 0
  FROM {!event.synthetic_engine_burn} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT synth_asset_key, closed_at, 0, 0, 0, 0, 0, amount, 0
  FROM {!event.synthetic_engine_withdraw} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT synth_asset_key, closed_at, 0, 1, 0, 0, 0, 0, collateral_seized
  FROM {!event.synthetic_engine_liquidate} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
), daily AS MATERIALIZED (
  SELECT synth_asset_key, (closed_at AT TIME ZONE 'UTC')::date AS day, sum(opened) AS opened,
    sum(liquidations) AS liquidations, sum(minted) AS minted, sum(repaid) AS repaid, sum(deposited) AS deposited,
    sum(withdrawn) AS withdrawn, sum(seized) AS seized
  FROM change GROUP BY synth_asset_key, day
), liquidated AS (
  INSERT INTO {=day} AS d (deployment, day, swaps, quoted_swaps, liquidations)
  SELECT $1::smallint, day, 0, 0, sum(liquidations) FROM daily WHERE liquidations > 0 GROUP BY day
  ON CONFLICT (deployment, day) DO UPDATE SET liquidations = d.liquidations + excluded.liquidations
)
INSERT INTO {=market_day} AS m (deployment, market, day, opened, liquidations, minted, repaid, deposited, withdrawn, seized)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = synth_asset_key), day, opened, liquidations, minted, repaid,
  deposited, withdrawn, seized
FROM daily
ON CONFLICT (deployment, market, day) DO UPDATE SET
  opened = m.opened + excluded.opened,
  liquidations = m.liquidations + excluded.liquidations,
  minted = m.minted + excluded.minted,
  repaid = m.repaid + excluded.repaid,
  deposited = m.deposited + excluded.deposited,
  withdrawn = m.withdrawn + excluded.withdrawn,
  seized = m.seized + excluded.seized
