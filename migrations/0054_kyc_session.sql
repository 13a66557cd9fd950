-- 0054_kyc_session: what limits on sessions are counted by, and answered challenges found when old.

CREATE INDEX session_provider_created ON kyc.session (provider, created_at);
CREATE INDEX challenge_expires ON kyc.challenge (expires_at);
