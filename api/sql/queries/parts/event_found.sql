-- Events e as of a ledger have none of tokens that are found later, although their past is indexed then, nor what is kept for these alone.
  ($2::integer = 2147483647 OR e.contract_key NOT IN (SELECT chain.found_after($1::smallint, $2::integer))
    AND NOT chain.kept_later($1::smallint, e.ledger, e.tx, e.event, $2::integer)) AND
