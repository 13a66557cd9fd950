-- 0001_chain: what the indexer knows about its own work: which deployment, how far, what is
-- covered, which partitions are still being loaded.
--
-- Written only by the indexer. deployment is a small integer that every key of every table
-- carries: one set of contracts on one network in one epoch of that network.

CREATE SCHEMA IF NOT EXISTS chain;
CREATE SCHEMA event;
CREATE SCHEMA state;
CREATE SCHEMA history;

CREATE TABLE chain.deployment (
    id             smallint    PRIMARY KEY GENERATED ALWAYS AS IDENTITY CHECK (id > 0),
    passphrase     text        NOT NULL,
    network_id     bytea       NOT NULL CHECK (octet_length(network_id) = 32),
    epoch          integer     NOT NULL DEFAULT 0, -- resets of that network, counted by hand
    contracts_hash bytea       NOT NULL CHECK (octet_length(contracts_hash) = 32),
    contracts      jsonb       NOT NULL,           -- [{"name", "role", "address"}]
    first_ledger   integer     NOT NULL DEFAULT 0, -- of the protocol, as the operator says; 0 unknown
    scope          text        NOT NULL DEFAULT '*', -- all kinds, or the sorted list of --only
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (network_id, epoch, contracts_hash)
);
COMMENT ON TABLE chain.deployment IS 'one set of contracts on one network in one epoch of that network';

-- How far the tables stand: everything up to ledger is there and visible, nothing after it.
-- A transaction that moves it also carries the rows that it stands for. fence is the session
-- that may write: a writer whose fence is not here any more has lost its place. moves counts
-- the transactions, so that an answer to COMMIT that got lost is settled by reading it.
CREATE TABLE chain.cursor (
    deployment       smallint    PRIMARY KEY REFERENCES chain.deployment,
    ledger           integer     NOT NULL DEFAULT 0 CHECK (ledger >= 0), -- 0: nothing yet
    hash             bytea       CHECK (octet_length(hash) = 32),
    closed_at        timestamptz,
    fence            bigint      NOT NULL DEFAULT 0,
    moves            bigint      NOT NULL DEFAULT 0,
    moved_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- totals over all that was indexed, so that status need not count tables
    ledgers          bigint      NOT NULL DEFAULT 0,
    transactions     bigint      NOT NULL DEFAULT 0,
    calls            bigint      NOT NULL DEFAULT 0,
    events           bigint      NOT NULL DEFAULT 0,
    changes          bigint      NOT NULL DEFAULT 0,
    raw_events       bigint      NOT NULL DEFAULT 0,
    raw_states       bigint      NOT NULL DEFAULT 0,
    calls_verified   bigint      NOT NULL DEFAULT 0,
    calls_rewritten  bigint      NOT NULL DEFAULT 0,
    calls_unverified bigint      NOT NULL DEFAULT 0,
    CHECK ((ledger = 0) = (hash IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.cursor IS 'the last ledger whose rows are all in the tables, and the writer that may move it';

-- Contiguous ranges whose rows are visible, of the kinds that the deployment's scope names.
CREATE TABLE chain.coverage (
    deployment    smallint NOT NULL REFERENCES chain.deployment,
    from_ledger   integer  NOT NULL CHECK (from_ledger > 0),
    to_ledger     integer  NOT NULL,
    previous_hash bytea    NOT NULL CHECK (octet_length(previous_hash) = 32), -- of from_ledger
    hash          bytea    NOT NULL CHECK (octet_length(hash) = 32),          -- of to_ledger
    closed_at     timestamptz NOT NULL,                                       -- of to_ledger
    PRIMARY KEY (deployment, from_ledger),
    CHECK (to_ledger >= from_ledger)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.coverage IS 'contiguous ranges of ledgers that are indexed';

-- Partitions of all partitioned tables, by range of ledger. While loading, rows go to tables
-- NAME_pD_F that are no partitions yet and have no indexes; loaded says how far. They become
-- visible, with coverage and cursor, in the one transaction that attaches them.
CREATE TABLE chain.partition (
    deployment    smallint NOT NULL REFERENCES chain.deployment,
    from_ledger   integer  NOT NULL CHECK (from_ledger >= 0),
    end_ledger    integer  NOT NULL,             -- exclusive
    attached      boolean  NOT NULL,
    first_loaded  integer,                       -- loading: rows of first_loaded .. last_loaded are in
    last_loaded   integer,
    previous_hash bytea,
    hash          bytea,
    closed_at     timestamptz,
    PRIMARY KEY (deployment, from_ledger),
    CHECK (end_ledger > from_ledger)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.partition IS 'ranges of ledger that the partitioned tables are cut into, and what is still being loaded';

-- What the writer says about itself. One row a deployment; updated outside the data's transactions.
CREATE TABLE chain.heartbeat (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    state      text        NOT NULL, -- starting, standby, loading, indexing, following, frozen, stopped
    instance   text        NOT NULL, -- host and process
    tip        integer,              -- newest ledger that the source is known to have
    ledger     integer,              -- newest ledger committed, visible or loading
    rate       double precision,     -- ledgers a second, lately
    error      text,                 -- why frozen, or the last trouble
    error_at   timestamptz,
    beat_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE chain.heartbeat IS 'the writer''s own account of itself';
