/* The members of "detail" for each action that has one. */
#include "api/console/detail.h"

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

tide_status console_detail_check(struct tide_members_reader *r, const char *action, json_t *detail)
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
