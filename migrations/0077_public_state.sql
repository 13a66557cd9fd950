-- 0077_public_state: what says which deployments there are, and how old they are, is for every role that may see
-- the schema: roles that are made by hand later need no grant of their own.
GRANT SELECT ON chain.deployment_state, chain.freshness TO PUBLIC;
