-- 0056_attester_beat: the attester's own account of itself, and rights no wider than its work.

CREATE TABLE kyc.attester (
    deployment   smallint    NOT NULL REFERENCES chain.deployment,
    verifier     text        NOT NULL,
    state        text        NOT NULL CHECK (state IN ('working', 'waiting', 'stopped')),
    beat_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    ledger       bigint      NOT NULL,
    balance      bigint,
    sent         bigint      NOT NULL DEFAULT 0,
    confirmed    bigint      NOT NULL DEFAULT 0,
    parked       bigint      NOT NULL DEFAULT 0,
    failures     bigint      NOT NULL DEFAULT 0,
    confirmed_at timestamptz,
    failed_at    timestamptz,
    error        text,
    PRIMARY KEY (deployment, verifier)
) WITH (fillfactor = 50);
COMMENT ON TABLE kyc.attester IS 'The attester''s own account of itself, one row a key; written by who holds the key''s lock';
COMMENT ON COLUMN kyc.attester.verifier IS 'The key''s account, G…';
COMMENT ON COLUMN kyc.attester.state IS 'working; waiting: a server is away; stopped';
COMMENT ON COLUMN kyc.attester.ledger IS 'Newest ledger that a server told; 0: none did';
COMMENT ON COLUMN kyc.attester.balance IS 'Of the account, stroops; NULL: not known, or there is no account';
COMMENT ON COLUMN kyc.attester.sent IS 'Envelopes sent, each time; as all counts here since the row began';
COMMENT ON COLUMN kyc.attester.failures IS 'Turns that a server or the database failed';
COMMENT ON COLUMN kyc.attester.error IS 'What failed last';

CREATE INDEX outbox_parked ON kyc.outbox (id) WHERE state = 'parked';

-- As in 0050, and: of an intent the attester may change what it does with it, never what was decided.
CREATE OR REPLACE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge TO tidemark_kyc;
  GRANT DELETE ON kyc.inbox TO tidemark_kyc;
  GRANT SELECT, INSERT ON kyc.outbox TO tidemark_kyc;
  REVOKE UPDATE ON kyc.outbox FROM tidemark_attester;
  GRANT SELECT, UPDATE (state, reason, kind, seq, envelope, tx_hash, max_time, submit_ledger, sent_ledger, bump_envelope,
    bump_hash, bump_fee, bad_seq, attempts, last_status, next_try, confirmed_ledger, attention, attended_at, updated_at)
    ON kyc.outbox TO tidemark_attester;
  GRANT SELECT ON kyc.attester TO tidemark_kyc;
  GRANT SELECT, INSERT, UPDATE ON kyc.attester TO tidemark_attester;
  GRANT SELECT ON kyc.audit TO tidemark_kyc, tidemark_attester;
  GRANT EXECUTE ON FUNCTION kyc.note(text, text, text, jsonb) TO tidemark_kyc, tidemark_attester;
END $$;

DO $$
BEGIN
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of tidemark_kyc and tidemark_attester could not be set (%): as a superuser, CALL kyc.grant_roles()', SQLERRM;
END $$;
