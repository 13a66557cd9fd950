/* Parameters of requests: converts and checks texts by param.def. Pure.
 *
 * Secret   A text that may be a secret seed (S…) is rejected without repeating it. No other
 *          rejection repeats the text either, except the G… or C… inside a muxed address. */
#ifndef API_HTTP_PARAM_H
#define API_HTTP_PARAM_H

#include "tidemark/ledger_value.h"

#define TIDE_PARAM_WHY 4096u /* bytes; the longest reason lists all kinds of events */

/* One value for each line of param.def: TIDE_PARAM_limit … */
enum tide_param_id {
#define TIDE_PARAM(name, type, min, max, def, words, help, example) TIDE_PARAM_##name,
#include "api/http/param.def"
#undef TIDE_PARAM
    TIDE_PARAM_COUNT
};

enum tide_param_type {
    TIDE_PARAM_U64,    /* decimal digits, min..max                                       */
    TIDE_PARAM_AMOUNT, /* a whole number of at most 38 digits, without leading zeros */
    TIDE_PARAM_ADDRESS, /* G… or C… strkey; an M… or W… is rejected with a text that names its
                           G… or C… */
    TIDE_PARAM_TOKEN,   /* ADDRESS, or a symbol of min..max bytes: then address.kind is 0 */
    TIDE_PARAM_SYMBOL, /* 1..32 of [A-Za-z0-9_]                                          */
    TIDE_PARAM_HASH,   /* 64 hex digits                                                  */
    TIDE_PARAM_TEXT,   /* min..max bytes of UTF-8 without control characters             */
    TIDE_PARAM_CHOICE, /* one of the words "a|b|c" */
    TIDE_PARAM_BOOL,   /* true | false                                                   */
    TIDE_PARAM_TIME,   /* unix seconds, RFC 3339, or a date alone (midnight UTC): min..max */
    TIDE_PARAM_KIND,   /* a kind of event: enum tide_event_id                            */
    TIDE_PARAM_EVENT,  /* Stellar RPC's id of an event: 19 digits, '-', 10 digits        */
    TIDE_PARAM_CURSOR, /* `next` of an earlier answer */
    TIDE_PARAM_KEY,    /* min..max characters of base64url; the handler reads the LedgerKey */
};

struct tide_param_value {
    enum tide_param_id id;
    bool given;      /* false: text is the default, possibly empty */
    tide_slice text; /* decoded, NUL-terminated; valid as long as the request */
    /* U64; TIME: unix seconds, rounded up; CHOICE: index of the word; BOOL; KIND: its id */
    uint64_t number;
    uint64_t time_ms; /* TIME: unix milliseconds */
    tide_i128 amount;
    struct tide_hot_address address;
    struct tide_hot_symbol symbol;
};

struct tide_param {
    const char *name;
    enum tide_param_type type;
    uint64_t min, max;
    const char *def;   /* empty: no default */
    const char *words; /* the words of a CHOICE, "a|b|c" */
};

const struct tide_param *tide_param_of(enum tide_param_id id);
/* Returns the id, or TIDE_PARAM_COUNT if no parameter has that name. */
enum tide_param_id tide_param_named(tide_slice name);

/* Converts a decoded text, which must live as long as *out. Sets given. Returns false with a
 * reason in `why` that continues the name of the parameter ("must be …") and never repeats the
 * text. */
bool tide_param_read(struct tide_param_value *out, enum tide_param_id id, tide_slice text,
                     char why[TIDE_PARAM_WHY]);
/* Sets the default, for a parameter that was not given. */
void tide_param_default(struct tide_param_value *out, enum tide_param_id id);

#endif
