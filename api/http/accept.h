/* Accept: whether a client prefers another form of an answer to JSON (RFC 9110, 12.5.1). Pure. */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

#include "tidemark/slice.h"

/* The form of the answer of a route with a second form. */
enum tide_form {
    TIDE_FORM_PLAIN,  /* JSON                              */
    TIDE_FORM_EITHER, /* the second form, or JSON if there is none */
    TIDE_FORM_SECOND, /* the second form only */
};

/* Weights of the media types, in thousandths, from all lines of Accept. Start with
 * TIDE_ACCEPT_NOTHING. */
struct tide_accept {
    int second;      /* the second type by its name; -1: not named */
    int json, group; /* application/json; application/…; -1: not named */
    int any;         /* any type; -1: not named */
};
#define TIDE_ACCEPT_NOTHING ((struct tide_accept){ -1, -1, -1, -1 })

/* Reads the value of one line. second: a media type in lower case, "application/jwt". */
void tide_accept_read(struct tide_accept *accept, tide_slice value, const char *second);
/* Returns the form. The second form is sent if it is named, and its weight is not below that of
 * JSON. Wildcards do not name it. */
enum tide_form tide_accept_form(const struct tide_accept *accept);

#endif
