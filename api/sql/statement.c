/* Parsing of statement files, and their checks against the routes. */
#include "api/sql/statement.h"
#include "api/http/param.h"

/* Takes the first word off *text. Returns an empty slice at the end. */
static tide_slice first_word(tide_slice *text)
{
    size_t from = 0, to;
    while (from < text->len && text->ptr[from] == ' ')
        from++;
    for (to = from; to < text->len && text->ptr[to] != ' '; to++)
        ;
    tide_slice word = tide_slice_of(text->ptr + from, to - from);
    *text = tide_slice_of(text->ptr + to, text->len - to);
    return word;
}

/* Takes the first line off *text, without its line break. */
static tide_slice next_line(tide_slice *text)
{
    const uint8_t *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    tide_slice line = tide_slice_of(text->ptr, len);
    size_t skip = len + (end != NULL);
    *text = tide_slice_of(text->ptr + skip, text->len - skip);
    return line;
}

/* Removes a prefix from the line. Returns false if the line does not have it. */
static bool take_prefix(tide_slice *line, const char *prefix)
{
    size_t len = strlen(prefix);
    if (line->len < len || memcmp(line->ptr, prefix, len) != 0)
        return false;
    *line = tide_slice_of(line->ptr + len, line->len - len);
    return true;
}

static_assert(TIDE_BIND_LIMIT <= UINT8_MAX, "a bind is a byte");
static_assert(TIDE_PG_PARAMS_MAX <= UINT8_MAX, "the count of binds is a byte");

/* Returns what a name binds, or -1 if it cannot be bound. */
static int bind_named(tide_slice name)
{
    static const char *const own[] = { "deployment", "at", "after", "limit" };
    static_assert(TIDE_COUNT(own) == TIDE_BIND_LIMIT - TIDE_BIND_DEPLOYMENT + 1, "each has a name");
    for (size_t i = 0; i < TIDE_COUNT(own); i++)
        if (tide_slice_eq_str(name, own[i]))
            return (int)(TIDE_BIND_DEPLOYMENT + i);
    enum tide_param_id id = tide_param_named(name);
    return id == TIDE_PARAM_COUNT || id == TIDE_PARAM_cursor ? -1 : (int)id;
}

/* Reads the names that are bound to $1, $2 …, in order. */
static tide_status read_binds(struct tide_statement *out, tide_slice line, struct tide_err *err)
{
    for (tide_slice word = first_word(&line); word.len; word = first_word(&line)) {
        int bind = bind_named(word);
        if (bind < 0)
            return tide_fail(err, TIDE_E_SCHEMA, "%s.sql: no parameter is called %.*s", out->name,
                             TIDE_SLICE_FMT(word));
        if (out->bind_count == TIDE_PG_PARAMS_MAX)
            return tide_fail(err, TIDE_E_SCHEMA, "%s.sql: more than %u names", out->name,
                             TIDE_PG_PARAMS_MAX);
        out->binds[out->bind_count++] = (uint8_t)bind;
    }
    return TIDE_OK;
}

/* Reads the second line: "-- of: pool" of a list, "-- none: words" or "-- none no_market: words"
 * of a one. */
static tide_status read_second(struct tide_statement *out, tide_slice line, struct tide_err *err)
{
    tide_slice code = TIDE_SLICE("not_found");
    if (out->list) {
        if (take_prefix(&line, "-- of: "))
            out->of = line;
        else if (take_prefix(&line, "-- none"))
            return tide_fail(err, TIDE_E_SCHEMA, "%s.sql: a list has no -- none line", out->name);
        return TIDE_OK;
    }
    bool has_none = take_prefix(&line, "-- none");
    if (has_none && !take_prefix(&line, ": ")) {
        code = first_word(&line);
        has_none = code.len > 1 && code.ptr[--code.len] == ':' && take_prefix(&line, " ");
    }
    if (!has_none || line.len >= sizeof out->none || code.len >= sizeof out->code)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.sql: the second line must be -- none: and the words of the 404",
                         out->name);
    snprintf(out->none, sizeof out->none, "%.*s", TIDE_SLICE_FMT(line));
    snprintf(out->code, sizeof out->code, "%.*s", TIDE_SLICE_FMT(code));
    return TIDE_OK;
}

tide_status tide_statement_parse(struct tide_statement *out, const struct tide_query_file *file,
                                 struct tide_err *err)
{
    tide_slice text = tide_slice_str(file->text), line = next_line(&text);
    *out = (struct tide_statement){ .name = file->name,
                                    .sql = file->text,
                                    .parent = TIDE_STATEMENT_NO_PARENT };
    out->events = strstr(out->sql, "(event.") || strstr(out->sql, "(chain.call ");
    out->whole = strstr(out->sql, "rollup.partner_revenue") ||
                 strstr(out->sql, "rollup.partner_epoch_revenue");
    out->list = take_prefix(&line, "-- list:");
    if (!out->list && !take_prefix(&line, "-- one:"))
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.sql: the first line is neither -- one: nor"
                         " -- list:",
                         file->name);
    tide_status status = read_binds(out, line, err);
    if (status != TIDE_OK)
        return status;
    return read_second(out, next_line(&text), err);
}

const char *tide_query_file_text(const char *name)
{
    size_t i = 0;
    while (i < tide_query_file_count && strcmp(tide_query_files[i].name, name) != 0)
        i++;
    assert(i < tide_query_file_count);
    return tide_query_files[i].text;
}

/* --- all of them ------------------------------------------------------------------------ */

static size_t find_named(const struct tide_statements *statements, const char *id,
                         const char *suffix)
{
    char name[64];
    int len = snprintf(name, sizeof name, "%s%s", id, suffix);
    assert(len > 0 && (size_t)len < sizeof name);
    for (size_t i = 0; i < statements->count; i++)
        if (strcmp(statements->all[i].name, name) == 0)
            return i;
    return statements->count;
}

size_t tide_statements_find(const struct tide_statements *statements,
                            const struct tide_route *route, bool past)
{
    size_t found = past ? find_named(statements, route->statement, "_at") : statements->count;
    if (found == statements->count)
        found = find_named(statements, route->statement, "");
    assert(found < statements->count);
    return found;
}

/* Returns whether the route's path has {name}, or its query lists it. */
static bool has_param(const struct tide_route *route, tide_slice name)
{
    tide_slice lists[] = { tide_slice_str(route->path), tide_slice_str(route->query) };
    for (int path = 1; path >= 0; path--) {
        const char *list = (const char *)lists[1 - path].ptr;
        for (const char *at = list; *at;) {
            size_t len = strcspn(at, path ? "/{}" : " !");
            if (tide_slice_eq(name, tide_slice_of(at, len)) &&
                (!path || (at > list && at[-1] == '{')))
                return true;
            at += len + (at[len] != 0);
        }
    }
    return false;
}

/* Returns whether the statement binds that value. */
static bool binds(const struct tide_statement *statement, int bind)
{
    return memchr(statement->binds, bind, statement->bind_count) != NULL;
}

/* Checks that the route has every parameter that the file binds, and that a list can be read in
 * pages. */
static tide_status check_file(const struct tide_statement *statement,
                              const struct tide_route *route, struct tide_err *err)
{
    for (uint32_t i = 0; i < statement->bind_count; i++) {
        uint8_t bind = statement->binds[i];
        if (bind < TIDE_PARAM_COUNT &&
            !has_param(route, tide_slice_str(tide_param_of((enum tide_param_id)bind)->name)))
            return tide_fail(err, TIDE_E_SCHEMA, "%s.sql: its route has no parameter %s",
                             statement->name, tide_param_of((enum tide_param_id)bind)->name);
    }
    bool pages = has_param(route, TIDE_SLICE("cursor")) && has_param(route, TIDE_SLICE("limit"));
    bool paged = binds(statement, TIDE_BIND_AFTER) && binds(statement, TIDE_BIND_LIMIT);
    if (statement->list && (!pages || !paged))
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.sql: a list's route needs limit and cursor, and the list must bind"
                         " limit and after",
                         statement->name);
    return TIDE_OK;
}

/* Finds the statement that `-- of:` names, and checks that the route has what it binds. */
static tide_status find_parent(const struct tide_statements *statements,
                               struct tide_statement *statement, const struct tide_route *route,
                               struct tide_err *err)
{
    char name[64];
    if (statement->of.len == 0)
        return TIDE_OK;
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(statement->of));
    statement->parent = find_named(statements, name, "");
    if (statement->parent == statements->count || statements->all[statement->parent].list)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.sql: %s.sql is not a statement with -- one:", statement->name, name);
    return check_file(&statements->all[statement->parent], route, err);
}

/* Checks the statements of a route, now and as of a ledger. Runs at the start, so that a wrong
 * file never reaches a client. */
static tide_status check_route(const struct tide_statements *statements,
                               const struct tide_route *route, struct tide_err *err)
{
    size_t now = find_named(statements, route->statement, "");
    size_t past = find_named(statements, route->statement, "_at");
    if (now == statements->count)
        return tide_fail(err, TIDE_E_SCHEMA, "route %s: no %s.sql", route->id, route->statement);
    tide_status status = check_file(&statements->all[now], route, err);
    if (status == TIDE_OK)
        status = find_parent(statements, &statements->all[now], route, err);
    if (status == TIDE_OK && past < statements->count)
        status = check_file(&statements->all[past], route, err);
    if (status == TIDE_OK && past < statements->count)
        status = find_parent(statements, &statements->all[past], route, err);
    if (status == TIDE_OK && has_param(route, TIDE_SLICE("ledger")) &&
        !binds(&statements->all[past < statements->count ? past : now], TIDE_BIND_AT))
        status = tide_fail(err, TIDE_E_SCHEMA,
                           "route %s has the parameter ledger, but its statement does not bind at",
                           route->id);
    return status;
}

tide_status tide_statements_open(struct tide_statements *out, const struct tide_route_table *routes,
                                 struct tide_err *err)
{
    tide_status status = TIDE_OK;
    *out = (struct tide_statements){ .count = tide_query_file_count };
    out->all = calloc(out->count, sizeof *out->all);
    if (!out->all)
        return tide_fail(err, TIDE_E_MEMORY, "statements");
    for (size_t i = 0; i < out->count && status == TIDE_OK; i++)
        status = tide_statement_parse(&out->all[i], &tide_query_files[i], err);
    for (size_t i = 0; i < routes->count && status == TIDE_OK; i++) {
        const struct tide_route *route = &routes->routes[i];
        if (route->statement)
            status = check_route(out, route, err);
        else if (!route->handle)
            status = tide_fail(err, TIDE_E_SCHEMA, "route %s has no handler", route->id);
    }
    if (status != TIDE_OK)
        tide_statements_close(out);
    return status;
}

void tide_statements_close(struct tide_statements *statements)
{
    free(statements->all);
    *statements = (struct tide_statements){ 0 };
}
