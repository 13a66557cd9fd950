-- Events e as of a ledger have none of tokens that are found later, although their past is indexed then.
  ($2::integer = 2147483647 OR e.contract_key NOT IN (SELECT chain.found_after($1::smallint, $2::integer))) AND
