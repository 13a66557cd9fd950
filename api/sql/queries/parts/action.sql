-- schema: Action  object*  a call, decoded: members depend on the function
    (SELECT row_to_json(z) FROM (SELECT (array_agg(a.value) FILTER (WHERE a.n = 1))[1] AS "action",
        (array_agg(a.value) FILTER (WHERE a.n = 2))[1] AS "name",
        coalesce(bool_or(a.key = 'undecodable'), false) AS "undecodable",
        coalesce(('{' || string_agg('"' || lower(left(a.key, 1)) || substr(replace(initcap(a.key), '_', ''), 2) || '":' ||
            a.value, ',' ORDER BY a.n) FILTER (WHERE a.n > 2 AND a.key <> 'undecodable') || '}')::json, '{}') AS "args"
      FROM json_each(v.action) WITH ORDINALITY AS a (key, value, n)) AS z) AS "action",
