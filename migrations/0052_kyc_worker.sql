-- 0052_kyc_worker: how long an attestation was made to last, and rows found by provider.
--
-- Each provider has a thread of its own, so that one which hangs holds up nobody else's.

ALTER TABLE kyc.session ADD attested_until timestamptz;
COMMENT ON COLUMN kyc.session.attested_until IS 'Until when its attestation is to last: the earlier of our policy''s end and valid_until; NULL: it was never approved';

DROP INDEX kyc.session_check;
CREATE INDEX session_check ON kyc.session (provider, next_check) WHERE next_check IS NOT NULL;
DROP INDEX kyc.inbox_new;
CREATE INDEX inbox_new ON kyc.inbox (provider, next_try) WHERE state = 'new';
CREATE INDEX inbox_received ON kyc.inbox (received_at);
