-- list: deployment at after limit from to order address
-- tag: Activity
-- summary: Activity of an address
-- about: Its calls of the protocol, refused ones too, and the events that name it, by time. A call is that of its operation's source account; who only pays sequence number or fee is named by the transaction.
-- answer: Activity of ActivityCall|ActivityEvent
-- schema: ActivityCall
--   type         "call"               a call that the address made, refused ones too
--   id           string/^[0-9]{19}$/  of the operation, as ids of its events begin
--   ledger       Ledger               in which it happened
--   closedAt     Time                 when that ledger closed
--   txHash       Hash                 of the transaction; of a fee bump its own
--   innerTxHash  Hash?                of the transaction in a fee bump; null: no fee bump
--   tx           integer              place of the transaction in the ledger, from 1
--   op           integer              operation, from 0
--   contract     Address              that was called, or created
--   function     string?              its function; null: the contract was created
--   ok           boolean              whether it succeeded
--   resultCode   integer              InvokeHostFunctionResultCode; 0: success
--   events       Count                events of the operation
--   changes      Count                ledger entries that it changed
--   proof        "unchecked|verified|rewritten|unverified"?  whether its arguments were proved by its hash
-- schema: ActivityEvent
--   type         "event"       an event that names the address
--   id           EventId       Stellar RPC's id of the event
--   ledger       Ledger        in which it happened
--   closedAt     Time          when that ledger closed
--   txHash       Hash?         of the transaction; null where the index does not hold it
--   innerTxHash  Hash?         of the transaction in a fee bump; null: no fee bump, or the index does not hold it
--   tx           integer       place of the transaction in the ledger, from 1
--   op           integer       operation, from 0
--   event        integer       event of the operation, from 0
--   kind         EventKind     contract and name: liquidity_pool_swap
--   contract     Address       that emitted it
--   subject      string?       pool, market or feed; null: of none
--   addresses    Address[]     addresses in it, each once
--   fields       EventFields?  what the event says; null: its kind is not indexed, or it is not decoded
--
-- All that an address did or that was done to it, by time: its calls of the protocol, refused ones too, and
-- each event that names it, over the indexes of calls by source and of events by their first and second address.
WITH page AS (
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, e.kind_key, e.subject_key, e.addresses_1_key, e.addresses_2_key
  FROM event.log AS e
  WHERE e.addresses_1_key = chain.word_key($8::text) AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, e.kind_key, e.subject_key, e.addresses_1_key, e.addresses_2_key
  FROM event.log AS e
  WHERE e.addresses_2_key = chain.word_key($8::text) AND e.addresses_1_key IS DISTINCT FROM e.addresses_2_key AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.contract_key, NULL::smallint, NULL, NULL, NULL
  FROM (SELECT c.deployment, c.ledger, c.tx, c.op, -1 AS event, c.closed_at, c.contract_key, c.source_key FROM chain.call AS c) AS e
  WHERE e.source_key = chain.word_key($8) AND
-- part: event_found
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
)
SELECT coalesce(c.item, row_to_json(x))::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM (SELECT * FROM page AS e
-- part: event_order
  LIMIT $4) AS e CROSS JOIN LATERAL (
-- part: event_words
  ) AS l
  LEFT JOIN LATERAL (SELECT row_to_json(y) AS item
    FROM chain.call AS c, LATERAL (SELECT
      'call' AS "type",
      left(chain.event_id(c.ledger, c.tx, c.op, 0), 19) AS "id",
      c.ledger::text AS "ledger",
      chain.rfc3339(c.closed_at) AS "closedAt",
      encode(c.hash, 'hex') AS "txHash",
      (SELECT encode(t.inner_hash, 'hex') FROM chain.tx AS t
        WHERE t.deployment = $1 AND t.ledger = c.ledger AND t.tx = c.tx) AS "innerTxHash",
      c.tx AS "tx",
      c.op AS "op",
      c.contract AS "contract",
      c.fn AS "function",
      c.ok AS "ok",
      c.result_code AS "resultCode",
      c.events AS "events",
      c.changed AS "changes",
      (ARRAY['unchecked', 'verified', 'rewritten', 'unverified'])[c.proof + 1] AS "proof"
    ) AS y
    WHERE l.event = -1 AND c.deployment = $1 AND c.ledger = l.ledger AND c.tx = l.tx AND c.op = l.op) AS c ON true,
  LATERAL (SELECT
    'event' AS "type",
-- part: event_item
    chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event, l.ledger) AS "fields"
  ) AS x
-- part: event_order
