/* Matching: finds the route of a target, and decodes and checks its parameters. */
#include "api/http/route.h"
#include "api/http/param.h"
#include "tidemark/text.h"

const struct tide_param_value *tide_request_param(const struct tide_request *request,
                                                  enum tide_param_id id)
{
    for (uint32_t i = 0; i < request->param_count; i++)
        if (request->params[i].id == id)
            return &request->params[i];
    return NULL;
}

/* The state of one match. */
struct match {
    const struct tide_route_table *table;
    struct tide_request *request;
    struct tide_reply *reply;
    char *scratch;
    size_t used; /* bytes of scratch */
    bool failed; /* the reply is a problem with fields */
};

/* --- text ------------------------------------------------------------------------------- */

static bool reject_target(struct match *m, const char *what)
{
    tide_reply_problem(m->reply, 400, "malformed_target", "The request target %s.", what);
    return false;
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte at *at with its escape decoded, and moves *at; -1 if the byte is not allowed.
 * form: '+' is a blank. */
static int next_byte(tide_slice text, size_t *at, bool form)
{
    assert(*at < text.len);
    uint8_t c = text.ptr[(*at)++];
    if (c == '%') {
        if (text.len - *at < 2)
            return -1;
        int hi = hex_value(text.ptr[*at]), lo = hex_value(text.ptr[*at + 1]);
        *at += 2;
        if (hi < 0 || lo < 0)
            return -1;
        c = (uint8_t)(hi << 4 | lo);
        return c < ' ' || c == 0x7f ? -1 : c;
    }
    if (c <= ' ' || c == 0x7f || c == ';' || c == '\\' || c == '#')
        return -1;
    return form && c == '+' ? ' ' : c;
}

/* Returns the length of the text's prefix of plain characters, which need no decoding and are
 * allowed everywhere. Nearly all targets consist of them, so they are checked four at a time. */
static size_t plain_len(tide_slice text)
{
    static const bool plain[256] = {
        ['-'] = 1, ['.'] = 1, ['/'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1,
        ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1,
        ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1,
        ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1,
        ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['_'] = 1,
        ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
        ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,
        ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
        ['y'] = 1, ['z'] = 1,
    };
    const uint8_t *p = text.ptr;
    size_t at = 0;
    while (text.len - at >= 4 &&
           (plain[p[at]] & plain[p[at + 1]] & plain[p[at + 2]] & plain[p[at + 3]]))
        at += 4;
    while (at < text.len && plain[p[at]])
        at++;
    return at;
}

/* Decodes the text into scratch, with a NUL. form: '+' is a blank. Returns false if the text is
 * malformed or not UTF-8. */
static bool decode(struct match *m, tide_slice *out, tide_slice text, bool form)
{
    char *to = m->scratch + m->used;
    size_t plain = plain_len(text), len = plain;
    assert(text.len < TIDE_ROUTE_SCRATCH - m->used); /* decoding never lengthens a text */
    if (plain)
        memcpy(to, text.ptr, plain);
    for (size_t at = plain; at < text.len;) {
        int c = next_byte(text, &at, form);
        if (c < 0)
            return false;
        to[len++] = (char)c;
    }
    to[len] = 0;
    m->used += len + 1;
    assert(m->used <= TIDE_ROUTE_SCRATCH);
    *out = tide_slice_of(to, len);
    return plain == text.len || tide_utf8_valid(*out);
}

/* Returns whether a whole path or query can be decoded. Leaves scratch empty. */
static bool is_well_formed(struct match *m, tide_slice text)
{
    tide_slice whole;
    if (TIDE_LIKELY(plain_len(text) == text.len))
        return true;
    bool fits = decode(m, &whole, text, false);
    m->used = 0;
    return fits;
}

/* Returns the text before the separator, and leaves in *text what follows it. */
static tide_slice split_at(tide_slice *text, char separator, bool *found)
{
    const uint8_t *at = text->len ? memchr(text->ptr, separator, text->len) : NULL;
    size_t len = at ? (size_t)(at - text->ptr) : text->len;
    tide_slice head = tide_slice_of(text->ptr, len);
    *found = at != NULL;
    size_t skip = len + (at != NULL);
    *text = tide_slice_of(text->ptr + skip, text->len - skip);
    return head;
}

/* --- fields ----------------------------------------------------------------------------- */

/* Adds an invalid field; the first one makes the reply a problem. */
static void reject_field(struct match *m, const char *where, const char *why)
{
    if (!m->failed)
        tide_reply_problem(
            m->reply, 400, "invalid_parameters",
            "The request has parameters that this route does not accept: see errors.");
    m->failed = true;
    tide_reply_problem_field(m->reply, where, why);
}

/* Rejects a parameter of the query. An unknown name may be anything, even a secret: only plain
 * short names are shown. */
static void reject_query_field(struct match *m, tide_slice name, const char *why)
{
    char where[40];
    bool shown = name.len > 0 && name.len <= 32;
    for (size_t i = 0; shown && i < name.len; i++)
        shown = (name.ptr[i] | 0x20) >= 'a' && (name.ptr[i] | 0x20) <= 'z';
    snprintf(where, sizeof where, "?%.*s", shown ? (int)name.len : 0, (const char *)name.ptr);
    reject_field(m, where, why);
}

/* --- path ------------------------------------------------------------------------------- */

static bool is_param_part(tide_slice part)
{
    return part.len > 2 && part.ptr[0] == '{';
}

/* Returns the length of the path's next part, or 0 if it is "." or "..", which cannot be a
 * value. */
static size_t part_len(tide_slice path, size_t at)
{
    const uint8_t *from = path.ptr + at;
    const uint8_t *slash = memchr(from, '/', path.len - at);
    size_t len = slash ? (size_t)(slash - from) : path.len - at;
    tide_slice part = tide_slice_of(from, len);
    return tide_slice_eq_str(part, ".") || tide_slice_eq_str(part, "..") ? 0 : len;
}

/* Matches a path with a template. Returns 0 if they differ, otherwise one bit for each part, the
 * first part highest, set where the template is literal: the best template has the largest
 * value. No template begins with a parameter. */
static uint32_t match_template(const char *template, tide_slice path)
{
    uint32_t literal = 1u << 31, bit = 1u << 31;
    size_t at = 0;
    for (const char *form = template; *form; form++) {
        if (*form == '{') {
            size_t len = at < path.len ? part_len(path, at) : 0;
            if (len == 0)
                return 0;
            at += len;
            form += strcspn(form, "}");
            literal &= ~bit;
        } else if (at == path.len || path.ptr[at++] != (uint8_t)*form) {
            return 0;
        } else if (*form == '/') {
            bit >>= 1;
            literal |= bit;
        }
    }
    return at == path.len ? literal : 0;
}

/* Returns whether the path differs from the template in one of the two letters after "/api/",
 * where most templates differ. A cheap test before match_template. The first six characters of
 * such a template are literal (test_route). */
static bool differs_early(const struct tide_route *route, tide_slice path)
{
    enum { FIRST = 5, SECOND };
    const char *template = route->path;
    if (route->path_len <= SECOND || path.len <= SECOND || strncmp(template, "/api/", FIRST) != 0)
        return false;
    return template[FIRST] != (char)path.ptr[FIRST] ||
           (template[SECOND] != '{' && template[SECOND] != (char)path.ptr[SECOND]);
}

/* Returns the first route of the template that fits the path best, or NULL. */
static const struct tide_route *find_path(const struct tide_route_table *table, tide_slice path)
{
    const struct tide_route *found = NULL;
    uint32_t best = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct tide_route *route = &table->routes[i];
        if (differs_early(route, path))
            continue;
        uint32_t literal = match_template(route->path, path);
        if (literal > best) {
            best = literal;
            found = route;
        }
    }
    return found;
}

const struct tide_route *tide_route_at(const struct tide_route_table *table, tide_slice path)
{
    return find_path(table, path);
}

static void add_method(struct tide_reply *reply, const char *method)
{
    size_t len = strlen(reply->allow);
    int put =
        snprintf(reply->allow + len, sizeof reply->allow - len, "%s%s", len ? ", " : "", method);
    assert(put > 0 && (size_t)put < sizeof reply->allow - len); /* a path has few methods */
}

/* Returns whether the previous route fits again. For look-ups that is enough: no other template
 * fits the path of a look-up better (test_route). */
static bool repeats_route(const struct tide_target *target)
{
    const struct tide_route *route = target->likely;
    return route && route->class->lookup && match_template(route->path, target->path) &&
           tide_slice_eq_str(target->method, route->method);
}

/* Returns the route with that path template and method, or NULL with a 405 that lists the
 * methods. */
static const struct tide_route *find_method(struct match *m, const char *path, tide_slice method)
{
    const struct tide_route *routes = m->table->routes;
    if (tide_slice_eq_str(method, "HEAD"))
        method = TIDE_SLICE("GET");
    for (size_t i = 0; i < m->table->count; i++)
        if (strcmp(routes[i].path, path) == 0 && tide_slice_eq_str(method, routes[i].method))
            return &routes[i];
    tide_reply_problem(m->reply, 405, "method_not_allowed",
                       "This path does not accept this method: see Allow.");
    m->reply->allow[0] = 0;
    for (size_t i = 0; i < m->table->count; i++) {
        if (strcmp(routes[i].path, path) != 0)
            continue;
        add_method(m->reply, routes[i].method);
        if (strcmp(routes[i].method, "GET") == 0)
            add_method(m->reply, "HEAD");
    }
    add_method(m->reply, "OPTIONS");
    return NULL;
}

static const struct tide_route *find_route(struct match *m, const struct tide_target *target)
{
    if (TIDE_LIKELY(repeats_route(target)))
        return target->likely;
    const struct tide_route *first = find_path(m->table, target->path);
    if (first)
        return find_method(m, first->path, target->method);
    tide_reply_problem(m->reply, 404, "no_route", "This path does not exist: see /openapi.json.");
    return NULL;
}

static struct tide_param_value *add_param(struct match *m, tide_slice name)
{
    struct tide_request *request = m->request;
    enum tide_param_id id = tide_param_named(name);
    assert(id < TIDE_PARAM_COUNT); /* test_route checks every route */
    assert(request->param_count < TIDE_ROUTE_PARAMS_MAX);
    struct tide_param_value *value = &request->params[request->param_count++];
    value->id = id;
    return value;
}

static void read_path(struct match *m, const char *template, tide_slice path)
{
    char why[TIDE_PARAM_WHY], where[40];
    tide_slice form = tide_slice_str(template), text;
    bool more = true, ignored;
    while (more) {
        tide_slice want = split_at(&form, '/', &more), have = split_at(&path, '/', &ignored);
        if (!is_param_part(want))
            continue;
        want = tide_slice_of(want.ptr + 1, want.len - 2);
        struct tide_param_value *value = add_param(m, want);
        (void)decode(m, &text, have, false); /* is_well_formed has checked the whole path */
        if (tide_param_read(value, value->id, text, why))
            continue;
        snprintf(where, sizeof where, "{%.*s}", TIDE_SLICE_FMT(want));
        reject_field(m, where, why);
    }
}

/* --- query ------------------------------------------------------------------------------ */

/* Takes the next name of the route's list; returns false at its end. */
static bool next_name(tide_slice *names, tide_slice *name, bool *required)
{
    bool found;
    if (names->len == 0)
        return false;
    *name = split_at(names, ' ', &found);
    *required = name->len && name->ptr[name->len - 1] == '!';
    name->len -= *required;
    return true;
}

/* Returns why the route does not accept a parameter: its hint, or a general text. */
static const char *why_rejected(const struct match *m, enum tide_param_id id)
{
    const struct tide_route_hint *hints = m->table->hints;
    for (size_t i = 0; i < m->table->hint_count; i++)
        if (hints[i].param == id && strcmp(m->request->route->id, hints[i].route) == 0)
            return hints[i].why;
    return "is not a parameter of this route";
}

static void read_pair(struct match *m, uint32_t first, tide_slice pair)
{
    char why[TIDE_PARAM_WHY];
    tide_slice rest = pair, text;
    bool has_value;
    tide_slice name = split_at(&rest, '=', &has_value);
    enum tide_param_id id = tide_param_named(name);
    struct tide_param_value *value = NULL;
    for (uint32_t i = first; i < m->request->param_count; i++)
        if (m->request->params[i].id == id)
            value = &m->request->params[i];
    if (!value)
        reject_query_field(m, name, why_rejected(m, id));
    else if (value->given)
        reject_query_field(m, name, "is given more than once");
    else if (!has_value || !decode(m, &text, rest, true))
        reject_query_field(m, name, "needs a value in UTF-8");
    else if (!tide_param_read(value, id, text, why))
        reject_query_field(m, name, why);
}

static bool is_given(const struct match *m, enum tide_param_id id)
{
    const struct tide_param_value *value = tide_request_param(m->request, id);
    return value && value->given;
}

static void reject_conflicts(struct match *m)
{
    const struct tide_route_conflict *conflicts = m->table->conflicts;
    for (size_t i = 0; i < m->table->conflict_count; i++)
        if (is_given(m, conflicts[i].param) && is_given(m, conflicts[i].with) &&
            strcmp(m->request->route->id, conflicts[i].route) == 0)
            reject_query_field(m, tide_slice_str(tide_param_of(conflicts[i].param)->name),
                               conflicts[i].why);
}

static void read_query(struct match *m, const struct tide_route *route, tide_slice query)
{
    uint32_t first = m->request->param_count;
    tide_slice names = tide_slice_str(route->query), name;
    bool required, more = query.len > 0;
    if (strcmp(route->query, "*") == 0)
        return;
    while (next_name(&names, &name, &required)) {
        struct tide_param_value *value = add_param(m, name);
        tide_param_default(value, value->id);
    }
    while (more)
        read_pair(m, first, split_at(&query, '&', &more));
    names = tide_slice_str(route->query);
    for (uint32_t i = first; next_name(&names, &name, &required); i++) {
        assert(i < m->request->param_count); /* the first loop added it */
        if (required && !m->request->params[i].given)
            reject_query_field(m, name, "must be given");
    }
    reject_conflicts(m);
}

/* --- all of it -------------------------------------------------------------------------- */

bool tide_route_match(struct tide_request *request, struct tide_reply *reply,
                      const struct tide_route_table *table, const struct tide_target *target,
                      char *scratch)
{
    struct match m = { .table = table, .request = request, .reply = reply, .scratch = scratch };
    request->route = NULL;
    request->param_count = 0;
    if (target->path.len + target->query.len > TIDE_TARGET_MAX) {
        tide_reply_problem(reply, 414, "target_too_long",
                           "Path and query are longer than %u bytes together.", TIDE_TARGET_MAX);
        return false;
    }
    if (!is_well_formed(&m, target->path) || !is_well_formed(&m, target->query))
        return reject_target(&m,
                             "has a bad escape, a character that must be escaped, or is not UTF-8");
    const struct tide_route *route = find_route(&m, target);
    if (!route)
        return false;
    request->route = route;
    read_path(&m, route->path, target->path);
    read_query(&m, route, target->query);
    assert(!m.failed || reply->field_count > 0); /* the problem names a field */
    return !m.failed;
}
