-- 0003_read: what the API and the indexer read the tables of ledger rows with: indexes, views, functions.
--
-- A view that reads a role's table of `state`, `history` or `event` reads only the rows of the contract
-- that the deployment file names for that role (chain.role). Tables of tokens have no such condition:
-- a deployment has several tokens.

-- 0, which no row has, for a name that is no kind's.
CREATE FUNCTION chain.kind_key(kind text) RETURNS smallint
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce((SELECT k.id FROM chain.kind AS k WHERE k.word = kind_key.kind), 0::smallint);
COMMENT ON FUNCTION chain.kind_key(text) IS 'number of a kind of events; 0: no row has it';

-- --- indexes beyond those of the catalogue ---------------------------------------------------------
-- A partition of stored rows has rows of one deployment, so their indexes do not name it.

-- Lists of what is now, by natural key. These columns are keys of entries and never change, so updating
-- a row touches none of these indexes.
CREATE INDEX ON state."partner_registry_partner" (deployment, key_id);
CREATE INDEX ON state."partner_registry_partner_asset" (deployment, partner_id, key_symbol);
CREATE INDEX ON state."earnings_distributor_epoch" (deployment, key_id);
CREATE INDEX ON state."earnings_distributor_epoch_revenue" (deployment, epoch, token);
CREATE INDEX ON state."earnings_distributor_epoch_token_list" (deployment, epoch);
CREATE INDEX ON state."earnings_distributor_epoch_partner_revenue" (deployment, epoch, partner_id);
CREATE INDEX ON state."earnings_distributor_claimed" (deployment, epoch, claimer);
CREATE INDEX ON state."oracle_feed" (deployment, asset);
CREATE INDEX ON state."oracle_pending_observations" (deployment, asset);
CREATE INDEX ON state."oracle_provider" (deployment, address);
CREATE INDEX ON state."dao_governance_proposal" (deployment, key_id);
CREATE INDEX ON state."dao_governance_proposal_multi_sig_txs" (deployment, proposal_id);
CREATE INDEX ON state."dao_governance_multi_sig_wallet" (deployment, wallet_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, wallet_id, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, status, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, wallet_id, status, tx_id);
CREATE INDEX ON state."dao_governance_multi_sig_approval" (deployment, tx_id, signer);
CREATE INDEX ON state."compliance_registry_verifier_list" (deployment, index);
CREATE INDEX ON state."compliance_registry_verifier" (deployment, address);
CREATE INDEX ON state."compliance_registry_attestation" (deployment, address, index);
CREATE INDEX ON state."compliance_registry_blocked_jurisdiction" (deployment, code);
CREATE INDEX ON state."synth_token_instance" (deployment, contract);
CREATE INDEX ON state."stellar_asset_instance" (deployment, contract);
-- A token by its symbol, which may be of any length: a hash.
CREATE INDEX ON state."synth_token_instance" USING hash (chain.token_text(symbol, metadata, 'symbol'));
CREATE INDEX ON state."dao_governance_multi_sig_tx" (deployment, proposal_id, tx_id);
CREATE INDEX ON state."stability_pool_deposit" (deployment, depositor);
-- Undecoded entries of a contract.
CREATE INDEX ON state."raw" (deployment, contract, key_hash);
-- Records by their end.
CREATE INDEX ON state."compliance_registry_compliance_rec" (deployment, expires_at, key_hash);
CREATE INDEX ON history_rows."compliance_registry_compliance_rec" (expires_at, key_hash, ledger);
-- The attestation that a revocation removes.
CREATE INDEX ON state."compliance_registry_kyc" (deployment, address);

-- Lists as of a ledger take their keys from the state and from the removals after that ledger: columns of keys never change. The
-- published contracts remove few entries, so these indexes are small.
CREATE INDEX ON history_rows."partner_registry_partner" (ledger) WHERE removed;
CREATE INDEX ON history_rows."partner_registry_partner_asset" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_epoch" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_epoch_partner_revenue" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_claimed" (ledger) WHERE removed;
CREATE INDEX ON history_rows."oracle_feed" (ledger) WHERE removed;
CREATE INDEX ON history_rows."oracle_provider" (ledger) WHERE removed;
CREATE INDEX ON history_rows."dao_governance_proposal" (ledger) WHERE removed;
CREATE INDEX ON history_rows."dao_governance_multi_sig_wallet" (ledger) WHERE removed;
CREATE INDEX ON history_rows."dao_governance_multi_sig_tx" (ledger) WHERE removed;
CREATE INDEX ON history_rows."compliance_registry_verifier_list" (ledger) WHERE removed;
CREATE INDEX ON history_rows."compliance_registry_attestation" (ledger) WHERE removed;
CREATE INDEX ON history_rows."compliance_registry_blocked_jurisdiction" (ledger) WHERE removed;
CREATE INDEX ON history_rows."compliance_registry_verifier" (address, ledger) WHERE removed;
CREATE INDEX ON history_rows."synthetic_engine_vault" (ledger) WHERE removed;
CREATE INDEX ON history_rows."synthetic_engine_vault" (key_owner, ledger) WHERE removed;
CREATE INDEX ON history_rows."stability_pool_deposit" (ledger) WHERE removed;
CREATE INDEX ON history_rows."liquidity_pool_pool" (ledger) WHERE removed;
CREATE INDEX ON history_rows."liquidity_pool_lp_pos" (ledger) WHERE removed;
CREATE INDEX ON history_rows."synthetic_engine_asset_config" (ledger) WHERE removed;
CREATE INDEX ON history_rows."synthetic_engine_collateral_allowed" (ledger) WHERE removed;
CREATE INDEX ON history_rows."synthetic_engine_debt_total" (ledger) WHERE removed;
CREATE INDEX ON history_rows."stability_pool_state" (ledger) WHERE removed;
CREATE INDEX ON history_rows."stability_pool_instance" (ledger) WHERE removed;
CREATE INDEX ON history_rows."compliance_registry_instance" (ledger) WHERE removed;
-- Feeds that collateral was ever priced by.
CREATE INDEX ON history_rows."synthetic_engine_asset_config" (coll_oracle_sym);
CREATE INDEX ON history_rows."partner_registry_instance" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_instance" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_epoch_token_list" (ledger) WHERE removed;
CREATE INDEX ON history_rows."earnings_distributor_epoch_revenue" (ledger) WHERE removed;
CREATE INDEX ON history_rows."oracle_instance" (ledger) WHERE removed;
CREATE INDEX ON history_rows."oracle_pending_observations" (ledger) WHERE removed;
CREATE INDEX ON history_rows."dao_governance_multi_sig_approval" (ledger) WHERE removed;
CREATE INDEX ON history_rows."dao_governance_proposal_multi_sig_txs" (ledger) WHERE removed;

-- Vaults as of a ledger, market by market in each order of the list. Changed vaults have an entry for each version.
CREATE INDEX ON history_rows."synthetic_engine_vault" (synth, chain.vault_order(collateral, debt), key_hash, ledger) WHERE NOT removed;
CREATE INDEX ON history_rows."synthetic_engine_vault" (synth, chain.vault_order(collateral, debt), key_hash, ledger)
  WHERE NOT removed AND debt > 0 AND debt < 10000000;
CREATE INDEX ON history_rows."synthetic_engine_vault" (synth, (-debt), key_hash, ledger) WHERE NOT removed;
CREATE INDEX ON history_rows."synthetic_engine_vault" (synth, (-collateral), key_hash, ledger) WHERE NOT removed;

-- Tokens as of a ledger: a contract has one instance, and few versions of it.
CREATE INDEX ON history_rows."synth_token_instance" (contract, ledger);
CREATE INDEX ON history_rows."stellar_asset_instance" (contract, ledger);

-- Undecoded versions of a contract, and the owners that a partner had.
CREATE INDEX ON history_rows."raw" (contract, ledger);
CREATE INDEX ON history_rows."partner_registry_partner" (key_id, owner);

-- Contracts that a ledger names or shows.
CREATE INDEX ON chain."contract_seen" (deployment, ledger);

-- The ledger of a time.
CREATE INDEX ON chain."ledger" (deployment, closed_at, ledger);

-- Lists bound their items by time with it: "closed at t or later" is "ledger > chain.ledger_before(…, t)", which the
-- indexes by ledger answer. Close times grow with the ledgers.
CREATE FUNCTION chain.ledger_before(deployment smallint, t timestamptz) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE
  BEGIN ATOMIC
    SELECT coalesce((SELECT l.ledger FROM chain.ledger AS l
      WHERE l.deployment = ledger_before.deployment AND l.closed_at < t ORDER BY l.closed_at DESC, l.ledger DESC LIMIT 1), 0);
  END;
COMMENT ON FUNCTION chain.ledger_before(smallint, timestamptz) IS 'the last indexed ledger that closed before a time; 0: none';

-- The spans before the moment at which an answer is evaluated, and the ledger whose close was the state when each began: NULL where the
-- index does not have the ledger after it, so that the state may have changed in between. at: the ledger; 2147483647 for now. In hours, because the
-- length of a day depends on the session's time zone. The hot cache's window of 24 hours begins by the same rule (TIDE_HOT_WINDOW_S).
CREATE FUNCTION chain.spans(deployment smallint, at integer) RETURNS TABLE (span text, begins timestamptz, ledger integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 3
BEGIN ATOMIC
  SELECT s.span, b.at, CASE WHEN o.ledger >= least(c.ledger, $2) OR EXISTS (SELECT FROM chain.ledger AS l
      WHERE l.deployment = $1 AND l.ledger = o.ledger + 1) THEN o.ledger END
  FROM chain.cursor AS c LEFT JOIN chain.ledger AS n ON n.deployment = c.deployment AND n.ledger = $2,
    (VALUES ('24h', interval '24 hours'), ('7d', interval '168 hours'), ('30d', interval '720 hours')) AS s(span, length),
    LATERAL (SELECT CASE WHEN $2 = 2147483647 THEN greatest(now(), c.closed_at) ELSE n.closed_at END - s.length AS at) AS b,
    LATERAL (SELECT nullif(chain.ledger_before($1, b.at + interval '1 microsecond'), 0) AS ledger) AS o
  WHERE c.deployment = $1 AND c.ledger > 0;
END;
COMMENT ON FUNCTION chain.spans(smallint, integer) IS 'when 24 hours, 7 and 30 days before an answer begin, and the ledger whose close was the state then';

-- --- which contracts, and whether they are served ---------------------------------------------------

CREATE VIEW chain.role AS
  SELECT d.id AS deployment, j.role, j.address AS contract
  FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (role text, address text)
  WHERE j.role IN ('liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry',
    'earnings_distributor', 'oracle', 'dao_governance');
COMMENT ON VIEW chain.role IS 'The contract of each role in the deployment file';
COMMENT ON COLUMN chain.role.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.role.role IS 'Role';
COMMENT ON COLUMN chain.role.contract IS 'The contract that the file names for the role';

CREATE FUNCTION chain.history_from(deployment smallint) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (SELECT s.ledger + 1 FROM chain.start AS s WHERE s.deployment = history_from.deployment);
COMMENT ON FUNCTION chain.history_from(smallint) IS 'the first ledger of what an index knows of the past, if it began with a checkpoint''s state; null: there is no such limit';

-- When the indexer last committed, or was at the tip of its source. A lease alone, of a process that does neither, keeps no answer fresh.
CREATE VIEW chain.freshness AS
SELECT c.deployment, coalesce(h.current_at, c.moved_at) AS renewed_at
FROM chain.cursor AS c LEFT JOIN chain.heartbeat AS h ON h.deployment = c.deployment;
COMMENT ON VIEW chain.freshness IS 'when the indexer last committed, or was at the tip of its source, by the primary''s clock: the age of a deployment''s rows';

-- Each indexed ledger has a row in chain.ledger. Only the ranges whose count is short are looked through.
CREATE FUNCTION chain.holes(deployment smallint) RETURNS TABLE (from_ledger integer, to_ledger integer)
  LANGUAGE sql STABLE ROWS 1
BEGIN ATOMIC
  SELECT p.before + 1, p.ledger - 1
  FROM chain.coverage AS v, LATERAL (
    SELECT lag(l.ledger, 1, v.from_ledger - 1) OVER (ORDER BY l.ledger) AS before, l.ledger
    FROM (SELECT r.ledger FROM chain.ledger AS r WHERE r.deployment = $1 AND r.ledger BETWEEN v.from_ledger AND v.to_ledger
      UNION ALL SELECT v.to_ledger + 1) AS l) AS p
  WHERE v.deployment = $1 AND p.ledger > p.before + 1
    AND (SELECT count(*) FROM chain.ledger AS r WHERE r.deployment = $1 AND r.ledger BETWEEN v.from_ledger AND v.to_ledger)
      < v.to_ledger - v.from_ledger + 1
  ORDER BY 1;
END;
COMMENT ON FUNCTION chain.holes(smallint) IS 'ledgers that chain.coverage has and chain.ledger has not: their rows are lost, and a backfill reads them again';

CREATE FUNCTION chain.proven_through(deployment smallint) RETURNS integer
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (SELECT (SELECT max(k.ledger) FROM chain.checkpoint AS k WHERE k.deployment = c.deployment
      AND k.ledger BETWEEN v.from_ledger AND c.ledger)
    FROM chain.cursor AS c JOIN chain.coverage AS v ON v.deployment = c.deployment AND c.ledger BETWEEN v.from_ledger AND v.to_ledger
    WHERE c.deployment = proven_through.deployment);
COMMENT ON FUNCTION chain.proven_through(smallint) IS 'the ledger up to which signatures prove the range that ends with the newest one; null: none';

-- A process that serves a deployment asks here periodically for the newest epoch that is ready.
-- ready: each of the protocol's own contracts is covered from its creation up to the cursor. A start from a checkpoint notes all
-- contracts as created in its ledger.
CREATE VIEW chain.deployment_state AS
SELECT d.id, d.network_id, d.epoch, d.contracts_hash, d.created_at, b.id AS database,
  EXISTS (SELECT FROM chain.coverage AS v WHERE v.deployment = d.id) AS covered,
  coalesce(c.ledger, 0) > 0 AND NOT EXISTS (
    SELECT FROM jsonb_to_recordset(d.contracts) AS k(role text, address text)
    WHERE k.role IN ('liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry',
        'earnings_distributor', 'oracle', 'dao_governance')
      AND NOT EXISTS (
        SELECT FROM chain.contract_seen AS s JOIN chain.coverage AS v ON v.deployment = s.deployment AND v.from_ledger <= s.ledger
        WHERE s.deployment = d.id AND s.contract = k.address AND s.what = 'created'
          AND c.ledger BETWEEN v.from_ledger AND v.to_ledger)) AS ready
FROM chain.deployment AS d CROSS JOIN chain.database AS b LEFT JOIN chain.cursor AS c ON c.deployment = d.id;
COMMENT ON VIEW chain.deployment_state IS 'deployments, and whether the API can serve them';

CREATE VIEW chain.token AS
  SELECT s.deployment, s.contract AS token, chain.token_text(s.symbol, s.metadata, 'symbol') AS symbol,
    chain.token_text(s.name, s.metadata, 'name') AS name
  FROM state.synth_token_instance AS s
  UNION ALL
  SELECT s.deployment, s.contract, CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END,
    s.metadata ->> 'name'
  FROM state.stellar_asset_instance AS s;
COMMENT ON VIEW chain.token IS 'symbol and name of each token contract';

-- A token that the chain names is followed from the ledger on that names it and shows its nature. Its past is read then, but is no part
-- of states as of earlier ledgers: they would change.
CREATE FUNCTION chain.followed_from(deployment smallint, contract text) RETURNS TABLE (ledger integer)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT greatest(min(s.ledger) FILTER (WHERE s.what = 'discovered'), min(s.ledger) FILTER (WHERE s.what <> 'discovered'))
  FROM chain.contract_seen AS s WHERE s.deployment = $1 AND s.contract = $2 AND s.what IN ('discovered', 'asset', 'token');
END;
COMMENT ON FUNCTION chain.followed_from(smallint, text) IS 'the ledger from which a discovered token is followed; null: no such token';

CREATE FUNCTION chain.followed_after(deployment smallint, contract text, at integer) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce((SELECT f.ledger > $3 FROM chain.followed_from($1, $2) AS f), false);
COMMENT ON FUNCTION chain.followed_after(smallint, text, integer) IS 'whether a discovered token is followed from a later ledger on';

CREATE FUNCTION chain.found_after(deployment smallint, at integer) RETURNS SETOF integer
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 16
BEGIN ATOMIC
  SELECT chain.word_key(s.contract) FROM chain.contract_seen AS s
  WHERE s.deployment = $1 AND s.what IN ('discovered', 'asset', 'token') GROUP BY s.contract
  HAVING greatest(min(s.ledger) FILTER (WHERE s.what = 'discovered'), min(s.ledger) FILTER (WHERE s.what <> 'discovered')) > $2;
END;
COMMENT ON FUNCTION chain.found_after(smallint, integer) IS 'keys of the discovered tokens that are followed from a later ledger on';

-- event: the event's index; -1 for the call. Returns false if chain.kept_for has no row for it, or one without a
-- contract: the deployment file then names something that is reason enough to keep it.
CREATE FUNCTION chain.kept_later(deployment smallint, ledger integer, tx integer, event integer, at integer) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce((SELECT bool_and(k.contract <> '' AND chain.followed_after(k.deployment, k.contract, $5)) FROM chain.kept_for AS k
    WHERE k.deployment = $1 AND k.ledger = $2 AND k.tx = $3 AND k.event IN (-2, $4)), false);
COMMENT ON FUNCTION chain.kept_later(smallint, integer, integer, integer, integer) IS 'whether an event, or a call, is kept for tokens alone that are followed from a later ledger on';

-- at: the ledger; 2147483647 for now.
CREATE FUNCTION chain.token_at(deployment smallint, token text, at integer)
  RETURNS TABLE (symbol text, decimals integer, synthetic boolean)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT t.symbol, t.decimals, t.synthetic
  FROM (SELECT chain.word_key($2) AS key OFFSET 0) AS w, LATERAL (
    SELECT chain.token_text(s.symbol, s.metadata, 'symbol') AS symbol,
      chain.token_decimals(s.decimals, s.metadata) AS decimals, true AS synthetic
    FROM state.synth_token_instance AS s WHERE $3 = 2147483647 AND s.deployment = $1 AND s.contract = $2
    UNION ALL
    SELECT CASE s.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END,
      chain.decimals(s.metadata ->> 'decimal'), false
    FROM state.stellar_asset_instance AS s WHERE $3 = 2147483647 AND s.deployment = $1 AND s.contract = $2
    UNION ALL
    SELECT chain.token_text(v.symbol, v.metadata, 'symbol'), chain.token_decimals(v.decimals, v.metadata), true
    FROM (SELECT h.symbol, h.decimals, h.metadata, h.removed FROM history.synth_token_instance AS h
      WHERE $3 < 2147483647 AND h.deployment = $1 AND h.contract_key = w.key AND h.ledger <= $3
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
    WHERE NOT v.removed
    UNION ALL
    SELECT CASE v.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE v.metadata ->> 'symbol' END,
      chain.decimals(v.metadata ->> 'decimal'), false
    FROM (SELECT h.metadata, h.removed FROM history.stellar_asset_instance AS h
      WHERE $3 < 2147483647 AND h.deployment = $1 AND h.contract_key = w.key AND h.ledger <= $3
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
    WHERE NOT v.removed
  ) AS t WHERE $3 = 2147483647 OR NOT chain.followed_after($1, $2, $3) LIMIT 1;
END;
COMMENT ON FUNCTION chain.token_at(smallint, text, integer) IS 'symbol, decimals and kind of a token as of a ledger; no row: there was no such token';

-- Readers look at chain.contract_seen, whatever ledgers its rows are of.
CREATE TABLE chain.contract_held (LIKE chain."contract_seen" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES);
COMMENT ON TABLE chain.contract_held IS 'rows of chain.contract_seen of ledgers that are loaded below the state with which an index began, until all of them are';

-- Adds the ledgers indexed or loading now for each of these contracts that is discovered and has no rows here, and starts
-- again for a contract whose kind turned out to be another. Called in the transaction that stores the discovery, with the
-- contracts that it discovers or shows the kind of. If the index began with the state of a checkpoint, what a contract had
-- there is missing, unless it was created later: that range ends with the checkpoint's ledger, and is not read. Subqueries in place
-- of joins look up one contract each, so the cost does not grow with those that are known.
CREATE FUNCTION chain.note_discovered(id smallint, contracts text[]) RETURNS void LANGUAGE sql SET enable_seqscan = off AS $$
  DELETE FROM chain.contract_coverage AS c WHERE c.deployment = id AND c.contract = ANY (contracts)
    AND coalesce(c.known_as, '') <> (SELECT min(s.role) FROM chain.contract_seen AS s
      WHERE s.deployment = id AND s.contract = c.contract AND s.what IN ('asset', 'token'));
  INSERT INTO chain.contract_coverage (deployment, contract, from_ledger, to_ledger, next_ledger, known_as)
  SELECT id, s.contract, r.from_ledger, r.to_ledger, r.from_ledger, s.role
  FROM (SELECT n.contract, min(n.role) FILTER (WHERE n.what <> 'discovered') AS role FROM chain.contract_seen AS n
      WHERE n.deployment = id AND n.contract = ANY (contracts) AND n.what IN ('discovered', 'asset', 'token')
      GROUP BY n.contract) AS s
    CROSS JOIN (SELECT greatest(v.from_ledger, chain.history_from(id)) AS from_ledger, v.to_ledger FROM chain.coverage AS v
      WHERE v.deployment = id AND v.to_ledger >= coalesce(chain.history_from(id), 0)
      UNION ALL SELECT p.first_loaded, p.last_loaded FROM chain.partition AS p
      WHERE p.deployment = id AND NOT p.attached AND p.last_loaded IS NOT NULL) AS r
  WHERE (SELECT min(c.from_ledger) FROM chain.contract_coverage AS c WHERE c.deployment = id AND c.contract = s.contract) IS NULL;
  INSERT INTO chain.contract_coverage (deployment, contract, from_ledger, to_ledger, next_ledger, known_as, trouble, trouble_at)
  SELECT id, s.contract, o.ledger, o.ledger, o.ledger, max(s.role) FILTER (WHERE s.what <> 'discovered'),
    'the index began with the state of ledger ' || o.ledger || ', in which nothing named this token: fill the ledgers before', clock_timestamp()
  FROM chain.start AS o JOIN chain.contract_seen AS s ON s.deployment = id AND s.contract = ANY (contracts)
    AND s.what IN ('discovered', 'asset', 'token')
  WHERE o.deployment = id AND NOT EXISTS (SELECT FROM chain.contract_seen AS n WHERE n.deployment = id AND n.contract = s.contract
    AND (n.what = 'created' AND n.ledger > o.ledger OR n.what = 'discovered' AND n.ledger <= o.ledger))
  GROUP BY s.contract, o.ledger
  ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION chain.note_discovered IS
  'adds to chain.contract_coverage what was indexed before a contract was discovered, or before its kind was known';

-- --- archive ---------------------------------------------------------------------------------------

-- Rows of a dump mean something only beside the words that their keys stand for. Words are never changed or removed, so those
-- up to a key stay the same, and a dictionary that was made anew differs in them.
CREATE FUNCTION chain.words_mark(last integer) RETURNS text
  LANGUAGE sql STABLE
  RETURN (SELECT format('words %s %s', last, to_hex(bit_xor(('x' || left(md5(w.id || ' ' || w.word), 16))::bit(64)::bigint)))
    FROM chain.word AS w WHERE w.id <= last);
COMMENT ON FUNCTION chain.words_mark(integer) IS 'a mark that tells the words up to a key from those of another database';

-- Answers about the last day of trade read the newest events, so the last two days stay attached.
-- Long readers hold chain.archive, short ones compare chain.cursor.parts (README.md, "Reading while partitions move"). All locks are taken
-- together or none, in short turns between which other readers go on: a long query delays the caller alone.
-- A turn is shorter than deadlock_timeout, so whatever order others lock in, it is this one that steps back.
CREATE PROCEDURE chain.detach_partition(deployment smallint, from_ledger integer)
  LANGUAGE plpgsql
AS $$
#variable_conflict use_variable
DECLARE
  part chain.partition;
  leaf text;
  leaves text[];
  locked text;
  mark text;
  give_up timestamptz := clock_timestamp() + interval '5s';
BEGIN
  SELECT p.* INTO part FROM chain.partition AS p
    WHERE p.deployment = detach_partition.deployment AND p.from_ledger = detach_partition.from_ledger AND p.attached;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'deployment % has no partition that begins with ledger %', deployment, from_ledger
      USING HINT = 'chain.partition lists them';
  END IF;
  IF EXISTS (SELECT FROM chain.archive AS a WHERE a.deployment = part.deployment AND a.from_ledger = part.from_ledger) THEN
    RAISE EXCEPTION 'ledgers % to % are detached already', part.from_ledger, part.end_ledger - 1;
  END IF;
  IF NOT EXISTS (SELECT FROM chain.coverage AS v WHERE v.deployment = part.deployment
      AND v.from_ledger < part.end_ledger AND v.to_ledger >= part.end_ledger
      AND (v.from_ledger <= part.from_ledger OR NOT EXISTS (SELECT FROM chain.coverage AS o
        WHERE o.deployment = v.deployment AND o.to_ledger >= part.from_ledger AND o.to_ledger < v.from_ledger)))
    OR (SELECT max(l.closed_at) > c.closed_at - interval '2 days' FROM chain.cursor AS c JOIN chain.ledger AS l
      ON l.deployment = c.deployment AND l.ledger = part.end_ledger - 1 WHERE c.deployment = part.deployment GROUP BY c.closed_at) THEN
    RAISE EXCEPTION 'ledgers % to % are not indexed up to their end without a gap, or closed less than two days before the newest',
      part.from_ledger, part.end_ledger - 1;
  END IF;
  SELECT coalesce(array_agg(l.name), '{}'), string_agg(format('ONLY %s, ONLY %s', l.parent, l.name), ', ') INTO leaves, locked
    FROM (SELECT i.inhparent::regclass AS parent, format('%I.%I', n.nspname, c.relname) AS name
      FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent
      WHERE c.relkind = 'r' AND (n.nspname IN ('event_rows', 'chain_rows') OR n.nspname = 'chain' AND p.relname = 'preimage')
        AND c.relname = format('%s_p%s_%s', p.relname, part.deployment, part.from_ledger)
      ORDER BY 2) AS l;
  LOOP
    BEGIN
      SET LOCAL lock_timeout = '200ms';
      UPDATE chain.cursor AS c SET parts = c.parts + 1 WHERE c.deployment = part.deployment;
      LOCK TABLE chain.word IN SHARE MODE; -- a key that is in use but not committed would be missing from the mark
      IF mark IS NULL THEN
        SELECT chain.words_mark(max(w.id)) INTO mark FROM chain.word AS w;
        give_up := clock_timestamp() + interval '5s';
      END IF;
      LOCK TABLE chain.archive IN ACCESS EXCLUSIVE MODE;
      EXECUTE coalesce('LOCK TABLE ' || locked || ' IN ACCESS EXCLUSIVE MODE', 'SELECT');
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF clock_timestamp() > give_up THEN
        RAISE EXCEPTION 'others read or write these partitions for long' USING ERRCODE = 'lock_not_available',
          HINT = 'call this again when no export, no update of a lake and no long query is at work';
      END IF;
      PERFORM pg_sleep(0.2);
    END;
  END LOOP;
  FOREACH leaf IN ARRAY leaves LOOP
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', regexp_replace(leaf, '_p\d+_\d+(?="?$)', ''), leaf);
    EXECUTE format('COMMENT ON TABLE %s IS %L', leaf, mark); -- a dump has it
  END LOOP;
  INSERT INTO chain.archive (deployment, from_ledger, end_ledger, tables)
    VALUES (part.deployment, part.from_ledger, part.end_ledger, leaves);
END $$;
COMMENT ON PROCEDURE chain.detach_partition(smallint, integer) IS 'detaches the events, calls and transactions of a partition';

CREATE PROCEDURE chain.attach_partition(deployment smallint, from_ledger integer)
  LANGUAGE plpgsql SET lock_timeout = '5s'
AS $$
#variable_conflict use_variable
DECLARE
  part chain.archive;
  leaf text;
  mark text;
  known text;
BEGIN
  DELETE FROM chain.archive AS a
    WHERE a.deployment = attach_partition.deployment AND a.from_ledger = attach_partition.from_ledger RETURNING a.* INTO part;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'deployment % has no detached partition that begins with ledger %', deployment, from_ledger
      USING HINT = 'chain.archive lists detached partitions';
  END IF;
  FOREACH leaf IN ARRAY part.tables LOOP
    IF to_regclass(leaf) IS NULL THEN
      RAISE EXCEPTION 'the table % does not exist: restore it first', leaf;
    END IF;
    mark := obj_description(to_regclass(leaf), 'pg_class');
    IF mark IS DISTINCT FROM known OR known IS NULL THEN
      known := chain.words_mark(substring(mark FROM '^words (\d{1,9}) ')::integer);
    END IF;
    IF known IS NULL OR mark IS DISTINCT FROM known THEN
      RAISE EXCEPTION 'the table % was detached from another database: here its keys stand for other words', leaf
        USING HINT = 'index its ledgers from their source instead';
    END IF;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s, %s) TO (%s, %s)',
      regexp_replace(leaf, '_p\d+_\d+(?="?$)', ''), leaf, part.deployment, part.from_ledger, part.deployment, part.end_ledger);
  END LOOP;
END $$;
COMMENT ON PROCEDURE chain.attach_partition(smallint, integer) IS 'attaches again what chain.detach_partition detached';

-- --- undecoded entries -----------------------------------------------------------------------------

-- Conditions on v, an undecoded version: the role's tables have no newer version of its key as of $3.
-- Tokens are looked up in both token roles, since their kind may have become known late. OFFSET 0 keeps
-- each condition an index probe per version, never a join.
CREATE FUNCTION chain.not_decoded_since(role text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(string_agg(format(' AND NOT EXISTS (SELECT FROM asof.%I AS h WHERE h.deployment = $1 AND h.key_hash = v.key_hash'
      ' AND h.ledger <= $3 AND (h.ledger, h.tx, h.seq) > (v.ledger, v.tx, v.seq) OFFSET 0)', c.relname), '' ORDER BY c.relname), '')
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = 'history' AND c.relkind = 'v'
    AND c.relname LIKE ANY (CASE WHEN $1 IN ('synth_token', 'stellar_asset', 'usdc', 'xlm') OR $1 LIKE 'asset\_%'
      THEN ARRAY['synth\_token\_%', 'stellar\_asset\_%'] ELSE ARRAY[replace($1, '_', '\_') || '\_%'] END)
$$;
COMMENT ON FUNCTION chain.not_decoded_since(text) IS 'SQL text of conditions: no table of the role has a newer version';

-- Returns NULL for a contract that is not followed. A contract that was discovered counts as a token.
CREATE FUNCTION chain.role_followed(deployment smallint, contract text) RETURNS text
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT i.role FROM chain.role AS i WHERE i.deployment = $1 AND i.contract = $2 LIMIT 1),
    (SELECT 'synth_token' WHERE EXISTS (SELECT FROM chain.contract_seen AS s
        WHERE s.deployment = $1 AND s.contract = $2 AND s.what = 'discovered')
      OR EXISTS (SELECT FROM chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j (address text)
        WHERE d.id = $1 AND j.address = $2)))
$$;
COMMENT ON FUNCTION chain.role_followed(smallint, text) IS 'the role whose tables hold a contract''s entries; NULL: it is not followed';

-- A page of the entries with a newest version that could not be decoded, by contract and key, after a place
-- ("CONTRACT.KEY"; NULL: the first page). It looks at `most` undecoded versions at most, all of contracts of
-- one role, because each role costs a statement over all partitions of its tables. If there may be more, the
-- last row has the place to go on from, and no key.
CREATE FUNCTION chain.undecoded_page(deployment smallint, after text, most integer)
  RETURNS TABLE (place text, key_hash bytea) LANGUAGE plpgsql STABLE ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  after_contract text := coalesce(split_part($2, '.', 1), '');
  after_key bytea := decode(coalesce(split_part($2, '.', 2), ''), 'hex');
  looked integer;
  contracts text[];
  keys bytea[];
  roles text[];
  same integer;
BEGIN
  SELECT count(*), array_agg(v.contract), array_agg(v.key_hash), array_agg(chain.role_followed($1, v.contract))
    INTO looked, contracts, keys, roles
    FROM (SELECT r.contract, r.key_hash FROM state.raw AS r
      WHERE r.deployment = $1 AND (r.contract, r.key_hash) > (after_contract, after_key)
      ORDER BY r.contract, r.key_hash LIMIT $3) AS v;
  IF looked = 0 THEN
    RETURN;
  END IF;
  same := coalesce((SELECT min(i) - 1 FROM generate_series(2, looked) AS i WHERE roles[i] IS DISTINCT FROM roles[1]), looked);
  IF roles[1] IS NOT NULL THEN
    RETURN QUERY EXECUTE 'SELECT v.contract || ''.'' || encode(v.key_hash, ''hex''), v.key_hash FROM state.raw AS v'
        ' WHERE v.deployment = $1 AND v.key_hash = ANY ($2)' || chain.not_decoded_since(roles[1])
        || ' ORDER BY v.contract, v.key_hash'
      USING $1, keys[:same], 2147483647;
  END IF;
  IF same < looked OR looked = $3 THEN
    RETURN QUERY SELECT contracts[same] || '.' || encode(keys[same], 'hex'), NULL::bytea;
  END IF;
END $$;
COMMENT ON FUNCTION chain.undecoded_page(smallint, text, integer) IS
  'a page of the entries with a newest version that could not be decoded, by contract and key';

-- role: the contract's, as in chain.deployment and chain.contract_seen. An undecoded version counts until
-- its key gets a version that can be decoded, or is removed. An instance that could be decoded in part is
-- in both tables; its row in the role's table is not newer.
CREATE FUNCTION chain.undecoded(deployment smallint, contract text, role text, at integer) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  found boolean;
BEGIN
  IF $4 >= (SELECT c.ledger FROM chain.cursor AS c WHERE c.deployment = $1) THEN
    IF NOT EXISTS (SELECT FROM state.raw AS r WHERE r.deployment = $1 AND r.contract = $2) THEN
      RETURN false;
    END IF;
    EXECUTE 'SELECT EXISTS (SELECT FROM state.raw AS v WHERE v.deployment = $1 AND v.contract = $2'
        || chain.not_decoded_since($3) || ')' INTO found USING $1, $2, 2147483647;
    RETURN found;
  END IF;
  IF NOT EXISTS (SELECT FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $4) THEN
    RETURN false;
  END IF;
  EXECUTE 'SELECT EXISTS (SELECT FROM (SELECT DISTINCT ON (r.key_hash) r.key_hash, r.ledger, r.tx, r.seq, r.removed'
      ' FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $3'
      ' ORDER BY r.key_hash, r.ledger DESC, r.tx DESC, r.seq DESC) AS v WHERE NOT v.removed' || chain.not_decoded_since($3) || ')'
    INTO found USING $1, $2, $4;
  RETURN found;
END $$;
COMMENT ON FUNCTION chain.undecoded(smallint, text, text, integer) IS
  'whether the newest version of an entry of the contract, as of a ledger, could not be decoded';

-- --- vaults ----------------------------------------------------------------------------------------

-- The time at which an answer is evaluated: without ?ledger (2147483647) the later of the wall clock and
-- the newest close time, else the close time of that ledger. Unix seconds.
CREATE FUNCTION chain.moment(deployment smallint, at integer) RETURNS bigint
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (CASE WHEN $2 = 2147483647
    THEN (SELECT chain.unix(greatest(clock_timestamp(), c.closed_at))
      FROM chain.cursor AS c WHERE c.deployment = $1)
    ELSE (SELECT chain.unix(l.closed_at) FROM chain.ledger AS l WHERE l.deployment = $1 AND l.ledger = $2)
    END);
COMMENT ON FUNCTION chain.moment(smallint, integer) IS 'the time at which an answer as of a ledger is evaluated, unix seconds';

-- As the contract's get_cr_bps. NULL where that fails: no price, a debt worth nothing, or a product above
-- 127 bits.
CREATE FUNCTION chain.vault_ratio(collateral numeric, debt numeric, collateral_price numeric, synth_price numeric)
  RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN debt = 0 THEN 170141183460469231731687303715884105727
    WHEN greatest(abs(collateral * collateral_price), abs(div(collateral * collateral_price, 10000000) * 10000),
        abs(debt * synth_price)) <= 170141183460469231731687303715884105727
      THEN div(div(collateral * collateral_price, 10000000) * 10000, nullif(div(debt * synth_price, 10000000), 0))
    END;
COMMENT ON FUNCTION chain.vault_ratio(numeric, numeric, numeric, numeric) IS 'collateral ratio in basis points, in the engine''s own integer arithmetic';

CREATE FUNCTION chain.vault_state(debt numeric, ratio numeric, liq_ratio numeric, min_coll_ratio numeric) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt = 0 THEN 'open' WHEN ratio IS NULL OR liq_ratio IS NULL THEN 'unpriced'
    WHEN ratio < liq_ratio THEN 'liquidatable' WHEN ratio < min_coll_ratio THEN 'at_risk' ELSE 'active' END;
COMMENT ON FUNCTION chain.vault_state(numeric, numeric, numeric, numeric) IS 'open, active, at_risk, liquidatable or unpriced';

-- Raw units of the token times a raw price, as the engine computes them. NULL above 127 bits.
CREATE FUNCTION chain.vault_value(amount numeric, price numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN abs(amount * price) <= 170141183460469231731687303715884105727 THEN div(amount * price, 10000000) END;
COMMENT ON FUNCTION chain.vault_value(numeric, numeric) IS 'value of an amount in the engine''s own arithmetic, with the amount''s decimals';

-- The lowest price of the collateral at which the vault may not be liquidated: one unit below it, it may.
-- From vault_ratio: div(value * 10000, owed) >= liq_ratio is value >= ceil(liq_ratio * owed / 10000), and
-- div(collateral * price, 10000000) >= least is price >= ceil(least * 10000000 / collateral).
-- NULL: no debt, a debt worth nothing, no price of the synth, no such price at all, or one where the
-- engine's arithmetic overflows. PostgreSQL puts one expression into the statement; a function that
-- selects would be run for each vault, which takes ten times as long.
CREATE FUNCTION chain.vault_liquidation_price(collateral numeric, debt numeric, synth_price numeric, liq_ratio numeric)
  RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN debt > 0 AND collateral > 0 AND liq_ratio > 0 AND div(debt * synth_price, 10000000) > 0
      AND greatest(debt * synth_price, collateral * div(div(liq_ratio * div(debt * synth_price, 10000000) + 9999, 10000) * 10000000
          + collateral - 1, nullif(collateral, 0))) <= 170141183460469231731687303715884105727
      THEN div(div(liq_ratio * div(debt * synth_price, 10000000) + 9999, 10000) * 10000000 + collateral - 1, nullif(collateral, 0))
    END;
COMMENT ON FUNCTION chain.vault_liquidation_price(numeric, numeric, numeric, numeric) IS
  'lowest price of the collateral at which the vault may not be liquidated; one unit below it, it may';

-- How far the collateral's price must fall until the vault may be liquidated: the smallest whole number of
-- basis points f for which div(collateral_price * (10000 - f), 10000) is below the liquidation price. 0: it
-- may be liquidated now. NULL: no ratio, no debt, or never.
CREATE FUNCTION chain.vault_distance(debt numeric, ratio numeric, liq_ratio numeric, liquidation_price numeric,
    collateral_price numeric) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt = 0 OR ratio IS NULL THEN NULL WHEN ratio < liq_ratio THEN 0
    ELSE (10001 - div(liquidation_price * 10000 + collateral_price - 1, nullif(collateral_price, 0)))::integer END;
COMMENT ON FUNCTION chain.vault_distance(numeric, numeric, numeric, numeric, numeric) IS
  'basis points by which the price of the collateral must fall until a vault may be liquidated';

-- Collateral to add to a vault with debt, or debt to repay instead, until it has a ratio. 0: it is there. minimum: by the engine's test of
-- new debt, collateral * collateral_price * 10000 >= debt * synth_price * min_coll_ratio. safe: from where it may not be liquidated, by
-- vault_ratio: value >= ceil(liq_ratio * owed / 10000), and owed <= div(value * 10000, liq_ratio). No row: no price, or above 127 bits.
CREATE FUNCTION chain.vault_remedy(collateral numeric, debt numeric, collateral_price numeric, synth_price numeric, liq_ratio numeric,
    min_coll_ratio numeric)
  RETURNS TABLE (minimum_collateral numeric, minimum_debt numeric, safe_collateral numeric, safe_debt numeric)
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT greatest(div(debt * synth_price * min_coll_ratio + collateral_price * 10000 - 1, nullif(collateral_price, 0) * 10000) - collateral, 0),
    least(greatest(debt - div(collateral * collateral_price * 10000, nullif(synth_price * min_coll_ratio, 0)), 0), debt),
    greatest(div(div(liq_ratio * div(debt * synth_price, 10000000) + 9999, 10000) * 10000000 + collateral_price - 1,
      nullif(collateral_price, 0)) - collateral, 0),
    least(greatest(debt - div((div(div(collateral * collateral_price, 10000000) * 10000, nullif(liq_ratio, 0)) + 1) * 10000000 - 1,
      nullif(synth_price, 0)), 0), debt)
  WHERE collateral_price > 0 AND synth_price > 0 AND liq_ratio > 0 AND min_coll_ratio > 0 AND collateral >= 0 AND debt > 0
    AND greatest(collateral * collateral_price * 10000, debt * synth_price * min_coll_ratio, debt * synth_price * liq_ratio)
      <= 170141183460469231731687303715884105727;
END;
COMMENT ON FUNCTION chain.vault_remedy(numeric, numeric, numeric, numeric, numeric, numeric) IS
  'collateral to add or debt to repay until a vault has the ratio that new debt needs, and until it may not be liquidated';

-- The collateral that a liquidator gets who repays all of a vault's debt, as the engine's liquidate computes it. NULL: no price, or above 127 bits.
CREATE FUNCTION chain.vault_award(collateral numeric, debt numeric, collateral_price numeric, synth_price numeric, liq_penalty numeric)
  RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN collateral_price > 0 AND debt > 0 AND collateral >= 0 AND debt * synth_price <= 170141183460469231731687303715884105727
      AND greatest(div(debt * synth_price, 10000000) * liq_penalty,
        (div(debt * synth_price, 10000000) + div(div(debt * synth_price, 10000000) * liq_penalty, 10000)) * 10000000)
        <= 170141183460469231731687303715884105727
      THEN least(div((div(debt * synth_price, 10000000) + div(div(debt * synth_price, 10000000) * liq_penalty, 10000)) * 10000000,
        nullif(collateral_price, 0)), collateral)
    END;
COMMENT ON FUNCTION chain.vault_award(numeric, numeric, numeric, numeric, numeric) IS 'collateral that a liquidator of a whole vault gets';

-- at: the ledger; 2147483647 for now. A price that the oracle would refuse is NULL; refusal says why.
CREATE FUNCTION chain.vault_market(deployment smallint, at integer)
  RETURNS TABLE (symbol text, token text, liq_ratio numeric, min_coll_ratio numeric, collateral_price numeric,
    synth_price numeric, refusal text, collateral_feed text, synth_feed text, liq_penalty numeric)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 16
BEGIN ATOMIC
  WITH bound AS (
    SELECT (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'oracle') AS oracle,
      (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine') AS engine
  ), feed AS (
    SELECT s.asset, s.twap_price, s.twap_ts FROM state.oracle_feed AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND s.contract = (SELECT b.oracle FROM bound AS b)
    UNION ALL
    SELECT k.asset, h.twap_price, h.twap_ts FROM (
      SELECT s.asset, s.key_hash FROM state.oracle_feed AS s
      WHERE s.deployment = $1 AND s.contract = (SELECT b.oracle FROM bound AS b)
      UNION
      SELECT h.asset, h.key_hash FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = (SELECT b.oracle FROM bound AS b)
    ) AS k, LATERAL (
      SELECT h.twap_price, h.twap_ts, h.removed FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND NOT h.removed
  ), market AS (
    SELECT s.symbol, s.token, s.liq_ratio, s.min_coll_ratio, s.coll_oracle_sym, s.oracle_symbol, s.liq_penalty
    FROM state.synthetic_engine_asset_config AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND s.contract = (SELECT b.engine FROM bound AS b)
    UNION ALL
    SELECT k.symbol, h.token, h.liq_ratio, h.min_coll_ratio, h.coll_oracle_sym, h.oracle_symbol, h.liq_penalty
    FROM (
      SELECT s.symbol, s.key_hash FROM state.synthetic_engine_asset_config AS s
      WHERE s.deployment = $1 AND s.contract = (SELECT b.engine FROM bound AS b)
      UNION
      SELECT h.symbol, h.key_hash FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = (SELECT b.engine FROM bound AS b)
    ) AS k, LATERAL (
      SELECT h.* FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND NOT h.removed
  ), usable AS (
    SELECT m.*, c.asset IS NULL AS no_collateral, y.asset IS NULL AS no_synth, c.twap_price AS collateral_twap,
      y.twap_price AS synth_twap, t.now - c.twap_ts > 600 AS collateral_old, t.now - y.twap_ts > 600 AS synth_old
    FROM market AS m
      CROSS JOIN (SELECT chain.moment($1, $2) AS now) AS t
      LEFT JOIN feed AS c ON c.asset = m.coll_oracle_sym
      LEFT JOIN feed AS y ON y.asset = m.oracle_symbol
  )
  SELECT u.symbol, u.token, u.liq_ratio, u.min_coll_ratio,
    CASE WHEN NOT u.collateral_old THEN u.collateral_twap END, CASE WHEN NOT u.synth_old THEN u.synth_twap END,
    CASE WHEN u.no_collateral THEN 'no_feed' WHEN u.collateral_old THEN 'stale_twap'
      WHEN u.no_synth THEN 'no_feed' WHEN u.synth_old THEN 'stale_twap' END,
    u.coll_oracle_sym, u.oracle_symbol, u.liq_penalty
  FROM usable AS u;
END;
COMMENT ON FUNCTION chain.vault_market(smallint, integer) IS 'each market with the prices that its vaults are valued at, or why there are none';

-- Where all vaults of a state are, and few others: ranges of chain.vault_order, apart from each other (order: of all vaults; small: of debts
-- below one token, which have an index of their own), and for those that overflow, ranges of -debt and of -collateral.
-- The engine cuts the values of both sides to whole units, so ratio < X is collateral / debt < X * synth_price / (10000 * collateral_price) +
-- 10000000 / (collateral_price * debt), and ratio >= X is collateral / debt > that product - 1000 * X / (collateral_price * debt). The ranges of
-- small debts reach further. Where a price is none that a market has, all with debt are one range.
CREATE FUNCTION chain.vault_ranges(state text, liq_ratio numeric, min_coll_ratio numeric, collateral_price numeric, synth_price numeric)
  RETURNS TABLE (by text, low numeric, high numeric)
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 4
BEGIN ATOMIC
  WITH term AS (
    SELECT d.debt, d.debt * synth_price < 10000000 AS worthless, greatest(liq_ratio, min_coll_ratio) AS safe,
      CASE WHEN least(collateral_price, synth_price, liq_ratio, min_coll_ratio) > 0 THEN collateral_price END AS price
    FROM (VALUES (1), (10000000)) AS d(debt)
  ), edge AS (
    SELECT t.debt, CASE state WHEN 'open' THEN 1e117
        WHEN 'at_risk' THEN div(liq_ratio * synth_price * 1e73, t.price) - div(liq_ratio * 1e80, t.price * t.debt) - 2
        WHEN 'active' THEN div(t.safe * synth_price * 1e73, t.price) - div(t.safe * 1e80, t.price * t.debt) - 2 END AS low,
      CASE state WHEN 'open' THEN 1e117
        WHEN 'liquidatable' THEN div(liq_ratio * synth_price * 1e73, t.price) + div(1e84, t.price * t.debt) + 2
        WHEN 'at_risk' THEN div(min_coll_ratio * synth_price * 1e73, t.price) + div(1e84, t.price * t.debt) + 2
        WHEN 'unpriced' THEN CASE WHEN NOT t.worthless AND collateral_price IS NOT NULL THEN -2e116 END END AS high
    FROM term AS t
  ), side AS (
    SELECT coalesce(min(e.low) FILTER (WHERE e.debt = 1), -1e116) AS wide_low, coalesce(min(e.high) FILTER (WHERE e.debt = 1), 1e116) AS wide_high,
      coalesce(min(e.low) FILTER (WHERE e.debt > 1), -1e116) AS low, coalesce(min(e.high) FILTER (WHERE e.debt > 1), 1e116) AS high
    FROM edge AS e
  )
  SELECT r.by, r.low, r.high
  FROM side AS s, LATERAL (VALUES ('small', s.wide_low, s.low - 1), ('order', s.low, s.high), ('small', greatest(s.low, s.high + 1), s.wide_high),
    ('order', 1e118, CASE WHEN state <> 'open' THEN 1e118 END)) AS r(by, low, high)
  WHERE r.low <= r.high
  UNION ALL
  SELECT r.by, r.low, r.high
  FROM (SELECT div(170141183460469231731687303715884105727, abs(nullif(collateral_price, 0))) + 1 AS collateral,
      div(170141183460469231731687303715884105727, nullif(synth_price, 0)) + 1 AS debt) AS o,
    LATERAL (VALUES ('debt', -1e39, -o.debt), ('collateral', -1e39, -o.collateral), ('collateral', o.collateral, 1e39)) AS r(by, low, high)
  WHERE state = 'unpriced' AND synth_price > 0 AND collateral_price IS NOT NULL AND r.low <= r.high;
END;
COMMENT ON FUNCTION chain.vault_ranges(text, numeric, numeric, numeric, numeric) IS 'where the vaults of a state are';
