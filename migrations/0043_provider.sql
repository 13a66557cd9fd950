-- 0043_provider: a provider's prices, the newest first. Without it a list of one provider's reads those of
-- all, and one of nobody's reads the whole table. It costs one index entry more for each price observed.

CREATE INDEX ON event."oracle_price_observation" (deployment, provider, ledger);
