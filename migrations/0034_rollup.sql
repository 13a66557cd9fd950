-- 0034_rollup: sums over time that the indexer keeps in the transaction of the rows they sum up:
-- candles of pools. indexer/rollup/ has the statements that keep them.
--
-- An interval without a trade has no row. Rows are sums over whatever ranges are covered
-- (chain.coverage): an earlier range that comes later is added, in any order.

CREATE SCHEMA rollup;
COMMENT ON SCHEMA rollup IS 'sums over time, kept with the rows they sum up';
REVOKE ALL ON SCHEMA rollup FROM PUBLIC;

-- Which rules the rows of a deployment follow. A writer that knows newer ones, or finds no row,
-- makes all of them anew from events and history before it goes on.
CREATE TABLE rollup.built (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    version    integer     NOT NULL,
    built_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE rollup.built IS 'by which rules the rollups of a deployment were made; no row: they are made anew';
COMMENT ON COLUMN rollup.built.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.built.version IS 'Of the statements';
COMMENT ON COLUMN rollup.built.built_at IS 'When all of them were last made';

-- Price: what the pool says after each transaction that traded in it, reserve_b / reserve_a from its
-- entry, cut after 14 decimals (7 more than the contract's own spot price, which is this one cut
-- again). A trade's own rate would swing with fee and size, and dust would make wicks of it. Null
-- when the pool was empty then, and where pools are not indexed (--only).
CREATE TABLE rollup.candle (
    deployment   smallint       NOT NULL,
    pool_id      text           NOT NULL,
    seconds      integer        NOT NULL CHECK (seconds IN (60, 300, 3600, 86400)),
    at           timestamptz    NOT NULL,
    open_price   numeric(60,14),
    high_price   numeric(60,14),
    low_price    numeric(60,14),
    close_price  numeric(60,14),
    first_place  bigint         NOT NULL,
    last_place   bigint         NOT NULL,
    swaps        bigint         NOT NULL,
    volume_a     numeric(45,0)  NOT NULL,
    volume_b     numeric(45,0)  NOT NULL,
    fees_a       numeric(45,0),
    fees_b       numeric(45,0),
    volume_quote numeric(45,0),
    fees_quote   numeric(45,0),
    PRIMARY KEY (deployment, pool_id, seconds, at)
) WITH (fillfactor = 90);
COMMENT ON TABLE rollup.candle IS 'Trade of a pool by minute, five minutes, hour and day (UTC); no row: no trade';
COMMENT ON COLUMN rollup.candle.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.candle.pool_id IS 'Pool';
COMMENT ON COLUMN rollup.candle.seconds IS 'Length of the interval: 60, 300, 3600 or 86400';
COMMENT ON COLUMN rollup.candle.at IS 'Its beginning; close times from it up to the next one';
COMMENT ON COLUMN rollup.candle.open_price IS 'Token A in B after the first transaction that traded, raw units, 14 decimals';
COMMENT ON COLUMN rollup.candle.high_price IS 'Highest of them';
COMMENT ON COLUMN rollup.candle.low_price IS 'Lowest of them';
COMMENT ON COLUMN rollup.candle.close_price IS 'Token A in B after the last transaction that traded';
COMMENT ON COLUMN rollup.candle.first_place IS 'Of the first one: ledger * 1048576 + transaction';
COMMENT ON COLUMN rollup.candle.last_place IS 'Of the last one';
COMMENT ON COLUMN rollup.candle.swaps IS 'Trades';
COMMENT ON COLUMN rollup.candle.volume_a IS 'Token A that trades moved, in or out, raw units';
COMMENT ON COLUMN rollup.candle.volume_b IS 'Token B that trades moved, in or out, raw units';
COMMENT ON COLUMN rollup.candle.fees_a IS 'Fees paid in token A, protocol''s part included, raw units; null: the pool''s tier is not indexed';
COMMENT ON COLUMN rollup.candle.fees_b IS 'Fees paid in token B, the same way';
COMMENT ON COLUMN rollup.candle.volume_quote IS 'Volume in USDC, raw units; null: neither token is USDC';
COMMENT ON COLUMN rollup.candle.fees_quote IS 'Fees in USDC, those in the other token at their trade''s own rate; null: neither token is USDC';

-- Trade of all pools together.
CREATE TABLE rollup.day (
    deployment   smallint      NOT NULL,
    day          date          NOT NULL,
    swaps        bigint        NOT NULL,
    quoted_swaps bigint        NOT NULL,
    volume_quote numeric(45,0),
    fees_quote   numeric(45,0),
    PRIMARY KEY (deployment, day)
) WITH (fillfactor = 50);
COMMENT ON TABLE rollup.day IS 'Trade of all pools by day (UTC); no row: no trade';
COMMENT ON COLUMN rollup.day.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN rollup.day.day IS 'Day, UTC';
COMMENT ON COLUMN rollup.day.swaps IS 'Trades';
COMMENT ON COLUMN rollup.day.quoted_swaps IS 'Of these, in pools with USDC';
COMMENT ON COLUMN rollup.day.volume_quote IS 'Volume of the pools with USDC, in USDC, raw units';
COMMENT ON COLUMN rollup.day.fees_quote IS 'Fees of the pools with USDC, in USDC, raw units';

-- Where a role could not be made by its migration there is nobody to grant to yet.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_api') THEN
    CALL chain.grant_api();
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'tidemark_api may not read the schema rollup (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
