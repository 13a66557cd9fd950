-- 0053_attester: what the attester remembers of a transaction under way.

ALTER TABLE kyc.outbox
    ADD COLUMN kind        text    NOT NULL DEFAULT 'call' CHECK (kind IN ('call', 'restore')),
    ADD COLUMN sent_ledger bigint,
    ADD COLUMN bump_fee    bigint,
    ADD COLUMN bad_seq     integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN kyc.outbox.kind IS 'Of the envelope: the call itself, or a restoration of archived entries before it';
COMMENT ON COLUMN kyc.outbox.sent_ledger IS 'Newest ledger when it was sent last; again only behind it';
COMMENT ON COLUMN kyc.outbox.bump_fee IS 'Stroops that bump_envelope pays in all';
COMMENT ON COLUMN kyc.outbox.bad_seq IS 'Times in a row that somebody else used the envelope''s sequence number';
COMMENT ON COLUMN kyc.outbox.last_status IS 'What was heard last: the network''s word, or ours (of manual_review: what about the person)';
