-- $7 is known when PostgreSQL plans the statement. For desc the first half is constant; for asc the second half adds nothing.
  ORDER BY CASE WHEN $7 = 'asc' THEN e.ledger END, CASE WHEN $7 = 'asc' THEN e.tx END, CASE WHEN $7 = 'asc' THEN e.op END,
    CASE WHEN $7 = 'asc' THEN e.event END, e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC
