-- 0006_kyc: from a person's session at a provider to an attestation on the chain.
--
-- No personal data is stored: no names, dates, documents, pictures or network addresses. A session has the
-- address it is for, opaque ids, a state, and what the attestation will say.
--   session      one verification of one address at one provider
--   session_key  further Idempotency-Keys of a session
--   challenge    answered proofs of control over an address, so that each counts once
--   inbox        webhooks with a valid signature: that something happened, not what they said
--   outbox       intents: what the attester is to put on the chain, written in the decision's transaction
--   revocation   sessions that people of the console ordered to revoke
--   erased       sessions that were deleted
--   audit        who did what; each row includes the hash of the row before
--   attester, attester_fee  the attester's state and what its transactions cost
--   integrator, integrator_key, integrator_revision  partners, and the SHA-256 of their API keys
--   sandbox      the sandbox provider's decisions, on networks other than the main one
--
-- Checks keep every row that tidemark_kyc can write readable for its workers and for the attester: they
-- add to counts and turn times into numbers. A row that made such a statement fail would stop all rows of
-- its provider. The year 10000 is the end of a document valid until 9999-12-31.

CREATE TABLE kyc.session (
    id              text        NOT NULL PRIMARY KEY,
    deployment      smallint    NOT NULL REFERENCES chain.deployment,
    address         text        NOT NULL,
    provider        text        NOT NULL,
    integrator      text        NOT NULL,
    mode            text        NOT NULL CHECK (mode IN ('redirect', 'iframe', 'direct')),
    ref             text        NOT NULL,
    provider_id     text,
    hosted_url      text,
    hosted_until    timestamptz,
    state           text        NOT NULL DEFAULT 'created' CHECK (state IN ('created', 'pending', 'review',
                                'action_required', 'approved', 'declined', 'expired', 'revoked')),
    reason          text,
    decision_rev    integer     NOT NULL DEFAULT 0,
    decision_at     timestamptz,
    jurisdiction    integer,
    valid_until     timestamptz,
    idempotency     bytea,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at      timestamptz NOT NULL,
    next_check      timestamptz,
    attempts        integer     NOT NULL DEFAULT 0,
    last_error      text,
    attested_until  timestamptz,
    network         bytea       CHECK (octet_length(network) = 8),
    CONSTRAINT session_counts CHECK (attempts BETWEEN 0 AND 1000000 AND decision_rev BETWEEN 0 AND 1000000
        AND coalesce(jurisdiction, 0) BETWEEN 0 AND 999),
    CONSTRAINT session_times CHECK (
        least(hosted_until, decision_at, valid_until, attested_until, created_at, updated_at, expires_at, next_check) >= '0001-01-01T00:00:00Z'
        AND greatest(hosted_until, decision_at, valid_until, attested_until, created_at, updated_at, expires_at, next_check) < '10001-01-01T00:00:00Z'),
    CONSTRAINT session_lengths CHECK (octet_length(concat(id, address, provider, integrator, ref, provider_id, reason, last_error)) <= 4096
        AND octet_length(coalesce(hosted_url, '')) <= 4096),
    -- the audit's text of a row must fit into kyc.note's limits
    CONSTRAINT session_names CHECK (octet_length(id) <= 64 AND octet_length(address) <= 128 AND octet_length(provider) <= 128
        AND octet_length(integrator) <= 128 AND octet_length(coalesce(reason, '')) <= 128)
);
COMMENT ON TABLE kyc.session IS 'One verification of one address at one provider';
COMMENT ON COLUMN kyc.session.id IS '128 random bits';
COMMENT ON COLUMN kyc.session.integrator IS 'Integrator that opened it (kyc.integrator); empty: the address itself, by a signed challenge or, where none is required, without one';
COMMENT ON COLUMN kyc.session.ref IS 'The person''s id at the provider: opaque, the same for an address of a network';
COMMENT ON COLUMN kyc.session.provider_id IS 'The provider''s own id; NULL: it has not answered yet';
COMMENT ON COLUMN kyc.session.hosted_url IS 'The provider''s page for this person, while it and the session last';
COMMENT ON COLUMN kyc.session.reason IS 'Reason of the state: a fixed word, never a provider''s text';
COMMENT ON COLUMN kyc.session.decision_rev IS 'Counts decisions that differed from the one before; 0: none yet';
COMMENT ON COLUMN kyc.session.decision_at IS 'When the provider says it decided';
COMMENT ON COLUMN kyc.session.jurisdiction IS 'ISO 3166-1 numeric; in no view, no answer, no log';
COMMENT ON COLUMN kyc.session.valid_until IS 'End of validity of the document or of the provider''s decision';
COMMENT ON COLUMN kyc.session.idempotency IS 'Hash of the client and its Idempotency-Key';
COMMENT ON COLUMN kyc.session.next_check IS 'When the reconciler asks the provider again; NULL: not planned';
COMMENT ON COLUMN kyc.session.attested_until IS 'End of its attestation: the earlier of the policy''s end and valid_until; NULL: never approved';
COMMENT ON COLUMN kyc.session.network IS 'Keyed hash of the client''s network, of sessions without integrator; kept for an hour, for limits';

CREATE TABLE kyc.challenge (
    hash       bytea       NOT NULL PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE kyc.challenge IS 'Answered challenges, so that none counts twice; expired rows may be deleted';

CREATE TABLE kyc.inbox (
    provider    text        NOT NULL,
    event_key   text        NOT NULL,
    body_sha256 bytea       NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    occurred_at timestamptz,
    provider_id text,
    ref         text,
    sig_key     smallint    NOT NULL,
    state       text        NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done', 'ignored', 'failed')),
    attempts    integer     NOT NULL DEFAULT 0,
    next_try    timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_error  text,
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    PRIMARY KEY (deployment, provider, event_key),
    CONSTRAINT inbox_counts CHECK (attempts BETWEEN 0 AND 1000000),
    CONSTRAINT inbox_times CHECK (least(received_at, occurred_at, next_try) >= '0001-01-01T00:00:00Z'
        AND greatest(received_at, occurred_at, next_try) < '10001-01-01T00:00:00Z'),
    CONSTRAINT inbox_lengths CHECK (octet_length(concat(provider, event_key, provider_id, ref, last_error)) <= 4096),
    CONSTRAINT inbox_names CHECK (octet_length(provider) <= 128 AND octet_length(event_key) <= 512)
);
COMMENT ON TABLE kyc.inbox IS 'Webhooks with a valid signature, one row each even if repeated; their bodies are not kept';
COMMENT ON COLUMN kyc.inbox.sig_key IS 'Position in the provider''s list of the secret that verified the webhook; 0: the current one';
COMMENT ON COLUMN kyc.inbox.deployment IS 'Deployment of the API that verified it: a provider''s account may notify several';

-- The attester acts upon any row it finds here, so a row it could not act upon is refused when written.
-- KYC signs each decision with a key that the database does not have (the KYC file's intentKey, the
-- attester's attester_intent_key): a login that may insert rows cannot decide who is attested. The attester
-- checks the MAC of each row once, in `genuine`. A row without a valid MAC needs review, supersedes nothing,
-- and does not take the place of the real row of the same decision (index outbox_decided).
CREATE TABLE kyc.outbox (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deployment       smallint    NOT NULL REFERENCES chain.deployment,
    subject          text        NOT NULL,
    session_id       text        NOT NULL REFERENCES kyc.session,
    decision_rev     integer     NOT NULL,
    action           text        NOT NULL CHECK (action IN ('attest', 'revoke')),
    jurisdiction     integer     NOT NULL,
    expires_at       bigint      NOT NULL,
    meta_hash        bytea       NOT NULL CHECK (octet_length(meta_hash) = 32),
    state            text        NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'signed', 'submitted',
                                 'confirmed', 'superseded', 'parked')),
    reason           text,
    seq              bigint,
    envelope         bytea,
    tx_hash          bytea       UNIQUE,
    max_time         bigint,
    submit_ledger    bigint,
    bump_envelope    bytea,
    bump_hash        bytea,
    attempts         integer     NOT NULL DEFAULT 0,
    last_status      text,
    next_try         timestamptz NOT NULL DEFAULT clock_timestamp(),
    confirmed_ledger bigint,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_ledger      bigint,
    bump_fee         bigint,
    bad_seq          integer     NOT NULL DEFAULT 0,
    attention        text,
    attended_at      timestamptz,
    attended_by      text        CHECK (octet_length(attended_by) <= 128),
    mac              bytea,
    genuine          boolean,
    reviewed_at      timestamptz,
    CHECK (state NOT IN ('signed', 'submitted') OR (seq IS NOT NULL AND envelope IS NOT NULL AND tx_hash IS NOT NULL AND max_time IS NOT NULL)),
    CHECK (attention IS NULL OR state = 'confirmed'),
    -- A provider cannot decide an attestation without end or of no country. 253402300799 is the end of the year 9999,
    -- the last time that RFC 3339 can name.
    CONSTRAINT outbox_decision CHECK (decision_rev > 0 AND jurisdiction BETWEEN 0 AND 999
        AND (action = 'revoke' OR jurisdiction > 0)
        AND expires_at BETWEEN (CASE action WHEN 'revoke' THEN 0 ELSE 1 END) AND 253402300799),
    CONSTRAINT outbox_counts CHECK (attempts >= 0 AND bad_seq >= 0
        AND coalesce(max_time, 0) >= 0 AND coalesce(submit_ledger, 0) BETWEEN 0 AND 4294967295
        AND coalesce(sent_ledger, 0) BETWEEN 0 AND 4294967295),
    CONSTRAINT outbox_hashes CHECK (octet_length(tx_hash) = 32 AND octet_length(bump_hash) = 32),
    CONSTRAINT outbox_under_way CHECK (state NOT IN ('signed', 'submitted')
        OR seq > 0 AND octet_length(envelope) > 0 AND max_time > 0),
    CONSTRAINT outbox_confirmed CHECK (state <> 'confirmed' OR (confirmed_ledger IS NOT NULL AND confirmed_ledger > 0)),
    CONSTRAINT outbox_names CHECK (octet_length(subject) <= 128 AND octet_length(coalesce(reason, '')) <= 128
        AND octet_length(to_jsonb(coalesce(last_status, ''))::text) <= 2048),
    CONSTRAINT outbox_mac CHECK (octet_length(mac) = 32)
);
COMMENT ON TABLE kyc.outbox IS 'Intents: what the attester is to put on the chain, each once';
COMMENT ON COLUMN kyc.outbox.reason IS 'Reason why a parked intent needs review (manual_review, contract:N, key_in_use …)';
COMMENT ON COLUMN kyc.outbox.expires_at IS 'Unix seconds, as the contract keeps it';
COMMENT ON COLUMN kyc.outbox.max_time IS 'Ledger time after which the envelope is void';
COMMENT ON COLUMN kyc.outbox.submit_ledger IS 'Newest ledger when it was signed';
COMMENT ON COLUMN kyc.outbox.sent_ledger IS 'Newest ledger when it was last sent; it is sent again only after a newer one';
COMMENT ON COLUMN kyc.outbox.bump_fee IS 'Whole fee of bump_envelope, stroops';
COMMENT ON COLUMN kyc.outbox.bad_seq IS 'Consecutive times that another transaction used the envelope''s sequence number';
COMMENT ON COLUMN kyc.outbox.last_status IS 'Last status: the network''s, or the attester''s (manual_review: what about the person)';
COMMENT ON COLUMN kyc.outbox.attention IS 'Status that a confirmed intent should not have overwritten (suspended, sanctioned …), or unchecked; needs review';
COMMENT ON COLUMN kyc.outbox.attended_at IS 'When a person resolved what attention says';
COMMENT ON COLUMN kyc.outbox.attended_by IS 'attester; or console, a space and the person';
COMMENT ON COLUMN kyc.outbox.reviewed_at IS 'When a person released it after review: what the chain says of before is no contradiction any more';
COMMENT ON COLUMN kyc.outbox.mac IS 'KYC''s HMAC of what was decided (api/base/intent.h)';
COMMENT ON COLUMN kyc.outbox.genuine IS 'Whether the attester found the MAC valid; NULL: not checked yet';

CREATE TABLE kyc.sandbox (
    id         text        NOT NULL PRIMARY KEY,
    ref        text        NOT NULL,
    decision   text        NOT NULL DEFAULT 'pending' CHECK (decision IN ('pending', 'approved', 'declined', 'resubmit', 'expired')),
    country    text        NOT NULL DEFAULT 'CHE',
    reason     text        CHECK (octet_length(reason) <= 32),
    decided_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN kyc.sandbox.reason IS 'Why it was declined, or what is missing, as the developer chose';
COMMENT ON TABLE kyc.sandbox IS 'Decisions of the sandbox provider: buttons that a developer pressed, no person''s identity';

CREATE TABLE kyc.audit (
    id        bigint      NOT NULL PRIMARY KEY,
    at        timestamptz NOT NULL,
    actor     text        NOT NULL,
    what      text        NOT NULL,
    about     text        NOT NULL,
    detail    jsonb       NOT NULL,
    prev_hash bytea       NOT NULL,
    hash      bytea       NOT NULL
);
COMMENT ON TABLE kyc.audit IS 'Audit of actions; hash covers the row and the hash of the row before, so that a change is detectable';
COMMENT ON COLUMN kyc.audit.about IS 'A session''s id, a provider''s key, a transaction''s hash; never a person';
COMMENT ON COLUMN kyc.audit.actor IS 'The database login, a space, and the caller''s text: a part of the program, in the console also a person';

CREATE TABLE kyc.attester (
    deployment   smallint    NOT NULL REFERENCES chain.deployment,
    verifier     text        NOT NULL,
    state        text        NOT NULL CHECK (state IN ('working', 'waiting', 'stopped')),
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ledger       bigint      NOT NULL,
    balance      bigint,
    sent         bigint      NOT NULL DEFAULT 0,
    confirmed    bigint      NOT NULL DEFAULT 0,
    parked       bigint      NOT NULL DEFAULT 0,
    failures     bigint      NOT NULL DEFAULT 0,
    confirmed_at timestamptz,
    failed_at    timestamptz,
    error        text,
    standing     bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, verifier)
) WITH (fillfactor = 50);
COMMENT ON TABLE kyc.attester IS 'Figures that the attester reports about itself, one row per key; written by the holder of the key''s lock';
COMMENT ON COLUMN kyc.attester.verifier IS 'The key''s account, G…';
COMMENT ON COLUMN kyc.attester.state IS 'working; waiting: a server is unreachable; stopped';
COMMENT ON COLUMN kyc.attester.ledger IS 'Newest ledger that a server reported; 0: none did';
COMMENT ON COLUMN kyc.attester.balance IS 'The account''s balance, stroops; NULL: unknown, or no account';
COMMENT ON COLUMN kyc.attester.sent IS 'Envelopes sent, repetitions included; like all counts here, since the row was created';
COMMENT ON COLUMN kyc.attester.failures IS 'Rounds that failed because of a server or the database';
COMMENT ON COLUMN kyc.attester.error IS 'Last failure';
COMMENT ON COLUMN kyc.attester.standing IS 'Confirmed revocations while the index still has the attestation, up to 1000; counted once a minute';

CREATE TABLE kyc.session_key (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    idempotency bytea       NOT NULL,
    session_id  text        NOT NULL REFERENCES kyc.session,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, idempotency)
);
COMMENT ON TABLE kyc.session_key IS 'Further Idempotency-Keys of a session after its first one (kyc.session.idempotency); the newest of each session';
COMMENT ON COLUMN kyc.session_key.idempotency IS 'Hash of the client and its Idempotency-Key';

-- One row per signed envelope. The daily budget counts the bid of an envelope under way, and what the chain
-- charged for one that is over.
CREATE TABLE kyc.attester_fee (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    verifier   text        NOT NULL,
    tx_hash    bytea       NOT NULL PRIMARY KEY CHECK (octet_length(tx_hash) = 32),
    outbox     bigint      NOT NULL REFERENCES kyc.outbox,
    signed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    bid        bigint      NOT NULL CHECK (bid > 0),
    charged    bigint      CHECK (charged >= 0)
);
COMMENT ON TABLE kyc.attester_fee IS 'Highest and real cost of each signed envelope; the attester''s daily budget counts them';
COMMENT ON COLUMN kyc.attester_fee.verifier IS 'The account that pays, G…';
COMMENT ON COLUMN kyc.attester_fee.bid IS 'Most that it may cost, stroops; of its fee bump, if there is one';
COMMENT ON COLUMN kyc.attester_fee.charged IS 'Fee that the chain charged, stroops; 0: it was never included; NULL: not known yet';

-- Only the owner can lock this table, so no other role can delay the audit.
CREATE TABLE kyc.audit_turn ();
COMMENT ON TABLE kyc.audit_turn IS 'Always empty: kyc.note locks it to append rows to kyc.audit one at a time';

-- A MAC stays valid after its row is deleted, and KYC's login could write a saved session and intent again.
-- So the attester accepts no MAC for a session in this table (api/attester/outbox/).
CREATE TABLE kyc.erased (
    session_id text        PRIMARY KEY,
    erased_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE kyc.erased IS 'Sessions that kyc.erase deleted; the attester ignores intents signed for them';

-- Two people of the console order it (kyc.confirm, the only writer). KYC's worker then makes of each row what it
-- makes of a provider's withdrawal: the session's state, the audit's row and a signed intent, in one transaction.
CREATE TABLE kyc.revocation (
    session_id text        PRIMARY KEY REFERENCES kyc.session ON DELETE CASCADE,
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    ordered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at    timestamptz
);
COMMENT ON TABLE kyc.revocation IS 'Sessions whose attestation people ordered to revoke; approvals that a provider gave before wait for review';
COMMENT ON COLUMN kyc.revocation.done_at IS 'When the worker made an intent of it; NULL: not yet';
CREATE INDEX revocation_open ON kyc.revocation (deployment) WHERE done_at IS NULL;

-- Integrators, whose API keys the servers accept. Rows change through the functions below alone: each function raises the
-- revision that servers compare once a second, and writes the actor into the audit. The database never sees a key.
CREATE TABLE kyc.integrator (
    id                text        NOT NULL PRIMARY KEY CHECK (id ~ '^[a-z0-9_-]{1,32}$'),
    name              text        NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 128 AND name !~ '[[:cntrl:]]'),
    origins           text[]      NOT NULL DEFAULT '{}' CHECK (cardinality(origins) <= 16 AND array_position(origins, NULL) IS NULL
                      AND array_to_string(origins, ' ') ~ '^((https://[a-z0-9.-]{1,100}|http://(localhost|127\.0\.0\.1))(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?( |$))*$'),
    brand             jsonb       CHECK (jsonb_typeof(brand) = 'object' AND octet_length(brand::text) <= 1024),
    sessions_per_hour integer     NOT NULL DEFAULT 200 CHECK (sessions_per_hour BETWEEN 1 AND 1000000),
    state             text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE kyc.integrator IS 'Partners with API keys; at most 256';
COMMENT ON COLUMN kyc.integrator.origins IS 'Origins of the integrator''s pages, scheme://host[:port]; they may read answers and frame its sessions';
COMMENT ON COLUMN kyc.integrator.brand IS 'Name, colours and logo of the pages of its sessions; NULL: those of the KYC file';
COMMENT ON COLUMN kyc.integrator.sessions_per_hour IS 'KYC sessions that it may open in an hour';
COMMENT ON COLUMN kyc.integrator.state IS 'suspended: its keys are refused, its rows stay';

CREATE TABLE kyc.integrator_key (
    key_id       text        NOT NULL PRIMARY KEY CHECK (key_id ~ '^tk_[0-9a-z]{12}$'),
    integrator   text        NOT NULL REFERENCES kyc.integrator,
    sha256       bytea       NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
    scopes       text[]      NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 4 AND array_position(scopes, NULL) IS NULL
                 AND scopes <@ ARRAY['kyc', 'snapshot', 'webhooks', 'receipts']),
    rate         integer     CHECK (rate BETWEEN 1 AND 100000),
    burst        integer     CHECK (burst BETWEEN 1 AND 100000),
    networks     cidr[]      NOT NULL DEFAULT '{}' CHECK (cardinality(networks) <= 16 AND array_position(networks, NULL) IS NULL),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by   text        NOT NULL,
    not_before   timestamptz NOT NULL DEFAULT clock_timestamp(),
    ends_at      timestamptz,
    last_used_at date,
    revoked_at   timestamptz,
    CHECK ((rate IS NULL) = (burst IS NULL)),
    CONSTRAINT integrator_key_times CHECK (least(not_before, ends_at, revoked_at) >= '0001-01-01T00:00:00Z'
        AND greatest(not_before, ends_at, revoked_at) < '10001-01-01T00:00:00Z')
);
COMMENT ON TABLE kyc.integrator_key IS 'API keys by their SHA-256. At most 16 of an integrator have not ended, and 1024 of all; the last 64 ended ones of each integrator are kept';
COMMENT ON COLUMN kyc.integrator_key.key_id IS 'First characters of the key, which may be shown and logged';
COMMENT ON COLUMN kyc.integrator_key.scopes IS 'Routes that accept the key';
COMMENT ON COLUMN kyc.integrator_key.rate IS 'Requests a second; NULL: ten times the limits of api_rate_*';
COMMENT ON COLUMN kyc.integrator_key.burst IS 'Requests at once';
COMMENT ON COLUMN kyc.integrator_key.networks IS 'Networks from which the key is accepted; empty: from any';
COMMENT ON COLUMN kyc.integrator_key.created_by IS 'The database login, a space, and the person whom the program names';
COMMENT ON COLUMN kyc.integrator_key.ends_at IS 'Refused from then on; NULL: no end';
COMMENT ON COLUMN kyc.integrator_key.last_used_at IS 'Day (UTC) of its last use; NULL: never used';

CREATE TABLE kyc.integrator_revision (
    single   boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    revision uuid        NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO kyc.integrator_revision DEFAULT VALUES;
COMMENT ON TABLE kyc.integrator_revision IS 'Another value after each change of integrators or keys: servers then read them again';

-- --- indexes ----------------------------------------------------------------------------------------

-- A request repeated while its session is open gets the same session.
CREATE UNIQUE INDEX session_open ON kyc.session (deployment, address, provider, integrator, mode)
    WHERE state IN ('created', 'pending', 'review', 'action_required');

CREATE UNIQUE INDEX session_idempotency ON kyc.session (deployment, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX session_provider_id ON kyc.session (provider, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX session_ref ON kyc.session (provider, ref);
CREATE INDEX session_address ON kyc.session (deployment, address, created_at);
CREATE INDEX session_check ON kyc.session (deployment, provider, next_check) WHERE next_check IS NOT NULL;
CREATE INDEX session_created ON kyc.session (integrator, created_at);
CREATE INDEX session_provider_created ON kyc.session (provider, created_at);
CREATE INDEX session_state ON kyc.session (deployment, state);
CREATE INDEX session_network ON kyc.session (network, created_at) WHERE network IS NOT NULL;
CREATE INDEX session_hosted ON kyc.session (hosted_until) WHERE hosted_url IS NOT NULL;
CREATE INDEX session_key_session ON kyc.session_key (session_id, created_at);
CREATE INDEX challenge_expires ON kyc.challenge (expires_at);

CREATE INDEX inbox_new ON kyc.inbox (deployment, provider, next_try) WHERE state = 'new';
CREATE INDEX inbox_received ON kyc.inbox (received_at);
CREATE INDEX inbox_provider_id ON kyc.inbox (provider, provider_id) WHERE provider_id IS NOT NULL; -- both for kyc.erase
CREATE INDEX inbox_ref ON kyc.inbox (provider, ref) WHERE ref IS NOT NULL;
CREATE INDEX attester_fee_outbox ON kyc.attester_fee (outbox);
CREATE INDEX inbox_waits ON kyc.inbox (deployment, state, received_at) WHERE state IN ('new', 'failed');

CREATE INDEX outbox_open ON kyc.outbox (deployment, next_try) WHERE state IN ('queued', 'signed', 'submitted');
CREATE INDEX outbox_session ON kyc.outbox (session_id, decision_rev);
CREATE INDEX outbox_attention ON kyc.outbox (id) WHERE attention IS NOT NULL AND attended_at IS NULL;
CREATE INDEX outbox_parked ON kyc.outbox (id) WHERE state = 'parked';
CREATE INDEX outbox_revoked ON kyc.outbox (created_at) WHERE action = 'revoke';
CREATE INDEX outbox_unjudged ON kyc.outbox (deployment, id) WHERE genuine IS NULL;
CREATE UNIQUE INDEX outbox_decided ON kyc.outbox (subject, session_id, decision_rev) WHERE genuine IS NOT FALSE;
CREATE INDEX integrator_key_integrator ON kyc.integrator_key (integrator);
CREATE INDEX attester_fee_day ON kyc.attester_fee (deployment, signed_at);

-- --- functions and triggers ---------------------------------------------------------------------------

-- Any login of the server can fill its one queue of notifications, and NOTIFY fails when it is full. The
-- listeners poll too, so a notification may be left out.
CREATE FUNCTION kyc.tell() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_notification_queue_usage() < 0.5 THEN
    PERFORM pg_notify('tidemark_' || TG_TABLE_NAME, '');
  END IF;
  RETURN NULL;
END $$;

-- The names in the bodies of audit_hash and audit_broken are resolved now, not when they run.
CREATE FUNCTION kyc.audit_hash(prev bytea, id bigint, at timestamptz, actor text, what text, about text, detail jsonb)
  RETURNS bytea LANGUAGE sql IMMUTABLE
  RETURN sha256(prev || convert_to(jsonb_build_array(id, extract(epoch FROM at), actor, what, about, detail)::text, 'UTF8'));
COMMENT ON FUNCTION kyc.audit_hash(bytea, bigint, timestamptz, text, text, text, jsonb) IS 'The hash of a row of kyc.audit';

-- SECURITY DEFINER, as are audit_move, revocation_done, the functions of integrators and keys and those of 0006_kyc_console
-- (0007_roles says why their search_path is so). The login
-- is part of the actor and is not the caller's choice. The limits keep one row from filling the disk.
CREATE FUNCTION kyc.note(actor text, what text, about text, detail jsonb)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  last kyc.audit;
  next_id bigint;
  prev bytea;
  now timestamptz;
  full_actor text := session_user::text || ' ' || actor;
BEGIN
  IF octet_length(actor) > 96 OR octet_length(what) > 64 OR octet_length(about) > 128
     OR octet_length(detail::text) > 4096 THEN
    RAISE EXCEPTION 'kyc.note: a row of the audit holds 96 bytes of actor, 64 of what, 128 of about, 4096 of detail'
      USING ERRCODE = 'string_data_right_truncation';
  END IF;
  LOCK TABLE kyc.audit_turn IN EXCLUSIVE MODE;
  SELECT a.* INTO last FROM kyc.audit AS a ORDER BY a.id DESC LIMIT 1;
  next_id := coalesce(last.id, 0) + 1;
  prev := coalesce(last.hash, '\x'::bytea);
  now := clock_timestamp();
  INSERT INTO kyc.audit VALUES (next_id, now, full_actor, what, about, detail, prev,
    kyc.audit_hash(prev, next_id, now, full_actor, what, about, detail));
END $$;
COMMENT ON FUNCTION kyc.note(text, text, text, jsonb) IS 'Appends a row to kyc.audit, the only way to do so; the actor is the login and the caller''s text';

CREATE FUNCTION kyc.audit_broken() RETURNS bigint LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT min(id) FROM (
        SELECT id, id IS DISTINCT FROM row_number() OVER w
                OR prev_hash IS DISTINCT FROM coalesce(lag(hash) OVER w, '\x'::bytea)
                OR hash IS DISTINCT FROM kyc.audit_hash(prev_hash, id, at, actor, what, about, detail) AS broken
        FROM kyc.audit WINDOW w AS (ORDER BY id)) AS rows
    WHERE broken;
END;
COMMENT ON FUNCTION kyc.audit_broken() IS 'The first row of kyc.audit that does not follow from the one before; NULL: none';

CREATE FUNCTION kyc.audit_move() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM kyc.note('outbox',
    CASE WHEN NEW.state <> 'queued' THEN NEW.state WHEN OLD.state = 'parked' THEN 'released' ELSE 'requeued' END,
    NEW.session_id,
    jsonb_strip_nulls(jsonb_build_object('id', NEW.id, 'rev', NEW.decision_rev, 'action', NEW.action, 'from', OLD.state,
      'hash', encode(coalesce(NEW.tx_hash, OLD.tx_hash), 'hex'),
      'seq', CASE WHEN NEW.state = 'signed' THEN NEW.seq END, 'ledger', NEW.confirmed_ledger, 'reason', left(NEW.reason, 200),
      'heard', left(NEW.last_status, 200), 'overwrote', left(NEW.attention, 200), 'genuine', NEW.genuine)));
  IF NEW.attention IS NOT NULL AND OLD.attention IS NULL THEN
    PERFORM kyc.note('outbox', 'attention', NEW.session_id, jsonb_build_object('id', NEW.id, 'rev', NEW.decision_rev,
      'overwrote', left(NEW.attention, 200)));
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION kyc.audit_move() IS 'Records a change of an intent''s state or of the verdict on its MAC in the audit';

-- Holds for every login, the attester's too: an older attestation with a valid MAC cannot be queued again, and
-- a revocation whose MAC was found valid cannot be declared forged.
CREATE FUNCTION kyc.keep_final() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'intent % is over, or its MAC was found valid: that stays as it is', OLD.id USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;
COMMENT ON FUNCTION kyc.keep_final() IS 'Refuses to change the state of a final intent, and to revoke that a MAC is valid';

-- The Kyc entry of an address, by the hash of its key, if it has one of these hashes and that country, and no intent of this database has its hash:
-- the intent that made it is of a time that a restore took back, or of another program. The caller must know hash and country: it learns neither.
CREATE FUNCTION kyc.forgotten_attestation(one_deployment smallint, address text, key bytea, hashes bytea[], country bigint)
  RETURNS TABLE (metadata bytea, expires_at numeric, issued_at numeric)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k.metadata, k.expires_at, k.issued_at FROM state.compliance_registry_kyc AS k
   WHERE k.deployment = one_deployment AND k.key_hash = forgotten_attestation.key AND k.metadata = ANY (hashes) AND k.jurisdiction = country
     AND NOT EXISTS (SELECT FROM kyc.outbox AS o WHERE o.deployment = one_deployment AND o.subject = forgotten_attestation.address
       AND o.genuine IS NOT FALSE AND o.meta_hash = k.metadata);
$$;
COMMENT ON FUNCTION kyc.forgotten_attestation(smallint, text, bytea, bytea[], bigint) IS 'The attestation of an address on the chain, if no intent of this database sent it';

-- Run by the owner of the tables after a restore: what the database believes of people is asked of their providers again, open sessions at
-- once and approvals four a second, so that new sessions do not wait behind them.
CREATE PROCEDURE kyc.restored() LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  checks bigint;
BEGIN
  UPDATE kyc.session AS s SET next_check = least(s.next_check, clock_timestamp() + n.turn * interval '250 ms')
    FROM (SELECT a.id, row_number() OVER (PARTITION BY a.provider ORDER BY a.updated_at DESC) * (a.state = 'approved')::integer AS turn
      FROM kyc.session AS a WHERE a.state = 'approved' OR a.state IN ('created', 'pending', 'review', 'action_required') AND a.provider_id IS NOT NULL) AS n
    WHERE n.id = s.id;
  GET DIAGNOSTICS checks = ROW_COUNT;
  PERFORM kyc.note('operator', 'restored', 'database', jsonb_build_object('checks', checks));
END $$;
COMMENT ON PROCEDURE kyc.restored() IS 'Has every open and approved session checked at its provider; the audit has a row of it';

-- The audit keeps its rows, which name sessions and never an address, and gets one row for each session. An
-- attestation stays on the chain until its end. The lock's key is the session's reference, a keyed hash of the
-- address: every login can read pg_locks.
CREATE PROCEDURE kyc.erase(who text, although_approved boolean DEFAULT false)
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  ids text[];
  one kyc.session;
BEGIN
  PERFORM pg_advisory_xact_lock(7021, 51); -- the lock of new sessions: none is added meanwhile
  PERFORM pg_advisory_xact_lock(7024, hashtext(s.deployment || s.ref))
    FROM (SELECT DISTINCT deployment, ref FROM kyc.session WHERE address = who) AS s;
  SELECT array_agg(id) INTO ids FROM (SELECT id FROM kyc.session WHERE address = who FOR UPDATE) AS s;
  IF ids IS NULL THEN
    RAISE EXCEPTION 'nothing is kept of this address' USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM FROM kyc.outbox AS o WHERE o.session_id = ANY (ids) ORDER BY o.id FOR UPDATE; -- none is queued meanwhile
  IF EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = ANY (ids) AND o.state IN ('queued', 'signed', 'submitted')) THEN
    RAISE EXCEPTION 'an intent of this address is on its way to the chain'
      USING ERRCODE = 'object_in_use', HINT = 'wait until tidemark-attester status has none that is open';
  END IF;
  IF NOT although_approved AND EXISTS (SELECT FROM kyc.session AS s WHERE s.id = ANY (ids) AND s.state = 'approved'
      AND s.attested_until > clock_timestamp()) THEN
    RAISE EXCEPTION 'an approval of this address stands, and could not be withdrawn any more'
      USING ERRCODE = 'object_in_use', HINT = 'have it revoked first, or accept that its attestation stays until its end';
  END IF;
  IF EXISTS (SELECT FROM kyc.revocation AS r WHERE r.session_id = ANY (ids) AND r.done_at IS NULL) THEN
    RAISE EXCEPTION 'a revocation of this address was ordered and is not queued yet'
      USING ERRCODE = 'object_in_use', HINT = 'wait until tidemark-api has queued it';
  END IF;
  -- A parked revocation that is not known to be forged: nothing else would take the attestation back.
  IF NOT although_approved AND EXISTS (SELECT FROM kyc.outbox AS o JOIN kyc.session AS s ON s.id = o.session_id
      WHERE o.session_id = ANY (ids) AND o.state = 'parked' AND o.action = 'revoke' AND o.genuine IS NOT FALSE
        AND s.attested_until > clock_timestamp()) THEN
    RAISE EXCEPTION 'a revocation of this address needs review, and could not be sent any more'
      USING ERRCODE = 'object_in_use', HINT = 'requeue it first, or accept that its attestation stays until its end';
  END IF;
  FOR one IN SELECT s.* FROM kyc.session AS s WHERE s.id = ANY (ids) LOOP
    DELETE FROM kyc.inbox AS i WHERE i.provider = one.provider AND (i.provider_id = one.provider_id OR i.ref = one.ref);
    DELETE FROM kyc.sandbox AS b WHERE b.id = one.provider_id OR b.ref = one.ref;
  END LOOP;
  DELETE FROM kyc.attester_fee AS f USING kyc.outbox AS o WHERE f.outbox = o.id AND o.session_id = ANY (ids);
  DELETE FROM kyc.session_key WHERE session_id = ANY (ids);
  DELETE FROM kyc.outbox WHERE session_id = ANY (ids);
  DELETE FROM kyc.hook_event AS e WHERE e.subject = who AND e.kind = 'kyc.session.updated';
  -- The audit comes last: any login that notes something waits for its lock.
  FOR one IN DELETE FROM kyc.session AS s WHERE s.id = ANY (ids) RETURNING s.* LOOP
    PERFORM kyc.note('operator', 'erased', one.id, jsonb_build_object('provider', one.provider, 'state', one.state));
  END LOOP;
  -- A login may have written the session again after an earlier deletion.
  INSERT INTO kyc.erased (session_id) SELECT unnest(ids) ON CONFLICT DO NOTHING;
END $$;
COMMENT ON PROCEDURE kyc.erase(text, boolean) IS 'deletes what is kept of the sessions of an address; the audit has a row of it';

CREATE FUNCTION kyc.revocation_done(session text) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE kyc.revocation AS r SET done_at = clock_timestamp() WHERE r.session_id = revocation_done.session AND r.done_at IS NULL;
$$;
COMMENT ON FUNCTION kyc.revocation_done(text) IS 'Ends an order: KYC''s login cannot make or repeat one';

-- Integrators and keys. who: the person or program that the caller speaks for, behind the login in the audit.
-- The update of the one row of integrator_revision makes concurrent changes wait for each other, so that
-- counts hold.
CREATE FUNCTION kyc.integrators_change(who text, what text, about text, detail jsonb) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE kyc.integrator_revision SET revision = gen_random_uuid();
  PERFORM kyc.note(who, what, about, detail);
END $$;
COMMENT ON FUNCTION kyc.integrators_change(text, text, text, jsonb) IS 'Bumps the revision and notes the change; part of the functions below';

CREATE FUNCTION kyc.integrator_put(who text, id text, name text, origins text[], brand jsonb, sessions_per_hour integer, state text)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM kyc.integrators_change(who, 'integrator_put', id, jsonb_build_object('name', name, 'origins', origins,
    'branded', brand IS NOT NULL, 'sessionsPerHour', sessions_per_hour, 'state', state));
  INSERT INTO kyc.integrator AS i VALUES (id, name, origins, brand, sessions_per_hour, state)
    ON CONFLICT ON CONSTRAINT integrator_pkey DO UPDATE SET name = excluded.name, origins = excluded.origins,
      brand = excluded.brand, sessions_per_hour = excluded.sessions_per_hour, state = excluded.state, updated_at = clock_timestamp();
  IF (SELECT count(*) FROM kyc.integrator) > 256 THEN
    RAISE EXCEPTION 'there are 256 integrators' USING ERRCODE = 'program_limit_exceeded';
  END IF;
END $$;
COMMENT ON FUNCTION kyc.integrator_put(text, text, text, text[], jsonb, integer, text) IS 'Adds an integrator or changes all of it';

CREATE FUNCTION kyc.key_add(who text, key_id text, integrator text, sha256 bytea, scopes text[], rate integer, burst integer,
    networks cidr[], not_before timestamptz, ends_at timestamptz)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM kyc.integrators_change(who, 'key_add', key_id, jsonb_build_object('integrator', integrator, 'scopes', scopes, 'rate', rate,
    'burst', burst, 'networks', networks, 'notBefore', not_before, 'endsAt', ends_at));
  INSERT INTO kyc.integrator_key AS k (key_id, integrator, sha256, scopes, rate, burst, networks, created_by, not_before, ends_at)
    VALUES (key_id, integrator, sha256, scopes, rate, burst, networks, session_user::text || ' ' || who,
      coalesce(not_before, clock_timestamp()), ends_at);
  -- Ended keys do not count.
  IF (SELECT count(*) FROM kyc.integrator_key AS k WHERE k.integrator = integrator AND k.revoked_at IS NULL
        AND (k.ends_at IS NULL OR k.ends_at > clock_timestamp())) > 16
     OR (SELECT count(*) FROM kyc.integrator_key AS k WHERE k.revoked_at IS NULL
        AND (k.ends_at IS NULL OR k.ends_at > clock_timestamp())) > 1024 THEN
    RAISE EXCEPTION 'an integrator has 16 keys at most, all have 1024' USING ERRCODE = 'program_limit_exceeded';
  END IF;
  -- The audit has them all.
  DELETE FROM kyc.integrator_key AS k WHERE k.key_id IN (SELECT e.key_id FROM kyc.integrator_key AS e
    WHERE e.integrator = integrator AND least(e.revoked_at, e.ends_at) <= clock_timestamp()
    ORDER BY least(e.revoked_at, e.ends_at) DESC OFFSET 64);
END $$;
COMMENT ON FUNCTION kyc.key_add(text, text, text, bytea, text[], integer, integer, cidr[], timestamptz, timestamptz)
  IS 'Adds a key of which the caller keeps nothing but the SHA-256';

-- A key's end is never moved to a later time, and a revoked key never becomes valid again.
CREATE FUNCTION kyc.key_end(who text, key_id text, at timestamptz)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM kyc.integrators_change(who, 'key_end', key_id, jsonb_build_object('endsAt', at));
  UPDATE kyc.integrator_key AS k SET ends_at = least(k.ends_at, at) WHERE k.key_id = key_id AND k.revoked_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no such key, or it is revoked' USING ERRCODE = 'no_data_found';
  END IF;
END $$;
COMMENT ON FUNCTION kyc.key_end(text, text, timestamptz) IS 'Lets a key end at that time';

CREATE FUNCTION kyc.key_rotate(who text, key_id text, new_key_id text, sha256 bytea, overlap interval)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  old kyc.integrator_key;
BEGIN
  SELECT k.* INTO old FROM kyc.integrator_key AS k WHERE k.key_id = key_id;
  IF old.ends_at <= clock_timestamp() THEN
    RAISE EXCEPTION 'there is no such key, or it has ended' USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM kyc.key_end(who, key_id, clock_timestamp() + overlap);
  PERFORM kyc.key_add(who, new_key_id, old.integrator, sha256, old.scopes, old.rate, old.burst, old.networks, NULL, old.ends_at);
END $$;
COMMENT ON FUNCTION kyc.key_rotate(text, text, text, bytea, interval) IS 'Adds a key like that one, which ends after the overlap; a key with an end has a successor with that end';

CREATE FUNCTION kyc.key_revoke(who text, key_id text)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM kyc.integrators_change(who, 'key_revoke', key_id, '{}');
  UPDATE kyc.integrator_key AS k SET revoked_at = coalesce(k.revoked_at, clock_timestamp()) WHERE k.key_id = key_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no such key' USING ERRCODE = 'no_data_found';
  END IF;
END $$;
COMMENT ON FUNCTION kyc.key_revoke(text, text) IS 'Revokes a key: servers refuse it within two seconds';

-- The only thing that servers write of keys; a day says whether a key is still needed, and nothing of its use.
CREATE FUNCTION kyc.key_used(key_ids text[])
  RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE kyc.integrator_key AS k SET last_used_at = (clock_timestamp() AT TIME ZONE 'UTC')::date
   WHERE k.key_id = ANY (key_used.key_ids) AND k.last_used_at IS DISTINCT FROM (clock_timestamp() AT TIME ZONE 'UTC')::date;
$$;
COMMENT ON FUNCTION kyc.key_used(text[]) IS 'Notes that these keys were used today';

CREATE TRIGGER tell AFTER INSERT ON kyc.inbox FOR EACH STATEMENT EXECUTE FUNCTION kyc.tell();
CREATE TRIGGER tell AFTER INSERT ON kyc.outbox FOR EACH STATEMENT EXECUTE FUNCTION kyc.tell();
CREATE TRIGGER audit_move AFTER UPDATE ON kyc.outbox FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.genuine AND NEW.genuine IS NOT TRUE OR OLD.genuine IS FALSE AND NEW.genuine)
  EXECUTE FUNCTION kyc.audit_move();
CREATE TRIGGER keep_final BEFORE UPDATE ON kyc.outbox FOR EACH ROW
  WHEN (OLD.state IN ('confirmed', 'superseded') AND NEW.state <> OLD.state OR OLD.genuine AND NEW.genuine IS NOT TRUE)
  EXECUTE FUNCTION kyc.keep_final();

-- --- notifications to partners ------------------------------------------------------------------------
--
--   hook           endpoints of integrators; their secrets are derived from the KYC file, not stored
--   hook_watch     addresses whose compliance an endpoint wants to know, and what it was last told
--   hook_event     what happened, as it is sent
--   hook_delivery  an event for an endpoint: the queue, and the log
--   hook_use       how much of a limit for one day is used
--   hook_slow      integrators and hosts that held a sender for long
--   hook_seen      last known state of prices, markets and proposals
--   hook_cursor    up to which ledger one node has compared all that
--
-- Deliveries of one subject (an address, an asset, a market, a proposal) to one endpoint form a queue: they are
-- sent in order, and a sender can take only the first one, the head. Any node takes heads.
--
-- Locks, always in this order: the row of kyc.hook, then that of kyc.hook_use, then rows of kyc.hook_slow (the integrator's before the host's),
-- then deliveries, then watched addresses in the order of their text.
-- Heads change only under the lock of the endpoint's row. A transaction that adds a delivery (a decision of KYC) takes no such lock:
-- it inserts the row without a place in its queue, and a sender gives it one.

CREATE TABLE kyc.hook (
    id             text        NOT NULL PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
    deployment     smallint    NOT NULL REFERENCES chain.deployment,
    integrator     text        NOT NULL CHECK (octet_length(integrator) BETWEEN 1 AND 128),
    url            text        NOT NULL CHECK (octet_length(url) BETWEEN 8 AND 1024),
    events         text[]      NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 7 AND events <@ ARRAY['kyc.session.updated',
                               'compliance.updated', 'price.stale', 'price.fresh', 'market.listed', 'proposal.queued', 'proposal.executed']),
    revision       integer     NOT NULL DEFAULT 1 CHECK (revision BETWEEN 1 AND 1000000),
    previous_until timestamptz,
    state          text        NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'disabled', 'deleted')),
    reason         text        CHECK (reason IN ('integrator', 'operator', 'failed', 'gone', 'queue_full')),
    failures       integer     NOT NULL DEFAULT 0 CHECK (failures >= 0),
    proven         boolean     NOT NULL DEFAULT false,
    paused_until   timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX hook_integrator ON kyc.hook (deployment, integrator);
COMMENT ON TABLE kyc.hook IS 'Endpoints that integrators registered for notifications';
COMMENT ON COLUMN kyc.hook.state IS 'deleted: no route shows it; its log is removed bit by bit, then the row';
COMMENT ON COLUMN kyc.hook.revision IS 'Revision of the endpoint''s secret, which follows from the KYC file''s webhookKey, the id and this number';
COMMENT ON COLUMN kyc.hook.previous_until IS 'Until then notifications are signed with the secret of the revision before, too';
COMMENT ON COLUMN kyc.hook.failures IS 'Attempts in a row that got no answer, or 429 or 503; 1 after an answer that took more than 3 s';
COMMENT ON COLUMN kyc.hook.proven IS 'True if the endpoint took its last notification in time at its present URL; false: only a share of the senders serves it';
COMMENT ON COLUMN kyc.hook.paused_until IS 'Nothing is sent to it before';

CREATE TABLE kyc.hook_watch (
    hook       text        NOT NULL REFERENCES kyc.hook ON DELETE CASCADE,
    address    text        NOT NULL CHECK (octet_length(address) = 56),
    deployment smallint    NOT NULL,
    told       text        CHECK (octet_length(told) <= 256),
    due_at     timestamptz DEFAULT '-infinity',
    added_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (hook, address)
);
CREATE INDEX hook_watch_address ON kyc.hook_watch (deployment, address);
CREATE INDEX hook_watch_due ON kyc.hook_watch (hook, due_at) WHERE due_at IS NOT NULL;
COMMENT ON TABLE kyc.hook_watch IS 'Addresses that an endpoint watches';
COMMENT ON COLUMN kyc.hook_watch.told IS 'The answer that it was last told; NULL: none yet';
COMMENT ON COLUMN kyc.hook_watch.added_at IS 'When it was added: of an address that is removed and added again everything is news';
COMMENT ON COLUMN kyc.hook_watch.due_at IS 'When the answer is compared again: -infinity (at once, whatever the clock says) after a change, the end of an attestation; NULL: not planned';

CREATE TABLE kyc.hook_event (
    id         text        NOT NULL PRIMARY KEY,
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    kind       text        NOT NULL CHECK (octet_length(kind) <= 64),
    subject    text        NOT NULL CHECK (octet_length(subject) <= 128),
    payload    text        NOT NULL CHECK (octet_length(payload) <= 16384),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX hook_event_created ON kyc.hook_event (created_at);
CREATE INDEX hook_event_subject ON kyc.hook_event (subject);
COMMENT ON TABLE kyc.hook_event IS 'Notifications: the same body for every endpoint and every attempt';
COMMENT ON COLUMN kyc.hook_event.id IS 'webhook-id: the same however often it is sent, and after a restore (kyc.hook_event_id)';

CREATE TABLE kyc.hook_delivery (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deployment   smallint    NOT NULL,
    hook         text        NOT NULL REFERENCES kyc.hook ON DELETE CASCADE,
    event        text        NOT NULL REFERENCES kyc.hook_event ON DELETE CASCADE,
    subject      text        NOT NULL,
    state        text        NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'delivered')),
    head         boolean,
    attempts     integer     NOT NULL DEFAULT 0,
    first_try    timestamptz,
    next_try     timestamptz NOT NULL DEFAULT clock_timestamp(),
    leased_until timestamptz,
    share        smallint    CHECK (share BETWEEN 1 AND 3),
    last_status  integer,
    last_error   text        CHECK (octet_length(last_error) <= 200),
    tries        jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_array_length(tries) <= 50),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at      timestamptz
);
CREATE INDEX hook_delivery_head ON kyc.hook_delivery (hook, next_try) WHERE head AND state = 'queued';
CREATE INDEX hook_delivery_new ON kyc.hook_delivery (hook, id) WHERE head IS NULL;
CREATE INDEX hook_delivery_lane ON kyc.hook_delivery (hook, subject, id) WHERE state = 'queued';
CREATE INDEX hook_delivery_leased ON kyc.hook_delivery (hook, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX hook_delivery_log ON kyc.hook_delivery (hook, id);
CREATE INDEX hook_delivery_event ON kyc.hook_delivery (event);
COMMENT ON TABLE kyc.hook_delivery IS 'Deliveries: those that wait, and those of the last 30 days';
COMMENT ON COLUMN kyc.hook_delivery.head IS 'The first of those that wait for its endpoint and subject; NULL: a sender has not placed it yet';
COMMENT ON COLUMN kyc.hook_delivery.leased_until IS 'A node sends it; if that node dies, another one takes it then';
COMMENT ON COLUMN kyc.hook_delivery.share IS 'Share of the sender that took the delivery last, see kyc.hook_claim';
COMMENT ON COLUMN kyc.hook_delivery.last_status IS 'HTTP status of the last attempt; NULL: there was no answer';
COMMENT ON COLUMN kyc.hook_delivery.tries IS 'The last 50 attempts that were noted: endedAt, status, error';

CREATE TABLE kyc.hook_seen (
    deployment smallint NOT NULL REFERENCES chain.deployment,
    kind       text     NOT NULL,
    subject    text     NOT NULL CHECK (octet_length(subject) <= 128),
    state      text     NOT NULL CHECK (octet_length(state) <= 64),
    cause      text     NOT NULL DEFAULT '' CHECK (octet_length(cause) <= 64),
    PRIMARY KEY (deployment, kind, subject)
);
COMMENT ON TABLE kyc.hook_seen IS 'Last known state of prices, markets and proposals';
COMMENT ON COLUMN kyc.hook_seen.cause IS 'Cause of the state on the chain: time of the last price, ledger and place of a proposal''s version; empty: nothing but the state before';

CREATE TABLE kyc.hook_cursor (
    deployment smallint NOT NULL PRIMARY KEY REFERENCES chain.deployment,
    ledger     bigint   NOT NULL
);
COMMENT ON TABLE kyc.hook_cursor IS 'Up to which ledger changes were compared for notifications; no row: never, and what is there already is no news';

CREATE TABLE kyc.hook_use (
    what text    NOT NULL PRIMARY KEY CHECK (octet_length(what) BETWEEN 1 AND 160),
    day  date    NOT NULL,
    used integer NOT NULL CHECK (used > 0)
) WITH (fillfactor = 50);
CREATE TABLE kyc.hook_slow (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    what       text        NOT NULL CHECK (octet_length(what) <= 320),
    marks      integer     NOT NULL DEFAULT 1 CHECK (marks BETWEEN 1 AND 7),
    slow_until timestamptz NOT NULL,
    PRIMARY KEY (deployment, what)
);
COMMENT ON TABLE kyc.hook_slow IS 'Integrators and hosts that held a sender for more than 3 s; rows are kept for a day';
COMMENT ON COLUMN kyc.hook_slow.what IS 'integrator INTEGRATOR, or host HOST';
COMMENT ON COLUMN kyc.hook_slow.marks IS 'How often within a day, at most 7';
COMMENT ON COLUMN kyc.hook_slow.slow_until IS 'Time until which the integrator or host counts as slow: a minute after the first time, twice as long after each further one, an hour at most';

COMMENT ON TABLE kyc.hook_use IS 'Used part of the limits of one day; no row, or a row of another day: nothing is used';
COMMENT ON COLUMN kyc.hook_use.what IS 'changes of INTEGRATOR: they are noted in the audit, which keeps its rows for ever; sends of ENDPOINT: its tests and replays';

CREATE TRIGGER tell AFTER INSERT ON kyc.hook_delivery FOR EACH STATEMENT EXECUTE FUNCTION kyc.tell();

CREATE FUNCTION kyc.hook_enqueue(one_hook text, one_deployment smallint, one_event text, one_subject text)
  RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made bigint;
BEGIN
  INSERT INTO kyc.hook_delivery (deployment, hook, event, subject) VALUES (one_deployment, one_hook, one_event, one_subject) RETURNING id INTO made;
  RETURN made;
END $$;
COMMENT ON FUNCTION kyc.hook_enqueue(text, smallint, text, text) IS 'Adds a delivery at the end of its queue. It never waits';

-- A notification's id follows from the fact that it tells: a database that was restored finds the facts of the lost time again, at the chain
-- and at the providers, and the receivers know them by their ids. So nothing counts that a restored database may number or time otherwise. n tells
-- apart what is the same by all that is known of it: earlier notifications of this database have the smaller ones.
CREATE FUNCTION kyc.hook_event_id(one_deployment smallint, fact text[], n integer) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'evt_' || left(encode(sha256(convert_to(to_jsonb(ARRAY[encode(d.network_id, 'hex'), d.epoch::text, encode(d.contracts_hash, 'hex')]
      || fact || n::text)::text, 'UTF8')), 'hex'), 32)
    FROM chain.deployment AS d WHERE d.id = one_deployment;
$$;
COMMENT ON FUNCTION kyc.hook_event_id(smallint, text[], integer) IS 'Id of the notification of a fact: the same in every database that knows the fact';

-- integrator, hook: only their endpoints get the notification; NULL: all endpoints that want this kind. An endpoint that is being
-- deleted is skipped: the caller (a decision of KYC) must neither wait for the deletion nor fail because the row is gone.
-- cause: tells the fact from others of its kind about its subject (kyc.hook_event_id).
CREATE FUNCTION kyc.hook_emit(one_deployment smallint, one_kind text, one_subject text, cause text[], data json, of_integrator text, of_hook text)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  target text;
  made text;
  n integer := 0;
BEGIN
  FOR target IN SELECT h.id FROM kyc.hook AS h
    WHERE h.deployment = one_deployment AND h.state = 'enabled' AND h.integrator = coalesce(of_integrator, h.integrator)
      AND h.id = coalesce(of_hook, h.id) AND (one_kind = ANY (h.events) OR one_kind IN ('webhook.test', 'webhook.disabled'))
    ORDER BY h.id FOR KEY SHARE SKIP LOCKED LOOP
    WHILE made IS NULL LOOP
      INSERT INTO kyc.hook_event (id, deployment, kind, subject, payload)
        VALUES (kyc.hook_event_id(one_deployment, ARRAY[one_kind, one_subject, coalesce(of_hook, '')] || cause, n), one_deployment, one_kind, one_subject,
          json_build_object('type', one_kind, 'timestamp', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'data', data)::text)
        ON CONFLICT (id) DO NOTHING RETURNING id INTO made;
      n := n + 1;
    END LOOP;
    PERFORM kyc.hook_enqueue(target, one_deployment, made, one_subject);
  END LOOP;
END $$;
COMMENT ON FUNCTION kyc.hook_emit(smallint, text, text, text[], json, text, text) IS 'Notifies the endpoints that want it, in the transaction of what happened';

-- A session's new state has a cause: the provider's decision by its time; the end of what the known decision allowed; else the known
-- decision and the number of changes since, as of a provider that gives no times.
CREATE FUNCTION kyc.hook_session_cause(before kyc.session, after kyc.session) RETURNS text[] LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN after.decision_at IS DISTINCT FROM before.decision_at AND after.decision_at IS NOT NULL THEN ARRAY['decided', known.at]
      WHEN after.decision_at IS NOT NULL AND after.reason IN ('attestation_ended', 'session_ended', 'not_used') THEN ARRAY[after.reason, known.at]
      ELSE ARRAY['told', known.at, after.decision_rev::text] END
    FROM (SELECT coalesce(round(extract(epoch FROM after.decision_at) * 1000)::bigint::text, '')) AS known (at);
$$;
COMMENT ON FUNCTION kyc.hook_session_cause(kyc.session, kyc.session) IS 'Tells this change of a session from its others, the same after a restore';

-- Clients see a session in review as pending.
CREATE FUNCTION kyc.hook_session() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was text := CASE OLD.state WHEN 'review' THEN 'pending' ELSE OLD.state END;
  now text := CASE NEW.state WHEN 'review' THEN 'pending' ELSE NEW.state END;
BEGIN
  IF NEW.integrator <> '' AND was <> now THEN
    PERFORM kyc.hook_emit(NEW.deployment, 'kyc.session.updated', NEW.address, ARRAY[NEW.id, now] || kyc.hook_session_cause(OLD, NEW), json_build_object('sessionId', NEW.id,
      'address', NEW.address, 'providerKey', NEW.provider, 'state', now, 'previousState', was), NEW.integrator, NULL);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION kyc.hook_session() IS 'Notifies the integrator of a session of its new state';
CREATE TRIGGER hook_session AFTER UPDATE ON kyc.session FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION kyc.hook_session();

-- A state that was not known before is news only if fresh_counts. A state without a cause of its own ends the state before, and has its
-- cause: a fresh price that of the stale one, because a later price may be the first that is seen after a restore.
CREATE FUNCTION kyc.hook_saw(one_deployment smallint, of_kind text, one_subject text, now_state text, now_cause text, event text, data json,
    fresh_counts boolean)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was kyc.hook_seen;
BEGIN
  SELECT s.* INTO was FROM kyc.hook_seen AS s
    WHERE (s.deployment, s.kind, s.subject) = (one_deployment, of_kind, one_subject) FOR UPDATE;
  IF (was.state, was.cause) IS NOT DISTINCT FROM (now_state, now_cause) THEN
    RETURN;
  END IF;
  INSERT INTO kyc.hook_seen AS s VALUES (one_deployment, of_kind, one_subject, now_state, now_cause)
    ON CONFLICT (deployment, kind, subject) DO UPDATE SET state = excluded.state, cause = excluded.cause;
  IF event IS NOT NULL AND was.state IS DISTINCT FROM now_state AND (was.state IS NOT NULL OR fresh_counts) THEN
    PERFORM kyc.hook_emit(one_deployment, event, of_kind || ':' || one_subject, ARRAY[coalesce(nullif(now_cause, ''), was.cause, '')], data, NULL, NULL);
  END IF;
END $$;
COMMENT ON FUNCTION kyc.hook_saw(smallint, text, text, text, text, text, json, boolean) IS 'Notes a state and its cause, and notifies if it is another state';

-- The ledger, transaction and place of the change since which an address's standing is what it is, or NULL. The hashes are of the keys of its
-- record, of its freeze and of its jurisdiction's block. Later changes that leave the standing as it is do not count, so that it does not matter which
-- of them was seen. The caller learns nothing of the record: a jurisdiction is private.
CREATE FUNCTION kyc.hook_since(one_deployment smallint, at_ledger integer, record bytea, frozen bytea, blocked bytea, reason text) RETURNS text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT concat_ws('.', b.ledger, b.tx, b.seq)
  FROM (SELECT v.*, lag(v.says) OVER (PARTITION BY v.part ORDER BY v.ledger, v.tx, v.seq) IS DISTINCT FROM v.says AS begins
    FROM (SELECT 'record' AS part, r.ledger, r.tx, r.seq, CASE WHEN r.removed THEN '' WHEN r.status = 2 THEN concat_ws(' ', r.expires_at, r.jurisdiction)
          ELSE 'status ' || r.status END AS says
        FROM history.compliance_registry_compliance_rec AS r WHERE r.deployment = one_deployment AND r.key_hash = record AND r.ledger <= at_ledger
      UNION ALL SELECT 'frozen', f.ledger, f.tx, f.seq, f.removed::text FROM history.compliance_registry_frozen AS f
        WHERE f.deployment = one_deployment AND f.key_hash = frozen AND f.ledger <= at_ledger
      UNION ALL SELECT 'blocked', j.ledger, j.tx, j.seq, j.removed::text FROM history.compliance_registry_blocked_jurisdiction AS j
        WHERE j.deployment = one_deployment AND j.key_hash = blocked AND j.ledger <= at_ledger) AS v) AS b
  WHERE b.begins AND (b.part = 'frozen' OR reason <> 'frozen' AND (b.part = 'record' OR reason IN ('compliant', 'jurisdiction')))
  ORDER BY b.ledger DESC, b.tx DESC, b.seq DESC LIMIT 1;
$$;
COMMENT ON FUNCTION kyc.hook_since(smallint, integer, bytea, bytea, bytea, text) IS 'Since which change of the chain an address has its standing';

CREATE FUNCTION kyc.hook_disable(one_hook text, why text)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was kyc.hook;
BEGIN
  SELECT h.* INTO was FROM kyc.hook AS h WHERE h.id = one_hook AND h.state = 'enabled' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  UPDATE kyc.hook AS h SET state = 'disabled', reason = why, updated_at = clock_timestamp() WHERE h.id = one_hook;
  PERFORM FROM kyc.hook_watch AS w WHERE w.hook = one_hook ORDER BY w.address FOR UPDATE;
  UPDATE kyc.hook_watch AS w SET due_at = NULL WHERE w.hook = one_hook;
  -- An endpoint that was enabled once is disabled once.
  PERFORM kyc.hook_emit(was.deployment, 'webhook.disabled', 'webhook:' || one_hook, ARRAY[extract(epoch FROM was.updated_at)::text, why],
    json_build_object('webhookId', one_hook, 'url', was.url, 'reason', why), was.integrator, NULL);
  PERFORM kyc.note('notify', 'hook_disabled', one_hook, jsonb_build_object('integrator', was.integrator, 'reason', why));
END $$;
COMMENT ON FUNCTION kyc.hook_disable(text, text) IS 'Disables an endpoint and tells the other endpoints of its integrator';

-- Places the new deliveries of some endpoints, chosen by chance, so that an endpoint with a locked row or with thousands of
-- new deliveries delays no other.
CREATE FUNCTION kyc.hook_place(one_deployment smallint) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT h.id FROM kyc.hook AS h WHERE h.deployment = one_deployment
      AND EXISTS (SELECT FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.head IS NULL)
    ORDER BY random() LIMIT 8 FOR NO KEY UPDATE SKIP LOCKED LOOP
    UPDATE kyc.hook_delivery AS d SET head = n.turn = 1 AND NOT EXISTS (SELECT FROM kyc.hook_delivery AS o
        WHERE o.hook = one AND o.subject = n.subject AND o.state = 'queued' AND o.head IS NOT NULL)
      FROM (SELECT f.id, f.subject, row_number() OVER (PARTITION BY f.subject ORDER BY f.id) AS turn
        FROM (SELECT a.id, a.subject FROM kyc.hook_delivery AS a WHERE a.hook = one AND a.head IS NULL ORDER BY a.id LIMIT 128) AS f) AS n
      WHERE d.id = n.id AND d.head IS NULL;
  END LOOP;
END $$;
COMMENT ON FUNCTION kyc.hook_place(smallint) IS 'Places new deliveries: the first one of a queue becomes its head';

-- The function is in PL/pgSQL, which caches its plans, because each claim calls it.
CREATE FUNCTION kyc.hook_host(url text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT left(lower(coalesce(substring(url FROM '^[A-Za-z]+://(\[[^]]*\]|[^/:?#]*)'), '')), 253);
$$;
COMMENT ON FUNCTION kyc.hook_host(text) IS 'The host of a URL';

CREATE FUNCTION kyc.hook_is_slow(one_deployment smallint, one text) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM kyc.hook_slow AS s WHERE s.deployment = one_deployment AND s.what = one AND s.slow_until > statement_timestamp());
$$;
COMMENT ON FUNCTION kyc.hook_is_slow(smallint, text) IS 'Whether an integrator or a host counts as slow';

CREATE FUNCTION kyc.hook_mark_slow(one_deployment smallint, one text) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO kyc.hook_slow AS s (deployment, what, slow_until) VALUES (one_deployment, one, clock_timestamp() + interval '1 minute')
    ON CONFLICT (deployment, what) DO UPDATE SET marks = least(s.marks + 1, 7),
      slow_until = clock_timestamp() + least(interval '1 hour', interval '1 minute' * 2 ^ s.marks);
$$;
COMMENT ON FUNCTION kyc.hook_mark_slow(smallint, text) IS 'Notes that it held a sender for long';

CREATE FUNCTION kyc.hook_room(one_hook text, one_deployment smallint, of_integrator text, of_share integer) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT count(*) FROM kyc.hook_delivery AS b WHERE b.hook = one_hook AND b.leased_until > statement_timestamp()) < 2
    AND (SELECT count(*) FROM kyc.hook AS o JOIN kyc.hook_delivery AS b ON b.hook = o.id WHERE o.deployment = one_deployment
         AND o.integrator = of_integrator AND b.leased_until > statement_timestamp()) < 4
    AND ((SELECT h.proven FROM kyc.hook AS h WHERE h.id = one_hook) OR NOT EXISTS (SELECT FROM kyc.hook AS o
         JOIN kyc.hook_delivery AS b ON b.hook = o.id WHERE o.deployment = one_deployment AND o.integrator = of_integrator
         AND NOT o.proven AND b.leased_until > statement_timestamp()))
    AND (of_share < 3 OR NOT EXISTS (SELECT FROM kyc.hook AS o JOIN kyc.hook_delivery AS b ON b.hook = o.id
         WHERE o.deployment = one_deployment AND o.integrator = of_integrator AND b.share = 3 AND b.leased_until > statement_timestamp()))
    AND (of_share < 3 OR NOT kyc.hook_is_slow(one_deployment, 'integrator ' || of_integrator) OR (SELECT count(*) FROM kyc.hook_delivery AS b
         JOIN kyc.hook AS o ON o.id = b.hook WHERE o.deployment = one_deployment AND b.share = 3 AND b.leased_until > statement_timestamp()
         AND kyc.hook_is_slow(one_deployment, 'integrator ' || o.integrator)) < 2);
END $$;
COMMENT ON FUNCTION kyc.hook_room(text, smallint, text, integer) IS 'Whether its limits let one more of its deliveries be under way, in that share of the senders';

-- of_share: the share of the sender that claims. Shares limit how many senders each kind of endpoint can occupy:
--   1  claims any delivery
--   2  claims deliveries of integrators that are not slow, to endpoints that have not failed and are not new at a slow host
--   3  claims deliveries to proven endpoints: one at a time for an integrator, two for all slow integrators together
-- At most two deliveries of an endpoint are under way, four of an integrator, and one to its endpoints that are not proven. A slow host
-- counts for new endpoints only, so that no integrator can slow down another one's endpoints. The lock of an integrator enforces its limit:
-- of two claims at once the second one takes another integrator's delivery, or waits if there is none and it holds no lock itself.
-- A row of NULLs: a delivery is due, but another claim holds its integrator's lock.
CREATE FUNCTION kyc.hook_claim(one_deployment smallint, of_share integer, lease interval)
  RETURNS TABLE (id bigint, attempts integer, event text, payload text, hook text, integrator text, url text, revision integer,
    previous boolean, overdue boolean)
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  candidate record;
  mine kyc.hook_delivery;
  busy text;
  held boolean := false;
BEGIN
  PERFORM kyc.hook_place(one_deployment);
  FOR turn IN 1 .. 2 LOOP
    FOR candidate IN
      SELECT due.id, h.id AS hook, h.integrator FROM kyc.hook AS h CROSS JOIN LATERAL (SELECT d.id, d.next_try FROM kyc.hook_delivery AS d
          WHERE d.hook = h.id AND d.head AND d.state = 'queued' AND d.next_try <= statement_timestamp()
          ORDER BY d.next_try LIMIT 2) AS due
      WHERE h.deployment = one_deployment AND h.state = 'enabled' AND h.paused_until <= statement_timestamp()
        AND (of_share = 1 OR h.failures = 0) AND (of_share < 3 OR h.proven)
        AND (of_share <> 2 OR NOT kyc.hook_is_slow(one_deployment, 'integrator ' || h.integrator)
             AND (h.proven OR NOT kyc.hook_is_slow(one_deployment, 'host ' || kyc.hook_host(h.url)))) AND EXISTS (SELECT FROM kyc.integrator AS i WHERE i.id = h.integrator AND i.state = 'active')
      ORDER BY due.next_try LOOP
      CONTINUE WHEN NOT kyc.hook_room(candidate.hook, one_deployment, candidate.integrator, of_share);
      IF NOT pg_try_advisory_xact_lock(7031, hashtext(candidate.integrator)) THEN
        busy := candidate.integrator;
        CONTINUE;
      END IF;
      held := true;
      -- The limit of all slow ones together. Its holder waits for nothing.
      IF of_share = 3 AND kyc.hook_is_slow(one_deployment, 'integrator ' || candidate.integrator) THEN
        PERFORM pg_advisory_xact_lock(7039, one_deployment);
      END IF;
      SELECT d.* INTO mine FROM kyc.hook_delivery AS d WHERE d.id = candidate.id AND d.head AND d.state = 'queued'
        AND d.next_try <= clock_timestamp() AND kyc.hook_room(d.hook, d.deployment, candidate.integrator, of_share) FOR UPDATE SKIP LOCKED;
      IF FOUND THEN
        UPDATE kyc.hook_delivery AS d SET attempts = d.attempts + 1, first_try = coalesce(d.first_try, clock_timestamp()),
          next_try = clock_timestamp() + lease, leased_until = clock_timestamp() + lease, share = of_share WHERE d.id = mine.id;
        RETURN QUERY SELECT mine.id, mine.attempts + 1, e.id, e.payload, h.id, h.integrator, h.url, h.revision,
            coalesce(h.previous_until > clock_timestamp(), false), coalesce(mine.first_try < clock_timestamp() - interval '3 days', false)
          FROM kyc.hook AS h, kyc.hook_event AS e WHERE h.id = mine.hook AND e.id = mine.event;
        RETURN;
      END IF;
    END LOOP;
    EXIT WHEN busy IS NULL OR held;
    PERFORM pg_advisory_xact_lock(7031, hashtext(busy));
    held := true;
    busy := NULL;
  END LOOP;
  IF busy IS NOT NULL THEN
    RETURN NEXT;
  END IF;
END $$;
COMMENT ON FUNCTION kyc.hook_claim(smallint, integer, interval) IS 'Takes one delivery for a while: no other node sends it meanwhile';

-- attempt: the number that the claim returned. A late success still counts; a failure counts only if no other node has claimed the delivery since.
-- pause: the time in which no sender calls the endpoint; after a success: the endpoint was late, so most senders avoid it.
-- slow: the endpoint held its sender for more than 3 s. Its integrator and its host then count as slow, too.
CREATE FUNCTION kyc.hook_done(delivery bigint, attempt integer, succeeded boolean, status integer, error text, again interval, pause interval,
    slow boolean, disable text)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  row kyc.hook_delivery;
  target kyc.hook;
  try jsonb := jsonb_build_object('endedAt', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'status', status, 'error', left(error, 200));
BEGIN
  SELECT d.* INTO row FROM kyc.hook_delivery AS d WHERE d.id = delivery;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT h.* INTO target FROM kyc.hook AS h WHERE h.id = row.hook FOR NO KEY UPDATE;
  IF slow THEN
    PERFORM kyc.hook_mark_slow(row.deployment, 'integrator ' || target.integrator), kyc.hook_mark_slow(row.deployment, 'host ' || kyc.hook_host(target.url));
  END IF;
  UPDATE kyc.hook_delivery AS d SET last_status = status, last_error = left(error, 200), leased_until = NULL,
      tries = CASE WHEN jsonb_array_length(d.tries) < 50 THEN d.tries ELSE d.tries - 0 END || try,
      state = CASE WHEN succeeded THEN 'delivered' ELSE 'queued' END, head = NOT succeeded,
      done_at = CASE WHEN succeeded THEN clock_timestamp() END, next_try = clock_timestamp() + again
    WHERE d.id = delivery AND d.state = 'queued' AND (succeeded OR d.attempts = attempt);
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF succeeded THEN
    UPDATE kyc.hook_delivery AS d SET head = true, next_try = clock_timestamp() WHERE d.id = (SELECT min(n.id)
      FROM kyc.hook_delivery AS n WHERE n.hook = row.hook AND n.subject = row.subject AND n.state = 'queued');
    UPDATE kyc.hook AS h SET failures = (pause > interval '0')::integer, proven = pause = interval '0'
      WHERE h.id = row.hook AND (h.failures <> (pause > interval '0')::integer OR h.proven <> (pause = interval '0'));
  ELSIF pause > interval '0' THEN
    UPDATE kyc.hook AS h SET failures = least(h.failures, 999999) + 1, proven = false,
      paused_until = clock_timestamp() + least(interval '60 s', pause * 2 ^ least(h.failures, 10)) WHERE h.id = row.hook;
  END IF;
  IF disable IS NOT NULL THEN
    PERFORM kyc.hook_disable(row.hook, disable);
  END IF;
END $$;
COMMENT ON FUNCTION kyc.hook_done(bigint, integer, boolean, integer, text, interval, interval, boolean, text) IS 'Notes the outcome of an attempt; the next delivery of the queue becomes its head';

-- Endpoints take turns, each with the address that is due for longest, so that one with thousands of addresses delays no other.
-- The rows are locked in the order that all functions of this part use.
CREATE FUNCTION kyc.hook_due(one_deployment smallint, share integer, batch integer)
  RETURNS TABLE (hook text, address text, told text, wanted boolean, since text)
  LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT w.hook, w.address, w.told, 'compliance.updated' = ANY (h.events), extract(epoch FROM w.added_at)::text
  FROM kyc.hook_watch AS w JOIN kyc.hook AS h ON h.id = w.hook
  WHERE (w.hook, w.address) IN (SELECT o.id, d.address
      FROM kyc.hook AS o CROSS JOIN LATERAL (SELECT f.address, f.due_at, row_number() OVER (ORDER BY f.due_at) AS turn
        FROM (SELECT a.address, a.due_at FROM kyc.hook_watch AS a WHERE a.hook = o.id AND a.due_at <= statement_timestamp()
          ORDER BY a.due_at LIMIT share) AS f) AS d
      WHERE o.deployment = one_deployment AND o.state = 'enabled' ORDER BY d.turn, d.due_at LIMIT batch)
    AND w.due_at <= statement_timestamp()
  ORDER BY w.address, w.hook FOR UPDATE OF w;
$$;
COMMENT ON FUNCTION kyc.hook_due(smallint, integer, integer) IS 'Takes addresses that are to be compared: share of an endpoint, batch in all';

CREATE FUNCTION kyc.hook_full(one_hook text) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) > 10000 FROM (SELECT FROM kyc.hook_delivery AS d WHERE d.hook = one_hook AND d.state = 'queued' LIMIT 10001) AS q;
$$;
COMMENT ON FUNCTION kyc.hook_full(text) IS 'Whether more than 10000 of its notifications wait';

CREATE FUNCTION kyc.hook_limit(hooks text[]) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT h.id FROM kyc.hook AS h WHERE h.id = ANY (hooks) AND h.state = 'enabled' AND kyc.hook_full(h.id) ORDER BY h.id LOOP
    PERFORM kyc.hook_disable(one, 'queue_full');
  END LOOP;
END $$;
COMMENT ON FUNCTION kyc.hook_limit(text[]) IS 'Disables those of these endpoints that have a full queue';

-- Checks the limits of one day (UTC). The function counts each change that it allows; the caller's transaction then makes it.
-- A row of a day after tomorrow is of a clock that was wrong. One of tomorrow counts: the clock may have been set back over midnight.
CREATE FUNCTION kyc.hook_may(one text, most integer) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
  INSERT INTO kyc.hook_use AS u VALUES (one, today, 1) ON CONFLICT (what) DO UPDATE
    SET used = CASE WHEN u.day IN (today, today + 1) THEN u.used + 1 ELSE 1 END, day = CASE WHEN u.day = today + 1 THEN u.day ELSE today END
    WHERE u.day NOT IN (today, today + 1) OR u.used < most;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION kyc.hook_may(text, integer) IS 'Whether it may be done once more today; if so, it is counted';

-- A clock that is ahead for a moment leaves times that are further ahead than any pause: without this, deliveries would wait until
-- then. No pause is longer than 4 h, no lease than a minute, an endpoint rests for a minute, and is slow for an hour.
CREATE FUNCTION kyc.hook_repair(one_deployment smallint) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE kyc.hook AS h SET paused_until = clock_timestamp() WHERE h.deployment = one_deployment AND h.paused_until > clock_timestamp() + interval '1 hour';
  UPDATE kyc.hook_delivery AS d SET next_try = clock_timestamp(), leased_until = NULL, first_try = least(d.first_try, clock_timestamp())
    WHERE d.id IN (SELECT o.id FROM kyc.hook_delivery AS o WHERE o.deployment = one_deployment AND o.state = 'queued'
      AND o.next_try > clock_timestamp() + interval '6 hours' LIMIT 10000 FOR UPDATE SKIP LOCKED);
  DELETE FROM kyc.hook_slow AS s WHERE s.deployment = one_deployment AND s.slow_until > clock_timestamp() + interval '2 hours';
$$;
COMMENT ON FUNCTION kyc.hook_repair(smallint) IS 'Makes due what a clock that was ahead postponed further than any pause';

-- Deletes in small steps: the calling thread must also report the end of an attestation within a second.
CREATE FUNCTION kyc.hook_maintain(one_deployment smallint) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  deleted bigint;
  old bigint;
BEGIN
  PERFORM kyc.hook_repair(one_deployment);
  DELETE FROM kyc.hook_event AS e WHERE e.id IN (SELECT o.id FROM kyc.hook_event AS o
    WHERE o.created_at < clock_timestamp() - interval '30 days' ORDER BY o.created_at LIMIT 500 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS old = ROW_COUNT;
  DELETE FROM kyc.hook_delivery AS d WHERE d.id IN (SELECT o.id FROM kyc.hook AS h JOIN kyc.hook_delivery AS o ON o.hook = h.id
    WHERE h.deployment = one_deployment AND h.state = 'deleted'
      AND (o.leased_until IS NULL OR o.leased_until <= statement_timestamp()) -- a delivery that is under way counts for its integrator
    LIMIT 1000 FOR UPDATE OF o SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  DELETE FROM kyc.hook AS h WHERE h.id IN (SELECT g.id FROM kyc.hook AS g WHERE g.deployment = one_deployment AND g.state = 'deleted'
    AND NOT EXISTS (SELECT FROM kyc.hook_delivery AS d WHERE d.hook = g.id) FOR UPDATE SKIP LOCKED);
  IF deleted = 1000 OR old = 500 THEN
    RETURN true;
  END IF;
  -- A pruned delivery may have been the head of its queue: the oldest queued one becomes the head.
  UPDATE kyc.hook_delivery AS d SET head = true WHERE d.id IN (SELECT min(n.id) FROM kyc.hook_delivery AS n
    WHERE n.state = 'queued' GROUP BY n.hook, n.subject HAVING NOT bool_or(n.head));
  PERFORM kyc.hook_limit(array_agg(h.id)) FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.state = 'enabled';
  DELETE FROM kyc.hook_use AS u WHERE u.what IN (SELECT o.what FROM kyc.hook_use AS o
    WHERE o.day < (clock_timestamp() AT TIME ZONE 'UTC')::date - 1 LIMIT 1000 FOR UPDATE SKIP LOCKED);
  DELETE FROM kyc.hook_slow AS s WHERE (s.deployment, s.what) IN (SELECT o.deployment, o.what FROM kyc.hook_slow AS o
    WHERE o.slow_until < clock_timestamp() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED);
  RETURN false;
END $$;
COMMENT ON FUNCTION kyc.hook_maintain(smallint) IS 'Deletes a part of what is older than 30 days or of deleted endpoints, and disables those with a full queue; true: call it again';

CREATE FUNCTION kyc.hook_figures(one_deployment smallint)
  RETURNS TABLE (waiting bigint, oldest_ms bigint, disabled bigint, behind bigint)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT (SELECT count(*) FROM (SELECT FROM kyc.hook_delivery AS d WHERE d.deployment = one_deployment AND d.state = 'queued' LIMIT 100000) AS q),
    (SELECT greatest(0, 1000 * extract(epoch FROM clock_timestamp() - min(due.since)))::bigint FROM kyc.hook AS h
       JOIN kyc.integrator AS i ON i.id = h.integrator AND i.state = 'active'
       CROSS JOIN LATERAL (SELECT least((SELECT min(d.next_try) FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.head AND d.state = 'queued'),
         (SELECT d.created_at FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.head IS NULL ORDER BY d.id LIMIT 1)) AS since) AS due
       WHERE h.deployment = one_deployment AND h.state = 'enabled' AND h.failures = 0 AND h.proven AND h.paused_until <= clock_timestamp()),
    (SELECT count(*) FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.state = 'disabled' AND h.reason IN ('failed', 'gone', 'queue_full')),
    (SELECT c.ledger - k.ledger FROM chain.cursor AS c JOIN kyc.hook_cursor AS k ON k.deployment = c.deployment WHERE c.deployment = one_deployment);
$$;
COMMENT ON FUNCTION kyc.hook_figures(smallint) IS 'Number of waiting deliveries (100000 at most), for how long something has been due to an endpoint that answers, how many endpoints were disabled, ledgers not compared yet';

-- --- routes of notifications: each answers a status, a problem's code (NULL: none), and a text or JSON

CREATE TYPE kyc.hook_answer AS (status integer, code text, body text);

-- Limits the changes of a day. Deleting an endpoint and disabling an enabled one stop deliveries, so they are never refused;
-- each of them needs a creation or an enabling before it, which are counted.
CREATE FUNCTION kyc.hook_may_change(of_integrator text) RETURNS kyc.hook_answer LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT ROW(429, 'too_many_changes', 'An integrator changes its webhooks 200 times a day at most. Deleting and disabling them is not limited.')::kyc.hook_answer
    WHERE NOT kyc.hook_may('changes of ' || of_integrator, 200);
$$;
COMMENT ON FUNCTION kyc.hook_may_change(text) IS 'Counts a change of webhooks; NULL, or the answer that refuses it';

CREATE FUNCTION kyc.hook_json(h kyc.hook) RETURNS json LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT json_build_object('webhookId', h.id, 'url', h.url, 'events', h.events, 'state', h.state, 'reason', h.reason,
    'addresses', (SELECT count(*) FROM kyc.hook_watch AS w WHERE w.hook = h.id),
    'queued', (SELECT count(*) FROM (SELECT FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.state = 'queued' LIMIT 10001) AS q),
    'failures', h.failures, 'secretRevision', h.revision,
    'previousSecretEndsAt', CASE WHEN h.previous_until > clock_timestamp() THEN to_char(h.previous_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END,
    'createdAt', to_char(h.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
$$;
COMMENT ON FUNCTION kyc.hook_json(kyc.hook) IS 'An endpoint as clients see it';

CREATE FUNCTION kyc.hook_list(one_deployment smallint, of_integrator text, one_hook text) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  list json;
BEGIN
  SELECT json_agg(kyc.hook_json(h) ORDER BY h.created_at, h.id) INTO list FROM kyc.hook AS h
    WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = coalesce(one_hook, h.id)
      AND h.state <> 'deleted';
  IF one_hook IS NULL THEN
    RETURN ROW(200, NULL, json_build_object('items', coalesce(list, '[]'))::text)::kyc.hook_answer;
  ELSIF list IS NULL THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  END IF;
  RETURN ROW(200, NULL, (list -> 0)::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_list(smallint, text, text) IS 'Endpoints of an integrator, or one of them';

CREATE FUNCTION kyc.hook_create(one_deployment smallint, of_integrator text, new_id text, new_url text, new_events text[]) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  secret integer;
  refused kyc.hook_answer;
BEGIN
  PERFORM pg_advisory_xact_lock(7032, hashtext(of_integrator));
  IF (SELECT count(*) FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id <> new_id
      AND h.state <> 'deleted') >= 8 THEN
    RETURN ROW(409, 'too_many_webhooks', 'An integrator has 8 webhooks at most.')::kyc.hook_answer;
  END IF;
  IF NOT EXISTS (SELECT FROM kyc.hook AS h WHERE h.id = new_id) THEN
    refused := kyc.hook_may_change(of_integrator);
    IF refused.status IS NOT NULL THEN
      RETURN refused;
    END IF;
  END IF;
  INSERT INTO kyc.hook (id, deployment, integrator, url, events) VALUES (new_id, one_deployment, of_integrator, new_url, new_events)
    ON CONFLICT DO NOTHING;
  IF FOUND THEN
    PERFORM kyc.note('integrator ' || of_integrator, 'hook_created', new_id, '{}');
  END IF;
  SELECT h.revision INTO secret FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = new_id
    AND h.url = new_url AND h.events = new_events AND h.state <> 'deleted';
  IF NOT FOUND THEN
    RETURN ROW(422, 'idempotency_key_reused', 'This Idempotency-Key was used for another webhook.')::kyc.hook_answer;
  END IF;
  RETURN ROW(201, secret::text, (kyc.hook_list(one_deployment, of_integrator, new_id)).body)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_create(smallint, text, text, text, text[]) IS 'Registers an endpoint; the same id again answers what the first time made';

-- NULL keeps a value. A call that changes nothing is neither audited nor followed by a comparison. When an endpoint is enabled again,
-- its waiting deliveries are sent, and all its addresses are compared.
CREATE FUNCTION kyc.hook_change(one_deployment smallint, of_integrator text, one_hook text, new_url text, new_events text[], enable boolean)
  RETURNS kyc.hook_answer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was kyc.hook;
  refused kyc.hook_answer;
BEGIN
  SELECT h.* INTO was FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook
    AND h.state <> 'deleted' FOR NO KEY UPDATE;
  IF FOUND AND (new_url <> was.url OR new_events <> was.events OR enable AND was.state = 'disabled' OR NOT enable AND was.state = 'enabled') THEN
    IF new_url <> was.url OR new_events <> was.events OR enable AND was.state = 'disabled' THEN
      refused := kyc.hook_may_change(of_integrator);
      IF refused.status IS NOT NULL THEN
        RETURN refused;
      END IF;
    END IF;
    UPDATE kyc.hook AS h SET url = coalesce(new_url, h.url), events = coalesce(new_events, h.events), updated_at = clock_timestamp(),
        proven = h.proven AND coalesce(new_url = h.url, true) AND NOT coalesce(enable AND was.state = 'disabled', false)
      WHERE h.id = one_hook;
    IF enable AND was.state = 'disabled' THEN
      UPDATE kyc.hook AS h SET state = 'enabled', reason = NULL, failures = 0, paused_until = clock_timestamp() WHERE h.id = one_hook;
      UPDATE kyc.hook_delivery AS d SET next_try = clock_timestamp(), first_try = NULL
        WHERE d.hook = one_hook AND d.head AND d.state = 'queued';
    ELSIF NOT enable AND was.state = 'enabled' THEN
      UPDATE kyc.hook AS h SET state = 'disabled', reason = 'integrator' WHERE h.id = one_hook;
    END IF;
    IF enable IS NOT NULL OR new_events IS NOT NULL THEN
      PERFORM FROM kyc.hook_watch AS w WHERE w.hook = one_hook ORDER BY w.address FOR UPDATE;
      UPDATE kyc.hook_watch AS w SET due_at = CASE WHEN coalesce(enable, was.state = 'enabled') THEN timestamptz '-infinity' END WHERE w.hook = one_hook;
    END IF;
    PERFORM kyc.note('integrator ' || of_integrator, 'hook_changed', one_hook, jsonb_build_object('enabled', enable));
  END IF;
  RETURN kyc.hook_list(one_deployment, of_integrator, one_hook);
END $$;
COMMENT ON FUNCTION kyc.hook_change(smallint, text, text, text, text[], boolean) IS 'Changes an endpoint';

CREATE FUNCTION kyc.hook_delete(one_deployment smallint, of_integrator text, one_hook text) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE kyc.hook AS h SET state = 'deleted', updated_at = clock_timestamp()
    WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook AND h.state <> 'deleted';
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  END IF;
  PERFORM FROM kyc.hook_watch AS w WHERE w.hook = one_hook ORDER BY w.address FOR UPDATE;
  DELETE FROM kyc.hook_watch AS w WHERE w.hook = one_hook;
  PERFORM kyc.note('integrator ' || of_integrator, 'hook_deleted', one_hook, '{}');
  RETURN ROW(200, NULL, json_build_object('webhookId', one_hook)::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_delete(smallint, text, text) IS 'Deletes an endpoint with its addresses; its log goes bit by bit';

-- replaces: the revision of the secret that is to be replaced. A repeated call returns the secret that the first call made.
CREATE FUNCTION kyc.hook_rotate(one_deployment smallint, of_integrator text, one_hook text, overlap interval, replaces integer) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was integer;
  refused kyc.hook_answer;
BEGIN
  SELECT h.revision INTO was FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook
    AND h.state <> 'deleted' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  ELSIF was = replaces THEN
    refused := kyc.hook_may_change(of_integrator);
    IF refused.status IS NOT NULL THEN
      RETURN refused;
    END IF;
    UPDATE kyc.hook AS h SET revision = replaces + 1, previous_until = clock_timestamp() + overlap, updated_at = clock_timestamp() WHERE h.id = one_hook;
    PERFORM kyc.note('integrator ' || of_integrator, 'hook_rotated', one_hook, jsonb_build_object('overlap', overlap));
  ELSIF was <> replaces + 1 THEN
    RETURN ROW(409, 'secret_changed', format('Its secret has revision %s: read the webhook, then say which one you replace.', was))::kyc.hook_answer;
  END IF;
  RETURN ROW(200, (replaces + 1)::text, (kyc.hook_list(one_deployment, of_integrator, one_hook)).body)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_rotate(smallint, text, text, interval, integer) IS 'Another secret; the one before signs too until the overlap is over';

CREATE FUNCTION kyc.hook_test(one_deployment smallint, of_integrator text, one_hook text) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  the_hook kyc.hook;
BEGIN
  SELECT h.* INTO the_hook FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook AND h.state <> 'deleted'
    FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  ELSIF the_hook.state <> 'enabled' THEN
    RETURN ROW(409, 'webhook_disabled', 'This webhook is disabled: enable it first.')::kyc.hook_answer;
  ELSIF kyc.hook_full(one_hook) THEN
    RETURN ROW(409, 'queue_full', 'More than 10000 notifications wait for this webhook.')::kyc.hook_answer;
  ELSIF NOT kyc.hook_may('sends of ' || one_hook, 1000) THEN
    RETURN ROW(429, 'too_many_sends', 'A webhook gets 1000 tests and replays a day at most.')::kyc.hook_answer;
  END IF;
  PERFORM kyc.hook_emit(one_deployment, 'webhook.test', 'webhook:' || one_hook, ARRAY[gen_random_uuid()::text],
    json_build_object('webhookId', one_hook), of_integrator, one_hook);
  RETURN ROW(202, NULL, json_build_object('webhookId', one_hook)::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_test(smallint, text, text) IS 'Sends a notification that says nothing';

CREATE FUNCTION kyc.hook_addresses(one_deployment smallint, of_integrator text, one_hook text, adds text[], removes text[]) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook
    AND h.state <> 'deleted' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  END IF;
  IF (SELECT count(*) FROM (SELECT w.address FROM kyc.hook_watch AS w WHERE w.hook = one_hook AND w.address <> ALL (removes)
      UNION SELECT unnest(adds)) AS u) > 10000 THEN
    RETURN ROW(409, 'too_many_addresses', 'A webhook watches 10000 addresses at most.')::kyc.hook_answer;
  END IF;
  PERFORM FROM kyc.hook_watch AS w WHERE w.hook = one_hook AND w.address = ANY (removes) ORDER BY w.address FOR UPDATE;
  DELETE FROM kyc.hook_watch AS w WHERE w.hook = one_hook AND w.address = ANY (removes);
  INSERT INTO kyc.hook_watch (hook, address, deployment) SELECT DISTINCT one_hook, a, one_deployment FROM unnest(adds) AS a
    ON CONFLICT DO NOTHING;
  RETURN kyc.hook_list(one_deployment, of_integrator, one_hook);
END $$;
COMMENT ON FUNCTION kyc.hook_addresses(smallint, text, text, text[], text[]) IS 'Adds and removes watched addresses';

CREATE FUNCTION kyc.hook_watched(one_deployment smallint, of_integrator text, one_hook text, after text, page integer) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  list text[];
BEGIN
  PERFORM FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook AND h.state <> 'deleted';
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  END IF;
  SELECT array_agg(w.address ORDER BY w.address COLLATE "C") INTO list FROM (SELECT o.address FROM kyc.hook_watch AS o
    WHERE o.hook = one_hook AND o.address COLLATE "C" > after ORDER BY o.address COLLATE "C" LIMIT page) AS w;
  RETURN ROW(200, CASE WHEN cardinality(list) = page THEN list[page] END, json_build_object('items', coalesce(list, '{}'))::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_watched(smallint, text, text, text, integer) IS 'A page of watched addresses; code is where the next one begins';

CREATE FUNCTION kyc.hook_log(one_deployment smallint, of_integrator text, one_hook text, before bigint, page integer) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  list json;
  last bigint;
  rows bigint;
BEGIN
  PERFORM FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook AND h.state <> 'deleted';
  IF NOT FOUND THEN
    RETURN ROW(404, 'no_webhook', 'There is no such webhook of this integrator.')::kyc.hook_answer;
  END IF;
  SELECT json_agg(json_build_object('deliveryId', d.id::text, 'eventId', d.event, 'type', d.kind, 'state', d.state, 'attempts', d.attempts,
      'status', d.last_status, 'error', d.last_error, 'tries', d.tries,
      'nextAttemptAt', CASE WHEN d.state = 'queued' AND d.head THEN to_char(d.next_try AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END,
      'createdAt', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'deliveredAt', to_char(d.done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) ORDER BY d.id DESC), min(d.id), count(*)
    INTO list, last, rows FROM (SELECT o.*, e.kind FROM kyc.hook_delivery AS o JOIN kyc.hook_event AS e ON e.id = o.event
      WHERE o.hook = one_hook AND o.id < before ORDER BY o.id DESC LIMIT page) AS d;
  RETURN ROW(200, CASE WHEN rows = page THEN last::text END, json_build_object('items', coalesce(list, '[]'))::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_log(smallint, text, text, bigint, integer) IS 'A page of deliveries, the newest first; code is where the next one begins';

-- The row of the endpoint is locked first: of two requests at once the second one finds what the first one added.
CREATE FUNCTION kyc.hook_replay(one_deployment smallint, of_integrator text, one_hook text, one_delivery bigint) RETURNS kyc.hook_answer
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  old kyc.hook_delivery;
BEGIN
  PERFORM FROM kyc.hook AS h WHERE h.deployment = one_deployment AND h.integrator = of_integrator AND h.id = one_hook AND h.state <> 'deleted'
    FOR NO KEY UPDATE;
  IF FOUND THEN
    SELECT d.* INTO old FROM kyc.hook_delivery AS d WHERE d.id = one_delivery AND d.hook = one_hook;
  END IF;
  IF old.id IS NULL THEN
    RETURN ROW(404, 'no_delivery', 'There is no such delivery of this webhook.')::kyc.hook_answer;
  ELSIF old.state = 'queued' THEN
    UPDATE kyc.hook_delivery AS d SET next_try = clock_timestamp() WHERE d.id = one_delivery AND d.leased_until IS NULL;
    RETURN ROW(202, NULL, json_build_object('deliveryId', old.id::text)::text)::kyc.hook_answer;
  ELSIF kyc.hook_full(one_hook) THEN
    RETURN ROW(409, 'queue_full', 'More than 10000 notifications wait for this webhook.')::kyc.hook_answer;
  ELSIF (SELECT count(*) > 10 FROM kyc.hook_delivery AS q WHERE q.event = old.event AND q.hook = one_hook) THEN
    RETURN ROW(409, 'too_many_replays', 'It was sent again ten times.')::kyc.hook_answer;
  ELSIF NOT kyc.hook_may('sends of ' || one_hook, 1000) THEN
    RETURN ROW(429, 'too_many_sends', 'A webhook gets 1000 tests and replays a day at most.')::kyc.hook_answer;
  END IF;
  RETURN ROW(202, NULL, json_build_object('deliveryId', kyc.hook_enqueue(one_hook, one_deployment, old.event, old.subject)::text)::text)::kyc.hook_answer;
END $$;
COMMENT ON FUNCTION kyc.hook_replay(smallint, text, text, bigint) IS 'Sends it once more, with the same id; one that waits is tried now';
