-- list: deployment at after limit kind contract address pool fromLedger toLedger
-- tag: Activity
-- summary: Events
-- about: Newest first: all, or of a kind, contract, address or pool. Several of these together may take longer.
-- answer: Events of Event
-- Events of the protocol, the newest first: all, of a kind, contract, address or pool, each over an index of its own.
-- Several of these together read past what only one of them has.
WITH page AS (
  (SELECT l.ledger, l.tx, l.op, l.event, l.closed_at, l.contract, l.kind, l.subject, l.addresses
  FROM event.log AS l
  WHERE l.deployment = $1::smallint AND $7::text IS NULL
    AND ($5::text IS NULL OR hashtext(l.kind) = hashtext($5) AND l.kind = $5)
    AND ($6::text IS NULL OR hashtext(l.contract) = hashtext($6) AND l.contract = $6)
    AND ($8::text IS NULL OR l.subject = $8 AND l.kind LIKE 'liquidity\_pool\_%')
    AND l.ledger <= $2::integer AND ($9::text IS NULL OR l.ledger >= least($9::bigint, 2147483647)::integer)
    AND ($10::text IS NULL OR l.ledger <= least($10::bigint, 2147483647)::integer)
    AND ($3::text IS NULL OR (l.ledger <= split_part($3, '.', 1)::integer
      AND (l.ledger, l.tx, l.op, l.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY l.ledger DESC, l.tx DESC, l.op DESC, l.event DESC LIMIT $4::integer)
  UNION ALL
  (SELECT l.ledger, l.tx, l.op, l.event, l.closed_at, l.contract, l.kind, l.subject, l.addresses
  FROM event.log AS l
  WHERE l.deployment = $1::smallint AND hashtextextended(l.addresses[1], 0) = hashtextextended($7::text, 0)
    AND l.addresses[1] = $7
    AND ($5::text IS NULL OR hashtext(l.kind) = hashtext($5) AND l.kind = $5)
    AND ($6::text IS NULL OR hashtext(l.contract) = hashtext($6) AND l.contract = $6)
    AND ($8::text IS NULL OR l.subject = $8 AND l.kind LIKE 'liquidity\_pool\_%')
    AND l.ledger <= $2::integer AND ($9::text IS NULL OR l.ledger >= least($9::bigint, 2147483647)::integer)
    AND ($10::text IS NULL OR l.ledger <= least($10::bigint, 2147483647)::integer)
    AND ($3::text IS NULL OR (l.ledger <= split_part($3, '.', 1)::integer
      AND (l.ledger, l.tx, l.op, l.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY l.ledger DESC, l.tx DESC, l.op DESC, l.event DESC LIMIT $4::integer)
  UNION ALL
  (SELECT l.ledger, l.tx, l.op, l.event, l.closed_at, l.contract, l.kind, l.subject, l.addresses
  FROM event.log AS l
  WHERE l.deployment = $1::smallint AND hashtextextended(l.addresses[2], 0) = hashtextextended($7::text, 0)
    AND l.addresses[2] = $7
    AND ($5::text IS NULL OR hashtext(l.kind) = hashtext($5) AND l.kind = $5)
    AND ($6::text IS NULL OR hashtext(l.contract) = hashtext($6) AND l.contract = $6)
    AND ($8::text IS NULL OR l.subject = $8 AND l.kind LIKE 'liquidity\_pool\_%')
    AND l.ledger <= $2::integer AND ($9::text IS NULL OR l.ledger >= least($9::bigint, 2147483647)::integer)
    AND ($10::text IS NULL OR l.ledger <= least($10::bigint, 2147483647)::integer)
    AND ($3::text IS NULL OR (l.ledger <= split_part($3, '.', 1)::integer
      AND (l.ledger, l.tx, l.op, l.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY l.ledger DESC, l.tx DESC, l.op DESC, l.event DESC LIMIT $4::integer)
)
SELECT row_to_json(x)::text, l.ledger || '.' || l.tx || '.' || l.op || '.' || l.event
FROM (SELECT * FROM page AS l ORDER BY l.ledger DESC, l.tx DESC, l.op DESC, l.event DESC LIMIT $4) AS l, LATERAL (SELECT
-- part: event_item
    chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event) AS "fields"
  ) AS x
ORDER BY l.ledger DESC, l.tx DESC, l.op DESC, l.event DESC
