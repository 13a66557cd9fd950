-- 0001_chain: the schemas, the functions that need no table, and the indexer's own tables.
--
-- Every key of every table carries `deployment`, a small integer: one set of contracts on one
-- network in one epoch of that network. Only the indexer writes the tables of this file.

CREATE SCHEMA IF NOT EXISTS chain; -- `migrate` records its work there before the first migration
CREATE SCHEMA event;
CREATE SCHEMA state;
CREATE SCHEMA history;
CREATE SCHEMA asof;
CREATE SCHEMA chain_rows;
CREATE SCHEMA event_rows;
CREATE SCHEMA history_rows;
COMMENT ON SCHEMA asof IS 'the last versions of each key in each ledger, and perhaps others, of the views of the schema history: what statements as of a ledger read';
COMMENT ON SCHEMA chain_rows IS 'stored rows of the views chain.tx and chain.call: a call in the row of its transaction; with keys of chain.word';
COMMENT ON SCHEMA event_rows IS 'stored rows of the views of the schema event, with keys of chain.word';
COMMENT ON SCHEMA history_rows IS 'stored rows of the views of the schema history, with keys of chain.word';
CREATE SCHEMA rollup;
COMMENT ON SCHEMA rollup IS 'sums over time, kept with the rows they sum up';
CREATE SCHEMA analyst;
COMMENT ON SCHEMA analyst IS 'documented views for analysts; migrations/README.md shows ten questions';
CREATE SCHEMA kyc;

-- --- deployments and the writer's position --------------------------------------------------------

CREATE TABLE chain.deployment (
    id             smallint    PRIMARY KEY GENERATED ALWAYS AS IDENTITY CHECK (id > 0),
    passphrase     text        NOT NULL,
    network_id     bytea       NOT NULL CHECK (octet_length(network_id) = 32),
    epoch          integer     NOT NULL DEFAULT 0, -- resets of that network, set by the operator
    contracts_hash bytea       NOT NULL CHECK (octet_length(contracts_hash) = 32),
    contracts      jsonb       NOT NULL,           -- [{"name", "role", "address"}]
    first_ledger   integer     NOT NULL DEFAULT 0, -- first ledger of the protocol, from the deployment file; 0: unknown
    filled_start   integer     CHECK (filled_start > 0), -- the checkpoint with which the index began, once its past is filled
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    dao_wallet     text,
    UNIQUE (network_id, epoch, contracts_hash)
);
COMMENT ON TABLE chain.deployment IS 'one set of contracts on one network in one epoch of that network';
COMMENT ON COLUMN chain.deployment.dao_wallet IS 'accounts.daowallet of the deployment file; NULL: it names none';

-- All rows up to `ledger` are visible, none after it. The transaction that moves the cursor carries
-- the rows of the ledgers it moves over. `writer` is the process that may write, by a random number that
-- it drew when it became the writer: no other process has it, not even at a second primary that another
-- failover made of the same rows. `moves` counts these transactions: after a lost answer to COMMIT, the
-- writer reads it to learn whether the transaction took effect. Each transaction of a writer begins with
-- a look at this row: it must be as the writer's last one left it, in writer, moves, ledger and hash.
CREATE TABLE chain.cursor (
    deployment       smallint    PRIMARY KEY REFERENCES chain.deployment,
    ledger           integer     NOT NULL DEFAULT 0 CHECK (ledger >= 0), -- 0: nothing indexed yet
    hash             bytea       CHECK (octet_length(hash) = 32),
    closed_at        timestamptz,
    writer           uuid,                              -- NULL: none yet
    moves            bigint      NOT NULL DEFAULT 0,
    moved_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- totals over everything indexed, so that status need not count rows
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
    generation       bigint      NOT NULL DEFAULT 0,
    timeline         integer,
    raw_calls        bigint      NOT NULL DEFAULT 0,
    parts            bigint      NOT NULL DEFAULT 0,
    CHECK ((ledger = 0) = (hash IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.cursor IS 'the last ledger with all its rows in the tables, and the writer that may move it';
COMMENT ON COLUMN chain.cursor.generation IS 'grows when the database may have lost commits (a failover, a restored backup): ledgers seen before may be missing for a while';
COMMENT ON COLUMN chain.cursor.parts IS 'grows when partitions with rows are attached or detached: who read across that has to read again';
COMMENT ON COLUMN chain.cursor.timeline IS 'timeline of the server''s write-ahead log, as the writer last read it';

-- An index may begin with the state of a checkpoint: rows of history with transaction 0 of its ledger
-- tell it. They do not say since when an entry has its value. chain.coverage begins with that ledger,
-- but of its own transactions, and of the ledgers before, there is nothing until a backfill has filled
-- them, which deletes the row.
CREATE TABLE chain.start (
    deployment    smallint    PRIMARY KEY REFERENCES chain.deployment,
    ledger        integer     NOT NULL CHECK (ledger > 0),
    hash          bytea       NOT NULL CHECK (octet_length(hash) = 32),
    closed_at     timestamptz NOT NULL,
    signed_ledger integer     CHECK (signed_ledger >= ledger),
    signed_by     text[]      CHECK (cardinality(signed_by) > 0),
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((signed_ledger IS NULL) = (signed_by IS NULL))
);
COMMENT ON TABLE chain.start IS 'an index began with the state of this checkpoint; no row: it began with a ledger, or the past was filled';
COMMENT ON COLUMN chain.start.ledger IS 'the checkpoint''s ledger: its state is stored, history begins with the next one';
COMMENT ON COLUMN chain.start.hash IS 'hash of the ledger, by which the state is proven';
COMMENT ON COLUMN chain.start.signed_ledger IS 'a ledger that follows from it and that validators signed; null: the archive was believed';
COMMENT ON COLUMN chain.start.signed_by IS 'public keys of the validators that signed signed_ledger';

-- Contiguous ranges whose rows are visible.
CREATE TABLE chain.coverage (
    deployment    smallint NOT NULL REFERENCES chain.deployment,
    from_ledger   integer  NOT NULL CHECK (from_ledger > 0),
    to_ledger     integer  NOT NULL,
    previous_hash bytea    NOT NULL CHECK (octet_length(previous_hash) = 32), -- previousLedgerHash of from_ledger
    hash          bytea    NOT NULL CHECK (octet_length(hash) = 32),          -- ledger hash of to_ledger
    closed_at     timestamptz NOT NULL,                                       -- close time of to_ledger
    PRIMARY KEY (deployment, from_ledger),
    CHECK (to_ledger >= from_ledger)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.coverage IS 'contiguous ranges of ledgers that are indexed';

-- The contracts of the deployment file are followed in every ledger of chain.coverage. A discovered
-- contract is not: the ledgers indexed before its discovery are read again for it, from next_ledger
-- on. It is followed everywhere when no row has next_ledger <= to_ledger.
CREATE TABLE chain.contract_coverage (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    contract    text        NOT NULL,
    from_ledger integer     NOT NULL CHECK (from_ledger > 0),
    to_ledger   integer     NOT NULL,
    next_ledger integer     NOT NULL,          -- already read: from_ledger .. next_ledger - 1
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    trouble     text,                          -- why the last attempt to read stopped
    trouble_at  timestamptz,
    known_as    text CHECK (known_as IN ('synth_token', 'stellar_asset')),
    PRIMARY KEY (deployment, contract, from_ledger),
    CHECK (to_ledger >= from_ledger),
    CHECK (next_ledger BETWEEN from_ledger AND to_ledger + 1)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.contract_coverage IS 'ledgers indexed before a discovered contract was known, and how far they were read again for it';
COMMENT ON COLUMN chain.contract_coverage.known_as IS 'role by which these ledgers are read; null: not known yet';

-- Partitions of all partitioned tables, by range of ledger. While a range loads, its rows go to
-- tables NAME_pD_F, which are not attached and have no indexes. One transaction attaches them and
-- moves coverage and cursor.
CREATE TABLE chain.partition (
    deployment    smallint NOT NULL REFERENCES chain.deployment,
    from_ledger   integer  NOT NULL CHECK (from_ledger >= 0),
    end_ledger    integer  NOT NULL,             -- exclusive
    attached      boolean  NOT NULL,
    first_loaded  integer,                       -- loading: the rows of first_loaded .. last_loaded are in
    last_loaded   integer,
    previous_hash bytea,
    hash          bytea,
    closed_at     timestamptz,
    cut_of        integer CHECK (cut_of > end_ledger - from_ledger),
    PRIMARY KEY (deployment, from_ledger),
    CHECK (end_ledger > from_ledger)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.partition IS 'ledger ranges of the partitions, and how far a range is loaded';
COMMENT ON COLUMN chain.partition.cut_of IS 'ledgers of a whole partition, if this is a part of one that was cut at the checkpoint with which the index began';

-- Ranges whose events, calls and transactions are detached (chain.detach_partition). Ledgers, state,
-- history and rollups stay: answers about now, about any ledger and sums over time need no events.
-- Routes that need them refuse and name the range. Which partitions a table has does not follow a reader's snapshot: see
-- "Reading while partitions move" in README.md for who locks this table, and why.
CREATE TABLE chain.archive (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    from_ledger integer     NOT NULL,
    end_ledger  integer     NOT NULL,
    tables      text[]      NOT NULL,
    detached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, from_ledger)
);
COMMENT ON TABLE chain.archive IS 'ranges of ledgers with detached events, calls and transactions';
COMMENT ON COLUMN chain.archive.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.archive.from_ledger IS 'First ledger of the partition';
COMMENT ON COLUMN chain.archive.end_ledger IS 'First ledger after the partition';
COMMENT ON COLUMN chain.archive.tables IS 'Tables that hold the rows. Once dumped, they may be dropped; restored, they can be attached again';
COMMENT ON COLUMN chain.archive.detached_at IS 'Time of detaching';

-- Addresses, contracts, kinds and other symbols: each once. Tables that grow by the ledger store the key.
-- A word is added in the transaction of the first rows that use it, and stays. Keys are of this database
-- alone: nothing is ordered by them, no answer, cursor or digest shows them.
CREATE TABLE chain.word (
    id   integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    word text    NOT NULL UNIQUE
);
COMMENT ON TABLE chain.word IS 'the words that tables of ledger rows store as keys';

-- 0, which no row has, for a word that no row has. With it a condition is answered by an index in its order. It is no function of SQL,
-- because that is planned anew in each statement that calls it.
CREATE FUNCTION chain.word_key(word text) RETURNS integer
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  RETURN coalesce((SELECT w.id FROM chain.word AS w WHERE w.word = word_key.word), 0);
END $$;
COMMENT ON FUNCTION chain.word_key(text) IS 'key of a word; 0: no row has it';

-- --- the writer, its standbys, its state -----------------------------------------------------------

-- Updated outside the data's transactions, so that a writer that cannot commit still reports.
CREATE TABLE chain.heartbeat (
    deployment  smallint    PRIMARY KEY REFERENCES chain.deployment,
    state       text        NOT NULL,
    instance    text        NOT NULL, -- host and process
    tip         integer,              -- newest ledger that the source is known to have
    ledger      integer,              -- newest ledger committed, visible or loading
    rate        double precision,     -- ledgers a second, lately
    error       text,                 -- why frozen, or the last failure
    error_at    timestamptz,
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    retries     bigint      NOT NULL DEFAULT 0,
    ledgers     bigint      NOT NULL DEFAULT 0,
    events      bigint      NOT NULL DEFAULT 0,
    event_rate  double precision,     -- events a second, lately
    source      text,
    trouble     text,
    trouble_ms  bigint,
    current_at  timestamptz,
    lag_ledgers integer GENERATED ALWAYS AS (greatest(tip - ledger, 0)) STORED
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.heartbeat IS 'the writer''s reports about itself';
COMMENT ON COLUMN chain.heartbeat.state IS 'loading, indexing, following, degraded, retrying, frozen, quarantine, stopped';
COMMENT ON COLUMN chain.heartbeat.retries IS 'transactions repeated and reconnections since the process began';
COMMENT ON COLUMN chain.heartbeat.ledgers IS 'committed since the process began, or became the writer';
COMMENT ON COLUMN chain.heartbeat.events IS 'committed since the process began, or became the writer';
COMMENT ON COLUMN chain.heartbeat.source IS 'lake, rpc, joined, stream';
COMMENT ON COLUMN chain.heartbeat.trouble IS 'why the source cannot continue; null: it can';
COMMENT ON COLUMN chain.heartbeat.trouble_ms IS 'for how many milliseconds it could not';
COMMENT ON COLUMN chain.heartbeat.current_at IS 'when the holder of the lease last committed, or was at the source''s tip';
COMMENT ON COLUMN chain.heartbeat.lag_ledgers IS 'tip less ledger';

-- The writer's lease, renewed every half second by a session of its own, by the database's clock. Its
-- holder alone renews it: `writer` is the one of chain.cursor. It says that the process lives, not that the
-- rows are current: that is chain.heartbeat.current_at.
-- A lease that is not renewed belongs to a writer that is stopped or cut off: a standby ends its
-- sessions and takes the lease.
CREATE TABLE chain.lease (
    deployment     smallint    PRIMARY KEY REFERENCES chain.deployment,
    writer         uuid        NOT NULL,
    instance       text        NOT NULL,
    writer_pid     integer     NOT NULL,
    writer_started timestamptz NOT NULL,
    writer_name    text        NOT NULL,
    lease_pid      integer,
    lease_started  timestamptz,
    lease_name     text,
    taken_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.lease IS 'the writer''s lease, and the sessions that hold it';

CREATE TABLE chain.standby (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    instance   text        NOT NULL,
    since      timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, instance)
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.standby IS 'processes that wait to become the writer; one with an old seen_at is gone';

-- A process clears `running` when it ends normally. A process that finds it set knows that the one
-- before crashed, and on which ledger.
CREATE TABLE chain.attempt (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    running    boolean     NOT NULL,
    ledger     integer     NOT NULL, -- on which the crashes happened
    attempts   integer     NOT NULL DEFAULT 0, -- consecutive crashes on it
    began_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE chain.attempt IS 'consecutive crashes on one ledger';

-- --- proof by validators' signatures ---------------------------------------------------------------

-- Times and signers depend on when the indexer asked which archive, so no digest has these tables.
CREATE TABLE chain.checkpoint (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    ledger     integer     NOT NULL CHECK (ledger > 0),
    hash       bytea       NOT NULL CHECK (octet_length(hash) = 32),
    signed_by  text[]      NOT NULL CHECK (cardinality(signed_by) > 0),
    proven_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, ledger)
);
COMMENT ON TABLE chain.checkpoint IS 'ledgers whose hash a quorum of the named validators signed; each proves all indexed ledgers before it that are linked to it';
COMMENT ON COLUMN chain.checkpoint.ledger IS 'the last ledger that the votes of a checkpoint prove';
COMMENT ON COLUMN chain.checkpoint.hash IS 'its hash, which is the stored one';
COMMENT ON COLUMN chain.checkpoint.signed_by IS 'public keys of the validators that signed';

-- A row stops the indexer, and tidemark-api answers nothing about the chain, until an operator acts
-- (`tidemark-indexer fork`).
CREATE TABLE chain.fork (
    deployment  smallint    PRIMARY KEY REFERENCES chain.deployment,
    ledger      integer     NOT NULL CHECK (ledger > 0),
    hash        bytea       NOT NULL CHECK (octet_length(hash) = 32),
    signed_hash bytea       NOT NULL CHECK (octet_length(signed_hash) = 32),
    signed_by   text[]      NOT NULL CHECK (cardinality(signed_by) > 0),
    found_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (hash <> signed_hash)
);
COMMENT ON TABLE chain.fork IS 'a quorum of the named validators signed another hash than the stored one: ledgers behind the last proven one are in doubt';
COMMENT ON COLUMN chain.fork.ledger IS 'the first ledger that is known to differ';
COMMENT ON COLUMN chain.fork.hash IS 'its stored hash';
COMMENT ON COLUMN chain.fork.signed_hash IS 'the hash that the validators signed';
COMMENT ON COLUMN chain.fork.signed_by IS 'public keys of the validators that signed signed_hash';

CREATE TABLE chain.prover (
    deployment smallint    PRIMARY KEY REFERENCES chain.deployment,
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    trouble    text,
    trouble_at timestamptz,
    CHECK ((trouble IS NULL) = (trouble_at IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE chain.prover IS 'the indexer''s search for signatures in history archives; no row: it never searched';
COMMENT ON COLUMN chain.prover.asked_at IS 'when it last asked an archive';
COMMENT ON COLUMN chain.prover.trouble IS 'why the proof is late; null: it is not';
COMMENT ON COLUMN chain.prover.trouble_at IS 'since when';

-- The prover copies these from history archives, for proofs that are given to others (/api/proof). Each row is checked before it is
-- stored: a header against chain.ledger, results and sets against a header, envelopes by their signatures. proof_ledger has no reference
-- to chain.deployment: to check that for each ledger costs a third of storing it.
CREATE TABLE chain.proof_ledger (
    deployment smallint NOT NULL,
    ledger     integer  NOT NULL CHECK (ledger > 0),
    header     bytea    NOT NULL,
    results    bytea,
    PRIMARY KEY (deployment, ledger)
);
COMMENT ON TABLE chain.proof_ledger IS 'headers from a ledger with transactions of the deployment to the next one that votes prove';
COMMENT ON COLUMN chain.proof_ledger.header IS 'LedgerHeader';
COMMENT ON COLUMN chain.proof_ledger.results IS 'TransactionResultSet; null: the ledger has no transaction of the deployment';

CREATE TABLE chain.proof_vote (
    deployment smallint NOT NULL REFERENCES chain.deployment,
    ledger     integer  NOT NULL CHECK (ledger > 0),
    tx_set     bytea,
    envelopes  bytea[]  NOT NULL CHECK (cardinality(envelopes) > 0),
    PRIMARY KEY (deployment, ledger)
);
COMMENT ON TABLE chain.proof_vote IS 'votes of a quorum of the named validators about a ledger, which prove the ledger before';
COMMENT ON COLUMN chain.proof_vote.tx_set IS 'GeneralizedTransactionSet that has the signed hash; null: the value itself contains the hash of the ledger before';
COMMENT ON COLUMN chain.proof_vote.envelopes IS 'SCPEnvelope of each of these validators';

-- Replaced with each checkpoint that is proven.
CREATE TABLE chain.proof_state (
    deployment    smallint PRIMARY KEY REFERENCES chain.deployment,
    ledger        integer  NOT NULL CHECK (ledger > 0),
    buckets       bytea    NOT NULL CHECK (octet_length(buckets) IN (22 * 32, 44 * 32)),
    header_count  integer  NOT NULL CHECK (header_count > 0),
    headers       bytea    NOT NULL,
    signed_ledger integer  NOT NULL CHECK (signed_ledger = ledger + header_count),
    tx_set        bytea,
    envelopes     bytea[]  NOT NULL CHECK (cardinality(envelopes) > 0)
);
COMMENT ON TABLE chain.proof_state IS 'parts that prove entries as of the newest checkpoint whose state votes prove';
COMMENT ON COLUMN chain.proof_state.ledger IS 'the last ledger of that checkpoint';
COMMENT ON COLUMN chain.proof_state.buckets IS 'hashes of its buckets: of each level curr and snap, the live list before the hot archive''s, which exists from protocol 23 on';
COMMENT ON COLUMN chain.proof_state.headers IS 'LedgerHeader of each ledger from `ledger` to the one before signed_ledger, each behind its length';
COMMENT ON COLUMN chain.proof_state.signed_ledger IS 'the ledger that the votes are about; they prove the one before';
COMMENT ON COLUMN chain.proof_state.tx_set IS 'GeneralizedTransactionSet that has the signed hash; null: the value itself contains the hash of the ledger before';
COMMENT ON COLUMN chain.proof_state.envelopes IS 'SCPEnvelope of validators that satisfy the quorum set';

-- One row. Standbys and restored copies have the same id: they hold the same index.
CREATE TABLE chain.database (
    id      uuid    NOT NULL DEFAULT gen_random_uuid(),
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row)
);
COMMENT ON TABLE chain.database IS 'identifies this index: processes that share a port must serve the same';
INSERT INTO chain.database DEFAULT VALUES;

-- Every API node reads this through its cache, so that one command reaches all of them.
CREATE TABLE chain.withdrawn_key (
    kid          text        PRIMARY KEY CHECK (kid ~ '^[A-Za-z0-9_-]{43}$'), -- its thumbprint (RFC 7638), base64url
    reason       text        NOT NULL DEFAULT '',
    withdrawn_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    withdrawn_by text        NOT NULL DEFAULT session_user
);
COMMENT ON TABLE chain.withdrawn_key IS 'keys of receipts that count no more: no node publishes them or signs with them, whatever its files hold. Rows are only added';

-- --- functions that need no table -----------------------------------------------------------------

-- As Stellar RPC numbers events: tx counts from 1, op and event from 0. "<<" and "|" have the same precedence
-- in SQL, hence the parentheses.
CREATE FUNCTION chain.event_id(ledger integer, tx integer, op integer, event integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN lpad(((ledger::bigint << 32) | (tx::bigint << 12) | op::bigint)::text, 19, '0') || '-' || lpad(event::text, 10, '0');
COMMENT ON FUNCTION chain.event_id(integer, integer, integer, integer) IS 'the id that Stellar RPC gives the event';

CREATE FUNCTION chain.rfc3339(t timestamptz) RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN to_char(t AT TIME ZONE 'UTC', CASE WHEN extract(milliseconds FROM t)::integer % 1000 = 0
    THEN 'YYYY-MM-DD"T"HH24:MI:SS"Z"' ELSE 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"' END);
COMMENT ON FUNCTION chain.rfc3339(timestamptz) IS 'a time as the API writes it';

-- A ledger may close within a second (protocol 30). Contracts see whole seconds, rounded down, so whatever follows
-- their rules does too: a cast to bigint would round up.
CREATE FUNCTION chain.unix(t timestamptz) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN floor(extract(epoch FROM t))::bigint;
COMMENT ON FUNCTION chain.unix(timestamptz) IS 'unix seconds of a time, rounded down: the clock of contracts';

CREATE FUNCTION chain.unix_ms(t timestamptz) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN floor(extract(epoch FROM t) * 1000)::bigint;
COMMENT ON FUNCTION chain.unix_ms(timestamptz) IS 'unix milliseconds of a time, rounded down';

CREATE FUNCTION chain.interval_seconds(name text) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE name WHEN '1m' THEN 60 WHEN '5m' THEN 300 WHEN '15m' THEN 900 WHEN '1h' THEN 3600 WHEN '4h' THEN 14400
    WHEN '1d' THEN 86400 WHEN '1w' THEN 604800 END;
COMMENT ON FUNCTION chain.interval_seconds(text) IS 'length of an interval that rollups keep; null: no such interval';

CREATE FUNCTION chain.interval_name(seconds integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE seconds WHEN 60 THEN '1m' WHEN 300 THEN '5m' WHEN 900 THEN '15m' WHEN 3600 THEN '1h' WHEN 14400 THEN '4h'
    WHEN 86400 THEN '1d' WHEN 604800 THEN '1w' END;
COMMENT ON FUNCTION chain.interval_name(integer) IS 'name of an interval that rollups keep; null: no such interval';

-- The origin is a Monday: weeks begin on Mondays.
CREATE FUNCTION chain.interval_start(seconds integer, t timestamptz) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN date_bin(make_interval(secs => seconds), t, '2000-01-03 00:00:00+00');
COMMENT ON FUNCTION chain.interval_start(integer, timestamptz) IS 'beginning of the interval of that length that a time is in';

CREATE FUNCTION chain.day(t timestamptz) RETURNS date
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (t AT TIME ZONE 'UTC')::date;
COMMENT ON FUNCTION chain.day(timestamptz) IS 'the day of a time, UTC';

CREATE FUNCTION chain.day_start(day date) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN day::timestamp AT TIME ZONE 'UTC';
COMMENT ON FUNCTION chain.day_start(date) IS 'the beginning of a day, UTC';

-- The sort key of a vault in the list of its market, riskiest first: collateral / debt with 77 digits behind the
-- point. Two different quotients of numbers below 2^127 differ by more than 2^-254, which is above 3e-77, so no two share a key or change
-- places. Vaults without debt come last, behind them a negative debt: foreign code at the engine's address may store
-- any i128, and an index uses this function, so it must not fail on any stored value.
CREATE FUNCTION chain.vault_order(collateral numeric, debt numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt > 0 THEN div(collateral * 1e77, debt) WHEN debt = 0 THEN 1e117 ELSE 1e118 END;
COMMENT ON FUNCTION chain.vault_order(numeric, numeric) IS 'sort key of a vault in the list of its market: collateral / debt, times 1e77; not a ratio of values';

-- The key of an entry that belongs to one address, computed as the indexer does: SHA-256 of the
-- LedgerKey. With it, all versions of the entry, removed ones too, are one index probe away.
CREATE FUNCTION chain.entry_key(contract text, variant text, address text) RETURNS bytea
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (
    -- 8 characters of base32 are 5 bytes; a strkey is a version byte, 32 bytes, a checksum
    WITH raw AS (
      SELECT s.strkey, substr(decode(string_agg(lpad(to_hex(g.n), 10, '0'), '' ORDER BY g.i), 'hex'), 2, 32) AS id
      FROM (SELECT contract UNION SELECT address) AS s (strkey), LATERAL ( -- a contract may hold an entry of its own
        SELECT c / 8 AS i, sum((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', substr(s.strkey, c + 1, 1)) - 1)::bigint
          << (5 * (7 - c % 8)))::bigint AS n
        FROM generate_series(0, 55) AS c GROUP BY c / 8
      ) AS g
      GROUP BY s.strkey
    ), xdr AS (
      SELECT r.strkey,
        CASE left(r.strkey, 1) WHEN 'C' THEN '\x00000001'::bytea ELSE '\x0000000000000000'::bytea END || r.id AS bytes
      FROM raw AS r
    )
    SELECT sha256('\x00000006'::bytea || (SELECT x.bytes FROM xdr AS x WHERE x.strkey = contract)
      -- a vec of two: the variant's symbol, the address
      || '\x000000100000000100000002'::bytea
      || '\x0000000f'::bytea || int4send(length(variant)) || convert_to(variant, 'UTF8')
      || substr('\x000000'::bytea, 1, (4 - length(variant) % 4) % 4)
      || '\x00000012'::bytea || (SELECT x.bytes FROM xdr AS x WHERE x.strkey = address)
      || '\x00000001'::bytea)
  );
COMMENT ON FUNCTION chain.entry_key(text, text, text) IS 'key_hash of the persistent entry Variant(address) of a contract; addresses are strkeys of accounts and contracts';

-- Any contract may call itself a token and store any text, so what is no number up to 38 counts as not known.
CREATE FUNCTION chain.decimals(stored text) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN stored ~ '^([0-9]|[12][0-9]|3[0-8])$' THEN stored::integer END;
COMMENT ON FUNCTION chain.decimals(text) IS 'a token''s decimals, as its instance stores them, 0 to 38; null: they are not known';

-- The protocol's tokens keep each in a slot of its own. Those made with soroban-token-sdk keep METADATA with `decimal`, OpenZeppelin's one
-- with `decimals`.
CREATE FUNCTION chain.token_decimals(stored bigint, metadata json) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN chain.decimals(coalesce(stored::text, metadata ->> 'decimal', metadata ->> 'decimals'));
COMMENT ON FUNCTION chain.token_decimals(bigint, json) IS 'decimals of a token that is no Stellar asset, from its instance; null: they are not known';

-- The one place where SQL scales. decimals: of the token; 7 for prices of the oracle, whatever they are the price of.
CREATE FUNCTION analyst.scaled(raw numeric, decimals integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN decimals BETWEEN 0 AND 38 THEN raw * ('1e-' || decimals::text)::numeric END;
COMMENT ON FUNCTION analyst.scaled(numeric, integer) IS 'raw units with the decimals applied, exact; null: these are not known';

-- amount units of one token against per units of another: a price in whole tokens. With equal decimals it is what the pool contract
-- says, which divides raw units. A price of more than 127 bits, which no i128 holds, is null.
CREATE FUNCTION chain.price(amount numeric, amount_decimals integer, per numeric, per_decimals integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN amount_decimals BETWEEN 0 AND 38 AND per_decimals BETWEEN 0 AND 38
      AND abs(amount) * ('1e' || (45 + per_decimals - amount_decimals)::text)::numeric
        < abs(per) * (170141183460469231731687303715884105728 * 1e38)
    THEN div(amount * ('1e' || (45 + per_decimals - amount_decimals)::text)::numeric, nullif(per * 1e38, 0)) END;
COMMENT ON FUNCTION chain.price(numeric, integer, numeric, integer) IS
  'price of a token in another from amounts of both, 7 decimals, cut; null: decimals are not known, or it is too large';

-- ratio: raw units of B for one of A, as candles have it. Amounts of A have decimals_a decimals.
CREATE FUNCTION chain.candle_price(ratio numeric, decimals_a integer, decimals_b integer) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN decimals_a BETWEEN 0 AND 38 AND decimals_b BETWEEN 0 AND 38
    THEN trunc(ratio * ('1e' || (decimals_a - decimals_b)::text)::numeric, 14) END;
COMMENT ON FUNCTION chain.candle_price(numeric, integer, integer) IS
  'price of a token in another, 14 decimals, cut; null: decimals are not known';

CREATE FUNCTION analyst.at(seconds numeric) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN seconds BETWEEN 1 AND 253402300799
    THEN to_timestamp(seconds::double precision) END;
COMMENT ON FUNCTION analyst.at(numeric) IS 'unix seconds as a time; null for 0 and values that are no time';

-- A parallel worker may not start the subtransaction of an EXCEPTION block, so a pattern tells UTF-8
-- from other bytes. It is PostgreSQL's UTF-8: no NUL, surrogates or overlong forms.
CREATE FUNCTION analyst.readable(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN encode(bytes, 'hex') ~ ('^(0[1-9a-f]|[1-7].|(c[2-9a-f]|d.)[89ab].|e0[ab].[89ab].|(e[1-9a-c]|e[ef])[89ab].[89ab].'
      || '|ed[89].[89ab].|f0[9ab].[89ab].[89ab].|f[1-3][89ab].[89ab].[89ab].|f48.[89ab].[89ab].)*$')
    THEN convert_from(bytes, 'UTF8') ELSE '\x' || encode(bytes, 'hex') END;
COMMENT ON FUNCTION analyst.readable(bytea) IS 'UTF-8 bytes as text; other bytes in hexadecimal';

CREATE FUNCTION chain.token_text(stored bytea, metadata json, member text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce(analyst.readable(stored), metadata ->> member);
COMMENT ON FUNCTION chain.token_text(bytea, json, text) IS 'name or symbol of a token that is no Stellar asset, from its instance: the slot, or the member of METADATA';

CREATE FUNCTION chain.brief(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN left(analyst.readable(bytes), 256);
COMMENT ON FUNCTION chain.brief(bytea) IS 'a text that a contract stored, as lists show it: its first 256 characters. The item''s own route has it whole';
