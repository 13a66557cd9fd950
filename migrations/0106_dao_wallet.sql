-- 0106_dao_wallet: the DAO's wallet, as the deployment file names it. What the DAO's storage names is only reported.

ALTER TABLE chain.deployment ADD COLUMN dao_wallet text;
COMMENT ON COLUMN chain.deployment.dao_wallet IS 'accounts.daowallet of the deployment file; NULL: it names none';

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api could not be set up (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
