/* Reads query files and .api files line by line. */
#include "api/openapi/texts.h"
#include "tidemark/buf.h"
#include "tidemark/text.h"

#include <ctype.h>
#include <stdarg.h>

enum { FILE_MAX = 1 << 20, FIELD_DEPTH_MAX = 16 /* a deeper line continues the text above */ };

struct reader {
    struct openapi_texts *texts;
    struct openapi_at at;
    tide_slice name;              /* name of the file, without folder and ending */
    bool sql;                     /* a query file: its route has the file's name */
    struct openapi_route *route;  /* the route to which the lines belong, or NULL */
    struct openapi_schema *about; /* the schema that gets fields and the example, or NULL */
    tide_slice *tail;             /* the text that an indented line continues, or NULL */
    bool fields;                  /* an indented line is a field */
};

_Noreturn void openapi_fail(struct openapi_at at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:", at.file);
    if (at.line)
        fprintf(stderr, "%u:", at.line);
    fputc(' ', stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* --- texts ------------------------------------------------------------------------------ */

tide_slice openapi_take(tide_slice *text, const char *separator)
{
    size_t len = strlen(separator);
    assert(len > 0);
    const uint8_t *end = memmem(text->ptr, text->len, separator, len);
    tide_slice word = tide_slice_of(text->ptr, end ? (size_t)(end - text->ptr) : text->len);
    size_t skip = end ? word.len + len : word.len;
    *text = tide_slice_of(text->ptr + skip, text->len - skip);
    return word;
}

bool openapi_ends(tide_slice text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

static bool take_prefix(tide_slice *text, const char *prefix)
{
    size_t len = strlen(prefix);
    if (text->len < len || memcmp(text->ptr, prefix, len) != 0)
        return false;
    *text = tide_slice_of(text->ptr + len, text->len - len);
    return true;
}

static size_t count_spaces(tide_slice text)
{
    size_t count = 0;
    while (count < text.len && text.ptr[count] == ' ')
        count++;
    return count;
}

static tide_slice trim_spaces(tide_slice text)
{
    size_t spaces = count_spaces(text);
    text = tide_slice_of(text.ptr + spaces, text.len - spaces);
    while (text.len && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* Returns the column before two or more spaces. */
static tide_slice take_column(tide_slice *text)
{
    tide_slice column = openapi_take(text, "  ");
    *text = trim_spaces(*text);
    return column;
}

/* Appends more to *to, with a text between them. The pool keeps the joined texts. */
static void append_text(tide_slice *to, const char *between, tide_slice more)
{
    size_t gap = to->len ? strlen(between) : 0, len = to->len + gap + more.len;
    static uint8_t pool[4 << 20];
    static size_t used;
    assert(len <= sizeof pool - used);
    uint8_t *joined = pool + used;
    used += len;
    if (to->len)
        memcpy(joined, to->ptr, to->len);
    memcpy(joined + to->len, between, gap);
    memcpy(joined + to->len + gap, more.ptr, more.len);
    *to = tide_slice_of(joined, len);
}

/* --- objects by name ----------------------------------------------------------------------- */

struct openapi_schema *openapi_schema_named(struct openapi_texts *texts, tide_slice name)
{
    for (size_t i = 0; i < texts->schema_count; i++)
        if (tide_slice_eq(texts->schemas[i].name, name))
            return &texts->schemas[i];
    return NULL;
}

struct openapi_route *openapi_route_named(struct openapi_texts *texts, tide_slice id)
{
    for (size_t i = 0; i < texts->route_count; i++)
        if (tide_slice_eq(texts->routes[i].id, id))
            return &texts->routes[i];
    return NULL;
}

const struct openapi_query *openapi_query_named(const struct openapi_texts *texts, tide_slice name)
{
    for (size_t i = 0; i < texts->query_count; i++)
        if (tide_slice_eq(texts->queries[i].name, name))
            return &texts->queries[i];
    return NULL;
}

static struct openapi_schema *add_schema(struct reader *r, tide_slice name)
{
    struct openapi_texts *texts = r->texts;
    if (openapi_schema_named(texts, name))
        openapi_fail(r->at, "the schema %.*s is there already", TIDE_SLICE_FMT(name));
    assert(texts->schema_count < TIDE_COUNT(texts->schemas));
    struct openapi_schema *schema = &texts->schemas[texts->schema_count++];
    *schema = (struct openapi_schema){ .name = name,
                                       .type = TIDE_SLICE("object"),
                                       .fields = &texts->fields[texts->field_count],
                                       .at = r->at };
    return schema;
}

static void add_route(struct reader *r, tide_slice id)
{
    struct openapi_texts *texts = r->texts;
    if (openapi_route_named(texts, id))
        openapi_fail(r->at, "the route %.*s has texts already", TIDE_SLICE_FMT(id));
    assert(texts->route_count < TIDE_COUNT(texts->routes));
    r->route = &texts->routes[texts->route_count++];
    *r->route = (struct openapi_route){ .id = id, .at = r->at };
}

/* Returns the route to which the line belongs: in a query file the one with the file's name. */
static struct openapi_route *need_route(struct reader *r)
{
    if (!r->route && r->sql)
        add_route(r, r->name);
    if (!r->route)
        openapi_fail(r->at, "a route: line must come first");
    return r->route;
}

/* --- keywords --------------------------------------------------------------------------- */

static void set_text(struct reader *r, tide_slice *to, tide_slice text)
{
    if (to->len)
        openapi_fail(r->at, "this keyword is given twice");
    *to = text;
    r->tail = to;
}

static void read_route(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    add_route(r, text);
}

/* Reads "webhook: price.stale": what follows is about a notification. */
static void read_webhook(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    add_route(r, text);
    r->route->webhook = true;
}

static void read_tag(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &need_route(r)->tag, text);
}

static void read_summary(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &need_route(r)->summary, text);
}

static void read_about(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &need_route(r)->about, text);
}

static void read_from(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &need_route(r)->from, text);
}

static void read_also(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &need_route(r)->also, text);
}

/* Reads "body: AddressList", "body: application/x-www-form-urlencoded Form" or "body: object
 * text". */
static void read_body(struct reader *r, tide_slice number, tide_slice text)
{
    struct openapi_route *route = need_route(r);
    (void)number;
    tide_slice what = take_column(&text);
    route->body_media = TIDE_SLICE("application/json");
    if (memchr(what.ptr, '/', what.len))
        route->body_media = openapi_take(&what, " ");
    set_text(r, &route->body, what);
    route->body_text = text;
    r->tail = &route->body_text;
}

/* Reads "answer: Pools of Pool", "answer 201: KycSession  a new session", "answer: text/html" or
 * "answer: text/event-stream of StreamMessage".
 * Fields that follow define the answer's schema. */
static void read_answer(struct reader *r, tide_slice number, tide_slice text)
{
    struct openapi_route *route = need_route(r);
    if (route->answer_count == OPENAPI_ANSWERS_MAX)
        openapi_fail(r->at, "more than %d answers", OPENAPI_ANSWERS_MAX);
    uint64_t status = 200;
    if (number.len && tide_parse_u64(&status, number, 599) != TIDE_OK)
        openapi_fail(r->at, "no status: %.*s", TIDE_SLICE_FMT(number));
    tide_slice items = take_column(&text), what = openapi_take(&items, " of ");
    struct openapi_answer *answer = &route->answers[route->answer_count++];
    bool media = memchr(what.ptr, '/', what.len);
    *answer = (struct openapi_answer){ .status = (unsigned)status,
                                       .what = what,
                                       .text = text,
                                       .items = media ? items : (tide_slice){ 0 } };
    r->tail = &answer->text;
    r->about = NULL;
    r->fields = true;
    if (items.len && !media) {
        r->about = add_schema(r, what);
        r->about->items = items;
        r->about->answer_of = route;
    }
}

/* Reads "schema: Pool" or "schema: Hash  string/^[0-9a-f]{64}$/  32 bytes". */
static void read_schema(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    r->about = add_schema(r, take_column(&text));
    if (text.len)
        r->about->type = take_column(&text);
    r->about->text = text;
    r->tail = &r->about->text;
    r->fields = true;
}

static void read_example(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    if (!r->about)
        openapi_fail(r->at, "an example: line must follow its schema");
    set_text(r, &r->about->example, text);
}

static void read_named(struct reader *r, struct openapi_header *header, tide_slice text)
{
    header->at = r->at;
    header->name = take_column(&text);
    header->type = take_column(&text);
    header->text = text;
    header->optional = openapi_ends(header->name, "?");
    header->name.len -= header->optional;
    r->tail = &header->text;
}

static void read_header(struct reader *r, tide_slice number, tide_slice text)
{
    struct openapi_texts *texts = r->texts;
    (void)number;
    assert(texts->header_count < TIDE_COUNT(texts->headers));
    struct openapi_header *header = r->route ? &r->route->headers[r->route->header_count++]
                                             : &texts->headers[texts->header_count++];
    assert(!r->route || r->route->header_count <= OPENAPI_ANSWERS_MAX);
    read_named(r, header, text);
}

/* Reads "query: after  integer{1,9}  text": what the parameter means in this route alone. */
static void read_query_parameter(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    read_named(r, &need_route(r)->query, text);
}

static void read_title(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &r->texts->title, text);
}

/* Adds a paragraph to the document's own text. */
static void read_text(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    append_text(&r->texts->about, "\n\n", text);
    r->tail = &r->texts->about;
}

static void read_group(struct reader *r, tide_slice number, tide_slice text)
{
    struct openapi_texts *texts = r->texts;
    (void)number;
    assert(texts->group_count < TIDE_COUNT(texts->groups));
    struct openapi_group *group = &texts->groups[texts->group_count++];
    group->name = take_column(&text);
    group->text = text;
    r->tail = &group->text;
}

static struct openapi_response *last_response(struct reader *r)
{
    if (r->texts->response_count == 0)
        openapi_fail(r->at, "a response: line must come first");
    return &r->texts->responses[r->texts->response_count - 1];
}

static void read_response(struct reader *r, tide_slice number, tide_slice text)
{
    struct openapi_texts *texts = r->texts;
    (void)number;
    assert(texts->response_count < TIDE_COUNT(texts->responses));
    struct openapi_response *response = &texts->responses[texts->response_count++];
    response->name = take_column(&text);
    response->text = text;
    r->tail = &response->text;
}

static void read_codes(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, &last_response(r)->codes, text);
}

/* Sets further headers of a route's success; outside of routes, the headers of the last
 * response. */
static void read_headers(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    set_text(r, r->route ? &r->route->more_headers : &last_response(r)->headers, text);
}

/* Skips the keywords that api/sql/statement.c reads. */
static void skip_keyword(struct reader *r, tide_slice number, tide_slice text)
{
    (void)number;
    (void)text;
    if (!r->sql)
        openapi_fail(r->at, "this keyword is only for query files");
}

static const struct {
    const char *word;
    void (*read)(struct reader *r, tide_slice number, tide_slice text);
} keywords[] = {
    { "route", read_route },
    { "tag", read_tag },
    { "summary", read_summary },
    { "about", read_about },
    { "from", read_from },
    { "also", read_also },
    { "body", read_body },
    { "answer", read_answer },
    { "schema", read_schema },
    { "example", read_example },
    { "header", read_header },
    { "title", read_title },
    { "text", read_text },
    { "group", read_group },
    { "response", read_response },
    { "codes", read_codes },
    { "headers", read_headers },
    { "list", skip_keyword },
    { "one", skip_keyword },
    { "of", skip_keyword },
    { "none", skip_keyword },
    { "webhook", read_webhook },
    { "query", read_query_parameter },
};

/* Splits "answer 201: …" into word, number and text. Returns false if the line has no keyword. */
static bool split_keyword(tide_slice line, tide_slice *word, tide_slice *number, tide_slice *text)
{
    size_t at = 0;
    while (at < line.len && islower(line.ptr[at]))
        at++;
    *word = tide_slice_of(line.ptr, at);
    size_t from = at;
    while (at < line.len && (isalnum(line.ptr[at]) || line.ptr[at] == '_' || line.ptr[at] == ' ') &&
           at < from + 32)
        at++;
    *number = trim_spaces(tide_slice_of(line.ptr + from, at - from));
    if (word->len == 0 || at == line.len || line.ptr[at] != ':' ||
        memchr(number->ptr, ' ', number->len))
        return false;
    *text = trim_spaces(tide_slice_of(line.ptr + at + 1, line.len - at - 1));
    return true;
}

/* --- lines ------------------------------------------------------------------------------ */

/* Starts the schema of an answer, whose fields follow right below. */
static void define_answer(struct reader *r)
{
    struct openapi_route *route = r->route;
    assert(route && route->answer_count);
    r->about = add_schema(r, route->answers[route->answer_count - 1].what);
    r->about->answer_of = route;
}

static void read_field(struct reader *r, tide_slice line, size_t depth)
{
    struct openapi_texts *texts = r->texts;
    if (!r->about)
        define_answer(r);
    assert(texts->field_count < TIDE_COUNT(texts->fields));
    struct openapi_field *field = &texts->fields[texts->field_count++];
    line = trim_spaces(line);
    field->depth = (unsigned)depth;
    field->at = r->at;
    field->name = take_column(&line);
    field->type = take_column(&line);
    field->text = line;
    field->optional = openapi_ends(field->name, "?");
    field->name.len -= field->optional;
    r->about->field_count++;
    assert(r->about->fields + r->about->field_count == field + 1);
    r->tail = &field->text;
}

/* An indented line is a field where fields are expected, otherwise it continues the text above. */
static void read_indented(struct reader *r, tide_slice line, size_t depth)
{
    if (r->fields && depth < FIELD_DEPTH_MAX)
        read_field(r, line, depth);
    else if (r->tail)
        append_text(r->tail, " ", trim_spaces(line));
    else
        openapi_fail(r->at, "an indented line without a line above that it continues");
}

static void read_keyword(struct reader *r, tide_slice word, tide_slice number, tide_slice text)
{
    r->tail = NULL;
    r->fields = false;
    for (size_t i = 0; i < TIDE_COUNT(keywords); i++)
        if (tide_slice_eq_str(word, keywords[i].word)) {
            keywords[i].read(r, number, text);
            return;
        }
    openapi_fail(r->at, "\"%.*s:\" is not a keyword of the notation; see api/openapi/README.md",
                 TIDE_SLICE_FMT(word));
}

static void read_line(struct reader *r, tide_slice line)
{
    tide_slice word, number, text;
    size_t depth = count_spaces(line);
    bool blank = depth == line.len;
    if (depth && !blank) {
        read_indented(r, line, depth);
    } else if (!blank && split_keyword(line, &word, &number, &text)) {
        read_keyword(r, word, number, text);
    } else if (blank || r->sql) { /* an SQL comment for readers of the statement */
        r->tail = NULL;
        r->fields = false;
    } else if (line.ptr[0] != '#') {
        openapi_fail(r->at, "a line without keyword");
    }
}

/* --- files ------------------------------------------------------------------------------ */

static tide_slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(FILE_MAX);
    static uint8_t *kept[1024]; /* reachable buffers: no leak checker reports them */
    static size_t count;
    assert(bytes && count < TIDE_COUNT(kept));
    kept[count++] = bytes;
    size_t len = file ? fread(bytes, 1, FILE_MAX, file) : 0;
    if (!file || ferror(file) || len == FILE_MAX)
        openapi_fail((struct openapi_at){ path, 0 }, "cannot be read");
    fclose(file);
    return tide_slice_of(bytes, len);
}

/* Notes whether the statement reads events, itself or in a part. */
static void read_statement_line(struct reader *r, struct openapi_query *query, tide_slice line)
{
    if (take_prefix(&line, "-- part: ")) {
        const struct openapi_query *part = openapi_query_named(r->texts, line);
        if (!part)
            openapi_fail(r->at, "there is no part %.*s", TIDE_SLICE_FMT(line));
        query->events |= part->events;
    } else {
        query->events |= memmem(line.ptr, line.len, " event.", 7) ||
                         memmem(line.ptr, line.len, " chain.call ", 12);
    }
}

/* Reads a query file: its head as texts, the rest only to see whether it reads events. */
static void read_query(struct reader *r, tide_slice text)
{
    struct openapi_texts *texts = r->texts;
    assert(texts->query_count < TIDE_COUNT(texts->queries));
    struct openapi_query *query = &texts->queries[texts->query_count++];
    bool head = true;
    *query = (struct openapi_query){ .name = r->name };
    for (r->at.line = 1; text.len; r->at.line++) {
        tide_slice line = openapi_take(&text, "\n"), comment = line;
        head = head && take_prefix(&comment, "--") && !take_prefix(&comment, " part: ");
        if (!head) {
            read_statement_line(r, query, line);
            continue;
        }
        take_prefix(&comment, " ");
        query->one |= r->at.line == 1 && take_prefix(&line, "-- one:");
        read_line(r, comment);
    }
}

static void read_fragment(struct reader *r, tide_slice text)
{
    for (r->at.line = 1; text.len; r->at.line++)
        read_line(r, openapi_take(&text, "\n"));
}

void openapi_read_text(struct openapi_texts *texts, const char *path, tide_slice text)
{
    struct reader r = { .texts = texts, .at = { path, 1 } };
    read_fragment(&r, text);
}

void openapi_read(struct openapi_texts *texts, const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const char *end = strrchr(name, '.');
    struct reader r = { .texts = texts,
                        .at = { path, 1 },
                        .name = tide_slice_of(name, end ? (size_t)(end - name) : strlen(name)),
                        .sql = end && strcmp(end, ".sql") == 0 };
    if (r.sql)
        read_query(&r, read_file(path));
    else
        read_fragment(&r, read_file(path));
}
