-- Lists what each login may do, one right a line, in the words of any PostgreSQL. For pg_upgrade.sh, which compares two servers.
WITH ours AS (SELECT oid, nspname FROM pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup', 'analyst', 'kyc'))
, rights(kind, name, owner, acl) AS (
    SELECT 'schema', nspname::text, nspowner, nspacl FROM pg_namespace WHERE oid IN (SELECT oid FROM ours)
    UNION ALL SELECT 'relation', c.oid::regclass::text, relowner, relacl FROM pg_class AS c WHERE relnamespace IN (SELECT oid FROM ours)
    UNION ALL SELECT 'column', format('%s.%I', c.oid::regclass, a.attname), relowner, a.attacl FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
      WHERE relnamespace IN (SELECT oid FROM ours) AND a.attacl IS NOT NULL
    UNION ALL SELECT 'routine', p.oid::regprocedure::text, proowner, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc AS p
      WHERE pronamespace IN (SELECT oid FROM ours)
    UNION ALL SELECT 'default', format('%s %s', nspname, defaclobjtype), defaclrole, defaclacl FROM pg_default_acl JOIN ours ON ours.oid = defaclnamespace
    UNION ALL SELECT 'database', datname::text, datdba, coalesce(datacl, acldefault('d', datdba)) FROM pg_database WHERE datname = current_database()
    -- The server's own functions: a newer one may have other arguments, and more functions of a name.
    UNION ALL SELECT DISTINCT 'built in', proname::text, proowner, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace
        AND proname ~ 'advisory|^lo_|^lowrite|logical_emit|current_xact_id$|^txid_current$|^pg_(terminate|cancel)_backend$'
)
SELECT format('%s %s owner %s', kind, name, owner::regrole) FROM rights WHERE kind NOT IN ('built in', 'column')
UNION
SELECT format('%s %s %s %s%s', kind, name, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, privilege_type,
    CASE WHEN is_grantable THEN ' grantable' ELSE '' END)
  FROM rights, aclexplode(acl) WHERE grantee <> owner
UNION
SELECT format('role %s super %s create %s %s replication %s login %s bypass %s limit %s settings %s', rolname, rolsuper, rolcreaterole, rolcreatedb,
    rolreplication, rolcanlogin, rolbypassrls, rolconnlimit, (SELECT string_agg(format('%s:%s', setdatabase <> 0, setconfig), ' ' ORDER BY setdatabase)
      FROM pg_db_role_setting WHERE setrole = r.oid)) FROM pg_roles AS r WHERE rolname LIKE 'tidemark%' OR rolname = 'person'
UNION
SELECT format('member %s of %s admin %s', member::regrole, roleid::regrole, admin_option) FROM pg_auth_members WHERE roleid >= 16384 OR member >= 16384
ORDER BY 1;
