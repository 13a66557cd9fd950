-- Events after position ($2, $3, $4, $5), up to the end of ledger $6, at most $7. A discovered token is followed from the ledger
-- after the one that named it and showed its kind. Its events until then are indexed later, so no stream has them: another node
-- would send more than the node that followed. Whether any token was discovered since $2 is asked once. Amounts have the decimals as
-- of their event's ledger: all nodes send the same, whenever they do.
SELECT l.ledger, l.tx, l.op, l.event, chain.unix_ms(l.closed_at), l.contract, l.kind, l.subject, array_to_string(l.addresses, ' '),
  chain.event_id(l.ledger, l.tx, l.op, l.event), to_json(l.addresses)::text,
  (SELECT encode(t.hash, 'hex') FROM chain.tx AS t WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx),
  (SELECT encode(t.inner_hash, 'hex') FROM chain.tx AS t WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx),
  chain.event_fields(l.kind, l.deployment, l.ledger, l.tx, l.op, l.event, l.ledger)::text
FROM event.log AS l
WHERE l.deployment = $1 AND l.ledger >= $2 AND l.ledger <= $6 AND (l.ledger, l.tx, l.op, l.event) > ($2, $3, $4, $5)
  AND (NOT EXISTS (SELECT FROM chain.found_after($1, $2 - 1))
    OR NOT (chain.followed_after($1, l.contract, l.ledger - 1) OR chain.kept_later($1, l.ledger, l.tx, l.event, l.ledger - 1)))
ORDER BY l.ledger, l.tx, l.op, l.event LIMIT $7
