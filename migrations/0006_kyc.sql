-- 0006_kyc: from a person's session at a provider to an attestation on the chain.
--
-- No personal data is stored: no names, dates, documents, pictures or network addresses. A session has the
-- address it is for, opaque ids, a state, and what the attestation will say.
--   session      one verification of one address at one provider
--   session_key  further Idempotency-Keys of a session
--   challenge    answered proofs of control over an address, so that each counts once
--   inbox        webhooks with a valid signature: that something happened, not what they said
--   outbox       intents: what the attester is to put on the chain, written in the decision's transaction
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
    -- what the audit says of a row must fit into kyc.note's limits
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
COMMENT ON COLUMN kyc.inbox.sig_key IS 'Which secret of the provider''s list verified it: 0 the current one';
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
    kind             text        NOT NULL DEFAULT 'call' CHECK (kind IN ('call', 'restore')),
    sent_ledger      bigint,
    bump_fee         bigint,
    bad_seq          integer     NOT NULL DEFAULT 0,
    attention        text,
    attended_at      timestamptz,
    restorations     integer     NOT NULL DEFAULT 0,
    mac              bytea,
    genuine          boolean,
    CHECK (state NOT IN ('signed', 'submitted') OR (seq IS NOT NULL AND envelope IS NOT NULL AND tx_hash IS NOT NULL AND max_time IS NOT NULL)),
    CHECK (attention IS NULL OR state = 'confirmed'),
    -- A provider cannot decide an attestation without end or of no country. 253402300799 is the end of the year 9999,
    -- the last time that RFC 3339 can name.
    CONSTRAINT outbox_decision CHECK (decision_rev > 0 AND jurisdiction BETWEEN 0 AND 999
        AND (action = 'revoke' OR jurisdiction > 0)
        AND expires_at BETWEEN (CASE action WHEN 'revoke' THEN 0 ELSE 1 END) AND 253402300799),
    CONSTRAINT outbox_counts CHECK (attempts >= 0 AND bad_seq >= 0 AND restorations >= 0
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
COMMENT ON COLUMN kyc.outbox.reason IS 'Of parked: why it needs review (manual_review, contract:N, key_in_use …)';
COMMENT ON COLUMN kyc.outbox.expires_at IS 'Unix seconds, as the contract keeps it';
COMMENT ON COLUMN kyc.outbox.max_time IS 'Ledger time after which the envelope is void';
COMMENT ON COLUMN kyc.outbox.submit_ledger IS 'Newest ledger when it was signed';
COMMENT ON COLUMN kyc.outbox.kind IS 'Of the envelope: the call itself, or a restoration of archived entries before it';
COMMENT ON COLUMN kyc.outbox.sent_ledger IS 'Newest ledger when it was last sent; it is sent again only after a newer one';
COMMENT ON COLUMN kyc.outbox.bump_fee IS 'Whole fee of bump_envelope, stroops';
COMMENT ON COLUMN kyc.outbox.bad_seq IS 'Consecutive times that another transaction used the envelope''s sequence number';
COMMENT ON COLUMN kyc.outbox.last_status IS 'Last status: the network''s, or the attester''s (manual_review: what about the person)';
COMMENT ON COLUMN kyc.outbox.attention IS 'Of confirmed: the status that it should not have overwritten (suspended, sanctioned …), or unchecked; needs review';
COMMENT ON COLUMN kyc.outbox.attended_at IS 'When a person resolved what attention says';
COMMENT ON COLUMN kyc.outbox.restorations IS 'Restorations of archived entries signed for this intent; a few at most';
COMMENT ON COLUMN kyc.outbox.mac IS 'KYC''s HMAC of what was decided (include/tidemark/intent.h)';
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
COMMENT ON TABLE kyc.audit IS 'Who did what; hash covers the row and the hash of the row before, so that a change is detectable';
COMMENT ON COLUMN kyc.audit.about IS 'A session''s id, a provider''s key, a transaction''s hash; never a person';
COMMENT ON COLUMN kyc.audit.actor IS 'The database login, a space, and the part of the program';

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
COMMENT ON TABLE kyc.attester IS 'What the attester reports about itself, one row per key; written by the holder of the key''s lock';
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
COMMENT ON TABLE kyc.attester_fee IS 'What each signed envelope may cost, and did cost; the attester''s daily budget counts it';
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

-- Who may send an API key. Rows change through the functions below alone: each bumps the revision that
-- servers compare once a second, and notes in the audit who did it. The database never sees a key.
CREATE TABLE kyc.integrator (
    id                text        NOT NULL PRIMARY KEY CHECK (id ~ '^[a-z0-9_-]{1,32}$'),
    name              text        NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 128 AND name !~ '[[:cntrl:]]'),
    origins           text[]      NOT NULL DEFAULT '{}' CHECK (cardinality(origins) <= 16 AND array_position(origins, NULL) IS NULL
                      AND array_to_string(origins, ' ') ~ '^((https://[a-z0-9.-]{1,100}|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?( |$))*$'),
    brand             jsonb       CHECK (jsonb_typeof(brand) = 'object' AND octet_length(brand::text) <= 1024),
    sessions_per_hour integer     NOT NULL DEFAULT 200 CHECK (sessions_per_hour BETWEEN 1 AND 1000000),
    state             text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE kyc.integrator IS 'Partners with API keys; at most 256';
COMMENT ON COLUMN kyc.integrator.origins IS 'Of its pages, scheme://host[:port]; they may read answers and frame its sessions';
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
COMMENT ON TABLE kyc.integrator_key IS 'API keys by their SHA-256; at most 16 that are not revoked of an integrator, 1024 in all';
COMMENT ON COLUMN kyc.integrator_key.key_id IS 'What the key begins with: it may be shown and logged';
COMMENT ON COLUMN kyc.integrator_key.scopes IS 'What it is for';
COMMENT ON COLUMN kyc.integrator_key.rate IS 'Requests a second; NULL: the limits of api_rate_* times api_key_factor';
COMMENT ON COLUMN kyc.integrator_key.burst IS 'Requests at once';
COMMENT ON COLUMN kyc.integrator_key.networks IS 'It is taken from these alone; empty: from any';
COMMENT ON COLUMN kyc.integrator_key.created_by IS 'The database login, a space, and who the program says';
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

-- SECURITY DEFINER, as are audit_move, the functions of integrators and keys and those of 0006_kyc_console
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
      'hash', encode(coalesce(NEW.tx_hash, OLD.tx_hash), 'hex'), 'kind', CASE WHEN NEW.state = 'signed' THEN NEW.kind END,
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
  IF EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = ANY (ids) AND o.state IN ('queued', 'signed', 'submitted')) THEN
    RAISE EXCEPTION 'an intent of this address is on its way to the chain'
      USING ERRCODE = 'object_in_use', HINT = 'wait until tidemark-attester status has none that is open';
  END IF;
  IF NOT although_approved AND EXISTS (SELECT FROM kyc.session AS s WHERE s.id = ANY (ids) AND s.state = 'approved'
      AND s.attested_until > clock_timestamp()) THEN
    RAISE EXCEPTION 'an approval of this address stands, and could not be withdrawn any more'
      USING ERRCODE = 'object_in_use', HINT = 'have it revoked first, or accept that its attestation stays until its end';
  END IF;
  FOR one IN SELECT s.* FROM kyc.session AS s WHERE s.id = ANY (ids) LOOP
    PERFORM kyc.note('operator', 'erased', one.id, jsonb_build_object('provider', one.provider, 'state', one.state));
    DELETE FROM kyc.inbox AS i WHERE i.provider = one.provider AND (i.provider_id = one.provider_id OR i.ref = one.ref);
    DELETE FROM kyc.sandbox AS b WHERE b.id = one.provider_id OR b.ref = one.ref;
  END LOOP;
  DELETE FROM kyc.attester_fee AS f USING kyc.outbox AS o WHERE f.outbox = o.id AND o.session_id = ANY (ids);
  DELETE FROM kyc.session_key WHERE session_id = ANY (ids);
  DELETE FROM kyc.outbox WHERE session_id = ANY (ids);
  DELETE FROM kyc.session WHERE id = ANY (ids);
  -- A login may have written the session again after an earlier deletion.
  INSERT INTO kyc.erased (session_id) SELECT unnest(ids) ON CONFLICT DO NOTHING;
END $$;
COMMENT ON PROCEDURE kyc.erase(text, boolean) IS 'deletes what is kept of the sessions of an address; the audit has a row of it';

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
END $$;
COMMENT ON FUNCTION kyc.key_add(text, text, text, bytea, text[], integer, integer, cidr[], timestamptz, timestamptz)
  IS 'Adds a key of which the caller keeps nothing but the SHA-256';

-- Never later than it ends already, and never again after it was revoked.
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
  PERFORM kyc.key_end(who, key_id, clock_timestamp() + overlap);
  PERFORM kyc.key_add(who, new_key_id, old.integrator, sha256, old.scopes, old.rate, old.burst, old.networks, NULL, NULL);
END $$;
COMMENT ON FUNCTION kyc.key_rotate(text, text, text, bytea, interval) IS 'Adds a key like that one, which ends after the overlap';

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
