-- 0110_kyc_beside: the APIs of several deployments in one database each work on their own webhooks and sessions.

ALTER TABLE kyc.inbox ADD COLUMN deployment smallint REFERENCES chain.deployment;
UPDATE kyc.inbox AS i SET deployment = coalesce(
    (SELECT s.deployment FROM kyc.session AS s WHERE s.provider = i.provider AND (s.provider_id = i.provider_id OR s.ref = i.ref)
      ORDER BY s.created_at DESC LIMIT 1),
    (SELECT d.id FROM chain.deployment AS d ORDER BY d.epoch DESC, d.id DESC LIMIT 1));
DELETE FROM kyc.inbox WHERE deployment IS NULL; -- nothing is deployed
ALTER TABLE kyc.inbox
    ALTER COLUMN deployment SET NOT NULL,
    DROP CONSTRAINT inbox_pkey,
    ADD PRIMARY KEY (deployment, provider, event_key);
COMMENT ON COLUMN kyc.inbox.deployment IS 'Of the API that verified it: one account of a provider may tell several';

DROP INDEX kyc.inbox_new, kyc.inbox_waits, kyc.session_check, kyc.session_state;
CREATE INDEX inbox_new ON kyc.inbox (deployment, provider, next_try) WHERE state = 'new';
CREATE INDEX inbox_waits ON kyc.inbox (deployment, state, received_at) WHERE state IN ('new', 'failed');
CREATE INDEX session_check ON kyc.session (deployment, provider, next_check) WHERE next_check IS NOT NULL;
CREATE INDEX session_state ON kyc.session (deployment, state);
