-- 0092_kyc_privacy: what is kept of a session for as long as it is needed and no longer.

ALTER TABLE kyc.session ADD network bytea CHECK (octet_length(network) = 8);
COMMENT ON COLUMN kyc.session.network IS 'Keyed hash of the network that a session without integrator was asked for from; an hour long, to count by';
COMMENT ON COLUMN kyc.session.hosted_url IS 'The provider''s page for this person, while it and the session last';
CREATE INDEX session_network ON kyc.session (network, created_at) WHERE network IS NOT NULL;
CREATE INDEX session_hosted ON kyc.session (hosted_until) WHERE hosted_url IS NOT NULL;
UPDATE kyc.session SET hosted_url = NULL, hosted_until = NULL
 WHERE hosted_url IS NOT NULL AND (hosted_until < now() OR state NOT IN ('created', 'pending', 'review', 'action_required'));

-- Deletes what is kept of the sessions of an address. The audit keeps its rows, which name sessions and never
-- an address, and gets one for each session. An attestation stays on the chain until its end.
CREATE PROCEDURE kyc.erase(who text, although_approved boolean DEFAULT false)
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  ids text[];
  one kyc.session;
BEGIN
  PERFORM pg_advisory_xact_lock(7021, 51); -- as for a new session: none comes in between
  PERFORM pg_advisory_xact_lock(7024, hashtext(s.deployment || s.address))
    FROM (SELECT DISTINCT deployment, address FROM kyc.session WHERE address = who) AS s;
  SELECT array_agg(id) INTO ids FROM (SELECT id FROM kyc.session WHERE address = who FOR UPDATE) AS s;
  IF ids IS NULL THEN
    RAISE EXCEPTION 'nothing is kept of this address' USING ERRCODE = 'no_data_found';
  END IF;
  IF EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = ANY (ids) AND o.state IN ('queued', 'signed', 'submitted')) THEN
    RAISE EXCEPTION 'an intent of this address is on its way to the chain'
      USING ERRCODE = 'object_in_use', HINT = 'wait until tidemark-attester status has none that is open';
  END IF;
  IF NOT although_approved AND EXISTS (SELECT FROM kyc.session AS s WHERE s.id = ANY (ids) AND s.state = 'approved'
      AND s.attested_until > clock_timestamp()) THEN
    RAISE EXCEPTION 'an approval of this address stands, and could not be withdrawn any more'
      USING ERRCODE = 'object_in_use', HINT = 'have it revoked first, or accept that its attestation stays until its end';
  END IF;
  FOR one IN SELECT s.* FROM kyc.session AS s WHERE s.id = ANY (ids) LOOP
    PERFORM kyc.note('operator', 'erased', one.id, jsonb_build_object('provider', one.provider, 'state', one.state));
    DELETE FROM kyc.inbox AS i WHERE i.provider = one.provider AND (i.provider_id = one.provider_id OR i.ref = one.ref);
    DELETE FROM kyc.sandbox AS b WHERE b.id = one.provider_id OR b.ref = one.ref;
  END LOOP;
  IF to_regclass('kyc.attester_fee') IS NOT NULL THEN
    EXECUTE 'DELETE FROM kyc.attester_fee AS f USING kyc.outbox AS o WHERE f.outbox = o.id AND o.session_id = ANY ($1)' USING ids;
  END IF;
  DELETE FROM kyc.session_key WHERE session_id = ANY (ids);
  DELETE FROM kyc.outbox WHERE session_id = ANY (ids);
  DELETE FROM kyc.session WHERE id = ANY (ids);
END $$;
COMMENT ON PROCEDURE kyc.erase(text, boolean) IS 'deletes what is kept of the sessions of an address; the audit has a row of it';
REVOKE ALL ON PROCEDURE kyc.erase(text, boolean) FROM PUBLIC;
