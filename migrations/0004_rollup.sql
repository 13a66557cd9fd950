-- 0004_rollup: sums over time, kept by the indexer in the transaction of the rows they sum up
-- (statements: indexer/rollup/).
--
-- Intervals are those of chain.interval_seconds(), in UTC; a week begins on Monday. An interval without a trade
-- or a change of a price has no row. Each length is stored: four hours from hours, or a week from days,
-- would read more than three rows for each that is shown. Rows are sums over the ranges in chain.coverage: a range that
-- is indexed later is added, in any order. Columns of amounts are numeric without precision, because sums
-- and products of stored values have no largest value.

-- A writer that has newer statements than `version`, or finds no row, computes all rollups again from
-- events and history before it continues.
CREATE TABLE rollup.built (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    version    integer     NOT NULL,
    built_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE rollup.built IS 'version of the statements that computed a deployment''s rollups; no row: they are computed again';
COMMENT ON COLUMN rollup.built.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.built.version IS 'Version of the statements';
COMMENT ON COLUMN rollup.built.built_at IS 'When all rollups were last computed';

-- Prices are reserve_b / reserve_a of the pool's entry after each transaction that traded in it, cut after
-- 52 decimals: answers show 14, and a token may have 38 decimals more than the other. A trade's own rate varies
-- with fee and size: trades of dust would distort high and low. NULL if the pool was empty.
CREATE TABLE rollup.candle (
    deployment   smallint    NOT NULL,
    pool_id      text        NOT NULL,
    seconds      integer     NOT NULL CHECK (chain.interval_name(seconds) IS NOT NULL),
    at           timestamptz NOT NULL,
    open_price   numeric,
    high_price   numeric,
    low_price    numeric,
    close_price  numeric,
    first_place  bigint      NOT NULL,
    last_place   bigint      NOT NULL,
    swaps        bigint      NOT NULL,
    volume_a     numeric     NOT NULL,
    volume_b     numeric     NOT NULL,
    fees_a       numeric,
    fees_b       numeric,
    volume_quote numeric,
    fees_quote   numeric,
    PRIMARY KEY (deployment, pool_id, seconds, at)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.candle IS 'Trade of a pool by 1 min, 5 min, 15 min, 1 h, 4 h, day and week (UTC); no row: no trade';
COMMENT ON COLUMN rollup.candle.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.candle.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.candle.seconds IS 'Length of the interval: 60, 300, 900, 3600, 14400, 86400 or 604800';
COMMENT ON COLUMN rollup.candle.at IS 'Beginning of the interval; close times from it up to the next one';
COMMENT ON COLUMN rollup.candle.open_price IS 'Token A in B after the first transaction that traded: a ratio of raw units, 52 decimals';
COMMENT ON COLUMN rollup.candle.high_price IS 'Highest price after a transaction that traded';
COMMENT ON COLUMN rollup.candle.low_price IS 'Lowest price after a transaction that traded';
COMMENT ON COLUMN rollup.candle.close_price IS 'Token A in B after the last transaction that traded';
COMMENT ON COLUMN rollup.candle.first_place IS 'First transaction that traded: ledger * 1048576 + transaction';
COMMENT ON COLUMN rollup.candle.last_place IS 'Last transaction that traded, likewise';
COMMENT ON COLUMN rollup.candle.swaps IS 'Trades';
COMMENT ON COLUMN rollup.candle.volume_a IS 'Token A that trades moved, in or out, raw units';
COMMENT ON COLUMN rollup.candle.volume_b IS 'Token B that trades moved, in or out, raw units';
COMMENT ON COLUMN rollup.candle.fees_a IS 'Fees paid in token A, protocol''s part included, raw units; null: the pool''s tier is not indexed';
COMMENT ON COLUMN rollup.candle.fees_b IS 'Fees paid in token B, likewise';
COMMENT ON COLUMN rollup.candle.volume_quote IS 'Volume in USDC, raw units; null: neither token is USDC';
COMMENT ON COLUMN rollup.candle.fees_quote IS 'Fees in USDC, those in the other token at their trade''s own rate; null: neither token is USDC';

-- One row for each interval with a round or a change of the average, so the average at the end of any
-- interval is that of the newest row up to it. Only intervals with a round have the four prices.
CREATE TABLE rollup.price (
    deployment   smallint    NOT NULL,
    asset        text        NOT NULL,
    seconds      integer     NOT NULL CHECK (chain.interval_name(seconds) IS NOT NULL),
    at           timestamptz NOT NULL,
    open_price   numeric,
    high_price   numeric,
    low_price    numeric,
    close_price  numeric,
    first_ledger integer,
    last_ledger  integer,
    rounds       bigint      NOT NULL,
    twap_price   numeric,
    twap_ledger  integer,
    PRIMARY KEY (deployment, asset, seconds, at)
) WITH (fillfactor = 90);
-- Not on rounds, which each round changes: such an update would have to write the index too.
CREATE INDEX ON rollup.price (deployment, asset, seconds, at) WHERE open_price IS NOT NULL;
COMMENT ON TABLE rollup.price IS 'Prices of a feed by 1 min, 5 min, 15 min, 1 h, 4 h, day and week (UTC); no row: no change';
COMMENT ON COLUMN rollup.price.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.price.asset IS 'Feed';
COMMENT ON COLUMN rollup.price.seconds IS 'Length of the interval: 60, 300, 900, 3600, 14400, 86400 or 604800';
COMMENT ON COLUMN rollup.price.at IS 'Beginning of the interval; close times from it up to the next one';
COMMENT ON COLUMN rollup.price.open_price IS 'Median price of the first round, 7 decimals; null: no round';
COMMENT ON COLUMN rollup.price.high_price IS 'Highest median price';
COMMENT ON COLUMN rollup.price.low_price IS 'Lowest median price';
COMMENT ON COLUMN rollup.price.close_price IS 'Median price of the last round';
COMMENT ON COLUMN rollup.price.first_ledger IS 'Ledger of the first round';
COMMENT ON COLUMN rollup.price.last_ledger IS 'Ledger of the last round';
COMMENT ON COLUMN rollup.price.rounds IS 'Rounds';
COMMENT ON COLUMN rollup.price.twap_price IS 'Time-weighted price of the feed''s last version, 7 decimals; null: none';
COMMENT ON COLUMN rollup.price.twap_ledger IS 'Ledger of that version';

CREATE TABLE rollup.day (
    deployment   smallint    NOT NULL,
    day          date        NOT NULL,
    swaps        bigint      NOT NULL,
    quoted_swaps bigint      NOT NULL,
    volume_quote numeric,
    fees_quote   numeric,
    users        bigint      NOT NULL DEFAULT 0,
    liquidations bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, day)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.day IS 'The protocol by day (UTC); no row: no activity';
COMMENT ON COLUMN rollup.day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.day.swaps IS 'Trades';
COMMENT ON COLUMN rollup.day.quoted_swaps IS 'Swaps among these in pools with USDC';
COMMENT ON COLUMN rollup.day.volume_quote IS 'Volume of the pools with USDC, in USDC, raw units';
COMMENT ON COLUMN rollup.day.fees_quote IS 'Fees of the pools with USDC, in USDC, raw units';
COMMENT ON COLUMN rollup.day.users IS 'Different addresses that traded, gave or took liquidity, used a vault or the stability pool';
COMMENT ON COLUMN rollup.day.liquidations IS 'Liquidations of vaults';

CREATE TABLE rollup.partner_revenue (
    deployment smallint    NOT NULL,
    partner_id bigint      NOT NULL,
    token      text        NOT NULL,
    amount     numeric     NOT NULL,
    forwards   bigint      NOT NULL,
    PRIMARY KEY (deployment, partner_id, token)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.partner_revenue IS 'Earnings of a partner by token';
COMMENT ON COLUMN rollup.partner_revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN rollup.partner_revenue.token IS 'Token of the revenue, contract address';
COMMENT ON COLUMN rollup.partner_revenue.amount IS 'Sum of the partner''s cuts, raw units';
COMMENT ON COLUMN rollup.partner_revenue.forwards IS 'Number of cuts';

CREATE TABLE rollup.partner_epoch_revenue (
    deployment smallint    NOT NULL,
    partner_id bigint      NOT NULL,
    epoch      numeric     NOT NULL,
    token      text        NOT NULL,
    amount     numeric     NOT NULL,
    fees       numeric     NOT NULL,
    forwards   bigint      NOT NULL,
    PRIMARY KEY (deployment, partner_id, epoch, token)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.partner_epoch_revenue IS 'Earnings of a partner by token and epoch';
COMMENT ON COLUMN rollup.partner_epoch_revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_epoch_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN rollup.partner_epoch_revenue.epoch IS 'Epoch';
COMMENT ON COLUMN rollup.partner_epoch_revenue.token IS 'Token of the revenue, contract address';
COMMENT ON COLUMN rollup.partner_epoch_revenue.amount IS 'Sum of the partner''s cuts, raw units';
COMMENT ON COLUMN rollup.partner_epoch_revenue.fees IS 'Sum of the whole fees that the cuts were taken from, raw units';
COMMENT ON COLUMN rollup.partner_epoch_revenue.forwards IS 'Number of cuts';

CREATE TABLE rollup.partner_day_revenue (
    deployment smallint    NOT NULL,
    partner_id bigint      NOT NULL,
    day        date        NOT NULL,
    token      text        NOT NULL,
    amount     numeric     NOT NULL,
    fees       numeric     NOT NULL,
    forwards   bigint      NOT NULL,
    PRIMARY KEY (deployment, partner_id, day, token)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.partner_day_revenue IS 'Earnings of a partner by day (UTC) and token';
COMMENT ON COLUMN rollup.partner_day_revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_day_revenue.partner_id IS 'Partner';
COMMENT ON COLUMN rollup.partner_day_revenue.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.partner_day_revenue.token IS 'Token of the revenue, contract address';
COMMENT ON COLUMN rollup.partner_day_revenue.amount IS 'Sum of the partner''s cuts, raw units';
COMMENT ON COLUMN rollup.partner_day_revenue.fees IS 'Sum of the whole fees that the cuts were taken from, raw units';
COMMENT ON COLUMN rollup.partner_day_revenue.forwards IS 'Number of cuts';

CREATE TABLE rollup.partner_day_volume (
    deployment smallint    NOT NULL,
    partner_id bigint      NOT NULL,
    day        date        NOT NULL,
    token      text        NOT NULL,
    swaps      bigint      NOT NULL,
    volume     numeric     NOT NULL,
    PRIMARY KEY (deployment, partner_id, day, token)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.partner_day_volume IS 'Trades that a partner brought, by day (UTC) and token sold';
COMMENT ON COLUMN rollup.partner_day_volume.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.partner_day_volume.partner_id IS 'Partner; trades with 0 were brought by none';
COMMENT ON COLUMN rollup.partner_day_volume.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.partner_day_volume.token IS 'Token sold, contract address';
COMMENT ON COLUMN rollup.partner_day_volume.swaps IS 'Trades';
COMMENT ON COLUMN rollup.partner_day_volume.volume IS 'Sold into pools, fees included, raw units';

CREATE TABLE rollup.revenue (
    deployment smallint    NOT NULL,
    epoch      numeric     NOT NULL,
    token      text        NOT NULL,
    fees       numeric     NOT NULL,
    payments   bigint      NOT NULL,
    PRIMARY KEY (deployment, epoch, token)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.revenue IS 'Receipts of the distributor by token and epoch';
COMMENT ON COLUMN rollup.revenue.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.revenue.epoch IS 'Epoch';
COMMENT ON COLUMN rollup.revenue.token IS 'Token, contract address';
COMMENT ON COLUMN rollup.revenue.fees IS 'Sum of the fees, raw units';
COMMENT ON COLUMN rollup.revenue.payments IS 'Number of fees';

-- Counts stay exact although a day can arrive in pieces and in any order: an address counts when it is
-- new in this table. It grows with the days, so it has keys of chain.word.
CREATE TABLE rollup.active (
    deployment  smallint    NOT NULL,
    pool_key    integer     NOT NULL,
    address_key integer     NOT NULL,
    day         date        NOT NULL,
    PRIMARY KEY (deployment, pool_key, day, address_key)
);
COMMENT ON TABLE rollup.active IS 'Addresses active on a day, one row each';
COMMENT ON COLUMN rollup.active.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.active.pool_key IS 'Key of the pool that the address traded in; 0: active anywhere in the protocol';
COMMENT ON COLUMN rollup.active.address_key IS 'Key of the address';
COMMENT ON COLUMN rollup.active.day IS 'Day, UTC; -infinity: ever';

CREATE VIEW rollup.active_words AS
  SELECT a.deployment, CASE WHEN a.pool_key = 0 THEN '' ELSE p.word END AS pool_id, a.day, w.word AS address
  FROM rollup.active AS a LEFT JOIN chain.word AS p ON p.id = a.pool_key LEFT JOIN chain.word AS w ON w.id = a.address_key;
COMMENT ON VIEW rollup.active_words IS 'rollup.active with its words, which digests are made of';
COMMENT ON COLUMN rollup.active_words.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.active_words.pool_id IS 'Pool that the address traded in; empty: active anywhere in the protocol';
COMMENT ON COLUMN rollup.active_words.day IS 'Day, UTC; -infinity: ever';
COMMENT ON COLUMN rollup.active_words.address IS 'Address';

CREATE TABLE rollup.total (
    deployment smallint PRIMARY KEY,
    users      bigint      NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.total IS 'Totals that are not sums of days';
COMMENT ON COLUMN rollup.total.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.total.users IS 'Different addresses that were ever active';

CREATE TABLE rollup.trader (
    deployment smallint    NOT NULL,
    trader     text        NOT NULL,
    pool_id    text        NOT NULL,
    a_to_b     boolean     NOT NULL,
    swaps      bigint      NOT NULL,
    sold       numeric     NOT NULL,
    first_at   timestamptz NOT NULL,
    last_at    timestamptz NOT NULL,
    PRIMARY KEY (deployment, trader, pool_id, a_to_b)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.trader IS 'Trade of an address in a pool, by direction';
COMMENT ON COLUMN rollup.trader.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.trader.trader IS 'Address';
COMMENT ON COLUMN rollup.trader.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.trader.a_to_b IS 'True: sold token A';
COMMENT ON COLUMN rollup.trader.swaps IS 'Trades';
COMMENT ON COLUMN rollup.trader.sold IS 'Sold into the pool, raw units';
COMMENT ON COLUMN rollup.trader.first_at IS 'Close time of the first';
COMMENT ON COLUMN rollup.trader.last_at IS 'Close time of the last';

CREATE TABLE rollup.pool_day (
    deployment smallint    NOT NULL,
    pool_id    text        NOT NULL,
    day        date        NOT NULL,
    traders    bigint      NOT NULL DEFAULT 0,
    swaps      bigint      NOT NULL DEFAULT 0,
    sold_a     numeric     NOT NULL DEFAULT 0,
    sold_b     numeric     NOT NULL DEFAULT 0,
    additions  bigint      NOT NULL DEFAULT 0,
    removals   bigint      NOT NULL DEFAULT 0,
    claims     bigint      NOT NULL DEFAULT 0,
    added_a    numeric     NOT NULL DEFAULT 0,
    added_b    numeric     NOT NULL DEFAULT 0,
    removed_a  numeric     NOT NULL DEFAULT 0,
    removed_b  numeric     NOT NULL DEFAULT 0,
    claimed_a  numeric     NOT NULL DEFAULT 0,
    claimed_b  numeric     NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, pool_id, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.pool_day IS 'Trade and liquidity of a pool by day (UTC), beside its candles of a day';
COMMENT ON COLUMN rollup.pool_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.pool_day.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.pool_day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.pool_day.traders IS 'Different traders';
COMMENT ON COLUMN rollup.pool_day.swaps IS 'Trades';
COMMENT ON COLUMN rollup.pool_day.sold_a IS 'Token A sold into the pool, raw units';
COMMENT ON COLUMN rollup.pool_day.sold_b IS 'Token B sold into the pool, raw units';
COMMENT ON COLUMN rollup.pool_day.additions IS 'Times that liquidity was added';
COMMENT ON COLUMN rollup.pool_day.removals IS 'Times that liquidity was removed';
COMMENT ON COLUMN rollup.pool_day.claims IS 'Times that fees were claimed';
COMMENT ON COLUMN rollup.pool_day.added_a IS 'Token A added, raw units';
COMMENT ON COLUMN rollup.pool_day.added_b IS 'Token B added, raw units';
COMMENT ON COLUMN rollup.pool_day.removed_a IS 'Token A removed, raw units';
COMMENT ON COLUMN rollup.pool_day.removed_b IS 'Token B removed, raw units';
COMMENT ON COLUMN rollup.pool_day.claimed_a IS 'Fees claimed in token A, raw units';
COMMENT ON COLUMN rollup.pool_day.claimed_b IS 'Fees claimed in token B, raw units';

CREATE TABLE rollup.market_day (
    deployment   smallint    NOT NULL,
    market       text        NOT NULL,
    day          date        NOT NULL,
    opened       bigint      NOT NULL,
    liquidations bigint      NOT NULL,
    minted       numeric     NOT NULL,
    repaid       numeric     NOT NULL,
    deposited    numeric     NOT NULL,
    withdrawn    numeric     NOT NULL,
    seized       numeric     NOT NULL,
    PRIMARY KEY (deployment, market, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.market_day IS 'Vaults of a market by day (UTC); no row: nothing happened';
COMMENT ON COLUMN rollup.market_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.market_day.market IS 'Market';
COMMENT ON COLUMN rollup.market_day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.market_day.opened IS 'Vaults opened';
COMMENT ON COLUMN rollup.market_day.liquidations IS 'Liquidations of vaults';
COMMENT ON COLUMN rollup.market_day.minted IS 'Synthetic tokens minted, raw units';
COMMENT ON COLUMN rollup.market_day.repaid IS 'Debt repaid by owners, raw units; what liquidators repaid is not in it';
COMMENT ON COLUMN rollup.market_day.deposited IS 'Collateral paid in, when opening and later, whatever token, raw units';
COMMENT ON COLUMN rollup.market_day.withdrawn IS 'Collateral withdrawn, whatever token, raw units';
COMMENT ON COLUMN rollup.market_day.seized IS 'Collateral given to liquidators, whatever token, raw units';

-- The table grows with the days, so it has keys of chain.word.
CREATE TABLE rollup.call_day (
    deployment   smallint NOT NULL,
    calls        integer  NOT NULL,
    refused      integer  NOT NULL,
    contract_key integer  NOT NULL,
    fn_key       integer  NOT NULL,
    day          date     NOT NULL,
    PRIMARY KEY (deployment, day, contract_key, fn_key)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.call_day IS 'Calls of a function of a contract by day (UTC); no row: no call';
COMMENT ON COLUMN rollup.call_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.call_day.calls IS 'Calls, refused ones too';
COMMENT ON COLUMN rollup.call_day.refused IS 'Refused calls among these';
COMMENT ON COLUMN rollup.call_day.contract_key IS 'Key of the contract called or created';
COMMENT ON COLUMN rollup.call_day.fn_key IS 'Key of the function; 0: the contract was created';
COMMENT ON COLUMN rollup.call_day.day IS 'Day, UTC';

CREATE VIEW rollup.call_day_words AS
  SELECT d.deployment, d.day, c.word AS contract, f.word AS fn, d.calls, d.refused
  FROM rollup.call_day AS d LEFT JOIN chain.word AS c ON c.id = d.contract_key LEFT JOIN chain.word AS f ON f.id = d.fn_key;
COMMENT ON VIEW rollup.call_day_words IS 'rollup.call_day with its words, which digests are made of';
COMMENT ON COLUMN rollup.call_day_words.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.call_day_words.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.call_day_words.contract IS 'Contract called or created';
COMMENT ON COLUMN rollup.call_day_words.fn IS 'Function; null: the contract was created';
COMMENT ON COLUMN rollup.call_day_words.calls IS 'Calls, refused ones too';
COMMENT ON COLUMN rollup.call_day_words.refused IS 'Refused calls among these';

-- A day without a change has no row: the value of the day before still holds.
CREATE TABLE rollup.closing (
    deployment smallint    NOT NULL,
    what       text        NOT NULL CHECK (what IN ('pool', 'debt', 'stability', 'collateral', 'price')),
    name       text        NOT NULL,
    day        date        NOT NULL,
    ledger     integer     NOT NULL,
    tx         integer     NOT NULL,
    seq        integer     NOT NULL,
    amount     numeric,
    amount_b   numeric,
    PRIMARY KEY (deployment, what, name, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.closing IS 'The last version on a day (UTC) of entries with holdings, debts and prices';
COMMENT ON COLUMN rollup.closing.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.closing.what IS 'pool: reserves; debt: of a market; stability: total deposits; collateral: the engine''s balance of a token; price: a feed';
COMMENT ON COLUMN rollup.closing.name IS 'By what: pool: the pool; debt: the market; stability: empty; collateral: the token contract; price: the feed';
COMMENT ON COLUMN rollup.closing.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.closing.ledger IS 'Ledger of that version';
COMMENT ON COLUMN rollup.closing.tx IS 'Transaction in apply order';
COMMENT ON COLUMN rollup.closing.seq IS 'Change within the transaction';
COMMENT ON COLUMN rollup.closing.amount IS 'Raw units (a pool: of token A; a feed: its time-weighted price); null: the entry was removed';
COMMENT ON COLUMN rollup.closing.amount_b IS 'A pool''s reserve of token B, raw units';

-- The decimals of an amount hardly ever change, so a page of amounts reads one row of these tables for each. Where that does not
-- tell, because a value came back, chain.decimals_then and its like read the versions.
CREATE TABLE rollup.decimals (
    deployment   smallint NOT NULL,
    token        text     NOT NULL,
    decimals     integer  NOT NULL,
    first_ledger integer  NOT NULL,
    last_ledger  integer  NOT NULL,
    PRIMARY KEY (deployment, token, decimals)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.decimals IS 'Decimals that a token ever said';
COMMENT ON COLUMN rollup.decimals.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.decimals.token IS 'Token, contract address';
COMMENT ON COLUMN rollup.decimals.decimals IS 'Decimals, 0 to 38; -1: it said none, or its instance was removed';
COMMENT ON COLUMN rollup.decimals.first_ledger IS 'The first ledger at whose end a new version said so';
COMMENT ON COLUMN rollup.decimals.last_ledger IS 'The last such ledger';

CREATE TABLE rollup.pool_token (
    deployment   smallint NOT NULL,
    contract     text     NOT NULL,
    pool_id      text     NOT NULL,
    token_a      text     NOT NULL,
    token_b      text     NOT NULL,
    first_ledger integer  NOT NULL,
    PRIMARY KEY (deployment, contract, pool_id, token_a, token_b)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.pool_token IS 'Tokens that a pool ever had';
COMMENT ON COLUMN rollup.pool_token.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.pool_token.contract IS 'Contract of the pools';
COMMENT ON COLUMN rollup.pool_token.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.pool_token.token_a IS 'Token A, contract address';
COMMENT ON COLUMN rollup.pool_token.token_b IS 'Token B, contract address';
COMMENT ON COLUMN rollup.pool_token.first_ledger IS 'The first ledger that says so';

CREATE TABLE rollup.engine_token (
    deployment   smallint NOT NULL,
    contract     text     NOT NULL,
    what         text     NOT NULL CHECK (what IN ('market', 'collateral', 'dropped')),
    market       text     NOT NULL,
    token        text     NOT NULL,
    first_ledger integer  NOT NULL,
    PRIMARY KEY (deployment, contract, what, market, token)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.engine_token IS 'Tokens that the vault engine ever named';
COMMENT ON COLUMN rollup.engine_token.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.engine_token.contract IS 'Vault engine';
COMMENT ON COLUMN rollup.engine_token.what IS 'market: its synthetic token; collateral: a token came into the list of collateral; dropped: it left the list';
COMMENT ON COLUMN rollup.engine_token.market IS 'Market; else empty';
COMMENT ON COLUMN rollup.engine_token.token IS 'Token, contract address';
COMMENT ON COLUMN rollup.engine_token.first_ledger IS 'The first ledger that says so';

-- Records of the compliance registry, so that counts at the end of any day are sums of changes. Each record has the last
-- version of each day on which it changed: where ranges come in another order, the changes that it makes to the sums are
-- taken from these rows. Where a person lives is in none of them.
CREATE TABLE rollup.compliance_version (
    deployment smallint    NOT NULL,
    key_hash   bytea       NOT NULL,
    day        date        NOT NULL,
    ledger     integer     NOT NULL,
    tx         integer     NOT NULL,
    seq        integer     NOT NULL,
    status     smallint,
    provider   text,
    ends       bigint,
    PRIMARY KEY (deployment, key_hash, day)
) WITH (fillfactor = 90);
-- Records that changed on a day.
CREATE INDEX ON rollup.compliance_version (deployment, day);
COMMENT ON TABLE rollup.compliance_version IS 'The last version on a day (UTC) of each compliance record';
COMMENT ON COLUMN rollup.compliance_version.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.compliance_version.key_hash IS 'SHA-256 of the record''s ledger key';
COMMENT ON COLUMN rollup.compliance_version.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.compliance_version.ledger IS 'Ledger of that version';
COMMENT ON COLUMN rollup.compliance_version.tx IS 'Transaction in apply order';
COMMENT ON COLUMN rollup.compliance_version.seq IS 'Change within the transaction';
COMMENT ON COLUMN rollup.compliance_version.status IS 'Status as stored, 6: none that the protocol defines; null: the record was removed';
COMMENT ON COLUMN rollup.compliance_version.provider IS 'Provider that attested';
COMMENT ON COLUMN rollup.compliance_version.ends IS 'From this time on, unix seconds, the verified record counts as expired; null: never';

CREATE TABLE rollup.compliance_day (
    deployment smallint    NOT NULL,
    day        date        NOT NULL,
    status     smallint    NOT NULL,
    provider   text        NOT NULL,
    change     bigint      NOT NULL,
    PRIMARY KEY (deployment, day, status, provider)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.compliance_day IS 'How the number of compliance records changed on a day (UTC); days to come have those that will end then';
COMMENT ON COLUMN rollup.compliance_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.compliance_day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.compliance_day.status IS 'Status: verified ones are expired (5) from the day of their end on; 6: none that the protocol defines';
COMMENT ON COLUMN rollup.compliance_day.provider IS 'Provider that attested';
COMMENT ON COLUMN rollup.compliance_day.change IS 'Records more at the end of the day than at the end of the day before';

-- compliance_day counts a verified record as expired from the first second of the day on which it ends. The exact times are here,
-- for answers as of a moment within that day.
CREATE TABLE rollup.compliance_end (
    deployment smallint    NOT NULL,
    ends       bigint      NOT NULL,
    provider   text        NOT NULL,
    records    bigint      NOT NULL,
    PRIMARY KEY (deployment, ends, provider)
);
COMMENT ON TABLE rollup.compliance_end IS 'How many verified compliance records end at a time, if they are not changed before the end of that day';
COMMENT ON COLUMN rollup.compliance_end.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.compliance_end.ends IS 'Unix seconds: from then on they count as expired';
COMMENT ON COLUMN rollup.compliance_end.provider IS 'Provider that attested';
COMMENT ON COLUMN rollup.compliance_end.records IS 'Records';

-- Sums the swaps of a pool as indexer/rollup/trade.sql does, for an answer as of a ledger: candles are of whole minutes, so they
-- lack the part of a minute up to that ledger's close.
CREATE FUNCTION chain.trades(deployment smallint, pool_id text, from_ledger integer, to_ledger integer)
  RETURNS TABLE (swaps bigint, volume_quote numeric, fees_quote numeric)
  LANGUAGE sql STABLE PARALLEL SAFE
  BEGIN ATOMIC
    SELECT count(*), sum(CASE WHEN q.is_a = s.a_to_b THEN s.amount_in WHEN q.is_a IS NOT NULL THEN s.amount_out END),
      sum(CASE WHEN q.is_a = s.a_to_b THEN f.fee WHEN q.is_a IS NOT NULL THEN
        CASE WHEN s.amount_in = 0 THEN 0 ELSE div(f.fee * s.amount_out, s.amount_in) END END)
    FROM (event.liquidity_pool_swap AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
      LEFT JOIN LATERAL (SELECT h.fee_tier, h.token_a, h.token_b
        FROM (history.liquidity_pool_pool AS h JOIN (SELECT) AS h_bound ON (h.deployment, h.contract) IN
          (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
        WHERE h.deployment = s.deployment AND h.ledger = s.ledger AND h.tx = s.tx AND h.pool_id_key = s.pool_id_key AND NOT h.removed
        ORDER BY h.seq DESC LIMIT 1) AS v ON true
      LEFT JOIN LATERAL (SELECT j.address FROM chain.deployment AS d
        CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
        WHERE d.id = s.deployment AND j.role = 'usdc' LIMIT 1) AS u ON true
      CROSS JOIN LATERAL (SELECT CASE u.address WHEN v.token_a THEN true WHEN v.token_b THEN false END AS is_a) AS q
      CROSS JOIN LATERAL (SELECT div(s.amount_in * v.fee_tier, 10000) AS fee) AS f
    WHERE s.deployment = trades.deployment AND s.pool_id_key = chain.word_key(trades.pool_id) AND s.ledger BETWEEN trades.from_ledger AND trades.to_ledger;
  END;
COMMENT ON FUNCTION chain.trades(smallint, text, integer, integer) IS 'trades of a pool in a few ledgers: number, volume and fees in USDC';

-- Anyone can send the engine a token, and a token chooses its symbol: only what the engine's own entries accepted as collateral is
-- valued, and only at a feed that a market prices its collateral by. accepted_at, priced_at and the symbol are those of the first
-- versions, so that later ones do not change past days. A token that is followed later counts from then on: its past is indexed
-- after those days.
CREATE VIEW chain.collateral AS
  SELECT a.deployment, a.token, a.accepted_at, p.feed, p.priced_at
  FROM (
    SELECT k.deployment, v.token, greatest(v.closed_at, n.closed_at) AS accepted_at
    FROM (
      SELECT s.deployment, s.key_hash
      FROM (state.synthetic_engine_collateral_allowed AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
        (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
      UNION
      SELECT g.deployment, g.key_hash
      FROM (history.synthetic_engine_collateral_allowed AS g JOIN (SELECT) AS g_bound ON (g.deployment, g.contract) IN
        (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
      WHERE g.removed
    ) AS k
      CROSS JOIN LATERAL (SELECT h.token, h.closed_at
        FROM (history.synthetic_engine_collateral_allowed AS h JOIN (SELECT) AS h_bound ON (h.deployment, h.contract) IN
          (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
        WHERE h.deployment = k.deployment AND h.key_hash = k.key_hash AND h.value ORDER BY h.ledger, h.tx, h.seq LIMIT 1) AS v
      LEFT JOIN LATERAL (SELECT l.closed_at FROM chain.ledger AS l WHERE l.deployment = k.deployment AND l.ledger = (SELECT
          greatest(min(s.ledger) FILTER (WHERE s.what = 'discovered'), min(s.ledger) FILTER (WHERE s.what <> 'discovered'))
        FROM chain.contract_seen AS s
        WHERE s.deployment = k.deployment AND s.contract = v.token AND s.what IN ('discovered', 'asset', 'token'))) AS n ON true
  ) AS a
    LEFT JOIN LATERAL (
      SELECT t.symbol AS feed, greatest(t.closed_at, m.closed_at) AS priced_at
      FROM (SELECT CASE h.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE h.metadata ->> 'symbol' END AS symbol, h.closed_at
          FROM history.stellar_asset_instance AS h
          WHERE h.deployment = a.deployment AND h.contract = a.token AND NOT h.removed
          ORDER BY h.ledger, h.tx, h.seq LIMIT 1) AS t
        CROSS JOIN LATERAL (SELECT m.closed_at
          FROM (history.synthetic_engine_asset_config AS m JOIN (SELECT) AS m_bound ON (m.deployment, m.contract) IN
            (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'synthetic_engine'))
          WHERE m.deployment = a.deployment AND m.coll_oracle_sym = t.symbol AND NOT m.removed
          ORDER BY m.ledger LIMIT 1) AS m
    ) AS p ON true;
COMMENT ON VIEW chain.collateral IS 'Tokens that the vault engine ever accepted as collateral';
COMMENT ON COLUMN chain.collateral.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.collateral.token IS 'Token, contract address';
COMMENT ON COLUMN chain.collateral.accepted_at IS 'When it was first accepted, or followed if that was later';
COMMENT ON COLUMN chain.collateral.feed IS 'Feed of its symbol; null: no market ever priced its collateral by it';
COMMENT ON COLUMN chain.collateral.priced_at IS 'When a market first priced its collateral by that feed';

-- --- decimals ----------------------------------------------------------------------------------------

-- at: the ledger of the decimals; 2147483647 is now. NULL: not known, so nothing is scaled by them. Each has at most one row, and
-- stands in FROM: PostgreSQL then makes it part of the statement, at a few microseconds for a look-up. Those that end with _then read the versions
-- of an entry, for what ever changed. They are no functions of SQL, because their plans would be part of each statement too.
CREATE FUNCTION chain.decimals_then(deployment smallint, token text, at integer) RETURNS integer
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN (SELECT t.decimals FROM chain.token_at($1, $2, $3) AS t);
END $$;
COMMENT ON FUNCTION chain.decimals_then(smallint, text, integer) IS 'decimals of a token as of a ledger, from its versions; null: not known';

CREATE FUNCTION chain.decimals_at(deployment smallint, token text, at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT CASE WHEN EXISTS (SELECT FROM rollup.decimals AS o
        WHERE o.deployment = $1 AND o.token = $2 AND o.decimals <> d.decimals AND o.last_ledger >= d.first_ledger)
      THEN chain.decimals_then($1, $2, $3)
    WHEN d.decimals >= 0 THEN d.decimals END
  FROM rollup.decimals AS d
  WHERE d.deployment = $1 AND d.token = $2 AND d.first_ledger <= $3
    AND ($3 = 2147483647 OR coalesce((SELECT f.ledger <= $3 FROM chain.followed_from($1, $2) AS f), true))
  ORDER BY d.first_ledger DESC LIMIT 1;
END;
COMMENT ON FUNCTION chain.decimals_at(smallint, text, integer) IS 'decimals of a token as of a ledger; null: not known';

CREATE VIEW chain.quote AS
  SELECT d.id AS deployment, min(j.address) AS token
  FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
  WHERE j.role = 'usdc' GROUP BY d.id;
COMMENT ON VIEW chain.quote IS 'The USDC of each deployment: what stability deposits and partners'' claims are paid in, and what totals are told in';
COMMENT ON COLUMN chain.quote.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.quote.token IS 'Token, contract address';

CREATE FUNCTION chain.quote_decimals(deployment smallint, at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals FROM chain.quote AS q, LATERAL chain.decimals_at($1, q.token, $2) AS d WHERE q.deployment = $1);
END;
COMMENT ON FUNCTION chain.quote_decimals(smallint, integer) IS 'decimals of USDC as of a ledger; null: not known';

-- The market's last version counts, also if it is gone: its events are still told.
CREATE FUNCTION chain.market_token_then(deployment smallint, engine text, market text, at integer) RETURNS text
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN (SELECT v.token
  FROM (
      SELECT s.key_hash, s.contract FROM state.synthetic_engine_asset_config AS s WHERE s.deployment = $1 AND s.symbol = $3
      UNION
      SELECT h.key_hash, h.contract FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.removed AND h.symbol = $3
    ) AS k, LATERAL (SELECT h.token FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $4 AND NOT h.removed
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
  WHERE k.contract = $2 LIMIT 1);
END $$;
COMMENT ON FUNCTION chain.market_token_then(smallint, text, text, integer) IS 'a market''s synthetic token as of a ledger, from the market''s versions; null: not known';

CREATE FUNCTION chain.market_decimals(deployment smallint, engine text, market text, at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals FROM chain.decimals_at($1, m.token, $4) AS d)
  FROM (SELECT CASE WHEN count(*) > 1 THEN chain.market_token_then($1, $2, $3, $4) ELSE min(t.token) END AS token
    FROM rollup.engine_token AS t
    WHERE t.deployment = $1 AND t.contract = $2 AND t.what = 'market' AND t.market = $3 AND t.first_ledger <= $4 OFFSET 0) AS m;
END;
COMMENT ON FUNCTION chain.market_decimals(smallint, text, text, integer) IS 'decimals of a market''s synthetic token as of a ledger; null: not known';

CREATE FUNCTION chain.market_decimals(deployment smallint, market text, at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals FROM chain.role AS r, LATERAL chain.market_decimals($1, r.contract, $2, $3) AS d
    WHERE r.deployment = $1 AND r.role = 'synthetic_engine');
END;
COMMENT ON FUNCTION chain.market_decimals(smallint, text, integer) IS 'the same of the engine that the deployment file names';

CREATE FUNCTION chain.pool_tokens_then(deployment smallint, pools text, pool_id text, at integer) RETURNS text[]
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN (SELECT ARRAY[v.token_a, v.token_b]
  FROM (
      SELECT s.key_hash, s.contract FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1 AND s.pool_id = $3
      UNION
      SELECT h.key_hash, h.contract FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.pool_id = $3
    ) AS k, LATERAL (SELECT h.token_a, h.token_b FROM history.liquidity_pool_pool AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $4 AND NOT h.removed
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
  WHERE k.contract = $2 LIMIT 1);
END $$;
COMMENT ON FUNCTION chain.pool_tokens_then(smallint, text, text, integer) IS 'a pool''s two tokens as of a ledger, from its versions; null: not known';

CREATE FUNCTION chain.pool_decimals(deployment smallint, pools text, pool_id text, at integer) RETURNS TABLE (a integer, b integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals FROM chain.decimals_at($1, p.tokens[1], $4) AS d), (SELECT d.decimals FROM chain.decimals_at($1, p.tokens[2], $4) AS d)
  FROM (SELECT CASE WHEN count(*) > 1 THEN chain.pool_tokens_then($1, $2, $3, $4) ELSE ARRAY[min(t.token_a), min(t.token_b)] END AS tokens
    FROM rollup.pool_token AS t
    WHERE t.deployment = $1 AND t.contract = $2 AND t.pool_id = $3 AND t.first_ledger <= $4 OFFSET 0) AS p;
END;
COMMENT ON FUNCTION chain.pool_decimals(smallint, text, text, integer) IS 'decimals of a pool''s tokens as of a ledger; null: not known';

CREATE FUNCTION chain.pool_decimals(deployment smallint, pool_id text, at integer) RETURNS TABLE (a integer, b integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT d.a, d.b FROM (SELECT) AS one
    LEFT JOIN chain.role AS r ON r.deployment = $1 AND r.role = 'liquidity_pool'
    LEFT JOIN LATERAL chain.pool_decimals($1, r.contract, $2, $3) AS d ON true;
END;
COMMENT ON FUNCTION chain.pool_decimals(smallint, text, integer) IS 'the same of the contract that the deployment file names';

-- Sums of collateral add up whatever tokens the engine takes.
CREATE FUNCTION chain.collateral_then(deployment smallint, engine text, at integer) RETURNS integer
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN (SELECT CASE WHEN count(*) = count(c.decimals) AND min(c.decimals) = max(c.decimals) THEN min(c.decimals) END
  FROM (
      SELECT (SELECT d.decimals FROM chain.decimals_at($1, k.token, $3) AS d) AS decimals
      FROM (
          SELECT s.key_hash, s.token, s.contract FROM state.synthetic_engine_collateral_allowed AS s WHERE s.deployment = $1
          UNION
          SELECT h.key_hash, h.token, h.contract FROM history.synthetic_engine_collateral_allowed AS h
          WHERE h.deployment = $1 AND h.removed AND h.ledger > $3
        ) AS k
        LEFT JOIN LATERAL (SELECT h.removed FROM history.synthetic_engine_collateral_allowed AS h
          WHERE $3 < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $3
          ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v ON true
      WHERE k.contract = $2 AND ($3 = 2147483647 OR NOT v.removed)
    ) AS c);
END $$;
COMMENT ON FUNCTION chain.collateral_then(smallint, text, integer) IS
  'the decimals that all tokens of the engine''s list of collateral have, as of a ledger, from the versions of the list; null: they differ, or are not known';

CREATE FUNCTION chain.collateral_decimals(deployment smallint, at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT CASE WHEN count(*) = count(c.decimals) AND min(c.decimals) = max(c.decimals) AND NOT bool_and(c.dropped) THEN min(c.decimals)
    WHEN bool_or(c.dropped) THEN chain.collateral_then($1, min(c.contract), $2) END
  FROM (SELECT t.contract, (SELECT d.decimals FROM chain.decimals_at($1, t.token, $2) AS d) AS decimals,
      EXISTS (SELECT FROM rollup.engine_token AS o WHERE o.deployment = $1 AND o.contract = t.contract AND o.what = 'dropped'
        AND o.market = '' AND o.token = t.token AND o.first_ledger <= $2) AS dropped
    FROM rollup.engine_token AS t
    WHERE t.deployment = $1 AND t.contract = (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine')
      AND t.what = 'collateral' AND t.first_ledger <= $2 OFFSET 0) AS c;
END;
COMMENT ON FUNCTION chain.collateral_decimals(smallint, integer) IS
  'the decimals that all tokens of the engine''s list of collateral have, as of a ledger; null: they differ, or are not known';

-- The token that a vault was secured with when an event of it was emitted: the event does not name it. The vault's own version of that
-- transaction tells, or the one before if the transaction removed it.
CREATE FUNCTION chain.vault_decimals(deployment smallint, engine integer, market integer, owner integer, ledger integer, tx integer,
    at integer) RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals
  FROM (SELECT h.key_hash FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.ledger = $5 AND h.tx = $6 AND h.contract_key = $2 AND h.synth_key = $3 AND h.key_owner_key = $4
      LIMIT 1) AS k, LATERAL (SELECT h.collateral_tok FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $5 AND (h.ledger, h.tx) <= ($5, $6) AND NOT h.removed
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v, LATERAL chain.decimals_at($1, v.collateral_tok, $7) AS d);
END;
COMMENT ON FUNCTION chain.vault_decimals(smallint, integer, integer, integer, integer, integer, integer) IS
  'decimals of the collateral of the vault that an event is about; null: not known';

-- A partner's cut is in the token of the next fee that the distributor receives in the same operation.
CREATE FUNCTION chain.cut_decimals(deployment smallint, ledger integer, tx integer, op integer, event integer, at integer)
  RETURNS TABLE (decimals integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT (SELECT d.decimals
  FROM (SELECT e.token FROM event.earnings_distributor_revenue_received AS e
      WHERE e.deployment = $1 AND e.ledger = $2 AND e.tx = $3 AND e.op = $4 AND e.event > $5
        AND e.contract = (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'earnings_distributor')
      ORDER BY e.event LIMIT 1) AS r, LATERAL chain.decimals_at($1, r.token, $6) AS d);
END;
COMMENT ON FUNCTION chain.cut_decimals(smallint, integer, integer, integer, integer, integer) IS
  'decimals of the token of a partner''s cut; null: not known';

-- A function of its owner, because analysts read rollup.held through a view.
CREATE FUNCTION chain.decimals_on(deployment smallint, token text, day date) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT d.decimals
  FROM chain.decimals_at($1, $2, CASE WHEN $3 = 'infinity' THEN 2147483647 ELSE chain.ledger_before($1, chain.day_start($3 + 1)) END) AS d;
END;
COMMENT ON FUNCTION chain.decimals_on(smallint, text, date) IS 'decimals of a token at the end of a day, infinity: now; null: not known';

-- The engine's value of a token has the token's decimals.
CREATE FUNCTION chain.quoted(amount numeric, price numeric, decimals integer, quote_decimals integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN decimals BETWEEN 0 AND 38 AND quote_decimals BETWEEN 0 AND 38
    THEN div(amount * price * ('1e' || quote_decimals::text)::numeric, ('1e' || (decimals + 7)::text)::numeric) END;
COMMENT ON FUNCTION chain.quoted(numeric, numeric, integer, integer) IS
  'value of an amount at a price of 7 decimals, in raw units of a token with quote_decimals; null: decimals are not known';

-- Counts what has a price in the protocol itself: pools with USDC (twice their USDC), the engine's USDC, its other collateral at the
-- feed of its symbol, and the stability pool's USDC. A day's row uses the last values known at its end.
-- The two CTEs do not depend on the day: each is evaluated once.
CREATE VIEW rollup.held AS
  WITH collateral AS MATERIALIZED (
    SELECT c.deployment, c.token, c.accepted_at, c.feed, c.priced_at FROM chain.collateral AS c
  ), pool AS MATERIALIZED (
    SELECT s.deployment, s.key_hash, s.pool_id
    FROM (state.liquidity_pool_pool AS s JOIN (SELECT) AS s_bound ON (s.deployment, s.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    UNION
    SELECT g.deployment, g.key_hash, g.pool_id
    FROM (history.liquidity_pool_pool AS g JOIN (SELECT) AS g_bound ON (g.deployment, g.contract) IN
      (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
    WHERE g.removed
  )
  SELECT
    d.deployment,
    d.day,
    p.amount AS pools,
    c.amount AS collateral,
    s.amount AS stability,
    p.amount + c.amount + s.amount AS total,
    p.unpriced + c.unpriced AS unpriced,
    usdc.decimals
  FROM (
    SELECT r.deployment, r.day FROM rollup.day AS r
    UNION ALL
    SELECT x.id, 'infinity'::date FROM chain.deployment AS x
  ) AS d
    LEFT JOIN LATERAL (
      SELECT q.token AS address, chain.decimals_on(d.deployment, q.token, d.day) AS decimals
      FROM chain.quote AS q WHERE q.deployment = d.deployment OFFSET 0
    ) AS usdc ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(2 * CASE usdc.address WHEN k.token_a THEN v.amount WHEN k.token_b THEN v.amount_b END), 0) AS amount,
        count(*) FILTER (WHERE usdc.address IS NULL OR usdc.address NOT IN (k.token_a, k.token_b)) AS unpriced
      FROM pool AS s
        CROSS JOIN LATERAL (SELECT q.amount, q.amount_b, q.ledger, q.tx, q.seq FROM rollup.closing AS q
          WHERE q.deployment = d.deployment AND q.what = 'pool' AND q.name = s.pool_id AND q.day <= d.day
          ORDER BY q.day DESC LIMIT 1) AS v
        CROSS JOIN LATERAL (SELECT h.token_a, h.token_b
          FROM (history.liquidity_pool_pool AS h JOIN (SELECT) AS h_bound ON (h.deployment, h.contract) IN
            (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool'))
          WHERE h.deployment = d.deployment AND h.key_hash = s.key_hash AND h.ledger = v.ledger AND h.tx = v.tx AND h.seq = v.seq
            AND NOT h.removed OFFSET 0) AS k
      WHERE s.deployment = d.deployment
    ) AS p
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN t.token = usdc.address THEN v.amount ELSE u.amount END), 0) AS amount,
        count(*) FILTER (WHERE v.amount > 0 AND u.amount IS NULL AND t.token IS DISTINCT FROM usdc.address) AS unpriced
      FROM collateral AS t
        CROSS JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
          WHERE q.deployment = d.deployment AND q.what = 'collateral' AND q.name = t.token AND q.day <= d.day
          ORDER BY q.day DESC LIMIT 1) AS v
        LEFT JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
          WHERE q.deployment = d.deployment AND q.what = 'price' AND q.name = t.feed AND q.day <= d.day
            AND t.priced_at < chain.day_start(d.day + 1)
          ORDER BY q.day DESC LIMIT 1) AS f ON true
        CROSS JOIN LATERAL (SELECT chain.quoted(v.amount, f.amount, chain.decimals_on(d.deployment, t.token, d.day), usdc.decimals)
          AS amount OFFSET 0) AS u
      WHERE t.deployment = d.deployment AND t.accepted_at < chain.day_start(d.day + 1)
    ) AS c
    CROSS JOIN LATERAL (
      SELECT coalesce((SELECT q.amount FROM rollup.closing AS q
        WHERE q.deployment = d.deployment AND q.what = 'stability' AND q.name = '' AND q.day <= d.day
        ORDER BY q.day DESC LIMIT 1), 0) AS amount
    ) AS s;
COMMENT ON VIEW rollup.held IS 'Value held by the protocol at the close of each day with activity, in USDC; day infinity: now';
COMMENT ON COLUMN rollup.held.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.held.day IS 'Day, UTC; infinity: now';
COMMENT ON COLUMN rollup.held.pools IS 'Twice the USDC in pools with USDC, raw units';
COMMENT ON COLUMN rollup.held.collateral IS 'Tokens accepted as collateral that the vault engine holds, at the feed of their symbol, in USDC, raw units';
COMMENT ON COLUMN rollup.held.stability IS 'Deposits in the stability pool, USDC, raw units';
COMMENT ON COLUMN rollup.held.total IS 'The three together';
COMMENT ON COLUMN rollup.held.unpriced IS 'Pools without USDC and collateral without a feed or decimals; the sums leave them out';
COMMENT ON COLUMN rollup.held.decimals IS 'Decimals of USDC then; null: not known';
