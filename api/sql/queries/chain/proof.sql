-- one: deployment hash
-- none: no transaction of that hash touched the protocol
-- tag: Activity
-- summary: Proof of a transaction
-- also: 410
-- about: Everything that others need to check a transaction, its result and its events without trusting this server, but the validators
--   that they name: the result set of its ledger, the headers from there to a ledger that validators signed, and their votes.
--   Keep the answer as a file. `tidemark-indexer verify --proof FILE` and the packages check it offline. The manual says what it proves
--   and what not. 503 `not_proven`: no votes prove the ledger yet. 404 `no_proof`: this server does not keep the parts of this proof, or has
--   not collected them yet.
-- answer: TransactionProof
--   proof           object              what proves it
--     kind          "transaction"       of a transaction and its events
--     txHash        Hash                of the transaction: of the fee bump, if it was asked for by the hash of the one within
--     innerTxHash   Hash?               of the transaction in a fee bump; null: no fee bump
--     txLedger      Ledger              in which it happened
--     signedLedger  Ledger              the ledger that the votes are about; they prove the one before it
--     bytes         Count               length of the proof
--     hasEvents     boolean             whether it proves the events: false if the transaction failed or calls no contract, if the ledger's
--                                       source had rewritten its events, or if it may show a person's jurisdiction
--     data          string/^[A-Za-z0-9+\/]+=*$/  the proof, base64
-- example: {"proof":{"kind":"transaction", "txHash":"3389e9f0f1a65f19736cacf544c2e825313e8447f569233bb8db39aa607c8889", "innerTxHash":null, "txLedger":"1100",
--   "signedLedger":"1151", "bytes":18220, "hasEvents":true, "data":"VElERVBSRjE="}}
--
-- The layout of the bytes is in indexer/verify/proof_check.h. A column `bytes` above the limit comes without the item, so that no answer
-- is made that does not fit.
SELECT CASE WHEN z.bytes IS NULL OR z.bytes > 6000000 THEN NULL ELSE (SELECT row_to_json(y)::text FROM (SELECT row_to_json(x) AS "proof" FROM (SELECT
    'transaction' AS "kind",
    encode(z.hash, 'hex') AS "txHash",
    encode(z.inner_hash, 'hex') AS "innerTxHash",
    z.ledger::text AS "txLedger",
    z.signed_ledger::text AS "signedLedger",
    z.bytes AS "bytes",
    z.preimage IS NOT NULL AS "hasEvents",
    translate(encode('\x5449444550524631'::bytea || int4send(z.header_count) || z.headers
      || coalesce('\x00000001'::bytea || int4send(octet_length(z.tx_set)) || z.tx_set, '\x00000000'::bytea)
      || int4send(z.envelope_count) || z.envelopes || z.hash || int4send(octet_length(z.results)) || z.results
      || coalesce('\x00000001'::bytea || int4send(octet_length(z.preimage)) || z.preimage, '\x00000000'::bytea), 'base64'),
      chr(10), '') AS "data"
  ) AS x) AS y) END,
  z.bytes,
  z.ledger > coalesce(chain.proven_through($1::smallint), 0)
FROM (SELECT t.hash, t.inner_hash, t.ledger, r.results, v.ledger AS signed_ledger, v.tx_set, h.header_count, h.headers, e.envelope_count, e.envelopes, p.preimage,
    96 + h.header_count * 4 + octet_length(h.headers) + coalesce(octet_length(v.tx_set), 0) + octet_length(e.envelopes)
      + octet_length(r.results) + coalesce(octet_length(p.preimage), 0) AS bytes
  FROM chain.tx AS t
    LEFT JOIN chain.proof_ledger AS r ON r.deployment = $1::smallint AND r.ledger = t.ledger AND r.results IS NOT NULL
    LEFT JOIN LATERAL (SELECT q.ledger, q.tx_set, q.envelopes FROM chain.proof_vote AS q
      WHERE q.deployment = $1::smallint AND q.ledger > t.ledger AND q.ledger <= t.ledger + 64 ORDER BY q.ledger LIMIT 1) AS v ON r.ledger IS NOT NULL
    LEFT JOIN LATERAL (SELECT count(*)::integer AS header_count,
        string_agg(int4send(octet_length(k.header)) || k.header, '\x'::bytea ORDER BY k.ledger) AS headers
      FROM chain.proof_ledger AS k WHERE k.deployment = $1::smallint AND k.ledger BETWEEN t.ledger AND v.ledger - 1) AS h
      ON h.header_count = v.ledger - t.ledger
    LEFT JOIN LATERAL (SELECT count(*)::integer AS envelope_count, string_agg(int4send(octet_length(u.one)) || u.one, '\x'::bytea) AS envelopes
      FROM unnest(v.envelopes) AS u(one)) AS e ON h.header_count IS NOT NULL
    LEFT JOIN chain.preimage AS p ON p.deployment = $1::smallint AND p.ledger = t.ledger AND p.tx = t.tx
  WHERE t.deployment = $1::smallint AND (t.hash = decode($2::text, 'hex') OR t.inner_hash = decode($2, 'hex'))
  LIMIT 1) AS z
