-- Events e of the page: bound as "deployment at after limit from to order". Times become ledgers, which the indexes have; the
-- first of the two comparisons with the key is for them too.
  e.deployment = $1::smallint AND e.ledger <= $2::integer
    AND ($5::text IS NULL OR e.ledger > chain.ledger_before($1::smallint, to_timestamp($5::numeric)))
    AND ($6::text IS NULL OR e.ledger <= chain.ledger_before($1::smallint, to_timestamp($6::numeric)))
    AND ($3::text IS NULL OR CASE WHEN $7::text = 'asc' THEN e.ledger >= split_part($3, '.', 1)::integer
      AND (e.ledger, e.tx, e.op, e.event) > (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)
      ELSE e.ledger <= split_part($3, '.', 1)::integer
      AND (e.ledger, e.tx, e.op, e.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer) END)
