-- 0132_erased: what KYC signed for a session ends with the session.
--
-- A MAC stays valid when its row is erased, and the login of KYC may write a session and an intent again that it saved before. So the
-- attester takes no MAC for a session that was erased (api/attester/outbox.c).
CREATE TABLE kyc.erased (
    session_id text        PRIMARY KEY,
    erased_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE kyc.erased IS 'Sessions that kyc.erase deleted: nothing that was signed for them is acted upon';
INSERT INTO kyc.erased (session_id, erased_at)
SELECT a.about, min(a.at) FROM kyc.audit AS a
WHERE a.what = 'erased' AND NOT EXISTS (SELECT FROM kyc.session AS s WHERE s.id = a.about)
GROUP BY a.about;

-- kyc.erase as in 0131, kyc.grant_roles as in 0130, with the table.
DO $$
DECLARE
  erase text := replace(pg_get_functiondef('kyc.erase(text, boolean)'::regprocedure), 'DELETE FROM kyc.session WHERE id = ANY (ids);',
    'DELETE FROM kyc.session WHERE id = ANY (ids);
  INSERT INTO kyc.erased (session_id) SELECT unnest(ids) ON CONFLICT DO NOTHING;');
  roles text := replace(pg_get_functiondef('kyc.grant_roles()'::regprocedure), 'GRANT SELECT ON kyc.audit TO',
    'GRANT SELECT ON kyc.erased TO tidemark_attester;
  GRANT SELECT ON kyc.audit TO');
BEGIN
  -- ON CONFLICT: a login may have written the session again after it was erased.
  ASSERT erase LIKE '%INSERT INTO kyc.erased%' AND roles LIKE '%kyc.erased%';
  EXECUTE erase;
  EXECUTE roles;
END $$;

DO $$
BEGIN
  CALL chain.restrict_public();
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of tidemark_kyc and tidemark_attester could not be set (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public() and kyc.grant_roles()', SQLERRM;
END $$;
