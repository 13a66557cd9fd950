/* Reads a JSON object strictly, by a table of its members. Messages name the member by its JSON
 * Pointer and the expected form, never the value: values are secrets. */
#ifndef TIDEMARK_SETTINGS_READ_H
#define TIDEMARK_SETTINGS_READ_H

#include "tidemark/json_read.h"
#include "tidemark/status.h"

struct tide_members_reader {
    char path[192]; /* JSON Pointer of the value that is being read */
    struct tide_err *err;
};

/* Reads one value into *to. TIDE_E_CONFIG. */
struct tide_member;
typedef tide_status tide_read_fn(struct tide_members_reader *r, const struct tide_member *m,
                                 void *to, json_t *value);

struct tide_member {
    const char *name;
    tide_read_fn *read;
    size_t offset; /* in the struct that the object is read into */
    /* Bounds of a number or of a list's length. For a text, high is its room including the NUL. */
    uint32_t low, high;
    bool optional;
    uint8_t mask; /* free for the caller; tide_read_object ignores it */
};

/* Describes a list: `each` reads one element into `size` bytes; *count is the number of elements
 * that were read. */
struct tide_list {
    tide_read_fn *each;
    size_t size;
    uint32_t *count;
};

/* Returns TIDE_E_CONFIG with the reader's current path and `expected`. */
tide_status tide_read_refuse(struct tide_members_reader *r, const char *expected);
/* Appends a name to the path. Returns the value with which tide_read_leave removes the name
 * again. */
size_t tide_read_enter(struct tide_members_reader *r, const char *name);
void tide_read_leave(struct tide_members_reader *r, size_t at);

/* Reads an object. Fails on a member that is not in the table, and on a missing member that is not
 * optional. On failure the path still names the member. */
tide_status tide_read_object(struct tide_members_reader *r, const struct tide_member *members,
                             size_t count, void *to, json_t *object);
tide_status tide_read_list(struct tide_members_reader *r, const struct tide_member *m,
                           struct tide_list list, void *to, json_t *value);

/* Returns the string of value, borrowed, or an empty slice if value is no string. */
tide_slice tide_read_string(const json_t *value);

tide_read_fn tide_read_text;   /* one line, as tide_text_is_name requires */
tide_read_fn tide_read_token;  /* visible ASCII without spaces: safe in a header or path */
tide_read_fn tide_read_word;   /* one or more of a-z, 0-9, _ and - */
tide_read_fn tide_read_hex32;  /* 64 digits into 32 bytes */
tide_read_fn tide_read_bool;   /* into a bool */
tide_read_fn tide_read_u32;    /* low to high */
tide_read_fn tide_read_host;   /* name or name:port */
tide_read_fn tide_read_url;    /* without query and final / */
tide_read_fn tide_read_origin; /* scheme://host[:port], as browsers write it */
tide_read_fn tide_read_time;   /* RFC 3339 or null; unix seconds into an int64_t */

/* Returns the struct that contains member m, given the member's address `to`. */
#define TIDE_MEMBER_OWNER(type, m, to) ((struct type *)(void *)((char *)(to) - (m)->offset))

#endif
