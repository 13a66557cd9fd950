/* Examples of answers, composed of those of schemas. */
#include "api/openapi/example.h"

#include <jansson.h>

/* The ledger of all examples. */
#define LEDGER    "1535"
#define CLOSED_AT "2026-01-31T07:24:04Z"

/* Returns the schema's example, or NULL if it has none. Ends the program if it is not JSON. */
static json_t *parse_example(const struct openapi_schema *schema)
{
    json_error_t error;
    if (schema->example.len == 0)
        return NULL;
    json_t *value = json_loadb((const char *)schema->example.ptr, schema->example.len, 0, &error);
    if (!value)
        openapi_fail(schema->at, "the example of %.*s: %s", TIDE_SLICE_FMT(schema->name),
                     error.text);
    return value;
}

/* Returns the schema's own example, which overrides those of included schemas, or NULL if there
 * is none. */
static json_t *own_example(struct openapi_texts *texts, const struct openapi_schema *schema)
{
    json_t *all = NULL;
    for (size_t i = 0; i < schema->field_count; i++) {
        tide_slice name = schema->fields[i].name;
        if (name.len < 4 || memcmp(name.ptr, "...", 3) != 0 ||
            schema->fields[i].depth > schema->fields[0].depth)
            continue;
        const struct openapi_schema *from =
            openapi_schema_named(texts, tide_slice_of(name.ptr + 3, name.len - 3));
        json_t *part = from ? own_example(texts, from) : NULL;
        if (part && !all)
            all = json_object();
        json_object_update(all, part);
        json_decref(part);
    }
    json_t *own = parse_example(schema);
    if (!all)
        return own;
    json_object_update(all, own);
    json_decref(own);
    return all;
}

/* Adds the items of a list's example: one, that of the listed schema. Returns false if that has
 * none. */
static bool add_items(json_t *value, struct openapi_texts *texts,
                      const struct openapi_schema *schema)
{
    const struct openapi_schema *of = openapi_schema_named(texts, schema->items);
    json_t *item = of ? own_example(texts, of) : NULL;
    if (!item)
        return false;
    json_object_set_new(value, "items", json_pack("[o]", item));
    return true;
}

static json_t *make_example(struct openapi_texts *texts, const struct openapi_schema *schema,
                            bool envelope, bool pages)
{
    json_t *own = own_example(texts, schema), *value = json_object();
    if (envelope) {
        json_object_set_new(value, "ledger", json_string(LEDGER));
        json_object_set_new(value, "closedAt", json_string(CLOSED_AT));
    }
    json_object_update(value, own);
    bool whole = schema->items.len ? add_items(value, texts, schema) : own != NULL;
    if (pages)
        json_object_set_new(value, "next", json_null());
    json_decref(own);
    if (whole)
        return value;
    json_decref(value);
    return NULL;
}

void openapi_put_examples(struct tide_json *j, struct openapi_texts *texts,
                          const struct openapi_schema *schema, bool envelope, bool pages)
{
    json_t *value = make_example(texts, schema, envelope, pages);
    if (!value)
        return;
    char *text = json_dumps(value, JSON_COMPACT);
    assert(text);
    tide_json_name(j, "examples");
    tide_json_open(j, '{');
    tide_json_name(j, "simulated");
    tide_json_open(j, '{');
    tide_json_word(j, "summary", "Simulated data");
    tide_json_name(j, "value");
    tide_json_raw(j, tide_slice_str(text));
    tide_json_close(j, '}');
    tide_json_close(j, '}');
    free(text);
    json_decref(value);
}
