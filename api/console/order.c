/* Reads the bodies of POSTs strictly, and checks the person's role. */
#include "api/console/console.h"
#include "api/http/body.h"
#include "tidemark/json.h"
#include "tidemark/json_members.h"
#include "tidemark/sign.h"

#include <stdlib.h>

/* --- the member "detail" of each action that has one -------------------------------------------- */

enum { LIST_MAX = 16, NAME_BYTES = 129 };

/* Room for the values, which are only checked. Every member is required: the database would read a
 * missing or misspelt one as "any" or "none". */
struct detail {
    char name[NAME_BYTES], state[16];
    uint32_t number;
    int64_t ends_at;
};

static tide_status read_texts(struct tide_members_reader *r, const struct tide_member *m, void *to,
                              json_t *value)
{
    (void)m, (void)to;
    bool texts = json_is_array(value) && json_array_size(value) <= LIST_MAX;
    for (size_t i = 0; texts && i < json_array_size(value); i++)
        texts = json_is_string(json_array_get(value, i));
    return texts ? TIDE_OK : tide_read_refuse(r, "expected a list of at most 16 texts");
}

/* Reads a number or null. */
static tide_status read_rate(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    return json_is_null(value) ? TIDE_OK : tide_read_u32(r, m, to, value);
}

/* clang-format off */
#define DETAIL(member) offsetof(struct detail, member)
static const struct tide_member integrator_members[] = {
    { "name",            tide_read_text, DETAIL(name),   0, NAME_BYTES, false, 0 },
    { "origins",         read_texts,     0,              0, 0,          false, 0 },
    { "sessionsPerHour", tide_read_u32,  DETAIL(number), 1, 1000000,    false, 0 },
    { "state",           tide_read_word, DETAIL(state),  0, 16,         false, 0 },
};
static const struct tide_member key_members[] = {
    { "scopes",   read_texts,     0,               0, 0,      false, 0 },
    { "rate",     read_rate,      DETAIL(number),  1, 100000, false, 0 },
    { "burst",    read_rate,      DETAIL(number),  1, 100000, false, 0 },
    { "networks", read_texts,     0,               0, 0,      false, 0 },
    { "endsAt",   tide_read_time, DETAIL(ends_at), 0, 0,      false, 0 },
};
static const struct tide_member rotation_members[] = {
    { "overlapS", tide_read_u32, DETAIL(number), 0, INT32_MAX, false, 0 },
};
static const struct {
    const char *action;
    const struct tide_member *members;
    size_t count;
} details[] = {
    { "integrator_put", integrator_members, TIDE_COUNT(integrator_members) },
    { "key_add",        key_members,        TIDE_COUNT(key_members)        },
    { "key_rotate",     rotation_members,   TIDE_COUNT(rotation_members)   },
};
/* clang-format on */

/* Fails unless detail has exactly the members of that action, which takes a detail. The reader
 * names the faulty one. The database checks the values. */
static tide_status check_detail(struct tide_members_reader *r, const char *action, json_t *detail)
{
    struct detail unused;
    size_t i = 0, at = tide_read_enter(r, "detail");
    while (i < TIDE_COUNT(details) && strcmp(details[i].action, action) != 0)
        i++;
    assert(i < TIDE_COUNT(details));
    tide_status status = tide_read_object(r, details[i].members, details[i].count, &unused, detail);
    if (status == TIDE_OK)
        tide_read_leave(r, at);
    return status;
}

/* --- bodies ----------------------------------------------------------------------------------- */

struct body {
    char action[16], target[CONSOLE_TARGET_BYTES], reason[33], ticket[20];
    uint32_t proposal;
    json_t *detail; /* borrowed from the body's tree; NULL: none */
};

/* Stores the detail unchanged: check_detail knows each action's members. */
static tide_status read_detail(struct tide_members_reader *r, const struct tide_member *m, void *to,
                               json_t *value)
{
    (void)m;
    (void)r;
    *(json_t **)to = value;
    return TIDE_OK;
}

static const struct tide_member propose_members[] = {
    { .name = "action",
      .read = tide_read_word,
      .offset = offsetof(struct body, action),
      .high = 16 },
    { .name = "target",
      .read = tide_read_word,
      .offset = offsetof(struct body, target),
      .high = CONSOLE_TARGET_BYTES },
    { .name = "reason",
      .read = tide_read_word,
      .offset = offsetof(struct body, reason),
      .high = 33 },
    { .name = "ticket",
      .read = tide_read_token,
      .offset = offsetof(struct body, ticket),
      .high = 20,
      .optional = true },
    { .name = "detail",
      .read = read_detail,
      .offset = offsetof(struct body, detail),
      .optional = true },
};
static const struct tide_member decide_members[] = {
    { .name = "proposal",
      .read = tide_read_u32,
      .offset = offsetof(struct body, proposal),
      .low = 1,
      .high = UINT32_MAX },
};

/* The actions, and the role that each needs. `detailed`: the body has a detail. `makes_key`: the
 * action makes an API key. attended, replay, suspend and key_end need no second person: they move
 * nothing on the chain, or take a right away. */
static const struct {
    const char *name;
    enum console_role role;
    bool detailed, makes_key;
} actions[] = {
    { .name = "attended", .role = CONSOLE_REVIEWER },
    { .name = "replay", .role = CONSOLE_REVIEWER },
    { .name = "requeue", .role = CONSOLE_REVIEWER },
    { .name = "revoke", .role = CONSOLE_REVIEWER },
    { .name = "erase", .role = CONSOLE_OPERATOR },
    { .name = "integrator_put", .role = CONSOLE_OPERATOR, .detailed = true },
    { .name = "key_add", .role = CONSOLE_OPERATOR, .detailed = true, .makes_key = true },
    { .name = "key_rotate", .role = CONSOLE_OPERATOR, .detailed = true, .makes_key = true },
    { .name = "suspend", .role = CONSOLE_OPERATOR },
    { .name = "key_end", .role = CONSOLE_OPERATOR },
};

/* Fixed words: a free text might name a person, and the audit keeps its rows for ever. */
static const char *const reasons[] = { "reviewed",      "provider_confirmed", "person_request",
                                       "legal_request", "key_corrected",      "mistake",
                                       "fraud" };

static bool is_reason(const char *word)
{
    for (size_t i = 0; i < TIDE_COUNT(reasons); i++)
        if (strcmp(reasons[i], word) == 0)
            return true;
    return false;
}

/* True for "" and for capital letters, "-" and digits: KYC-123. */
static bool is_ticket(const char *text)
{
    size_t letters = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (!*text)
        return true;
    if (letters < 1 || letters > 8 || text[letters] != '-')
        return false;
    size_t digits = strspn(text + letters + 1, "0123456789");
    return digits >= 1 && digits <= 10 && !text[letters + 1 + digits];
}

static bool reject_field(struct tide_reply *reply, const char *where, const char *expected)
{
    tide_reply_problem(reply, 400, "invalid_body", "The body has a fault: see errors.");
    tide_reply_problem_field(reply, where, expected);
    return false;
}

/* Writes a problem with the place where the reader stopped and the form it expected there. */
static bool reject_read(struct tide_reply *reply, const struct tide_members_reader *r)
{
    const char *expected = strstr(r->err->text, ": ");
    return reject_field(reply, r->path, expected ? expected + 2 : "not as expected");
}

static bool reject_role(struct tide_reply *reply)
{
    tide_reply_problem(reply, 403, "role", "Your role does not allow this.");
    return false;
}

/* Checks and stores the detail. If the action makes a key, the key is made here and shown in the
 * answer; the database gets only its id and hash. */
static bool store_detail(struct console_order *order, json_t *detail, bool makes_key,
                         struct tide_reply *reply)
{
    assert(!order->detail[0] && !order->key.text[0]);
    struct tide_err err = { 0 };
    struct tide_members_reader r = { .err = &err };
    if (check_detail(&r, order->action, detail) != TIDE_OK)
        return reject_read(reply, &r);
    if (makes_key && (tide_api_key_make(&order->key, &err) != TIDE_OK ||
                      json_object_set_new(detail, "keyId", json_string(order->key.id)) != 0)) {
        tide_reply_problem(reply, 503, "no_key",
                           "No key could be made: no random numbers or memory.");
        return false;
    }
    size_t len = json_dumpb(detail, order->detail, sizeof order->detail - 1, JSON_COMPACT);
    if (len == 0 || len >= sizeof order->detail)
        return reject_field(reply, "/detail", "too long");
    order->detail[len] = 0;
    return true;
}

/* Reads the body of an action. Fails if the role may not propose it or a member is wrong. */
static bool read_action(struct console_task *task, const struct body *body,
                        struct tide_reply *reply)
{
    assert(task->person && task->person->role <= CONSOLE_OPERATOR);
    size_t i = 0;
    while (i < TIDE_COUNT(actions) && strcmp(actions[i].name, body->action) != 0)
        i++;
    if (i == TIDE_COUNT(actions))
        return reject_field(reply, "/action", "expected one of the actions in the manual");
    if (!is_reason(body->reason))
        return reject_field(reply, "/reason", "expected one of the words in the manual");
    if (!is_ticket(body->ticket))
        return reject_field(reply, "/ticket", "expected capital letters, - and digits: KYC-123");
    if (task->person->role < actions[i].role)
        return reject_role(reply);
    if (actions[i].detailed != (body->detail != NULL))
        return reject_field(reply, "/detail", actions[i].detailed ? "missing" : "unknown here");
    static_assert(sizeof task->order.action >= sizeof body->action, "no action is cut");
    static_assert(sizeof task->order.target >= sizeof body->target, "no target is cut");
    static_assert(sizeof task->order.reason >= sizeof body->reason + sizeof body->ticket, "no cut");
    snprintf(task->order.action, sizeof task->order.action, "%s", body->action);
    snprintf(task->order.target, sizeof task->order.target, "%s", body->target);
    snprintf(task->order.reason, sizeof task->order.reason, "%s%s%s", body->reason,
             *body->ticket ? " " : "", body->ticket);
    return !actions[i].detailed ||
           store_detail(&task->order, body->detail, actions[i].makes_key, reply);
}

/* confirm and withdraw have a proposal's id as body; their route's id is the action. */
bool console_order_read(struct console_task *task, const struct tide_request *request,
                        struct tide_reply *reply)
{
    assert(task->person && !task->acts);
    bool proposes = strcmp(request->route->id, "act") == 0, good;
    struct body body = { 0 };
    struct tide_err err = { 0 };
    struct tide_members_reader r = { .err = &err };
    json_t *root = tide_body_object(request->body, 0, "invalid_body", reply);
    task->acts = true;
    if (!root)
        return false;
    tide_status status = tide_read_object(
        &r, proposes ? propose_members : decide_members,
        proposes ? TIDE_COUNT(propose_members) : TIDE_COUNT(decide_members), &body, root);
    if (status != TIDE_OK)
        good = reject_read(reply, &r);
    else if (proposes)
        good = read_action(task, &body, reply);
    else {
        snprintf(task->order.action, sizeof task->order.action, "%s", request->route->id);
        snprintf(task->order.target, sizeof task->order.target, "%" PRIu32, body.proposal);
        good = task->person->role >= CONSOLE_REVIEWER || reject_role(reply);
    }
    json_decref(root);
    return good;
}

void console_task_free(struct console_task *task)
{
    if (task)
        tide_sign_wipe(&task->order.key, sizeof task->order.key);
    free(task);
}
