-- 0006_kyc_console: what the operator console reads, and the actions that its people take.
--
-- tidemark_console may read the views of this file, kyc.proposal and kyc.audit, and execute the functions
-- that 0007_roles grants it. It reads no table with a jurisdiction and writes none. The console says which
-- person acts (api/console/ knows them by their certificates), and every row of the audit names that person.
--
-- An action that puts something on the chain, gives rights or deletes needs two people: one proposes, another one
-- confirms. The functions refuse the same person, a proposal older than a day, and a target that is not
-- what it was when it was proposed. Another name does not make another person: a person has a few
-- certificates, and who shares one with the proposer is the proposer.
--
-- A request may be repeated by the same person: it then gets the answer that the first one had.

CREATE TABLE kyc.proposal (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deployment   smallint    NOT NULL REFERENCES chain.deployment,
    action       text        NOT NULL CHECK (action IN ('requeue', 'revoke', 'erase', 'integrator_put', 'key_add', 'key_rotate')),
    target       text        NOT NULL CHECK (octet_length(target) BETWEEN 1 AND 64),
    target_state bytea       NOT NULL,
    detail       jsonb       CHECK (octet_length(detail::text) <= 3072),
    key_sha256   bytea       CHECK (octet_length(key_sha256) = 32),
    reason       text        NOT NULL CHECK (reason ~ '^[a-z_]{1,32}( [A-Z]{1,8}-[0-9]{1,10})?$'),
    state        text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'withdrawn', 'expired')),
    proposed_by  text        NOT NULL,
    certificates bytea[]     NOT NULL,
    proposed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by   text,
    decided_at   timestamptz,
    CONSTRAINT proposal_two_people CHECK (state <> 'done' OR decided_by IS NOT NULL AND decided_by <> proposed_by)
);
COMMENT ON TABLE kyc.proposal IS 'Actions that one person proposed and another one must confirm';
COMMENT ON COLUMN kyc.proposal.target IS 'requeue: an intent''s id; revoke, erase: a session''s id, for all that stand of its address; integrator_put, key_add: an integrator; key_rotate: a key''s id. Never a person';
COMMENT ON COLUMN kyc.proposal.detail IS 'Values that an integrator or a key is to have, as kyc.console_detail made them';
COMMENT ON COLUMN kyc.proposal.key_sha256 IS 'SHA-256 of the key that the proposer was shown; the key is not valid before the confirmation';
COMMENT ON COLUMN kyc.proposal.certificates IS 'SHA-256 of the certificates of the person who proposed it';
COMMENT ON COLUMN kyc.proposal.target_state IS 'Hash of what the target was when it was proposed';
COMMENT ON COLUMN kyc.proposal.reason IS 'A fixed word, and the number of a ticket: no free text, which may name a person';

-- One proposal of an action for a target at a time, so that two of them cannot be confirmed one after the other.
CREATE UNIQUE INDEX proposal_open ON kyc.proposal (deployment, action, target) WHERE state = 'open';
CREATE INDEX proposal_recent ON kyc.proposal (proposed_at);
CREATE INDEX proposal_revoked ON kyc.proposal (decided_at) WHERE action = 'revoke' AND state = 'done';

-- --- what a person does with one intent: tidemark-attester and the console alike ----------------------

-- The last moment of the envelope that was given up stays: nothing is signed before it. A MAC that was not
-- found valid is judged again, because the key may have been wrong. Not while another row of the same
-- decision is genuine, or may be. The trigger audit_move writes the audit.
CREATE FUNCTION kyc.release(of_deployment smallint, intent bigint, who text)
  RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE kyc.outbox AS o SET updated_at = clock_timestamp(), reviewed_at = clock_timestamp(), reason = NULL, genuine = CASE WHEN o.genuine THEN true END,
    last_status = 'released by ' || who, bad_seq = 0, attempts = 0, state = 'queued', seq = NULL,
    envelope = NULL, tx_hash = NULL, submit_ledger = NULL, sent_ledger = NULL, bump_envelope = NULL, bump_hash = NULL,
    bump_fee = NULL, next_try = clock_timestamp()
  WHERE o.id = intent AND o.state = 'parked' AND o.deployment = of_deployment
    AND NOT EXISTS (SELECT FROM kyc.outbox AS t WHERE t.subject = o.subject AND t.session_id = o.session_id
      AND t.decision_rev = o.decision_rev AND t.id <> o.id AND t.genuine IS NOT FALSE);
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION kyc.release(smallint, bigint, text) IS 'Queues a parked intent again after review; false: there is none such';

CREATE FUNCTION kyc.attend(of_deployment smallint, intent bigint, part text, why text, who text)
  RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  o kyc.outbox;
BEGIN
  UPDATE kyc.outbox AS x SET attended_at = clock_timestamp(), attended_by = part
  WHERE x.id = intent AND x.attention IS NOT NULL AND x.attended_at IS NULL AND x.deployment = of_deployment
  RETURNING x.id, x.session_id, x.decision_rev, x.attention INTO o.id, o.session_id, o.decision_rev, o.attention;
  IF o.id IS NULL THEN
    RETURN false;
  END IF;
  PERFORM kyc.note(part, 'attended', o.session_id,
    jsonb_strip_nulls(jsonb_build_object('id', o.id, 'rev', o.decision_rev, 'overwrote', o.attention, 'by', who, 'reason', why)));
  RETURN true;
END $$;
COMMENT ON FUNCTION kyc.attend(smallint, bigint, text, text, text) IS 'Marks the attention of a confirmed intent as resolved, and audits it; false: the intent asks for none';

-- --- the console's actions: SECURITY DEFINER, for tidemark_console alone --------------------------------

CREATE FUNCTION kyc.console_person(who text, certificates bytea[])
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF who IS NULL OR who !~ '^[a-z0-9_-]{1,32}$' THEN
    RAISE EXCEPTION 'a person has a name of a-z, 0-9, _ and -, at most 32 characters' USING ERRCODE = 'TK006';
  ELSIF coalesce(cardinality(certificates), 0) NOT BETWEEN 1 AND 4
      OR EXISTS (SELECT FROM unnest(certificates) AS c WHERE octet_length(c) IS DISTINCT FROM 32) THEN
    RAISE EXCEPTION 'a person has 1 to 4 certificates, each by its SHA-256' USING ERRCODE = 'TK006';
  END IF;
END $$;
COMMENT ON FUNCTION kyc.console_person(text, bytea[]) IS 'Raises TK006 unless the name and the certificates'' hashes are well formed';

-- Returns the sessions that the worker would revoke on an order (revoke_by_order, api/kyc/worker/decision.c).
CREATE FUNCTION kyc.console_standing(of_deployment smallint, session text)
  RETURNS SETOF kyc.session LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT b.* FROM kyc.session AS a JOIN kyc.session AS b ON b.address = a.address AND b.deployment = a.deployment
  WHERE a.id = console_standing.session AND a.deployment = console_standing.of_deployment
    AND (b.state = 'approved' OR b.state = 'expired' AND EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = b.id
      AND o.action = 'attest' AND o.state <> 'superseded'));
$$;
COMMENT ON FUNCTION kyc.console_standing(smallint, text) IS 'Sessions of the same address whose attestation may be on the chain';

-- Reduces a request to the members that the action knows, so that nothing else of it gets into the audit.
CREATE FUNCTION kyc.console_detail(act text, given jsonb)
  RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF act = 'integrator_put' THEN
    RETURN jsonb_build_object('name', given ->> 'name', 'origins', to_jsonb(ARRAY(SELECT jsonb_array_elements_text(given -> 'origins'))),
      'sessionsPerHour', (given ->> 'sessionsPerHour')::integer, 'state', given ->> 'state');
  ELSIF act = 'key_add' THEN
    RETURN jsonb_build_object('keyId', given ->> 'keyId', 'scopes', to_jsonb(ARRAY(SELECT jsonb_array_elements_text(given -> 'scopes'))),
      'rate', (given ->> 'rate')::integer, 'burst', (given ->> 'burst')::integer,
      'networks', to_jsonb(ARRAY(SELECT jsonb_array_elements_text(given -> 'networks')::cidr)), 'endsAt', (given ->> 'endsAt')::timestamptz);
  ELSIF act = 'key_rotate' THEN
    RETURN jsonb_build_object('keyId', given ->> 'keyId', 'overlapS', (given ->> 'overlapS')::integer);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION kyc.console_detail(text, jsonb) IS 'Returns the values that an action on integrators or keys is to set; NULL: the action has none';

-- Does what two people decided of integrators and keys. An integrator's brand stays as it is.
CREATE FUNCTION kyc.console_keys(act text, target text, detail jsonb, key_sha256 bytea, who text)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  IF act = 'integrator_put' THEN
    PERFORM kyc.integrator_put(who, target, detail ->> 'name', ARRAY(SELECT jsonb_array_elements_text(detail -> 'origins')),
      (SELECT i.brand FROM kyc.integrator AS i WHERE i.id = target), (detail ->> 'sessionsPerHour')::integer, detail ->> 'state');
  ELSIF act = 'key_add' THEN
    PERFORM kyc.key_add(who, detail ->> 'keyId', target, key_sha256, ARRAY(SELECT jsonb_array_elements_text(detail -> 'scopes')),
      (detail ->> 'rate')::integer, (detail ->> 'burst')::integer, ARRAY(SELECT jsonb_array_elements_text(detail -> 'networks')::cidr), NULL,
      (detail ->> 'endsAt')::timestamptz);
  ELSIF act = 'key_rotate' THEN
    PERFORM kyc.key_rotate(who, target, detail ->> 'keyId', key_sha256, (detail ->> 'overlapS')::integer * interval '1 s');
  END IF;
END $$;
COMMENT ON FUNCTION kyc.console_keys(text, text, jsonb, bytea, text) IS 'Adds or changes an integrator, adds or rotates a key';

-- Refuses to propose an action that could not be done: carries the action out once and undoes it.
CREATE FUNCTION kyc.console_try(act text, target text, detail jsonb, key_sha256 bytea)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM kyc.console_keys(act, target, detail, key_sha256, 'console');
  RAISE EXCEPTION 'undone' USING ERRCODE = 'TK000';
EXCEPTION WHEN SQLSTATE 'TK000' THEN
  NULL;
END $$;
COMMENT ON FUNCTION kyc.console_try(text, text, jsonb, bytea) IS 'Fails as kyc.console_keys would, and does nothing';

-- Returns a hash of the target's present state, or NULL if the action does not apply to it. With locked, the target stays
-- locked to the end of the transaction.
CREATE FUNCTION kyc.console_target(of_deployment smallint, act text, target text, locked boolean)
  RETURNS bytea LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  found_state text;
BEGIN
  IF act = 'requeue' AND target ~ '^[1-9][0-9]{0,17}$' THEN
    IF locked THEN
      PERFORM FROM kyc.outbox AS o WHERE o.id = target::bigint AND o.deployment = of_deployment FOR UPDATE;
    END IF;
    SELECT concat_ws('|', o.state, o.reason, o.last_status, o.updated_at, o.genuine) INTO found_state FROM kyc.outbox AS o
    WHERE o.id = target::bigint AND o.deployment = of_deployment AND o.state = 'parked';
  ELSIF act IN ('erase', 'revoke') AND locked THEN
    IF act = 'erase' THEN -- the order of kyc.erase's own locks
      PERFORM pg_advisory_xact_lock(7021, 51);
    END IF;
    PERFORM pg_advisory_xact_lock(7024, hashtext(s.deployment || s.ref))
      FROM (SELECT DISTINCT b.deployment, b.ref FROM kyc.session AS a JOIN kyc.session AS b ON b.address = a.address
            WHERE a.id = target AND a.deployment = of_deployment ORDER BY 1, 2) AS s;
  ELSIF locked THEN -- integrators and keys: as each change of them
    PERFORM FROM kyc.integrator_revision FOR UPDATE;
  END IF;
  IF act = 'integrator_put' THEN
    SELECT coalesce(max(concat_ws('|', i.id, i.updated_at)), 'none') INTO found_state FROM kyc.integrator AS i WHERE i.id = target;
  ELSIF act = 'key_add' THEN
    SELECT concat_ws('|', i.id, i.updated_at) INTO found_state FROM kyc.integrator AS i WHERE i.id = target;
  ELSIF act = 'key_rotate' THEN
    SELECT concat_ws('|', i.id, i.updated_at, k.ends_at) INTO found_state FROM kyc.integrator_key AS k JOIN kyc.integrator AS i ON i.id = k.integrator
    WHERE k.key_id = target AND k.revoked_at IS NULL AND (k.ends_at IS NULL OR k.ends_at > clock_timestamp());
  ELSIF act = 'revoke' THEN
    SELECT string_agg(concat_ws('|', s.id, s.state, s.decision_rev), ',' ORDER BY s.id) INTO found_state
    FROM kyc.console_standing(of_deployment, target) AS s;
  ELSIF act = 'erase' THEN
    SELECT string_agg(concat_ws('|', b.id, b.state, b.decision_rev), ',' ORDER BY b.id) INTO found_state
    FROM kyc.session AS a JOIN kyc.session AS b ON b.address = a.address WHERE a.id = target AND a.deployment = of_deployment;
  END IF;
  RETURN sha256(convert_to(found_state, 'UTF8'));
END $$;
COMMENT ON FUNCTION kyc.console_target(smallint, text, text, boolean) IS 'Hash of what the target of an action is now; NULL: there is none such';

-- Returns the name in the audit's row: the session that a target is about, an integrator, or a key.
CREATE FUNCTION kyc.console_about(act text, target text)
  RETURNS text LANGUAGE sql STABLE
  RETURN CASE WHEN act = 'requeue' THEN (SELECT o.session_id FROM kyc.outbox AS o WHERE o.id = target::bigint) ELSE target END;
COMMENT ON FUNCTION kyc.console_about(text, text) IS 'The session, integrator or key that a target of an action is about';

-- The limits keep one person from filling the list of the others, and the audit. given, key_sha256: of integrators and keys, else NULL.
CREATE FUNCTION kyc.propose(of_deployment smallint, act text, target text, why text, who text, certificates bytea[], given jsonb, key_sha256 bytea)
  RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  state_now bytea;
  made bigint;
  detail jsonb := kyc.console_detail(act, given);
BEGIN
  PERFORM kyc.console_person(who, certificates);
  state_now := kyc.console_target(of_deployment, act, target, false);
  IF state_now IS NULL THEN
    RAISE EXCEPTION 'there is nothing that this action applies to: look at the list again' USING ERRCODE = 'TK001';
  END IF;
  UPDATE kyc.proposal AS p SET state = 'expired' WHERE p.deployment = of_deployment AND p.action = act AND p.target = target
    AND p.state = 'open' AND p.proposed_at < clock_timestamp() - interval '24 hours';
  SELECT p.id INTO made FROM kyc.proposal AS p WHERE p.deployment = of_deployment AND p.action = act AND p.target = target
    AND p.state = 'open' AND p.proposed_by = who AND p.reason = why AND p.target_state = state_now
    AND p.detail IS NOT DISTINCT FROM detail AND p.key_sha256 IS NOT DISTINCT FROM key_sha256;
  IF made IS NOT NULL THEN
    RETURN made;
  ELSIF (SELECT count(*) >= 256 OR count(*) FILTER (WHERE p.proposed_by = who) >= 32 FROM kyc.proposal AS p
        WHERE p.state = 'open' AND p.proposed_at > clock_timestamp() - interval '24 hours')
     OR (SELECT count(*) >= 2048 OR count(*) FILTER (WHERE p.proposed_by = who) >= 256 FROM kyc.proposal AS p
        WHERE p.proposed_at > clock_timestamp() - interval '24 hours') THEN
    RAISE EXCEPTION 'a person may have 32 open proposals and make 256 in 24 hours; all people may have 256 and make 2048' USING ERRCODE = 'TK007';
  END IF;
  IF detail IS NOT NULL THEN
    PERFORM kyc.console_try(act, target, detail, key_sha256);
  END IF;
  INSERT INTO kyc.proposal AS p (deployment, action, target, target_state, reason, detail, key_sha256, proposed_by, certificates)
  VALUES (of_deployment, act, target, state_now, why, detail, key_sha256, who, certificates) ON CONFLICT DO NOTHING RETURNING p.id INTO made;
  IF made IS NULL THEN
    RAISE EXCEPTION 'this was proposed already: another person may confirm it' USING ERRCODE = 'TK005';
  END IF;
  PERFORM kyc.note('console ' || who, 'proposed.' || act, kyc.console_about(act, target),
    jsonb_strip_nulls(jsonb_build_object('proposal', made, 'target', target, 'reason', why, 'detail', detail)));
  RETURN made;
END $$;
COMMENT ON FUNCTION kyc.propose(smallint, text, text, text, text, bytea[], jsonb, bytea) IS 'Proposes an action that another person must confirm; its id';

CREATE FUNCTION kyc.confirm(of_deployment smallint, proposal bigint, who text, certificates bytea[])
  RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  p kyc.proposal;
  about text;
  address text;
BEGIN
  PERFORM kyc.console_person(who, certificates);
  SELECT x.* INTO p FROM kyc.proposal AS x WHERE x.id = proposal AND x.deployment = of_deployment FOR UPDATE;
  IF p.state = 'done' AND p.decided_by = who THEN
    RETURN true;
  ELSIF p.id IS NULL OR p.state <> 'open' THEN
    RAISE EXCEPTION 'there is no such open proposal' USING ERRCODE = 'TK001';
  ELSIF p.proposed_by = who OR p.certificates && certificates THEN
    RAISE EXCEPTION 'who proposed it cannot confirm it' USING ERRCODE = 'TK002';
  ELSIF p.proposed_at < clock_timestamp() - interval '24 hours' THEN
    RAISE EXCEPTION 'the proposal is older than 24 hours: propose it again' USING ERRCODE = 'TK003';
  ELSIF p.action = 'revoke' AND (SELECT count(*) >= 20 FROM kyc.proposal AS x WHERE x.action = 'revoke' AND x.state = 'done'
      AND x.decided_at > clock_timestamp() - interval '1 hour') THEN
    RAISE EXCEPTION 'people revoke 20 addresses in an hour at most' USING ERRCODE = 'TK007';
  ELSIF kyc.console_target(of_deployment, p.action, p.target, true) IS DISTINCT FROM p.target_state THEN
    RAISE EXCEPTION 'the target is not what it was when this was proposed: withdraw the proposal and look again' USING ERRCODE = 'TK004';
  END IF;
  about := kyc.console_about(p.action, p.target);
  IF p.action = 'requeue' THEN
    IF NOT kyc.release(of_deployment, p.target::bigint, who || ' and ' || p.proposed_by) THEN
      RAISE EXCEPTION 'another row of the same decision stands' USING ERRCODE = 'TK004';
    END IF;
  ELSIF p.action = 'revoke' THEN
    INSERT INTO kyc.revocation AS r (session_id, deployment) SELECT s.id, s.deployment FROM kyc.console_standing(of_deployment, p.target) AS s
      ON CONFLICT (session_id) DO UPDATE SET ordered_at = clock_timestamp(), done_at = NULL;
  ELSIF p.action = 'erase' THEN
    SELECT s.address INTO address FROM kyc.session AS s WHERE s.id = p.target;
    CALL kyc.erase(address, false);
  ELSE
    PERFORM kyc.console_keys(p.action, p.target, p.detail, p.key_sha256, 'console ' || who || ' and ' || p.proposed_by);
  END IF;
  UPDATE kyc.proposal AS x SET state = 'done', decided_by = who, decided_at = clock_timestamp() WHERE x.id = p.id;
  -- Last: any login that notes something waits for the audit's lock.
  PERFORM kyc.note('console ' || who, 'confirmed.' || p.action, about,
    jsonb_build_object('proposal', p.id, 'target', p.target, 'reason', p.reason, 'proposedBy', p.proposed_by));
  RETURN true;
END $$;
COMMENT ON FUNCTION kyc.confirm(smallint, bigint, text, bytea[]) IS 'Confirms what another person proposed, and does it';

CREATE FUNCTION kyc.withdraw(of_deployment smallint, proposal bigint, who text, certificates bytea[])
  RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  p kyc.proposal;
BEGIN
  PERFORM kyc.console_person(who, certificates);
  SELECT x.* INTO p FROM kyc.proposal AS x WHERE x.id = proposal AND x.deployment = of_deployment FOR UPDATE;
  IF p.state = 'withdrawn' AND p.decided_by = who THEN
    RETURN true;
  ELSIF p.id IS NULL OR p.state <> 'open' THEN
    RAISE EXCEPTION 'there is no such open proposal' USING ERRCODE = 'TK001';
  END IF;
  UPDATE kyc.proposal AS x SET state = 'withdrawn', decided_by = who, decided_at = clock_timestamp() WHERE x.id = p.id;
  PERFORM kyc.note('console ' || who, 'withdrawn.' || p.action, coalesce(kyc.console_about(p.action, p.target), p.target),
    jsonb_build_object('proposal', p.id, 'target', p.target, 'proposedBy', p.proposed_by));
  RETURN true;
END $$;
COMMENT ON FUNCTION kyc.withdraw(smallint, bigint, text, bytea[]) IS 'Ends an open proposal without doing it; any person may';

CREATE FUNCTION kyc.console_reason(why text)
  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF why IS NULL OR why !~ '^[a-z_]{1,32}( [A-Z]{1,8}-[0-9]{1,10})?$' THEN
    RAISE EXCEPTION 'a reason is a fixed word and a ticket' USING ERRCODE = 'TK006';
  END IF;
END $$;
COMMENT ON FUNCTION kyc.console_reason(text) IS 'Refuses what may be more than a fixed word and a ticket';

-- Takes rights away, for which one person is enough: a key ends at once, and the keys of a suspended integrator are refused.
-- A repeated request changes nothing.
CREATE FUNCTION kyc.console_end(act text, target text, why text, who text, certificates bytea[])
  RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  i kyc.integrator;
  k kyc.integrator_key;
BEGIN
  PERFORM kyc.console_person(who, certificates);
  PERFORM kyc.console_reason(why);
  PERFORM FROM kyc.integrator_revision FOR UPDATE;
  SELECT x.* INTO k FROM kyc.integrator_key AS x WHERE act = 'key_end' AND x.key_id = target;
  SELECT x.* INTO i FROM kyc.integrator AS x WHERE act = 'suspend' AND x.id = target;
  IF k.key_id IS NULL AND i.id IS NULL THEN
    RAISE EXCEPTION 'there is no such integrator or key' USING ERRCODE = 'TK001';
  ELSIF k.revoked_at IS NOT NULL OR i.state = 'suspended' THEN
    RETURN true;
  ELSIF k.key_id IS NOT NULL THEN
    PERFORM kyc.key_revoke('console ' || who, target);
  ELSE
    PERFORM kyc.integrator_put('console ' || who, i.id, i.name, i.origins, i.brand, i.sessions_per_hour, 'suspended');
  END IF;
  PERFORM kyc.note('console ' || who, 'did.' || act, target, jsonb_build_object('reason', why));
  RETURN true;
END $$;
COMMENT ON FUNCTION kyc.console_end(text, text, text, text, bytea[]) IS 'Ends a key, or suspends an integrator, at once';

CREATE FUNCTION kyc.console_attend(of_deployment smallint, intent bigint, why text, who text, certificates bytea[])
  RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM kyc.console_person(who, certificates);
  PERFORM kyc.console_reason(why);
  IF NOT kyc.attend(of_deployment, intent, 'console ' || who, why, who) AND NOT EXISTS (SELECT FROM kyc.outbox AS o
      WHERE o.id = intent AND o.deployment = of_deployment AND o.attended_by = 'console ' || who) THEN
    RAISE EXCEPTION 'this intent asks for no attention' USING ERRCODE = 'TK001';
  END IF;
  RETURN true;
END $$;
COMMENT ON FUNCTION kyc.console_attend(smallint, bigint, text, text, bytea[]) IS 'kyc.attend for a person of the console';

-- The same notification with the same id, as often as kyc.hook_replay takes it. One that waits already is tried now, so a repeated request adds
-- none, nor a row of the audit.
CREATE FUNCTION kyc.console_replay(of_deployment smallint, delivery bigint, why text, who text, certificates bytea[])
  RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d kyc.hook_delivery;
  waiting kyc.hook_delivery;
  h kyc.hook;
  answer kyc.hook_answer;
BEGIN
  PERFORM kyc.console_person(who, certificates);
  PERFORM kyc.console_reason(why);
  SELECT x.* INTO d FROM kyc.hook_delivery AS x WHERE x.id = delivery AND x.deployment = of_deployment;
  SELECT x.* INTO h FROM kyc.hook AS x WHERE x.id = d.hook AND x.deployment = of_deployment AND x.state <> 'deleted'
    FOR NO KEY UPDATE; -- the second of two simultaneous requests finds what the first one added
  IF h.id IS NULL THEN
    RAISE EXCEPTION 'there is no such delivery' USING ERRCODE = 'TK001';
  ELSIF h.state <> 'enabled' THEN
    RAISE EXCEPTION 'the webhook is disabled' USING ERRCODE = 'TK008';
  END IF;
  SELECT q.* INTO waiting FROM kyc.hook_delivery AS q WHERE q.event = d.event AND q.hook = h.id AND q.state = 'queued' ORDER BY q.id LIMIT 1;
  IF waiting.next_try <= clock_timestamp() THEN
    RETURN waiting.id::text;
  END IF;
  answer := kyc.hook_replay(of_deployment, h.integrator, h.id, coalesce(waiting.id, d.id));
  IF answer.status >= 400 THEN
    RAISE EXCEPTION '%', answer.body USING ERRCODE = CASE answer.status WHEN 404 THEN 'TK001' ELSE 'program_limit_exceeded' END;
  END IF;
  PERFORM kyc.note('console ' || who, 'did.replay', h.id, jsonb_build_object('delivery', d.id, 'event', d.event, 'reason', why));
  RETURN answer.body::jsonb ->> 'deliveryId';
END $$;
COMMENT ON FUNCTION kyc.console_replay(smallint, bigint, text, text, bytea[]) IS 'Sends a notification once more; the id of the delivery that waits';

-- --- what the console reads: owner's views, without jurisdictions, references and hashes ------------------

CREATE VIEW kyc.console_review AS
  SELECT o.deployment, o.id, CASE WHEN o.state = 'parked' THEN 'parked' ELSE 'attention' END AS kind, o.action,
    CASE WHEN o.state = 'parked' THEN o.reason ELSE o.attention END AS reason, o.last_status AS detail, o.session_id,
    o.subject AS address, s.provider, s.state AS session_state, o.updated_at AS since, o.confirmed_ledger,
    encode(o.tx_hash, 'hex') AS tx_hash
  FROM kyc.outbox AS o JOIN kyc.session AS s ON s.id = o.session_id
  WHERE o.state = 'parked' OR o.attention IS NOT NULL AND o.attended_at IS NULL;
COMMENT ON VIEW kyc.console_review IS 'Intents that need review, and confirmed ones that overwrote something';

CREATE VIEW kyc.console_session AS
  SELECT s.deployment, s.id, s.address, s.provider, s.integrator, s.state, s.reason, s.created_at, s.updated_at, s.attested_until,
    CASE WHEN r.done_at IS NULL THEN r.ordered_at END AS revocation_ordered_at
  FROM kyc.session AS s LEFT JOIN kyc.revocation AS r ON r.session_id = s.id;
COMMENT ON VIEW kyc.console_session IS 'Sessions, as far as the console shows them';

CREATE VIEW kyc.console_provider AS
  SELECT i.deployment, i.provider, i.state, count(*) AS webhooks, min(i.received_at) AS oldest, max(i.attempts) AS attempts
  FROM kyc.inbox AS i WHERE i.state IN ('new', 'failed') GROUP BY i.deployment, i.provider, i.state;
COMMENT ON VIEW kyc.console_provider IS 'Webhooks that wait or were given up, by provider';

CREATE VIEW kyc.console_asked AS
  SELECT s.deployment, s.provider, count(*) AS sessions, count(*) FILTER (WHERE s.attempts > 0) AS failing,
    max(s.attempts) AS attempts, min(s.next_check) AS next_check, max(s.decision_at) AS decision_at
  FROM kyc.session AS s WHERE s.next_check IS NOT NULL GROUP BY s.deployment, s.provider;
COMMENT ON VIEW kyc.console_asked IS 'Sessions that a provider is still asked about, and for how many that fails';

CREATE VIEW kyc.console_attester AS
  SELECT a.deployment, a.verifier, a.state, a.heartbeat_at, a.ledger, a.balance, a.confirmed, a.parked, a.failures, a.confirmed_at,
    a.failed_at, a.standing
  FROM kyc.attester AS a;
COMMENT ON VIEW kyc.console_attester IS 'Figures that the attesters report';

-- Shows only the host of an endpoint's URL, because the rest may hold a secret of the integrator.
CREATE VIEW kyc.console_hook AS
  SELECT h.deployment, h.id, h.integrator, substring(h.url FROM '^[a-z]+://(?:[^/?#]*@)?([^/?#]+)') AS host, h.events, h.state, h.reason,
    h.failures, h.paused_until, h.created_at,
    (SELECT count(*) FROM kyc.hook_watch AS w WHERE w.hook = h.id) AS addresses,
    (SELECT count(*) FROM (SELECT FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.state = 'queued' LIMIT 10001) AS q) AS queued,
    (SELECT min(d.created_at) FROM kyc.hook_delivery AS d WHERE d.hook = h.id AND d.state = 'queued') AS oldest
  FROM kyc.hook AS h WHERE h.state <> 'deleted';
COMMENT ON VIEW kyc.console_hook IS 'Endpoints of integrators, and what waits for them';

-- Neither the body nor whom it is about.
CREATE VIEW kyc.console_delivery AS
  SELECT d.deployment, d.id, d.hook, d.event, e.kind, d.state, d.attempts, d.last_status, d.last_error,
    CASE WHEN d.state = 'queued' AND d.head THEN d.next_try END AS next_try, d.created_at, d.done_at
  FROM kyc.hook_delivery AS d JOIN kyc.hook_event AS e ON e.id = d.event;
COMMENT ON VIEW kyc.console_delivery IS 'Deliveries: those that wait, and those of the last 30 days';
