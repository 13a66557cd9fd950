#include "schema/catalogue/catalogue_impl.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

void tide_field_answer_name(char out[TIDE_ANSWER_NAME_BYTES], const struct tide_field *field)
{
    const char *from = field->answer_name ? field->answer_name : field->column;
    size_t len = 0;
    for (; *from; from++) {
        assert(len + 1 < TIDE_ANSWER_NAME_BYTES);
        if (*from == '_' && from[1])
            out[len++] = (char)toupper((unsigned char)*++from);
        else
            out[len++] = *from;
    }
    out[len] = 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

bool tide_field_is_string(const struct tide_field *field)
{
    char name[TIDE_ANSWER_NAME_BYTES];
    tide_field_answer_name(name, field);
    bool names = ends_with(name, "Id") || ends_with(name, "Ledger");
    return field->type == TIDE_T_U64 || field->type == TIDE_T_I128 ||
           (field->type == TIDE_T_U32 && names);
}

static void write_field(FILE *out, const struct tide_field *f, const char *before)
{
    char name[TIDE_ANSWER_NAME_BYTES];
    tide_field_answer_name(name, f);
    fprintf(out, "%s\n          e.%s%s AS \"%s\"", before, f->column,
            tide_field_is_string(f) ? "::text" : "", name);
    if (f->is_amount)
        fprintf(out, ", analyst.scaled(e.%s)::text AS \"%sScaled\"", f->column, name);
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
