-- 0055_attester_watch: what an attestation overwrote, for a person to set right.

ALTER TABLE kyc.outbox
    ADD COLUMN attention   text,
    ADD COLUMN attended_at timestamptz,
    ADD CHECK (attention IS NULL OR state = 'confirmed');
COMMENT ON COLUMN kyc.outbox.attention IS 'Of confirmed: the status that it overwrote though nobody may (suspended, sanctioned …), or unchecked; a person must look';
COMMENT ON COLUMN kyc.outbox.attended_at IS 'When a person had set right what attention says';
CREATE INDEX outbox_attention ON kyc.outbox (id) WHERE attention IS NOT NULL AND attended_at IS NULL;
