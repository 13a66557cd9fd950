-- 0040_rollup_days: figures by day (UTC) beside the candles: who was active, pools, markets, and the
-- last word of a day on what is held, owed and priced.

ALTER TABLE rollup.day ADD COLUMN users bigint NOT NULL DEFAULT 0, ADD COLUMN liquidations bigint NOT NULL DEFAULT 0;
COMMENT ON TABLE rollup.day IS 'The protocol by day (UTC); no row: nobody did anything';
COMMENT ON COLUMN rollup.day.users IS 'Different addresses that traded, gave or took liquidity, used a vault or the stability pool';
COMMENT ON COLUMN rollup.day.liquidations IS 'Vaults liquidated, each time';

-- Exact, since a day can come in pieces and in any order: an address is counted when it is new here.
CREATE TABLE rollup.active (
    deployment smallint NOT NULL,
    pool_id    text     NOT NULL,
    day        date     NOT NULL,
    address    text     NOT NULL,
    PRIMARY KEY (deployment, pool_id, day, address)
);
COMMENT ON TABLE rollup.active IS 'Who was active on which day, each once';
COMMENT ON COLUMN rollup.active.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.active.pool_id IS 'Pool that the address traded in; empty: active anywhere in the protocol';
COMMENT ON COLUMN rollup.active.day IS 'Day, UTC; -infinity: ever';
COMMENT ON COLUMN rollup.active.address IS 'Address';

CREATE TABLE rollup.total (
    deployment smallint PRIMARY KEY,
    users      bigint   NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.total IS 'What days do not add up to';
COMMENT ON COLUMN rollup.total.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.total.users IS 'Different addresses that were ever active';

CREATE TABLE rollup.pool_day (
    deployment smallint      NOT NULL,
    pool_id    text          NOT NULL,
    day        date          NOT NULL,
    traders    bigint        NOT NULL DEFAULT 0,
    additions  bigint        NOT NULL DEFAULT 0,
    removals   bigint        NOT NULL DEFAULT 0,
    claims     bigint        NOT NULL DEFAULT 0,
    added_a    numeric(45,0) NOT NULL DEFAULT 0,
    added_b    numeric(45,0) NOT NULL DEFAULT 0,
    removed_a  numeric(45,0) NOT NULL DEFAULT 0,
    removed_b  numeric(45,0) NOT NULL DEFAULT 0,
    claimed_a  numeric(45,0) NOT NULL DEFAULT 0,
    claimed_b  numeric(45,0) NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, pool_id, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.pool_day IS 'Traders and liquidity of a pool by day (UTC), beside its candles of a day';
COMMENT ON COLUMN rollup.pool_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.pool_day.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.pool_day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.pool_day.traders IS 'Different traders';
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
    deployment   smallint      NOT NULL,
    market       text          NOT NULL,
    day          date          NOT NULL,
    opened       bigint        NOT NULL,
    liquidations bigint        NOT NULL,
    minted       numeric(45,0) NOT NULL,
    repaid       numeric(45,0) NOT NULL,
    deposited    numeric(45,0) NOT NULL,
    withdrawn    numeric(45,0) NOT NULL,
    seized       numeric(45,0) NOT NULL,
    PRIMARY KEY (deployment, market, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.market_day IS 'Vaults of a market by day (UTC); no row: nothing happened';
COMMENT ON COLUMN rollup.market_day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.market_day.market IS 'Market';
COMMENT ON COLUMN rollup.market_day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.market_day.opened IS 'Vaults opened';
COMMENT ON COLUMN rollup.market_day.liquidations IS 'Vaults liquidated, each time';
COMMENT ON COLUMN rollup.market_day.minted IS 'Synthetic tokens minted, raw units';
COMMENT ON COLUMN rollup.market_day.repaid IS 'Debt repaid by owners, raw units; what liquidators repaid is not in it';
COMMENT ON COLUMN rollup.market_day.deposited IS 'Collateral paid in, when opening and later, whatever token, raw units';
COMMENT ON COLUMN rollup.market_day.withdrawn IS 'Collateral withdrawn, whatever token, raw units';
COMMENT ON COLUMN rollup.market_day.seized IS 'Collateral given to liquidators, whatever token, raw units';

-- A day without a change has no row: what held the day before still does.
CREATE TABLE rollup.closing (
    deployment smallint NOT NULL,
    what       text     NOT NULL CHECK (what IN ('pool', 'debt', 'stability', 'collateral', 'price')),
    name       text     NOT NULL,
    day        date     NOT NULL,
    ledger     integer  NOT NULL,
    tx         integer  NOT NULL,
    seq        integer  NOT NULL,
    amount     numeric(39,0),
    amount_b   numeric(39,0),
    PRIMARY KEY (deployment, what, name, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE rollup.closing IS 'The last version on a day (UTC) of entries that say what is held, owed and priced';
COMMENT ON COLUMN rollup.closing.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.closing.what IS 'pool: reserves; debt: of a market; stability: total deposits; collateral: the engine''s balance of a token; price: a feed';
COMMENT ON COLUMN rollup.closing.name IS 'Pool, market, nothing, token contract, feed';
COMMENT ON COLUMN rollup.closing.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.closing.ledger IS 'Ledger of that version';
COMMENT ON COLUMN rollup.closing.tx IS 'Transaction in apply order';
COMMENT ON COLUMN rollup.closing.seq IS 'Change within the transaction';
COMMENT ON COLUMN rollup.closing.amount IS 'Raw units (a pool: of token A; a feed: its time-weighted price); null: the entry was removed';
COMMENT ON COLUMN rollup.closing.amount_b IS 'A pool''s reserve of token B, raw units';

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
