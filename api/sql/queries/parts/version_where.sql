-- Versions h of an entry, of the page: bound as event_where is, and for the same reasons.
  h.deployment = $1::smallint AND h.ledger <= $2::integer
    AND ($5::text IS NULL OR h.ledger > chain.ledger_before($1::smallint, to_timestamp($5::numeric)))
    AND ($6::text IS NULL OR h.ledger <= chain.ledger_before($1::smallint, to_timestamp($6::numeric)))
    AND ($3::text IS NULL OR CASE WHEN $7::text = 'asc' THEN h.ledger >= split_part($3, '.', 1)::integer
      AND (h.ledger, h.tx, h.seq) > (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer)
      ELSE h.ledger <= split_part($3, '.', 1)::integer
      AND (h.ledger, h.tx, h.seq) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer) END)
