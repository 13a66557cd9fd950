/* Accept: whether a client wants another form of an answer than JSON (RFC 9110, 12.5.1). Pure. */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

#include "tidemark/slice.h"

/* What a client wants of a route with a second form. */
enum tide_form {
    TIDE_FORM_PLAIN,  /* JSON                              */
    TIDE_FORM_EITHER, /* the second form, or else JSON      */
    TIDE_FORM_SECOND, /* the second form alone              */
};

/* Thousandths of the two types, as the lines of Accept say it; begin with
 * TIDE_ACCEPT_NOTHING. */
struct tide_accept {
    int second;      /* of the second type by its name; -1: not named */
    int json, group; /* of application/json; of application/… ; -1: not said */
    int any;         /* of all types                                */
};
#define TIDE_ACCEPT_NOTHING ((struct tide_accept){ -1, -1, -1, -1 })

/* One line's value. second is a media type in lower case, "application/jwt". */
void tide_accept_read(struct tide_accept *accept, tide_slice value, const char *second);
/* The second form is sent if it is named and JSON is not wanted more. A wildcard names none. */
enum tide_form tide_accept_form(const struct tide_accept *accept);

#endif
