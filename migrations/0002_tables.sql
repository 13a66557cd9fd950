-- 0002_tables: the tables of ledger rows: chain, event, state, history.
--
-- They follow from the catalogue (schema/catalogue); this file is what
-- `tidemark-indexer tables --sql` printed when it was made, and a test compares the two.
-- Partitioned tables get their partitions from the indexer, with these keys and indexes.

CREATE TABLE chain."ledger" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "hash" bytea NOT NULL,
    "previous_hash" bytea NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "protocol" integer NOT NULL,
    "tx_count" integer NOT NULL,
    "our_txs" integer NOT NULL,
    "events" integer NOT NULL,
    "changes" integer NOT NULL,
    "raw_events" integer NOT NULL,
    "raw_states" integer NOT NULL,
    "proof" smallint NOT NULL,
    "calls_verified" integer NOT NULL,
    "calls_rewritten" integer NOT NULL,
    "calls_unverified" integer NOT NULL,
    PRIMARY KEY (deployment, ledger)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE chain."ledger" IS 'Every ledger indexed';
COMMENT ON COLUMN chain."ledger"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain."ledger"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN chain."ledger"."hash" IS 'SHA-256 of the header, recomputed';
COMMENT ON COLUMN chain."ledger"."previous_hash" IS 'Hash of the ledger before';
COMMENT ON COLUMN chain."ledger"."closed_at" IS 'Close time';
COMMENT ON COLUMN chain."ledger"."protocol" IS 'Protocol version';
COMMENT ON COLUMN chain."ledger"."tx_count" IS 'Transactions in the ledger';
COMMENT ON COLUMN chain."ledger"."our_txs" IS 'Transactions that touched the deployment';
COMMENT ON COLUMN chain."ledger"."events" IS 'Events kept';
COMMENT ON COLUMN chain."ledger"."changes" IS 'Versions of entries kept';
COMMENT ON COLUMN chain."ledger"."raw_events" IS 'Events kept undecoded';
COMMENT ON COLUMN chain."ledger"."raw_states" IS 'Versions of entries kept undecoded';
COMMENT ON COLUMN chain."ledger"."proof" IS '0 chained, 1 results checked, 2 events checked';
COMMENT ON COLUMN chain."ledger"."calls_verified" IS 'Calls whose events hash to their result';
COMMENT ON COLUMN chain."ledger"."calls_rewritten" IS 'Calls whose events do after undoing the SAC backfill';
COMMENT ON COLUMN chain."ledger"."calls_unverified" IS 'Calls whose events do not';

CREATE TABLE chain."tx" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "hash" bytea NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "source" text NOT NULL,
    "ok" boolean NOT NULL,
    "result_code" integer NOT NULL,
    "fee_charged" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON chain."tx" (deployment, hash);
COMMENT ON TABLE chain."tx" IS 'Transactions that touched the deployment, failed ones too';
COMMENT ON COLUMN chain."tx"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain."tx"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN chain."tx"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN chain."tx"."hash" IS 'Transaction hash';
COMMENT ON COLUMN chain."tx"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN chain."tx"."source" IS 'Source account';
COMMENT ON COLUMN chain."tx"."ok" IS 'Succeeded';
COMMENT ON COLUMN chain."tx"."result_code" IS 'TransactionResultCode';
COMMENT ON COLUMN chain."tx"."fee_charged" IS 'Stroops';

CREATE TABLE chain."call" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "hash" bytea NOT NULL,
    "source" text NOT NULL,
    "contract" text NOT NULL,
    "fn" text,
    "args" json NOT NULL,
    "ok" boolean NOT NULL,
    "ret" json,
    "result_code" integer NOT NULL,
    "events" integer NOT NULL,
    "changed" integer NOT NULL,
    "proof" smallint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON chain."call" (deployment, contract, fn, ledger);
CREATE INDEX ON chain."call" (deployment, source, ledger);
COMMENT ON TABLE chain."call" IS 'Calls of the deployment''s contracts, refused ones too';
COMMENT ON COLUMN chain."call"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain."call"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN chain."call"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN chain."call"."op" IS 'Operation, from 0';
COMMENT ON COLUMN chain."call"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN chain."call"."hash" IS 'Transaction hash';
COMMENT ON COLUMN chain."call"."source" IS 'Source account';
COMMENT ON COLUMN chain."call"."contract" IS 'Contract called or created';
COMMENT ON COLUMN chain."call"."fn" IS 'Function; null when the contract was created';
COMMENT ON COLUMN chain."call"."args" IS 'Arguments; attestations carry a jurisdiction';
COMMENT ON COLUMN chain."call"."ok" IS 'Succeeded';
COMMENT ON COLUMN chain."call"."ret" IS 'Answer; null when refused';
COMMENT ON COLUMN chain."call"."result_code" IS 'InvokeHostFunctionResultCode';
COMMENT ON COLUMN chain."call"."events" IS 'Events of the operation';
COMMENT ON COLUMN chain."call"."changed" IS 'Ledger entries changed, TTLs apart';
COMMENT ON COLUMN chain."call"."proof" IS '0 unchecked, 1 verified, 2 rewritten, 3 unverified';

CREATE TABLE chain."contract_seen" (
    "deployment" smallint NOT NULL,
    "contract" text NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "what" text NOT NULL,
    "role" text NOT NULL,
    "name" text NOT NULL,
    PRIMARY KEY (deployment, contract, ledger, tx, what)
);
COMMENT ON TABLE chain."contract_seen" IS 'Where contracts were created or named';
COMMENT ON COLUMN chain."contract_seen"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain."contract_seen"."contract" IS 'Contract';
COMMENT ON COLUMN chain."contract_seen"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN chain."contract_seen"."tx" IS 'Transaction in apply order';
COMMENT ON COLUMN chain."contract_seen"."what" IS 'created: its instance appeared; discovered: the chain named it';
COMMENT ON COLUMN chain."contract_seen"."role" IS 'Role';
COMMENT ON COLUMN chain."contract_seen"."name" IS 'Name';

CREATE TABLE event."log" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "kind" text NOT NULL,
    "subject" text,
    "addresses" text[] NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."log" USING gin (addresses);
CREATE INDEX ON event."log" (deployment, subject, ledger);
COMMENT ON TABLE event."log" IS 'Every event, narrow: what lists of mixed kinds page over';
COMMENT ON COLUMN event."log"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."log"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."log"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."log"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."log"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."log"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."log"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."log"."kind" IS 'Name of the event''s table';
COMMENT ON COLUMN event."log"."subject" IS 'Pool, market or feed';
COMMENT ON COLUMN event."log"."addresses" IS 'Addresses in it, each once';

CREATE TABLE event."raw" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "type" smallint NOT NULL,
    "reason" text NOT NULL,
    "xdr" bytea NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."raw" IS 'Events that could not be decoded';
COMMENT ON COLUMN event."raw"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."raw"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."raw"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."raw"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."raw"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."raw"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."raw"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."raw"."type" IS '0 system, 1 contract';
COMMENT ON COLUMN event."raw"."reason" IS 'Why it was not decoded';
COMMENT ON COLUMN event."raw"."xdr" IS 'The ContractEvent';

CREATE TABLE history."raw" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "durability" smallint,
    "reason" text,
    "key_xdr" bytea,
    "value_xdr" bytea,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."raw" IS 'Entries that could not be decoded';
COMMENT ON COLUMN history."raw"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."raw"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."raw"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."raw"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."raw"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."raw"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."raw"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."raw"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."raw"."durability" IS '0 temporary, 1 persistent';
COMMENT ON COLUMN history."raw"."reason" IS 'Why it was not decoded';
COMMENT ON COLUMN history."raw"."key_xdr" IS 'Key, ScVal';
COMMENT ON COLUMN history."raw"."value_xdr" IS 'Value, ScVal; null when removed';

CREATE TABLE state."raw" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "durability" smallint NOT NULL,
    "reason" text NOT NULL,
    "key_xdr" bytea NOT NULL,
    "value_xdr" bytea,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."raw" IS 'Entries that could not be decoded';
COMMENT ON COLUMN state."raw"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."raw"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."raw"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."raw"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."raw"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."raw"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."raw"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."raw"."durability" IS '0 temporary, 1 persistent';
COMMENT ON COLUMN state."raw"."reason" IS 'Why it was not decoded';
COMMENT ON COLUMN state."raw"."key_xdr" IS 'Key, ScVal';
COMMENT ON COLUMN state."raw"."value_xdr" IS 'Value, ScVal; null when removed';

CREATE TABLE history."ttl" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "durability" smallint,
    "live_until" bigint,
    "evicted" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."ttl" IS 'How long entries live';
COMMENT ON COLUMN history."ttl"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."ttl"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."ttl"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."ttl"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."ttl"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."ttl"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."ttl"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."ttl"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."ttl"."durability" IS '0 temporary, 1 persistent';
COMMENT ON COLUMN history."ttl"."live_until" IS 'Last ledger the entry is live at; null once evicted';
COMMENT ON COLUMN history."ttl"."evicted" IS 'Moved to the hot archive';

CREATE TABLE state."ttl" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "durability" smallint NOT NULL,
    "live_until" bigint,
    "evicted" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."ttl" IS 'How long entries live';
COMMENT ON COLUMN state."ttl"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."ttl"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."ttl"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."ttl"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."ttl"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."ttl"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."ttl"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."ttl"."durability" IS '0 temporary, 1 persistent';
COMMENT ON COLUMN state."ttl"."live_until" IS 'Last ledger the entry is live at; null once evicted';
COMMENT ON COLUMN state."ttl"."evicted" IS 'Moved to the hot archive';

CREATE TABLE event."liquidity_pool_addliq" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "provider" text NOT NULL,
    "pool_id" text NOT NULL,
    "amount_a" numeric(39,0) NOT NULL,
    "amount_b" numeric(39,0) NOT NULL,
    "shares" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."liquidity_pool_addliq" (deployment, pool_id, ledger);
COMMENT ON TABLE event."liquidity_pool_addliq" IS 'Liquidity added to a pool';
COMMENT ON COLUMN event."liquidity_pool_addliq"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."liquidity_pool_addliq"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."liquidity_pool_addliq"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."liquidity_pool_addliq"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_addliq"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_addliq"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."liquidity_pool_addliq"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."liquidity_pool_addliq"."provider" IS 'Who provides';
COMMENT ON COLUMN event."liquidity_pool_addliq"."pool_id" IS 'Pool';
COMMENT ON COLUMN event."liquidity_pool_addliq"."amount_a" IS 'Paid in, token A, raw units';
COMMENT ON COLUMN event."liquidity_pool_addliq"."amount_b" IS 'Paid in, token B, raw units';
COMMENT ON COLUMN event."liquidity_pool_addliq"."shares" IS 'Shares minted';

CREATE TABLE event."liquidity_pool_remliq" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "provider" text NOT NULL,
    "pool_id" text NOT NULL,
    "out_a" numeric(39,0) NOT NULL,
    "out_b" numeric(39,0) NOT NULL,
    "shares" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."liquidity_pool_remliq" (deployment, pool_id, ledger);
COMMENT ON TABLE event."liquidity_pool_remliq" IS 'Liquidity removed from a pool';
COMMENT ON COLUMN event."liquidity_pool_remliq"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."liquidity_pool_remliq"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."liquidity_pool_remliq"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."liquidity_pool_remliq"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_remliq"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_remliq"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."liquidity_pool_remliq"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."liquidity_pool_remliq"."provider" IS 'Who withdraws';
COMMENT ON COLUMN event."liquidity_pool_remliq"."pool_id" IS 'Pool';
COMMENT ON COLUMN event."liquidity_pool_remliq"."out_a" IS 'Paid out, token A, raw units';
COMMENT ON COLUMN event."liquidity_pool_remliq"."out_b" IS 'Paid out, token B, raw units';
COMMENT ON COLUMN event."liquidity_pool_remliq"."shares" IS 'Shares burned';

CREATE TABLE event."liquidity_pool_swap" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "trader" text NOT NULL,
    "pool_id" text NOT NULL,
    "a_to_b" boolean NOT NULL,
    "amount_in" numeric(39,0) NOT NULL,
    "amount_out" numeric(39,0) NOT NULL,
    "partner_id" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."liquidity_pool_swap" (deployment, pool_id, ledger);
COMMENT ON TABLE event."liquidity_pool_swap" IS 'A trade against a pool';
COMMENT ON COLUMN event."liquidity_pool_swap"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."liquidity_pool_swap"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."liquidity_pool_swap"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."liquidity_pool_swap"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_swap"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_swap"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."liquidity_pool_swap"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."liquidity_pool_swap"."trader" IS 'Who trades';
COMMENT ON COLUMN event."liquidity_pool_swap"."pool_id" IS 'Pool';
COMMENT ON COLUMN event."liquidity_pool_swap"."a_to_b" IS 'True: sells token A for B';
COMMENT ON COLUMN event."liquidity_pool_swap"."amount_in" IS 'Sold, raw units, fee included';
COMMENT ON COLUMN event."liquidity_pool_swap"."amount_out" IS 'Bought, raw units';
COMMENT ON COLUMN event."liquidity_pool_swap"."partner_id" IS 'Partner tag; 0 is untagged';

CREATE TABLE event."liquidity_pool_claim" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "provider" text NOT NULL,
    "pool_id" text NOT NULL,
    "claim_a" numeric(39,0) NOT NULL,
    "claim_b" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."liquidity_pool_claim" (deployment, pool_id, ledger);
COMMENT ON TABLE event."liquidity_pool_claim" IS 'Fees claimed by a liquidity provider';
COMMENT ON COLUMN event."liquidity_pool_claim"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."liquidity_pool_claim"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."liquidity_pool_claim"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."liquidity_pool_claim"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_claim"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_claim"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."liquidity_pool_claim"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."liquidity_pool_claim"."provider" IS 'Who claims';
COMMENT ON COLUMN event."liquidity_pool_claim"."pool_id" IS 'Pool';
COMMENT ON COLUMN event."liquidity_pool_claim"."claim_a" IS 'Fees paid, token A, raw units';
COMMENT ON COLUMN event."liquidity_pool_claim"."claim_b" IS 'Fees paid, token B, raw units';

CREATE TABLE event."liquidity_pool_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."liquidity_pool_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."liquidity_pool_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."synthetic_engine_open" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "collateral_amount" numeric(39,0) NOT NULL,
    "collateral_token" text NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_open" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_open" IS 'A vault opened';
COMMENT ON COLUMN event."synthetic_engine_open"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_open"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_open"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_open"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_open"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_open"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_open"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_open"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_open"."collateral_amount" IS 'Collateral paid in, raw units';
COMMENT ON COLUMN event."synthetic_engine_open"."collateral_token" IS 'Collateral token';
COMMENT ON COLUMN event."synthetic_engine_open"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_deposit" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_deposit" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_deposit" IS 'Collateral added to a vault';
COMMENT ON COLUMN event."synthetic_engine_deposit"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_deposit"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_deposit"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_deposit"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_deposit"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_deposit"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_deposit"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_deposit"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_deposit"."amount" IS 'Collateral, raw units';
COMMENT ON COLUMN event."synthetic_engine_deposit"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_mint" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_mint" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_mint" IS 'Synthetic tokens minted against a vault';
COMMENT ON COLUMN event."synthetic_engine_mint"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_mint"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_mint"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_mint"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_mint"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_mint"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_mint"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_mint"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_mint"."amount" IS 'Minted, raw units';
COMMENT ON COLUMN event."synthetic_engine_mint"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_burn" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_burn" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_burn" IS 'Debt repaid';
COMMENT ON COLUMN event."synthetic_engine_burn"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_burn"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_burn"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_burn"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_burn"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_burn"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_burn"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_burn"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_burn"."amount" IS 'What was really repaid, raw units';
COMMENT ON COLUMN event."synthetic_engine_burn"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_withdraw" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_withdraw" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_withdraw" IS 'Collateral taken out of a vault';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."amount" IS 'Collateral, raw units';
COMMENT ON COLUMN event."synthetic_engine_withdraw"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_liq" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "collateral_seized" numeric(39,0) NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."synthetic_engine_liq" (deployment, owner, ledger);
COMMENT ON TABLE event."synthetic_engine_liq" IS 'A vault liquidated; the repaid debt stands in the vault''s history';
COMMENT ON COLUMN event."synthetic_engine_liq"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_liq"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_liq"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_liq"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_liq"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_liq"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_liq"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_liq"."owner" IS 'Owner of the vault';
COMMENT ON COLUMN event."synthetic_engine_liq"."collateral_seized" IS 'Collateral given to the liquidator, raw units';
COMMENT ON COLUMN event."synthetic_engine_liq"."synth_asset" IS 'Market';

CREATE TABLE event."synthetic_engine_market_created" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "symbol" text NOT NULL,
    "coll_oracle_symbol" text NOT NULL,
    "debt_ceiling" numeric(39,0) NOT NULL,
    "liq_penalty" numeric(39,0) NOT NULL,
    "liq_ratio" numeric(39,0) NOT NULL,
    "min_coll_ratio" numeric(39,0) NOT NULL,
    "oracle_symbol" text NOT NULL,
    "stab_fee_bps" numeric(39,0) NOT NULL,
    "token" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synthetic_engine_market_created" IS 'A market registered, or replaced when it was there';
COMMENT ON COLUMN event."synthetic_engine_market_created"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_market_created"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_market_created"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_market_created"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_market_created"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_market_created"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_market_created"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_market_created"."symbol" IS 'Market';
COMMENT ON COLUMN event."synthetic_engine_market_created"."coll_oracle_symbol" IS 'Feed that prices the collateral';
COMMENT ON COLUMN event."synthetic_engine_market_created"."debt_ceiling" IS 'Most debt of the market, raw units';
COMMENT ON COLUMN event."synthetic_engine_market_created"."liq_penalty" IS 'Liquidation penalty, basis points';
COMMENT ON COLUMN event."synthetic_engine_market_created"."liq_ratio" IS 'Liquidation ratio, basis points';
COMMENT ON COLUMN event."synthetic_engine_market_created"."min_coll_ratio" IS 'Least collateral ratio, basis points';
COMMENT ON COLUMN event."synthetic_engine_market_created"."oracle_symbol" IS 'Feed that prices the synthetic asset';
COMMENT ON COLUMN event."synthetic_engine_market_created"."stab_fee_bps" IS 'Mint fee, millionths';
COMMENT ON COLUMN event."synthetic_engine_market_created"."token" IS 'Synthetic token';

CREATE TABLE event."synthetic_engine_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synthetic_engine_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."synthetic_engine_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."stability_pool_deposit" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "depositor" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."stability_pool_deposit" (deployment, depositor, ledger);
COMMENT ON TABLE event."stability_pool_deposit" IS 'Deposit into the stability pool';
COMMENT ON COLUMN event."stability_pool_deposit"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stability_pool_deposit"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stability_pool_deposit"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stability_pool_deposit"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stability_pool_deposit"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stability_pool_deposit"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stability_pool_deposit"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stability_pool_deposit"."depositor" IS 'Depositor';
COMMENT ON COLUMN event."stability_pool_deposit"."amount" IS 'USDC, raw units';

CREATE TABLE event."stability_pool_withdraw" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "depositor" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."stability_pool_withdraw" (deployment, depositor, ledger);
COMMENT ON TABLE event."stability_pool_withdraw" IS 'Withdrawal from the stability pool';
COMMENT ON COLUMN event."stability_pool_withdraw"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stability_pool_withdraw"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stability_pool_withdraw"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stability_pool_withdraw"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stability_pool_withdraw"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stability_pool_withdraw"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stability_pool_withdraw"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stability_pool_withdraw"."depositor" IS 'Depositor';
COMMENT ON COLUMN event."stability_pool_withdraw"."amount" IS 'USDC, raw units';

CREATE TABLE event."stability_pool_liqabs" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "engine" text NOT NULL,
    "collateral_reward" numeric(39,0) NOT NULL,
    "debt_absorbed" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stability_pool_liqabs" IS 'Debt absorbed by the pool';
COMMENT ON COLUMN event."stability_pool_liqabs"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stability_pool_liqabs"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stability_pool_liqabs"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stability_pool_liqabs"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stability_pool_liqabs"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stability_pool_liqabs"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stability_pool_liqabs"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stability_pool_liqabs"."engine" IS 'Engine that called';
COMMENT ON COLUMN event."stability_pool_liqabs"."collateral_reward" IS 'Collateral gained, raw units';
COMMENT ON COLUMN event."stability_pool_liqabs"."debt_absorbed" IS 'Debt paid from deposits, raw units';

CREATE TABLE event."stability_pool_claim" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "depositor" text NOT NULL,
    "gain_type" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."stability_pool_claim" (deployment, depositor, ledger);
COMMENT ON TABLE event."stability_pool_claim" IS 'Gains claimed; moves no tokens';
COMMENT ON COLUMN event."stability_pool_claim"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stability_pool_claim"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stability_pool_claim"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stability_pool_claim"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stability_pool_claim"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stability_pool_claim"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stability_pool_claim"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stability_pool_claim"."depositor" IS 'Depositor';
COMMENT ON COLUMN event."stability_pool_claim"."gain_type" IS 'Kind of gain: coll';
COMMENT ON COLUMN event."stability_pool_claim"."amount" IS 'Gain, raw units';

CREATE TABLE event."stability_pool_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stability_pool_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."stability_pool_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stability_pool_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stability_pool_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stability_pool_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stability_pool_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stability_pool_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stability_pool_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stability_pool_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."stability_pool_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."compliance_registry_attest" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "verifier" text NOT NULL,
    "subject" text NOT NULL,
    "jurisdiction_allowed" boolean NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."compliance_registry_attest" (deployment, subject, ledger);
COMMENT ON TABLE event."compliance_registry_attest" IS 'A person attested by a verifier';
COMMENT ON COLUMN event."compliance_registry_attest"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_attest"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_attest"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_attest"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_attest"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_attest"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_attest"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_attest"."verifier" IS 'Verifier';
COMMENT ON COLUMN event."compliance_registry_attest"."subject" IS 'Person';
COMMENT ON COLUMN event."compliance_registry_attest"."jurisdiction_allowed" IS 'Jurisdiction not blocked at that time';

CREATE TABLE event."compliance_registry_revoke" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "verifier" text NOT NULL,
    "subject" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."compliance_registry_revoke" (deployment, subject, ledger);
COMMENT ON TABLE event."compliance_registry_revoke" IS 'An attestation revoked';
COMMENT ON COLUMN event."compliance_registry_revoke"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_revoke"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_revoke"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_revoke"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_revoke"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_revoke"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_revoke"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_revoke"."verifier" IS 'Verifier';
COMMENT ON COLUMN event."compliance_registry_revoke"."subject" IS 'Person';

CREATE TABLE event."compliance_registry_verifier_set" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "dao" text NOT NULL,
    "verifier" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."compliance_registry_verifier_set" IS 'The canonical verifier replaced';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."dao" IS 'Governance';
COMMENT ON COLUMN event."compliance_registry_verifier_set"."verifier" IS 'New verifier';

CREATE TABLE event."compliance_registry_block" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "action" text NOT NULL,
    "country_code" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."compliance_registry_block" IS 'A jurisdiction blocked; unblocking emits nothing';
COMMENT ON COLUMN event."compliance_registry_block"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_block"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_block"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_block"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_block"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_block"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_block"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_block"."action" IS 'Always jur';
COMMENT ON COLUMN event."compliance_registry_block"."country_code" IS 'ISO 3166-1 numeric';

CREATE TABLE event."compliance_registry_freeze" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "account" text NOT NULL,
    "reason" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."compliance_registry_freeze" (deployment, account, ledger);
COMMENT ON TABLE event."compliance_registry_freeze" IS 'An account frozen or unfrozen';
COMMENT ON COLUMN event."compliance_registry_freeze"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_freeze"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_freeze"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_freeze"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_freeze"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_freeze"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_freeze"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_freeze"."account" IS 'Account';
COMMENT ON COLUMN event."compliance_registry_freeze"."reason" IS 'Reason; unfrz means unfrozen';

CREATE TABLE event."compliance_registry_travel" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "to_address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "asset" text NOT NULL,
    "sequence" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."compliance_registry_travel" IS 'Travel-rule record of a transfer';
COMMENT ON COLUMN event."compliance_registry_travel"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_travel"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_travel"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_travel"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_travel"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_travel"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_travel"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_travel"."from_address" IS 'Sender';
COMMENT ON COLUMN event."compliance_registry_travel"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."compliance_registry_travel"."amount" IS 'Amount, raw units';
COMMENT ON COLUMN event."compliance_registry_travel"."asset" IS 'Asset';
COMMENT ON COLUMN event."compliance_registry_travel"."sequence" IS 'Number of the record';

CREATE TABLE event."compliance_registry_status_change" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "account" text NOT NULL,
    "new_status" bigint NOT NULL,
    "old_status" bigint NOT NULL,
    "reason" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."compliance_registry_status_change" (deployment, account, ledger);
COMMENT ON TABLE event."compliance_registry_status_change" IS 'A person''s status changed by governance';
COMMENT ON COLUMN event."compliance_registry_status_change"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_status_change"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_status_change"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_status_change"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_status_change"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_status_change"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_status_change"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_status_change"."account" IS 'Person';
COMMENT ON COLUMN event."compliance_registry_status_change"."new_status" IS '0 Unknown, 1 Pending, 2 Verified, 3 Suspended, 4 Sanctioned, 5 Expired';
COMMENT ON COLUMN event."compliance_registry_status_change"."old_status" IS 'The status before';
COMMENT ON COLUMN event."compliance_registry_status_change"."reason" IS 'Reason';

CREATE TABLE event."compliance_registry_submit_attest" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "subject" text NOT NULL,
    "provider" text NOT NULL,
    "jurisdiction_allowed" boolean NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."compliance_registry_submit_attest" (deployment, subject, ledger);
COMMENT ON TABLE event."compliance_registry_submit_attest" IS 'A person handed in a provider''s attestation';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."subject" IS 'Person';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."provider" IS 'Provider';
COMMENT ON COLUMN event."compliance_registry_submit_attest"."jurisdiction_allowed" IS 'Jurisdiction not blocked at that time';

CREATE TABLE event."compliance_registry_provider_reg" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "provider" text NOT NULL,
    "signer" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."compliance_registry_provider_reg" IS 'A provider''s signer registered';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."provider" IS 'Provider';
COMMENT ON COLUMN event."compliance_registry_provider_reg"."signer" IS 'Signer';

CREATE TABLE event."compliance_registry_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."compliance_registry_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."compliance_registry_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."compliance_registry_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."compliance_registry_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."compliance_registry_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."compliance_registry_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."compliance_registry_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."compliance_registry_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."compliance_registry_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."compliance_registry_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."partner_registry_preg_reg" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "id" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_preg_reg" IS 'A partner registered';
COMMENT ON COLUMN event."partner_registry_preg_reg"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_reg"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_reg"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_reg"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_reg"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_reg"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_reg"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_reg"."owner" IS 'Owner';
COMMENT ON COLUMN event."partner_registry_preg_reg"."id" IS 'Partner';

CREATE TABLE event."partner_registry_preg_fwd" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_id" bigint NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."partner_registry_preg_fwd" (deployment, partner_id, ledger);
COMMENT ON TABLE event."partner_registry_preg_fwd" IS 'Revenue booked for a partner';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."partner_id" IS 'Partner';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."amount" IS 'Amount, raw units of the token sold';
COMMENT ON COLUMN event."partner_registry_preg_fwd"."epoch" IS 'Epoch';

CREATE TABLE event."partner_registry_preg_claim" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_owner" text NOT NULL,
    "claimable" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_preg_claim" IS 'A partner claimed its revenue';
COMMENT ON COLUMN event."partner_registry_preg_claim"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_claim"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_claim"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_claim"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_claim"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_claim"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_claim"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_claim"."partner_owner" IS 'Owner';
COMMENT ON COLUMN event."partner_registry_preg_claim"."claimable" IS 'Paid, USDC, raw units';

CREATE TABLE event."partner_registry_preg_asset" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_owner" text NOT NULL,
    "id" bigint NOT NULL,
    "symbol" text NOT NULL,
    "token" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_preg_asset" IS 'A partner''s asset registered';
COMMENT ON COLUMN event."partner_registry_preg_asset"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_asset"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_asset"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_asset"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_asset"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_asset"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_asset"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_asset"."partner_owner" IS 'Owner';
COMMENT ON COLUMN event."partner_registry_preg_asset"."id" IS 'Partner';
COMMENT ON COLUMN event."partner_registry_preg_asset"."symbol" IS 'Asset';
COMMENT ON COLUMN event."partner_registry_preg_asset"."token" IS 'Token';

CREATE TABLE event."partner_registry_preg_live" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "symbol" text NOT NULL,
    "partner_id" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_preg_live" IS 'A partner''s asset set live';
COMMENT ON COLUMN event."partner_registry_preg_live"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_live"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_live"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_live"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_live"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_live"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_live"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_live"."symbol" IS 'Asset';
COMMENT ON COLUMN event."partner_registry_preg_live"."partner_id" IS 'Partner';

CREATE TABLE event."partner_registry_preg_off" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_id" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_preg_off" IS 'A partner deactivated';
COMMENT ON COLUMN event."partner_registry_preg_off"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_preg_off"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_preg_off"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_preg_off"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_off"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_preg_off"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_preg_off"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_preg_off"."partner_id" IS 'Partner';

CREATE TABLE event."partner_registry_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."partner_registry_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."partner_registry_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."partner_registry_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."partner_registry_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."partner_registry_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."partner_registry_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."partner_registry_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."partner_registry_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."partner_registry_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."partner_registry_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."earnings_distributor_revenue_received" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "sender" text NOT NULL,
    "source" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "token" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."earnings_distributor_revenue_received" (deployment, token, ledger);
COMMENT ON TABLE event."earnings_distributor_revenue_received" IS 'Fees received';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."sender" IS 'Contract that paid';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."source" IS 'swapfee, stabfee or liqfee';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."amount" IS 'Amount, raw units';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."epoch" IS 'Epoch';
COMMENT ON COLUMN event."earnings_distributor_revenue_received"."token" IS 'Token';

CREATE TABLE event."earnings_distributor_partner_revenue_forwarded" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_id" bigint NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "partner_cut" numeric(39,0) NOT NULL,
    "source" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."earnings_distributor_partner_revenue_forwarded" IS 'A partner''s cut forwarded';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."partner_id" IS 'Partner';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."epoch" IS 'Epoch';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."partner_cut" IS 'Amount, raw units';
COMMENT ON COLUMN event."earnings_distributor_partner_revenue_forwarded"."source" IS 'swapfee, stabfee or liqfee';

CREATE TABLE event."earnings_distributor_epoch_closed" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "total_revenue" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."earnings_distributor_epoch_closed" IS 'An epoch closed';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."epoch" IS 'Epoch';
COMMENT ON COLUMN event."earnings_distributor_epoch_closed"."total_revenue" IS 'Revenue; sums different tokens';

CREATE TABLE event."earnings_distributor_epoch_opened" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."earnings_distributor_epoch_opened" IS 'An epoch opened';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_epoch_opened"."epoch" IS 'Epoch';

CREATE TABLE event."earnings_distributor_revenue_claimed" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "claimer" text NOT NULL,
    "total" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."earnings_distributor_revenue_claimed" IS 'Earnings claimed; moves no tokens';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."claimer" IS 'Claimer';
COMMENT ON COLUMN event."earnings_distributor_revenue_claimed"."total" IS 'Amount';

CREATE TABLE event."earnings_distributor_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."earnings_distributor_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."earnings_distributor_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."oracle_provider" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "action" text NOT NULL,
    "provider" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."oracle_provider" IS 'A price provider added or removed';
COMMENT ON COLUMN event."oracle_provider"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."oracle_provider"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."oracle_provider"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."oracle_provider"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."oracle_provider"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."oracle_provider"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."oracle_provider"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."oracle_provider"."action" IS 'add or rem';
COMMENT ON COLUMN event."oracle_provider"."provider" IS 'Provider';

CREATE TABLE event."oracle_price_observation" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "price" numeric(39,0) NOT NULL,
    "provider" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."oracle_price_observation" (deployment, asset, ledger);
COMMENT ON TABLE event."oracle_price_observation" IS 'A provider''s price';
COMMENT ON COLUMN event."oracle_price_observation"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."oracle_price_observation"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."oracle_price_observation"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."oracle_price_observation"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."oracle_price_observation"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."oracle_price_observation"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."oracle_price_observation"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."oracle_price_observation"."asset" IS 'Feed';
COMMENT ON COLUMN event."oracle_price_observation"."price" IS 'Price, 7 decimals';
COMMENT ON COLUMN event."oracle_price_observation"."provider" IS 'Provider';

CREATE TABLE event."oracle_price_aggregate" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "median_price" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."oracle_price_aggregate" (deployment, asset, ledger);
COMMENT ON TABLE event."oracle_price_aggregate" IS 'The price agreed from the observations';
COMMENT ON COLUMN event."oracle_price_aggregate"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."oracle_price_aggregate"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."oracle_price_aggregate"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."oracle_price_aggregate"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."oracle_price_aggregate"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."oracle_price_aggregate"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."oracle_price_aggregate"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."oracle_price_aggregate"."asset" IS 'Feed';
COMMENT ON COLUMN event."oracle_price_aggregate"."median_price" IS 'Price, 7 decimals';

CREATE TABLE event."oracle_twap" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "twap_price" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
CREATE INDEX ON event."oracle_twap" (deployment, asset, ledger);
COMMENT ON TABLE event."oracle_twap" IS 'The time-weighted price updated';
COMMENT ON COLUMN event."oracle_twap"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."oracle_twap"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."oracle_twap"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."oracle_twap"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."oracle_twap"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."oracle_twap"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."oracle_twap"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."oracle_twap"."asset" IS 'Feed';
COMMENT ON COLUMN event."oracle_twap"."twap_price" IS 'Price, 7 decimals';

CREATE TABLE event."oracle_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."oracle_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."oracle_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."oracle_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."oracle_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."oracle_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."oracle_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."oracle_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."oracle_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."oracle_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."oracle_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."dao_governance_proposed" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposer" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_proposed" IS 'A proposal made';
COMMENT ON COLUMN event."dao_governance_proposed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_proposed"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_proposed"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_proposed"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_proposed"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_proposed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_proposed"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_proposed"."proposer" IS 'Proposer';
COMMENT ON COLUMN event."dao_governance_proposed"."proposal_id" IS 'Proposal';

CREATE TABLE event."dao_governance_voted" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "voter" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    "support" boolean NOT NULL,
    "weight" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_voted" IS 'A vote';
COMMENT ON COLUMN event."dao_governance_voted"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_voted"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_voted"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_voted"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_voted"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_voted"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_voted"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_voted"."voter" IS 'Voter';
COMMENT ON COLUMN event."dao_governance_voted"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN event."dao_governance_voted"."support" IS 'True: yes';
COMMENT ON COLUMN event."dao_governance_voted"."weight" IS 'Weight; 1 per signer';

CREATE TABLE event."dao_governance_executed" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_executed" IS 'A proposal executed';
COMMENT ON COLUMN event."dao_governance_executed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_executed"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_executed"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_executed"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_executed"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_executed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_executed"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_executed"."proposal_id" IS 'Proposal';

CREATE TABLE event."dao_governance_cancelled" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_cancelled" IS 'A proposal cancelled';
COMMENT ON COLUMN event."dao_governance_cancelled"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_cancelled"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_cancelled"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_cancelled"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_cancelled"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_cancelled"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_cancelled"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_cancelled"."proposal_id" IS 'Proposal';

CREATE TABLE event."dao_governance_msig_created" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "signer_count" bigint NOT NULL,
    "threshold" bigint NOT NULL,
    "wallet_id" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_msig_created" IS 'A wallet created, a signer added, or a multisig proposal queued';
COMMENT ON COLUMN event."dao_governance_msig_created"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_msig_created"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_msig_created"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_msig_created"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_created"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_created"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_msig_created"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_msig_created"."signer_count" IS 'Signers';
COMMENT ON COLUMN event."dao_governance_msig_created"."threshold" IS 'Threshold';
COMMENT ON COLUMN event."dao_governance_msig_created"."wallet_id" IS 'Wallet';

CREATE TABLE event."dao_governance_msig_approved" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "tx_id" numeric(20,0) NOT NULL,
    "signer" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_msig_approved" IS 'A multisig transaction approved or rejected: the approval''s entry tells';
COMMENT ON COLUMN event."dao_governance_msig_approved"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_msig_approved"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_msig_approved"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_msig_approved"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_approved"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_approved"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_msig_approved"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_msig_approved"."tx_id" IS 'Multisig transaction';
COMMENT ON COLUMN event."dao_governance_msig_approved"."signer" IS 'Signer';

CREATE TABLE event."dao_governance_msig_executed" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    "tx_id" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_msig_executed" IS 'A multisig transaction executed';
COMMENT ON COLUMN event."dao_governance_msig_executed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_msig_executed"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_msig_executed"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_msig_executed"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_executed"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_msig_executed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_msig_executed"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_msig_executed"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN event."dao_governance_msig_executed"."tx_id" IS 'Multisig transaction';

CREATE TABLE event."dao_governance_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."dao_governance_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."dao_governance_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."dao_governance_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."dao_governance_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."dao_governance_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."dao_governance_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."dao_governance_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."dao_governance_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."dao_governance_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."dao_governance_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."synth_token_transfer" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "to_address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_transfer" IS 'Synthetic tokens moved';
COMMENT ON COLUMN event."synth_token_transfer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_transfer"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_transfer"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_transfer"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_transfer"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_transfer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_transfer"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_transfer"."from_address" IS 'Sender';
COMMENT ON COLUMN event."synth_token_transfer"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."synth_token_transfer"."amount" IS 'Amount, raw units';

CREATE TABLE event."synth_token_approve" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "spender" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "expiration_ledger" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_approve" IS 'An allowance set';
COMMENT ON COLUMN event."synth_token_approve"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_approve"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_approve"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_approve"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_approve"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_approve"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_approve"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_approve"."from_address" IS 'Owner';
COMMENT ON COLUMN event."synth_token_approve"."spender" IS 'Spender';
COMMENT ON COLUMN event."synth_token_approve"."amount" IS 'Allowance, raw units';
COMMENT ON COLUMN event."synth_token_approve"."expiration_ledger" IS 'Last ledger of the allowance';

CREATE TABLE event."synth_token_mint" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "to_address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_mint" IS 'Synthetic tokens minted';
COMMENT ON COLUMN event."synth_token_mint"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_mint"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_mint"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_mint"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_mint"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_mint"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_mint"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_mint"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."synth_token_mint"."amount" IS 'Amount, raw units';

CREATE TABLE event."synth_token_burn" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_burn" IS 'Synthetic tokens burned; may be negative and raise the supply';
COMMENT ON COLUMN event."synth_token_burn"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_burn"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_burn"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_burn"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_burn"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_burn"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_burn"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_burn"."from_address" IS 'Holder';
COMMENT ON COLUMN event."synth_token_burn"."amount" IS 'Amount, raw units';

CREATE TABLE event."synth_token_freeze" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "account" text NOT NULL,
    "frozen" boolean NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_freeze" IS 'An account frozen or unfrozen in this token';
COMMENT ON COLUMN event."synth_token_freeze"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_freeze"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_freeze"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_freeze"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_freeze"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_freeze"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_freeze"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_freeze"."account" IS 'Account';
COMMENT ON COLUMN event."synth_token_freeze"."frozen" IS 'True: frozen';

CREATE TABLE event."synth_token_clawback" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "to_address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_clawback" IS 'Synthetic tokens taken back';
COMMENT ON COLUMN event."synth_token_clawback"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_clawback"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_clawback"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_clawback"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_clawback"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_clawback"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_clawback"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_clawback"."from_address" IS 'Holder';
COMMENT ON COLUMN event."synth_token_clawback"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."synth_token_clawback"."amount" IS 'Amount, raw units';

CREATE TABLE event."synth_token_executable_update" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "old_executable" json NOT NULL,
    "new_executable" json NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."synth_token_executable_update" IS 'The contract upgraded (a system event)';
COMMENT ON COLUMN event."synth_token_executable_update"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."synth_token_executable_update"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."synth_token_executable_update"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."synth_token_executable_update"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."synth_token_executable_update"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."synth_token_executable_update"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."synth_token_executable_update"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."synth_token_executable_update"."old_executable" IS 'Code before: ["Wasm", hash]';
COMMENT ON COLUMN event."synth_token_executable_update"."new_executable" IS 'Code after: ["Wasm", hash]';

CREATE TABLE event."stellar_asset_transfer" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "to_address" text NOT NULL,
    "asset" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "to_muxed_id" json,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_transfer" IS 'Stellar asset moved';
COMMENT ON COLUMN event."stellar_asset_transfer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_transfer"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_transfer"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_transfer"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_transfer"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_transfer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_transfer"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_transfer"."from_address" IS 'Sender';
COMMENT ON COLUMN event."stellar_asset_transfer"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."stellar_asset_transfer"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_transfer"."amount" IS 'Amount, raw units';
COMMENT ON COLUMN event."stellar_asset_transfer"."to_muxed_id" IS 'Memo of a multiplexed receiver';

CREATE TABLE event."stellar_asset_mint" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "admin" text,
    "to_address" text NOT NULL,
    "asset" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "to_muxed_id" json,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_mint" IS 'Stellar asset issued';
COMMENT ON COLUMN event."stellar_asset_mint"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_mint"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_mint"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_mint"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_mint"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_mint"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_mint"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_mint"."admin" IS 'Issuer; absent since protocol 23';
COMMENT ON COLUMN event."stellar_asset_mint"."to_address" IS 'Receiver';
COMMENT ON COLUMN event."stellar_asset_mint"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_mint"."amount" IS 'Amount, raw units';
COMMENT ON COLUMN event."stellar_asset_mint"."to_muxed_id" IS 'Memo of a multiplexed receiver';

CREATE TABLE event."stellar_asset_burn" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "asset" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_burn" IS 'Stellar asset returned to its issuer';
COMMENT ON COLUMN event."stellar_asset_burn"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_burn"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_burn"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_burn"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_burn"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_burn"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_burn"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_burn"."from_address" IS 'Holder';
COMMENT ON COLUMN event."stellar_asset_burn"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_burn"."amount" IS 'Amount, raw units';

CREATE TABLE event."stellar_asset_clawback" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "admin" text,
    "from_address" text NOT NULL,
    "asset" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_clawback" IS 'Stellar asset taken back by its issuer';
COMMENT ON COLUMN event."stellar_asset_clawback"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_clawback"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_clawback"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_clawback"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_clawback"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_clawback"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_clawback"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_clawback"."admin" IS 'Issuer; absent since protocol 23';
COMMENT ON COLUMN event."stellar_asset_clawback"."from_address" IS 'Holder';
COMMENT ON COLUMN event."stellar_asset_clawback"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_clawback"."amount" IS 'Amount, raw units';

CREATE TABLE event."stellar_asset_approve" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "from_address" text NOT NULL,
    "spender" text NOT NULL,
    "asset" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "expiration_ledger" bigint NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_approve" IS 'An allowance set';
COMMENT ON COLUMN event."stellar_asset_approve"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_approve"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_approve"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_approve"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_approve"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_approve"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_approve"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_approve"."from_address" IS 'Owner';
COMMENT ON COLUMN event."stellar_asset_approve"."spender" IS 'Spender';
COMMENT ON COLUMN event."stellar_asset_approve"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_approve"."amount" IS 'Allowance, raw units';
COMMENT ON COLUMN event."stellar_asset_approve"."expiration_ledger" IS 'Last ledger of the allowance';

CREATE TABLE event."stellar_asset_set_authorized" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "admin" text,
    "account" text NOT NULL,
    "asset" text NOT NULL,
    "authorize" boolean NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_set_authorized" IS 'A trustline or balance authorised or frozen by the issuer';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."admin" IS 'Issuer; absent since protocol 23';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."account" IS 'Holder';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_set_authorized"."authorize" IS 'True: authorised';

CREATE TABLE event."stellar_asset_set_admin" (
    "deployment" smallint NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "op" integer NOT NULL,
    "event" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "admin" text NOT NULL,
    "asset" text NOT NULL,
    "new_admin" text NOT NULL,
    PRIMARY KEY (deployment, ledger, tx, op, event)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE event."stellar_asset_set_admin" IS 'The issuing administrator replaced';
COMMENT ON COLUMN event."stellar_asset_set_admin"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN event."stellar_asset_set_admin"."ledger" IS 'Ledger sequence';
COMMENT ON COLUMN event."stellar_asset_set_admin"."tx" IS 'Transaction in apply order, from 1';
COMMENT ON COLUMN event."stellar_asset_set_admin"."op" IS 'Operation, from 0';
COMMENT ON COLUMN event."stellar_asset_set_admin"."event" IS 'Event within the operation, from 0';
COMMENT ON COLUMN event."stellar_asset_set_admin"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN event."stellar_asset_set_admin"."contract" IS 'Contract that emitted it';
COMMENT ON COLUMN event."stellar_asset_set_admin"."admin" IS 'Administrator before';
COMMENT ON COLUMN event."stellar_asset_set_admin"."asset" IS 'CODE:ISSUER, or native';
COMMENT ON COLUMN event."stellar_asset_set_admin"."new_admin" IS 'Administrator from now on';

CREATE TABLE history."liquidity_pool_pool" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "pool_id" text,
    "cumulative_vol_a" numeric(39,0),
    "cumulative_vol_b" numeric(39,0),
    "fee_a_accum" numeric(39,0),
    "fee_b_accum" numeric(39,0),
    "fee_tier" numeric(39,0),
    "paused" boolean,
    "reserve_a" numeric(39,0),
    "reserve_b" numeric(39,0),
    "token_a" text,
    "token_b" text,
    "total_shares" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."liquidity_pool_pool" IS 'A pool: reserves, shares, fee accumulators';
COMMENT ON COLUMN history."liquidity_pool_pool"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."liquidity_pool_pool"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."liquidity_pool_pool"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."liquidity_pool_pool"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."liquidity_pool_pool"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."liquidity_pool_pool"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."liquidity_pool_pool"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."liquidity_pool_pool"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."liquidity_pool_pool"."pool_id" IS 'Pool';
COMMENT ON COLUMN history."liquidity_pool_pool"."cumulative_vol_a" IS 'Volume sold of token A, raw units';
COMMENT ON COLUMN history."liquidity_pool_pool"."cumulative_vol_b" IS 'Volume sold of token B, raw units';
COMMENT ON COLUMN history."liquidity_pool_pool"."fee_a_accum" IS 'Fee per share, token A, scaled by 1e12';
COMMENT ON COLUMN history."liquidity_pool_pool"."fee_b_accum" IS 'Fee per share, token B, scaled by 1e12';
COMMENT ON COLUMN history."liquidity_pool_pool"."fee_tier" IS 'Swap fee in basis points: 5, 30 or 100';
COMMENT ON COLUMN history."liquidity_pool_pool"."paused" IS 'Trading paused';
COMMENT ON COLUMN history."liquidity_pool_pool"."reserve_a" IS 'Book reserve, token A, raw units';
COMMENT ON COLUMN history."liquidity_pool_pool"."reserve_b" IS 'Book reserve, token B, raw units';
COMMENT ON COLUMN history."liquidity_pool_pool"."token_a" IS 'Token A';
COMMENT ON COLUMN history."liquidity_pool_pool"."token_b" IS 'Token B';
COMMENT ON COLUMN history."liquidity_pool_pool"."total_shares" IS 'Shares, the 1000 burned ones included';

CREATE TABLE state."liquidity_pool_pool" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "pool_id" text NOT NULL,
    "cumulative_vol_a" numeric(39,0) NOT NULL,
    "cumulative_vol_b" numeric(39,0) NOT NULL,
    "fee_a_accum" numeric(39,0) NOT NULL,
    "fee_b_accum" numeric(39,0) NOT NULL,
    "fee_tier" numeric(39,0) NOT NULL,
    "paused" boolean NOT NULL,
    "reserve_a" numeric(39,0) NOT NULL,
    "reserve_b" numeric(39,0) NOT NULL,
    "token_a" text NOT NULL,
    "token_b" text NOT NULL,
    "total_shares" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."liquidity_pool_pool" IS 'A pool: reserves, shares, fee accumulators';
COMMENT ON COLUMN state."liquidity_pool_pool"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."liquidity_pool_pool"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."liquidity_pool_pool"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."liquidity_pool_pool"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."liquidity_pool_pool"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."liquidity_pool_pool"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."liquidity_pool_pool"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."liquidity_pool_pool"."pool_id" IS 'Pool';
COMMENT ON COLUMN state."liquidity_pool_pool"."cumulative_vol_a" IS 'Volume sold of token A, raw units';
COMMENT ON COLUMN state."liquidity_pool_pool"."cumulative_vol_b" IS 'Volume sold of token B, raw units';
COMMENT ON COLUMN state."liquidity_pool_pool"."fee_a_accum" IS 'Fee per share, token A, scaled by 1e12';
COMMENT ON COLUMN state."liquidity_pool_pool"."fee_b_accum" IS 'Fee per share, token B, scaled by 1e12';
COMMENT ON COLUMN state."liquidity_pool_pool"."fee_tier" IS 'Swap fee in basis points: 5, 30 or 100';
COMMENT ON COLUMN state."liquidity_pool_pool"."paused" IS 'Trading paused';
COMMENT ON COLUMN state."liquidity_pool_pool"."reserve_a" IS 'Book reserve, token A, raw units';
COMMENT ON COLUMN state."liquidity_pool_pool"."reserve_b" IS 'Book reserve, token B, raw units';
COMMENT ON COLUMN state."liquidity_pool_pool"."token_a" IS 'Token A';
COMMENT ON COLUMN state."liquidity_pool_pool"."token_b" IS 'Token B';
COMMENT ON COLUMN state."liquidity_pool_pool"."total_shares" IS 'Shares, the 1000 burned ones included';

CREATE TABLE history."liquidity_pool_lp_pos" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "pool_id" text,
    "provider" text,
    "deposited_at" numeric(20,0),
    "fee_a_debt" numeric(39,0),
    "fee_b_debt" numeric(39,0),
    "pending_a" numeric(39,0),
    "pending_b" numeric(39,0),
    "shares" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."liquidity_pool_lp_pos" IS 'A liquidity position; stays when its shares reach 0';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."pool_id" IS 'Pool';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."provider" IS 'Owner of the position';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."deposited_at" IS 'Time of the last deposit, unix seconds';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."fee_a_debt" IS 'Fee accumulator A when last settled';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."fee_b_debt" IS 'Fee accumulator B when last settled';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."pending_a" IS 'Settled, unclaimed fees, token A, raw units';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."pending_b" IS 'Settled, unclaimed fees, token B, raw units';
COMMENT ON COLUMN history."liquidity_pool_lp_pos"."shares" IS 'Shares';

CREATE TABLE state."liquidity_pool_lp_pos" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "pool_id" text NOT NULL,
    "provider" text NOT NULL,
    "deposited_at" numeric(20,0) NOT NULL,
    "fee_a_debt" numeric(39,0) NOT NULL,
    "fee_b_debt" numeric(39,0) NOT NULL,
    "pending_a" numeric(39,0) NOT NULL,
    "pending_b" numeric(39,0) NOT NULL,
    "shares" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
CREATE INDEX ON state."liquidity_pool_lp_pos" (deployment, provider);
COMMENT ON TABLE state."liquidity_pool_lp_pos" IS 'A liquidity position; stays when its shares reach 0';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."pool_id" IS 'Pool';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."provider" IS 'Owner of the position';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."deposited_at" IS 'Time of the last deposit, unix seconds';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."fee_a_debt" IS 'Fee accumulator A when last settled';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."fee_b_debt" IS 'Fee accumulator B when last settled';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."pending_a" IS 'Settled, unclaimed fees, token A, raw units';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."pending_b" IS 'Settled, unclaimed fees, token B, raw units';
COMMENT ON COLUMN state."liquidity_pool_lp_pos"."shares" IS 'Shares';

CREATE TABLE history."liquidity_pool_pool_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."liquidity_pool_pool_list" IS 'Pools by number';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."liquidity_pool_pool_list"."value" IS 'Pool';

CREATE TABLE state."liquidity_pool_pool_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."liquidity_pool_pool_list" IS 'Pools by number';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."liquidity_pool_pool_list"."value" IS 'Pool';

CREATE TABLE history."synthetic_engine_asset_config" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "symbol" text,
    "coll_oracle_sym" text,
    "debt_ceiling" numeric(39,0),
    "enabled" boolean,
    "liq_penalty" numeric(39,0),
    "liq_ratio" numeric(39,0),
    "min_coll_ratio" numeric(39,0),
    "oracle_symbol" text,
    "stab_fee_bps" numeric(39,0),
    "token" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_asset_config" IS 'A market';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."symbol" IS 'Market';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."coll_oracle_sym" IS 'Feed that prices the collateral';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."debt_ceiling" IS 'Most debt of the market, raw units';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."enabled" IS 'Open for new debt';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."liq_penalty" IS 'Liquidation penalty, basis points';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."liq_ratio" IS 'Liquidation ratio, basis points';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."min_coll_ratio" IS 'Least collateral ratio, basis points';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."oracle_symbol" IS 'Feed that prices the synthetic asset';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."stab_fee_bps" IS 'Mint fee, millionths';
COMMENT ON COLUMN history."synthetic_engine_asset_config"."token" IS 'Synthetic token';

CREATE TABLE state."synthetic_engine_asset_config" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "symbol" text NOT NULL,
    "coll_oracle_sym" text NOT NULL,
    "debt_ceiling" numeric(39,0) NOT NULL,
    "enabled" boolean NOT NULL,
    "liq_penalty" numeric(39,0) NOT NULL,
    "liq_ratio" numeric(39,0) NOT NULL,
    "min_coll_ratio" numeric(39,0) NOT NULL,
    "oracle_symbol" text NOT NULL,
    "stab_fee_bps" numeric(39,0) NOT NULL,
    "token" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synthetic_engine_asset_config" IS 'A market';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."symbol" IS 'Market';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."coll_oracle_sym" IS 'Feed that prices the collateral';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."debt_ceiling" IS 'Most debt of the market, raw units';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."enabled" IS 'Open for new debt';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."liq_penalty" IS 'Liquidation penalty, basis points';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."liq_ratio" IS 'Liquidation ratio, basis points';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."min_coll_ratio" IS 'Least collateral ratio, basis points';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."oracle_symbol" IS 'Feed that prices the synthetic asset';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."stab_fee_bps" IS 'Mint fee, millionths';
COMMENT ON COLUMN state."synthetic_engine_asset_config"."token" IS 'Synthetic token';

CREATE TABLE history."synthetic_engine_vault" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_owner" text,
    "synth" text,
    "collateral" numeric(39,0),
    "collateral_tok" text,
    "debt" numeric(39,0),
    "last_update" numeric(20,0),
    "opened_at" numeric(20,0),
    "owner" text,
    "synth_asset" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_vault" IS 'A vault: collateral and debt of one owner in one market';
COMMENT ON COLUMN history."synthetic_engine_vault"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_vault"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_vault"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_vault"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_vault"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_vault"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_vault"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_vault"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_vault"."key_owner" IS 'Owner, as in the key';
COMMENT ON COLUMN history."synthetic_engine_vault"."synth" IS 'Market, as in the key';
COMMENT ON COLUMN history."synthetic_engine_vault"."collateral" IS 'Collateral, raw units';
COMMENT ON COLUMN history."synthetic_engine_vault"."collateral_tok" IS 'Collateral token';
COMMENT ON COLUMN history."synthetic_engine_vault"."debt" IS 'Debt, raw units';
COMMENT ON COLUMN history."synthetic_engine_vault"."last_update" IS 'Last change, unix seconds';
COMMENT ON COLUMN history."synthetic_engine_vault"."opened_at" IS 'Opening, unix seconds';
COMMENT ON COLUMN history."synthetic_engine_vault"."owner" IS 'Owner';
COMMENT ON COLUMN history."synthetic_engine_vault"."synth_asset" IS 'Market';

CREATE TABLE state."synthetic_engine_vault" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_owner" text NOT NULL,
    "synth" text NOT NULL,
    "collateral" numeric(39,0) NOT NULL,
    "collateral_tok" text NOT NULL,
    "debt" numeric(39,0) NOT NULL,
    "last_update" numeric(20,0) NOT NULL,
    "opened_at" numeric(20,0) NOT NULL,
    "owner" text NOT NULL,
    "synth_asset" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
CREATE INDEX ON state."synthetic_engine_vault" (deployment, owner);
CREATE INDEX ON state."synthetic_engine_vault" (deployment, synth_asset);
COMMENT ON TABLE state."synthetic_engine_vault" IS 'A vault: collateral and debt of one owner in one market';
COMMENT ON COLUMN state."synthetic_engine_vault"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_vault"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_vault"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_vault"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_vault"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_vault"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_vault"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_vault"."key_owner" IS 'Owner, as in the key';
COMMENT ON COLUMN state."synthetic_engine_vault"."synth" IS 'Market, as in the key';
COMMENT ON COLUMN state."synthetic_engine_vault"."collateral" IS 'Collateral, raw units';
COMMENT ON COLUMN state."synthetic_engine_vault"."collateral_tok" IS 'Collateral token';
COMMENT ON COLUMN state."synthetic_engine_vault"."debt" IS 'Debt, raw units';
COMMENT ON COLUMN state."synthetic_engine_vault"."last_update" IS 'Last change, unix seconds';
COMMENT ON COLUMN state."synthetic_engine_vault"."opened_at" IS 'Opening, unix seconds';
COMMENT ON COLUMN state."synthetic_engine_vault"."owner" IS 'Owner';
COMMENT ON COLUMN state."synthetic_engine_vault"."synth_asset" IS 'Market';

CREATE TABLE history."synthetic_engine_debt_total" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "synth" text,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_debt_total" IS 'Debt of a market';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."synth" IS 'Market';
COMMENT ON COLUMN history."synthetic_engine_debt_total"."value" IS 'Debt of all its vaults, raw units';

CREATE TABLE state."synthetic_engine_debt_total" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "synth" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synthetic_engine_debt_total" IS 'Debt of a market';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."synth" IS 'Market';
COMMENT ON COLUMN state."synthetic_engine_debt_total"."value" IS 'Debt of all its vaults, raw units';

CREATE TABLE history."synthetic_engine_collateral_allowed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "token" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_collateral_allowed" IS 'Tokens accepted as collateral';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."token" IS 'Token';
COMMENT ON COLUMN history."synthetic_engine_collateral_allowed"."value" IS 'Accepted';

CREATE TABLE state."synthetic_engine_collateral_allowed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "token" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synthetic_engine_collateral_allowed" IS 'Tokens accepted as collateral';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."token" IS 'Token';
COMMENT ON COLUMN state."synthetic_engine_collateral_allowed"."value" IS 'Accepted';

CREATE TABLE history."synthetic_engine_vaults_by_owner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "owner" text,
    "value" text[],
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_vaults_by_owner" IS 'Log of vaults opened by an owner; symbols repeat and stay';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."owner" IS 'Owner';
COMMENT ON COLUMN history."synthetic_engine_vaults_by_owner"."value" IS 'Markets in order of opening';

CREATE TABLE state."synthetic_engine_vaults_by_owner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "value" text[] NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synthetic_engine_vaults_by_owner" IS 'Log of vaults opened by an owner; symbols repeat and stay';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."owner" IS 'Owner';
COMMENT ON COLUMN state."synthetic_engine_vaults_by_owner"."value" IS 'Markets in order of opening';

CREATE TABLE history."stability_pool_state" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "epoch" numeric(20,0),
    "p" numeric(39,0),
    "paused" boolean,
    "scale" numeric(20,0),
    "sum_coll" numeric(39,0),
    "total_coll_gained" numeric(39,0),
    "total_deposits" numeric(39,0),
    "total_liq_count" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stability_pool_state" IS 'The pool''s books';
COMMENT ON COLUMN history."stability_pool_state"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stability_pool_state"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stability_pool_state"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stability_pool_state"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stability_pool_state"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stability_pool_state"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stability_pool_state"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stability_pool_state"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stability_pool_state"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."stability_pool_state"."p" IS 'Product of losses, from 1e12';
COMMENT ON COLUMN history."stability_pool_state"."paused" IS 'Paused';
COMMENT ON COLUMN history."stability_pool_state"."scale" IS 'Scale';
COMMENT ON COLUMN history."stability_pool_state"."sum_coll" IS 'Gain per unit of deposit, scaled by 1e12';
COMMENT ON COLUMN history."stability_pool_state"."total_coll_gained" IS 'Collateral gained so far, raw units';
COMMENT ON COLUMN history."stability_pool_state"."total_deposits" IS 'Deposits, raw units';
COMMENT ON COLUMN history."stability_pool_state"."total_liq_count" IS 'Liquidations absorbed';

CREATE TABLE state."stability_pool_state" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "p" numeric(39,0) NOT NULL,
    "paused" boolean NOT NULL,
    "scale" numeric(20,0) NOT NULL,
    "sum_coll" numeric(39,0) NOT NULL,
    "total_coll_gained" numeric(39,0) NOT NULL,
    "total_deposits" numeric(39,0) NOT NULL,
    "total_liq_count" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."stability_pool_state" IS 'The pool''s books';
COMMENT ON COLUMN state."stability_pool_state"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stability_pool_state"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stability_pool_state"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stability_pool_state"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stability_pool_state"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stability_pool_state"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stability_pool_state"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stability_pool_state"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."stability_pool_state"."p" IS 'Product of losses, from 1e12';
COMMENT ON COLUMN state."stability_pool_state"."paused" IS 'Paused';
COMMENT ON COLUMN state."stability_pool_state"."scale" IS 'Scale';
COMMENT ON COLUMN state."stability_pool_state"."sum_coll" IS 'Gain per unit of deposit, scaled by 1e12';
COMMENT ON COLUMN state."stability_pool_state"."total_coll_gained" IS 'Collateral gained so far, raw units';
COMMENT ON COLUMN state."stability_pool_state"."total_deposits" IS 'Deposits, raw units';
COMMENT ON COLUMN state."stability_pool_state"."total_liq_count" IS 'Liquidations absorbed';

CREATE TABLE history."stability_pool_deposit" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "depositor" text,
    "deposited_at" numeric(20,0),
    "initial_value" numeric(39,0),
    "snapshot_epoch" numeric(20,0),
    "snapshot_p_value" numeric(39,0),
    "snapshot_scale" numeric(20,0),
    "snapshot_sum_coll" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stability_pool_deposit" IS 'A deposit and the pool''s books when it was last touched';
COMMENT ON COLUMN history."stability_pool_deposit"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stability_pool_deposit"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stability_pool_deposit"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stability_pool_deposit"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stability_pool_deposit"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stability_pool_deposit"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stability_pool_deposit"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stability_pool_deposit"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stability_pool_deposit"."depositor" IS 'Depositor';
COMMENT ON COLUMN history."stability_pool_deposit"."deposited_at" IS 'Time of the last deposit, unix seconds';
COMMENT ON COLUMN history."stability_pool_deposit"."initial_value" IS 'Deposit at the snapshot, raw units';
COMMENT ON COLUMN history."stability_pool_deposit"."snapshot_epoch" IS 'Epoch at the snapshot';
COMMENT ON COLUMN history."stability_pool_deposit"."snapshot_p_value" IS 'p at the snapshot';
COMMENT ON COLUMN history."stability_pool_deposit"."snapshot_scale" IS 'Scale at the snapshot';
COMMENT ON COLUMN history."stability_pool_deposit"."snapshot_sum_coll" IS 'sum_coll at the snapshot';

CREATE TABLE state."stability_pool_deposit" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "depositor" text NOT NULL,
    "deposited_at" numeric(20,0) NOT NULL,
    "initial_value" numeric(39,0) NOT NULL,
    "snapshot_epoch" numeric(20,0) NOT NULL,
    "snapshot_p_value" numeric(39,0) NOT NULL,
    "snapshot_scale" numeric(20,0) NOT NULL,
    "snapshot_sum_coll" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."stability_pool_deposit" IS 'A deposit and the pool''s books when it was last touched';
COMMENT ON COLUMN state."stability_pool_deposit"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stability_pool_deposit"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stability_pool_deposit"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stability_pool_deposit"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stability_pool_deposit"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stability_pool_deposit"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stability_pool_deposit"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stability_pool_deposit"."depositor" IS 'Depositor';
COMMENT ON COLUMN state."stability_pool_deposit"."deposited_at" IS 'Time of the last deposit, unix seconds';
COMMENT ON COLUMN state."stability_pool_deposit"."initial_value" IS 'Deposit at the snapshot, raw units';
COMMENT ON COLUMN state."stability_pool_deposit"."snapshot_epoch" IS 'Epoch at the snapshot';
COMMENT ON COLUMN state."stability_pool_deposit"."snapshot_p_value" IS 'p at the snapshot';
COMMENT ON COLUMN state."stability_pool_deposit"."snapshot_scale" IS 'Scale at the snapshot';
COMMENT ON COLUMN state."stability_pool_deposit"."snapshot_sum_coll" IS 'sum_coll at the snapshot';

CREATE TABLE history."compliance_registry_compliance_rec" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "expires_at" numeric(20,0),
    "jurisdiction" bigint,
    "provider" text,
    "reason" text,
    "status" bigint,
    "updated_at" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_compliance_rec" IS 'A person''s compliance record';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."address" IS 'Person';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."expires_at" IS 'End of validity, unix seconds; 0 is never';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."jurisdiction" IS 'ISO 3166-1 numeric; private';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."provider" IS 'Provider that attested';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."reason" IS 'Reason of the last change';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."status" IS '0 Unknown, 1 Pending, 2 Verified, 3 Suspended, 4 Sanctioned, 5 Expired';
COMMENT ON COLUMN history."compliance_registry_compliance_rec"."updated_at" IS 'Last change, unix seconds';

CREATE TABLE state."compliance_registry_compliance_rec" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "expires_at" numeric(20,0) NOT NULL,
    "jurisdiction" bigint NOT NULL,
    "provider" text NOT NULL,
    "reason" text NOT NULL,
    "status" bigint NOT NULL,
    "updated_at" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_compliance_rec" IS 'A person''s compliance record';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."address" IS 'Person';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."expires_at" IS 'End of validity, unix seconds; 0 is never';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."jurisdiction" IS 'ISO 3166-1 numeric; private';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."provider" IS 'Provider that attested';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."reason" IS 'Reason of the last change';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."status" IS '0 Unknown, 1 Pending, 2 Verified, 3 Suspended, 4 Sanctioned, 5 Expired';
COMMENT ON COLUMN state."compliance_registry_compliance_rec"."updated_at" IS 'Last change, unix seconds';

CREATE TABLE history."compliance_registry_kyc" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_address" text,
    "address" text,
    "expires_at" numeric(20,0),
    "issued_at" numeric(20,0),
    "jurisdiction" bigint,
    "metadata" bytea,
    "verifier" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_kyc" IS 'A person''s newest attestation';
COMMENT ON COLUMN history."compliance_registry_kyc"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_kyc"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_kyc"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_kyc"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_kyc"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_kyc"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_kyc"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_kyc"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_kyc"."key_address" IS 'Person, as in the key';
COMMENT ON COLUMN history."compliance_registry_kyc"."address" IS 'Person';
COMMENT ON COLUMN history."compliance_registry_kyc"."expires_at" IS 'End of validity, unix seconds; 0 is never';
COMMENT ON COLUMN history."compliance_registry_kyc"."issued_at" IS 'Time of the attestation, unix seconds';
COMMENT ON COLUMN history."compliance_registry_kyc"."jurisdiction" IS 'ISO 3166-1 numeric; private';
COMMENT ON COLUMN history."compliance_registry_kyc"."metadata" IS 'The verifier''s keyed hash';
COMMENT ON COLUMN history."compliance_registry_kyc"."verifier" IS 'Verifier';

CREATE TABLE state."compliance_registry_kyc" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_address" text NOT NULL,
    "address" text NOT NULL,
    "expires_at" numeric(20,0) NOT NULL,
    "issued_at" numeric(20,0) NOT NULL,
    "jurisdiction" bigint NOT NULL,
    "metadata" bytea NOT NULL,
    "verifier" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_kyc" IS 'A person''s newest attestation';
COMMENT ON COLUMN state."compliance_registry_kyc"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_kyc"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_kyc"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_kyc"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_kyc"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_kyc"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_kyc"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_kyc"."key_address" IS 'Person, as in the key';
COMMENT ON COLUMN state."compliance_registry_kyc"."address" IS 'Person';
COMMENT ON COLUMN state."compliance_registry_kyc"."expires_at" IS 'End of validity, unix seconds; 0 is never';
COMMENT ON COLUMN state."compliance_registry_kyc"."issued_at" IS 'Time of the attestation, unix seconds';
COMMENT ON COLUMN state."compliance_registry_kyc"."jurisdiction" IS 'ISO 3166-1 numeric; private';
COMMENT ON COLUMN state."compliance_registry_kyc"."metadata" IS 'The verifier''s keyed hash';
COMMENT ON COLUMN state."compliance_registry_kyc"."verifier" IS 'Verifier';

CREATE TABLE history."compliance_registry_frozen" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_frozen" IS 'Frozen accounts; present is frozen';
COMMENT ON COLUMN history."compliance_registry_frozen"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_frozen"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_frozen"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_frozen"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_frozen"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_frozen"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_frozen"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_frozen"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_frozen"."address" IS 'Account';
COMMENT ON COLUMN history."compliance_registry_frozen"."value" IS 'True';

CREATE TABLE state."compliance_registry_frozen" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_frozen" IS 'Frozen accounts; present is frozen';
COMMENT ON COLUMN state."compliance_registry_frozen"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_frozen"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_frozen"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_frozen"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_frozen"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_frozen"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_frozen"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_frozen"."address" IS 'Account';
COMMENT ON COLUMN state."compliance_registry_frozen"."value" IS 'True';

CREATE TABLE history."compliance_registry_whitelist" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_whitelist" IS 'System contracts exempt from the gate';
COMMENT ON COLUMN history."compliance_registry_whitelist"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_whitelist"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_whitelist"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_whitelist"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_whitelist"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_whitelist"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_whitelist"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_whitelist"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_whitelist"."address" IS 'Contract';
COMMENT ON COLUMN history."compliance_registry_whitelist"."value" IS 'True';

CREATE TABLE state."compliance_registry_whitelist" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_whitelist" IS 'System contracts exempt from the gate';
COMMENT ON COLUMN state."compliance_registry_whitelist"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_whitelist"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_whitelist"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_whitelist"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_whitelist"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_whitelist"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_whitelist"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_whitelist"."address" IS 'Contract';
COMMENT ON COLUMN state."compliance_registry_whitelist"."value" IS 'True';

CREATE TABLE history."compliance_registry_blocked_jurisdiction" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "code" bigint,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_blocked_jurisdiction" IS 'Blocked jurisdictions; present is blocked';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."code" IS 'ISO 3166-1 numeric';
COMMENT ON COLUMN history."compliance_registry_blocked_jurisdiction"."value" IS 'True';

CREATE TABLE state."compliance_registry_blocked_jurisdiction" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "code" bigint NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_blocked_jurisdiction" IS 'Blocked jurisdictions; present is blocked';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."code" IS 'ISO 3166-1 numeric';
COMMENT ON COLUMN state."compliance_registry_blocked_jurisdiction"."value" IS 'True';

CREATE TABLE history."compliance_registry_verifier" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_verifier" IS 'Verifiers; present may attest';
COMMENT ON COLUMN history."compliance_registry_verifier"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_verifier"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_verifier"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_verifier"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_verifier"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_verifier"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_verifier"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_verifier"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_verifier"."address" IS 'Verifier';
COMMENT ON COLUMN history."compliance_registry_verifier"."value" IS 'True';

CREATE TABLE state."compliance_registry_verifier" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_verifier" IS 'Verifiers; present may attest';
COMMENT ON COLUMN state."compliance_registry_verifier"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_verifier"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_verifier"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_verifier"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_verifier"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_verifier"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_verifier"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_verifier"."address" IS 'Verifier';
COMMENT ON COLUMN state."compliance_registry_verifier"."value" IS 'True';

CREATE TABLE history."compliance_registry_verifier_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_verifier_list" IS 'Log of verifiers added; removed and repeated ones stay';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."compliance_registry_verifier_list"."value" IS 'Verifier';

CREATE TABLE state."compliance_registry_verifier_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_verifier_list" IS 'Log of verifiers added; removed and repeated ones stay';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."compliance_registry_verifier_list"."value" IS 'Verifier';

CREATE TABLE history."compliance_registry_signer" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "signer" text,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_signer" IS 'The provider of a signer';
COMMENT ON COLUMN history."compliance_registry_signer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_signer"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_signer"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_signer"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_signer"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_signer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_signer"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_signer"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_signer"."signer" IS 'Signer';
COMMENT ON COLUMN history."compliance_registry_signer"."value" IS 'Provider';

CREATE TABLE state."compliance_registry_signer" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "signer" text NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_signer" IS 'The provider of a signer';
COMMENT ON COLUMN state."compliance_registry_signer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_signer"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_signer"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_signer"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_signer"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_signer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_signer"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_signer"."signer" IS 'Signer';
COMMENT ON COLUMN state."compliance_registry_signer"."value" IS 'Provider';

CREATE TABLE history."compliance_registry_attestation_count" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_attestation_count" IS 'Providers that attested a person';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."address" IS 'Person';
COMMENT ON COLUMN history."compliance_registry_attestation_count"."value" IS 'Number of providers';

CREATE TABLE state."compliance_registry_attestation_count" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" bigint NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_attestation_count" IS 'Providers that attested a person';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."address" IS 'Person';
COMMENT ON COLUMN state."compliance_registry_attestation_count"."value" IS 'Number of providers';

CREATE TABLE history."compliance_registry_attestation" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_attestation" IS 'Providers that attested a person, in order';
COMMENT ON COLUMN history."compliance_registry_attestation"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_attestation"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_attestation"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_attestation"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_attestation"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_attestation"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_attestation"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_attestation"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_attestation"."address" IS 'Person';
COMMENT ON COLUMN history."compliance_registry_attestation"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."compliance_registry_attestation"."value" IS 'Provider';

CREATE TABLE state."compliance_registry_attestation" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_attestation" IS 'Providers that attested a person, in order';
COMMENT ON COLUMN state."compliance_registry_attestation"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_attestation"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_attestation"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_attestation"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_attestation"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_attestation"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_attestation"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_attestation"."address" IS 'Person';
COMMENT ON COLUMN state."compliance_registry_attestation"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."compliance_registry_attestation"."value" IS 'Provider';

CREATE TABLE history."compliance_registry_asset_rule" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "symbol" text,
    "asset" text,
    "blocked_jurisdictions" bigint[],
    "daily_limit_usd" numeric(39,0),
    "enabled" boolean,
    "require_travel_rule" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_asset_rule" IS 'Compliance rule of an asset';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."symbol" IS 'Asset, as in the key';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."asset" IS 'Asset';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."blocked_jurisdictions" IS 'ISO 3166-1 numeric codes refused for this asset';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."daily_limit_usd" IS 'Daily limit, raw units; 0 is none';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."enabled" IS 'Rule in force';
COMMENT ON COLUMN history."compliance_registry_asset_rule"."require_travel_rule" IS 'Transfers leave a travel-rule record';

CREATE TABLE state."compliance_registry_asset_rule" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "symbol" text NOT NULL,
    "asset" text NOT NULL,
    "blocked_jurisdictions" bigint[] NOT NULL,
    "daily_limit_usd" numeric(39,0) NOT NULL,
    "enabled" boolean NOT NULL,
    "require_travel_rule" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_asset_rule" IS 'Compliance rule of an asset';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."symbol" IS 'Asset, as in the key';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."asset" IS 'Asset';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."blocked_jurisdictions" IS 'ISO 3166-1 numeric codes refused for this asset';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."daily_limit_usd" IS 'Daily limit, raw units; 0 is none';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."enabled" IS 'Rule in force';
COMMENT ON COLUMN state."compliance_registry_asset_rule"."require_travel_rule" IS 'Transfers leave a travel-rule record';

CREATE TABLE history."compliance_registry_daily_vol" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "date_ts" numeric(20,0),
    "volume" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_daily_vol" IS 'A person''s volume of one day';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."address" IS 'Person';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."date_ts" IS 'Start of the day, unix seconds';
COMMENT ON COLUMN history."compliance_registry_daily_vol"."volume" IS 'Volume, raw units';

CREATE TABLE state."compliance_registry_daily_vol" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "date_ts" numeric(20,0) NOT NULL,
    "volume" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_daily_vol" IS 'A person''s volume of one day';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."address" IS 'Person';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."date_ts" IS 'Start of the day, unix seconds';
COMMENT ON COLUMN state."compliance_registry_daily_vol"."volume" IS 'Volume, raw units';

CREATE TABLE history."partner_registry_partner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_id" bigint,
    "active" boolean,
    "deployed_assets" text[],
    "id" bigint,
    "name" bytea,
    "owner" text,
    "pending_revenue" numeric(39,0),
    "registered_at" numeric(20,0),
    "revenue_share" numeric(39,0),
    "total_earned" numeric(39,0),
    "total_volume" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."partner_registry_partner" IS 'A partner';
COMMENT ON COLUMN history."partner_registry_partner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."partner_registry_partner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."partner_registry_partner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."partner_registry_partner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."partner_registry_partner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."partner_registry_partner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."partner_registry_partner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."partner_registry_partner"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."partner_registry_partner"."key_id" IS 'Partner, as in the key';
COMMENT ON COLUMN history."partner_registry_partner"."active" IS 'Active';
COMMENT ON COLUMN history."partner_registry_partner"."deployed_assets" IS 'Its assets';
COMMENT ON COLUMN history."partner_registry_partner"."id" IS 'Partner';
COMMENT ON COLUMN history."partner_registry_partner"."name" IS 'Name, as written: may hold any bytes';
COMMENT ON COLUMN history."partner_registry_partner"."owner" IS 'Owner';
COMMENT ON COLUMN history."partner_registry_partner"."pending_revenue" IS 'Unclaimed revenue; sums different tokens';
COMMENT ON COLUMN history."partner_registry_partner"."registered_at" IS 'Registration, unix seconds';
COMMENT ON COLUMN history."partner_registry_partner"."revenue_share" IS 'Share of the fees, basis points';
COMMENT ON COLUMN history."partner_registry_partner"."total_earned" IS 'All revenue; sums different tokens';
COMMENT ON COLUMN history."partner_registry_partner"."total_volume" IS 'Never written';

CREATE TABLE state."partner_registry_partner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_id" bigint NOT NULL,
    "active" boolean NOT NULL,
    "deployed_assets" text[] NOT NULL,
    "id" bigint NOT NULL,
    "name" bytea NOT NULL,
    "owner" text NOT NULL,
    "pending_revenue" numeric(39,0) NOT NULL,
    "registered_at" numeric(20,0) NOT NULL,
    "revenue_share" numeric(39,0) NOT NULL,
    "total_earned" numeric(39,0) NOT NULL,
    "total_volume" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."partner_registry_partner" IS 'A partner';
COMMENT ON COLUMN state."partner_registry_partner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."partner_registry_partner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."partner_registry_partner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."partner_registry_partner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."partner_registry_partner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."partner_registry_partner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."partner_registry_partner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."partner_registry_partner"."key_id" IS 'Partner, as in the key';
COMMENT ON COLUMN state."partner_registry_partner"."active" IS 'Active';
COMMENT ON COLUMN state."partner_registry_partner"."deployed_assets" IS 'Its assets';
COMMENT ON COLUMN state."partner_registry_partner"."id" IS 'Partner';
COMMENT ON COLUMN state."partner_registry_partner"."name" IS 'Name, as written: may hold any bytes';
COMMENT ON COLUMN state."partner_registry_partner"."owner" IS 'Owner';
COMMENT ON COLUMN state."partner_registry_partner"."pending_revenue" IS 'Unclaimed revenue; sums different tokens';
COMMENT ON COLUMN state."partner_registry_partner"."registered_at" IS 'Registration, unix seconds';
COMMENT ON COLUMN state."partner_registry_partner"."revenue_share" IS 'Share of the fees, basis points';
COMMENT ON COLUMN state."partner_registry_partner"."total_earned" IS 'All revenue; sums different tokens';
COMMENT ON COLUMN state."partner_registry_partner"."total_volume" IS 'Never written';

CREATE TABLE history."partner_registry_partner_by_owner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "owner" text,
    "value" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."partner_registry_partner_by_owner" IS 'The partner of an owner';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."owner" IS 'Owner';
COMMENT ON COLUMN history."partner_registry_partner_by_owner"."value" IS 'Partner';

CREATE TABLE state."partner_registry_partner_by_owner" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "value" bigint NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."partner_registry_partner_by_owner" IS 'The partner of an owner';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."owner" IS 'Owner';
COMMENT ON COLUMN state."partner_registry_partner_by_owner"."value" IS 'Partner';

CREATE TABLE history."partner_registry_partner_asset" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_symbol" text,
    "debt_ceiling" numeric(39,0),
    "deployed_at" numeric(20,0),
    "live" boolean,
    "oracle_symbol" text,
    "partner_id" bigint,
    "symbol" text,
    "token" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."partner_registry_partner_asset" IS 'An entry of a partner''s catalog';
COMMENT ON COLUMN history."partner_registry_partner_asset"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."partner_registry_partner_asset"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."partner_registry_partner_asset"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."partner_registry_partner_asset"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."partner_registry_partner_asset"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."partner_registry_partner_asset"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."partner_registry_partner_asset"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."partner_registry_partner_asset"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."partner_registry_partner_asset"."key_symbol" IS 'Asset, as in the key';
COMMENT ON COLUMN history."partner_registry_partner_asset"."debt_ceiling" IS 'Debt ceiling asked for, raw units';
COMMENT ON COLUMN history."partner_registry_partner_asset"."deployed_at" IS 'Registration, unix seconds';
COMMENT ON COLUMN history."partner_registry_partner_asset"."live" IS 'Live';
COMMENT ON COLUMN history."partner_registry_partner_asset"."oracle_symbol" IS 'Feed';
COMMENT ON COLUMN history."partner_registry_partner_asset"."partner_id" IS 'Partner';
COMMENT ON COLUMN history."partner_registry_partner_asset"."symbol" IS 'Asset';
COMMENT ON COLUMN history."partner_registry_partner_asset"."token" IS 'Token';

CREATE TABLE state."partner_registry_partner_asset" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_symbol" text NOT NULL,
    "debt_ceiling" numeric(39,0) NOT NULL,
    "deployed_at" numeric(20,0) NOT NULL,
    "live" boolean NOT NULL,
    "oracle_symbol" text NOT NULL,
    "partner_id" bigint NOT NULL,
    "symbol" text NOT NULL,
    "token" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."partner_registry_partner_asset" IS 'An entry of a partner''s catalog';
COMMENT ON COLUMN state."partner_registry_partner_asset"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."partner_registry_partner_asset"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."partner_registry_partner_asset"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."partner_registry_partner_asset"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."partner_registry_partner_asset"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."partner_registry_partner_asset"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."partner_registry_partner_asset"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."partner_registry_partner_asset"."key_symbol" IS 'Asset, as in the key';
COMMENT ON COLUMN state."partner_registry_partner_asset"."debt_ceiling" IS 'Debt ceiling asked for, raw units';
COMMENT ON COLUMN state."partner_registry_partner_asset"."deployed_at" IS 'Registration, unix seconds';
COMMENT ON COLUMN state."partner_registry_partner_asset"."live" IS 'Live';
COMMENT ON COLUMN state."partner_registry_partner_asset"."oracle_symbol" IS 'Feed';
COMMENT ON COLUMN state."partner_registry_partner_asset"."partner_id" IS 'Partner';
COMMENT ON COLUMN state."partner_registry_partner_asset"."symbol" IS 'Asset';
COMMENT ON COLUMN state."partner_registry_partner_asset"."token" IS 'Token';

CREATE TABLE history."partner_registry_epoch_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "partner_id" bigint,
    "epoch" numeric(20,0),
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."partner_registry_epoch_revenue" IS 'Revenue of a partner in an epoch';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."partner_id" IS 'Partner';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."partner_registry_epoch_revenue"."value" IS 'Revenue; sums different tokens';

CREATE TABLE state."partner_registry_epoch_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "partner_id" bigint NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."partner_registry_epoch_revenue" IS 'Revenue of a partner in an epoch';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."partner_id" IS 'Partner';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."partner_registry_epoch_revenue"."value" IS 'Revenue; sums different tokens';

CREATE TABLE history."earnings_distributor_epoch" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_id" numeric(20,0),
    "end_time" numeric(20,0),
    "epoch_id" numeric(20,0),
    "finalized" boolean,
    "partner_revenue" numeric(39,0),
    "per_token_revenue" numeric(39,0),
    "protocol_revenue" numeric(39,0),
    "staker_snapshot" numeric(39,0),
    "start_time" numeric(20,0),
    "total_revenue" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_epoch" IS 'An epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_epoch"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_epoch"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_epoch"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_epoch"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_epoch"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_epoch"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_epoch"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_epoch"."key_id" IS 'Epoch, as in the key';
COMMENT ON COLUMN history."earnings_distributor_epoch"."end_time" IS 'End, unix seconds';
COMMENT ON COLUMN history."earnings_distributor_epoch"."epoch_id" IS 'Epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch"."finalized" IS 'Closed';
COMMENT ON COLUMN history."earnings_distributor_epoch"."partner_revenue" IS 'Partners'' part; sums different tokens';
COMMENT ON COLUMN history."earnings_distributor_epoch"."per_token_revenue" IS 'Always 0';
COMMENT ON COLUMN history."earnings_distributor_epoch"."protocol_revenue" IS 'Protocol''s part; sums different tokens';
COMMENT ON COLUMN history."earnings_distributor_epoch"."staker_snapshot" IS 'Snapshot';
COMMENT ON COLUMN history."earnings_distributor_epoch"."start_time" IS 'Start, unix seconds';
COMMENT ON COLUMN history."earnings_distributor_epoch"."total_revenue" IS 'All revenue; sums different tokens';

CREATE TABLE state."earnings_distributor_epoch" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_id" numeric(20,0) NOT NULL,
    "end_time" numeric(20,0) NOT NULL,
    "epoch_id" numeric(20,0) NOT NULL,
    "finalized" boolean NOT NULL,
    "partner_revenue" numeric(39,0) NOT NULL,
    "per_token_revenue" numeric(39,0) NOT NULL,
    "protocol_revenue" numeric(39,0) NOT NULL,
    "staker_snapshot" numeric(39,0) NOT NULL,
    "start_time" numeric(20,0) NOT NULL,
    "total_revenue" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_epoch" IS 'An epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_epoch"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_epoch"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_epoch"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_epoch"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_epoch"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_epoch"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_epoch"."key_id" IS 'Epoch, as in the key';
COMMENT ON COLUMN state."earnings_distributor_epoch"."end_time" IS 'End, unix seconds';
COMMENT ON COLUMN state."earnings_distributor_epoch"."epoch_id" IS 'Epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch"."finalized" IS 'Closed';
COMMENT ON COLUMN state."earnings_distributor_epoch"."partner_revenue" IS 'Partners'' part; sums different tokens';
COMMENT ON COLUMN state."earnings_distributor_epoch"."per_token_revenue" IS 'Always 0';
COMMENT ON COLUMN state."earnings_distributor_epoch"."protocol_revenue" IS 'Protocol''s part; sums different tokens';
COMMENT ON COLUMN state."earnings_distributor_epoch"."staker_snapshot" IS 'Snapshot';
COMMENT ON COLUMN state."earnings_distributor_epoch"."start_time" IS 'Start, unix seconds';
COMMENT ON COLUMN state."earnings_distributor_epoch"."total_revenue" IS 'All revenue; sums different tokens';

CREATE TABLE history."earnings_distributor_epoch_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "epoch" numeric(20,0),
    "token" text,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_epoch_revenue" IS 'Protocol revenue of an epoch in one token';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."token" IS 'Token';
COMMENT ON COLUMN history."earnings_distributor_epoch_revenue"."value" IS 'Protocol''s part, raw units';

CREATE TABLE state."earnings_distributor_epoch_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "token" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_epoch_revenue" IS 'Protocol revenue of an epoch in one token';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."token" IS 'Token';
COMMENT ON COLUMN state."earnings_distributor_epoch_revenue"."value" IS 'Protocol''s part, raw units';

CREATE TABLE history."earnings_distributor_epoch_token_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "epoch" numeric(20,0),
    "value" text[],
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_epoch_token_list" IS 'Tokens received in an epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch_token_list"."value" IS 'Tokens in order of arrival';

CREATE TABLE state."earnings_distributor_epoch_token_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "value" text[] NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_epoch_token_list" IS 'Tokens received in an epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch_token_list"."value" IS 'Tokens in order of arrival';

CREATE TABLE history."earnings_distributor_epoch_partner_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "epoch" numeric(20,0),
    "partner_id" bigint,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_epoch_partner_revenue" IS 'A partner''s revenue of an epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."partner_id" IS 'Partner';
COMMENT ON COLUMN history."earnings_distributor_epoch_partner_revenue"."value" IS 'Revenue; sums different tokens';

CREATE TABLE state."earnings_distributor_epoch_partner_revenue" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "partner_id" bigint NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_epoch_partner_revenue" IS 'A partner''s revenue of an epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."partner_id" IS 'Partner';
COMMENT ON COLUMN state."earnings_distributor_epoch_partner_revenue"."value" IS 'Revenue; sums different tokens';

CREATE TABLE history."earnings_distributor_claimed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "claimer" text,
    "epoch" numeric(20,0),
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_claimed" IS 'Epochs claimed';
COMMENT ON COLUMN history."earnings_distributor_claimed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_claimed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_claimed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_claimed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_claimed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_claimed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_claimed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_claimed"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_claimed"."claimer" IS 'Claimer';
COMMENT ON COLUMN history."earnings_distributor_claimed"."epoch" IS 'Epoch';
COMMENT ON COLUMN history."earnings_distributor_claimed"."value" IS 'True';

CREATE TABLE state."earnings_distributor_claimed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "claimer" text NOT NULL,
    "epoch" numeric(20,0) NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_claimed" IS 'Epochs claimed';
COMMENT ON COLUMN state."earnings_distributor_claimed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_claimed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_claimed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_claimed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_claimed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_claimed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_claimed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_claimed"."claimer" IS 'Claimer';
COMMENT ON COLUMN state."earnings_distributor_claimed"."epoch" IS 'Epoch';
COMMENT ON COLUMN state."earnings_distributor_claimed"."value" IS 'True';

CREATE TABLE history."earnings_distributor_lp_contract" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_lp_contract" IS 'Contracts that share the providers'' part';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."earnings_distributor_lp_contract"."value" IS 'Contract';

CREATE TABLE state."earnings_distributor_lp_contract" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_lp_contract" IS 'Contracts that share the providers'' part';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."earnings_distributor_lp_contract"."value" IS 'Contract';

CREATE TABLE history."oracle_feed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "asset" text,
    "latest_price" numeric(39,0),
    "latest_ts" numeric(20,0),
    "observation_count" bigint,
    "twap_price" numeric(39,0),
    "twap_ts" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_feed" IS 'A price feed';
COMMENT ON COLUMN history."oracle_feed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_feed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_feed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_feed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_feed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_feed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_feed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_feed"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_feed"."asset" IS 'Feed';
COMMENT ON COLUMN history."oracle_feed"."latest_price" IS 'Spot price, 7 decimals';
COMMENT ON COLUMN history."oracle_feed"."latest_ts" IS 'Time of the spot price, unix seconds';
COMMENT ON COLUMN history."oracle_feed"."observation_count" IS 'Observations in the last aggregate';
COMMENT ON COLUMN history."oracle_feed"."twap_price" IS 'Time-weighted price, 7 decimals';
COMMENT ON COLUMN history."oracle_feed"."twap_ts" IS 'Time of the time-weighted price, unix seconds';

CREATE TABLE state."oracle_feed" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "latest_price" numeric(39,0) NOT NULL,
    "latest_ts" numeric(20,0) NOT NULL,
    "observation_count" bigint NOT NULL,
    "twap_price" numeric(39,0) NOT NULL,
    "twap_ts" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_feed" IS 'A price feed';
COMMENT ON COLUMN state."oracle_feed"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_feed"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_feed"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_feed"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_feed"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_feed"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_feed"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_feed"."asset" IS 'Feed';
COMMENT ON COLUMN state."oracle_feed"."latest_price" IS 'Spot price, 7 decimals';
COMMENT ON COLUMN state."oracle_feed"."latest_ts" IS 'Time of the spot price, unix seconds';
COMMENT ON COLUMN state."oracle_feed"."observation_count" IS 'Observations in the last aggregate';
COMMENT ON COLUMN state."oracle_feed"."twap_price" IS 'Time-weighted price, 7 decimals';
COMMENT ON COLUMN state."oracle_feed"."twap_ts" IS 'Time of the time-weighted price, unix seconds';

CREATE TABLE history."oracle_accumulator" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "asset" text,
    "cumulative_price" numeric(39,0),
    "last_price" numeric(39,0),
    "last_timestamp" numeric(20,0),
    "window_cum_start" numeric(39,0),
    "window_start" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_accumulator" IS 'Accumulation behind the time-weighted price';
COMMENT ON COLUMN history."oracle_accumulator"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_accumulator"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_accumulator"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_accumulator"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_accumulator"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_accumulator"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_accumulator"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_accumulator"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_accumulator"."asset" IS 'Feed';
COMMENT ON COLUMN history."oracle_accumulator"."cumulative_price" IS 'Price times seconds';
COMMENT ON COLUMN history."oracle_accumulator"."last_price" IS 'Last price, 7 decimals';
COMMENT ON COLUMN history."oracle_accumulator"."last_timestamp" IS 'Last update, unix seconds';
COMMENT ON COLUMN history."oracle_accumulator"."window_cum_start" IS 'Accumulation at the window''s start';
COMMENT ON COLUMN history."oracle_accumulator"."window_start" IS 'Window''s start, unix seconds';

CREATE TABLE state."oracle_accumulator" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "cumulative_price" numeric(39,0) NOT NULL,
    "last_price" numeric(39,0) NOT NULL,
    "last_timestamp" numeric(20,0) NOT NULL,
    "window_cum_start" numeric(39,0) NOT NULL,
    "window_start" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_accumulator" IS 'Accumulation behind the time-weighted price';
COMMENT ON COLUMN state."oracle_accumulator"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_accumulator"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_accumulator"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_accumulator"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_accumulator"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_accumulator"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_accumulator"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_accumulator"."asset" IS 'Feed';
COMMENT ON COLUMN state."oracle_accumulator"."cumulative_price" IS 'Price times seconds';
COMMENT ON COLUMN state."oracle_accumulator"."last_price" IS 'Last price, 7 decimals';
COMMENT ON COLUMN state."oracle_accumulator"."last_timestamp" IS 'Last update, unix seconds';
COMMENT ON COLUMN state."oracle_accumulator"."window_cum_start" IS 'Accumulation at the window''s start';
COMMENT ON COLUMN state."oracle_accumulator"."window_start" IS 'Window''s start, unix seconds';

CREATE TABLE history."oracle_provider" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_provider" IS 'Price providers; present may report';
COMMENT ON COLUMN history."oracle_provider"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_provider"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_provider"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_provider"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_provider"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_provider"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_provider"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_provider"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_provider"."address" IS 'Provider';
COMMENT ON COLUMN history."oracle_provider"."value" IS 'True';

CREATE TABLE state."oracle_provider" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_provider" IS 'Price providers; present may report';
COMMENT ON COLUMN state."oracle_provider"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_provider"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_provider"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_provider"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_provider"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_provider"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_provider"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_provider"."address" IS 'Provider';
COMMENT ON COLUMN state."oracle_provider"."value" IS 'True';

CREATE TABLE history."oracle_provider_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_provider_list" IS 'Log of providers added; removed and repeated ones stay';
COMMENT ON COLUMN history."oracle_provider_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_provider_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_provider_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_provider_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_provider_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_provider_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_provider_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_provider_list"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_provider_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."oracle_provider_list"."value" IS 'Provider';

CREATE TABLE state."oracle_provider_list" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_provider_list" IS 'Log of providers added; removed and repeated ones stay';
COMMENT ON COLUMN state."oracle_provider_list"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_provider_list"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_provider_list"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_provider_list"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_provider_list"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_provider_list"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_provider_list"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_provider_list"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."oracle_provider_list"."value" IS 'Provider';

CREATE TABLE history."oracle_pending_observations" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "asset" text,
    "value" json,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_pending_observations" IS 'Observations since the last aggregate';
COMMENT ON COLUMN history."oracle_pending_observations"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_pending_observations"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_pending_observations"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_pending_observations"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_pending_observations"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_pending_observations"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_pending_observations"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_pending_observations"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_pending_observations"."asset" IS 'Feed';
COMMENT ON COLUMN history."oracle_pending_observations"."value" IS 'List of {price, provider, timestamp}';

CREATE TABLE state."oracle_pending_observations" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "asset" text NOT NULL,
    "value" json NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_pending_observations" IS 'Observations since the last aggregate';
COMMENT ON COLUMN state."oracle_pending_observations"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_pending_observations"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_pending_observations"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_pending_observations"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_pending_observations"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_pending_observations"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_pending_observations"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_pending_observations"."asset" IS 'Feed';
COMMENT ON COLUMN state."oracle_pending_observations"."value" IS 'List of {price, provider, timestamp}';

CREATE TABLE history."dao_governance_proposal" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "key_id" numeric(20,0),
    "call_data" bytea,
    "action" json,
    "description" bytea,
    "end_time" numeric(20,0),
    "execute_after" numeric(20,0),
    "id" numeric(20,0),
    "no_votes" numeric(39,0),
    "proposer" text,
    "start_time" numeric(20,0),
    "status" text,
    "title" bytea,
    "yes_votes" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_proposal" IS 'A proposal';
COMMENT ON COLUMN history."dao_governance_proposal"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_proposal"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_proposal"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_proposal"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_proposal"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_proposal"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_proposal"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_proposal"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_proposal"."key_id" IS 'Proposal, as in the key';
COMMENT ON COLUMN history."dao_governance_proposal"."call_data" IS 'What it will do, raw';
COMMENT ON COLUMN history."dao_governance_proposal"."action" IS 'What call_data will do, decoded';
COMMENT ON COLUMN history."dao_governance_proposal"."description" IS 'Description, raw bytes';
COMMENT ON COLUMN history."dao_governance_proposal"."end_time" IS 'Nominal end of the vote, unix seconds; closes nothing';
COMMENT ON COLUMN history."dao_governance_proposal"."execute_after" IS 'Earliest execution, unix seconds';
COMMENT ON COLUMN history."dao_governance_proposal"."id" IS 'Proposal';
COMMENT ON COLUMN history."dao_governance_proposal"."no_votes" IS 'Votes against';
COMMENT ON COLUMN history."dao_governance_proposal"."proposer" IS 'Proposer';
COMMENT ON COLUMN history."dao_governance_proposal"."start_time" IS 'Start of the vote, unix seconds';
COMMENT ON COLUMN history."dao_governance_proposal"."status" IS 'Active, Passed, Failed, Executed or Cancelled';
COMMENT ON COLUMN history."dao_governance_proposal"."title" IS 'Title, raw bytes';
COMMENT ON COLUMN history."dao_governance_proposal"."yes_votes" IS 'Votes in favour';

CREATE TABLE state."dao_governance_proposal" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "key_id" numeric(20,0) NOT NULL,
    "call_data" bytea NOT NULL,
    "action" json,
    "description" bytea NOT NULL,
    "end_time" numeric(20,0) NOT NULL,
    "execute_after" numeric(20,0) NOT NULL,
    "id" numeric(20,0) NOT NULL,
    "no_votes" numeric(39,0) NOT NULL,
    "proposer" text NOT NULL,
    "start_time" numeric(20,0) NOT NULL,
    "status" text NOT NULL,
    "title" bytea NOT NULL,
    "yes_votes" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_proposal" IS 'A proposal';
COMMENT ON COLUMN state."dao_governance_proposal"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_proposal"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_proposal"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_proposal"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_proposal"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_proposal"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_proposal"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_proposal"."key_id" IS 'Proposal, as in the key';
COMMENT ON COLUMN state."dao_governance_proposal"."call_data" IS 'What it will do, raw';
COMMENT ON COLUMN state."dao_governance_proposal"."action" IS 'What call_data will do, decoded';
COMMENT ON COLUMN state."dao_governance_proposal"."description" IS 'Description, raw bytes';
COMMENT ON COLUMN state."dao_governance_proposal"."end_time" IS 'Nominal end of the vote, unix seconds; closes nothing';
COMMENT ON COLUMN state."dao_governance_proposal"."execute_after" IS 'Earliest execution, unix seconds';
COMMENT ON COLUMN state."dao_governance_proposal"."id" IS 'Proposal';
COMMENT ON COLUMN state."dao_governance_proposal"."no_votes" IS 'Votes against';
COMMENT ON COLUMN state."dao_governance_proposal"."proposer" IS 'Proposer';
COMMENT ON COLUMN state."dao_governance_proposal"."start_time" IS 'Start of the vote, unix seconds';
COMMENT ON COLUMN state."dao_governance_proposal"."status" IS 'Active, Passed, Failed, Executed or Cancelled';
COMMENT ON COLUMN state."dao_governance_proposal"."title" IS 'Title, raw bytes';
COMMENT ON COLUMN state."dao_governance_proposal"."yes_votes" IS 'Votes in favour';

CREATE TABLE history."dao_governance_has_voted" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "proposal_id" numeric(20,0),
    "voter" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_has_voted" IS 'Who voted on what';
COMMENT ON COLUMN history."dao_governance_has_voted"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_has_voted"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_has_voted"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_has_voted"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_has_voted"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_has_voted"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_has_voted"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_has_voted"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_has_voted"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN history."dao_governance_has_voted"."voter" IS 'Voter';
COMMENT ON COLUMN history."dao_governance_has_voted"."value" IS 'True';

CREATE TABLE state."dao_governance_has_voted" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    "voter" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_has_voted" IS 'Who voted on what';
COMMENT ON COLUMN state."dao_governance_has_voted"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_has_voted"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_has_voted"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_has_voted"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_has_voted"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_has_voted"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_has_voted"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_has_voted"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN state."dao_governance_has_voted"."voter" IS 'Voter';
COMMENT ON COLUMN state."dao_governance_has_voted"."value" IS 'True';

CREATE TABLE history."dao_governance_multi_sig_wallet" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "wallet_id" bigint,
    "active" boolean,
    "id" bigint,
    "scope" bigint,
    "signers" text[],
    "threshold" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_wallet" IS 'A multisig wallet; 0 is the governance wallet';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."wallet_id" IS 'Wallet, as in the key';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."active" IS 'Active';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."id" IS 'Wallet';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."scope" IS '0 PrivilegedOnly, 1 AllExecutions, 2 Disabled';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."signers" IS 'Signers';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet"."threshold" IS 'Approvals needed';

CREATE TABLE state."dao_governance_multi_sig_wallet" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "wallet_id" bigint NOT NULL,
    "active" boolean NOT NULL,
    "id" bigint NOT NULL,
    "scope" bigint NOT NULL,
    "signers" text[] NOT NULL,
    "threshold" bigint NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_wallet" IS 'A multisig wallet; 0 is the governance wallet';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."wallet_id" IS 'Wallet, as in the key';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."active" IS 'Active';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."id" IS 'Wallet';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."scope" IS '0 PrivilegedOnly, 1 AllExecutions, 2 Disabled';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."signers" IS 'Signers';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet"."threshold" IS 'Approvals needed';

CREATE TABLE history."dao_governance_multi_sig_tx" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "tx_id" numeric(20,0),
    "approvals" bigint,
    "call_data" bytea,
    "action" json,
    "created_at" numeric(20,0),
    "function_name" text,
    "id" numeric(20,0),
    "proposal_id" numeric(20,0),
    "rejections" bigint,
    "status" text,
    "target" text,
    "wallet_id" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_tx" IS 'A multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."tx_id" IS 'Multisig transaction, as in the key';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."approvals" IS 'Approvals';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."call_data" IS 'What it will do, raw';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."action" IS 'What call_data will do, decoded';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."created_at" IS 'Creation, unix seconds';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."function_name" IS 'Function';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."id" IS 'Multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."rejections" IS 'Rejections';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."status" IS 'Pending, Approved, Rejected, Executed or Cancelled';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."target" IS 'Contract called';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx"."wallet_id" IS 'Wallet';

CREATE TABLE state."dao_governance_multi_sig_tx" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "tx_id" numeric(20,0) NOT NULL,
    "approvals" bigint NOT NULL,
    "call_data" bytea NOT NULL,
    "action" json,
    "created_at" numeric(20,0) NOT NULL,
    "function_name" text NOT NULL,
    "id" numeric(20,0) NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    "rejections" bigint NOT NULL,
    "status" text NOT NULL,
    "target" text NOT NULL,
    "wallet_id" bigint NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_tx" IS 'A multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."tx_id" IS 'Multisig transaction, as in the key';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."approvals" IS 'Approvals';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."call_data" IS 'What it will do, raw';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."action" IS 'What call_data will do, decoded';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."created_at" IS 'Creation, unix seconds';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."function_name" IS 'Function';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."id" IS 'Multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."rejections" IS 'Rejections';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."status" IS 'Pending, Approved, Rejected, Executed or Cancelled';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."target" IS 'Contract called';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx"."wallet_id" IS 'Wallet';

CREATE TABLE history."dao_governance_multi_sig_signer" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "wallet_id" bigint,
    "index" bigint,
    "value" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_signer" IS 'Signers of a wallet by number';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."wallet_id" IS 'Wallet';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."index" IS 'Number, from 0';
COMMENT ON COLUMN history."dao_governance_multi_sig_signer"."value" IS 'Signer';

CREATE TABLE state."dao_governance_multi_sig_signer" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "wallet_id" bigint NOT NULL,
    "index" bigint NOT NULL,
    "value" text NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_signer" IS 'Signers of a wallet by number';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."wallet_id" IS 'Wallet';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."index" IS 'Number, from 0';
COMMENT ON COLUMN state."dao_governance_multi_sig_signer"."value" IS 'Signer';

CREATE TABLE history."dao_governance_multi_sig_wallet_tx_ids" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "wallet_id" bigint,
    "value" numeric[],
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_wallet_tx_ids" IS 'Multisig transactions of a wallet';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."wallet_id" IS 'Wallet';
COMMENT ON COLUMN history."dao_governance_multi_sig_wallet_tx_ids"."value" IS 'Multisig transactions in order';

CREATE TABLE state."dao_governance_multi_sig_wallet_tx_ids" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "wallet_id" bigint NOT NULL,
    "value" numeric[] NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_wallet_tx_ids" IS 'Multisig transactions of a wallet';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."wallet_id" IS 'Wallet';
COMMENT ON COLUMN state."dao_governance_multi_sig_wallet_tx_ids"."value" IS 'Multisig transactions in order';

CREATE TABLE history."dao_governance_multi_sig_approval" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "tx_id" numeric(20,0),
    "signer" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_approval" IS 'A signer''s word on a multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."tx_id" IS 'Multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."signer" IS 'Signer';
COMMENT ON COLUMN history."dao_governance_multi_sig_approval"."value" IS 'True: approved; false: rejected';

CREATE TABLE state."dao_governance_multi_sig_approval" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "tx_id" numeric(20,0) NOT NULL,
    "signer" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_approval" IS 'A signer''s word on a multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."tx_id" IS 'Multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."signer" IS 'Signer';
COMMENT ON COLUMN state."dao_governance_multi_sig_approval"."value" IS 'True: approved; false: rejected';

CREATE TABLE history."dao_governance_proposal_multi_sig_txs" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "proposal_id" numeric(20,0),
    "value" numeric[],
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_proposal_multi_sig_txs" IS 'Multisig transactions of a proposal';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN history."dao_governance_proposal_multi_sig_txs"."value" IS 'Multisig transactions in order';

CREATE TABLE state."dao_governance_proposal_multi_sig_txs" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "proposal_id" numeric(20,0) NOT NULL,
    "value" numeric[] NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_proposal_multi_sig_txs" IS 'Multisig transactions of a proposal';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."proposal_id" IS 'Proposal';
COMMENT ON COLUMN state."dao_governance_proposal_multi_sig_txs"."value" IS 'Multisig transactions in order';

CREATE TABLE history."dao_governance_multi_sig_tx_proposal" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "tx_id" numeric(20,0),
    "value" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_multi_sig_tx_proposal" IS 'The proposal of a multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."tx_id" IS 'Multisig transaction';
COMMENT ON COLUMN history."dao_governance_multi_sig_tx_proposal"."value" IS 'Proposal';

CREATE TABLE state."dao_governance_multi_sig_tx_proposal" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "tx_id" numeric(20,0) NOT NULL,
    "value" numeric(20,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_multi_sig_tx_proposal" IS 'The proposal of a multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."tx_id" IS 'Multisig transaction';
COMMENT ON COLUMN state."dao_governance_multi_sig_tx_proposal"."value" IS 'Proposal';

CREATE TABLE history."dao_governance_param_cr" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_param_cr" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN history."dao_governance_param_cr"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_param_cr"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_param_cr"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_param_cr"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_param_cr"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_param_cr"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_param_cr"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_param_cr"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_param_cr"."value" IS 'Basis points';

CREATE TABLE state."dao_governance_param_cr" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_param_cr" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN state."dao_governance_param_cr"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_param_cr"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_param_cr"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_param_cr"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_param_cr"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_param_cr"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_param_cr"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_param_cr"."value" IS 'Basis points';

CREATE TABLE history."dao_governance_param_borrow_fee" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_param_borrow_fee" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_param_borrow_fee"."value" IS 'Basis points';

CREATE TABLE state."dao_governance_param_borrow_fee" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_param_borrow_fee" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_param_borrow_fee"."value" IS 'Basis points';

CREATE TABLE history."dao_governance_param_liq_penalty" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_param_liq_penalty" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_param_liq_penalty"."value" IS 'Basis points';

CREATE TABLE state."dao_governance_param_liq_penalty" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_param_liq_penalty" IS 'Parameter set by vote; read by no contract';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_param_liq_penalty"."value" IS 'Basis points';

CREATE TABLE history."synth_token_balance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synth_token_balance" IS 'Balance of an address';
COMMENT ON COLUMN history."synth_token_balance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synth_token_balance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synth_token_balance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synth_token_balance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synth_token_balance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synth_token_balance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synth_token_balance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synth_token_balance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synth_token_balance"."address" IS 'Holder';
COMMENT ON COLUMN history."synth_token_balance"."value" IS 'Balance, raw units';

CREATE TABLE state."synth_token_balance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
CREATE INDEX ON state."synth_token_balance" (deployment, address);
COMMENT ON TABLE state."synth_token_balance" IS 'Balance of an address';
COMMENT ON COLUMN state."synth_token_balance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synth_token_balance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synth_token_balance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synth_token_balance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synth_token_balance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synth_token_balance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synth_token_balance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synth_token_balance"."address" IS 'Holder';
COMMENT ON COLUMN state."synth_token_balance"."value" IS 'Balance, raw units';

CREATE TABLE history."synth_token_total_supply" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synth_token_total_supply" IS 'Supply of a token';
COMMENT ON COLUMN history."synth_token_total_supply"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synth_token_total_supply"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synth_token_total_supply"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synth_token_total_supply"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synth_token_total_supply"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synth_token_total_supply"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synth_token_total_supply"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synth_token_total_supply"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synth_token_total_supply"."value" IS 'Supply, raw units';

CREATE TABLE state."synth_token_total_supply" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synth_token_total_supply" IS 'Supply of a token';
COMMENT ON COLUMN state."synth_token_total_supply"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synth_token_total_supply"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synth_token_total_supply"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synth_token_total_supply"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synth_token_total_supply"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synth_token_total_supply"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synth_token_total_supply"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synth_token_total_supply"."value" IS 'Supply, raw units';

CREATE TABLE history."synth_token_frozen_account" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "value" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synth_token_frozen_account" IS 'Accounts frozen in this token; false is stored, not removed';
COMMENT ON COLUMN history."synth_token_frozen_account"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synth_token_frozen_account"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synth_token_frozen_account"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synth_token_frozen_account"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synth_token_frozen_account"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synth_token_frozen_account"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synth_token_frozen_account"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synth_token_frozen_account"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synth_token_frozen_account"."address" IS 'Account';
COMMENT ON COLUMN history."synth_token_frozen_account"."value" IS 'True: frozen';

CREATE TABLE state."synth_token_frozen_account" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "value" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synth_token_frozen_account" IS 'Accounts frozen in this token; false is stored, not removed';
COMMENT ON COLUMN state."synth_token_frozen_account"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synth_token_frozen_account"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synth_token_frozen_account"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synth_token_frozen_account"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synth_token_frozen_account"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synth_token_frozen_account"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synth_token_frozen_account"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synth_token_frozen_account"."address" IS 'Account';
COMMENT ON COLUMN state."synth_token_frozen_account"."value" IS 'True: frozen';

CREATE TABLE history."synth_token_allowance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "owner" text,
    "spender" text,
    "value" numeric(39,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synth_token_allowance" IS 'An allowance';
COMMENT ON COLUMN history."synth_token_allowance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synth_token_allowance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synth_token_allowance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synth_token_allowance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synth_token_allowance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synth_token_allowance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synth_token_allowance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synth_token_allowance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synth_token_allowance"."owner" IS 'Owner';
COMMENT ON COLUMN history."synth_token_allowance"."spender" IS 'Spender';
COMMENT ON COLUMN history."synth_token_allowance"."value" IS 'Allowance, raw units';

CREATE TABLE state."synth_token_allowance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "owner" text NOT NULL,
    "spender" text NOT NULL,
    "value" numeric(39,0) NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synth_token_allowance" IS 'An allowance';
COMMENT ON COLUMN state."synth_token_allowance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synth_token_allowance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synth_token_allowance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synth_token_allowance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synth_token_allowance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synth_token_allowance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synth_token_allowance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synth_token_allowance"."owner" IS 'Owner';
COMMENT ON COLUMN state."synth_token_allowance"."spender" IS 'Spender';
COMMENT ON COLUMN state."synth_token_allowance"."value" IS 'Allowance, raw units';

CREATE TABLE history."stellar_asset_balance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "address" text,
    "amount" numeric(39,0),
    "authorized" boolean,
    "clawback" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stellar_asset_balance" IS 'Balance of a contract; accounts hold trustlines';
COMMENT ON COLUMN history."stellar_asset_balance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stellar_asset_balance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stellar_asset_balance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stellar_asset_balance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stellar_asset_balance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stellar_asset_balance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stellar_asset_balance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stellar_asset_balance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stellar_asset_balance"."address" IS 'Contract';
COMMENT ON COLUMN history."stellar_asset_balance"."amount" IS 'Balance, raw units';
COMMENT ON COLUMN history."stellar_asset_balance"."authorized" IS 'Authorised by the issuer';
COMMENT ON COLUMN history."stellar_asset_balance"."clawback" IS 'May be clawed back';

CREATE TABLE state."stellar_asset_balance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "address" text NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "authorized" boolean NOT NULL,
    "clawback" boolean NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
CREATE INDEX ON state."stellar_asset_balance" (deployment, address);
COMMENT ON TABLE state."stellar_asset_balance" IS 'Balance of a contract; accounts hold trustlines';
COMMENT ON COLUMN state."stellar_asset_balance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stellar_asset_balance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stellar_asset_balance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stellar_asset_balance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stellar_asset_balance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stellar_asset_balance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stellar_asset_balance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stellar_asset_balance"."address" IS 'Contract';
COMMENT ON COLUMN state."stellar_asset_balance"."amount" IS 'Balance, raw units';
COMMENT ON COLUMN state."stellar_asset_balance"."authorized" IS 'Authorised by the issuer';
COMMENT ON COLUMN state."stellar_asset_balance"."clawback" IS 'May be clawed back';

CREATE TABLE history."stellar_asset_allowance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "allowance" json,
    "amount" numeric(39,0),
    "live_until_ledger" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stellar_asset_allowance" IS 'An allowance';
COMMENT ON COLUMN history."stellar_asset_allowance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stellar_asset_allowance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stellar_asset_allowance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stellar_asset_allowance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stellar_asset_allowance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stellar_asset_allowance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stellar_asset_allowance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stellar_asset_allowance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stellar_asset_allowance"."allowance" IS 'The key: from and spender';
COMMENT ON COLUMN history."stellar_asset_allowance"."amount" IS 'Allowance, raw units';
COMMENT ON COLUMN history."stellar_asset_allowance"."live_until_ledger" IS 'Last ledger of the allowance';

CREATE TABLE state."stellar_asset_allowance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "allowance" json NOT NULL,
    "amount" numeric(39,0) NOT NULL,
    "live_until_ledger" bigint NOT NULL,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."stellar_asset_allowance" IS 'An allowance';
COMMENT ON COLUMN state."stellar_asset_allowance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stellar_asset_allowance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stellar_asset_allowance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stellar_asset_allowance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stellar_asset_allowance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stellar_asset_allowance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stellar_asset_allowance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stellar_asset_allowance"."allowance" IS 'The key: from and spender';
COMMENT ON COLUMN state."stellar_asset_allowance"."amount" IS 'Allowance, raw units';
COMMENT ON COLUMN state."stellar_asset_allowance"."live_until_ledger" IS 'Last ledger of the allowance';

CREATE TABLE history."liquidity_pool_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "earnings" text,
    "compliance" text,
    "protocol_fee" numeric(39,0),
    "pool_count" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."liquidity_pool_instance" IS 'Settings of the pool contract';
COMMENT ON COLUMN history."liquidity_pool_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."liquidity_pool_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."liquidity_pool_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."liquidity_pool_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."liquidity_pool_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."liquidity_pool_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."liquidity_pool_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."liquidity_pool_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."liquidity_pool_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."liquidity_pool_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."liquidity_pool_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."liquidity_pool_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."liquidity_pool_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN history."liquidity_pool_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN history."liquidity_pool_instance"."protocol_fee" IS 'Protocol''s part of the swap fee, basis points';
COMMENT ON COLUMN history."liquidity_pool_instance"."pool_count" IS 'Number of pools';

CREATE TABLE state."liquidity_pool_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "earnings" text,
    "compliance" text,
    "protocol_fee" numeric(39,0),
    "pool_count" bigint,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."liquidity_pool_instance" IS 'Settings of the pool contract';
COMMENT ON COLUMN state."liquidity_pool_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."liquidity_pool_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."liquidity_pool_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."liquidity_pool_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."liquidity_pool_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."liquidity_pool_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."liquidity_pool_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."liquidity_pool_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."liquidity_pool_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."liquidity_pool_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."liquidity_pool_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."liquidity_pool_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN state."liquidity_pool_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN state."liquidity_pool_instance"."protocol_fee" IS 'Protocol''s part of the swap fee, basis points';
COMMENT ON COLUMN state."liquidity_pool_instance"."pool_count" IS 'Number of pools';

CREATE TABLE history."synthetic_engine_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "oracle" text,
    "compliance" text,
    "earnings" text,
    "dao" text,
    "stability_pool" text,
    "paused" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synthetic_engine_instance" IS 'Settings of the engine';
COMMENT ON COLUMN history."synthetic_engine_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synthetic_engine_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synthetic_engine_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synthetic_engine_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synthetic_engine_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synthetic_engine_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synthetic_engine_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synthetic_engine_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synthetic_engine_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."synthetic_engine_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."synthetic_engine_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."synthetic_engine_instance"."oracle" IS 'Price oracle';
COMMENT ON COLUMN history."synthetic_engine_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN history."synthetic_engine_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN history."synthetic_engine_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."synthetic_engine_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN history."synthetic_engine_instance"."paused" IS 'Engine paused';

CREATE TABLE state."synthetic_engine_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "oracle" text,
    "compliance" text,
    "earnings" text,
    "dao" text,
    "stability_pool" text,
    "paused" boolean,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synthetic_engine_instance" IS 'Settings of the engine';
COMMENT ON COLUMN state."synthetic_engine_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synthetic_engine_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synthetic_engine_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synthetic_engine_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synthetic_engine_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synthetic_engine_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synthetic_engine_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synthetic_engine_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."synthetic_engine_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."synthetic_engine_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."synthetic_engine_instance"."oracle" IS 'Price oracle';
COMMENT ON COLUMN state."synthetic_engine_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN state."synthetic_engine_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN state."synthetic_engine_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."synthetic_engine_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN state."synthetic_engine_instance"."paused" IS 'Engine paused';

CREATE TABLE history."stability_pool_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "usdc" text,
    "engine" text,
    "dao" text,
    "compliance" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stability_pool_instance" IS 'Settings of the stability pool';
COMMENT ON COLUMN history."stability_pool_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stability_pool_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stability_pool_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stability_pool_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stability_pool_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stability_pool_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stability_pool_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stability_pool_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stability_pool_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."stability_pool_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."stability_pool_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."stability_pool_instance"."usdc" IS 'Token of the deposits';
COMMENT ON COLUMN history."stability_pool_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN history."stability_pool_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."stability_pool_instance"."compliance" IS 'Compliance registry';

CREATE TABLE state."stability_pool_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "usdc" text,
    "engine" text,
    "dao" text,
    "compliance" text,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."stability_pool_instance" IS 'Settings of the stability pool';
COMMENT ON COLUMN state."stability_pool_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stability_pool_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stability_pool_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stability_pool_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stability_pool_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stability_pool_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stability_pool_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stability_pool_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."stability_pool_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."stability_pool_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."stability_pool_instance"."usdc" IS 'Token of the deposits';
COMMENT ON COLUMN state."stability_pool_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN state."stability_pool_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."stability_pool_instance"."compliance" IS 'Compliance registry';

CREATE TABLE history."compliance_registry_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "verifier" text,
    "verifier_count" bigint,
    "travel_rule_count" numeric(20,0),
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."compliance_registry_instance" IS 'Settings of the compliance registry';
COMMENT ON COLUMN history."compliance_registry_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."compliance_registry_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."compliance_registry_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."compliance_registry_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."compliance_registry_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."compliance_registry_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."compliance_registry_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."compliance_registry_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."compliance_registry_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."compliance_registry_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."compliance_registry_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."compliance_registry_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."compliance_registry_instance"."verifier" IS 'Canonical verifier';
COMMENT ON COLUMN history."compliance_registry_instance"."verifier_count" IS 'Length of the verifier log';
COMMENT ON COLUMN history."compliance_registry_instance"."travel_rule_count" IS 'Travel-rule records so far';

CREATE TABLE state."compliance_registry_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "verifier" text,
    "verifier_count" bigint,
    "travel_rule_count" numeric(20,0),
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."compliance_registry_instance" IS 'Settings of the compliance registry';
COMMENT ON COLUMN state."compliance_registry_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."compliance_registry_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."compliance_registry_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."compliance_registry_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."compliance_registry_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."compliance_registry_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."compliance_registry_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."compliance_registry_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."compliance_registry_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."compliance_registry_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."compliance_registry_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."compliance_registry_instance"."verifier" IS 'Canonical verifier';
COMMENT ON COLUMN state."compliance_registry_instance"."verifier_count" IS 'Length of the verifier log';
COMMENT ON COLUMN state."compliance_registry_instance"."travel_rule_count" IS 'Travel-rule records so far';

CREATE TABLE history."partner_registry_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "usdc" text,
    "engine" text,
    "earnings" text,
    "partner_count" bigint,
    "open_registration" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."partner_registry_instance" IS 'Settings of the partner registry';
COMMENT ON COLUMN history."partner_registry_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."partner_registry_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."partner_registry_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."partner_registry_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."partner_registry_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."partner_registry_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."partner_registry_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."partner_registry_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."partner_registry_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."partner_registry_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."partner_registry_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."partner_registry_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."partner_registry_instance"."usdc" IS 'Token that claims are paid in';
COMMENT ON COLUMN history."partner_registry_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN history."partner_registry_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN history."partner_registry_instance"."partner_count" IS 'Partners registered';
COMMENT ON COLUMN history."partner_registry_instance"."open_registration" IS 'Anyone may register';

CREATE TABLE state."partner_registry_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "usdc" text,
    "engine" text,
    "earnings" text,
    "partner_count" bigint,
    "open_registration" boolean,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."partner_registry_instance" IS 'Settings of the partner registry';
COMMENT ON COLUMN state."partner_registry_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."partner_registry_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."partner_registry_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."partner_registry_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."partner_registry_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."partner_registry_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."partner_registry_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."partner_registry_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."partner_registry_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."partner_registry_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."partner_registry_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."partner_registry_instance"."usdc" IS 'Token that claims are paid in';
COMMENT ON COLUMN state."partner_registry_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN state."partner_registry_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN state."partner_registry_instance"."partner_count" IS 'Partners registered';
COMMENT ON COLUMN state."partner_registry_instance"."open_registration" IS 'Anyone may register';

CREATE TABLE history."earnings_distributor_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "treasury" text,
    "developers" text,
    "stability_pool" text,
    "dao" text,
    "partner_registry" text,
    "epoch" numeric(20,0),
    "lp_count" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."earnings_distributor_instance" IS 'Settings of the distributor';
COMMENT ON COLUMN history."earnings_distributor_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."earnings_distributor_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."earnings_distributor_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."earnings_distributor_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."earnings_distributor_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."earnings_distributor_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."earnings_distributor_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."earnings_distributor_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."earnings_distributor_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."earnings_distributor_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."earnings_distributor_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."earnings_distributor_instance"."treasury" IS 'Treasury';
COMMENT ON COLUMN history."earnings_distributor_instance"."developers" IS 'Developers'' fund';
COMMENT ON COLUMN history."earnings_distributor_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN history."earnings_distributor_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."earnings_distributor_instance"."partner_registry" IS 'Partner registry';
COMMENT ON COLUMN history."earnings_distributor_instance"."epoch" IS 'Current epoch';
COMMENT ON COLUMN history."earnings_distributor_instance"."lp_count" IS 'Length of the provider contracts'' list';

CREATE TABLE state."earnings_distributor_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "treasury" text,
    "developers" text,
    "stability_pool" text,
    "dao" text,
    "partner_registry" text,
    "epoch" numeric(20,0),
    "lp_count" bigint,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."earnings_distributor_instance" IS 'Settings of the distributor';
COMMENT ON COLUMN state."earnings_distributor_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."earnings_distributor_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."earnings_distributor_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."earnings_distributor_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."earnings_distributor_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."earnings_distributor_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."earnings_distributor_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."earnings_distributor_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."earnings_distributor_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."earnings_distributor_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."earnings_distributor_instance"."treasury" IS 'Treasury';
COMMENT ON COLUMN state."earnings_distributor_instance"."developers" IS 'Developers'' fund';
COMMENT ON COLUMN state."earnings_distributor_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN state."earnings_distributor_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."earnings_distributor_instance"."partner_registry" IS 'Partner registry';
COMMENT ON COLUMN state."earnings_distributor_instance"."epoch" IS 'Current epoch';
COMMENT ON COLUMN state."earnings_distributor_instance"."lp_count" IS 'Length of the provider contracts'' list';

CREATE TABLE history."oracle_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "provider_count" bigint,
    "twap_window" numeric(20,0),
    "min_providers" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."oracle_instance" IS 'Settings of the oracle';
COMMENT ON COLUMN history."oracle_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."oracle_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."oracle_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."oracle_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."oracle_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."oracle_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."oracle_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."oracle_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."oracle_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."oracle_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."oracle_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."oracle_instance"."dao" IS 'Governance';
COMMENT ON COLUMN history."oracle_instance"."provider_count" IS 'Length of the provider log';
COMMENT ON COLUMN history."oracle_instance"."twap_window" IS 'Window of the time-weighted price, seconds';
COMMENT ON COLUMN history."oracle_instance"."min_providers" IS 'Quorum; 3 when absent';

CREATE TABLE state."oracle_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "dao" text,
    "provider_count" bigint,
    "twap_window" numeric(20,0),
    "min_providers" bigint,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."oracle_instance" IS 'Settings of the oracle';
COMMENT ON COLUMN state."oracle_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."oracle_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."oracle_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."oracle_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."oracle_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."oracle_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."oracle_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."oracle_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."oracle_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."oracle_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."oracle_instance"."dao" IS 'Governance';
COMMENT ON COLUMN state."oracle_instance"."provider_count" IS 'Length of the provider log';
COMMENT ON COLUMN state."oracle_instance"."twap_window" IS 'Window of the time-weighted price, seconds';
COMMENT ON COLUMN state."oracle_instance"."min_providers" IS 'Quorum; 3 when absent';

CREATE TABLE history."dao_governance_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "dao" text,
    "engine" text,
    "liquidity_pool" text,
    "partner_registry" text,
    "earnings" text,
    "stability_pool" text,
    "compliance" text,
    "oracle" text,
    "multisig_wallet" text,
    "proposal_count" numeric(20,0),
    "multisig_count" bigint,
    "multisig_tx_count" numeric(20,0),
    "multisig_mask" bigint,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."dao_governance_instance" IS 'Settings of the governance contract: the other contracts'' addresses';
COMMENT ON COLUMN history."dao_governance_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."dao_governance_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."dao_governance_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."dao_governance_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."dao_governance_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."dao_governance_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."dao_governance_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."dao_governance_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."dao_governance_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."dao_governance_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."dao_governance_instance"."dao" IS 'Governance''s own account';
COMMENT ON COLUMN history."dao_governance_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN history."dao_governance_instance"."liquidity_pool" IS 'Liquidity pool';
COMMENT ON COLUMN history."dao_governance_instance"."partner_registry" IS 'Partner registry';
COMMENT ON COLUMN history."dao_governance_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN history."dao_governance_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN history."dao_governance_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN history."dao_governance_instance"."oracle" IS 'Oracle';
COMMENT ON COLUMN history."dao_governance_instance"."multisig_wallet" IS 'Governance''s multisig wallet, an account';
COMMENT ON COLUMN history."dao_governance_instance"."proposal_count" IS 'Next proposal';
COMMENT ON COLUMN history."dao_governance_instance"."multisig_count" IS 'Wallets';
COMMENT ON COLUMN history."dao_governance_instance"."multisig_tx_count" IS 'Multisig transactions';
COMMENT ON COLUMN history."dao_governance_instance"."multisig_mask" IS 'Mask of actions that need the multisig';

CREATE TABLE state."dao_governance_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "dao" text,
    "engine" text,
    "liquidity_pool" text,
    "partner_registry" text,
    "earnings" text,
    "stability_pool" text,
    "compliance" text,
    "oracle" text,
    "multisig_wallet" text,
    "proposal_count" numeric(20,0),
    "multisig_count" bigint,
    "multisig_tx_count" numeric(20,0),
    "multisig_mask" bigint,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."dao_governance_instance" IS 'Settings of the governance contract: the other contracts'' addresses';
COMMENT ON COLUMN state."dao_governance_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."dao_governance_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."dao_governance_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."dao_governance_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."dao_governance_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."dao_governance_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."dao_governance_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."dao_governance_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."dao_governance_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."dao_governance_instance"."dao" IS 'Governance''s own account';
COMMENT ON COLUMN state."dao_governance_instance"."engine" IS 'Vault engine';
COMMENT ON COLUMN state."dao_governance_instance"."liquidity_pool" IS 'Liquidity pool';
COMMENT ON COLUMN state."dao_governance_instance"."partner_registry" IS 'Partner registry';
COMMENT ON COLUMN state."dao_governance_instance"."earnings" IS 'Earnings distributor';
COMMENT ON COLUMN state."dao_governance_instance"."stability_pool" IS 'Stability pool';
COMMENT ON COLUMN state."dao_governance_instance"."compliance" IS 'Compliance registry';
COMMENT ON COLUMN state."dao_governance_instance"."oracle" IS 'Oracle';
COMMENT ON COLUMN state."dao_governance_instance"."multisig_wallet" IS 'Governance''s multisig wallet, an account';
COMMENT ON COLUMN state."dao_governance_instance"."proposal_count" IS 'Next proposal';
COMMENT ON COLUMN state."dao_governance_instance"."multisig_count" IS 'Wallets';
COMMENT ON COLUMN state."dao_governance_instance"."multisig_tx_count" IS 'Multisig transactions';
COMMENT ON COLUMN state."dao_governance_instance"."multisig_mask" IS 'Mask of actions that need the multisig';

CREATE TABLE history."synth_token_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "admin" text,
    "minter" text,
    "name" bytea,
    "symbol" bytea,
    "decimals" bigint,
    "paused" boolean,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."synth_token_instance" IS 'Settings of a synthetic token';
COMMENT ON COLUMN history."synth_token_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."synth_token_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."synth_token_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."synth_token_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."synth_token_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."synth_token_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."synth_token_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."synth_token_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."synth_token_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."synth_token_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."synth_token_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN history."synth_token_instance"."minter" IS 'Contract that may mint';
COMMENT ON COLUMN history."synth_token_instance"."name" IS 'Name, as written: may hold any bytes';
COMMENT ON COLUMN history."synth_token_instance"."symbol" IS 'Symbol, as written';
COMMENT ON COLUMN history."synth_token_instance"."decimals" IS 'Decimals: 7';
COMMENT ON COLUMN history."synth_token_instance"."paused" IS 'Transfers paused';

CREATE TABLE state."synth_token_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "admin" text,
    "minter" text,
    "name" bytea,
    "symbol" bytea,
    "decimals" bigint,
    "paused" boolean,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."synth_token_instance" IS 'Settings of a synthetic token';
COMMENT ON COLUMN state."synth_token_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."synth_token_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."synth_token_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."synth_token_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."synth_token_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."synth_token_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."synth_token_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."synth_token_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."synth_token_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."synth_token_instance"."admin" IS 'Administrator';
COMMENT ON COLUMN state."synth_token_instance"."minter" IS 'Contract that may mint';
COMMENT ON COLUMN state."synth_token_instance"."name" IS 'Name, as written: may hold any bytes';
COMMENT ON COLUMN state."synth_token_instance"."symbol" IS 'Symbol, as written';
COMMENT ON COLUMN state."synth_token_instance"."decimals" IS 'Decimals: 7';
COMMENT ON COLUMN state."synth_token_instance"."paused" IS 'Transfers paused';

CREATE TABLE history."stellar_asset_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "removed" boolean NOT NULL,
    "executable" text,
    "wasm" bytea,
    "metadata" json,
    "asset_info" json,
    "admin" text,
    PRIMARY KEY (deployment, key_hash, ledger, tx, seq)
) PARTITION BY RANGE (deployment, ledger);
COMMENT ON TABLE history."stellar_asset_instance" IS 'Settings of a Stellar asset';
COMMENT ON COLUMN history."stellar_asset_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN history."stellar_asset_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN history."stellar_asset_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN history."stellar_asset_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN history."stellar_asset_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN history."stellar_asset_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN history."stellar_asset_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN history."stellar_asset_instance"."removed" IS 'The entry was removed; value columns are null';
COMMENT ON COLUMN history."stellar_asset_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN history."stellar_asset_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN history."stellar_asset_instance"."metadata" IS '{decimal, name, symbol}';
COMMENT ON COLUMN history."stellar_asset_instance"."asset_info" IS 'What classic asset this is';
COMMENT ON COLUMN history."stellar_asset_instance"."admin" IS 'Issuer; absent for the native asset';

CREATE TABLE state."stellar_asset_instance" (
    "deployment" smallint NOT NULL,
    "key_hash" bytea NOT NULL,
    "ledger" integer NOT NULL,
    "tx" integer NOT NULL,
    "seq" integer NOT NULL,
    "closed_at" timestamp with time zone NOT NULL,
    "contract" text NOT NULL,
    "executable" text NOT NULL,
    "wasm" bytea,
    "metadata" json,
    "asset_info" json,
    "admin" text,
    PRIMARY KEY (deployment, key_hash)
);
COMMENT ON TABLE state."stellar_asset_instance" IS 'Settings of a Stellar asset';
COMMENT ON COLUMN state."stellar_asset_instance"."deployment" IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN state."stellar_asset_instance"."key_hash" IS 'SHA-256 of the ledger key';
COMMENT ON COLUMN state."stellar_asset_instance"."ledger" IS 'Ledger that wrote this version';
COMMENT ON COLUMN state."stellar_asset_instance"."tx" IS 'Transaction in apply order; 1048575 after all of them';
COMMENT ON COLUMN state."stellar_asset_instance"."seq" IS 'Change within the transaction';
COMMENT ON COLUMN state."stellar_asset_instance"."closed_at" IS 'Close time of the ledger';
COMMENT ON COLUMN state."stellar_asset_instance"."contract" IS 'Contract that owns the entry';
COMMENT ON COLUMN state."stellar_asset_instance"."executable" IS 'contractExecutableWasm or contractExecutableStellarAsset';
COMMENT ON COLUMN state."stellar_asset_instance"."wasm" IS 'Hash of the code';
COMMENT ON COLUMN state."stellar_asset_instance"."metadata" IS '{decimal, name, symbol}';
COMMENT ON COLUMN state."stellar_asset_instance"."asset_info" IS 'What classic asset this is';
COMMENT ON COLUMN state."stellar_asset_instance"."admin" IS 'Issuer; absent for the native asset';
