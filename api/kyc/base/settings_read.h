/* Reading the KYC file: an object by a table of its members. A message names a member by its JSON
 * Pointer and says what is expected there, nothing of what stands there: values are secrets. */
#ifndef API_KYC_BASE_SETTINGS_READ_H
#define API_KYC_BASE_SETTINGS_READ_H

#include "schema/base/json_read.h"
#include "tidemark/status.h"

struct tide_reader {
    char path[192]; /* JSON Pointer of what is being read */
    struct tide_err *err;
};

/* One value of a member; to is where it goes. TIDE_E_CONFIG. */
struct tide_member;
typedef tide_status tide_read_fn(struct tide_reader *r, const struct tide_member *m, void *to,
                                 json_t *value);

struct tide_member {
    const char *name;
    tide_read_fn *read;
    size_t offset; /* of the struct that the object is read into */
    uint32_t low,
        high; /* of a number, of a list's length; high: room of a text, its NUL included */
    bool optional;
    uint8_t mask; /* the caller's: not looked at here */
};

/* A list's elements: each read by a function into size bytes of its own; *count: those read. */
struct tide_list {
    tide_read_fn *each;
    size_t size;
    uint32_t *count;
};

/* TIDE_E_CONFIG: expected, at the place where the reader is. */
tide_status tide_read_refuse(struct tide_reader *r, const char *expected);
/* Steps into a member and, by what that returned, out again. */
size_t tide_read_enter(struct tide_reader *r, const char *name);
void tide_read_leave(struct tide_reader *r, size_t at);

/* Each member of the object is one of the table's; those of it that are not optional are there. */
tide_status tide_read_object(struct tide_reader *r, const struct tide_member *members, size_t count,
                             void *to, json_t *object);
tide_status tide_read_list(struct tide_reader *r, const struct tide_member *m,
                           struct tide_list list, void *to, json_t *value);

/* Borrows from value; empty when it is no string. */
tide_slice tide_read_string(const json_t *value);

tide_read_fn tide_read_text;   /* on one line, as tide_text_is_name wants it */
tide_read_fn tide_read_token;  /* ASCII without spaces: goes into a header or a path as it is */
tide_read_fn tide_read_word;   /* a-z, 0-9, _ and - */
tide_read_fn tide_read_hex32;  /* 64 digits into 32 bytes */
tide_read_fn tide_read_bool;   /* into a bool */
tide_read_fn tide_read_u32;    /* low .. high */
tide_read_fn tide_read_host;   /* name or name:port */
tide_read_fn tide_read_url;    /* no query, no / at its end */
tide_read_fn tide_read_origin; /* scheme://host[:port] as browsers write it */
tide_read_fn tide_read_time;   /* RFC 3339 or null: unix seconds into an int64_t */

tide_read_fn tide_kyc_brand_read; /* into a struct tide_kyc_brand: brand.h */

/* The struct of that type which holds the member whose place to is. */
#define TIDE_MEMBER_OWNER(type, m, to) ((struct type *)(void *)((char *)(to) - (m)->offset))

#endif
