-- one: deployment key
-- none no_proof: the buckets of no proven checkpoint are known
-- tag: Activity
-- summary: Proof of an entry
-- about: What others need to check an entry of a contract's storage without trusting this server, but the validators that they name: the
--   hashes of all buckets of the newest proven checkpoint, the headers from there to a ledger that validators signed, and their votes. The
--   hashes prove the state; the entry itself is in the buckets, which public history archives have: `tidemark-indexer verify --proof FILE
--   --archive URL` and the packages read them until the key is found. The answer's value is compared with that. Any key of a followed
--   contract may be asked for, also one that has no entry. The manual says what it proves and what not. 404 `no_proof`: this server knows
--   no proven checkpoint's buckets.
-- answer: EntryProof
--   proof           object              what proves it
--     kind          "entry"             of an entry
--     keyHash       Hash                of its LedgerKey
--     contract      Address             that owns it
--     stateLedger   Ledger              the checkpoint's last ledger: the proof is of the state as of its close
--     signedLedger  Ledger              the ledger that the votes are about; they prove the one before it
--     bytes         Count               length of the proof
--     said          "value|absent|nothing"  whether the proof names the entry's value, says that there is none, or says nothing: the value
--                                       may show a person's jurisdiction, or this index cannot tell it
--     data          string/^[A-Za-z0-9+\/]+=*$/  the proof, base64
-- example: {"proof":{"kind":"entry", "keyHash":"3389e9f0f1a65f19736cacf544c2e825313e8447f569233bb8db39aa607c8889",
--   "contract":"CAPI6GJZBFPXFHEAHG5236JYOCGMVD4F73BCSUC5L64IBT4R2HH5KJRL", "stateLedger":"1215", "signedLedger":"1279", "bytes":26420,
--   "said":"value", "data":"VElERVBSRTE="}}
--
-- The layout of the bytes is in indexer/verify/proof_check.h. $2 is hex of its last parts, the key and what is said of the value, which
-- api/routes/proof_entry.c makes. data is null, behind its length, if it would not fit into an answer.
SELECT s.ledger, s.signed_ledger, z.bytes,
  CASE WHEN z.bytes <= 6000000 THEN translate(encode('\x5449444550524531'::bytea || int4send(s.header_count) || s.headers
    || coalesce('\x00000001'::bytea || int4send(octet_length(s.tx_set)) || s.tx_set, '\x00000000'::bytea)
    || int4send(e.envelope_count) || e.envelopes || int4send(octet_length(s.buckets) / 32) || s.buckets || decode($2::text, 'hex'), 'base64'),
    chr(10), '') END
FROM chain.proof_state AS s,
  LATERAL (SELECT count(*)::integer AS envelope_count, string_agg(int4send(octet_length(u.one)) || u.one, '\x'::bytea) AS envelopes
    FROM unnest(s.envelopes) AS u(one)) AS e,
  LATERAL (SELECT 24 + octet_length(s.headers) + coalesce(4 + octet_length(s.tx_set), 0) + octet_length(e.envelopes)
    + octet_length(s.buckets) + octet_length($2::text) / 2 AS bytes) AS z
WHERE s.deployment = $1::smallint AND s.ledger <= chain.proven_through($1::smallint)
