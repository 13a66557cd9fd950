-- 0038_entry_key: the key of an entry that belongs to one address, so that its versions are one index
-- probe away, also those of entries that are gone. As the indexer makes them: SHA-256 of the LedgerKey.

CREATE FUNCTION chain.entry_key(contract text, variant text, address text) RETURNS bytea
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (
    -- 8 characters of base32 are 5 bytes; a strkey is a version byte, 32 bytes, a checksum
    WITH raw AS (
      SELECT s.strkey, substr(decode(string_agg(lpad(to_hex(g.n), 10, '0'), '' ORDER BY g.i), 'hex'), 2, 32) AS id
      FROM (VALUES (contract), (address)) AS s (strkey), LATERAL (
        SELECT c / 8 AS i, sum((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', substr(s.strkey, c + 1, 1)) - 1)::bigint
          << (5 * (7 - c % 8)))::bigint AS n
        FROM generate_series(0, 55) AS c GROUP BY c / 8
      ) AS g
      GROUP BY s.strkey
    ), xdr AS (
      SELECT r.strkey,
        CASE left(r.strkey, 1) WHEN 'C' THEN '\x00000001'::bytea ELSE '\x0000000000000000'::bytea END || r.id AS bytes
      FROM raw AS r
    )
    SELECT sha256('\x00000006'::bytea || (SELECT x.bytes FROM xdr AS x WHERE x.strkey = contract)
      -- a vec of two: the variant's symbol, the address
      || '\x000000100000000100000002'::bytea
      || '\x0000000f'::bytea || int4send(length(variant)) || convert_to(variant, 'UTF8')
      || substr('\x000000'::bytea, 1, (4 - length(variant) % 4) % 4)
      || '\x00000012'::bytea || (SELECT x.bytes FROM xdr AS x WHERE x.strkey = address)
      || '\x00000001'::bytea)
  );
COMMENT ON FUNCTION chain.entry_key(text, text, text) IS 'key_hash of the persistent entry Variant(address) of a contract; addresses are strkeys of accounts and contracts';
