-- The order of versions by ledger, in the same two halves as event_order.
  ORDER BY CASE WHEN $7 = 'asc' THEN h.ledger END, CASE WHEN $7 = 'asc' THEN h.tx END, CASE WHEN $7 = 'asc' THEN h.seq END,
    h.ledger DESC, h.tx DESC, h.seq DESC
