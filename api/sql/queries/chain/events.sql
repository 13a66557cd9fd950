-- list: deployment at after limit from to order kind contract address pool fromLedger toLedger
-- tag: Activity
-- summary: Events
-- about: By time: all, or of a kind, contract, address or pool. Several of these together may take longer.
-- answer: Events of Event
-- Events of the protocol: all, of a kind, contract, address or pool, each over an index of its own.
-- Several of these together read past what only one of them has.
WITH page AS (
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract, e.kind, e.subject, e.addresses
  FROM event.log AS e
  WHERE $10::text IS NULL
    AND ($8::text IS NULL OR hashtext(e.kind) = hashtext($8) AND e.kind = $8)
    AND ($9::text IS NULL OR hashtext(e.contract) = hashtext($9) AND e.contract = $9)
    AND ($11::text IS NULL OR e.subject = $11 AND e.kind LIKE 'liquidity\_pool\_%')
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract, e.kind, e.subject, e.addresses
  FROM event.log AS e
  WHERE hashtextextended(e.addresses[1], 0) = hashtextextended($10::text, 0) AND e.addresses[1] = $10
    AND ($8::text IS NULL OR hashtext(e.kind) = hashtext($8) AND e.kind = $8)
    AND ($9::text IS NULL OR hashtext(e.contract) = hashtext($9) AND e.contract = $9)
    AND ($11::text IS NULL OR e.subject = $11 AND e.kind LIKE 'liquidity\_pool\_%')
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract, e.kind, e.subject, e.addresses
  FROM event.log AS e
  WHERE hashtextextended(e.addresses[2], 0) = hashtextextended($10::text, 0) AND e.addresses[2] = $10
    AND ($8::text IS NULL OR hashtext(e.kind) = hashtext($8) AND e.kind = $8)
    AND ($9::text IS NULL OR hashtext(e.contract) = hashtext($9) AND e.contract = $9)
    AND ($11::text IS NULL OR e.subject = $11 AND e.kind LIKE 'liquidity\_pool\_%')
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM (SELECT * FROM page AS e
-- part: event_order
  LIMIT $4) AS e, LATERAL (SELECT e.*) AS l, LATERAL (SELECT
-- part: event_item
    chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event) AS "fields"
  ) AS x
-- part: event_order
