-- 0085_outbox: which intents can exist, who may write which of their columns, and what the attester spends.
--
-- The attester acts upon any row that it finds here. So a row that it could not act upon sensibly is
-- refused when it is written, and tidemark_kyc may state an intent but no progress of one.

-- Rows from before that break a rule below wait for a person; the rules hold for whatever is written from now on.
UPDATE kyc.outbox SET state = 'parked', reason = 'bad_row', updated_at = clock_timestamp()
 WHERE state IN ('queued', 'signed', 'submitted')
   AND NOT (decision_rev > 0 AND jurisdiction BETWEEN 0 AND 999 AND (action = 'revoke' OR jurisdiction > 0)
            AND expires_at BETWEEN (CASE action WHEN 'revoke' THEN 0 ELSE 1 END) AND 253402300799
            AND attempts >= 0 AND bad_seq >= 0 AND coalesce(submit_ledger, 0) >= 0 AND coalesce(sent_ledger, 0) >= 0
            AND (state = 'queued' OR octet_length(tx_hash) = 32 AND octet_length(envelope) > 0 AND seq > 0 AND max_time > 0));

ALTER TABLE kyc.outbox
    ADD COLUMN restorations integer NOT NULL DEFAULT 0,
    -- An attestation without end, or of no country, is none that a provider can decide. 253402300799: the end of the
    -- year 9999, the last time that RFC 3339 can name.
    ADD CONSTRAINT outbox_decision CHECK (decision_rev > 0 AND jurisdiction BETWEEN 0 AND 999
        AND (action = 'revoke' OR jurisdiction > 0)
        AND expires_at BETWEEN (CASE action WHEN 'revoke' THEN 0 ELSE 1 END) AND 253402300799) NOT VALID,
    ADD CONSTRAINT outbox_counts CHECK (attempts >= 0 AND bad_seq >= 0 AND restorations >= 0
        AND coalesce(max_time, 0) >= 0 AND coalesce(submit_ledger, 0) BETWEEN 0 AND 4294967295
        AND coalesce(sent_ledger, 0) BETWEEN 0 AND 4294967295) NOT VALID,
    ADD CONSTRAINT outbox_hashes CHECK (octet_length(tx_hash) = 32 AND octet_length(bump_hash) = 32) NOT VALID,
    ADD CONSTRAINT outbox_under_way CHECK (state NOT IN ('signed', 'submitted')
        OR seq > 0 AND octet_length(envelope) > 0 AND max_time > 0) NOT VALID,
    ADD CONSTRAINT outbox_confirmed CHECK (state <> 'confirmed' OR (confirmed_ledger IS NOT NULL AND confirmed_ledger > 0)) NOT VALID;
COMMENT ON COLUMN kyc.outbox.restorations IS 'Restorations of archived entries signed for this intent; a few at most';

-- One row an envelope that was signed. What is under way counts with its bid, what is over with what the chain charged.
CREATE TABLE kyc.attester_fee (
    deployment smallint    NOT NULL REFERENCES chain.deployment,
    verifier   text        NOT NULL,
    tx_hash    bytea       NOT NULL PRIMARY KEY CHECK (octet_length(tx_hash) = 32),
    outbox     bigint      NOT NULL REFERENCES kyc.outbox,
    signed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    bid        bigint      NOT NULL CHECK (bid > 0),
    charged    bigint      CHECK (charged >= 0)
);
COMMENT ON TABLE kyc.attester_fee IS 'What each signed envelope may cost, and did: the attester''s daily budget is counted here';
COMMENT ON COLUMN kyc.attester_fee.verifier IS 'The account that pays, G…';
COMMENT ON COLUMN kyc.attester_fee.bid IS 'Stroops at most; of its fee bump, where there is one';
COMMENT ON COLUMN kyc.attester_fee.charged IS 'Stroops that the chain took; 0: it never came. NULL: not known yet';
CREATE INDEX attester_fee_day ON kyc.attester_fee (deployment, signed_at);

-- As in 0057, and: tidemark_kyc states intents, the attester writes their progress, each its own columns.
CREATE OR REPLACE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge, kyc.session_key TO tidemark_kyc;
  GRANT DELETE ON kyc.inbox TO tidemark_kyc;
  REVOKE INSERT ON kyc.outbox FROM tidemark_kyc;
  GRANT SELECT, INSERT (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, state, reason,
    last_status) ON kyc.outbox TO tidemark_kyc;
  REVOKE UPDATE ON kyc.outbox FROM tidemark_attester;
  GRANT SELECT, UPDATE (state, reason, kind, seq, envelope, tx_hash, max_time, submit_ledger, sent_ledger, bump_envelope,
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
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of tidemark_kyc and tidemark_attester could not be set (%): as a superuser, CALL kyc.grant_roles()', SQLERRM;
END $$;
