-- 0130_intent_mac: an intent is acted upon only with KYC's MAC, and no state of an intent changes without a row of the audit.
--
-- The MAC is made with a key that the database does not have (the KYC file's intentKey, the attester's attester_intent_key), so a
-- login that may insert rows cannot decide who is attested. The attester judges each row once, in `genuine`: a row without a valid MAC
-- is parked, supersedes nothing, and keeps no place that an honest row of the same decision needs.

ALTER TABLE kyc.outbox
    ADD COLUMN mac bytea,
    ADD COLUMN genuine boolean,
    ADD CONSTRAINT outbox_mac CHECK (octet_length(mac) = 32) NOT VALID;
COMMENT ON COLUMN kyc.outbox.mac IS 'KYC''s HMAC of what was decided (include/tidemark/intent.h)';
COMMENT ON COLUMN kyc.outbox.genuine IS 'Whether the attester found the MAC valid; NULL: not looked at yet';
-- Intents that were under way have no MAC: the attester parks them. The others count as genuine. Changing the column's type computes
-- it anew without checking a row against rules that are NOT VALID, which an UPDATE would do: older rows may break them.
ALTER TABLE kyc.outbox
    ALTER COLUMN genuine TYPE boolean USING CASE WHEN state NOT IN ('queued', 'signed', 'submitted') THEN true END;
CREATE INDEX outbox_unjudged ON kyc.outbox (deployment, id) WHERE genuine IS NULL;
ALTER TABLE kyc.outbox DROP CONSTRAINT outbox_subject_session_id_decision_rev_key;
CREATE UNIQUE INDEX outbox_decided ON kyc.outbox (subject, session_id, decision_rev) WHERE genuine IS NOT FALSE;

-- The audit of each move, whoever makes it and with whatever statement.
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
COMMENT ON FUNCTION kyc.audit_move() IS 'Notes a change of an intent''s state, or of the judgement on its MAC';
CREATE TRIGGER audit_move AFTER UPDATE ON kyc.outbox FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.genuine AND NEW.genuine IS NOT TRUE OR OLD.genuine IS FALSE AND NEW.genuine)
  EXECUTE FUNCTION kyc.audit_move();

-- An intent that is over is over for each login, also for the attester's own: an older attestation whose MAC is valid cannot be queued
-- again, and a revocation whose MAC was found valid cannot be declared forged.
CREATE FUNCTION kyc.keep_final() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'intent % is over, or its MAC was found valid: that stays as it is', OLD.id USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;
COMMENT ON FUNCTION kyc.keep_final() IS 'Refuses to move an intent that is over, and to take back that a MAC is valid';
REVOKE ALL ON FUNCTION kyc.keep_final() FROM PUBLIC;
CREATE TRIGGER keep_final BEFORE UPDATE ON kyc.outbox FOR EACH ROW
  WHEN (OLD.state IN ('confirmed', 'superseded') AND NEW.state <> OLD.state OR OLD.genuine AND NEW.genuine IS NOT TRUE)
  EXECUTE FUNCTION kyc.keep_final();

-- As in 0085, with the two columns.
CREATE OR REPLACE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge, kyc.session_key TO tidemark_kyc;
  GRANT DELETE ON kyc.inbox TO tidemark_kyc;
  REVOKE INSERT ON kyc.outbox FROM tidemark_kyc;
  GRANT SELECT, INSERT (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, mac, state, reason,
    last_status) ON kyc.outbox TO tidemark_kyc;
  REVOKE UPDATE ON kyc.outbox FROM tidemark_attester;
  GRANT SELECT, UPDATE (state, reason, genuine, kind, seq, envelope, tx_hash, max_time, submit_ledger, sent_ledger, bump_envelope,
    bump_hash, bump_fee, bad_seq, attempts, restorations, last_status, next_try, confirmed_ledger, attention, attended_at, updated_at)
    ON kyc.outbox TO tidemark_attester;
  GRANT SELECT ON kyc.attester TO tidemark_kyc;
  GRANT SELECT, INSERT, UPDATE ON kyc.attester TO tidemark_attester;
  GRANT SELECT, INSERT, UPDATE (bid, charged) ON kyc.attester_fee TO tidemark_attester;
  -- The attester believes the index where the servers of the network only say something.
  GRANT USAGE ON SCHEMA state, history TO tidemark_attester;
  GRANT SELECT ON chain.tx, chain.coverage, state.compliance_registry_kyc, state.compliance_registry_compliance_rec, state.compliance_registry_frozen,
    state.compliance_registry_blocked_jurisdiction, state.compliance_registry_verifier, history.compliance_registry_kyc,
    history.compliance_registry_compliance_rec TO tidemark_attester;
  GRANT SELECT ON kyc.audit TO tidemark_kyc, tidemark_attester;
  GRANT EXECUTE ON FUNCTION kyc.note(text, text, text, jsonb) TO tidemark_kyc, tidemark_attester;
END $$;

DO $$
BEGIN
  CALL chain.restrict_public();
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of tidemark_kyc and tidemark_attester could not be set (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public() and kyc.grant_roles()', SQLERRM;
END $$;
