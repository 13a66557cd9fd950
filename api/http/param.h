/* Parameters of requests: what a text must be to be a value of param.def. Pure.
 *
 * Secret   a text that may be somebody's secret seed (S…) is refused in words that do not repeat
 *          it; no other refusal repeats what was sent either, but for the G… inside an M…. */
#ifndef API_HTTP_PARAM_H
#define API_HTTP_PARAM_H

#include "api/http/route.h"

#define TIDE_PARAM_WHY 4096u /* all kinds of events are named in one */

struct tide_param {
    const char *name;
    enum tide_param_type type;
    uint64_t min, max;
    const char *def;   /* "": not given          */
    const char *words; /* of a CHOICE, "a|b|c" */
};

const struct tide_param *tide_param_of(enum tide_param_id id);
/* TIDE_PARAM_COUNT when none is called so. */
enum tide_param_id tide_param_named(tide_slice name);

/* The value of text, which is decoded and stays the caller's as long as *out; given becomes true.
 * False with the reason in why: what follows "address …", never the text itself. */
bool tide_param_read(struct tide_param_value *out, enum tide_param_id id, tide_slice text,
                     char why[TIDE_PARAM_WHY]);
/* What stands when nothing was sent: given is false. */
void tide_param_default(struct tide_param_value *out, enum tide_param_id id);

#endif
