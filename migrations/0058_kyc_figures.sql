-- 0058_kyc_figures: what /metrics counts every ten seconds, counted from indexes alone.
--
-- Sessions, webhooks and intents at their end are kept for long: none of them is read to count the others.

CREATE INDEX session_state ON kyc.session (state);
CREATE INDEX inbox_waits ON kyc.inbox (state, received_at) WHERE state IN ('new', 'failed');
