-- list: deployment at after limit from to order partnerId
-- of: partner
-- tag: Partners
-- summary: Payments to a partner
-- about: By time.
-- answer: PartnerClaims of PartnerClaim
-- schema: PartnerClaim
--   id        EventId  Stellar RPC's id of the event
--   ledger    Ledger   in which it happened
--   closedAt  Time     when that ledger closed
--   txHash    Hash?    of the transaction; null where the index does not hold it
--   owner     Address  the owner
--   claimed   Amount+?  what was paid, USDC
-- example: {"id":"0021163399811481600-0000000001", "ledger":"1203", "closedAt":"2026-01-21T17:32:56Z",
--   "txHash":"caf550edeae6db196c1c444cc7fc2ce60cb6b132559aa7b1cbd26bfa6c3b5351",
--   "owner":"GCG76CH33WRT77JZGCRIS4DWKVE5R2ILGWE27DMGCSLIJT7SZJKR5RD5", "claimed":"54388599",
--   "claimedScaled":"5.4388599"}
--
-- The claims paid to a partner, in USDC: those of each of its owners, made while that owner had the partner.
WITH p AS MATERIALIZED (
  SELECT h.key_hash, h.key_id FROM history.partner_registry_partner AS h
  WHERE h.deployment = $1::smallint AND h.key_id = (CASE WHEN $8::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $8::bigint END)
  LIMIT 1
), o AS MATERIALIZED (
  WITH RECURSIVE o AS (
    (SELECT h.owner_key AS owner FROM history.partner_registry_partner AS h
    WHERE h.deployment = $1 AND h.key_id = (SELECT p.key_id FROM p) ORDER BY h.owner_key LIMIT 1)
    UNION ALL
    SELECT (SELECT h.owner_key FROM history.partner_registry_partner AS h
      WHERE h.deployment = $1 AND h.key_id = (SELECT p.key_id FROM p) AND h.owner_key > o.owner ORDER BY h.owner_key LIMIT 1)
    FROM o WHERE o.owner IS NOT NULL
  ) SELECT o.owner FROM o WHERE o.owner IS NOT NULL
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM o, LATERAL (
    SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.partner_owner, e.claimable
    FROM event.partner_registry_claim AS e
    WHERE e.partner_owner_key = o.owner
      AND o.owner = (SELECT h.owner_key FROM history.partner_registry_partner AS h
        WHERE h.deployment = $1 AND h.key_hash = (SELECT p.key_hash FROM p)
          AND h.ledger <= e.ledger AND (h.ledger, h.tx) <= (e.ledger, e.tx)
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AND
-- part: event_where
-- part: event_order
    LIMIT $4::integer
  ) AS e, LATERAL (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, e.ledger) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    e.partner_owner AS "owner",
    e.claimable::text AS "claimed",
    analyst.scaled(e.claimable, unit.quote)::text AS "claimedScaled"
  ) AS x
-- part: event_order
LIMIT $4
