-- 0133_standing: the attester counts revocations that the index does not show.
ALTER TABLE kyc.attester ADD COLUMN standing bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN kyc.attester.standing IS 'Confirmed revocations whose attestation the index still has, up to 1000; counted once a minute';
-- A revocation's attestation is found by its address.
CREATE INDEX ON state."compliance_registry_kyc" (deployment, address);
