-- list: deployment at after limit from to order token
-- of: token
-- tag: Tokens
-- summary: Transfers of a token
-- about: By time. Events of contract calls. A Stellar asset (USDC, XLM) is also moved by classic operations (payments,
--   offers, fees) and by calls in which no address of the deployment takes part: these are not indexed, so the sum of this
--   list is not a balance. A synthetic token moves by calls alone, and its list is whole.
-- answer: TokenTransfers of Transfer
-- schema: Transfer
--   id        EventId   Stellar RPC's id of the event
--   ledger    Ledger    in which it happened
--   closedAt  Time      when that ledger closed
--   txHash    Hash?     of the transaction; null where the index does not hold it
--   type      "transfer|mint|burn|clawback"  what moved them
--   from      Address?  the sender; null: the tokens were minted
--   to        Address?  the receiver; null: the tokens were burned, or taken back without one
--   amount    Amount+?  raw units of the token
--   toMuxedId      json  id or memo of a multiplexed receiver; null: none
--   toMuxedIdType  "u64|string|bytes|void"?  its type; null: none
-- example: {"id":"0026986413392158720-0000000002", "ledger":"1534", "closedAt":"2026-01-31T07:23:59Z",
--   "txHash":"45f191a493f0879dce3016d7940503a6e68525f73a58b87ea694cd5427007901", "type":"transfer",
--   "from":"CAPI6GJZBFPXFHEAHG5236JYOCGMVD4F73BCSUC5L64IBT4R2HH5KJRL",
--   "to":"CAM5YVRZL3AMSV7CMEWP4VOKMHM7WHMJ57SQCSKQ6RRSJ7NESRCRWOG6", "amount":"10247", "amountScaled":"0.0010247",
--   "toMuxedId":"77", "toMuxedIdType":"u64"}
--
-- Transfers, mints, burns and clawbacks of a token, nothing of what is no token.
-- The order begins with the contract's key, so that no other index than the one by it has that order.
WITH token AS MATERIALIZED (
  SELECT chain.word_key($8::text) AS key FROM chain.token_at($1::smallint, $8, $2::integer) AS t
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM event.log AS e, LATERAL (
    SELECT m.from_address_key AS a, m.to_address_key AS b, m.amount, m.to_muxed_id, m.to_muxed_id_type FROM event.synth_token_transfer AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'synth_token_transfer' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT NULL::integer AS a, m.to_address_key AS b, m.amount, m.to_muxed_id, m.to_muxed_id_type FROM event.synth_token_mint AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'synth_token_mint' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT m.from_address_key AS a, NULL::integer AS b, m.amount, NULL, NULL FROM event.synth_token_burn AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'synth_token_burn' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT m.from_address_key AS a, m.to_address_key AS b, m.amount, NULL, NULL FROM event.synth_token_clawback AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'synth_token_clawback' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT m.from_address_key AS a, m.to_address_key AS b, m.amount, m.to_muxed_id, m.to_muxed_id_type FROM event.stellar_asset_transfer AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'stellar_asset_transfer' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT NULL::integer AS a, m.to_address_key AS b, m.amount, m.to_muxed_id, m.to_muxed_id_type FROM event.stellar_asset_mint AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'stellar_asset_mint' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT m.from_address_key AS a, NULL::integer AS b, m.amount, NULL, NULL FROM event.stellar_asset_burn AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'stellar_asset_burn' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
    UNION ALL
    SELECT m.from_address_key AS a, NULL::integer AS b, m.amount, NULL, NULL FROM event.stellar_asset_clawback AS m
    WHERE m.deployment = $1 AND m.ledger = CASE e.kind WHEN 'stellar_asset_clawback' THEN e.ledger END AND (m.tx, m.op, m.event) = (e.tx, e.op, e.event)
  ) AS m, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, $8::text, e.ledger) AS d) AS decimals OFFSET 0) AS t, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    substring(e.kind FROM '[a-z]+$') AS "type",
    (SELECT w.word FROM chain.word AS w WHERE w.id = m.a) AS "from",
    (SELECT w.word FROM chain.word AS w WHERE w.id = m.b) AS "to",
    m.amount::text AS "amount",
    analyst.scaled(m.amount, t.decimals)::text AS "amountScaled",
    m.to_muxed_id AS "toMuxedId",
    m.to_muxed_id_type AS "toMuxedIdType"
  ) AS x
WHERE e.contract_key >= (SELECT t.key FROM token AS t) AND e.contract_key <= (SELECT t.key FROM token AS t)
  AND e.kind_key = ANY (ARRAY(SELECT chain.kind_key(k.kind) FROM unnest(ARRAY['synth_token_transfer', 'synth_token_mint',
    'synth_token_burn', 'synth_token_clawback', 'stellar_asset_transfer', 'stellar_asset_mint', 'stellar_asset_burn',
    'stellar_asset_clawback']) AS k (kind))) AND
-- part: event_found
-- part: event_where
ORDER BY CASE WHEN $7 = 'asc' THEN e.contract_key END, CASE WHEN $7 = 'asc' THEN e.ledger END,
  CASE WHEN $7 = 'asc' THEN e.tx END, CASE WHEN $7 = 'asc' THEN e.op END, CASE WHEN $7 = 'asc' THEN e.event END,
  e.contract_key DESC, e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC
LIMIT $4::integer
