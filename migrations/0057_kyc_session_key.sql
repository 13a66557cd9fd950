-- 0057_kyc_session_key: further Idempotency-Keys of a session that is open.

CREATE TABLE kyc.session_key (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    idempotency bytea       NOT NULL,
    session_id  text        NOT NULL REFERENCES kyc.session,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, idempotency)
);
COMMENT ON TABLE kyc.session_key IS 'Keys that a session was asked for with after its first one (kyc.session.idempotency); the newest of each session';
COMMENT ON COLUMN kyc.session_key.idempotency IS 'Hash of the client and its Idempotency-Key';
CREATE INDEX session_key_session ON kyc.session_key (session_id, created_at);

-- As in 0056, and these keys.
CREATE OR REPLACE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge, kyc.session_key TO tidemark_kyc;
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
