-- list: deployment at after limit from to order kind contract address pool fromLedger toLedger
-- tag: Activity
-- summary: Events
-- about: By time: all, or of a kind, contract, address or pool. Several of these together may take longer. Events of
--   contract calls; those of classic operations (CAP-67) are not indexed.
-- answer: Events of Event
-- Events of the protocol: all, of a kind, contract, address or pool, each over an index of its own.
-- Several of these together read past what only one of them has.
WITH of_pools AS MATERIALIZED (
  SELECT ARRAY(SELECT chain.kind_key(k.kind) FROM unnest(ARRAY['liquidity_pool_swap', 'liquidity_pool_add_liquidity', 'liquidity_pool_remove_liquidity',
    'liquidity_pool_claim']) AS k (kind)) AS keys
), page AS (
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, e.kind_key, e.subject_key, e.addresses_1_key, e.addresses_2_key
  FROM event.log AS e
  WHERE $10::text IS NULL
    AND ($8::text IS NULL OR e.kind_key = chain.kind_key($8))
    AND ($9::text IS NULL OR e.contract_key = chain.word_key($9))
    AND ($11::text IS NULL OR e.subject_key = chain.word_key($11) AND e.kind_key = ANY ((SELECT k.keys FROM of_pools AS k)::smallint[]))
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, e.kind_key, e.subject_key, e.addresses_1_key, e.addresses_2_key
  FROM event.log AS e
  WHERE e.addresses_1_key = chain.word_key($10::text)
    AND ($8::text IS NULL OR e.kind_key = (SELECT chain.kind_key($8)))
    AND ($9::text IS NULL OR e.contract_key = (SELECT chain.word_key($9)))
    AND ($11::text IS NULL OR e.subject_key = (SELECT chain.word_key($11)) AND e.kind_key = ANY ((SELECT k.keys FROM of_pools AS k)::smallint[]))
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, e.kind_key, e.subject_key, e.addresses_1_key, e.addresses_2_key
  FROM event.log AS e
  WHERE e.addresses_2_key = chain.word_key($10::text) AND e.addresses_1_key IS DISTINCT FROM e.addresses_2_key
    AND ($8::text IS NULL OR e.kind_key = (SELECT chain.kind_key($8)))
    AND ($9::text IS NULL OR e.contract_key = (SELECT chain.word_key($9)))
    AND ($11::text IS NULL OR e.subject_key = (SELECT chain.word_key($11)) AND e.kind_key = ANY ((SELECT k.keys FROM of_pools AS k)::smallint[]))
    AND ($12::text IS NULL OR e.ledger >= least($12::bigint, 2147483647)::integer)
    AND ($13::text IS NULL OR e.ledger <= least($13::bigint, 2147483647)::integer) AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM (SELECT * FROM page AS e
-- part: event_order
  LIMIT $4) AS e, LATERAL (
-- part: event_words
  ) AS l, LATERAL (SELECT
-- part: event_item
    chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event, l.ledger) AS "fields"
  ) AS x
-- part: event_order
