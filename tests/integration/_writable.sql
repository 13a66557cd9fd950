-- Lets a test write to views of stored rows (include/tidemark/table.h) as if they were tables: triggers put keys
-- of chain.word in the place of words. The product writes what is stored; this is for planting rows.
-- history.ttl shows lifetimes that are stored with versions: CALL public.lives_alone() before writing to it.
CREATE FUNCTION public.key_of(text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  key integer;
BEGIN
  IF $1 IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT w.id INTO key FROM chain.word AS w WHERE w.word = $1;
  IF key IS NULL THEN
    INSERT INTO chain.word (word) VALUES ($1) RETURNING id INTO key;
  END IF;
  RETURN key;
END $$;

-- The temporary table "told" has what `tidemark-indexer tables` says of each view: where its columns are stored.
DO $do$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT v.name AS view, to_regclass(v.name)::oid AS number, split_part(v.stored, ' ', 1) AS stored, c.*, k.same
    FROM told AS v,
      LATERAL (SELECT string_agg(o.stored, ', ' ORDER BY a.attnum) || CASE WHEN v.stored LIKE '%t.kind = %' THEN ', kind' ELSE '' END AS columns,
          string_agg(CASE
            WHEN o.type = 'text[]' AND o.stored LIKE '%, %' THEN format('public.key_of(NEW.%1$I[1]), public.key_of(NEW.%1$I[2])', o.col)
            WHEN o.type = 'text[]' THEN format('(SELECT array_agg(public.key_of(u.word) ORDER BY u.n) FROM unnest(NEW.%I) WITH ORDINALITY AS u (word, n))', o.col)
            WHEN o.type = 'text' AND s.atttypid = 'smallint'::regtype THEN format('chain.kind_key(NEW.%I)', o.col)
            WHEN o.type = 'text' AND s.atttypid = 'integer'::regtype THEN concat_ws(', ', format('public.key_of(NEW.%I)', o.col),
              CASE WHEN o.stored LIKE '%, %' THEN format('public.key_of(NEW.%I)', o.col) END)
            ELSE format('NEW.%I', o.col) END, ', ' ORDER BY a.attnum) || coalesce(', ' || substring(v.stored FROM 't.kind = (\d+)'), '') AS words
        FROM told AS o JOIN pg_attribute AS a ON a.attrelid = to_regclass(v.name) AND a.attname = o.col
          LEFT JOIN pg_attribute AS s ON s.attrelid = to_regclass(split_part(v.stored, ' ', 1)) AND s.attname = split_part(o.stored, ',', 1)
        WHERE o.name = v.name) AS c,
      LATERAL (SELECT string_agg(format('s.%1$I = OLD.%1$I', a.attname), ' AND ') AS same
        FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = to_regclass(split_part(v.stored, ' ', 1)) AND i.indisprimary) AS k
    WHERE v.col = '' AND v.stored <> ''
  LOOP
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.stored::regclass AND attname = 'life') THEN
      EXECUTE format('ALTER TABLE %s ALTER COLUMN life SET DEFAULT 0', t.stored);
    END IF;
    EXECUTE format($f$CREATE FUNCTION public.write_%1$s() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO %2$s (%3$s) VALUES (%4$s);
          RETURN NEW;
        ELSIF TG_OP = 'UPDATE' THEN
          UPDATE %2$s AS s SET (%3$s) = ROW(%4$s) WHERE %5$s;
          RETURN NEW;
        END IF;
        DELETE FROM %2$s AS s WHERE %5$s;
        RETURN OLD;
      END $$$f$, t.number, t.stored, t.columns, t.words, t.same);
    EXECUTE format('CREATE TRIGGER writable INSTEAD OF INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION public.write_%s()',
      t.view, t.number);
  END LOOP;
END $do$;

-- Gives each lifetime a row of its own. The views show the same as before.
CREATE PROCEDURE public.lives_alone() LANGUAGE plpgsql AS $$
DECLARE
  t regclass;
BEGIN
  CREATE TEMPORARY TABLE lives AS TABLE history_rows.life;
  FOR t IN SELECT a.attrelid FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'history_rows'::regnamespace AND c.relkind = 'p' AND a.attname = 'life' LOOP
    EXECUTE format('UPDATE %s SET life = 0 WHERE life <> 0', t);
  END LOOP;
  DELETE FROM history_rows.ttl;
  INSERT INTO history_rows.ttl (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, durability, live_until, evicted)
    SELECT deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, durability, live_until, evicted FROM lives;
  DROP TABLE lives;
END $$;
