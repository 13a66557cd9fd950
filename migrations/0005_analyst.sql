-- 0005_analyst: the views that the role tidemark_analyst sees, and functions that give their rows as of a ledger. It sees
-- nothing else.
--
-- Each column has a comment. Amounts come raw and with their token's decimals applied. Jurisdictions are in no view. State is as
-- of the newest ledger (analyst.networks).
--
-- analyst.define makes a view of a query. Braces in the query stand for what views have in common:
--
--   {state.T a} {event.T a} {history.T a} {asof.T a}  a table, of the contract that the deployment file names for its role
--   {tokens a}                             analyst.tokens
--   {now a}                                the newest close time of each deployment
--   {event a}                              the place of an event, and the hash of its transaction
--   {amount NAME DECIMALS EXPRESSION}      NAME_raw in raw units, and NAME with so many decimals applied: a token's, a column
--   {price NAME EXPRESSION}                the same of a price of the oracle, with its 7 decimals
--   {quote a}                              the decimals of USDC in each deployment
--   {collateral a}                         the decimals that all tokens of the list of collateral have
--
-- If the query reads {state.T}, define makes a function NAME_as_of too. There {state.T}, {tokens} and {now} are as of a ledger.

-- A table of a role is joined to the contract that the deployment file names for the role. The select without columns is one
-- row, which the planner drops; the condition stays. It stands at the table, so that it holds under outer joins too. Tables
-- of tokens have no condition, because a deployment has several tokens.
CREATE FUNCTION analyst.define_tables(query text) RETURNS text LANGUAGE sql AS $define$
  SELECT regexp_replace(regexp_replace(query,
    '\{(state|event|history|asof)\.(liquidity_pool|synthetic_engine|stability_pool|compliance_registry|partner_registry'
      '|earnings_distributor|oracle|dao_governance)(\w+) (\w+)\}',
    '(\1.\2\3 AS \4 JOIN (SELECT) AS \4_bound ON (\4.deployment, \4.contract) IN'
      ' (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = ''\2''))', 'g'),
    '\{(state|event|history|asof)\.(\w+) (\w+)\}', '\1.\2 AS \3', 'g')
$define$;

-- The hash is looked up only where it is asked for.
CREATE FUNCTION analyst.define_now(query text) RETURNS text LANGUAGE sql AS $define$
  SELECT analyst.define_tables(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(query,
    '\{event (\w+)\}', '\1.deployment, \1.ledger, \1.tx AS tx_order, \1.op AS op_order, \1.event AS event_order, \1.closed_at,'
      ' (SELECT encode(t.hash, ''hex'') FROM chain.tx AS t'
      ' WHERE t.deployment = \1.deployment AND t.ledger = \1.ledger AND t.tx = \1.tx) AS tx_hash', 'g'),
    '\{amount (\w+) ([\w.]+) ([^}]+)\}', '\3 AS \1_raw, analyst.amount(\3, \2)::numeric(38,18) AS \1', 'g'),
    '\{price (\w+) ([^}]+)\}', '\2 AS \1_raw, analyst.scaled(\2, 7) AS \1', 'g'),
    '\{tokens (\w+)\}', 'analyst.tokens AS \1', 'g'),
    '\{now (\w+)\}', 'chain.cursor AS \1', 'g'))
$define$;

CREATE FUNCTION analyst.define_units(query text) RETURNS text LANGUAGE sql AS $define$
  SELECT regexp_replace(regexp_replace(query,
    '\{quote (\w+)\}', '(SELECT k.deployment, u.decimals FROM chain.quote AS k'
      ' LEFT JOIN {tokens u} ON u.deployment = k.deployment AND u.token = k.token) AS \1', 'g'),
    '\{collateral (\w+)\}', '(SELECT k.deployment, CASE WHEN count(*) = count(u.decimals) AND min(u.decimals) = max(u.decimals)'
      ' THEN min(u.decimals) END AS decimals FROM {state.synthetic_engine_collateral_allowed k}'
      ' LEFT JOIN {tokens u} ON u.deployment = k.deployment AND u.token = k.token GROUP BY k.deployment) AS \1', 'g')
$define$;

-- The CTE asked has the deployment and the ledger. Keys that exist now are in state, keys that were removed later in history.
-- A token that is followed from a later ledger on was not there.
CREATE FUNCTION analyst.define_as_of(query text) RETURNS text LANGUAGE sql AS $define$
  SELECT analyst.define_now(replace(replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(query,
    '\{tokens (\w+)\}', 'analyst.tokens_as_of(@ledger, @deployment) AS \1', 'g'),
    '\{now (\w+)\}', '(SELECT l.deployment, l.closed_at FROM chain.ledger AS l'
      ' WHERE l.deployment = @deployment AND l.ledger = @ledger) AS \1', 'g'),
    '\{state\.((?:synth_token|stellar_asset)\w+) (\w+)\}', '(SELECT o.* FROM {state.\1 o}'
      ' WHERE NOT chain.followed_after(o.deployment, o.contract, @ledger)) AS \2', 'g'),
    '\{state\.(\w+) (\w+)\}', '(SELECT v.*'
      ' FROM (SELECT s.key_hash FROM {state.\1 s} WHERE s.deployment = @deployment'
      ' UNION SELECT g.key_hash FROM {history.\1 g} WHERE g.deployment = @deployment AND g.removed AND g.ledger > @ledger) AS k'
      ' CROSS JOIN LATERAL (SELECT h.* FROM {asof.\1 h}'
      ' WHERE h.deployment = @deployment AND h.key_hash = k.key_hash AND h.ledger <= @ledger'
      ' ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v'
      ' WHERE NOT v.removed) AS \2', 'g'),
    '@deployment', '(SELECT a.deployment FROM asked AS a)'), '@ledger', '(SELECT a.ledger FROM asked AS a)'))
$define$;

-- Programs that read a numeric without a precision guess one, and of more than 38 digits many make a floating-point number, leave the
-- column out or cut its values. So each has 38 digits at most. A whole number that needs more, as an i128 may, is null, and its digits are
-- in the column NAME_text beside it, which is null otherwise. A sum or a quotient with decimals that needs more is null.
CREATE FUNCTION analyst.fit(value numeric, digits integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN abs(value) < power(10::numeric, digits) THEN value END;
-- Digits that a numeric(38,18) cannot hold are never rounded away.
CREATE FUNCTION analyst.amount(raw numeric, decimals integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN decimals BETWEEN 0 AND 38 AND abs(raw) < ('1e' || (20 + decimals)::text)::numeric
      AND mod(raw, ('1e' || greatest(decimals - 18, 0)::text)::numeric) = 0 THEN analyst.scaled(raw, decimals) END;
COMMENT ON FUNCTION analyst.amount(numeric, integer) IS
  'raw units with the decimals applied; null: these are not known, or it has more than 20 digits before the point or 18 behind it';

COMMENT ON FUNCTION analyst.fit(numeric, integer) IS 'a value of at most so many digits before the decimal point; null: it has more';

-- The columns of a query x that is like the view `probe`, each with its complete type.
CREATE FUNCTION analyst.define_columns(probe regclass) RETURNS text LANGUAGE sql AS $define$
  SELECT string_agg(CASE WHEN t.name = 'numeric(39,0)' OR t.name = 'numeric' AND a.attname ~ '_(raw|bps)$'
      THEN format('analyst.fit(round(x.%1$I), 38)::numeric(38,0) AS %1$I, CASE WHEN abs(round(x.%1$I)) >= 1e38 THEN round(x.%1$I)::text END AS %2$I',
        a.attname, a.attname || '_text')
    WHEN t.name = 'numeric' THEN format('analyst.fit(x.%1$I, 31)::numeric(38,7) AS %1$I', a.attname)
    ELSE format('x.%I', a.attname) END, ', ' ORDER BY a.attnum)
  FROM pg_attribute AS a CROSS JOIN LATERAL format_type(a.atttypid, a.atttypmod) AS t(name) WHERE a.attrelid = probe AND a.attnum > 0
$define$;

-- texts: comments of columns, by name. The comment of an amount applies to both of its columns, unless it names the raw one.
CREATE FUNCTION analyst.define_comment(name text, names text[], texts jsonb) RETURNS text LANGUAGE sql AS $define$
  SELECT coalesce(texts ->> name || CASE WHEN name || '_raw' = ANY (names) AND NOT texts ? (name || '_raw') THEN ', decimals applied' ELSE '' END,
    texts ->> substring(name, '^(.*)_raw$') || ', raw units',
    CASE WHEN name ~ '_text$' THEN 'All digits of ' || left(name, -5) || ' where it has more than 38; null: it has not' END,
    CASE name WHEN 'deployment' THEN 'Deployment: one set of contracts on one network'
      WHEN 'ledger' THEN CASE WHEN 'closed_at' = ANY (names) THEN 'Ledger sequence' ELSE 'Ledger of the last change' END
      WHEN 'tx_order' THEN 'Order of the transaction in its ledger, from 1'
      WHEN 'op_order' THEN 'Operation in the transaction, from 0'
      WHEN 'event_order' THEN 'Event in the operation, from 0'
      WHEN 'closed_at' THEN 'Close time of the ledger'
      WHEN 'tx_hash' THEN 'Transaction hash; null: the index leaves transactions out'
      WHEN 'changed_at' THEN 'Close time of that ledger' END)
$define$;

-- columns: a line with name and comment for each column whose meaning this view alone has.
CREATE PROCEDURE analyst.define(name text, about text, query text, columns text) LANGUAGE plpgsql AS $define$
DECLARE
  typed text;
  names text[];
  texts jsonb := (SELECT jsonb_object_agg(l.part[1], l.part[2])
    FROM regexp_split_to_table(columns, '\n') AS r(line) CROSS JOIN LATERAL regexp_match(r.line, '^ *(\w+) +(.+)$') AS l(part)
    WHERE l.part IS NOT NULL);
  field text;
  past boolean := query LIKE '%{state.%';
BEGIN
  query := analyst.define_units(query);
  EXECUTE format('CREATE VIEW analyst.probe AS %s', analyst.define_now(query));
  typed := analyst.define_columns('analyst.probe');
  DROP VIEW analyst.probe;
  EXECUTE format('CREATE VIEW analyst.%I AS SELECT %s FROM (%s) AS x', name, typed, analyst.define_now(query));
  EXECUTE format('COMMENT ON VIEW analyst.%I IS %L', name, about);
  names := (SELECT array_agg(a.attname) FROM pg_attribute AS a WHERE a.attrelid = format('analyst.%I', name)::regclass AND a.attnum > 0);
  FOREACH field IN ARRAY names || ARRAY(SELECT jsonb_object_keys(texts)) LOOP
    EXECUTE format('COMMENT ON COLUMN analyst.%I.%I IS %L', name, field, analyst.define_comment(field, names, texts));
  END LOOP;
  IF past THEN
    EXECUTE format('CREATE FUNCTION analyst.%1$I(ledger integer, deployment integer DEFAULT NULL) RETURNS SETOF analyst.%2$I'
      ' LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp BEGIN ATOMIC'
      ' WITH asked AS MATERIALIZED (SELECT a.deployment, a.ledger FROM chain.asked($1, $2) AS a) SELECT %3$s FROM (%4$s) AS x; END',
      name || '_as_of', name, typed, analyst.define_as_of(query));
    EXECUTE format('COMMENT ON FUNCTION analyst.%I IS %L', name || '_as_of',
      format('rows of analyst.%s as of the close of a ledger, of the current deployment if none is named', name));
  END IF;
END $define$;

CALL analyst.define('networks', 'The deployments in this database', $query$
  SELECT
    d.id AS deployment,
    d.passphrase AS network,
    d.epoch,
    d.first_ledger,
    c.ledger,
    c.closed_at,
    (SELECT o.ledger + 1 FROM chain.start AS o WHERE o.deployment = d.id) AS history_from
  FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id
$query$, $columns$
    network       Network passphrase
    epoch         Reset of that network, counted from 0
    first_ledger  First ledger of the protocol, 0 when not known
    ledger        Newest ledger indexed
    closed_at     Close time of that ledger: these views are as of then
    history_from  The index began with the state of a checkpoint: events, versions and sums begin with this ledger; null: there is no such limit
$columns$);

CALL analyst.define('current_deployment', 'The deployment that was added last, of those with ledgers: one row', $query$
  SELECT n.deployment, n.network, n.epoch
  FROM analyst.networks AS n
  WHERE n.ledger > 0
  ORDER BY n.deployment DESC
  LIMIT 1
$query$, $columns$
    network  Network passphrase
    epoch    Reset of that network, counted from 0
$columns$);

-- If ledgers are missing before a ledger, the state as of it is not known.
CREATE FUNCTION chain.asked(asked_ledger integer, asked_deployment integer) RETURNS TABLE (deployment smallint, ledger integer)
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first integer;
BEGIN
  deployment := coalesce(asked_deployment, (SELECT c.deployment FROM analyst.current_deployment AS c));
  ledger := asked_ledger;
  first := (SELECT min(v.from_ledger) FROM chain.coverage AS v WHERE v.deployment = asked.deployment);
  IF NOT EXISTS (SELECT FROM chain.coverage AS v
      WHERE v.deployment = asked.deployment AND v.from_ledger = first AND asked.ledger BETWEEN v.from_ledger AND v.to_ledger) THEN
    RAISE EXCEPTION 'deployment % is not indexed without a gap up to ledger %', deployment, asked_ledger
      USING HINT = 'analyst.networks has the first and the newest ledger of each deployment';
  END IF;
  RETURN NEXT;
END $$;
COMMENT ON FUNCTION chain.asked(integer, integer) IS 'the deployment, if null the current one, and the ledger; fails unless all is indexed up to it';

CALL analyst.define('contracts', 'The deployment file''s contracts by role, and the tokens that the chain names', $query$
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
  ) AS x WHERE x.n = 1
$query$, $columns$
    contract  Contract address
    name      Name in the deployment file
    role      Role: liquidity_pool, synthetic_engine, …, synth_token, usdc, xlm, wallet
$columns$);

CALL analyst.define('tokens', 'Tokens by contract address: synthetic ones, USDC, the native asset, further collateral', $query$
  SELECT
    t.deployment,
    t.token,
    t.symbol,
    t.name,
    t.kind,
    t.decimals
  FROM (
    SELECT s.deployment, s.contract AS token, chain.token_text(s.symbol, s.metadata, 'symbol') AS symbol,
      chain.token_text(s.name, s.metadata, 'name') AS name, 'synthetic' AS kind, chain.token_decimals(s.decimals, s.metadata) AS decimals
    FROM {state.synth_token_instance s}
    UNION ALL
    SELECT s.deployment, s.contract, CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM'
      ELSE s.metadata ->> 'symbol' END, s.metadata ->> 'name', 'stellar', chain.decimals(s.metadata ->> 'decimal')
    FROM {state.stellar_asset_instance s}
  ) AS t
$query$, $columns$
    token     Token contract
    symbol    Symbol, as the contract says it
    name      Name, as the contract says it; bytes that are not text in hexadecimal
    kind      synthetic or stellar
    decimals  Decimals, as the contract says them; null: none, or above 38: amounts are in raw units alone
$columns$);

CALL analyst.define('pools', 'Pools of the automated market maker, current', $query$
  SELECT
    p.deployment,
    p.pool_id,
    p.token_a,
    a.symbol AS token_a_symbol,
    p.token_b,
    b.symbol AS token_b_symbol,
    {amount reserve_a a.decimals p.reserve_a},
    {amount reserve_b b.decimals p.reserve_b},
    analyst.scaled(chain.price(p.reserve_b, b.decimals, p.reserve_a, a.decimals), 7) AS price_a_in_b,
    p.fee_tier AS fee_tier_bps,
    p.total_shares,
    {amount volume_a a.decimals p.cumulative_vol_a},
    {amount volume_b b.decimals p.cumulative_vol_b},
    p.paused,
    p.ledger,
    p.closed_at AS changed_at,
    a.decimals AS token_a_decimals,
    b.decimals AS token_b_decimals
  FROM {state.liquidity_pool_pool p}
    LEFT JOIN {tokens a} ON a.deployment = p.deployment AND a.token = p.token_a
    LEFT JOIN {tokens b} ON b.deployment = p.deployment AND b.token = p.token_b
$query$, $columns$
    pool_id           Pool
    token_a           Token A, contract address
    token_a_symbol    Token A, symbol
    token_b           Token B, contract address
    token_b_symbol    Token B, symbol
    reserve_a         Book reserve of token A
    reserve_b         Book reserve of token B
    price_a_in_b      Spot price of A in B, in whole tokens, truncated to 7 decimals; the contract's own price divides raw units
    fee_tier_bps      Swap fee in basis points
    total_shares      Shares, the 1000 burned ones included
    volume_a          Token A sold so far
    volume_b          Token B sold so far
    paused            Trading paused
    token_a_decimals  Token A, decimals
    token_b_decimals  Token B, decimals
$columns$);

CALL analyst.define('swaps', 'Trades, with the names of pool and tokens', $query$
  SELECT
    {event s},
    s.trader,
    s.pool_id,
    s.a_to_b,
    CASE WHEN s.a_to_b THEN p.token_a ELSE p.token_b END AS token_in,
    CASE WHEN s.a_to_b THEN p.token_a_symbol ELSE p.token_b_symbol END AS token_in_symbol,
    CASE WHEN s.a_to_b THEN p.token_b ELSE p.token_a END AS token_out,
    CASE WHEN s.a_to_b THEN p.token_b_symbol ELSE p.token_a_symbol END AS token_out_symbol,
    {amount amount_in u.sold s.amount_in},
    {amount amount_out u.bought s.amount_out},
    round(s.amount_out * ('1e' || (u.sold - u.bought)::text)::numeric / nullif(s.amount_in, 0), 7) AS price,
    nullif(s.partner_id, 0) AS partner_id
  FROM {event.liquidity_pool_swap s}
    LEFT JOIN analyst.pools AS p ON p.deployment = s.deployment AND p.pool_id = s.pool_id
    CROSS JOIN LATERAL (SELECT CASE WHEN s.a_to_b THEN p.token_a_decimals ELSE p.token_b_decimals END AS sold,
      CASE WHEN s.a_to_b THEN p.token_b_decimals ELSE p.token_a_decimals END AS bought) AS u
$query$, $columns$
    trader            Account that traded
    pool_id           Pool
    a_to_b            True: sold token A for token B
    token_in          Token sold, contract address
    token_in_symbol   Token sold, symbol
    token_out         Token bought, contract address
    token_out_symbol  Token bought, symbol
    amount_in         Sold, fee included
    amount_out        Bought
    price             Bought per unit sold, in whole tokens, fee included
    partner_id        Partner that brought the trade; null when untagged
$columns$);

CALL analyst.define('traders', 'Trade of each address by pool and token sold: sums of swaps', $query$
  SELECT
    x.deployment,
    x.trader,
    x.pool_id,
    CASE WHEN x.a_to_b THEN p.token_a ELSE p.token_b END AS token_in,
    CASE WHEN x.a_to_b THEN p.token_a_symbol ELSE p.token_b_symbol END AS token_in_symbol,
    x.swaps,
    {amount sold u.decimals x.sold},
    x.first_at,
    x.last_at
  FROM rollup.trader AS x
    LEFT JOIN analyst.pools AS p ON p.deployment = x.deployment AND p.pool_id = x.pool_id
    CROSS JOIN LATERAL (SELECT CASE WHEN x.a_to_b THEN p.token_a_decimals ELSE p.token_b_decimals END AS decimals) AS u
$query$, $columns$
    trader           Address that traded
    pool_id          Pool
    token_in         Token sold, contract address
    token_in_symbol  Token sold, symbol
    swaps            Trades
    sold             Sold, fees included
    first_at         Close time of the first trade
    last_at          Close time of the last trade
$columns$);

CALL analyst.define('liquidity_changes', 'Liquidity added and removed, fees claimed', $query$
  SELECT
    {event e},
    e.kind,
    e.provider,
    e.pool_id,
    {amount amount_a p.token_a_decimals e.amount_a},
    {amount amount_b p.token_b_decimals e.amount_b},
    e.shares::numeric(39,0) AS shares
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'add' AS kind, provider, pool_id, amount_a,
      amount_b, shares
    FROM {event.liquidity_pool_add_liquidity e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'remove', provider, pool_id, out_a, out_b, shares
    FROM {event.liquidity_pool_remove_liquidity e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'claim', provider, pool_id, claim_a, claim_b, NULL
    FROM {event.liquidity_pool_claim e}
  ) AS e
    LEFT JOIN analyst.pools AS p ON p.deployment = e.deployment AND p.pool_id = e.pool_id
$query$, $columns$
    kind      add, remove or claim
    provider  Liquidity provider
    pool_id   Pool
    amount_a  Token A, paid in or out
    amount_b  Token B, paid in or out
    shares    Shares minted or burned; null for a claim
$columns$);

CALL analyst.define('lp_positions', 'Current liquidity positions, with what they could claim and take out', $query$
  SELECT
    l.deployment,
    l.pool_id,
    l.provider,
    l.shares,
    analyst.fit(round(l.shares / nullif(p.total_shares, 0), 9), 29)::numeric(38,9) AS share_of_pool,
    {amount underlying_a a.decimals div(l.shares * p.reserve_a, nullif(p.total_shares, 0))},
    {amount underlying_b b.decimals div(l.shares * p.reserve_b, nullif(p.total_shares, 0))},
    {amount claimable_a a.decimals l.pending_a + div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000)},
    {amount claimable_b b.decimals l.pending_b + div((p.fee_b_accum - l.fee_b_debt) * l.shares, 1000000000000)},
    analyst.at(l.deposited_at) AS deposited_at,
    l.ledger,
    l.closed_at AS changed_at
  FROM {state.liquidity_pool_lp_pos l}
    LEFT JOIN {state.liquidity_pool_pool p} ON p.deployment = l.deployment AND p.contract = l.contract
      AND p.pool_id = l.pool_id
    LEFT JOIN {tokens a} ON a.deployment = p.deployment AND a.token = p.token_a
    LEFT JOIN {tokens b} ON b.deployment = p.deployment AND b.token = p.token_b
$query$, $columns$
    pool_id        Pool
    provider       Owner of the position
    shares         Shares
    share_of_pool  Part of the pool's shares, 0 to 1
    underlying_a   Token A that the shares would take out
    underlying_b   Token B that the shares would take out
    claimable_a    Fees in token A, claimable
    claimable_b    Fees in token B, claimable
    deposited_at   First deposit
$columns$);

CALL analyst.define('markets', 'Markets of the vault engine, with their debt and their prices', $query$
  SELECT
    m.deployment,
    m.symbol AS market,
    m.token,
    m.oracle_symbol AS feed,
    m.coll_oracle_sym AS collateral_feed,
    analyst.scaled(f.twap_price, 7) AS price,
    analyst.scaled(c.twap_price, 7) AS collateral_price,
    m.min_coll_ratio AS min_collateral_ratio_bps,
    m.liq_ratio AS liquidation_ratio_bps,
    m.liq_penalty AS liquidation_penalty_bps,
    m.stab_fee_bps AS mint_fee_millionths,
    {amount debt t.decimals coalesce(d.value, 0)},
    {amount debt_ceiling t.decimals m.debt_ceiling},
    m.enabled,
    m.ledger,
    m.closed_at AS changed_at,
    t.decimals AS token_decimals
  FROM {state.synthetic_engine_asset_config m}
    LEFT JOIN {state.synthetic_engine_debt_total d} ON d.deployment = m.deployment
      AND d.contract = m.contract AND d.synth = m.symbol
    LEFT JOIN {state.oracle_feed f} ON f.deployment = m.deployment AND f.asset = m.oracle_symbol
    LEFT JOIN {state.oracle_feed c} ON c.deployment = m.deployment AND c.asset = m.coll_oracle_sym
    LEFT JOIN {tokens t} ON t.deployment = m.deployment AND t.token = m.token
$query$, $columns$
    market                    Market: symbol of the synthetic asset
    token                     Synthetic token, contract address
    feed                      Feed that prices the synthetic asset
    collateral_feed           Feed that prices the collateral, whatever token it is
    price                     Time-weighted price of the synthetic asset
    collateral_price          Time-weighted price of the collateral
    min_collateral_ratio_bps  Least ratio to mint or withdraw, basis points
    liquidation_ratio_bps     Liquidatable below this ratio, basis points
    liquidation_penalty_bps   Liquidation penalty, basis points
    mint_fee_millionths       Mint fee, millionths of the amount
    debt                      Debt of all its vaults
    debt_ceiling              Most debt allowed
    enabled                   Open for new debt
    token_decimals            Synthetic token, decimals
$columns$);

CALL analyst.define('vaults', 'Current vaults, with the inputs of their ratio, at the newest close time', $query$
  SELECT
    v.deployment,
    v.key_owner AS owner,
    v.synth AS market,
    v.collateral_tok AS collateral_token,
    t.symbol AS collateral_token_symbol,
    {amount collateral t.decimals v.collateral},
    {amount debt d.decimals v.debt},
    m.coll_oracle_sym AS collateral_feed,
    analyst.scaled(x.collateral_price, 7) AS collateral_price,
    analyst.at(x.collateral_price_ts) AS collateral_price_at,
    m.oracle_symbol AS feed,
    analyst.scaled(x.synth_price, 7) AS synth_price,
    analyst.at(x.synth_price_ts) AS synth_price_at,
    x.priced,
    CASE WHEN v.debt > 0 THEN x.ratio END AS ratio_bps,
    m.min_coll_ratio AS min_collateral_ratio_bps,
    m.liq_ratio AS liquidation_ratio_bps,
    chain.vault_state(v.debt, x.ratio, m.liq_ratio, m.min_coll_ratio) AS status,
    analyst.at(v.opened_at) AS opened_at,
    v.ledger,
    v.closed_at AS changed_at
  FROM {state.synthetic_engine_vault v}
    LEFT JOIN {state.synthetic_engine_asset_config m} ON m.deployment = v.deployment
      AND m.contract = v.contract AND m.symbol = v.synth
    LEFT JOIN {now n} ON n.deployment = v.deployment
    LEFT JOIN {state.oracle_feed f} ON f.deployment = v.deployment AND f.asset = m.oracle_symbol
    LEFT JOIN {state.oracle_feed c} ON c.deployment = v.deployment AND c.asset = m.coll_oracle_sym
    LEFT JOIN {tokens t} ON t.deployment = v.deployment AND t.token = v.collateral_tok
    LEFT JOIN {tokens d} ON d.deployment = m.deployment AND d.token = m.token
    CROSS JOIN LATERAL (
      SELECT c.twap_price AS collateral_price, c.twap_ts AS collateral_price_ts,
        f.twap_price AS synth_price, f.twap_ts AS synth_price_ts,
        coalesce(chain.unix(n.closed_at) - c.twap_ts <= 600
          AND chain.unix(n.closed_at) - f.twap_ts <= 600, false) AS priced
    ) AS y
    CROSS JOIN LATERAL (
      SELECT y.*, CASE WHEN y.priced OR v.debt = 0 THEN chain.vault_ratio(v.collateral, v.debt, y.collateral_price, y.synth_price) END AS ratio
    ) AS x
$query$, $columns$
    owner                     Owner
    market                    Market
    collateral_token          Collateral token, contract address
    collateral_token_symbol   Collateral token, symbol
    collateral                Collateral
    debt                      Debt
    collateral_feed           Feed that prices the collateral, whatever token it is
    collateral_price          Time-weighted price of the collateral
    collateral_price_at       When that price was set
    feed                      Feed that prices the synthetic asset
    synth_price               Time-weighted price of the synthetic asset
    synth_price_at            When that price was set
    priced                    Both prices are there and not older than 600 s
    ratio_bps                 Collateral ratio, basis points, as the contract computes it; null without debt or price
    min_collateral_ratio_bps  Least ratio to mint or withdraw, basis points
    liquidation_ratio_bps     Liquidatable below this ratio, basis points
    status                    open (no debt), active, at_risk (below the least ratio), liquidatable, unpriced
    opened_at                 Opening
$columns$);

CALL analyst.define('vault_events', 'Events of vaults, in one list', $query$
  SELECT
    {event e},
    e.kind,
    e.owner,
    e.synth_asset AS market,
    {amount amount u.decimals e.amount}
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'open' AS kind, owner, synth_asset, collateral_amount AS amount,
      collateral_token, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_open e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'deposit', owner, synth_asset, amount, NULL, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_deposit e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'mint', owner, synth_asset, amount, NULL, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_mint e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'burn', owner, synth_asset, amount, NULL, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_burn e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'withdraw', owner, synth_asset, amount, NULL, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_withdraw e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'liquidate', owner, synth_asset, collateral_seized, NULL, contract_key, synth_asset_key, owner_key
    FROM {event.synthetic_engine_liquidate e}
  ) AS e
    LEFT JOIN analyst.markets AS m ON m.deployment = e.deployment AND m.market = e.synth_asset
    CROSS JOIN LATERAL (SELECT CASE WHEN e.kind IN ('mint', 'burn') THEN m.token_decimals
      ELSE (SELECT t.decimals FROM analyst.tokens AS t WHERE t.deployment = e.deployment AND t.token = coalesce(e.collateral_token,
        (SELECT p.collateral_tok FROM (SELECT h.key_hash FROM {history.synthetic_engine_vault h}
            WHERE h.deployment = e.deployment AND h.ledger = e.ledger AND h.tx = e.tx AND h.contract_key = e.contract_key
              AND h.synth_key = e.synth_asset_key AND h.key_owner_key = e.owner_key LIMIT 1) AS k
          CROSS JOIN LATERAL (SELECT h.collateral_tok FROM {history.synthetic_engine_vault h}
            WHERE h.deployment = e.deployment AND h.key_hash = k.key_hash AND h.ledger <= e.ledger
              AND (h.ledger, h.tx) <= (e.ledger, e.tx) AND NOT h.removed
            ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS p))) END AS decimals) AS u
$query$, $columns$
    kind    open, deposit, mint, burn, withdraw or liquidate
    owner   Owner of the vault
    market  Market
    amount  Collateral (open, deposit, withdraw, liquidate) or debt (mint, burn)
$columns$);

CALL analyst.define('liquidations', 'Liquidations: the event and, from the burn and the transfer beside it, the liquidator, the debt repaid and the token seized', $query$
  SELECT
    {event l},
    l.owner,
    l.synth_asset AS market,
    b.from_address AS liquidator,
    {amount debt_repaid y.decimals b.amount},
    g.contract AS collateral_token,
    t.symbol AS collateral_token_symbol,
    {amount collateral_seized t.decimals l.collateral_seized}
  FROM {event.synthetic_engine_liquidate l}
    LEFT JOIN LATERAL (
      SELECT u.event, u.contract, u.from_address, u.amount
      FROM event.synth_token_burn AS u
      WHERE u.deployment = l.deployment AND u.ledger = l.ledger AND u.tx = l.tx AND u.op = l.op
        AND u.event < l.event
      ORDER BY u.event DESC LIMIT 1
    ) AS b ON true
    LEFT JOIN LATERAL (
      SELECT s.contract
      FROM event.stellar_asset_transfer AS s
      WHERE s.deployment = l.deployment AND s.ledger = l.ledger AND s.tx = l.tx AND s.op = l.op
        AND s.event = b.event + 1 AND s.from_address = l.contract
      UNION ALL
      SELECT s.contract
      FROM event.synth_token_transfer AS s
      WHERE s.deployment = l.deployment AND s.ledger = l.ledger AND s.tx = l.tx AND s.op = l.op
        AND s.event = b.event + 1 AND s.from_address = l.contract
    ) AS g ON true
    LEFT JOIN analyst.tokens AS t ON t.deployment = l.deployment AND t.token = g.contract
    LEFT JOIN analyst.tokens AS y ON y.deployment = l.deployment AND y.token = b.contract
$query$, $columns$
    owner                    Owner of the vault
    market                   Market
    liquidator               Account that repaid the debt
    debt_repaid              Debt repaid: synthetic tokens burned from the liquidator
    collateral_token         Token seized, contract address; null: its transfers are not indexed
    collateral_token_symbol  Token seized, symbol
    collateral_seized        Collateral given to the liquidator, in that token
$columns$);

-- An array's index must be an integer; a u32 status need not be one.
CALL analyst.define('compliance', 'Current compliance records; jurisdictions are in no view', $query$
  SELECT
    r.deployment,
    r.address,
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(r.status, 99) + 1] AS status,
    analyst.at(r.expires_at) AS expires_at,
    r.expires_at <> 0 AND r.expires_at < chain.unix(n.closed_at) AS expired,
    f.address IS NOT NULL AS frozen,
    r.provider,
    r.reason,
    analyst.at(r.updated_at) AS updated_at,
    r.ledger
  FROM {state.compliance_registry_compliance_rec r}
    LEFT JOIN {now n} ON n.deployment = r.deployment
    LEFT JOIN {state.compliance_registry_frozen f} ON f.deployment = r.deployment
      AND f.contract = r.contract AND f.address = r.address
$query$, $columns$
    address     Person
    status      Stored status; a lapsed record still says Verified
    expires_at  End of validity; null is never
    expired     Lapsed at the newest close time
    frozen      Frozen
    provider    Provider that attested
    reason      Reason of the last change
    updated_at  Last change
$columns$);

CALL analyst.define('compliance_history', 'Every change of a person''s record or freeze, also those without an event', $query$
  SELECT
    h.deployment,
    h.ledger,
    h.tx AS tx_order,
    h.seq AS change_order,
    h.closed_at,
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t WHERE t.deployment = h.deployment AND t.ledger = h.ledger AND t.tx = h.tx) AS tx_hash,
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
    FROM {history.compliance_registry_compliance_rec r}
    UNION ALL
    SELECT f.deployment, f.ledger, f.tx, f.seq, f.closed_at, f.address,
      CASE WHEN f.removed THEN 'unfrozen' ELSE 'frozen' END, NULL, NULL, NULL, NULL
    FROM {history.compliance_registry_frozen f}
  ) AS h
$query$, $columns$
    change_order  Order of the change in its transaction
    address       Person
    what          record, frozen or unfrozen
    status        Stored status after the change; null for a freeze
    expires_at    End of validity; null is never
    provider      Provider that attested
    reason        Reason of the change
$columns$);

CALL analyst.define('attestations', 'Attestations and revocations as events', $query$
  SELECT
    {event e},
    e.kind,
    e.subject AS address,
    e.verifier AS provider
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'attest' AS kind, subject, verifier
    FROM {event.compliance_registry_attest e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'submit_attest', subject, provider
    FROM {event.compliance_registry_submit_attest e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'revoke', subject, verifier
    FROM {event.compliance_registry_revoke e}
  ) AS e
$query$, $columns$
    kind      attest, submit_attest or revoke
    address   Person
    provider  Verifier or provider
$columns$);

CALL analyst.define('partners', 'Partners, current', $query$
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
  FROM {state.partner_registry_partner p}
$query$, $columns$
    partner_id         Partner
    owner              Owner
    name               Name; bytes that are not text in hexadecimal
    revenue_share_bps  Share of the fees, basis points
    deployed_assets    The partner's assets, symbols
    active             Active
    registered_at      Registration
$columns$);

CALL analyst.define('revenue', 'Fees as the distributor received them, with their token', $query$
  SELECT
    {event r},
    r.sender,
    r.source,
    r.epoch,
    r.token,
    t.symbol AS token_symbol,
    {amount amount t.decimals r.amount}
  FROM {event.earnings_distributor_revenue_received r}
    LEFT JOIN analyst.tokens AS t ON t.deployment = r.deployment AND t.token = r.token
$query$, $columns$
    sender        Contract that paid
    source        swapfee, stabfee or liqfee
    epoch         Epoch of the distributor
    token         Token, contract address
    token_symbol  Token, symbol
    amount        Fee
$columns$);

CALL analyst.define('partner_revenue', 'Partners'' cuts with their token: that of the next fee received in the same operation', $query$
  SELECT
    {event f},
    f.partner_id,
    f.source,
    f.epoch,
    r.token,
    t.symbol AS token_symbol,
    {amount cut t.decimals f.partner_cut},
    {amount fee t.decimals r.amount}
  FROM {event.earnings_distributor_partner_revenue_forwarded f}
    LEFT JOIN LATERAL (
      SELECT u.token, u.amount
      FROM {event.earnings_distributor_revenue_received u}
      WHERE u.deployment = f.deployment AND u.ledger = f.ledger AND u.tx = f.tx AND u.op = f.op
        AND u.event > f.event
      ORDER BY u.event LIMIT 1
    ) AS r ON true
    LEFT JOIN analyst.tokens AS t ON t.deployment = f.deployment AND t.token = r.token
$query$, $columns$
    partner_id    Partner
    source        swapfee, stabfee or liqfee
    epoch         Epoch of the distributor
    token         Token, contract address
    token_symbol  Token, symbol
    cut           Partner's cut
    fee           Whole fee that the cut was taken from
$columns$);

CALL analyst.define('partner_revenue_per_token', 'Partners'' cuts by epoch and token: sums of partner_revenue', $query$
  SELECT
    r.deployment,
    r.partner_id,
    r.epoch::numeric(20,0) AS epoch,
    r.token,
    t.symbol AS token_symbol,
    r.forwards,
    {amount fees t.decimals r.fees},
    {amount cuts t.decimals r.amount}
  FROM rollup.partner_epoch_revenue AS r
    LEFT JOIN analyst.tokens AS t ON t.deployment = r.deployment AND t.token = r.token
$query$, $columns$
    partner_id    Partner
    epoch         Epoch of the distributor
    token         Token, contract address
    token_symbol  Token, symbol
    forwards      Number of cuts
    fees          Whole fees that the cuts were taken from
    cuts          Partner's cuts
$columns$);

CALL analyst.define('daily_partners', 'Trades and revenue that partners brought, by day and token', $query$
  SELECT
    deployment,
    day,
    partner_id,
    token,
    t.symbol AS token_symbol,
    coalesce(v.swaps, 0) AS swaps,
    {amount volume t.decimals coalesce(v.volume, 0)},
    coalesce(r.forwards, 0) AS forwards,
    {amount fees t.decimals coalesce(r.fees, 0)},
    {amount cuts t.decimals coalesce(r.amount, 0)}
  FROM rollup.partner_day_volume AS v FULL JOIN rollup.partner_day_revenue AS r USING (deployment, partner_id, day, token)
    LEFT JOIN analyst.tokens AS t USING (deployment, token)
$query$, $columns$
    day           Day, UTC
    partner_id    Partner
    token         Token, contract address
    token_symbol  Token, symbol
    swaps         Trades that sold the token
    volume        Sold in these, fees included
    forwards      Number of cuts
    fees          Whole fees that the cuts were taken from
    cuts          Partner's cuts
$columns$);

CALL analyst.define('revenue_per_token', 'Fees, partners'' cuts and the rest by epoch and token', $query$
  SELECT
    x.deployment,
    x.epoch::numeric(20,0) AS epoch,
    x.token,
    t.symbol AS token_symbol,
    {amount fees t.decimals x.fees},
    {amount partner_cuts t.decimals x.cuts},
    {amount protocol_part t.decimals x.fees - x.cuts}
  FROM (
    SELECT u.deployment, u.epoch, u.token, sum(u.fee) AS fees, sum(u.cut) AS cuts
    FROM (
      SELECT r.deployment, r.epoch, r.token, r.fees AS fee, 0 AS cut FROM rollup.revenue AS r
      UNION ALL
      SELECT c.deployment, c.epoch, c.token, 0, c.amount FROM rollup.partner_epoch_revenue AS c
    ) AS u
    GROUP BY u.deployment, u.epoch, u.token
  ) AS x
    LEFT JOIN analyst.tokens AS t ON t.deployment = x.deployment AND t.token = x.token
$query$, $columns$
    epoch          Epoch of the distributor
    token          Token, contract address
    token_symbol   Token, symbol
    fees           Fees received
    partner_cuts   Partners' cuts
    protocol_part  Fees less the cuts
$columns$);

CALL analyst.define('stability_pool', 'The stability pool''s current books', $query$
  SELECT
    s.deployment,
    {amount total_deposits q.decimals s.total_deposits},
    {amount collateral_gained g.decimals s.total_coll_gained},
    s.total_liq_count AS liquidations,
    s.p,
    s.sum_coll,
    s.epoch,
    s.scale,
    s.paused,
    s.ledger,
    s.closed_at AS changed_at
  FROM {state.stability_pool_state s}
    LEFT JOIN {quote q} ON q.deployment = s.deployment
    LEFT JOIN {collateral g} ON g.deployment = s.deployment
$query$, $columns$
    total_deposits     Deposits
    collateral_gained  Collateral gained so far
    liquidations       Liquidations absorbed
    p                  Product of losses, from 1e12
    sum_coll           Gain per unit of deposit, scaled by 1e12
    epoch              Epoch of the books
    scale              Scale of the books
    paused             Paused
$columns$);

CALL analyst.define('stability_deposits', 'Current deposits in the stability pool, computed as the contract does', $query$
  SELECT
    d.deployment,
    d.depositor,
    {amount initial q.decimals d.initial_value},
    {amount compounded q.decimals CASE WHEN d.snapshot_epoch = s.epoch
      THEN div(d.initial_value * div(s.p * 1000000000000, greatest(d.snapshot_p_value, 1)), 1000000000000)
      ELSE 0 END},
    {amount gain g.decimals div(d.initial_value * (s.sum_coll - d.snapshot_sum_coll), 1000000000000)},
    analyst.at(d.deposited_at) AS deposited_at,
    d.ledger,
    d.closed_at AS changed_at
  FROM {state.stability_pool_deposit d}
    LEFT JOIN {state.stability_pool_state s} ON s.deployment = d.deployment AND s.contract = d.contract
    LEFT JOIN {quote q} ON q.deployment = d.deployment
    LEFT JOIN {collateral g} ON g.deployment = d.deployment
$query$, $columns$
    depositor     Depositor
    initial       Deposit at the snapshot
    compounded    Deposit after losses
    gain          Gain not claimed; may be negative after a new epoch, as in the contract
    deposited_at  First deposit
$columns$);

CALL analyst.define('stability_events', 'Events of the stability pool, in one list', $query$
  SELECT
    {event e},
    e.kind,
    e.address,
    {amount amount u.decimals e.amount},
    {amount reward g.decimals e.reward}
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'deposit' AS kind, depositor AS address, amount,
      NULL::numeric AS reward
    FROM {event.stability_pool_deposit e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'withdraw', depositor, amount, NULL
    FROM {event.stability_pool_withdraw e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'claim', depositor, amount, NULL
    FROM {event.stability_pool_claim e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'absorb', engine, debt_absorbed, collateral_reward
    FROM {event.stability_pool_absorb e}
  ) AS e
    LEFT JOIN {quote q} ON q.deployment = e.deployment
    LEFT JOIN {collateral g} ON g.deployment = e.deployment
    CROSS JOIN LATERAL (SELECT CASE WHEN e.kind = 'claim' THEN g.decimals ELSE q.decimals END AS decimals) AS u
$query$, $columns$
    kind     deposit, withdraw, claim or absorb
    address  Depositor, or the engine that a loss came from
    amount   USDC paid in or out, gain claimed, or debt absorbed
    reward   Collateral gained; null but for absorb
$columns$);

CALL analyst.define('feeds', 'Current price feeds, with their age at the newest close time', $query$
  SELECT
    f.deployment,
    f.asset AS feed,
    analyst.scaled(f.latest_price, 7) AS price,
    analyst.at(f.latest_ts) AS price_at,
    chain.unix(n.closed_at) - f.latest_ts > 300 AS price_stale,
    analyst.scaled(f.twap_price, 7) AS twap,
    analyst.at(f.twap_ts) AS twap_at,
    chain.unix(n.closed_at) - f.twap_ts > 600 AS twap_stale,
    f.observation_count AS observations,
    f.ledger,
    f.closed_at AS changed_at
  FROM {state.oracle_feed f}
    LEFT JOIN {now n} ON n.deployment = f.deployment
$query$, $columns$
    feed          Feed
    price         Spot price: the newest aggregate
    price_at      When it was set
    price_stale   Older than 300 s: the contract refuses it
    twap          Time-weighted price, by which vaults are valued: the newest aggregate, or what update_twap set since
    twap_at       When it was set
    twap_stale    Older than 600 s: the contract refuses it
    observations  Observations in the last aggregate
$columns$);

CALL analyst.define('prices', 'Prices over time, as events: an aggregate sets the spot price and the time-weighted price', $query$
  SELECT
    {event e},
    e.kind,
    e.asset AS feed,
    e.provider,
    {price price e.price}
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, 'observation' AS kind, asset, provider, price
    FROM {event.oracle_price_observation e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'aggregate', asset, NULL, median_price
    FROM {event.oracle_price_aggregate e}
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, 'twap', asset, NULL, twap_price
    FROM {event.oracle_twap e}
  ) AS e
$query$, $columns$
    kind      observation; aggregate: sets the spot price and the time-weighted one; twap: update_twap set the time-weighted one alone
    feed      Feed
    provider  Provider of an observation
    price     Price
$columns$);

CALL analyst.define('proposals', 'Proposals with what they would do', $query$
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
  FROM {state.dao_governance_proposal p}
    LEFT JOIN {state.dao_governance_multi_sig_wallet w} ON w.deployment = p.deployment
      AND w.contract = p.contract AND w.wallet_id = 0
$query$, $columns$
    proposal_id    Proposal; ids repeat after the contract was initialised again
    proposer       Proposer
    title          Title; bytes that are not text in hexadecimal
    description    Description, likewise
    action         Action of the proposal, decoded; "undecodable": true and its hex if it cannot be read
    status         Active, Passed, Failed, Executed or Cancelled
    yes_votes      Votes in favour
    no_votes       Votes against
    threshold      Votes needed: that of the governance wallet
    start_at       Start of the vote
    end_at         Nominal end of the vote; closes nothing
    execute_after  Earliest execution
$columns$);

CALL analyst.define('votes', 'Votes on proposals', $query$
  SELECT
    {event e},
    e.proposal_id,
    e.voter,
    e.support,
    e.weight
  FROM {event.dao_governance_voted e}
$query$, $columns$
    proposal_id  Proposal
    voter        Voter
    support      True: yes
    weight       Weight; 1 per signer
$columns$);

CALL analyst.define('multisig_wallets', 'Multisig wallets; number 0 is governance''s', $query$
  SELECT
    w.deployment,
    w.wallet_id,
    w.signers,
    w.threshold,
    (ARRAY['PrivilegedOnly', 'AllExecutions', 'Disabled'])[least(w.scope, 99) + 1] AS scope,
    w.active,
    w.ledger,
    w.closed_at AS changed_at
  FROM {state.dao_governance_multi_sig_wallet w}
$query$, $columns$
    wallet_id  Wallet
    signers    Signers
    threshold  Approvals needed
    scope      PrivilegedOnly, AllExecutions or Disabled
    active     Active
$columns$);

CALL analyst.define('multisig_transactions', 'Multisig transactions with what they would do, and the signers'' votes', $query$
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
  FROM {state.dao_governance_multi_sig_tx m}
    LEFT JOIN {state.dao_governance_multi_sig_wallet w} ON w.deployment = m.deployment
      AND w.contract = m.contract AND w.wallet_id = m.wallet_id
    LEFT JOIN (
      SELECT s.deployment, s.contract, s.tx_id, array_agg(s.signer ORDER BY s.signer) FILTER (WHERE s.value) AS yes,
        array_agg(s.signer ORDER BY s.signer) FILTER (WHERE NOT s.value) AS no
      FROM {state.dao_governance_multi_sig_approval s}
      GROUP BY s.deployment, s.contract, s.tx_id
    ) AS a ON a.deployment = m.deployment AND a.contract = m.contract AND a.tx_id = m.tx_id
$query$, $columns$
    tx_id          Multisig transaction
    wallet_id      Wallet
    proposal_id    Proposal
    target         Contract to be called
    function_name  Function to be called
    action         Action of the transaction, decoded
    approvals      Approvals; it may be executed with fewer than the threshold
    rejections     Rejections
    threshold      Approvals needed by the wallet
    approved_by    Signers that approved
    rejected_by    Signers that rejected
    status         Pending, Approved, Rejected, Executed or Cancelled
    created_at     Creation
$columns$);

CALL analyst.define('transfers', 'Tokens transferred, minted or burned in the protocol''s operations', $query$
  SELECT
    {event e},
    e.contract AS token,
    t.symbol AS token_symbol,
    e.kind,
    e.from_address,
    e.to_address,
    {amount amount t.decimals e.amount},
    e.to_muxed_id,
    e.to_muxed_id_type
  FROM (
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'transfer' AS kind,
      from_address, to_address, amount, to_muxed_id, to_muxed_id_type
    FROM event.synth_token_transfer
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'mint',
      NULL, to_address, amount, to_muxed_id, to_muxed_id_type
    FROM event.synth_token_mint
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'burn',
      from_address, NULL, amount, NULL, NULL
    FROM event.synth_token_burn
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'clawback',
      from_address, to_address, amount, NULL, NULL
    FROM event.synth_token_clawback
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'transfer',
      from_address, to_address, amount, to_muxed_id, to_muxed_id_type
    FROM event.stellar_asset_transfer
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'mint',
      NULL, to_address, amount, to_muxed_id, to_muxed_id_type
    FROM event.stellar_asset_mint
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'burn',
      from_address, NULL, amount, NULL, NULL
    FROM event.stellar_asset_burn
    UNION ALL
    SELECT deployment, ledger, tx, op, event, closed_at, contract, 'clawback',
      from_address, NULL, amount, NULL, NULL
    FROM event.stellar_asset_clawback
  ) AS e
    LEFT JOIN analyst.tokens AS t ON t.deployment = e.deployment AND t.token = e.contract
$query$, $columns$
    token         Token, contract address
    token_symbol  Token, symbol
    kind          transfer, mint, burn or clawback
    from_address  From whom; null for a mint
    to_address    To whom; null for a burn, and for a clawback without a receiver
    amount        Amount
    to_muxed_id   Id or memo of a multiplexed receiver, JSON; null: none
    to_muxed_id_type  Its type: u64, string or bytes; void: none, but said so
$columns$);

CALL analyst.define('balances', 'Balances of synthetic tokens, and of contracts in Stellar assets (accounts hold those in trustlines)', $query$
  SELECT
    b.deployment,
    b.contract AS token,
    t.symbol AS token_symbol,
    b.address,
    {amount balance t.decimals b.balance},
    b.ledger,
    b.closed_at AS changed_at
  FROM (
    SELECT deployment, contract, address, value AS balance, ledger, closed_at
    FROM {state.synth_token_balance e}
    UNION ALL
    SELECT deployment, contract, address, amount, ledger, closed_at
    FROM {state.stellar_asset_balance e}
  ) AS b
    LEFT JOIN {tokens t} ON t.deployment = b.deployment AND t.token = b.contract
$query$, $columns$
    token         Token, contract address
    token_symbol  Token, symbol
    address       Holder
    balance       Balance
$columns$);

CALL analyst.define('ledgers', 'Indexed ledgers, with their proof level and content', $query$
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
  FROM chain.ledger AS l
$query$, $columns$
    hash                   Hash of the header, recomputed
    closed_at              Close time
    protocol               Protocol version
    transactions           Transactions in the ledger
    protocol_transactions  Transactions that touched the deployment
    events                 Events kept
    changes                Versions of entries kept
    undecoded              Events and versions kept undecoded
    proof                  Level of proof that was recomputed: chained, results or events
    calls_verified         Calls with events that hash to their result
    calls_unverified       Calls with events that do not
$columns$);

-- A range of ledgers is read by the keys of all tables; a range of close times reads whole tables.
CREATE FUNCTION analyst.ledger_at(deployment integer, at timestamptz) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce((SELECT l.ledger FROM analyst.ledgers AS l
    WHERE l.deployment = ledger_at.deployment::smallint AND l.closed_at <= ledger_at.at
    ORDER BY l.closed_at DESC, l.ledger DESC LIMIT 1), 0);
COMMENT ON FUNCTION analyst.ledger_at(integer, timestamptz) IS 'Newest indexed ledger that had closed at a time; 0: none';

CALL analyst.define('calls', 'Calls of the protocol''s contracts, refused ones too; arguments and answers that may hold a jurisdiction are left out', $query$
  SELECT
    c.deployment,
    c.ledger,
    c.tx AS tx_order,
    c.op AS op_order,
    c.closed_at,
    encode(c.hash, 'hex') AS tx_hash,
    (SELECT encode(t.inner_hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = c.deployment AND t.ledger = c.ledger AND t.tx = c.tx) AS inner_tx_hash,
    c.source,
    c.source_muxed_id,
    (SELECT t.source FROM chain.tx AS t
      WHERE t.deployment = c.deployment AND t.ledger = c.ledger AND t.tx = c.tx) AS tx_source,
    (SELECT t.fee_source FROM chain.tx AS t
      WHERE t.deployment = c.deployment AND t.ledger = c.ledger AND t.tx = c.tx) AS fee_source,
    c.contract,
    k.role,
    k.name AS contract_name,
    c.fn,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') OR c.fn IS NULL AND k.role IS DISTINCT FROM 'compliance_registry'
      THEN c.args END AS args,
    c.ok,
    CASE WHEN k.role IS DISTINCT FROM 'compliance_registry' OR json_typeof(c.ret) = 'boolean' THEN c.ret END AS answer,
    c.events,
    c.changed,
    (ARRAY['verified', 'rewritten', 'unverified'])[c.proof] AS proof,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') OR c.fn IS NULL AND k.role IS DISTINCT FROM 'compliance_registry'
      THEN c.args_xdr END AS args_xdr,
    CASE WHEN k.role IS DISTINCT FROM 'compliance_registry' THEN c.ret_xdr END AS answer_xdr
  FROM chain.call AS c
    LEFT JOIN analyst.contracts AS k ON k.deployment = c.deployment AND k.contract = c.contract
$query$, $columns$
    inner_tx_hash  Hash of the transaction in a fee bump; null: no fee bump, or the index leaves transactions out
    source         Caller: the operation's source account, else the transaction's
    source_muxed_id  Id of a multiplexed source; null: it is not multiplexed
    tx_source      Source account of the transaction, which pays the sequence number
    fee_source     Account that pays the fee
    contract       Contract called or created
    role           Role of the contract
    contract_name  Name of the contract in the deployment file
    fn             Function; null when the contract was created
    args           Arguments, of a creation those of the constructor; null for attestations, for the creation of the compliance registry, and when args_xdr has them
    ok             False: refused, nothing changed
    answer         Return value; null when refused, when answer_xdr has it, and of the compliance registry unless it is true or false
    events         Events of the operation
    changed        Ledger entries changed, without changes of lifetimes
    proof          verified: its events hash to its result; null when not checked
    args_xdr       Arguments too long or deep for JSON, as XDR; null for attestations and for the creation of the compliance registry
    answer_xdr     Return value too long or deep for JSON, as XDR; null of the compliance registry
$columns$);

CALL analyst.define('daily_pools', 'Trading by day and pool', $query$
  SELECT
    x.deployment,
    x.day,
    x.pool_id,
    p.token_a_symbol,
    p.token_b_symbol,
    x.swaps,
    x.traders,
    {amount sold_a p.token_a_decimals x.sold_a},
    {amount sold_b p.token_b_decimals x.sold_b},
    {amount fees_a p.token_a_decimals div(x.sold_a * p.fee_tier_bps, 10000)},
    {amount fees_b p.token_b_decimals div(x.sold_b * p.fee_tier_bps, 10000)}
  FROM rollup.pool_day AS x
    LEFT JOIN analyst.pools AS p ON p.deployment = x.deployment AND p.pool_id = x.pool_id
  WHERE x.swaps > 0
$query$, $columns$
    day             Day, UTC
    pool_id         Pool
    token_a_symbol  Token A, symbol
    token_b_symbol  Token B, symbol
    swaps           Trades
    traders         Different traders
    sold_a          Token A sold into the pool
    sold_b          Token B sold into the pool
    fees_a          Fees in token A at the pool's tier, protocol's part included
    fees_b          Fees in token B at the pool's tier, protocol's part included
$columns$);

CALL analyst.define('daily_markets', 'Vaults by day and market', $query$
  SELECT
    m.deployment,
    m.day,
    m.market,
    m.opened,
    m.liquidations AS liquidated,
    {amount minted k.token_decimals m.minted},
    {amount repaid k.token_decimals m.repaid},
    {amount collateral_in g.decimals m.deposited},
    {amount collateral_out g.decimals m.withdrawn}
  FROM rollup.market_day AS m
    LEFT JOIN analyst.markets AS k ON k.deployment = m.deployment AND k.market = m.market
    LEFT JOIN {collateral g} ON g.deployment = m.deployment
$query$, $columns$
    day             Day, UTC
    market          Market
    opened          Vaults opened
    liquidated      Liquidations
    minted          Synthetic tokens minted
    repaid          Debt repaid by owners
    collateral_in   Collateral paid in, whatever token; null: these differ in decimals
    collateral_out  Collateral withdrawn, likewise
$columns$);

-- One row for each of rollup.call_day, not summed by role: a sum of it would be a sum of sums. A contract's role is found by its
-- key. Callers are counted only where they are asked for, from the calls themselves.
CALL analyst.define('daily_calls', 'Calls by day, contract and function; refused ones also counted separately', $query$
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
    LEFT JOIN chain.word AS f ON f.id = g.fn_key
$query$, $columns$
    day       Day, UTC
    contract  Contract called or created
    role      Role of the contract
    fn        Function; null: contracts created
    calls     Calls
    refused   Refused calls among these
    callers   Different source accounts of the calls that are attached (see archived); slow, name the days
$columns$);

CALL analyst.define('candles', 'Trade of a pool by interval; one without a trade has no row', $query$
  SELECT
    c.deployment,
    c.pool_id,
    chain.interval_name(c.seconds) AS length,
    c.at,
    analyst.fit(chain.candle_price(c.open_price, p.token_a_decimals, p.token_b_decimals), 24)::numeric(38,14) AS open,
    analyst.fit(chain.candle_price(c.high_price, p.token_a_decimals, p.token_b_decimals), 24)::numeric(38,14) AS high,
    analyst.fit(chain.candle_price(c.low_price, p.token_a_decimals, p.token_b_decimals), 24)::numeric(38,14) AS low,
    analyst.fit(chain.candle_price(c.close_price, p.token_a_decimals, p.token_b_decimals), 24)::numeric(38,14) AS close,
    c.swaps,
    {amount volume_a p.token_a_decimals c.volume_a},
    {amount volume_b p.token_b_decimals c.volume_b},
    {amount fees_a p.token_a_decimals c.fees_a},
    {amount fees_b p.token_b_decimals c.fees_b},
    {amount volume_usdc q.decimals c.volume_quote},
    {amount fees_usdc q.decimals c.fees_quote}
  FROM rollup.candle AS c
    LEFT JOIN analyst.pools AS p ON p.deployment = c.deployment AND p.pool_id = c.pool_id
    LEFT JOIN {quote q} ON q.deployment = c.deployment
$query$, $columns$
    pool_id          Pool
    length           1m, 5m, 15m, 1h, 4h, 1d or 1w
    at               Beginning of the interval, UTC
    open             Token A in B, in whole tokens, by the pool's entry after the first transaction that traded
    high             Highest price after a transaction that traded
    low              Lowest price after a transaction that traded
    close            Token A in B, after the last transaction that traded
    swaps            Trades
    volume_a         Token A that trades moved, in or out
    volume_b         Token B that trades moved, in or out
    fees_a           Fees paid in token A, protocol's part included
    fees_b           Fees paid in token B, protocol's part included
    volume_usdc_raw  Volume in USDC, raw units; null: the pool has none
    volume_usdc      Volume in USDC, decimals applied
    fees_usdc        Fees in USDC, those in the other token at their trade's own rate
$columns$);

CALL analyst.define('price_candles', 'Prices of a feed by interval; one without a round or a change of the average has no row', $query$
  SELECT
    p.deployment,
    p.asset AS feed,
    chain.interval_name(p.seconds) AS length,
    p.at,
    {price open p.open_price},
    {price high p.high_price},
    {price low p.low_price},
    {price close p.close_price},
    p.rounds,
    {price twap_close w.twap_price}
  FROM rollup.price AS p
    LEFT JOIN LATERAL (SELECT w.twap_price FROM rollup.price AS w
      WHERE w.deployment = p.deployment AND w.asset = p.asset AND w.seconds = p.seconds AND w.at <= p.at AND w.twap_ledger IS NOT NULL
      ORDER BY w.at DESC LIMIT 1) AS w ON true
$query$, $columns$
    feed        Feed
    length      1m, 5m, 15m, 1h, 4h, 1d or 1w
    at          Beginning of the interval, UTC
    open_raw    Median price of the first round, raw units; null: no round
    open        Median price of the first round, 7 decimals applied
    high        Highest median price
    low         Lowest median price
    close       Median price of the last round
    rounds      Rounds
    twap_close  Time-weighted price at the end of the interval
$columns$);

CALL analyst.define('daily_protocol', 'The protocol by day; a day without activity has no row', $query$
  SELECT
    d.deployment,
    d.day,
    d.users,
    d.swaps,
    {amount volume_usdc h.decimals d.volume_quote},
    {amount fees_usdc h.decimals d.fees_quote},
    d.liquidations,
    {amount held_usdc h.decimals h.total},
    analyst.amount(h.pools, h.decimals)::numeric(38,18) AS held_in_pools,
    analyst.amount(h.collateral, h.decimals)::numeric(38,18) AS held_as_collateral,
    analyst.amount(h.stability, h.decimals)::numeric(38,18) AS held_for_stability
  FROM rollup.day AS d JOIN rollup.held AS h ON h.deployment = d.deployment AND h.day = d.day
$query$, $columns$
    day                 Day, UTC
    users               Different addresses that traded, gave or took liquidity, used a vault or the stability pool
    swaps               Trades
    volume_usdc         Volume of pools with USDC, in USDC
    fees_usdc           Fees of pools with USDC, in USDC
    liquidations        Liquidations of vaults
    held_usdc           Value held by the protocol at the close of the day, in USDC
    held_in_pools       Part in pools: twice the USDC of pools with USDC
    held_as_collateral  Part held as collateral: the vault engine's collateral at the feed of its symbol
    held_for_stability  Part held as deposits in the stability pool
$columns$);

CALL analyst.define('daily_liquidity', 'Traders and liquidity of a pool by day; trade is in daily_pools and candles', $query$
  SELECT
    p.deployment,
    p.day,
    p.pool_id,
    p.traders,
    p.additions,
    p.removals,
    p.claims,
    analyst.amount(p.added_a, k.token_a_decimals)::numeric(38,18) AS added_a,
    analyst.amount(p.added_b, k.token_b_decimals)::numeric(38,18) AS added_b,
    analyst.amount(p.removed_a, k.token_a_decimals)::numeric(38,18) AS removed_a,
    analyst.amount(p.removed_b, k.token_b_decimals)::numeric(38,18) AS removed_b,
    analyst.amount(p.claimed_a, k.token_a_decimals)::numeric(38,18) AS claimed_a,
    analyst.amount(p.claimed_b, k.token_b_decimals)::numeric(38,18) AS claimed_b,
    analyst.amount(c.amount, k.token_a_decimals)::numeric(38,18) AS reserve_a,
    analyst.amount(c.amount_b, k.token_b_decimals)::numeric(38,18) AS reserve_b
  FROM rollup.pool_day AS p
    LEFT JOIN rollup.closing AS c ON c.deployment = p.deployment AND c.what = 'pool' AND c.name = p.pool_id AND c.day = p.day
    LEFT JOIN analyst.pools AS k ON k.deployment = p.deployment AND k.pool_id = p.pool_id
$query$, $columns$
    day        Day, UTC
    pool_id    Pool
    traders    Different traders
    additions  Times that liquidity was added
    removals   Times that liquidity was removed
    claims     Times that fees were claimed
    added_a    Token A added, decimals applied
    added_b    Token B added, decimals applied
    removed_a  Token A removed, decimals applied
    removed_b  Token B removed, decimals applied
    claimed_a  Fees claimed in token A, decimals applied
    claimed_b  Fees claimed in token B, decimals applied
    reserve_a  Book reserve of token A at the close of the day, decimals applied
    reserve_b  Book reserve of token B at the close of the day, decimals applied
$columns$);

CALL analyst.define('daily_closings', 'The last values of a day: holdings, debts, prices; a day without a change has no row', $query$
  SELECT
    c.deployment,
    c.day,
    c.what,
    c.name,
    {amount amount u.decimals c.amount},
    {amount amount_b p.token_b_decimals c.amount_b},
    c.ledger
  FROM rollup.closing AS c
    LEFT JOIN analyst.pools AS p ON p.deployment = c.deployment AND c.what = 'pool' AND p.pool_id = c.name
    LEFT JOIN analyst.markets AS m ON m.deployment = c.deployment AND c.what = 'debt' AND m.market = c.name
    LEFT JOIN analyst.tokens AS t ON t.deployment = c.deployment AND c.what = 'collateral' AND t.token = c.name
    LEFT JOIN {quote q} ON q.deployment = c.deployment
    CROSS JOIN LATERAL (SELECT CASE c.what WHEN 'price' THEN 7 WHEN 'stability' THEN q.decimals WHEN 'pool' THEN p.token_a_decimals
      WHEN 'debt' THEN m.token_decimals ELSE t.decimals END AS decimals) AS u
$query$, $columns$
    day         Day, UTC
    what        pool: reserves; debt: of a market; stability: total deposits; collateral: the engine's balance of a token; price: a feed
    name        By what: pool: the pool; debt: the market; stability: empty; collateral: the token contract; price: the feed
    amount_raw  Amount (a pool: of token A; a feed: its time-weighted price), raw units
    amount      The same, decimals applied
    amount_b    A pool's reserve of token B
$columns$);

CALL analyst.define('archived', 'Ranges of ledgers with archived events, calls and transactions: views of these leave them out', $query$
  SELECT a.deployment, a.from_ledger, a.end_ledger - 1 AS to_ledger, a.detached_at
  FROM chain.archive AS a
$query$, $columns$
    from_ledger  First ledger of the range
    to_ledger    Last ledger of the range
    detached_at  Time of detaching
$columns$);

DROP PROCEDURE analyst.define;
DROP FUNCTION analyst.define_tables, analyst.define_units, analyst.define_now, analyst.define_as_of, analyst.define_columns, analyst.define_comment;
