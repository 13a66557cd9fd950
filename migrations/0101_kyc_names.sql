-- 0101_kyc_names: what the audit says of a row fits into a row of the audit.
--
-- kyc.note takes 128 bytes of about and 4096 of detail. An intent of a session with a longer id, or with a longer text in what is noted
-- of it, could not be moved: the attester tried it for ever, and those behind it waited. Rows from before are as they are.
ALTER TABLE kyc.session
    ADD CONSTRAINT session_names CHECK (octet_length(id) <= 64 AND octet_length(address) <= 128 AND octet_length(provider) <= 128
        AND octet_length(integrator) <= 128 AND octet_length(coalesce(reason, '')) <= 128) NOT VALID;
ALTER TABLE kyc.inbox
    ADD CONSTRAINT inbox_names CHECK (octet_length(provider) <= 128 AND octet_length(event_key) <= 512) NOT VALID;
ALTER TABLE kyc.outbox
    ADD CONSTRAINT outbox_names CHECK (octet_length(subject) <= 128 AND octet_length(coalesce(reason, '')) <= 128
        AND octet_length(to_jsonb(coalesce(last_status, ''))::text) <= 2048) NOT VALID;
