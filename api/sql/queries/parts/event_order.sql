-- $7 is known when a statement is planned: one half of this is constant, or says the same as the other.
  ORDER BY CASE WHEN $7 = 'asc' THEN e.ledger END, CASE WHEN $7 = 'asc' THEN e.tx END, CASE WHEN $7 = 'asc' THEN e.op END,
    CASE WHEN $7 = 'asc' THEN e.event END, e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC
