-- 0091_kyc_revocations: revocations are counted before another is queued.
CREATE INDEX outbox_revoked ON kyc.outbox (created_at) WHERE action = 'revoke';
