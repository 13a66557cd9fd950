/* The notation of types as JSON Schema: base types, objects, fields, schemas. */
#include "api/openapi/schema.h"
#include "tidemark/text.h"

#include <ctype.h>

enum { MEMBERS_MAX = 128 };

/* A parsed type: Amount?+ is the base Amount, nullable, with a scaled companion. */
struct type {
    tide_slice base;    /* string, "a|b", Pool, A|B */
    tide_slice pattern; /* empty: none */
    uint64_t min, max;  /* bounds of a length or a number, if bounded */
    bool bounded, list, nullable;
    uint64_t items_max;           /* 0: not given */
    bool amount, scaled_nullable; /* "+", "+?" */
};

/* The fields of an object, or of an object inside it. */
struct fields {
    const struct openapi_field *first;
    size_t count;
};

static bool take_end(tide_slice *text, const char *end)
{
    if (!openapi_ends(*text, end))
        return false;
    text->len -= strlen(end);
    return true;
}

/* Returns the text between the last mark and the end, and removes both from *text. */
static tide_slice take_last(tide_slice *text, const char *mark, struct openapi_at at)
{
    tide_slice rest = *text;
    tide_slice before = openapi_take(&rest, mark);
    if (before.len == text->len)
        openapi_fail(at, "the type %.*s is not closed", TIDE_SLICE_FMT(*text));
    *text = before;
    return rest;
}

static uint64_t parse_number(tide_slice text, struct openapi_at at)
{
    uint64_t value;
    if (tide_parse_u64(&value, text, UINT64_MAX) != TIDE_OK)
        openapi_fail(at, "no number: %.*s", TIDE_SLICE_FMT(text));
    return value;
}

/* Parses a type from its end: each suffix is taken off until the base is left. */
static struct type parse_type(tide_slice text, struct openapi_at at)
{
    struct type type = { 0 };
    type.scaled_nullable = take_end(&text, "+?");
    type.amount = type.scaled_nullable || take_end(&text, "+");
    type.nullable = take_end(&text, "?");
    if (take_end(&text, "]")) {
        tide_slice most = take_last(&text, "[", at);
        type.list = true;
        if (most.len > 2)
            /* "<=16" */
            type.items_max = parse_number(tide_slice_of(most.ptr + 2, most.len - 2), at);
    }
    if (take_end(&text, "/"))
        type.pattern = take_last(&text, "/", at);
    if (take_end(&text, "}")) {
        tide_slice max = take_last(&text, "{", at), min = openapi_take(&max, ",");
        type.bounded = true;
        type.min = parse_number(min, at);
        type.max = parse_number(max, at);
    }
    type.base = text;
    if (text.len == 0)
        openapi_fail(at, "no type");
    return type;
}

void openapi_put_text(struct tide_json *j, const char *name, const char *text)
{
    tide_json_text(j, name, tide_slice_str(text));
}

/* --- base types ------------------------------------------------------------------------- */

void openapi_put_ref(struct tide_json *j, const char *group, tide_slice name)
{
    char path[128];
    int len = snprintf(path, sizeof path, "#/components/%s/%.*s", group, TIDE_SLICE_FMT(name));
    assert(len > 0 && (size_t)len < sizeof path);
    tide_json_word(j, "$ref", path);
}

static void put_schema_ref(struct tide_json *j, struct openapi_texts *texts, tide_slice name,
                           struct openapi_at at)
{
    struct openapi_schema *schema = openapi_schema_named(texts, name);
    if (!schema)
        openapi_fail(at, "there is no schema %.*s", TIDE_SLICE_FMT(name));
    schema->used = true;
    openapi_put_ref(j, "schemas", name);
}

static void put_type_name(struct tide_json *j, tide_slice name, bool nullable)
{
    tide_json_name(j, "type");
    if (nullable)
        tide_json_open(j, '[');
    tide_json_plain(j, name);
    if (nullable) {
        tide_json_plain(j, TIDE_SLICE("null"));
        tide_json_close(j, ']');
    }
}

/* Writes the words "a|b" as "enum"; a single word that is not nullable as "const". */
static void put_words(struct tide_json *j, const struct type *type)
{
    assert(type->base.len >= 2); /* both quotation marks */
    tide_slice words = tide_slice_of(type->base.ptr + 1, type->base.len - 2);
    put_type_name(j, TIDE_SLICE("string"), type->nullable);
    if (!type->nullable && !memchr(words.ptr, '|', words.len)) {
        tide_json_text(j, "const", words);
        return;
    }
    tide_json_name(j, "enum");
    tide_json_open(j, '[');
    while (words.len)
        tide_json_plain(j, openapi_take(&words, "|"));
    if (type->nullable)
        tide_json_raw(j, TIDE_SLICE("null"));
    tide_json_close(j, ']');
}

/* Returns whether the type is any(A|B): a value may fit several of the schemas. */
static bool is_any(const struct type *type)
{
    return type->base.len > 5 && memcmp(type->base.ptr, "any(", 4) == 0;
}

/* Writes references to schemas: Pool, Pool?, Standing|BadAddress, any(PoolFields|VaultFields). */
static void put_named(struct tide_json *j, struct openapi_texts *texts, const struct type *type,
                      struct openapi_at at)
{
    bool several = memchr(type->base.ptr, '|', type->base.len);
    tide_slice names = type->base;
    bool overlap = is_any(type);
    if (overlap)
        names = tide_slice_of(names.ptr + 4, names.len - 5);
    if (!several && !type->nullable) {
        put_schema_ref(j, texts, names, at);
        return;
    }
    tide_json_name(j, several && !overlap ? "oneOf" : "anyOf");
    tide_json_open(j, '[');
    while (names.len) {
        tide_json_open(j, '{');
        put_schema_ref(j, texts, openapi_take(&names, "|"), at);
        tide_json_close(j, '}');
    }
    if (type->nullable) {
        tide_json_open(j, '{');
        tide_json_word(j, "type", "null");
        tide_json_close(j, '}');
    }
    tide_json_close(j, ']');
}

static void put_bounds(struct tide_json *j, const struct type *type, bool text)
{
    if (type->bounded && (!text || type->min))
        tide_json_number(j, text ? "minLength" : "minimum", type->min);
    if (type->bounded)
        tide_json_number(j, text ? "maxLength" : "maximum", type->max);
    if (type->pattern.len)
        tide_json_text(j, "pattern", type->pattern);
}

static void put_primitive(struct tide_json *j, const struct type *type, struct openapi_at at)
{
    static const char *const names[] = { "string", "integer", "boolean", "null" };
    bool date = tide_slice_eq_str(type->base, "date") || tide_slice_eq_str(type->base, "date-time");
    tide_slice name = date ? TIDE_SLICE("string") : type->base;
    bool known = false;
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        known |= tide_slice_eq_str(name, names[i]);
    if (!known)
        openapi_fail(at, "there is no type %.*s", TIDE_SLICE_FMT(type->base));
    put_type_name(j, name, type->nullable);
    if (date)
        tide_json_text(j, "format", type->base);
    put_bounds(j, type, tide_slice_eq_str(name, "string"));
}

/* --- objects ---------------------------------------------------------------------------- */

static void put_field(struct tide_json *j, struct openapi_texts *texts,
                      const struct openapi_field *field, struct fields inner);

struct members {
    const struct openapi_field *all[MEMBERS_MAX];
    struct fields inner[MEMBERS_MAX];
    size_t count;
};

static void add_member(struct members *members, const struct openapi_field *field,
                       struct fields inner)
{
    size_t i = 0;
    while (i < members->count && !tide_slice_eq(members->all[i]->name, field->name))
        i++;
    assert(i < MEMBERS_MAX);
    members->all[i] = field; /* a later field replaces that of an included schema */
    members->inner[i] = inner;
    members->count += i == members->count;
}

/* Collects the members of an object: its fields, and for "...Pool" those of Pool. */
static void collect_members(struct members *members, struct openapi_texts *texts,
                            struct fields fields)
{
    for (size_t i = 0; i < fields.count;) {
        const struct openapi_field *field = &fields.first[i];
        struct fields inner = { field + 1, 0 };
        while (++i < fields.count && fields.first[i].depth > field->depth)
            inner.count++;
        if (i < fields.count && fields.first[i].depth > fields.first[0].depth)
            openapi_fail(fields.first[i].at, "fields of one object begin in one column");
        tide_slice name = field->name;
        if (name.len < 4 || memcmp(name.ptr, "...", 3) != 0) {
            add_member(members, field, inner);
            continue;
        }
        struct openapi_schema *from =
            openapi_schema_named(texts, tide_slice_of(name.ptr + 3, name.len - 3));
        if (!from)
            openapi_fail(field->at, "there is no schema %.*s", TIDE_SLICE_FMT(name));
        from->included = true;
        collect_members(members, texts, (struct fields){ from->fields, from->field_count });
    }
}

static bool has_scaled(const struct openapi_field *field)
{
    return parse_type(field->type, field->at).amount;
}

static void put_scaled_name(char out[80], const struct openapi_field *field)
{
    assert(field->name.len + sizeof "Scaled" <= 80);
    snprintf(out, 80, "%.*sScaled", TIDE_SLICE_FMT(field->name));
}

static void put_required(struct tide_json *j, const struct members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        char scaled[80];
        put_scaled_name(scaled, members->all[i]);
        if (members->all[i]->optional)
            continue;
        tide_json_plain(j, members->all[i]->name);
        if (has_scaled(members->all[i]))
            tide_json_plain(j, tide_slice_str(scaled));
    }
}

/* Writes the members of an object. The stack is needed because objects contain objects. */
static void put_object(struct tide_json *j, struct openapi_texts *texts, struct fields fields)
{
    static struct members stack[8];
    static size_t depth;
    struct members *members = &stack[depth++];
    assert(depth <= TIDE_COUNT(stack));
    members->count = 0;
    collect_members(members, texts, fields);
    tide_json_name(j, "required");
    tide_json_open(j, '[');
    put_required(j, members);
    tide_json_close(j, ']');
    tide_json_name(j, "properties");
    tide_json_open(j, '{');
    for (size_t i = 0; i < members->count; i++)
        put_field(j, texts, members->all[i], members->inner[i]);
    tide_json_close(j, '}');
    depth--;
}

/* Writes object, object* (other members allowed) or object! (none allowed). Returns false for
 * other types. */
static bool put_if_object(struct tide_json *j, struct openapi_texts *texts, const struct type *type,
                          struct fields inner)
{
    tide_slice base = type->base;
    bool open = take_end(&base, "*"), closed = take_end(&base, "!");
    if (!tide_slice_eq_str(base, "object"))
        return false;
    put_type_name(j, base, type->nullable);
    if (inner.count)
        put_object(j, texts, inner);
    if (open || closed)
        tide_json_bool(j, "additionalProperties", open);
    return true;
}

static void put_base(struct tide_json *j, struct openapi_texts *texts, const struct type *type,
                     struct fields inner, struct openapi_at at)
{
    if (put_if_object(j, texts, type, inner))
        return;
    if (inner.count)
        openapi_fail(at, "only an object has fields of its own");
    if (tide_slice_eq_str(type->base, "json"))
        return; /* any value: a schema without a type */
    if (type->base.ptr[0] == '"')
        put_words(j, type);
    else if (isupper(type->base.ptr[0]) || is_any(type))
        put_named(j, texts, type, at);
    else
        put_primitive(j, type, at);
}

/* --- fields ----------------------------------------------------------------------------- */

/* Writes a type with its list, base and text. */
static void put_inner(struct tide_json *j, struct openapi_texts *texts, struct type type,
                      struct fields inner, tide_slice text, struct openapi_at at)
{
    if (type.list) {
        put_type_name(j, TIDE_SLICE("array"), type.nullable);
        tide_json_name(j, "items");
        tide_json_open(j, '{');
        type.nullable = false;
        put_base(j, texts, &type, inner, at);
        tide_json_close(j, '}');
        if (type.items_max)
            tide_json_number(j, "maxItems", type.items_max);
    } else {
        put_base(j, texts, &type, inner, at);
    }
    if (text.len)
        tide_json_text(j, "description", text);
}

void openapi_put_type(struct tide_json *j, struct openapi_texts *texts, tide_slice type,
                      tide_slice text, struct openapi_at at)
{
    tide_json_open(j, '{');
    put_inner(j, texts, parse_type(type, at), (struct fields){ 0 }, text, at);
    tide_json_close(j, '}');
}

/* Writes the companion of an amount: its value with the decimals applied. */
static void put_scaled(struct tide_json *j, struct openapi_texts *texts,
                       const struct openapi_field *field, const struct type *amount)
{
    char name[80], text[160];
    struct type type = { .base = TIDE_SLICE("Scaled"),
                         .nullable = amount->nullable || amount->scaled_nullable };
    put_scaled_name(name, field);
    snprintf(text, sizeof text, "`%.*s` with its decimals applied%s", TIDE_SLICE_FMT(field->name),
             amount->scaled_nullable ? "; null where they are not known" : "");
    tide_json_name(j, name);
    tide_json_open(j, '{');
    put_inner(j, texts, type, (struct fields){ 0 }, tide_slice_str(text), field->at);
    tide_json_close(j, '}');
}

/* Ends the program if a field has no text and its schema has none either. */
static void check_text(struct openapi_texts *texts, const struct openapi_field *field,
                       const struct type *type)
{
    const struct openapi_schema *of = openapi_schema_named(texts, type->base);
    bool items = type->list && isupper(type->base.ptr[0]);
    if (field->text.len == 0 && !items && !(of && of->text.len))
        openapi_fail(field->at, "the field %.*s has no text", TIDE_SLICE_FMT(field->name));
}

static void put_field(struct tide_json *j, struct openapi_texts *texts,
                      const struct openapi_field *field, struct fields inner)
{
    char name[80];
    struct type type = parse_type(field->type, field->at);
    check_text(texts, field, &type);
    assert(field->name.len < sizeof name);
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(field->name));
    tide_json_name(j, name);
    tide_json_open(j, '{');
    put_inner(j, texts, type, inner, field->text, field->at);
    tide_json_close(j, '}');
    if (type.amount)
        put_scaled(j, texts, field, &type);
}

/* --- schemas ---------------------------------------------------------------------------- */

static struct openapi_field make_field(const char *name, tide_slice type, const char *text,
                                       unsigned depth, struct openapi_at at)
{
    return (
        struct openapi_field){ tide_slice_str(name), type, tide_slice_str(text), depth, false, at };
}

/* Returns the schema's fields between those that the kind of its route adds. */
static struct fields with_envelope(struct openapi_field out[MEMBERS_MAX], tide_slice items,
                                   const struct openapi_schema *schema, bool envelope, bool pages)
{
    unsigned depth = schema->field_count ? schema->fields[0].depth : 2;
    size_t count = 0;
    assert(schema->field_count + 4 <= MEMBERS_MAX);
    if (envelope) {
        out[count++] = make_field("ledger", TIDE_SLICE("Ledger"), "the answer is true at its close",
                                  depth, schema->at);
        out[count++] = make_field("closedAt", TIDE_SLICE("Time"), "when that ledger closed", depth,
                                  schema->at);
    }
    for (size_t i = 0; i < schema->field_count; i++)
        out[count++] = schema->fields[i];
    if (schema->items.len)
        out[count++] = make_field("items", items, "", depth, schema->at);
    if (pages)
        out[count++] = make_field("next", TIDE_SLICE("Next"), "", depth, schema->at);
    return (struct fields){ out, count };
}

void openapi_put_schema(struct tide_json *j, struct openapi_texts *texts,
                        struct openapi_schema *schema, bool envelope, bool pages)
{
    struct openapi_field fields[MEMBERS_MAX];
    char name[80], items[120];
    assert(schema->name.len < sizeof name && schema->items.len + 2 < sizeof items);
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(schema->name));
    snprintf(items, sizeof items, "%.*s[]", TIDE_SLICE_FMT(schema->items));
    tide_json_name(j, name);
    tide_json_open(j, '{');
    put_inner(j, texts, parse_type(schema->type, schema->at),
              with_envelope(fields, tide_slice_str(items), schema, envelope, pages), schema->text,
              schema->at);
    tide_json_close(j, '}');
    schema->written = true;
}
