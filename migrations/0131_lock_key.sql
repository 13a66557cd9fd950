-- 0131_lock_key: the lock of an address does not name it.
--
-- pg_locks is readable for every login, and a hash of an address without a key tells which one is worked on. A session's reference is
-- a keyed hash of its address. kyc.erase as in 0092, with the reference in place of the address.
DO $$
DECLARE
  was text := pg_get_functiondef('kyc.erase(text, boolean)'::regprocedure);
  now text := replace(replace(was, 'hashtext(s.deployment || s.address)', 'hashtext(s.deployment || s.ref)'),
    'SELECT DISTINCT deployment, address FROM kyc.session', 'SELECT DISTINCT deployment, ref FROM kyc.session');
BEGIN
  ASSERT now LIKE '%hashtext(s.deployment || s.ref)%' AND now LIKE '%DISTINCT deployment, ref %';
  EXECUTE now;
END $$;
