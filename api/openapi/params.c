/* Parameters of routes. */
#include "api/openapi/params.h"
#include "api/openapi/events.h"
#include "api/openapi/schema.h"
#include "tidemark/text.h"

/* clang-format off */
static const struct param {
    const char *name;
    enum tide_param_type type;
    uint64_t min, max;
    const char *def, *words, *help, *example;
} params[] = {
#define TIDE_PARAM(name, type, min, max, def, words, help, example) \
    { #name, TIDE_PARAM_##type, min, max, def, words, help, example },
#include "api/http/param.def"
};
/* clang-format on */

static_assert(TIDE_COUNT(params) == TIDE_PARAM_COUNT, "a line for each id");

/* The uses of a parameter: in a path, in a query, required in a query. Each is a component of
 * its own. */
enum param_use { PATH, QUERY, REQUIRED, USES };
static bool param_used[TIDE_COUNT(params)][USES];

static const struct openapi_at param_def = { "api/http/param.def", 0 };

/* Dates and times of RFC 3339 that the API takes, whatever their zone: days of the calendar of 1971
 * to 2105, and of 1970 unless the zone is east of Greenwich, where the year begins before 1970. A
 * date alone has the zone UTC. */
#define MONTHS                                                                     \
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)" \
    "|02-(0[1-9]|1[0-9]|2[0-8]))"
#define YEARS      "(197[1-9]|19[89][0-9]|20[0-9]{2}|210[0-5])"
#define LEAP_YEARS "(19(7[26]|8[048]|9[26])|20([02468][048]|[13579][26])|2104)"
#define CLOCK      "[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]{1,9})?"
#define OFFSET     "([01][0-9]|2[0-3]):[0-5][0-9]"
#define DATE_TIME_PATTERN                                                          \
    "(" YEARS "-" MONTHS "|" LEAP_YEARS "-02-29)(" CLOCK "([Zz]|[-+]" OFFSET "))?" \
    "|1970-" MONTHS "(" CLOCK "([Zz]|-" OFFSET "))?"
#define SECONDS_PATTERN "[0-3]?[0-9]{1,9}|4[01][0-9]{8}|42[0-8][0-9]{7}|429[0-3][0-9]{6}"

static const char time_pattern[] = "^(" SECONDS_PATTERN "|" DATE_TIME_PATTERN ")$";

/* Each value that matches is accepted, except that an address also has a checksum, a cursor is one
 * that the server made, and a key is the XDR of a LedgerKey. The bounds of a TEXT are bytes, so its
 * characters are ASCII here. */
static const char *const param_patterns[] = {
    [TIDE_PARAM_AMOUNT] = "^(0|[1-9][0-9]{0,37})$",
    [TIDE_PARAM_EVENT] = "^[0-8][0-9]{18}-[01][0-9]{9}$",
    /* the second character holds the last bits of the address's kind, which are 0 */
    [TIDE_PARAM_ADDRESS] = "^[GC][A-D][A-Z2-7]{54}$",
    [TIDE_PARAM_SYMBOL] = "^[A-Za-z0-9_]{1,32}$",
    [TIDE_PARAM_HASH] = "^[0-9a-fA-F]{64}$",
    [TIDE_PARAM_TEXT] = "^[ -~]*$",
    [TIDE_PARAM_TIME] = time_pattern,
    [TIDE_PARAM_CURSOR] = "^[A-Za-z0-9_-]*$",
    [TIDE_PARAM_KEY] = "^[A-Za-z0-9_-]*$",
};

/* Writes a value, unquoted if the parameter is a number or a boolean. */
static void put_value(struct tide_json *j, const char *name, const struct param *param,
                      const char *value)
{
    bool bare = param->type == TIDE_PARAM_U64 || param->type == TIDE_PARAM_BOOL;
    if (value[0] == 0)
        return;
    tide_json_name(j, name);
    if (bare)
        tide_json_raw(j, tide_slice_str(value));
    else
        tide_json_plain(j, tide_slice_str(value));
}

static void put_choices(struct tide_json *j, const char *words)
{
    tide_slice rest = tide_slice_str(words);
    tide_json_name(j, "enum");
    tide_json_open(j, '[');
    while (rest.len)
        tide_json_plain(j, openapi_take(&rest, "|"));
    tide_json_close(j, ']');
}

static void put_kind(void *self, const char *kind)
{
    tide_json_plain(self, tide_slice_str(kind));
}

static void put_kinds(struct tide_json *j)
{
    tide_json_name(j, "enum");
    tide_json_open(j, '[');
    openapi_each_kind(put_kind, j);
    tide_json_close(j, ']');
}

static void append_kind(void *self, const char *kind)
{
    struct tide_buf *pattern = self;
    assert(pattern->len > 0); /* a pattern never begins with the kinds */
    tide_buf_putf(pattern, "%s%s", pattern->ptr[pattern->len - 1] == '(' ? "" : "|", kind);
}

/* Writes the pattern of a TEXT; "%" in it stands for the kinds of events. */
static void put_own_pattern(struct tide_json *j, const char *words)
{
    struct tide_buf pattern;
    tide_buf_init(&pattern, 1 << 16);
    for (const char *at = words; *at; at++)
        if (*at == '%')
            openapi_each_kind(append_kind, &pattern);
        else
            tide_buf_u8(&pattern, (uint8_t)*at);
    assert(!pattern.failed);
    tide_json_text(j, "pattern", tide_buf_view(&pattern));
    tide_buf_release(&pattern);
}

/* Writes the format that says that an address has a checksum, which no pattern can. */
static void put_address(struct tide_json *j)
{
    openapi_put_text(j, "format", "stellar-address");
    openapi_put_text(j, "pattern", param_patterns[TIDE_PARAM_ADDRESS]);
}

/* Writes the two forms of a TOKEN: an address, or a symbol of at most max bytes. */
static void put_token(struct tide_json *j, const struct param *param)
{
    tide_json_name(j, "anyOf");
    tide_json_open(j, '[');
    tide_json_open(j, '{');
    put_address(j);
    tide_json_close(j, '}');
    tide_json_open(j, '{');
    tide_json_number(j, "minLength", param->min);
    tide_json_number(j, "maxLength", param->max);
    openapi_put_text(j, "pattern", param_patterns[TIDE_PARAM_TEXT]);
    tide_json_close(j, '}');
    tide_json_close(j, ']');
}

/* Writes the JSON Schema of a parameter's type. */
static void put_param_schema(struct tide_json *j, const struct param *param)
{
    bool own = param->type == TIDE_PARAM_TEXT && param->words[0];
    bool number = param->type == TIDE_PARAM_U64;
    bool text = param->type == TIDE_PARAM_TEXT || param->type == TIDE_PARAM_CURSOR ||
                param->type == TIDE_PARAM_KEY;
    const char *pattern =
        (size_t)param->type < TIDE_COUNT(param_patterns) ? param_patterns[param->type] : NULL;
    tide_json_name(j, "schema");
    tide_json_open(j, '{');
    openapi_put_text(j, "type",
                     number                           ? "integer"
                     : param->type == TIDE_PARAM_BOOL ? "boolean"
                                                      : "string");
    if (number || text) {
        tide_json_number(j, number ? "minimum" : "minLength", param->min);
        tide_json_number(j, number ? "maximum" : "maxLength", param->max);
    }
    if (param->type == TIDE_PARAM_CHOICE)
        put_choices(j, param->words);
    if (param->type == TIDE_PARAM_KIND)
        put_kinds(j);
    if (own)
        put_own_pattern(j, param->words);
    else if (param->type == TIDE_PARAM_ADDRESS)
        put_address(j);
    else if (param->type == TIDE_PARAM_TOKEN)
        put_token(j, param);
    else if (pattern)
        openapi_put_text(j, "pattern", pattern);
    if (param->type == TIDE_PARAM_KEY)
        openapi_put_text(j, "format", "stellar-ledger-key");
    put_value(j, "default", param, param->def);
    tide_json_close(j, '}');
}

static void name_param(char out[80], const struct param *param, enum param_use use)
{
    assert(use < USES);
    int len = snprintf(out, 80, "%s%s%s", use == PATH ? "path." : "", param->name,
                       use == REQUIRED ? ".required" : "");
    assert(len > 0 && len < 80);
}

static void put_param(struct tide_json *j, const struct param *param, enum param_use use)
{
    char name[80];
    if (param->help[0] == 0)
        openapi_fail(param_def, "the parameter %s has no help", param->name);
    name_param(name, param, use);
    tide_json_name(j, name);
    tide_json_open(j, '{');
    openapi_put_text(j, "name", param->name);
    openapi_put_text(j, "in", use == PATH ? "path" : "query");
    tide_json_bool(j, "required", use != QUERY);
    openapi_put_text(j, "description", param->help);
    put_param_schema(j, param);
    if (use != QUERY)
        put_value(j, "example", param, param->example);
    tide_json_close(j, '}');
}

void openapi_put_params(struct tide_json *j)
{
    tide_json_name(j, "parameters");
    tide_json_open(j, '{');
    for (size_t i = 0; i < TIDE_COUNT(params); i++) {
        bool used = false;
        for (enum param_use use = PATH; use < USES; use++) {
            if (param_used[i][use])
                put_param(j, &params[i], use);
            used |= param_used[i][use];
        }
        if (!used)
            openapi_fail(param_def, "no route takes the parameter %s", params[i].name);
    }
    tide_json_close(j, '}');
}

/* Writes a reference to a parameter and marks that use, so that openapi_put_params writes the
 * component. */
static void put_param_ref(struct tide_json *j, const struct openapi_operation *operation,
                          tide_slice name, enum param_use use)
{
    char component[80];
    size_t i = 0;
    while (i < TIDE_COUNT(params) && !tide_slice_eq_str(name, params[i].name))
        i++;
    if (i == TIDE_COUNT(params))
        openapi_fail(openapi_route_def, "route %s: param.def has no %.*s", operation->id,
                     TIDE_SLICE_FMT(name));
    assert(use < USES);
    param_used[i][use] = true;
    name_param(component, &params[i], use);
    tide_json_open(j, '{');
    openapi_put_ref(j, "parameters", tide_slice_str(component));
    tide_json_close(j, '}');
}

static void put_path_params(struct tide_json *j, const struct openapi_operation *operation)
{
    tide_slice rest = tide_slice_str(operation->path);
    for (openapi_take(&rest, "{"); rest.len; openapi_take(&rest, "{"))
        put_param_ref(j, operation, openapi_take(&rest, "}"), PATH);
}

static void put_own_param(struct tide_json *j, struct openapi_texts *texts,
                          const struct openapi_header *header, const char *in)
{
    if (header->text.len == 0)
        openapi_fail(header->at, "the parameter %.*s has no text", TIDE_SLICE_FMT(header->name));
    tide_json_open(j, '{');
    tide_json_text(j, "name", header->name);
    openapi_put_text(j, "in", in);
    tide_json_bool(j, "required", !header->optional);
    tide_json_text(j, "description", header->text);
    tide_json_name(j, "schema");
    openapi_put_type(j, texts, header->type, (tide_slice){ 0 }, header->at);
    tide_json_close(j, '}');
}

/* Returns whether the route's texts define the parameter themselves. */
static bool is_own(const struct openapi_route *text, tide_slice name)
{
    return text->query.name.len && tide_slice_eq(text->query.name, name);
}

static void put_query_params(struct tide_json *j, struct openapi_texts *texts,
                             const struct openapi_operation *operation,
                             const struct openapi_route *text)
{
    tide_slice rest = tide_slice_str(operation->query);
    while (rest.len) {
        tide_slice name = openapi_take(&rest, " ");
        bool required = openapi_ends(name, "!");
        name.len -= required;
        if (is_own(text, name))
            put_own_param(j, texts, &text->query, "query");
        else if (!tide_slice_eq_str(name, "*"))
            put_param_ref(j, operation, name, required ? REQUIRED : QUERY);
    }
}

void openapi_put_route_params(struct tide_json *j, struct openapi_texts *texts,
                              const struct openapi_operation *operation,
                              const struct openapi_route *text)
{
    tide_json_name(j, "parameters");
    tide_json_open(j, '[');
    put_path_params(j, operation);
    put_query_params(j, texts, operation, text);
    for (size_t i = 0; i < text->header_count; i++)
        put_own_param(j, texts, &text->headers[i], "header");
    tide_json_close(j, ']');
}
