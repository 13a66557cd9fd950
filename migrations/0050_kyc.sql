-- 0050_kyc: from a person's session at a provider to an attestation on the chain.
--
-- Nothing of a person is kept here: no names, dates, documents, pictures, addresses of the network;
-- a session has the address it is for, opaque ids, a state, and what the attestation will say.
--   session    one verification, of one address, at one provider
--   challenge  signed proofs that somebody controls an address, so that none is used twice
--   inbox      webhooks that were genuine: only that something happened, never what they said
--   outbox     what is to be put on the chain; in one transaction with the decision it comes from
--   audit      who did what, each row bound to the one before by its hash
--   sandbox    our own provider's decisions, on networks that are not the main one

CREATE SCHEMA kyc;

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
    last_error      text
);
COMMENT ON TABLE kyc.session IS 'One verification of one address at one provider';
COMMENT ON COLUMN kyc.session.id IS 'Ours, 128 random bits';
COMMENT ON COLUMN kyc.session.integrator IS 'Who opened it: an integrator of the KYC file; empty: the address itself, by a signed challenge, or nobody where none is asked for';
COMMENT ON COLUMN kyc.session.ref IS 'What the provider knows the person by: opaque, the same for an address of a network';
COMMENT ON COLUMN kyc.session.provider_id IS 'The provider''s own id; NULL: it has not answered yet';
COMMENT ON COLUMN kyc.session.hosted_url IS 'The provider''s page for this person';
COMMENT ON COLUMN kyc.session.reason IS 'Why it stands there: a word of ours, never a provider''s text';
COMMENT ON COLUMN kyc.session.decision_rev IS 'Counts decisions that differed from the one before; 0: none yet';
COMMENT ON COLUMN kyc.session.decision_at IS 'When the provider says it decided';
COMMENT ON COLUMN kyc.session.jurisdiction IS 'ISO 3166-1 numeric; in no view, no answer, no log';
COMMENT ON COLUMN kyc.session.valid_until IS 'When the document, or the provider''s word, runs out';
COMMENT ON COLUMN kyc.session.idempotency IS 'Hash of the client and its Idempotency-Key';
COMMENT ON COLUMN kyc.session.next_check IS 'When the reconciler asks the provider again; NULL: not by itself';
-- The same request asked again while it is open is the same session.
CREATE UNIQUE INDEX session_open ON kyc.session (deployment, address, provider, integrator, mode)
    WHERE state IN ('created', 'pending', 'review', 'action_required');
CREATE UNIQUE INDEX session_idempotency ON kyc.session (deployment, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX session_provider_id ON kyc.session (provider, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX session_ref ON kyc.session (provider, ref);
CREATE INDEX session_address ON kyc.session (deployment, address, created_at);
CREATE INDEX session_check ON kyc.session (next_check) WHERE next_check IS NOT NULL;
CREATE INDEX session_created ON kyc.session (integrator, created_at);

CREATE TABLE kyc.challenge (
    hash       bytea       NOT NULL PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE kyc.challenge IS 'Challenges that were answered: none counts twice; may go once expired';

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
    PRIMARY KEY (provider, event_key)
);
COMMENT ON TABLE kyc.inbox IS 'Genuine webhooks, one row each however often they come; their bodies are not kept';
COMMENT ON COLUMN kyc.inbox.sig_key IS 'Which secret of the provider''s list verified it: 0 the current one';
CREATE INDEX inbox_new ON kyc.inbox (next_try) WHERE state = 'new';

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
    UNIQUE (subject, session_id, decision_rev),
    CHECK (state NOT IN ('signed', 'submitted') OR (seq IS NOT NULL AND envelope IS NOT NULL AND tx_hash IS NOT NULL AND max_time IS NOT NULL))
);
COMMENT ON TABLE kyc.outbox IS 'What the attester is to put on the chain, each once';
COMMENT ON COLUMN kyc.outbox.reason IS 'Of parked: why a person must look (manual_review, contract:N, key_in_use …)';
COMMENT ON COLUMN kyc.outbox.expires_at IS 'Unix seconds, as the contract keeps it';
COMMENT ON COLUMN kyc.outbox.max_time IS 'Ledger time after which the envelope is void';
COMMENT ON COLUMN kyc.outbox.submit_ledger IS 'Newest ledger when it was signed';
CREATE INDEX outbox_open ON kyc.outbox (deployment, next_try) WHERE state IN ('queued', 'signed', 'submitted');
CREATE INDEX outbox_session ON kyc.outbox (session_id, decision_rev);

CREATE FUNCTION kyc.tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tidemark_' || TG_TABLE_NAME, '');
  RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT ON kyc.inbox FOR EACH STATEMENT EXECUTE FUNCTION kyc.tell();
CREATE TRIGGER tell AFTER INSERT ON kyc.outbox FOR EACH STATEMENT EXECUTE FUNCTION kyc.tell();

CREATE TABLE kyc.sandbox (
    id         text        NOT NULL PRIMARY KEY,
    ref        text        NOT NULL,
    decision   text        NOT NULL DEFAULT 'pending' CHECK (decision IN ('pending', 'approved', 'declined', 'resubmit', 'expired')),
    country    text        NOT NULL DEFAULT 'CHE',
    decided_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE kyc.sandbox IS 'What the sandbox provider decided: buttons a developer pressed, nobody''s identity';

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
COMMENT ON TABLE kyc.audit IS 'Who did what; hash covers the row and the hash of the row before, so that a change shows';
COMMENT ON COLUMN kyc.audit.about IS 'A session''s id, a provider''s key, a transaction''s hash; never a person';

CREATE FUNCTION kyc.audit_hash(prev bytea, id bigint, at timestamptz, actor text, what text, about text, detail jsonb)
  RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(prev || convert_to(jsonb_build_array(id, extract(epoch FROM at), actor, what, about, detail)::text, 'UTF8'))
$$;

-- Rows follow one another: who writes waits for the transaction of whoever wrote before.
CREATE FUNCTION kyc.note(actor text, what text, about text, detail jsonb)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, kyc AS $$
#variable_conflict use_variable
DECLARE
  last kyc.audit;
  next_id bigint;
  prev bytea;
  now timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7021, 50);
  SELECT a.* INTO last FROM kyc.audit AS a ORDER BY a.id DESC LIMIT 1;
  next_id := coalesce(last.id, 0) + 1;
  prev := coalesce(last.hash, '\x'::bytea);
  now := clock_timestamp();
  INSERT INTO kyc.audit VALUES (next_id, now, actor, what, about, detail, prev,
    kyc.audit_hash(prev, next_id, now, actor, what, about, detail));
END $$;
COMMENT ON FUNCTION kyc.note(text, text, text, jsonb) IS 'Appends a row to kyc.audit; the only way in';

CREATE FUNCTION kyc.audit_broken() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT min(id) FROM (
        SELECT id, id IS DISTINCT FROM row_number() OVER w
                OR prev_hash IS DISTINCT FROM coalesce(lag(hash) OVER w, '\x'::bytea)
                OR hash IS DISTINCT FROM kyc.audit_hash(prev_hash, id, at, actor, what, about, detail) AS broken
        FROM kyc.audit WINDOW w AS (ORDER BY id)) AS rows
    WHERE broken
$$;
COMMENT ON FUNCTION kyc.audit_broken() IS 'The first row of kyc.audit that does not follow from the one before; NULL: none';

REVOKE ALL ON FUNCTION kyc.note(text, text, text, jsonb) FROM PUBLIC;

-- What the two roles may do, again and again the same; by hand where they could not be made here.
CREATE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge TO tidemark_kyc;
  GRANT DELETE ON kyc.inbox TO tidemark_kyc;
  GRANT SELECT, INSERT ON kyc.outbox TO tidemark_kyc;
  GRANT SELECT, UPDATE ON kyc.outbox TO tidemark_attester;
  GRANT SELECT ON kyc.audit TO tidemark_kyc, tidemark_attester;
  GRANT EXECUTE ON FUNCTION kyc.note(text, text, text, jsonb) TO tidemark_kyc, tidemark_attester;
END $$;
COMMENT ON PROCEDURE kyc.grant_roles() IS 'gives tidemark_kyc (sessions, webhooks) and tidemark_attester their rights';
REVOKE ALL ON PROCEDURE kyc.grant_roles() FROM PUBLIC;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['tidemark_kyc', 'tidemark_attester'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', name);
    END IF;
  END LOOP;
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the roles tidemark_kyc and tidemark_attester could not be set up (%): as a superuser, create them with LOGIN and CALL kyc.grant_roles()', SQLERRM;
END $$;
