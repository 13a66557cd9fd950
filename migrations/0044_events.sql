-- 0044_events: events by kind, by contract and by address, the newest first, and their fields.

-- As Stellar RPC numbers them. "<<" and "|" bind alike in SQL: without the brackets it shifted the ledger twice.
CREATE OR REPLACE FUNCTION chain.event_id(ledger integer, tx integer, op integer, event integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN lpad(((ledger::bigint << 32) | (tx::bigint << 12) | op::bigint)::text, 19, '0') || '-' || lpad(event::text, 10, '0');

-- An address's events in the order of the ledger: GIN has no order, so that a page of an address that
-- trades all day read and sorted all of its events. No event names more than two addresses
-- (tests/unit/test_catalogue.c). Hashes, since texts of 56 bytes would make these larger than the rows.
CREATE INDEX ON event."log" (deployment, hashtextextended(addresses[1], 0), ledger, tx, op, event) WHERE addresses[1] IS NOT NULL;
CREATE INDEX ON event."log" (deployment, hashtextextended(addresses[2], 0), ledger, tx, op, event) WHERE addresses[2] IS NOT NULL;
DROP INDEX event."log_addresses_idx";
CREATE INDEX ON event."log" (deployment, hashtext(kind), ledger, tx, op, event);
CREATE INDEX ON event."log" (deployment, hashtext(contract), ledger, tx, op, event);

-- Depositors of the stability pool, by address.
CREATE INDEX ON state."stability_pool_deposit" (deployment, depositor);
CREATE INDEX ON history."stability_pool_deposit" (deployment, ledger) WHERE removed;

-- The fields of an event whose place and kind event.log says: columns of the kind's table in their order,
-- in the words of the ledger, amounts scaled beside; whether a person's jurisdiction was allowed is left out.
-- One row by its key, planned once a session.
CREATE FUNCTION chain.event_fields(kind text, deployment smallint, ledger integer, tx integer, op integer, event integer)
  RETURNS json
  LANGUAGE plpgsql STABLE PARALLEL SAFE
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off
AS $$
DECLARE
  f json;
BEGIN
    CASE $1
      WHEN 'liquidity_pool_addliq' THEN
        SELECT row_to_json(x) INTO f FROM event.liquidity_pool_addliq AS e, LATERAL (SELECT e.provider AS "provider",
          e.pool_id AS "poolId", e.amount_a::text AS "amountA", analyst.scaled(e.amount_a)::text AS "amountAScaled",
          e.amount_b::text AS "amountB", analyst.scaled(e.amount_b)::text AS "amountBScaled",
          e.shares::text AS "shares") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'liquidity_pool_remliq' THEN
        SELECT row_to_json(x) INTO f FROM event.liquidity_pool_remliq AS e, LATERAL (SELECT e.provider AS "provider",
          e.pool_id AS "poolId", e.out_a::text AS "outA", analyst.scaled(e.out_a)::text AS "outAScaled",
          e.out_b::text AS "outB", analyst.scaled(e.out_b)::text AS "outBScaled", e.shares::text AS "shares") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'liquidity_pool_swap' THEN
        SELECT row_to_json(x) INTO f FROM event.liquidity_pool_swap AS e, LATERAL (SELECT e.trader AS "trader",
          e.pool_id AS "poolId", e.a_to_b AS "aToB", e.amount_in::text AS "amountIn",
          analyst.scaled(e.amount_in)::text AS "amountInScaled", e.amount_out::text AS "amountOut",
          analyst.scaled(e.amount_out)::text AS "amountOutScaled", e.partner_id AS "partnerId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'liquidity_pool_claim' THEN
        SELECT row_to_json(x) INTO f FROM event.liquidity_pool_claim AS e, LATERAL (SELECT e.provider AS "provider",
          e.pool_id AS "poolId", e.claim_a::text AS "claimA", analyst.scaled(e.claim_a)::text AS "claimAScaled",
          e.claim_b::text AS "claimB", analyst.scaled(e.claim_b)::text AS "claimBScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'liquidity_pool_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.liquidity_pool_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_open' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_open AS e, LATERAL (SELECT e.owner AS "owner",
          e.collateral_amount::text AS "collateralAmount",
          analyst.scaled(e.collateral_amount)::text AS "collateralAmountScaled",
          e.collateral_token AS "collateralToken", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_deposit' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_deposit AS e, LATERAL (SELECT e.owner AS "owner",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_mint' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_mint AS e, LATERAL (SELECT e.owner AS "owner",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_burn' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_burn AS e, LATERAL (SELECT e.owner AS "owner",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_withdraw' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_withdraw AS e, LATERAL (SELECT e.owner AS "owner",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_liq' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_liq AS e, LATERAL (SELECT e.owner AS "owner",
          e.collateral_seized::text AS "collateralSeized",
          analyst.scaled(e.collateral_seized)::text AS "collateralSeizedScaled", e.synth_asset AS "synthAsset") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_market_created' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_market_created AS e, LATERAL (SELECT
          e.symbol AS "symbol", e.coll_oracle_symbol AS "collOracleSymbol", e.debt_ceiling::text AS "debtCeiling",
          analyst.scaled(e.debt_ceiling)::text AS "debtCeilingScaled", e.liq_penalty::text AS "liqPenalty",
          e.liq_ratio::text AS "liqRatio", e.min_coll_ratio::text AS "minCollRatio",
          e.oracle_symbol AS "oracleSymbol", e.stab_fee_bps::text AS "stabFeeBps", e.token AS "token") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synthetic_engine_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.synthetic_engine_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stability_pool_deposit' THEN
        SELECT row_to_json(x) INTO f FROM event.stability_pool_deposit AS e, LATERAL (SELECT
          e.depositor AS "depositor", e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stability_pool_withdraw' THEN
        SELECT row_to_json(x) INTO f FROM event.stability_pool_withdraw AS e, LATERAL (SELECT
          e.depositor AS "depositor", e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stability_pool_liqabs' THEN
        SELECT row_to_json(x) INTO f FROM event.stability_pool_liqabs AS e, LATERAL (SELECT e.engine AS "engine",
          e.collateral_reward::text AS "collateralReward",
          analyst.scaled(e.collateral_reward)::text AS "collateralRewardScaled",
          e.debt_absorbed::text AS "debtAbsorbed", analyst.scaled(e.debt_absorbed)::text AS "debtAbsorbedScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stability_pool_claim' THEN
        SELECT row_to_json(x) INTO f FROM event.stability_pool_claim AS e, LATERAL (SELECT
          e.depositor AS "depositor", e.gain_type AS "gainType", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stability_pool_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.stability_pool_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_attest' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_attest AS e, LATERAL (SELECT
          e.verifier AS "verifier", e.subject AS "subject") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_revoke' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_revoke AS e, LATERAL (SELECT
          e.verifier AS "verifier", e.subject AS "subject") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_verifier_set' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_verifier_set AS e, LATERAL (SELECT
          e.dao AS "dao", e.verifier AS "verifier") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_block' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_block AS e, LATERAL (SELECT e.action AS "action",
          e.country_code AS "countryCode") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_freeze' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_freeze AS e, LATERAL (SELECT
          e.account AS "account", e.reason AS "reason") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_travel' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_travel AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.to_address AS "toAddress", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled", e.asset AS "asset", e.sequence::text AS "sequence") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_status_change' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_status_change AS e, LATERAL (SELECT
          e.account AS "account", e.new_status AS "newStatus", e.old_status AS "oldStatus", e.reason AS "reason") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_submit_attest' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_submit_attest AS e, LATERAL (SELECT
          e.subject AS "subject", e.provider AS "provider") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_provider_reg' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_provider_reg AS e, LATERAL (SELECT
          e.provider AS "provider", e.signer AS "signer") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'compliance_registry_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.compliance_registry_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_reg' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_reg AS e, LATERAL (SELECT e.owner AS "owner",
          e.id AS "id") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_fwd' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_fwd AS e, LATERAL (SELECT
          e.partner_id AS "partnerId", e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled",
          e.epoch::text AS "epoch") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_claim' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_claim AS e, LATERAL (SELECT
          e.partner_owner AS "partnerOwner", e.claimable::text AS "claimable",
          analyst.scaled(e.claimable)::text AS "claimableScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_asset' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_asset AS e, LATERAL (SELECT
          e.partner_owner AS "partnerOwner", e.id AS "id", e.symbol AS "symbol", e.token AS "token") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_live' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_live AS e, LATERAL (SELECT
          e.symbol AS "symbol", e.partner_id AS "partnerId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_preg_off' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_preg_off AS e, LATERAL (SELECT
          e.partner_id AS "partnerId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'partner_registry_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.partner_registry_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_revenue_received' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_revenue_received AS e, LATERAL (SELECT
          e.sender AS "sender", e.source AS "source", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled", e.epoch::text AS "epoch", e.token AS "token") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_partner_revenue_forwarded' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_partner_revenue_forwarded AS e, LATERAL (SELECT
          e.partner_id AS "partnerId", e.epoch::text AS "epoch", e.partner_cut::text AS "partnerCut",
          analyst.scaled(e.partner_cut)::text AS "partnerCutScaled", e.source AS "source") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_epoch_closed' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_epoch_closed AS e, LATERAL (SELECT
          e.epoch::text AS "epoch", e.total_revenue::text AS "totalRevenue") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_epoch_opened' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_epoch_opened AS e, LATERAL (SELECT
          e.epoch::text AS "epoch") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_revenue_claimed' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_revenue_claimed AS e, LATERAL (SELECT
          e.claimer AS "claimer", e.total::text AS "total", analyst.scaled(e.total)::text AS "totalScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'earnings_distributor_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.earnings_distributor_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'oracle_provider' THEN
        SELECT row_to_json(x) INTO f FROM event.oracle_provider AS e, LATERAL (SELECT e.action AS "action",
          e.provider AS "provider") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'oracle_price_observation' THEN
        SELECT row_to_json(x) INTO f FROM event.oracle_price_observation AS e, LATERAL (SELECT e.asset AS "asset",
          e.price::text AS "price", analyst.scaled(e.price)::text AS "priceScaled", e.provider AS "provider") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'oracle_price_aggregate' THEN
        SELECT row_to_json(x) INTO f FROM event.oracle_price_aggregate AS e, LATERAL (SELECT e.asset AS "asset",
          e.median_price::text AS "medianPrice", analyst.scaled(e.median_price)::text AS "medianPriceScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'oracle_twap' THEN
        SELECT row_to_json(x) INTO f FROM event.oracle_twap AS e, LATERAL (SELECT e.asset AS "asset",
          e.twap_price::text AS "twapPrice", analyst.scaled(e.twap_price)::text AS "twapPriceScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'oracle_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.oracle_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_proposed' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_proposed AS e, LATERAL (SELECT
          e.proposer AS "proposer", e.proposal_id::text AS "proposalId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_voted' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_voted AS e, LATERAL (SELECT e.voter AS "voter",
          e.proposal_id::text AS "proposalId", e.support AS "support", e.weight::text AS "weight") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_executed' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_executed AS e, LATERAL (SELECT
          e.proposal_id::text AS "proposalId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_cancelled' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_cancelled AS e, LATERAL (SELECT
          e.proposal_id::text AS "proposalId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_msig_created' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_msig_created AS e, LATERAL (SELECT
          e.signer_count AS "signerCount", e.threshold AS "threshold", e.wallet_id AS "walletId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_msig_approved' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_msig_approved AS e, LATERAL (SELECT
          e.tx_id::text AS "txId", e.signer AS "signer") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_msig_executed' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_msig_executed AS e, LATERAL (SELECT
          e.proposal_id::text AS "proposalId", e.tx_id::text AS "txId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'dao_governance_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.dao_governance_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_transfer' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_transfer AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.to_address AS "toAddress", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_approve' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_approve AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.spender AS "spender", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled", e.expiration_ledger AS "expirationLedger") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_mint' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_mint AS e, LATERAL (SELECT e.to_address AS "toAddress",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_burn' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_burn AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_freeze' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_freeze AS e, LATERAL (SELECT e.account AS "account",
          e.frozen AS "frozen") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_clawback' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_clawback AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.to_address AS "toAddress", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'synth_token_executable_update' THEN
        SELECT row_to_json(x) INTO f FROM event.synth_token_executable_update AS e, LATERAL (SELECT
          e.old_executable AS "oldExecutable", e.new_executable AS "newExecutable") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_transfer' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_transfer AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.to_address AS "toAddress", e.asset AS "asset",
          e.amount::text AS "amount", analyst.scaled(e.amount)::text AS "amountScaled", e.to_muxed_id AS "toMuxedId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_mint' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_mint AS e, LATERAL (SELECT e.admin AS "admin",
          e.to_address AS "toAddress", e.asset AS "asset", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled", e.to_muxed_id AS "toMuxedId") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_burn' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_burn AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.asset AS "asset", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_clawback' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_clawback AS e, LATERAL (SELECT e.admin AS "admin",
          e.from_address AS "fromAddress", e.asset AS "asset", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_approve' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_approve AS e, LATERAL (SELECT
          e.from_address AS "fromAddress", e.spender AS "spender", e.asset AS "asset", e.amount::text AS "amount",
          analyst.scaled(e.amount)::text AS "amountScaled", e.expiration_ledger AS "expirationLedger") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_set_authorized' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_set_authorized AS e, LATERAL (SELECT
          e.admin AS "admin", e.account AS "account", e.asset AS "asset", e.authorize AS "authorize") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      WHEN 'stellar_asset_set_admin' THEN
        SELECT row_to_json(x) INTO f FROM event.stellar_asset_set_admin AS e, LATERAL (SELECT e.admin AS "admin",
          e.asset AS "asset", e.new_admin AS "newAdmin") AS x
          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);
      ELSE
        f := NULL;
    END CASE;
    RETURN f;
END $$;
COMMENT ON FUNCTION chain.event_fields(text, smallint, integer, integer, integer, integer) IS 'the fields of an event of that kind, as answers write them';

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
