-- 0005_analyst: the views that the role tidemark_analyst sees. It sees nothing else.
--
-- Each column has a comment. Amounts come raw and with their 7 decimals applied. Jurisdictions are in no
-- view. State is as of the newest ledger (analyst.networks).
--
-- A role's table of `state`, `history` or `event` is joined to the contract that the deployment file names
-- for the role: `(t JOIN (SELECT) AS t_bound ON (…) IN (… chain.role …))`. The select without columns is
-- one row, which the planner drops; the condition stays. It stands at the table, so that it holds under
-- outer joins too.

CREATE VIEW analyst.networks AS
  SELECT
    d.id AS deployment,
    d.passphrase AS network,
    d.epoch,
    d.first_ledger,
    c.ledger,
    c.closed_at
  FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id;
COMMENT ON VIEW analyst.networks IS 'The deployments in this database';
COMMENT ON COLUMN analyst.networks.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.networks.network IS 'Network passphrase';
COMMENT ON COLUMN analyst.networks.epoch IS 'Reset of that network, counted from 0';
COMMENT ON COLUMN analyst.networks.first_ledger IS 'First ledger of the protocol, 0 when not known';
COMMENT ON COLUMN analyst.networks.ledger IS 'Newest ledger indexed';
COMMENT ON COLUMN analyst.networks.closed_at IS 'Close time of that ledger: these views are as of then';

CREATE VIEW analyst.contracts AS
  SELECT
    x.deployment,
    x.address AS contract,
    x.name,
    x.role
  FROM (
    SELECT u.deployment, u.address, u.name, u.role,
      row_number() OVER (PARTITION BY u.deployment, u.address ORDER BY u.later, u.role) AS n
    FROM (
      SELECT d.id AS deployment, j.address, j.name, j.role, 0 AS later
      FROM chain.deployment AS d
        CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, name text, role text)
      UNION ALL
      SELECT s.deployment, s.contract, s.name, s.role, 1 FROM chain.contract_seen AS s
      WHERE s.what IN ('discovered', 'asset')
    ) AS u
  ) AS x WHERE x.n = 1;
COMMENT ON VIEW analyst.contracts IS 'The deployment file''s contracts by role, and the tokens that the chain names';
COMMENT ON COLUMN analyst.contracts.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.contracts.contract IS 'Contract address';
COMMENT ON COLUMN analyst.contracts.name IS 'Name in the deployment file';
COMMENT ON COLUMN analyst.contracts.role IS 'Role: liquidity_pool, synthetic_engine, …, synth_token, usdc, xlm, wallet';

CREATE VIEW analyst.tokens AS
  SELECT
    t.deployment,
    t.token,
    t.symbol,
    t.name,
    t.kind
  FROM (
    SELECT s.deployment, s.contract AS token, analyst.readable(s.symbol) AS symbol,
      analyst.readable(s.name) AS name, 'synthetic' AS kind
    FROM state.synth_token_instance AS s
    UNION ALL
    SELECT s.deployment, s.contract, CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM'
      ELSE s.metadata ->> 'symbol' END, s.metadata ->> 'name', 'stellar'
    FROM state.stellar_asset_instance AS s
  ) AS t;
COMMENT ON VIEW analyst.tokens IS 'Tokens by contract address: synthetic ones, USDC, the native asset, further collateral';
COMMENT ON COLUMN analyst.tokens.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.tokens.token IS 'Token contract';
COMMENT ON COLUMN analyst.tokens.symbol IS 'Symbol, as the contract says it';
COMMENT ON COLUMN analyst.tokens.name IS 'Name, as the contract says it; bytes that are not text in hexadecimal';
COMMENT ON COLUMN analyst.tokens.kind IS 'synthetic or stellar';

CREATE VIEW analyst.pools AS
  SELECT
    p.deployment,
    p.pool_id,
    p.token_a,
    a.symbol AS token_a_symbol,
    p.token_b,
    b.symbol AS token_b_symbol,
    p.reserve_a AS reserve_a_raw,
    analyst.scaled(p.reserve_a) AS reserve_a,
    p.reserve_b AS reserve_b_raw,
    analyst.scaled(p.reserve_b) AS reserve_b,
    analyst.scaled(div(p.reserve_b * 10000000, nullif(p.reserve_a, 0))) AS price_a_in_b,
    p.fee_tier AS fee_tier_bps,
    p.total_shares,
    p.cumulative_vol_a AS volume_a_raw,
    analyst.scaled(p.cumulative_vol_a) AS volume_a,
    p.cumulative_vol_b AS volume_b_raw,
    analyst.scaled(p.cumulative_vol_b) AS volume_b,
    p.paused,
    p.ledger,
    p.closed_at AS changed_at
  FROM (state.liquidity_pool_pool AS p JOIN (SELECT) AS p_bound ON (p.deployment, p.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    LEFT JOIN analyst.tokens AS a ON a.deployment = p.deployment AND a.token = p.token_a
    LEFT JOIN analyst.tokens AS b ON b.deployment = p.deployment AND b.token = p.token_b;
COMMENT ON VIEW analyst.pools IS 'Pools of the automated market maker, current';
COMMENT ON COLUMN analyst.pools.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.pools.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.pools.token_a IS 'Token A, contract address';
COMMENT ON COLUMN analyst.pools.token_a_symbol IS 'Token A, symbol';
COMMENT ON COLUMN analyst.pools.token_b IS 'Token B, contract address';
COMMENT ON COLUMN analyst.pools.token_b_symbol IS 'Token B, symbol';
COMMENT ON COLUMN analyst.pools.reserve_a_raw IS 'Book reserve of token A, raw units';
COMMENT ON COLUMN analyst.pools.reserve_a IS 'Book reserve of token A, 7 decimals applied';
COMMENT ON COLUMN analyst.pools.reserve_b_raw IS 'Book reserve of token B, raw units';
COMMENT ON COLUMN analyst.pools.reserve_b IS 'Book reserve of token B, 7 decimals applied';
COMMENT ON COLUMN analyst.pools.price_a_in_b IS 'Spot price of A in B, truncated to 7 decimals as the contract does';
COMMENT ON COLUMN analyst.pools.fee_tier_bps IS 'Swap fee in basis points';
COMMENT ON COLUMN analyst.pools.total_shares IS 'Shares, the 1000 burned ones included';
COMMENT ON COLUMN analyst.pools.volume_a_raw IS 'Token A sold so far, raw units';
COMMENT ON COLUMN analyst.pools.volume_a IS 'Token A sold so far, 7 decimals applied';
COMMENT ON COLUMN analyst.pools.volume_b_raw IS 'Token B sold so far, raw units';
COMMENT ON COLUMN analyst.pools.volume_b IS 'Token B sold so far, 7 decimals applied';
COMMENT ON COLUMN analyst.pools.paused IS 'Trading paused';
COMMENT ON COLUMN analyst.pools.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.pools.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.swaps AS
  SELECT
    s.deployment,
    s.ledger,
    s.tx AS tx_order,
    s.op AS op_order,
    s.event AS event_order,
    s.closed_at,
    s.trader,
    s.pool_id,
    s.a_to_b,
    CASE WHEN s.a_to_b THEN p.token_a ELSE p.token_b END AS token_in,
    CASE WHEN s.a_to_b THEN p.token_a_symbol ELSE p.token_b_symbol END AS token_in_symbol,
    CASE WHEN s.a_to_b THEN p.token_b ELSE p.token_a END AS token_out,
    CASE WHEN s.a_to_b THEN p.token_b_symbol ELSE p.token_a_symbol END AS token_out_symbol,
    s.amount_in AS amount_in_raw,
    analyst.scaled(s.amount_in) AS amount_in,
    s.amount_out AS amount_out_raw,
    analyst.scaled(s.amount_out) AS amount_out,
    round(s.amount_out / nullif(s.amount_in, 0), 7) AS price,
    nullif(s.partner_id, 0) AS partner_id
  FROM (event.liquidity_pool_swap AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    LEFT JOIN analyst.pools AS p ON p.deployment = s.deployment AND p.pool_id = s.pool_id;
COMMENT ON VIEW analyst.swaps IS 'Trades, with the names of pool and tokens';
COMMENT ON COLUMN analyst.swaps.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.swaps.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.swaps.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.swaps.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.swaps.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.swaps.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.swaps.trader IS 'Account that traded';
COMMENT ON COLUMN analyst.swaps.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.swaps.a_to_b IS 'True: sold token A for token B';
COMMENT ON COLUMN analyst.swaps.token_in IS 'Token sold, contract address';
COMMENT ON COLUMN analyst.swaps.token_in_symbol IS 'Token sold, symbol';
COMMENT ON COLUMN analyst.swaps.token_out IS 'Token bought, contract address';
COMMENT ON COLUMN analyst.swaps.token_out_symbol IS 'Token bought, symbol';
COMMENT ON COLUMN analyst.swaps.amount_in_raw IS 'Sold, fee included, raw units';
COMMENT ON COLUMN analyst.swaps.amount_in IS 'Sold, fee included, 7 decimals applied';
COMMENT ON COLUMN analyst.swaps.amount_out_raw IS 'Bought, raw units';
COMMENT ON COLUMN analyst.swaps.amount_out IS 'Bought, 7 decimals applied';
COMMENT ON COLUMN analyst.swaps.price IS 'Bought per unit sold, fee included';
COMMENT ON COLUMN analyst.swaps.partner_id IS 'Partner that brought the trade; null when untagged';

CREATE VIEW analyst.traders AS
  SELECT
    x.deployment,
    x.trader,
    x.pool_id,
    CASE WHEN x.a_to_b THEN p.token_a ELSE p.token_b END AS token_in,
    CASE WHEN x.a_to_b THEN p.token_a_symbol ELSE p.token_b_symbol END AS token_in_symbol,
    x.swaps,
    x.sold AS sold_raw,
    analyst.scaled(x.sold) AS sold,
    x.first_at,
    x.last_at
  FROM rollup.trader AS x
    LEFT JOIN analyst.pools AS p ON p.deployment = x.deployment AND p.pool_id = x.pool_id;
COMMENT ON VIEW analyst.traders IS 'Trade of each address by pool and token sold: sums of swaps';
COMMENT ON COLUMN analyst.traders.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.traders.trader IS 'Address that traded';
COMMENT ON COLUMN analyst.traders.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.traders.token_in IS 'Token sold, contract address';
COMMENT ON COLUMN analyst.traders.token_in_symbol IS 'Token sold, symbol';
COMMENT ON COLUMN analyst.traders.swaps IS 'Trades';
COMMENT ON COLUMN analyst.traders.sold_raw IS 'Sold, fees included, raw units';
COMMENT ON COLUMN analyst.traders.sold IS 'Sold, fees included, 7 decimals applied';
COMMENT ON COLUMN analyst.traders.first_at IS 'Close time of the first trade';
COMMENT ON COLUMN analyst.traders.last_at IS 'Close time of the last trade';

CREATE VIEW analyst.liquidity_changes AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.kind,
    e.provider,
    e.pool_id,
    e.amount_a AS amount_a_raw,
    analyst.scaled(e.amount_a) AS amount_a,
    e.amount_b AS amount_b_raw,
    analyst.scaled(e.amount_b) AS amount_b,
    e.shares
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'add' AS kind, provider, pool_id, amount_a,
      amount_b, shares
    FROM (event.liquidity_pool_add_liquidity JOIN (SELECT) AS liquidity_pool_add_liquidity_bound ON (liquidity_pool_add_liquidity.deployment, liquidity_pool_add_liquidity.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'remove', provider, pool_id, out_a, out_b, shares
    FROM (event.liquidity_pool_remove_liquidity JOIN (SELECT) AS liquidity_pool_remove_liquidity_bound ON (liquidity_pool_remove_liquidity.deployment, liquidity_pool_remove_liquidity.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'claim', provider, pool_id, claim_a, claim_b, NULL
    FROM (event.liquidity_pool_claim JOIN (SELECT) AS liquidity_pool_claim_bound ON (liquidity_pool_claim.deployment, liquidity_pool_claim.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
  ) AS e;
COMMENT ON VIEW analyst.liquidity_changes IS 'Liquidity added and removed, fees claimed';
COMMENT ON COLUMN analyst.liquidity_changes.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.liquidity_changes.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.liquidity_changes.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.liquidity_changes.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.liquidity_changes.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.liquidity_changes.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.liquidity_changes.kind IS 'add, remove or claim';
COMMENT ON COLUMN analyst.liquidity_changes.provider IS 'Liquidity provider';
COMMENT ON COLUMN analyst.liquidity_changes.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.liquidity_changes.amount_a_raw IS 'Token A, paid in or out, raw units';
COMMENT ON COLUMN analyst.liquidity_changes.amount_a IS 'Token A, paid in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.liquidity_changes.amount_b_raw IS 'Token B, paid in or out, raw units';
COMMENT ON COLUMN analyst.liquidity_changes.amount_b IS 'Token B, paid in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.liquidity_changes.shares IS 'Shares minted or burned; null for a claim';

CREATE VIEW analyst.lp_positions AS
  SELECT
    l.deployment,
    l.pool_id,
    l.provider,
    l.shares,
    round(l.shares / nullif(p.total_shares, 0), 9) AS share_of_pool,
    div(l.shares * p.reserve_a, nullif(p.total_shares, 0)) AS underlying_a_raw,
    analyst.scaled(div(l.shares * p.reserve_a, nullif(p.total_shares, 0))) AS underlying_a,
    div(l.shares * p.reserve_b, nullif(p.total_shares, 0)) AS underlying_b_raw,
    analyst.scaled(div(l.shares * p.reserve_b, nullif(p.total_shares, 0))) AS underlying_b,
    l.pending_a + div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000) AS claimable_a_raw,
    analyst.scaled(l.pending_a + div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000)) AS claimable_a,
    l.pending_b + div((p.fee_b_accum - l.fee_b_debt) * l.shares, 1000000000000) AS claimable_b_raw,
    analyst.scaled(l.pending_b + div((p.fee_b_accum - l.fee_b_debt) * l.shares, 1000000000000)) AS claimable_b,
    analyst.at(l.deposited_at) AS deposited_at,
    l.ledger,
    l.closed_at AS changed_at
  FROM (state.liquidity_pool_lp_pos AS l JOIN (SELECT) AS l_bound ON (l.deployment, l.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    LEFT JOIN (state.liquidity_pool_pool AS p JOIN (SELECT) AS p_bound ON (p.deployment, p.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool')) ON p.deployment = l.deployment AND p.contract = l.contract
      AND p.pool_id = l.pool_id;
COMMENT ON VIEW analyst.lp_positions IS 'Current liquidity positions, with what they could claim and take out';
COMMENT ON COLUMN analyst.lp_positions.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.lp_positions.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.lp_positions.provider IS 'Owner of the position';
COMMENT ON COLUMN analyst.lp_positions.shares IS 'Shares';
COMMENT ON COLUMN analyst.lp_positions.share_of_pool IS 'Part of the pool''s shares, 0 to 1';
COMMENT ON COLUMN analyst.lp_positions.underlying_a_raw IS 'Token A that the shares would take out, raw units';
COMMENT ON COLUMN analyst.lp_positions.underlying_a IS 'Token A that the shares would take out, 7 decimals applied';
COMMENT ON COLUMN analyst.lp_positions.underlying_b_raw IS 'Token B that the shares would take out, raw units';
COMMENT ON COLUMN analyst.lp_positions.underlying_b IS 'Token B that the shares would take out, 7 decimals applied';
COMMENT ON COLUMN analyst.lp_positions.claimable_a_raw IS 'Fees in token A, claimable, raw units';
COMMENT ON COLUMN analyst.lp_positions.claimable_a IS 'Fees in token A, claimable, 7 decimals applied';
COMMENT ON COLUMN analyst.lp_positions.claimable_b_raw IS 'Fees in token B, claimable, raw units';
COMMENT ON COLUMN analyst.lp_positions.claimable_b IS 'Fees in token B, claimable, 7 decimals applied';
COMMENT ON COLUMN analyst.lp_positions.deposited_at IS 'First deposit';
COMMENT ON COLUMN analyst.lp_positions.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.lp_positions.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.markets AS
  SELECT
    m.deployment,
    m.symbol AS market,
    m.token,
    m.oracle_symbol AS feed,
    m.coll_oracle_sym AS collateral_feed,
    analyst.scaled(f.twap_price) AS price,
    analyst.scaled(c.twap_price) AS collateral_price,
    m.min_coll_ratio AS min_collateral_ratio_bps,
    m.liq_ratio AS liquidation_ratio_bps,
    m.liq_penalty AS liquidation_penalty_bps,
    m.stab_fee_bps AS mint_fee_millionths,
    coalesce(d.value, 0) AS debt_raw,
    analyst.scaled(coalesce(d.value, 0)) AS debt,
    m.debt_ceiling AS debt_ceiling_raw,
    analyst.scaled(m.debt_ceiling) AS debt_ceiling,
    m.enabled,
    m.ledger,
    m.closed_at AS changed_at
  FROM (state.synthetic_engine_asset_config AS m JOIN (SELECT) AS m_bound ON (m.deployment, m.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    LEFT JOIN (state.synthetic_engine_debt_total AS d JOIN (SELECT) AS d_bound ON (d.deployment, d.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine')) ON d.deployment = m.deployment
      AND d.contract = m.contract AND d.synth = m.symbol
    LEFT JOIN (state.oracle_feed AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle')) ON f.deployment = m.deployment AND f.asset = m.oracle_symbol
    LEFT JOIN (state.oracle_feed AS c JOIN (SELECT) AS c_bound ON (c.deployment, c.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle')) ON c.deployment = m.deployment AND c.asset = m.coll_oracle_sym;
COMMENT ON VIEW analyst.markets IS 'Markets of the vault engine, with their debt and their prices';
COMMENT ON COLUMN analyst.markets.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.markets.market IS 'Market: symbol of the synthetic asset';
COMMENT ON COLUMN analyst.markets.token IS 'Synthetic token, contract address';
COMMENT ON COLUMN analyst.markets.feed IS 'Feed that prices the synthetic asset';
COMMENT ON COLUMN analyst.markets.collateral_feed IS 'Feed that prices the collateral, whatever token it is';
COMMENT ON COLUMN analyst.markets.price IS 'Time-weighted price of the synthetic asset';
COMMENT ON COLUMN analyst.markets.collateral_price IS 'Time-weighted price of the collateral';
COMMENT ON COLUMN analyst.markets.min_collateral_ratio_bps IS 'Least ratio to mint or withdraw, basis points';
COMMENT ON COLUMN analyst.markets.liquidation_ratio_bps IS 'Liquidatable below this ratio, basis points';
COMMENT ON COLUMN analyst.markets.liquidation_penalty_bps IS 'Liquidation penalty, basis points';
COMMENT ON COLUMN analyst.markets.mint_fee_millionths IS 'Mint fee, millionths of the amount';
COMMENT ON COLUMN analyst.markets.debt_raw IS 'Debt of all its vaults, raw units';
COMMENT ON COLUMN analyst.markets.debt IS 'Debt of all its vaults, 7 decimals applied';
COMMENT ON COLUMN analyst.markets.debt_ceiling_raw IS 'Most debt allowed, raw units';
COMMENT ON COLUMN analyst.markets.debt_ceiling IS 'Most debt allowed, 7 decimals applied';
COMMENT ON COLUMN analyst.markets.enabled IS 'Open for new debt';
COMMENT ON COLUMN analyst.markets.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.markets.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.vaults AS
  SELECT
    v.deployment,
    v.key_owner AS owner,
    v.synth AS market,
    v.collateral_tok AS collateral_token,
    t.symbol AS collateral_token_symbol,
    v.collateral AS collateral_raw,
    analyst.scaled(v.collateral) AS collateral,
    v.debt AS debt_raw,
    analyst.scaled(v.debt) AS debt,
    analyst.scaled(x.collateral_price) AS collateral_price,
    analyst.at(x.collateral_price_ts) AS collateral_price_at,
    analyst.scaled(x.synth_price) AS synth_price,
    analyst.at(x.synth_price_ts) AS synth_price_at,
    x.priced,
    CASE WHEN x.priced THEN x.ratio END AS ratio_bps,
    m.min_coll_ratio AS min_collateral_ratio_bps,
    m.liq_ratio AS liquidation_ratio_bps,
    CASE WHEN v.debt = 0 THEN 'open' WHEN NOT x.priced OR x.ratio IS NULL THEN 'unpriced'
      WHEN x.ratio < m.liq_ratio THEN 'liquidatable' WHEN x.ratio < m.min_coll_ratio THEN 'at_risk'
      ELSE 'active' END AS status,
    analyst.at(v.opened_at) AS opened_at,
    v.ledger,
    v.closed_at AS changed_at
  FROM (state.synthetic_engine_vault AS v JOIN (SELECT) AS v_bound ON (v.deployment, v.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    LEFT JOIN (state.synthetic_engine_asset_config AS m JOIN (SELECT) AS m_bound ON (m.deployment, m.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine')) ON m.deployment = v.deployment
      AND m.contract = v.contract AND m.symbol = v.synth
    LEFT JOIN chain.cursor AS n ON n.deployment = v.deployment
    LEFT JOIN (state.oracle_feed AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle')) ON f.deployment = v.deployment AND f.asset = m.oracle_symbol
    LEFT JOIN (state.oracle_feed AS c JOIN (SELECT) AS c_bound ON (c.deployment, c.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle')) ON c.deployment = v.deployment AND c.asset = m.coll_oracle_sym
    LEFT JOIN analyst.tokens AS t ON t.deployment = v.deployment AND t.token = v.collateral_tok
    CROSS JOIN LATERAL (
      SELECT c.twap_price AS collateral_price, c.twap_ts AS collateral_price_ts,
        f.twap_price AS synth_price, f.twap_ts AS synth_price_ts,
        coalesce(extract(epoch FROM n.closed_at) - c.twap_ts <= 600
          AND extract(epoch FROM n.closed_at) - f.twap_ts <= 600, false) AS priced,
        div(div(v.collateral * c.twap_price, 10000000) * 10000,
          nullif(div(v.debt * f.twap_price, 10000000), 0)) AS ratio
    ) AS x;
COMMENT ON VIEW analyst.vaults IS 'Current vaults, with the inputs of their ratio, at the newest close time';
COMMENT ON COLUMN analyst.vaults.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.vaults.owner IS 'Owner';
COMMENT ON COLUMN analyst.vaults.market IS 'Market';
COMMENT ON COLUMN analyst.vaults.collateral_token IS 'Collateral token, contract address';
COMMENT ON COLUMN analyst.vaults.collateral_token_symbol IS 'Collateral token, symbol';
COMMENT ON COLUMN analyst.vaults.collateral_raw IS 'Collateral, raw units';
COMMENT ON COLUMN analyst.vaults.collateral IS 'Collateral, 7 decimals applied';
COMMENT ON COLUMN analyst.vaults.debt_raw IS 'Debt, raw units';
COMMENT ON COLUMN analyst.vaults.debt IS 'Debt, 7 decimals applied';
COMMENT ON COLUMN analyst.vaults.collateral_price IS 'Time-weighted price of the collateral';
COMMENT ON COLUMN analyst.vaults.collateral_price_at IS 'When that price was set';
COMMENT ON COLUMN analyst.vaults.synth_price IS 'Time-weighted price of the synthetic asset';
COMMENT ON COLUMN analyst.vaults.synth_price_at IS 'When that price was set';
COMMENT ON COLUMN analyst.vaults.priced IS 'Both prices are there and not older than 600 s';
COMMENT ON COLUMN analyst.vaults.ratio_bps IS 'Collateral ratio, basis points, as the contract computes it; null without debt or price';
COMMENT ON COLUMN analyst.vaults.min_collateral_ratio_bps IS 'Least ratio to mint or withdraw, basis points';
COMMENT ON COLUMN analyst.vaults.liquidation_ratio_bps IS 'Liquidatable below this ratio, basis points';
COMMENT ON COLUMN analyst.vaults.status IS 'open (no debt), active, at_risk (below the least ratio), liquidatable, unpriced';
COMMENT ON COLUMN analyst.vaults.opened_at IS 'Opening';
COMMENT ON COLUMN analyst.vaults.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.vaults.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.vault_events AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.kind,
    e.owner,
    e.synth_asset AS market,
    e.amount AS amount_raw,
    analyst.scaled(e.amount) AS amount
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'open' AS kind, owner, synth_asset, collateral_amount AS amount
    FROM (event.synthetic_engine_open JOIN (SELECT) AS synthetic_engine_open_bound ON (synthetic_engine_open.deployment, synthetic_engine_open.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'deposit', owner, synth_asset, amount
    FROM (event.synthetic_engine_deposit JOIN (SELECT) AS synthetic_engine_deposit_bound ON (synthetic_engine_deposit.deployment, synthetic_engine_deposit.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'mint', owner, synth_asset, amount
    FROM (event.synthetic_engine_mint JOIN (SELECT) AS synthetic_engine_mint_bound ON (synthetic_engine_mint.deployment, synthetic_engine_mint.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'burn', owner, synth_asset, amount
    FROM (event.synthetic_engine_burn JOIN (SELECT) AS synthetic_engine_burn_bound ON (synthetic_engine_burn.deployment, synthetic_engine_burn.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'withdraw', owner, synth_asset, amount
    FROM (event.synthetic_engine_withdraw JOIN (SELECT) AS synthetic_engine_withdraw_bound ON (synthetic_engine_withdraw.deployment, synthetic_engine_withdraw.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'liquidate', owner, synth_asset, collateral_seized
    FROM (event.synthetic_engine_liquidate JOIN (SELECT) AS synthetic_engine_liquidate_bound ON (synthetic_engine_liquidate.deployment, synthetic_engine_liquidate.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
  ) AS e;
COMMENT ON VIEW analyst.vault_events IS 'Events of vaults, in one list';
COMMENT ON COLUMN analyst.vault_events.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.vault_events.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.vault_events.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.vault_events.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.vault_events.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.vault_events.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.vault_events.kind IS 'open, deposit, mint, burn, withdraw or liquidate';
COMMENT ON COLUMN analyst.vault_events.owner IS 'Owner of the vault';
COMMENT ON COLUMN analyst.vault_events.market IS 'Market';
COMMENT ON COLUMN analyst.vault_events.amount_raw IS 'Collateral (open, deposit, withdraw, liq) or debt (mint, burn), raw units';
COMMENT ON COLUMN analyst.vault_events.amount IS 'Collateral (open, deposit, withdraw, liq) or debt (mint, burn), 7 decimals applied';

CREATE VIEW analyst.liquidations AS
  SELECT
    l.deployment,
    l.ledger,
    l.tx AS tx_order,
    l.op AS op_order,
    l.event AS event_order,
    l.closed_at,
    l.owner,
    l.synth_asset AS market,
    b.from_address AS liquidator,
    b.amount AS debt_repaid_raw,
    analyst.scaled(b.amount) AS debt_repaid,
    l.collateral_seized AS collateral_seized_raw,
    analyst.scaled(l.collateral_seized) AS collateral_seized
  FROM (event.synthetic_engine_liquidate AS l JOIN (SELECT) AS l_bound ON (l.deployment, l.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
    LEFT JOIN LATERAL (
      SELECT u.from_address, u.amount
      FROM event.synth_token_burn AS u
      WHERE u.deployment = l.deployment AND u.ledger = l.ledger AND u.tx = l.tx AND u.op = l.op
        AND u.event < l.event
      ORDER BY u.event DESC LIMIT 1
    ) AS b ON true;
COMMENT ON VIEW analyst.liquidations IS 'Liquidations: the event and, from the burn beside it, the liquidator and the debt repaid';
COMMENT ON COLUMN analyst.liquidations.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.liquidations.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.liquidations.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.liquidations.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.liquidations.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.liquidations.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.liquidations.owner IS 'Owner of the vault';
COMMENT ON COLUMN analyst.liquidations.market IS 'Market';
COMMENT ON COLUMN analyst.liquidations.liquidator IS 'Account that repaid the debt';
COMMENT ON COLUMN analyst.liquidations.debt_repaid_raw IS 'Debt repaid: synthetic tokens burned from the liquidator, raw units';
COMMENT ON COLUMN analyst.liquidations.debt_repaid IS 'Debt repaid: synthetic tokens burned from the liquidator, 7 decimals applied';
COMMENT ON COLUMN analyst.liquidations.collateral_seized_raw IS 'Collateral given to the liquidator, raw units';
COMMENT ON COLUMN analyst.liquidations.collateral_seized IS 'Collateral given to the liquidator, 7 decimals applied';

-- An array's index must be an integer; a u32 status need not be one.
CREATE VIEW analyst.compliance AS
  SELECT
    r.deployment,
    r.address,
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(r.status, 99) + 1] AS status,
    analyst.at(r.expires_at) AS expires_at,
    r.expires_at <> 0 AND r.expires_at < extract(epoch FROM n.closed_at) AS expired,
    f.address IS NOT NULL AS frozen,
    r.provider,
    r.reason,
    analyst.at(r.updated_at) AS updated_at,
    r.ledger
  FROM (state.compliance_registry_compliance_rec AS r JOIN (SELECT) AS r_bound ON (r.deployment, r.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
    LEFT JOIN chain.cursor AS n ON n.deployment = r.deployment
    LEFT JOIN (state.compliance_registry_frozen AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry')) ON f.deployment = r.deployment
      AND f.contract = r.contract AND f.address = r.address;
COMMENT ON VIEW analyst.compliance IS 'Current compliance records; jurisdictions are in no view';
COMMENT ON COLUMN analyst.compliance.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.compliance.address IS 'Person';
COMMENT ON COLUMN analyst.compliance.status IS 'Stored status; a lapsed record still says Verified';
COMMENT ON COLUMN analyst.compliance.expires_at IS 'End of validity; null is never';
COMMENT ON COLUMN analyst.compliance.expired IS 'Lapsed at the newest close time';
COMMENT ON COLUMN analyst.compliance.frozen IS 'Frozen';
COMMENT ON COLUMN analyst.compliance.provider IS 'Provider that attested';
COMMENT ON COLUMN analyst.compliance.reason IS 'Reason of the last change';
COMMENT ON COLUMN analyst.compliance.updated_at IS 'Last change';
COMMENT ON COLUMN analyst.compliance.ledger IS 'Ledger of the last change';

CREATE VIEW analyst.compliance_history AS
  SELECT
    h.deployment,
    h.ledger,
    h.tx AS tx_order,
    h.seq AS change_order,
    h.closed_at,
    h.address,
    h.what,
    h.status,
    analyst.at(h.expires_at) AS expires_at,
    h.provider,
    h.reason
  FROM (
    SELECT r.deployment, r.ledger, r.tx, r.seq, r.closed_at, r.address, 'record' AS what,
      (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(r.status, 99) + 1] AS status,
      r.expires_at, r.provider, r.reason
    FROM (history.compliance_registry_compliance_rec AS r JOIN (SELECT) AS r_bound ON (r.deployment, r.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
    UNION ALL
    SELECT f.deployment, f.ledger, f.tx, f.seq, f.closed_at, f.address,
      CASE WHEN f.removed THEN 'unfrozen' ELSE 'frozen' END, NULL, NULL, NULL, NULL
    FROM (history.compliance_registry_frozen AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
  ) AS h;
COMMENT ON VIEW analyst.compliance_history IS 'Every change of a person''s record or freeze, also those without an event';
COMMENT ON COLUMN analyst.compliance_history.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.compliance_history.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.compliance_history.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.compliance_history.change_order IS 'Order of the change in its transaction';
COMMENT ON COLUMN analyst.compliance_history.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.compliance_history.address IS 'Person';
COMMENT ON COLUMN analyst.compliance_history.what IS 'record, frozen or unfrozen';
COMMENT ON COLUMN analyst.compliance_history.status IS 'Stored status after the change; null for a freeze';
COMMENT ON COLUMN analyst.compliance_history.expires_at IS 'End of validity; null is never';
COMMENT ON COLUMN analyst.compliance_history.provider IS 'Provider that attested';
COMMENT ON COLUMN analyst.compliance_history.reason IS 'Reason of the change';

CREATE VIEW analyst.attestations AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.kind,
    e.subject AS address,
    e.verifier AS provider
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'attest' AS kind, subject, verifier
    FROM (event.compliance_registry_attest JOIN (SELECT) AS compliance_registry_attest_bound ON (compliance_registry_attest.deployment, compliance_registry_attest.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'submit_attest', subject, provider
    FROM (event.compliance_registry_submit_attest JOIN (SELECT) AS compliance_registry_submit_attest_bound ON (compliance_registry_submit_attest.deployment, compliance_registry_submit_attest.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'revoke', subject, verifier
    FROM (event.compliance_registry_revoke JOIN (SELECT) AS compliance_registry_revoke_bound ON (compliance_registry_revoke.deployment, compliance_registry_revoke.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'compliance_registry'))
  ) AS e;
COMMENT ON VIEW analyst.attestations IS 'Attestations and revocations as events';
COMMENT ON COLUMN analyst.attestations.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.attestations.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.attestations.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.attestations.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.attestations.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.attestations.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.attestations.kind IS 'attest, submit_attest or revoke';
COMMENT ON COLUMN analyst.attestations.address IS 'Person';
COMMENT ON COLUMN analyst.attestations.provider IS 'Verifier or provider';

CREATE VIEW analyst.partners AS
  SELECT
    p.deployment,
    p.id AS partner_id,
    p.owner,
    analyst.readable(p.name) AS name,
    p.revenue_share AS revenue_share_bps,
    p.deployed_assets,
    p.active,
    analyst.at(p.registered_at) AS registered_at,
    p.ledger,
    p.closed_at AS changed_at
  FROM (state.partner_registry_partner AS p JOIN (SELECT) AS p_bound ON (p.deployment, p.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'partner_registry'));
COMMENT ON VIEW analyst.partners IS 'Partners, current';
COMMENT ON COLUMN analyst.partners.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.partners.partner_id IS 'Partner';
COMMENT ON COLUMN analyst.partners.owner IS 'Owner';
COMMENT ON COLUMN analyst.partners.name IS 'Name; bytes that are not text in hexadecimal';
COMMENT ON COLUMN analyst.partners.revenue_share_bps IS 'Share of the fees, basis points';
COMMENT ON COLUMN analyst.partners.deployed_assets IS 'Number of the partner''s assets';
COMMENT ON COLUMN analyst.partners.active IS 'Active';
COMMENT ON COLUMN analyst.partners.registered_at IS 'Registration';
COMMENT ON COLUMN analyst.partners.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.partners.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.revenue AS
  SELECT
    r.deployment,
    r.ledger,
    r.tx AS tx_order,
    r.op AS op_order,
    r.event AS event_order,
    r.closed_at,
    r.sender,
    r.source,
    r.epoch,
    r.token,
    t.symbol AS token_symbol,
    r.amount AS amount_raw,
    analyst.scaled(r.amount) AS amount
  FROM (event.earnings_distributor_revenue_received AS r JOIN (SELECT) AS r_bound ON (r.deployment, r.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'earnings_distributor'))
    LEFT JOIN analyst.tokens AS t ON t.deployment = r.deployment AND t.token = r.token;
COMMENT ON VIEW analyst.revenue IS 'Fees as the distributor received them, with their token';
COMMENT ON COLUMN analyst.revenue.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.revenue.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.revenue.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.revenue.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.revenue.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.revenue.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.revenue.sender IS 'Contract that paid';
COMMENT ON COLUMN analyst.revenue.source IS 'swapfee, stabfee or liqfee';
COMMENT ON COLUMN analyst.revenue.epoch IS 'Epoch of the distributor';
COMMENT ON COLUMN analyst.revenue.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.revenue.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.revenue.amount_raw IS 'Fee, raw units';
COMMENT ON COLUMN analyst.revenue.amount IS 'Fee, 7 decimals applied';

CREATE VIEW analyst.partner_revenue AS
  SELECT
    f.deployment,
    f.ledger,
    f.tx AS tx_order,
    f.op AS op_order,
    f.event AS event_order,
    f.closed_at,
    f.partner_id,
    f.source,
    f.epoch,
    r.token,
    t.symbol AS token_symbol,
    f.partner_cut AS cut_raw,
    analyst.scaled(f.partner_cut) AS cut,
    r.amount AS fee_raw,
    analyst.scaled(r.amount) AS fee
  FROM (event.earnings_distributor_partner_revenue_forwarded AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'earnings_distributor'))
    LEFT JOIN LATERAL (
      SELECT u.token, u.amount
      FROM (event.earnings_distributor_revenue_received AS u JOIN (SELECT) AS u_bound ON (u.deployment, u.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'earnings_distributor'))
      WHERE u.deployment = f.deployment AND u.ledger = f.ledger AND u.tx = f.tx AND u.op = f.op
        AND u.event > f.event
      ORDER BY u.event LIMIT 1
    ) AS r ON true
    LEFT JOIN analyst.tokens AS t ON t.deployment = f.deployment AND t.token = r.token;
COMMENT ON VIEW analyst.partner_revenue IS 'Partners'' cuts with their token: that of the next fee received in the same operation';
COMMENT ON COLUMN analyst.partner_revenue.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.partner_revenue.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.partner_revenue.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.partner_revenue.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.partner_revenue.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.partner_revenue.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.partner_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN analyst.partner_revenue.source IS 'swapfee, stabfee or liqfee';
COMMENT ON COLUMN analyst.partner_revenue.epoch IS 'Epoch of the distributor';
COMMENT ON COLUMN analyst.partner_revenue.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.partner_revenue.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.partner_revenue.cut_raw IS 'Partner''s cut, raw units';
COMMENT ON COLUMN analyst.partner_revenue.cut IS 'Partner''s cut, 7 decimals applied';
COMMENT ON COLUMN analyst.partner_revenue.fee_raw IS 'Whole fee that the cut was taken from, raw units';
COMMENT ON COLUMN analyst.partner_revenue.fee IS 'Whole fee that the cut was taken from, 7 decimals applied';

CREATE VIEW analyst.partner_revenue_per_token AS
  SELECT
    r.deployment,
    r.partner_id,
    r.epoch,
    r.token,
    t.symbol AS token_symbol,
    r.forwards,
    r.fees AS fees_raw,
    analyst.scaled(r.fees) AS fees,
    r.amount AS cuts_raw,
    analyst.scaled(r.amount) AS cuts
  FROM rollup.partner_epoch_revenue AS r
    LEFT JOIN analyst.tokens AS t ON t.deployment = r.deployment AND t.token = r.token;
COMMENT ON VIEW analyst.partner_revenue_per_token IS 'Partners'' cuts by epoch and token: sums of partner_revenue';
COMMENT ON COLUMN analyst.partner_revenue_per_token.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.partner_revenue_per_token.partner_id IS 'Partner';
COMMENT ON COLUMN analyst.partner_revenue_per_token.epoch IS 'Epoch of the distributor';
COMMENT ON COLUMN analyst.partner_revenue_per_token.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.partner_revenue_per_token.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.partner_revenue_per_token.forwards IS 'Number of cuts';
COMMENT ON COLUMN analyst.partner_revenue_per_token.fees_raw IS 'Whole fees that the cuts were taken from, raw units';
COMMENT ON COLUMN analyst.partner_revenue_per_token.fees IS 'Whole fees that the cuts were taken from, 7 decimals applied';
COMMENT ON COLUMN analyst.partner_revenue_per_token.cuts_raw IS 'Partner''s cuts, raw units';
COMMENT ON COLUMN analyst.partner_revenue_per_token.cuts IS 'Partner''s cuts, 7 decimals applied';

CREATE VIEW analyst.revenue_per_token AS
  SELECT
    x.deployment,
    x.epoch,
    x.token,
    t.symbol AS token_symbol,
    x.fees AS fees_raw,
    analyst.scaled(x.fees) AS fees,
    x.cuts AS partner_cuts_raw,
    analyst.scaled(x.cuts) AS partner_cuts,
    x.fees - x.cuts AS protocol_part_raw,
    analyst.scaled(x.fees - x.cuts) AS protocol_part
  FROM (
    SELECT u.deployment, u.epoch, u.token, sum(u.fee) AS fees, sum(u.cut) AS cuts
    FROM (
      SELECT r.deployment, r.epoch, r.token, r.fees AS fee, 0 AS cut FROM rollup.revenue AS r
      UNION ALL
      SELECT c.deployment, c.epoch, c.token, 0, c.amount FROM rollup.partner_epoch_revenue AS c
    ) AS u
    GROUP BY u.deployment, u.epoch, u.token
  ) AS x
    LEFT JOIN analyst.tokens AS t ON t.deployment = x.deployment AND t.token = x.token;
COMMENT ON VIEW analyst.revenue_per_token IS 'Fees, partners'' cuts and the rest by epoch and token';
COMMENT ON COLUMN analyst.revenue_per_token.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.revenue_per_token.epoch IS 'Epoch of the distributor';
COMMENT ON COLUMN analyst.revenue_per_token.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.revenue_per_token.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.revenue_per_token.fees_raw IS 'Fees received, raw units';
COMMENT ON COLUMN analyst.revenue_per_token.fees IS 'Fees received, 7 decimals applied';
COMMENT ON COLUMN analyst.revenue_per_token.partner_cuts_raw IS 'Partners'' cuts, raw units';
COMMENT ON COLUMN analyst.revenue_per_token.partner_cuts IS 'Partners'' cuts, 7 decimals applied';
COMMENT ON COLUMN analyst.revenue_per_token.protocol_part_raw IS 'Fees less the cuts, raw units';
COMMENT ON COLUMN analyst.revenue_per_token.protocol_part IS 'Fees less the cuts, 7 decimals applied';

CREATE VIEW analyst.stability_pool AS
  SELECT
    s.deployment,
    s.total_deposits AS total_deposits_raw,
    analyst.scaled(s.total_deposits) AS total_deposits,
    s.total_coll_gained AS collateral_gained_raw,
    analyst.scaled(s.total_coll_gained) AS collateral_gained,
    s.total_liq_count AS liquidations,
    s.p,
    s.sum_coll,
    s.epoch,
    s.scale,
    s.paused,
    s.ledger,
    s.closed_at AS changed_at
  FROM (state.stability_pool_state AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'));
COMMENT ON VIEW analyst.stability_pool IS 'The stability pool''s current books';
COMMENT ON COLUMN analyst.stability_pool.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.stability_pool.total_deposits_raw IS 'Deposits, raw units';
COMMENT ON COLUMN analyst.stability_pool.total_deposits IS 'Deposits, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_pool.collateral_gained_raw IS 'Collateral gained so far, raw units';
COMMENT ON COLUMN analyst.stability_pool.collateral_gained IS 'Collateral gained so far, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_pool.liquidations IS 'Liquidations absorbed';
COMMENT ON COLUMN analyst.stability_pool.p IS 'Product of losses, from 1e12';
COMMENT ON COLUMN analyst.stability_pool.sum_coll IS 'Gain per unit of deposit, scaled by 1e12';
COMMENT ON COLUMN analyst.stability_pool.epoch IS 'Epoch of the books';
COMMENT ON COLUMN analyst.stability_pool.scale IS 'Scale of the books';
COMMENT ON COLUMN analyst.stability_pool.paused IS 'Paused';
COMMENT ON COLUMN analyst.stability_pool.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.stability_pool.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.stability_deposits AS
  SELECT
    d.deployment,
    d.depositor,
    d.initial_value AS initial_raw,
    analyst.scaled(d.initial_value) AS initial,
    CASE WHEN d.snapshot_epoch = s.epoch
      THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000)
      ELSE 0 END AS compounded_raw,
    analyst.scaled(CASE WHEN d.snapshot_epoch = s.epoch
      THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000)
      ELSE 0 END) AS compounded,
    div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000) AS gain_raw,
    analyst.scaled(div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000)) AS gain,
    analyst.at(d.deposited_at) AS deposited_at,
    d.ledger,
    d.closed_at AS changed_at
  FROM (state.stability_pool_deposit AS d JOIN (SELECT) AS d_bound ON (d.deployment, d.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'))
    LEFT JOIN (state.stability_pool_state AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool')) ON s.deployment = d.deployment AND s.contract = d.contract;
COMMENT ON VIEW analyst.stability_deposits IS 'Current deposits in the stability pool, computed as the contract does';
COMMENT ON COLUMN analyst.stability_deposits.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.stability_deposits.depositor IS 'Depositor';
COMMENT ON COLUMN analyst.stability_deposits.initial_raw IS 'Deposit at the snapshot, raw units';
COMMENT ON COLUMN analyst.stability_deposits.initial IS 'Deposit at the snapshot, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_deposits.compounded_raw IS 'Deposit after losses, raw units';
COMMENT ON COLUMN analyst.stability_deposits.compounded IS 'Deposit after losses, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_deposits.gain_raw IS 'Gain not claimed; may be negative after a new epoch, as in the contract, raw units';
COMMENT ON COLUMN analyst.stability_deposits.gain IS 'Gain not claimed; may be negative after a new epoch, as in the contract, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_deposits.deposited_at IS 'First deposit';
COMMENT ON COLUMN analyst.stability_deposits.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.stability_deposits.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.stability_events AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.kind,
    e.address,
    e.amount AS amount_raw,
    analyst.scaled(e.amount) AS amount,
    e.reward AS reward_raw,
    analyst.scaled(e.reward) AS reward
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'deposit' AS kind, depositor AS address, amount,
      NULL::numeric AS reward
    FROM (event.stability_pool_deposit JOIN (SELECT) AS stability_pool_deposit_bound ON (stability_pool_deposit.deployment, stability_pool_deposit.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'withdraw', depositor, amount, NULL
    FROM (event.stability_pool_withdraw JOIN (SELECT) AS stability_pool_withdraw_bound ON (stability_pool_withdraw.deployment, stability_pool_withdraw.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'claim', depositor, amount, NULL
    FROM (event.stability_pool_claim JOIN (SELECT) AS stability_pool_claim_bound ON (stability_pool_claim.deployment, stability_pool_claim.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'absorb', engine, debt_absorbed, collateral_reward
    FROM (event.stability_pool_absorb JOIN (SELECT) AS stability_pool_absorb_bound ON (stability_pool_absorb.deployment, stability_pool_absorb.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'stability_pool'))
  ) AS e;
COMMENT ON VIEW analyst.stability_events IS 'Events of the stability pool, in one list';
COMMENT ON COLUMN analyst.stability_events.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.stability_events.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.stability_events.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.stability_events.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.stability_events.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.stability_events.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.stability_events.kind IS 'deposit, withdraw, claim or absorb';
COMMENT ON COLUMN analyst.stability_events.address IS 'Depositor, or the engine that a loss came from';
COMMENT ON COLUMN analyst.stability_events.amount_raw IS 'USDC paid in or out, gain claimed, or debt absorbed, raw units';
COMMENT ON COLUMN analyst.stability_events.amount IS 'USDC paid in or out, gain claimed, or debt absorbed, 7 decimals applied';
COMMENT ON COLUMN analyst.stability_events.reward_raw IS 'Collateral gained; null but for absorb, raw units';
COMMENT ON COLUMN analyst.stability_events.reward IS 'Collateral gained; null but for absorb, 7 decimals applied';

CREATE VIEW analyst.feeds AS
  SELECT
    f.deployment,
    f.asset AS feed,
    analyst.scaled(f.latest_price) AS price,
    analyst.at(f.latest_ts) AS price_at,
    extract(epoch FROM n.closed_at) - f.latest_ts > 300 AS price_stale,
    analyst.scaled(f.twap_price) AS twap,
    analyst.at(f.twap_ts) AS twap_at,
    extract(epoch FROM n.closed_at) - f.twap_ts > 600 AS twap_stale,
    f.observation_count AS observations,
    f.ledger,
    f.closed_at AS changed_at
  FROM (state.oracle_feed AS f JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle'))
    LEFT JOIN chain.cursor AS n ON n.deployment = f.deployment;
COMMENT ON VIEW analyst.feeds IS 'Current price feeds, with their age at the newest close time';
COMMENT ON COLUMN analyst.feeds.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.feeds.feed IS 'Feed';
COMMENT ON COLUMN analyst.feeds.price IS 'Spot price';
COMMENT ON COLUMN analyst.feeds.price_at IS 'When it was set';
COMMENT ON COLUMN analyst.feeds.price_stale IS 'Older than 300 s: the contract refuses it';
COMMENT ON COLUMN analyst.feeds.twap IS 'Time-weighted price';
COMMENT ON COLUMN analyst.feeds.twap_at IS 'When it was set';
COMMENT ON COLUMN analyst.feeds.twap_stale IS 'Older than 600 s: the contract refuses it';
COMMENT ON COLUMN analyst.feeds.observations IS 'Observations in the last aggregate';
COMMENT ON COLUMN analyst.feeds.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.feeds.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.prices AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.kind,
    e.asset AS feed,
    e.provider,
    e.price AS price_raw,
    analyst.scaled(e.price) AS price
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'observation' AS kind, asset, provider, price
    FROM (event.oracle_price_observation JOIN (SELECT) AS oracle_price_observation_bound ON (oracle_price_observation.deployment, oracle_price_observation.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'aggregate', asset, NULL, median_price
    FROM (event.oracle_price_aggregate JOIN (SELECT) AS oracle_price_aggregate_bound ON (oracle_price_aggregate.deployment, oracle_price_aggregate.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle'))
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'twap', asset, NULL, twap_price
    FROM (event.oracle_twap JOIN (SELECT) AS oracle_twap_bound ON (oracle_twap.deployment, oracle_twap.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle'))
  ) AS e;
COMMENT ON VIEW analyst.prices IS 'Prices over time: observations of providers, aggregates, time-weighted prices';
COMMENT ON COLUMN analyst.prices.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.prices.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.prices.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.prices.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.prices.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.prices.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.prices.kind IS 'observation, aggregate or twap';
COMMENT ON COLUMN analyst.prices.feed IS 'Feed';
COMMENT ON COLUMN analyst.prices.provider IS 'Provider of an observation';
COMMENT ON COLUMN analyst.prices.price_raw IS 'Price, raw units';
COMMENT ON COLUMN analyst.prices.price IS 'Price, 7 decimals applied';

CREATE VIEW analyst.proposals AS
  SELECT
    p.deployment,
    p.id AS proposal_id,
    p.proposer,
    analyst.readable(p.title) AS title,
    analyst.readable(p.description) AS description,
    p.action,
    p.status,
    p.yes_votes,
    p.no_votes,
    w.threshold,
    analyst.at(p.start_time) AS start_at,
    analyst.at(p.end_time) AS end_at,
    analyst.at(p.execute_after) AS execute_after,
    p.ledger,
    p.closed_at AS changed_at
  FROM (state.dao_governance_proposal AS p JOIN (SELECT) AS p_bound ON (p.deployment, p.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance'))
    LEFT JOIN (state.dao_governance_multi_sig_wallet AS w JOIN (SELECT) AS w_bound ON (w.deployment, w.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance')) ON w.deployment = p.deployment
      AND w.contract = p.contract AND w.wallet_id = 0;
COMMENT ON VIEW analyst.proposals IS 'Proposals with what they would do';
COMMENT ON COLUMN analyst.proposals.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.proposals.proposal_id IS 'Proposal; ids repeat after the contract was initialised again';
COMMENT ON COLUMN analyst.proposals.proposer IS 'Proposer';
COMMENT ON COLUMN analyst.proposals.title IS 'Title; bytes that are not text in hexadecimal';
COMMENT ON COLUMN analyst.proposals.description IS 'Description, likewise';
COMMENT ON COLUMN analyst.proposals.action IS 'Action of the proposal, decoded; "undecodable": true and its hex if it cannot be read';
COMMENT ON COLUMN analyst.proposals.status IS 'Active, Passed, Failed, Executed or Cancelled';
COMMENT ON COLUMN analyst.proposals.yes_votes IS 'Votes in favour';
COMMENT ON COLUMN analyst.proposals.no_votes IS 'Votes against';
COMMENT ON COLUMN analyst.proposals.threshold IS 'Votes needed: that of the governance wallet';
COMMENT ON COLUMN analyst.proposals.start_at IS 'Start of the vote';
COMMENT ON COLUMN analyst.proposals.end_at IS 'Nominal end of the vote; closes nothing';
COMMENT ON COLUMN analyst.proposals.execute_after IS 'Earliest execution';
COMMENT ON COLUMN analyst.proposals.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.proposals.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.votes AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.proposal_id,
    e.voter,
    e.support,
    e.weight
  FROM (event.dao_governance_voted AS e JOIN (SELECT) AS e_bound ON (e.deployment, e.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance'));
COMMENT ON VIEW analyst.votes IS 'Votes on proposals';
COMMENT ON COLUMN analyst.votes.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.votes.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.votes.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.votes.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.votes.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.votes.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.votes.proposal_id IS 'Proposal';
COMMENT ON COLUMN analyst.votes.voter IS 'Voter';
COMMENT ON COLUMN analyst.votes.support IS 'True: yes';
COMMENT ON COLUMN analyst.votes.weight IS 'Weight; 1 per signer';

CREATE VIEW analyst.multisig_wallets AS
  SELECT
    w.deployment,
    w.wallet_id,
    w.signers,
    w.threshold,
    (ARRAY['PrivilegedOnly', 'AllExecutions', 'Disabled'])[least(w.scope, 99) + 1] AS scope,
    w.active,
    w.ledger,
    w.closed_at AS changed_at
  FROM (state.dao_governance_multi_sig_wallet AS w JOIN (SELECT) AS w_bound ON (w.deployment, w.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance'));
COMMENT ON VIEW analyst.multisig_wallets IS 'Multisig wallets; number 0 is governance''s';
COMMENT ON COLUMN analyst.multisig_wallets.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.multisig_wallets.wallet_id IS 'Wallet';
COMMENT ON COLUMN analyst.multisig_wallets.signers IS 'Signers';
COMMENT ON COLUMN analyst.multisig_wallets.threshold IS 'Approvals needed';
COMMENT ON COLUMN analyst.multisig_wallets.scope IS 'PrivilegedOnly, AllExecutions or Disabled';
COMMENT ON COLUMN analyst.multisig_wallets.active IS 'Active';
COMMENT ON COLUMN analyst.multisig_wallets.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.multisig_wallets.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.multisig_transactions AS
  SELECT
    m.deployment,
    m.id AS tx_id,
    m.wallet_id,
    m.proposal_id,
    m.target,
    m.function_name,
    m.action,
    m.approvals,
    m.rejections,
    w.threshold,
    a.yes AS approved_by,
    a.no AS rejected_by,
    m.status,
    analyst.at(m.created_at) AS created_at,
    m.ledger,
    m.closed_at AS changed_at
  FROM (state.dao_governance_multi_sig_tx AS m JOIN (SELECT) AS m_bound ON (m.deployment, m.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance'))
    LEFT JOIN (state.dao_governance_multi_sig_wallet AS w JOIN (SELECT) AS w_bound ON (w.deployment, w.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance')) ON w.deployment = m.deployment
      AND w.contract = m.contract AND w.wallet_id = m.wallet_id
    LEFT JOIN LATERAL (
      SELECT array_agg(s.signer ORDER BY s.signer) FILTER (WHERE s.value) AS yes,
        array_agg(s.signer ORDER BY s.signer) FILTER (WHERE NOT s.value) AS no
      FROM (state.dao_governance_multi_sig_approval AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'dao_governance'))
      WHERE s.deployment = m.deployment AND s.contract = m.contract AND s.tx_id = m.tx_id
    ) AS a ON true;
COMMENT ON VIEW analyst.multisig_transactions IS 'Multisig transactions with what they would do, and the signers'' votes';
COMMENT ON COLUMN analyst.multisig_transactions.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.multisig_transactions.tx_id IS 'Multisig transaction';
COMMENT ON COLUMN analyst.multisig_transactions.wallet_id IS 'Wallet';
COMMENT ON COLUMN analyst.multisig_transactions.proposal_id IS 'Proposal';
COMMENT ON COLUMN analyst.multisig_transactions.target IS 'Contract to be called';
COMMENT ON COLUMN analyst.multisig_transactions.function_name IS 'Function to be called';
COMMENT ON COLUMN analyst.multisig_transactions.action IS 'Action of the transaction, decoded';
COMMENT ON COLUMN analyst.multisig_transactions.approvals IS 'Approvals; it may be executed with fewer than the threshold';
COMMENT ON COLUMN analyst.multisig_transactions.rejections IS 'Rejections';
COMMENT ON COLUMN analyst.multisig_transactions.threshold IS 'Approvals needed by the wallet';
COMMENT ON COLUMN analyst.multisig_transactions.approved_by IS 'Signers that approved';
COMMENT ON COLUMN analyst.multisig_transactions.rejected_by IS 'Signers that rejected';
COMMENT ON COLUMN analyst.multisig_transactions.status IS 'Pending, Approved, Rejected, Executed or Cancelled';
COMMENT ON COLUMN analyst.multisig_transactions.created_at IS 'Creation';
COMMENT ON COLUMN analyst.multisig_transactions.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.multisig_transactions.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.transfers AS
  SELECT
    e.deployment,
    e.ledger,
    e.tx AS tx_order,
    e.op AS op_order,
    e.event AS event_order,
    e.closed_at,
    e.contract AS token,
    t.symbol AS token_symbol,
    e.kind,
    e.from_address,
    e.to_address,
    e.amount AS amount_raw,
    analyst.scaled(e.amount) AS amount
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'transfer' AS kind,
      from_address, to_address, amount
    FROM event.synth_token_transfer
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'mint',
      NULL, to_address, amount
    FROM event.synth_token_mint
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'burn',
      from_address, NULL, amount
    FROM event.synth_token_burn
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'clawback',
      from_address, to_address, amount
    FROM event.synth_token_clawback
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'transfer',
      from_address, to_address, amount
    FROM event.stellar_asset_transfer
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'mint',
      NULL, to_address, amount
    FROM event.stellar_asset_mint
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'burn',
      from_address, NULL, amount
    FROM event.stellar_asset_burn
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'clawback',
      from_address, NULL, amount
    FROM event.stellar_asset_clawback
  ) AS e
    LEFT JOIN analyst.tokens AS t ON t.deployment = e.deployment AND t.token = e.contract;
COMMENT ON VIEW analyst.transfers IS 'Tokens transferred, minted or burned in the protocol''s operations';
COMMENT ON COLUMN analyst.transfers.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.transfers.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.transfers.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.transfers.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.transfers.event_order IS 'Event in the operation, from 0';
COMMENT ON COLUMN analyst.transfers.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.transfers.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.transfers.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.transfers.kind IS 'transfer, mint, burn or clawback';
COMMENT ON COLUMN analyst.transfers.from_address IS 'From whom; null for a mint';
COMMENT ON COLUMN analyst.transfers.to_address IS 'To whom; null for a burn';
COMMENT ON COLUMN analyst.transfers.amount_raw IS 'Amount, raw units';
COMMENT ON COLUMN analyst.transfers.amount IS 'Amount, 7 decimals applied';

CREATE VIEW analyst.balances AS
  SELECT
    b.deployment,
    b.contract AS token,
    t.symbol AS token_symbol,
    b.address,
    b.balance AS balance_raw,
    analyst.scaled(b.balance) AS balance,
    b.ledger,
    b.closed_at AS changed_at
  FROM (
    SELECT deployment, contract, address, value AS balance, ledger, closed_at
    FROM state.synth_token_balance
    UNION ALL
    SELECT deployment, contract, address, amount, ledger, closed_at
    FROM state.stellar_asset_balance
  ) AS b
    LEFT JOIN analyst.tokens AS t ON t.deployment = b.deployment AND t.token = b.contract;
COMMENT ON VIEW analyst.balances IS 'Balances of synthetic tokens, and of contracts in Stellar assets (accounts hold those in trustlines)';
COMMENT ON COLUMN analyst.balances.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.balances.token IS 'Token, contract address';
COMMENT ON COLUMN analyst.balances.token_symbol IS 'Token, symbol';
COMMENT ON COLUMN analyst.balances.address IS 'Holder';
COMMENT ON COLUMN analyst.balances.balance_raw IS 'Balance, raw units';
COMMENT ON COLUMN analyst.balances.balance IS 'Balance, 7 decimals applied';
COMMENT ON COLUMN analyst.balances.ledger IS 'Ledger of the last change';
COMMENT ON COLUMN analyst.balances.changed_at IS 'Close time of that ledger';

CREATE VIEW analyst.ledgers AS
  SELECT
    l.deployment,
    l.ledger,
    encode(l.hash, 'hex') AS hash,
    l.closed_at,
    l.protocol,
    l.tx_count AS transactions,
    l.our_txs AS protocol_transactions,
    l.events,
    l.changes,
    l.raw_events + l.raw_states AS undecoded,
    (ARRAY['chained', 'results', 'events'])[l.proof + 1] AS proof,
    l.calls_verified,
    l.calls_unverified
  FROM chain.ledger AS l;
COMMENT ON VIEW analyst.ledgers IS 'Indexed ledgers, with their proof level and content';
COMMENT ON COLUMN analyst.ledgers.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.ledgers.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.ledgers.hash IS 'Hash of the header, recomputed';
COMMENT ON COLUMN analyst.ledgers.closed_at IS 'Close time';
COMMENT ON COLUMN analyst.ledgers.protocol IS 'Protocol version';
COMMENT ON COLUMN analyst.ledgers.transactions IS 'Transactions in the ledger';
COMMENT ON COLUMN analyst.ledgers.protocol_transactions IS 'Transactions that touched the deployment';
COMMENT ON COLUMN analyst.ledgers.events IS 'Events kept';
COMMENT ON COLUMN analyst.ledgers.changes IS 'Versions of entries kept';
COMMENT ON COLUMN analyst.ledgers.undecoded IS 'Events and versions kept undecoded';
COMMENT ON COLUMN analyst.ledgers.proof IS 'Level of proof that was recomputed: chained, results or events';
COMMENT ON COLUMN analyst.ledgers.calls_verified IS 'Calls with events that hash to their result';
COMMENT ON COLUMN analyst.ledgers.calls_unverified IS 'Calls with events that do not';

-- A range of ledgers is read by the keys of all tables; a range of close times reads whole tables.
CREATE FUNCTION analyst.ledger_at(deployment integer, at timestamptz) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce((SELECT l.ledger FROM analyst.ledgers AS l
    WHERE l.deployment = ledger_at.deployment::smallint AND l.closed_at <= ledger_at.at
    ORDER BY l.closed_at DESC, l.ledger DESC LIMIT 1), 0);
COMMENT ON FUNCTION analyst.ledger_at(integer, timestamptz) IS 'Newest indexed ledger that had closed at a time; 0: none';

CREATE VIEW analyst.calls AS
  SELECT
    c.deployment,
    c.ledger,
    c.tx AS tx_order,
    c.op AS op_order,
    c.closed_at,
    encode(c.hash, 'hex') AS hash,
    c.source,
    c.contract,
    k.role,
    k.name AS contract_name,
    c.fn,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') THEN c.args END AS args,
    c.ok,
    CASE WHEN k.role IS DISTINCT FROM 'compliance_registry' OR json_typeof(c.ret) = 'boolean' THEN c.ret END AS answer,
    c.events,
    c.changed,
    (ARRAY['verified', 'rewritten', 'unverified'])[c.proof] AS proof,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') THEN c.args_xdr END AS args_xdr,
    CASE WHEN k.role IS DISTINCT FROM 'compliance_registry' THEN c.ret_xdr END AS answer_xdr
  FROM chain.call AS c
    LEFT JOIN analyst.contracts AS k ON k.deployment = c.deployment AND k.contract = c.contract;
COMMENT ON VIEW analyst.calls IS 'Calls of the protocol''s contracts, refused ones too; arguments and answers that may hold a jurisdiction are left out';
COMMENT ON COLUMN analyst.calls.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.calls.ledger IS 'Ledger sequence';
COMMENT ON COLUMN analyst.calls.tx_order IS 'Order of the transaction in its ledger, from 1';
COMMENT ON COLUMN analyst.calls.op_order IS 'Operation in the transaction, from 0';
COMMENT ON COLUMN analyst.calls.closed_at IS 'Close time of the ledger';
COMMENT ON COLUMN analyst.calls.hash IS 'Transaction hash';
COMMENT ON COLUMN analyst.calls.source IS 'Source account';
COMMENT ON COLUMN analyst.calls.contract IS 'Contract called or created';
COMMENT ON COLUMN analyst.calls.role IS 'Role of the contract';
COMMENT ON COLUMN analyst.calls.contract_name IS 'Name of the contract in the deployment file';
COMMENT ON COLUMN analyst.calls.fn IS 'Function; null when the contract was created';
COMMENT ON COLUMN analyst.calls.args IS 'Arguments; null for attestations, and when args_xdr has them';
COMMENT ON COLUMN analyst.calls.ok IS 'False: refused, nothing changed';
COMMENT ON COLUMN analyst.calls.answer IS 'Return value; null when refused, when answer_xdr has it, and of the compliance registry unless it is true or false';
COMMENT ON COLUMN analyst.calls.events IS 'Events of the operation';
COMMENT ON COLUMN analyst.calls.changed IS 'Ledger entries changed, without changes of lifetimes';
COMMENT ON COLUMN analyst.calls.proof IS 'verified: its events hash to its result; null when not checked';
COMMENT ON COLUMN analyst.calls.args_xdr IS 'Arguments too long or deep for JSON, as XDR; null for attestations';
COMMENT ON COLUMN analyst.calls.answer_xdr IS 'Return value too long or deep for JSON, as XDR; null of the compliance registry';

CREATE VIEW analyst.daily_pools AS
  SELECT
    x.deployment,
    x.day,
    x.pool_id,
    p.token_a_symbol,
    p.token_b_symbol,
    x.swaps,
    x.traders,
    x.sold_a AS sold_a_raw,
    analyst.scaled(x.sold_a) AS sold_a,
    x.sold_b AS sold_b_raw,
    analyst.scaled(x.sold_b) AS sold_b,
    div(x.sold_a * p.fee_tier_bps, 10000) AS fees_a_raw,
    analyst.scaled(div(x.sold_a * p.fee_tier_bps, 10000)) AS fees_a,
    div(x.sold_b * p.fee_tier_bps, 10000) AS fees_b_raw,
    analyst.scaled(div(x.sold_b * p.fee_tier_bps, 10000)) AS fees_b
  FROM rollup.pool_day AS x
    LEFT JOIN analyst.pools AS p ON p.deployment = x.deployment AND p.pool_id = x.pool_id
  WHERE x.swaps > 0;
COMMENT ON VIEW analyst.daily_pools IS 'Trading by day and pool';
COMMENT ON COLUMN analyst.daily_pools.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_pools.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_pools.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.daily_pools.token_a_symbol IS 'Token A, symbol';
COMMENT ON COLUMN analyst.daily_pools.token_b_symbol IS 'Token B, symbol';
COMMENT ON COLUMN analyst.daily_pools.swaps IS 'Trades';
COMMENT ON COLUMN analyst.daily_pools.traders IS 'Different traders';
COMMENT ON COLUMN analyst.daily_pools.sold_a_raw IS 'Token A sold into the pool, raw units';
COMMENT ON COLUMN analyst.daily_pools.sold_a IS 'Token A sold into the pool, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_pools.sold_b_raw IS 'Token B sold into the pool, raw units';
COMMENT ON COLUMN analyst.daily_pools.sold_b IS 'Token B sold into the pool, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_pools.fees_a_raw IS 'Fees in token A at the pool''s tier, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.daily_pools.fees_a IS 'Fees in token A at the pool''s tier, protocol''s part included, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_pools.fees_b_raw IS 'Fees in token B at the pool''s tier, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.daily_pools.fees_b IS 'Fees in token B at the pool''s tier, protocol''s part included, 7 decimals applied';

CREATE VIEW analyst.daily_markets AS
  SELECT
    m.deployment,
    m.day,
    m.market,
    m.opened,
    m.liquidations AS liquidated,
    m.minted AS minted_raw,
    analyst.scaled(m.minted) AS minted,
    m.repaid AS repaid_raw,
    analyst.scaled(m.repaid) AS repaid,
    m.deposited AS collateral_in_raw,
    analyst.scaled(m.deposited) AS collateral_in,
    m.withdrawn AS collateral_out_raw,
    analyst.scaled(m.withdrawn) AS collateral_out
  FROM rollup.market_day AS m;
COMMENT ON VIEW analyst.daily_markets IS 'Vaults by day and market';
COMMENT ON COLUMN analyst.daily_markets.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_markets.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_markets.market IS 'Market';
COMMENT ON COLUMN analyst.daily_markets.opened IS 'Vaults opened';
COMMENT ON COLUMN analyst.daily_markets.liquidated IS 'Liquidations';
COMMENT ON COLUMN analyst.daily_markets.minted_raw IS 'Synthetic tokens minted, raw units';
COMMENT ON COLUMN analyst.daily_markets.minted IS 'Synthetic tokens minted, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_markets.repaid_raw IS 'Debt repaid by owners, raw units';
COMMENT ON COLUMN analyst.daily_markets.repaid IS 'Debt repaid by owners, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_markets.collateral_in_raw IS 'Collateral paid in, whatever token, raw units';
COMMENT ON COLUMN analyst.daily_markets.collateral_in IS 'Collateral paid in, whatever token, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_markets.collateral_out_raw IS 'Collateral withdrawn, whatever token, raw units';
COMMENT ON COLUMN analyst.daily_markets.collateral_out IS 'Collateral withdrawn, whatever token, 7 decimals applied';

-- One row for each of rollup.call_day, not summed by role: a sum of it would be a sum of sums. A contract's role is found by its
-- key. Callers are counted only where they are asked for, from the calls themselves.
CREATE VIEW analyst.daily_calls AS
  SELECT
    g.deployment,
    g.day,
    c.word AS contract,
    k.role,
    f.word AS fn,
    g.calls::bigint AS calls,
    g.refused::bigint AS refused,
    (SELECT count(DISTINCT x.source_key) FROM chain.call AS x
     WHERE x.deployment = g.deployment AND x.contract_key = g.contract_key AND coalesce(x.fn_key, 0) = g.fn_key
       AND x.ledger > analyst.ledger_at(g.deployment, chain.day_start(g.day) - interval '1 microsecond')
       AND x.ledger <= analyst.ledger_at(g.deployment, chain.day_start(g.day + 1) - interval '1 microsecond')) AS callers
  FROM rollup.call_day AS g
    LEFT JOIN (analyst.contracts AS k JOIN chain.word AS w ON w.word = k.contract) ON k.deployment = g.deployment AND w.id = g.contract_key
    LEFT JOIN chain.word AS c ON c.id = g.contract_key
    LEFT JOIN chain.word AS f ON f.id = g.fn_key;
COMMENT ON VIEW analyst.daily_calls IS 'Calls by day, contract and function; refused ones also counted separately';
COMMENT ON COLUMN analyst.daily_calls.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_calls.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_calls.contract IS 'Contract called or created';
COMMENT ON COLUMN analyst.daily_calls.role IS 'Role of the contract';
COMMENT ON COLUMN analyst.daily_calls.fn IS 'Function; null: contracts created';
COMMENT ON COLUMN analyst.daily_calls.calls IS 'Calls';
COMMENT ON COLUMN analyst.daily_calls.refused IS 'Refused calls among these';
COMMENT ON COLUMN analyst.daily_calls.callers IS 'Different source accounts of the calls that are attached (see archived); slow, name the days';

CREATE VIEW analyst.candles AS
  SELECT
    c.deployment,
    c.pool_id,
    chain.interval_name(c.seconds) AS length,
    c.at,
    c.open_price AS open,
    c.high_price AS high,
    c.low_price AS low,
    c.close_price AS close,
    c.swaps,
    c.volume_a AS volume_a_raw,
    analyst.scaled(c.volume_a) AS volume_a,
    c.volume_b AS volume_b_raw,
    analyst.scaled(c.volume_b) AS volume_b,
    c.fees_a AS fees_a_raw,
    analyst.scaled(c.fees_a) AS fees_a,
    c.fees_b AS fees_b_raw,
    analyst.scaled(c.fees_b) AS fees_b,
    c.volume_quote AS volume_usdc_raw,
    analyst.scaled(c.volume_quote) AS volume_usdc,
    c.fees_quote AS fees_usdc_raw,
    analyst.scaled(c.fees_quote) AS fees_usdc
  FROM rollup.candle AS c;
COMMENT ON VIEW analyst.candles IS 'Trade of a pool by interval; one without a trade has no row';
COMMENT ON COLUMN analyst.candles.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.candles.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.candles.length IS '1m, 5m, 15m, 1h, 4h, 1d or 1w';
COMMENT ON COLUMN analyst.candles.at IS 'Beginning of the interval, UTC';
COMMENT ON COLUMN analyst.candles.open IS 'Token A in B, by the pool''s entry after the first transaction that traded';
COMMENT ON COLUMN analyst.candles.high IS 'Highest price after a transaction that traded';
COMMENT ON COLUMN analyst.candles.low IS 'Lowest price after a transaction that traded';
COMMENT ON COLUMN analyst.candles.close IS 'Token A in B, after the last transaction that traded';
COMMENT ON COLUMN analyst.candles.swaps IS 'Trades';
COMMENT ON COLUMN analyst.candles.volume_a_raw IS 'Token A that trades moved, in or out, raw units';
COMMENT ON COLUMN analyst.candles.volume_a IS 'Token A that trades moved, in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.volume_b_raw IS 'Token B that trades moved, in or out, raw units';
COMMENT ON COLUMN analyst.candles.volume_b IS 'Token B that trades moved, in or out, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_a_raw IS 'Fees paid in token A, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.candles.fees_a IS 'Fees paid in token A, protocol''s part included, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_b_raw IS 'Fees paid in token B, protocol''s part included, raw units';
COMMENT ON COLUMN analyst.candles.fees_b IS 'Fees paid in token B, protocol''s part included, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.volume_usdc_raw IS 'Volume in USDC, raw units; null: the pool has none';
COMMENT ON COLUMN analyst.candles.volume_usdc IS 'Volume in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.candles.fees_usdc_raw IS 'Fees in USDC, those in the other token at their trade''s own rate, raw units';
COMMENT ON COLUMN analyst.candles.fees_usdc IS 'Fees in USDC, those in the other token at their trade''s own rate, 7 decimals applied';

CREATE VIEW analyst.price_candles AS
  SELECT
    p.deployment,
    p.asset,
    chain.interval_name(p.seconds) AS length,
    p.at,
    p.open_price AS open_raw,
    analyst.scaled(p.open_price) AS open,
    p.high_price AS high_raw,
    analyst.scaled(p.high_price) AS high,
    p.low_price AS low_raw,
    analyst.scaled(p.low_price) AS low,
    p.close_price AS close_raw,
    analyst.scaled(p.close_price) AS close,
    p.rounds,
    p.twap_price AS twap_close_raw,
    analyst.scaled(p.twap_price) AS twap_close
  FROM rollup.price AS p;
COMMENT ON VIEW analyst.price_candles IS 'Prices of a feed by interval; one without a round or a change of the average has no row';
COMMENT ON COLUMN analyst.price_candles.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.price_candles.asset IS 'Feed';
COMMENT ON COLUMN analyst.price_candles.length IS '1m, 5m, 15m, 1h, 4h, 1d or 1w';
COMMENT ON COLUMN analyst.price_candles.at IS 'Beginning of the interval, UTC';
COMMENT ON COLUMN analyst.price_candles.open_raw IS 'Median price of the first round, raw units; null: no round';
COMMENT ON COLUMN analyst.price_candles.open IS 'Median price of the first round, 7 decimals applied';
COMMENT ON COLUMN analyst.price_candles.high_raw IS 'Highest median price, raw units';
COMMENT ON COLUMN analyst.price_candles.high IS 'Highest median price, 7 decimals applied';
COMMENT ON COLUMN analyst.price_candles.low_raw IS 'Lowest median price, raw units';
COMMENT ON COLUMN analyst.price_candles.low IS 'Lowest median price, 7 decimals applied';
COMMENT ON COLUMN analyst.price_candles.close_raw IS 'Median price of the last round, raw units';
COMMENT ON COLUMN analyst.price_candles.close IS 'Median price of the last round, 7 decimals applied';
COMMENT ON COLUMN analyst.price_candles.rounds IS 'Rounds';
COMMENT ON COLUMN analyst.price_candles.twap_close_raw IS 'Time-weighted price at the end of the interval, raw units';
COMMENT ON COLUMN analyst.price_candles.twap_close IS 'Time-weighted price at the end of the interval, 7 decimals applied';

CREATE VIEW analyst.daily_protocol AS
  SELECT
    d.deployment,
    d.day,
    d.users,
    d.swaps,
    d.volume_quote AS volume_usdc_raw,
    analyst.scaled(d.volume_quote) AS volume_usdc,
    d.fees_quote AS fees_usdc_raw,
    analyst.scaled(d.fees_quote) AS fees_usdc,
    d.liquidations,
    h.total AS held_usdc_raw,
    analyst.scaled(h.total) AS held_usdc,
    analyst.scaled(h.pools) AS held_in_pools,
    analyst.scaled(h.collateral) AS held_as_collateral,
    analyst.scaled(h.stability) AS held_for_stability
  FROM rollup.day AS d JOIN rollup.held AS h ON h.deployment = d.deployment AND h.day = d.day;
COMMENT ON VIEW analyst.daily_protocol IS 'The protocol by day; a day without activity has no row';
COMMENT ON COLUMN analyst.daily_protocol.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_protocol.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_protocol.users IS 'Different addresses that traded, gave or took liquidity, used a vault or the stability pool';
COMMENT ON COLUMN analyst.daily_protocol.swaps IS 'Trades';
COMMENT ON COLUMN analyst.daily_protocol.volume_usdc_raw IS 'Volume of pools with USDC, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.volume_usdc IS 'Volume of pools with USDC, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.fees_usdc_raw IS 'Fees of pools with USDC, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.fees_usdc IS 'Fees of pools with USDC, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.liquidations IS 'Liquidations of vaults';
COMMENT ON COLUMN analyst.daily_protocol.held_usdc_raw IS 'Value held by the protocol at the close of the day, in USDC, raw units';
COMMENT ON COLUMN analyst.daily_protocol.held_usdc IS 'Value held by the protocol at the close of the day, in USDC, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_protocol.held_in_pools IS 'Part in pools: twice the USDC of pools with USDC';
COMMENT ON COLUMN analyst.daily_protocol.held_as_collateral IS 'Part held as collateral: the vault engine''s collateral at the feed of its symbol';
COMMENT ON COLUMN analyst.daily_protocol.held_for_stability IS 'Part held as deposits in the stability pool';

CREATE VIEW analyst.daily_liquidity AS
  SELECT
    p.deployment,
    p.day,
    p.pool_id,
    p.traders,
    p.additions,
    p.removals,
    p.claims,
    analyst.scaled(p.added_a) AS added_a,
    analyst.scaled(p.added_b) AS added_b,
    analyst.scaled(p.removed_a) AS removed_a,
    analyst.scaled(p.removed_b) AS removed_b,
    analyst.scaled(p.claimed_a) AS claimed_a,
    analyst.scaled(p.claimed_b) AS claimed_b,
    analyst.scaled(c.amount) AS reserve_a,
    analyst.scaled(c.amount_b) AS reserve_b
  FROM rollup.pool_day AS p
    LEFT JOIN rollup.closing AS c ON c.deployment = p.deployment AND c.what = 'pool' AND c.name = p.pool_id AND c.day = p.day;
COMMENT ON VIEW analyst.daily_liquidity IS 'Traders and liquidity of a pool by day; trade is in daily_pools and candles';
COMMENT ON COLUMN analyst.daily_liquidity.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_liquidity.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_liquidity.pool_id IS 'Pool';
COMMENT ON COLUMN analyst.daily_liquidity.traders IS 'Different traders';
COMMENT ON COLUMN analyst.daily_liquidity.additions IS 'Times that liquidity was added';
COMMENT ON COLUMN analyst.daily_liquidity.removals IS 'Times that liquidity was removed';
COMMENT ON COLUMN analyst.daily_liquidity.claims IS 'Times that fees were claimed';
COMMENT ON COLUMN analyst.daily_liquidity.added_a IS 'Token A added, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.added_b IS 'Token B added, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.removed_a IS 'Token A removed, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.removed_b IS 'Token B removed, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.claimed_a IS 'Fees claimed in token A, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.claimed_b IS 'Fees claimed in token B, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.reserve_a IS 'Book reserve of token A at the close of the day, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_liquidity.reserve_b IS 'Book reserve of token B at the close of the day, 7 decimals applied';

CREATE VIEW analyst.daily_closings AS
  SELECT
    c.deployment,
    c.day,
    c.what,
    c.name,
    c.amount AS amount_raw,
    analyst.scaled(c.amount) AS amount,
    c.amount_b AS amount_b_raw,
    analyst.scaled(c.amount_b) AS amount_b,
    c.ledger
  FROM rollup.closing AS c;
COMMENT ON VIEW analyst.daily_closings IS 'The last values of a day: holdings, debts, prices; a day without a change has no row';
COMMENT ON COLUMN analyst.daily_closings.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.daily_closings.day IS 'Day, UTC';
COMMENT ON COLUMN analyst.daily_closings.what IS 'pool: reserves; debt: of a market; stability: total deposits; collateral: the engine''s balance of a token; price: a feed';
COMMENT ON COLUMN analyst.daily_closings.name IS 'Pool, market, nothing, token contract, feed';
COMMENT ON COLUMN analyst.daily_closings.amount_raw IS 'Amount (a pool: of token A; a feed: its time-weighted price), raw units';
COMMENT ON COLUMN analyst.daily_closings.amount IS 'The same, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_closings.amount_b_raw IS 'A pool''s reserve of token B, raw units';
COMMENT ON COLUMN analyst.daily_closings.amount_b IS 'A pool''s reserve of token B, 7 decimals applied';
COMMENT ON COLUMN analyst.daily_closings.ledger IS 'Ledger of the last change';

CREATE VIEW analyst.archived AS
  SELECT a.deployment, a.from_ledger, a.end_ledger - 1 AS to_ledger, a.detached_at
  FROM chain.archive AS a;
COMMENT ON VIEW analyst.archived IS 'Ranges of ledgers with archived events, calls and transactions: views of these leave them out';
COMMENT ON COLUMN analyst.archived.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.archived.from_ledger IS 'First ledger of the range';
COMMENT ON COLUMN analyst.archived.to_ledger IS 'Last ledger of the range';
COMMENT ON COLUMN analyst.archived.detached_at IS 'Time of detaching';
