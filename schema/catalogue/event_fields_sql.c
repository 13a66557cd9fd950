#include "schema/catalogue/catalogue_impl.h"

#include <ctype.h>

/* Writes "pool_id" as "poolId". */
static void write_camel(FILE *out, const char *column)
{
    for (; *column; column++) {
        if (*column == '_' && column[1])
            putc(toupper((unsigned char)*++column), out);
        else
            putc(*column, out);
    }
}

static void write_field(FILE *out, const struct tide_field *f, const char *before)
{
    /* JSON numbers are exact only up to 2^53 */
    bool as_text = f->type == TIDE_T_U64 || f->type == TIDE_T_I128;
    fprintf(out, "%s\n          e.%s%s AS \"", before, f->column, as_text ? "::text" : "");
    write_camel(out, f->column);
    fprintf(out, "\"");
    if (f->is_amount) {
        fprintf(out, ", analyst.scaled(e.%s)::text AS \"", f->column);
        write_camel(out, f->column);
        fprintf(out, "Scaled\"");
    }
}

static void write_case(FILE *out, const struct tide_kind *kind)
{
    const char *table = tide_role_name(kind->role), *before = "";
    fprintf(out,
            "      WHEN '%s_%s' THEN\n"
            "        SELECT row_to_json(x) INTO f FROM event.%s_%s AS e, LATERAL (SELECT",
            table, kind->id, table, kind->id);
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].hidden || kind->fields[i].is_private)
            continue;
        write_field(out, &kind->fields[i], before);
        before = ",";
    }
    fprintf(out, ") AS x\n"
                 "          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, "
                 "$5, $6);\n");
}

void tide_event_fields_write_sql(FILE *out)
{
    const struct tide_kind *events = tide_events();
    fprintf(out, "\n"
                 "-- The columns of the kind's table in their order, as answers write them, each "
                 "amount followed by its\n"
                 "-- scaled value. Reads one row by its key with a plan made once per session.\n"
                 "CREATE FUNCTION chain.event_fields(kind text, deployment smallint, ledger "
                 "integer, tx integer, op integer, event integer)\n"
                 "  RETURNS json\n"
                 "  LANGUAGE plpgsql STABLE PARALLEL SAFE\n"
                 "  SET plan_cache_mode = force_generic_plan\n"
                 "  SET enable_seqscan = off\n"
                 "AS $$\n"
                 "DECLARE\n"
                 "  f json;\n"
                 "BEGIN\n"
                 "    CASE $1\n");
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++)
        write_case(out, &events[i]);
    fprintf(out, "      ELSE\n"
                 "        f := NULL;\n"
                 "    END CASE;\n"
                 "    RETURN f;\n"
                 "END $$;\n"
                 "COMMENT ON FUNCTION chain.event_fields(text, smallint, integer, integer, "
                 "integer, integer) IS"
                 " 'the fields of an event of that kind, as answers write them';\n");
}
