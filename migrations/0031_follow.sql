-- 0031_follow: one writer among several: whose turn it is by the database's clock, who waits, what
-- the writer says of itself, which ledger it crashed on, and whether the tables ever went back.

-- The writer's lease, renewed every half second by a session of its own. One that is not renewed
-- belongs to a writer that is stopped or cut off: a standby ends its sessions and takes its place.
CREATE TABLE chain.lease (
    deployment     smallint    PRIMARY KEY REFERENCES chain.deployment,
    fence          bigint      NOT NULL,
    instance       text        NOT NULL,
    writer_pid     integer     NOT NULL,
    writer_started timestamptz NOT NULL,
    writer_name    text        NOT NULL,
    keeper_pid     integer,
    keeper_started timestamptz,
    keeper_name    text,
    taken_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.lease IS 'the writer''s turn, while it is renewed, and the sessions that it holds';

CREATE TABLE chain.standby (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    instance   text        NOT NULL,
    since      timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, instance)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.standby IS 'who waits to become the writer; gone when seen_at is old';

-- A process that ends well clears running. One that finds it set knows of a crash, and where.
CREATE TABLE chain.attempt (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    running    boolean     NOT NULL,
    ledger     integer     NOT NULL, -- that crashes happened on
    attempts   integer     NOT NULL DEFAULT 0, -- that crashed on it, one after the other
    began_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE chain.attempt IS 'crashes on one and the same ledger';

ALTER TABLE chain.cursor ADD COLUMN generation bigint NOT NULL DEFAULT 0, ADD COLUMN timeline integer;
COMMENT ON COLUMN chain.cursor.generation IS 'grows when the database may have lost commits (a failover, a restored backup): ledgers seen before may be missing for a while';
COMMENT ON COLUMN chain.cursor.timeline IS 'of the server''s write-ahead log, as the writer last saw it';

ALTER TABLE chain.heartbeat ADD COLUMN ledgers bigint NOT NULL DEFAULT 0, ADD COLUMN events bigint NOT NULL DEFAULT 0,
    ADD COLUMN event_rate double precision, ADD COLUMN source text, ADD COLUMN trouble text, ADD COLUMN trouble_ms bigint,
    ADD COLUMN lag_ledgers integer GENERATED ALWAYS AS (greatest(tip - ledger, 0)) STORED;
ALTER TABLE chain.heartbeat SET (fillfactor = 50);
COMMENT ON COLUMN chain.heartbeat.ledgers IS 'committed since the process began, or became the writer';
COMMENT ON COLUMN chain.heartbeat.events IS 'committed since the process began, or became the writer';
COMMENT ON COLUMN chain.heartbeat.source IS 'lake, rpc, joined, stream';
COMMENT ON COLUMN chain.heartbeat.trouble IS 'why the source cannot go on at the moment; null: it can';
COMMENT ON COLUMN chain.heartbeat.trouble_ms IS 'for how long it could not';
COMMENT ON COLUMN chain.heartbeat.lag_ledgers IS 'tip less ledger';
COMMENT ON COLUMN chain.heartbeat.state IS 'loading, indexing, following, degraded, retrying, frozen, quarantine, stopped';
