/* Values of typed columns as the JSON that the ledger's values have. */
#include "indexer/export/value.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"

void tide_export_value_select(struct tide_buf *sql, const char *table, const char *column,
                              enum tide_type type)
{
    switch (type) {
    case TIDE_T_STR:
    case TIDE_T_BYTES:
    case TIDE_T_B32:
        tide_buf_putf(sql, "encode(%s.\"%s\", 'hex')", table, column);
        break;
    case TIDE_T_VEC_SYM:
    case TIDE_T_VEC_ADDR:
    case TIDE_T_VEC_U32:
        tide_buf_putf(sql, "to_json(%s.\"%s\")", table, column);
        break;
    case TIDE_T_VEC_U64:
        tide_buf_putf(sql, "to_json(%s.\"%s\"::text[])", table, column);
        break;
    case TIDE_T_BOOL:
    case TIDE_T_U32:
    case TIDE_T_U64:
    case TIDE_T_I128:
    case TIDE_T_SYM:
    case TIDE_T_ADDR:
    case TIDE_T_TEXT:
    case TIDE_T_ENUM_U32:
    case TIDE_T_ENUM_SYM:
    case TIDE_T_ANY:
    case TIDE_T_MUXED:
        tide_buf_putf(sql, "%s.\"%s\"", table, column);
        break;
    }
}

static void put_quoted(struct tide_buf *json, tide_slice text)
{
    tide_buf_u8(json, '"');
    tide_buf_slice(json, text);
    tide_buf_u8(json, '"');
}

/* Writes the string that the hex stands for. */
static void put_string_of_hex(struct tide_buf *json, tide_slice hex)
{
    struct tide_buf bytes;
    tide_buf_init(&bytes, json->max);
    uint8_t *to = tide_buf_room(&bytes, hex.len / 2);
    if (hex.len && (!to || tide_hex_decode(to, hex.len / 2, hex) != TIDE_OK))
        json->failed = true;
    else
        tide_scval_json_string(json, tide_slice_of(to, hex.len / 2));
    tide_buf_release(&bytes);
}

void tide_export_value_json(struct tide_buf *json, enum tide_type type, tide_slice text)
{
    switch (type) {
    case TIDE_T_BOOL:
        tide_buf_str(json, tide_slice_eq_str(text, "t") ? "true" : "false");
        break;
    case TIDE_T_U64:
    case TIDE_T_I128:
    case TIDE_T_BYTES:
    case TIDE_T_B32:
        put_quoted(json, text);
        break;
    case TIDE_T_SYM:
    case TIDE_T_ADDR:
    case TIDE_T_TEXT:
        tide_buf_json_string(json, text);
        break;
    case TIDE_T_STR:
        put_string_of_hex(json, text);
        break;
    case TIDE_T_ENUM_SYM:
        tide_buf_u8(json, '[');
        tide_buf_json_string(json, text);
        tide_buf_u8(json, ']');
        break;
    case TIDE_T_U32:
    case TIDE_T_ENUM_U32:
    case TIDE_T_VEC_SYM:
    case TIDE_T_VEC_ADDR:
    case TIDE_T_VEC_U32:
    case TIDE_T_VEC_U64:
    case TIDE_T_ANY:
    case TIDE_T_MUXED:
        tide_buf_slice(json, text);
        break;
    }
}

/* Returns whether the field has a value that may be shown. */
static bool is_shown(const struct tide_field *field, const struct tide_value_row *row, uint32_t i)
{
    return !row->null(row->self, i) && (row->with_private || !field->is_private);
}

static void put_name(struct tide_buf *json, const struct tide_field *field)
{
    if (field->vec_key)
        tide_buf_putf(json, "\"[\\\"%s\\\"]\":", field->name);
    else
        tide_buf_putf(json, "\"%s\":", field->name);
}

/* Writes the fields with a place in `places` as the map that they came from. Members of an inner
 * struct are in a map of their own, at the position of the first one. */
static void put_map(struct tide_buf *json, const struct tide_kind *kind, uint32_t places,
                    const struct tide_value_row *row)
{
    const char *outer = NULL;
    bool any = false;
    tide_buf_u8(json, '{');
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *field = &kind->fields[i];
        if (!(places >> field->place & 1) || !is_shown(field, row, i))
            continue;
        bool same = outer && field->outer && strcmp(outer, field->outer) == 0;
        if (outer && !same)
            tide_buf_u8(json, '}');
        if (any)
            tide_buf_u8(json, ',');
        if (field->outer && !same)
            tide_buf_putf(json, "\"%s\":{", field->outer);
        outer = field->outer;
        put_name(json, field);
        tide_export_value_json(json, field->type, row->text(row->self, i));
        any = true;
    }
    tide_buf_str(json, outer ? "}}" : "}");
}

/* Writes a vec of `head`, if there is one, and the fields with a place in `places`. */
static void put_vec(struct tide_buf *json, const char *head, const struct tide_kind *kind,
                    uint32_t places, const struct tide_value_row *row)
{
    bool any = head != NULL;
    tide_buf_u8(json, '[');
    if (head)
        tide_buf_json_string(json, tide_slice_str(head));
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (!(places >> kind->fields[i].place & 1) || !is_shown(&kind->fields[i], row, i))
            continue;
        if (any)
            tide_buf_u8(json, ',');
        tide_export_value_json(json, kind->fields[i].type, row->text(row->self, i));
        any = true;
    }
    tide_buf_u8(json, ']');
}

/* Writes the one field with that place, or null if it is not shown. */
static void put_single(struct tide_buf *json, const struct tide_kind *kind, enum tide_place place,
                       const struct tide_value_row *row)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].place == place && is_shown(&kind->fields[i], row, i)) {
            tide_export_value_json(json, kind->fields[i].type, row->text(row->self, i));
            return;
        }
    }
    tide_buf_str(json, "null");
}

static bool has_field(const struct tide_kind *kind, enum tide_place place)
{
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].place == place)
            return true;
    return false;
}

enum { ENTRY = 1u << TIDE_P_FIELD | 1u << TIDE_P_SUB };

/* Returns the form in which the event of the row was written. */
static const struct tide_event_form *form_of(const struct tide_kind *kind,
                                             const struct tide_value_row *row)
{
    if (kind->form_count == 1)
        return kind->forms;
    tide_slice text = row->text(row->self, kind->field_count);
    assert(text.len == 1 && (uint32_t)(text.ptr[0] - '0') < kind->form_count);
    return &kind->forms[text.ptr[0] - '0'];
}

/* Returns whether the part was there: optional values may be void, which the type beside tells. */
static bool is_there(const struct tide_kind *kind, const struct tide_part *part,
                     const struct tide_value_row *row)
{
    uint32_t next = part->field + 1;
    bool typed = next < kind->field_count && kind->fields[next].place == TIDE_P_TYPE;
    return !row->null(row->self, typed ? next : part->field);
}

static void put_part(struct tide_buf *json, const struct tide_kind *kind,
                     const struct tide_part *part, const struct tide_value_row *row)
{
    if (row->null(row->self, part->field))
        tide_buf_str(json, "null");
    else
        tide_export_value_json(json, kind->fields[part->field].type,
                               row->text(row->self, part->field));
}

/* Writes the parts that were there, each behind its name in a map. */
static void put_parts(struct tide_buf *json, const struct tide_kind *kind,
                      const struct tide_part *parts, uint32_t count, bool map, bool any,
                      const struct tide_value_row *row)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_there(kind, &parts[i], row))
            continue;
        if (any)
            tide_buf_u8(json, ',');
        if (map)
            tide_buf_putf(json, "\"%.*s\":", TIDE_SLICE_FMT(parts[i].name));
        put_part(json, kind, &parts[i], row);
        any = true;
    }
}

void tide_export_value_topics(struct tide_buf *json, const struct tide_kind *kind,
                              const struct tide_value_row *row)
{
    const struct tide_event_form *form = form_of(kind, row);
    tide_buf_u8(json, '[');
    tide_buf_json_string(json, tide_slice_str(kind->name));
    put_parts(json, kind, form->topics, form->topic_count, false, true, row);
    tide_buf_u8(json, ']');
}

void tide_export_value_data(struct tide_buf *json, const struct tide_kind *kind,
                            const struct tide_value_row *row)
{
    const struct tide_event_form *form = form_of(kind, row);
    bool map = form->shape == TIDE_SHAPE_MAP;
    if (form->shape == TIDE_SHAPE_VALUE) {
        put_part(json, kind, form->data, row);
        return;
    }
    tide_buf_u8(json, map ? '{' : '[');
    put_parts(json, kind, form->data, form->data_count, map, false, row);
    tide_buf_u8(json, map ? '}' : ']');
}

void tide_export_value_key(struct tide_buf *json, const struct tide_kind *kind,
                           const struct tide_value_row *row)
{
    if (kind->class == TIDE_KIND_INSTANCE)
        tide_buf_str(json, "\"LedgerKeyContractInstance\"");
    else
        put_vec(json, kind->name, kind, 1u << TIDE_P_KEY, row);
}

void tide_export_value_entry(struct tide_buf *json, const struct tide_kind *kind,
                             const struct tide_value_row *row)
{
    if (has_field(kind, TIDE_P_VALUE))
        put_single(json, kind, TIDE_P_VALUE, row);
    else
        put_map(json, kind, kind->class == TIDE_KIND_INSTANCE ? 1u << TIDE_P_SLOT : ENTRY, row);
}
