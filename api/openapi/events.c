/* Schemas of events, from the catalogue: what chain.event_fields writes. */
#include "api/openapi/events.h"
#include "tidemark/buf.h"
#include "tidemark/catalogue.h"

#include <ctype.h>

enum { TEXT_MAX = 1 << 20, WORD_BYTES = 96 };

static const char catalogue[] = "schema/catalogue/all.def";

/* Writes "liquidity_pool_swap", the kind. */
static void write_kind(char out[WORD_BYTES], const struct tide_kind *kind)
{
    int len = snprintf(out, WORD_BYTES, "%s_%s", tide_role_name(kind->role), kind->id);
    assert(len > 0 && len < WORD_BYTES);
}

void openapi_each_kind(void (*put)(void *self, const char *kind), void *self)
{
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++) {
        char kind[WORD_BYTES];
        write_kind(kind, &tide_events()[i]);
        put(self, kind);
    }
}

/* Writes "LiquidityPoolSwap" and an ending, the name of a schema. */
static void write_schema_name(char out[WORD_BYTES], const struct tide_kind *kind, const char *end)
{
    char word[WORD_BYTES];
    size_t len = 0;
    write_kind(word, kind);
    for (size_t i = 0; word[i]; i++)
        if (word[i] != '_')
            out[len++] =
                i == 0 || word[i - 1] == '_' ? (char)toupper((unsigned char)word[i]) : word[i];
    assert(len + strlen(end) < WORD_BYTES);
    snprintf(out + len, WORD_BYTES - len, "%s", end);
}

static bool ends_with(const char *text, const char *end)
{
    return openapi_ends(tide_slice_str(text), end);
}

/* Returns the type of a whole number by the name that answers give it. */
static const char *number_type(const struct tide_field *field, const char *name)
{
    if (field->unit)
        return "Amount";
    if (ends_with(name, "Bps"))
        return "Bps";
    if (ends_with(name, "Millionths"))
        return "Millionths";
    if (ends_with(name, "Ledger"))
        return "Ledger";
    if (!tide_field_is_string(field))
        return "Count";
    return field->type == TIDE_T_I128 ? "I128" : "U64";
}

static const char *type_of(const struct tide_field *field, const char *name)
{
    static const char *const types[TIDE_T_MUXED + 1] = {
        [TIDE_T_BOOL] = "boolean", [TIDE_T_SYM] = "string{0,32}/^[A-Za-z0-9_]*$/",
        [TIDE_T_ADDR] = "Address", [TIDE_T_TEXT] = "string",
        [TIDE_T_ANY] = "json",     [TIDE_T_MUXED] = "json",
    };
    if (field->place == TIDE_P_TYPE)
        return "\"u64|string|bytes|void\"";
    if (field->type == TIDE_T_U32 || field->type == TIDE_T_U64 || field->type == TIDE_T_I128)
        return number_type(field, name);
    assert(field->type < TIDE_COUNT(types));
    if (!types[field->type])
        openapi_fail((struct openapi_at){ catalogue, 0 },
                     "api/openapi/events.c has no notation for the type of %s", field->column);
    return types[field->type];
}

/* Returns the mark of an amount's scaled companion: a token's decimals may not be known. */
static const char *companion(enum tide_unit unit)
{
    if (unit == TIDE_UNIT_NONE)
        return "";
    return unit == TIDE_UNIT_PRICE ? "+" : "+?";
}

static void add_field(struct tide_buf *text, const struct tide_field *field)
{
    char name[TIDE_ANSWER_NAME_BYTES];
    bool optional = field->place == TIDE_P_TOPIC_OPT || field->place == TIDE_P_DATA_OPT ||
                    field->place == TIDE_P_TYPE;
    tide_field_answer_name(name, field);
    const char *type = type_of(field, name);
    bool nullable = optional && strcmp(type, "json") != 0;
    tide_buf_putf(text, "  %s  %s%s%s  %s\n", name, type, nullable ? "?" : "",
                  companion(field->unit), field->doc);
}

static void add_kind(struct tide_buf *text, const struct tide_kind *kind)
{
    char word[WORD_BYTES], fields[WORD_BYTES], event[WORD_BYTES];
    write_kind(word, kind);
    write_schema_name(fields, kind, "Fields");
    write_schema_name(event, kind, "Event");
    tide_buf_putf(text, "schema: %s  object  What `%s` says\n", fields, word);
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (!kind->fields[i].hidden && !kind->fields[i].is_private)
            add_field(text, &kind->fields[i]);
    tide_buf_putf(text,
                  "schema: %s  object  %s\n"
                  "  kind  \"%s\"  contract and name\n"
                  "  ...EventPlace\n"
                  "  fields  %s?  what the event says; null: its kind is not indexed\n",
                  event, kind->doc, word, fields);
}

/* Adds a schema that lists a name of each kind: before, the names with `|` between, behind. */
static void add_list(struct tide_buf *text, const char *before, const char *end, const char *behind)
{
    tide_buf_str(text, before);
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++) {
        char word[WORD_BYTES];
        if (end)
            write_schema_name(word, &tide_events()[i], end);
        else
            write_kind(word, &tide_events()[i]);
        tide_buf_putf(text, "%s%s", i ? "|" : "", word);
    }
    tide_buf_str(text, behind);
}

void openapi_read_events(struct openapi_texts *texts)
{
    static struct tide_buf text; /* schemas borrow from it until the program ends */
    tide_buf_init(&text, TEXT_MAX);
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++)
        add_kind(&text, &tide_events()[i]);
    add_list(&text, "schema: EventKind  \"", NULL, "\"  contract and name of an event\n");
    add_list(
        &text, "schema: EventFields  any(", "Fields",
        ")  what an event of one kind says. A field has the name that answers give it elsewhere "
        "(`market`, `pool`, `partnerId`), or else the contract's own word\n");
    add_list(&text, "schema: Event  ", "Event", "  an event of the protocol; `kind` says which\n");
    assert(!text.failed);
    openapi_read_text(texts, catalogue, tide_buf_view(&text));
}
