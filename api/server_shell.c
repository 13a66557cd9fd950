/* Responses used again. Making one costs forty allocations, as much as the rest of a look-up: the
 * library copies name and value of each header line. A shell is a response with all its lines and
 * room for a body; for the next answer of the same route, ledger and lengths only the body's bytes
 * and four values are written over. That is sound because the library keeps its copy of a value in
 * one place for the response's life and reads it when it sends; a worker uses shells only after it
 * saw that the place does not move, and a test compares what arrives. */
#include "api/server_impl.h"
#include "tidemark/text.h"

#include <microhttpd.h>

enum { LISTS = 64, LOOKS = 8, SHELLS_MAX = 512 };

enum value { VALUE_DATE, VALUE_ID, VALUE_AGE, VALUE_RATE, VALUE_COUNT };

static const char *const names[VALUE_COUNT] = { "Date", "Request-Id", "Data-Age-Ms", "RateLimit" };

struct server_shell {
    struct server_shell *next; /* of the free ones of its list */
    struct MHD_Response *response;
    const struct tide_route *route;
    struct tide_answer_at at; /* age_ms is not compared */
    uint32_t quota;
    char *values[VALUE_COUNT]; /* in the library's memory */
    size_t lens[VALUE_COUNT];
    size_t body_len;
    uint8_t body[];
};

struct server_shells {
    uint32_t count;
    struct server_shell *lists[LISTS];
};

/* The values of this answer; RateLimit is "" where there is no limit. */
struct values {
    char text[VALUE_COUNT][64];
    size_t lens[VALUE_COUNT];
};

static void write_values(struct values *v, const struct server_conn *conn)
{
    memcpy(v->text[VALUE_DATE], conn->worker->date, sizeof conn->worker->date);
    memcpy(v->text[VALUE_ID], conn->request.id, sizeof conn->request.id);
    v->text[VALUE_AGE][tide_u64_text(v->text[VALUE_AGE], conn->reply.at.age_ms)] = 0;
    server_rate_text(v->text[VALUE_RATE], conn);
    for (int i = 0; i < VALUE_COUNT; i++)
        v->lens[i] = strlen(v->text[i]);
}

static bool fits(const struct server_shell *shell, const struct server_conn *conn,
                 const struct values *v)
{
    return shell->route == conn->request.route && shell->body_len == conn->reply.body.len &&
           shell->at.ledger == conn->reply.at.ledger &&
           shell->at.close_time == conn->reply.at.close_time && shell->quota == conn->rate.quota &&
           memcmp(shell->lens, v->lens, sizeof v->lens) == 0;
}

static struct server_shell **list_of(struct server_shells *shells, size_t body_len)
{
    return &shells->lists[body_len % LISTS];
}

static void free_shell(struct server_shells *shells, struct server_shell *shell)
{
    MHD_destroy_response(shell->response);
    free(shell);
    shells->count--;
}

/* Takes one that fits out of its list. What does not fit where it was looked at is most often of an
 * older ledger: the last of those makes room. */
static struct server_shell *take(struct server_shells *shells, const struct server_conn *conn,
                                 const struct values *v)
{
    struct server_shell **at = list_of(shells, conn->reply.body.len);
    for (int i = 0; i < LOOKS && *at; i++, at = &(*at)->next) {
        struct server_shell *shell = *at;
        if (!fits(shell, conn, v))
            continue;
        *at = shell->next;
        return shell;
    }
    if (*at) {
        struct server_shell *old = *at;
        *at = old->next;
        free_shell(shells, old);
    }
    return NULL;
}

static struct server_shell *make(struct server_conn *conn, const struct values *v)
{
    struct server_shells *shells = conn->worker->shells;
    size_t len = conn->reply.body.len;
    if (shells->count >= SHELLS_MAX)
        return NULL;
    struct server_shell *shell = calloc(1, sizeof *shell + len);
    if (!shell)
        return NULL;
    shell->response = MHD_create_response_from_buffer(len, shell->body, MHD_RESPMEM_PERSISTENT);
    bool made = shell->response && server_answer_head(shell->response, conn);
    for (int i = 0; i < VALUE_COUNT && made; i++) {
        const char *value = MHD_get_response_header(shell->response, names[i]);
        shell->values[i] = (char *)(uintptr_t)value;
        shell->lens[i] = v->lens[i];
        made = value ? strlen(value) == v->lens[i] : v->lens[i] == 0;
    }
    if (!made) {
        if (shell->response)
            MHD_destroy_response(shell->response);
        free(shell);
        return NULL;
    }
    shells->count++;
    shell->route = conn->request.route;
    shell->at = conn->reply.at;
    shell->quota = conn->rate.quota;
    shell->body_len = len;
    return shell;
}

bool server_shell_answer(struct server_conn *conn)
{
    struct server_shells *shells = conn->worker->shells;
    const struct tide_buf *body = &conn->reply.body;
    struct values v;
    if (!shells)
        return false;
    write_values(&v, conn);
    struct server_shell *shell = take(shells, conn, &v);
    if (!shell)
        shell = make(conn, &v);
    if (!shell)
        return false;
    for (int i = 0; i < VALUE_COUNT; i++)
        if (v.lens[i])
            memcpy(shell->values[i], v.text[i], v.lens[i]);
    memcpy(shell->body, body->ptr, body->len);
    conn->shell = shell;
    return MHD_queue_response(conn->mhd, conn->reply.status, shell->response) == MHD_YES;
}

/* The answer is out: nothing of the library points at the shell any more. */
void server_shell_end(struct server_conn *conn)
{
    struct server_shell *shell = conn->shell;
    if (!shell)
        return;
    struct server_shell **list = list_of(conn->worker->shells, shell->body_len);
    conn->shell = NULL;
    shell->next = *list;
    *list = shell;
}

/* Whether a value stays where it is, and may be written there. */
static bool stays(void)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    bool same = false;
    if (response && MHD_add_response_header(response, "Request-Id", "first") == MHD_YES) {
        const char *before = MHD_get_response_header(response, "Request-Id");
        memcpy((char *)(uintptr_t)before, "other", 5);
        const char *after = MHD_get_response_header(response, "Request-Id");
        same = before == after && strcmp(after, "other") == 0;
    }
    if (response)
        MHD_destroy_response(response);
    return same;
}

struct server_shells *server_shells_open(void)
{
    return stays() ? calloc(1, sizeof(struct server_shells)) : NULL;
}

void server_shells_close(struct server_shells *shells)
{
    for (int i = 0; shells && i < LISTS; i++)
        while (shells->lists[i]) {
            struct server_shell *shell = shells->lists[i];
            shells->lists[i] = shell->next;
            free_shell(shells, shell);
        }
    free(shells);
}
