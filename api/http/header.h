/* Values of header lines: lists with weights, "gzip;q=0.5, zstd" (RFC 9110, 12.4.2), and Accept:
 * whether a client prefers another form of an answer to JSON (12.5.1). Pure. */
#ifndef API_HTTP_HEADER_H
#define API_HTTP_HEADER_H

#include "tidemark/slice.h"

#define TIDE_WEIGHT_MAX   1000
#define TIDE_WEIGHT_WRONG (-1)

/* Returns the text without surrounding blanks. */
tide_slice tide_header_trim(tide_slice text);
/* Returns the text before the separator, without surrounding blanks, and leaves in *text what
 * follows it. */
tide_slice tide_header_cut(tide_slice *text, char separator);
/* Returns whether the text is that word, in any case. */
bool tide_header_is(tide_slice text, const char *word);
/* Returns a qvalue in thousandths: "0", "1", "0.5", "0.123", "1.000". Returns TIDE_WEIGHT_WRONG
 * for any other text. */
int tide_header_weight(tide_slice text);

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
