-- Lets a test write to views of stored rows (include/tidemark/table.h) as if they were tables: triggers put keys
-- of chain.word in the place of words. The product writes what is stored; this is for planting rows.
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

DO $do$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT v.oid::regclass::text AS view, s.oid::regclass::text AS stored, v.oid AS number, c.*, k.same
    FROM pg_class AS v JOIN pg_namespace AS n ON n.oid = v.relnamespace
      JOIN pg_namespace AS m ON m.nspname = n.nspname || '_rows'
      JOIN pg_class AS s ON s.relnamespace = m.oid AND s.relname = v.relname AND s.relkind = 'p',
      LATERAL (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns,
          string_agg(CASE WHEN o.attname IS NULL THEN format('public.key_of(NEW.%I[%s])', regexp_replace(a.attname, '_\d$', ''), right(a.attname, 1))
            WHEN o.atttypid = 'text'::regtype AND a.atttypid = 'integer'::regtype THEN format('public.key_of(NEW.%I)', a.attname)
            WHEN o.atttypid = 'text[]'::regtype THEN format('(SELECT array_agg(public.key_of(u.word) ORDER BY u.n) FROM unnest(NEW.%I) WITH ORDINALITY AS u (word, n))', a.attname)
            ELSE format('NEW.%I', a.attname) END, ', ' ORDER BY a.attnum) AS words
        FROM pg_attribute AS a LEFT JOIN pg_attribute AS o ON o.attrelid = v.oid AND o.attname = a.attname
        WHERE a.attrelid = s.oid AND a.attnum > 0) AS c,
      LATERAL (SELECT string_agg(format('s.%1$I = OLD.%1$I', a.attname), ' AND ') AS same
        FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = s.oid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = s.oid AND i.indisprimary) AS k
  LOOP
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
