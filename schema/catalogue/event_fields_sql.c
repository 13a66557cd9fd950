#include "schema/catalogue/catalogue_impl.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { ANSWER_NAME_BYTES = 64 };

/* Writes the name of an event's field in answers: "poolId" of pool_id, unless the catalogue names
 * it. api/openapi/events.py has the same rules. */
static void write_answer_name(char out[ANSWER_NAME_BYTES], const struct tide_field *field)
{
    const char *from = field->answer_name ? field->answer_name : field->column;
    size_t len = 0;
    for (; *from; from++) {
        assert(len + 1 < ANSWER_NAME_BYTES);
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

/* Returns whether answers write the number as a string: it may exceed 2^53, or is an id or a
 * ledger. */
static bool is_string(const struct tide_field *field)
{
    char name[ANSWER_NAME_BYTES];
    write_answer_name(name, field);
    bool names = ends_with(name, "Id") || ends_with(name, "Ledger");
    return field->type == TIDE_T_U64 || field->type == TIDE_T_I128 ||
           (field->type == TIDE_T_U32 && names);
}

#define ONE(which, function) "(SELECT " which " FROM chain." function " AS d)"
#define OF(function)         ONE("d.decimals", function)
#define POOL(which)          ONE(which, "pool_decimals($2, e.contract, e.pool_id, $7)")

/* The decimals of an amount of event e, as of ledger $7. */
static const char *const unit_sql[TIDE_UNIT_COUNT] = {
    [TIDE_UNIT_ITSELF] = OF("decimals_at($2, e.contract, $7)"),
    [TIDE_UNIT_PRICE] = "7",
    [TIDE_UNIT_TOKEN] = OF("decimals_at($2, e.token, $7)"),
    [TIDE_UNIT_COLLATERAL_TOKEN] = OF("decimals_at($2, e.collateral_token, $7)"),
    [TIDE_UNIT_POOL_A] = POOL("d.a"),
    [TIDE_UNIT_POOL_B] = POOL("d.b"),
    [TIDE_UNIT_SOLD] = POOL("CASE WHEN e.a_to_b THEN d.a ELSE d.b END"),
    [TIDE_UNIT_BOUGHT] = POOL("CASE WHEN e.a_to_b THEN d.b ELSE d.a END"),
    [TIDE_UNIT_MARKET] = OF("market_decimals($2, e.contract, e.synth_asset, $7)"),
    [TIDE_UNIT_VAULT] = OF("vault_decimals($2, e.contract_key, e.synth_asset_key, e.owner_key,"
                           " e.ledger, e.tx, $7)"),
    [TIDE_UNIT_QUOTE] = OF("quote_decimals($2, $7)"),
    [TIDE_UNIT_COLLATERAL] = OF("collateral_decimals($2, $7)"),
    [TIDE_UNIT_CUT] = OF("cut_decimals($2, e.ledger, e.tx, e.op, e.event, $7)"),
};

static void write_field(FILE *out, const struct tide_field *f, const char *before)
{
    char name[ANSWER_NAME_BYTES];
    write_answer_name(name, f);
    fprintf(out, "%s\n          e.%s%s AS \"%s\"", before, f->column, is_string(f) ? "::text" : "",
            name);
    if (f->unit)
        fprintf(out, ", analyst.scaled(e.%s, u.%s)::text AS \"%sScaled\"", f->column, f->column,
                name);
}

/* Writes u, the decimals of the event's amounts, by column. OFFSET 0: each is looked up once. */
static void write_units(FILE *out, const struct tide_kind *kind)
{
    const char *before = ", LATERAL (SELECT";
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *field = &kind->fields[i];
        assert(field->unit < TIDE_UNIT_COUNT);
        if (!field->unit)
            continue;
        fprintf(out, "%s\n          %s AS %s", before, unit_sql[field->unit], field->column);
        before = ",";
    }
    if (*before == ',' && !before[1])
        fprintf(out, " OFFSET 0) AS u");
}

static void write_case(FILE *out, const struct tide_kind *kind)
{
    const char *table = tide_role_name(kind->role), *before = "";
    fprintf(out,
            "      WHEN '%s_%s' THEN\n"
            "        SELECT row_to_json(x) INTO f FROM event.%s_%s AS e",
            table, kind->id, table, kind->id);
    write_units(out, kind);
    fprintf(out, ", LATERAL (SELECT");
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
    fprintf(out,
            "\n"
            "-- The columns of the kind's table in their order, as answers write them, each "
            "amount followed by its\n"
            "-- scaled value, by the decimals as of a ledger (at; 2147483647: now). Reads one row "
            "by its key with a plan\n"
            "-- made once per session.\n"
            "CREATE FUNCTION chain.event_fields(kind text, deployment smallint, ledger "
            "integer, tx integer, op integer, event integer, at integer)\n"
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
                 "integer, integer, integer) IS"
                 " 'the fields of an event of that kind, as answers write them';\n");
}
