-- 0011_retries: how often the writer had to try again.

ALTER TABLE chain.heartbeat ADD COLUMN retries bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN chain.heartbeat.retries IS 'transactions repeated and connections sought again since the process began';
COMMENT ON COLUMN chain.heartbeat.state IS 'standby, loading, indexing, following, retrying, frozen, stopped';
