-- 0100_kyc_rows: a row that tidemark_kyc can write is one that its worker can read, count and put off.
--
-- The worker adds to counts and turns times into numbers. A count at its type's end, a negative one or an infinite time made
-- each such statement fail, so one row of a stolen login kept all rows of that provider waiting. Rows from before are as they are.
-- The year 10000: the end of a document that is good until 9999-12-31.
ALTER TABLE kyc.session
    ADD CONSTRAINT session_counts CHECK (attempts BETWEEN 0 AND 1000000 AND decision_rev BETWEEN 0 AND 1000000
        AND coalesce(jurisdiction, 0) BETWEEN 0 AND 999) NOT VALID,
    ADD CONSTRAINT session_times CHECK (
        least(hosted_until, decision_at, valid_until, attested_until, created_at, updated_at, expires_at, next_check) >= '0001-01-01T00:00:00Z'
        AND greatest(hosted_until, decision_at, valid_until, attested_until, created_at, updated_at, expires_at, next_check) < '10001-01-01T00:00:00Z') NOT VALID,
    ADD CONSTRAINT session_lengths CHECK (octet_length(concat(id, address, provider, integrator, ref, provider_id, reason, last_error)) <= 4096
        AND octet_length(coalesce(hosted_url, '')) <= 4096) NOT VALID;
ALTER TABLE kyc.inbox
    ADD CONSTRAINT inbox_counts CHECK (attempts BETWEEN 0 AND 1000000) NOT VALID,
    ADD CONSTRAINT inbox_times CHECK (least(received_at, occurred_at, next_try) >= '0001-01-01T00:00:00Z'
        AND greatest(received_at, occurred_at, next_try) < '10001-01-01T00:00:00Z') NOT VALID,
    ADD CONSTRAINT inbox_lengths CHECK (octet_length(concat(provider, event_key, provider_id, ref, last_error)) <= 4096) NOT VALID;
