/* The set of faults: reading their text, counting calls, deciding which call they affect. */
#include "tools/sim/rpc/faults.h"
#include "tidemark/text.h"

#include <pthread.h>

/* Methods that a kind of fault can affect, as faults.def names them. */
enum where {
    WHERE_ANY,
    WHERE_VIEW,
    WHERE_LATEST,
    WHERE_NETWORK,
    WHERE_LEDGERS,
    WHERE_PAGES,
    WHERE_EVENTS,
    WHERE_SEND,
    WHERE_FIND,
    WHERE_SIMULATE
};
/* Argument that a kind takes. */
enum argument { ARGUMENT_NONE, ARGUMENT_NUMBER, ARGUMENT_MAYBE, ARGUMENT_TEXT };

static const struct {
    const char *word;
    enum where where;
    enum argument argument;
    const char *help;
} kinds[] = {
#define SIM_FAULT(name, word, where, argument, help) \
    { word, WHERE_##where, ARGUMENT_##argument, help },
#include "tools/sim/rpc/faults.def"
#undef SIM_FAULT
};

static const struct {
    const char *name;
    uint32_t where; /* bits by enum where */
} methods[] = {
    { "getHealth", 1u << WHERE_VIEW },
    { "getNetwork", 1u << WHERE_NETWORK },
    { "getLatestLedger", 1u << WHERE_VIEW | 1u << WHERE_LATEST },
    { "getLedgers", 1u << WHERE_VIEW | 1u << WHERE_LEDGERS | 1u << WHERE_PAGES },
    { "getEvents", 1u << WHERE_VIEW | 1u << WHERE_EVENTS | 1u << WHERE_PAGES },
    { "getTransaction", 1u << WHERE_VIEW | 1u << WHERE_FIND },
    { "getLedgerEntries", 1u << WHERE_VIEW },
    { "simulateTransaction", 1u << WHERE_VIEW | 1u << WHERE_SIMULATE },
    { "sendTransaction", 1u << WHERE_VIEW | 1u << WHERE_SEND },
    { "getFeeStats", 1u << WHERE_VIEW },
};

/* A fault that has been set. */
struct rule {
    char text[SIM_FAULT_TEXT * 2]; /* the text that set it */
    int method;                    /* index in methods; -1: all methods */
    enum sim_fault_kind kind;
    uint64_t number;
    char argument[SIM_FAULT_TEXT];
    uint64_t from, count;  /* first call affected, from 1; calls affected, 0: all */
    uint64_t seen, struck; /* calls of its methods; calls affected */
};

/* lock guards all other fields. */
struct sim_faults {
    pthread_mutex_t lock;
    uint32_t count;
    struct rule rules[64];
};

tide_status sim_faults_open(struct sim_faults **faults, struct tide_err *err)
{
    *faults = calloc(1, sizeof **faults);
    if (!*faults)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for faults");
    pthread_mutex_init(&(*faults)->lock, NULL);
    return TIDE_OK;
}

void sim_faults_close(struct sim_faults *faults)
{
    if (!faults)
        return;
    pthread_mutex_destroy(&faults->lock);
    free(faults);
}

/* --- parsing the text ---------------------------------------------------------- */

/* Cuts a sign and the number behind it off the end of *text. Leaves *value as it is if there is
 * none. */
static void cut_number(tide_slice *text, char sign, uint64_t *value)
{
    size_t at = text->len;
    while (at > 0 && text->ptr[at - 1] >= '0' && text->ptr[at - 1] <= '9')
        at--;
    if (at == text->len || at == 0 || text->ptr[at - 1] != (uint8_t)sign)
        return;
    tide_slice digits = tide_slice_of(text->ptr + at, text->len - at);
    if (tide_parse_u64(value, digits, UINT32_MAX) == TIDE_OK)
        text->len = at - 1;
}

/* Finds a kind by its word. */
static bool find_kind(tide_slice word, enum sim_fault_kind *kind)
{
    for (size_t i = 0; i < TIDE_COUNT(kinds); i++) {
        if (tide_slice_eq_str(word, kinds[i].word)) {
            *kind = (enum sim_fault_kind)i;
            return true;
        }
    }
    return false;
}

/* Finds a method by its name; * gives -1. */
static bool find_method(tide_slice name, int *method)
{
    *method = -1;
    if (tide_slice_eq_str(name, "*"))
        return true;
    for (size_t i = 0; i < TIDE_COUNT(methods); i++) {
        if (tide_slice_eq_str(name, methods[i].name))
            *method = (int)i;
    }
    return *method >= 0;
}

/* Returns true if the kind can affect the method. */
static bool fits_method(int method, enum sim_fault_kind kind)
{
    enum where where = kinds[kind].where;
    return where == WHERE_ANY || method < 0 || (methods[method].where >> where & 1) != 0;
}

/* Returns true for a code and a text, such as "-32603 some text". */
static bool is_rpc_error(const char *text)
{
    char *end = NULL;
    long code = strtol(text, &end, 10);
    return end != text && *end == ' ' && end[1] && code >= -99999 && code <= 99999;
}

bool sim_fault_word(const char *text, char word[SIM_FAULT_WORD], int32_t *code)
{
    static const char *const words[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER", "ERROR" };
    size_t len = strcspn(text, " ");
    char *end = NULL;
    *code = text[len] ? (int32_t)strtol(text + len, &end, 10) : 0;
    if (len >= SIM_FAULT_WORD || (end && *end))
        return false;
    snprintf(word, SIM_FAULT_WORD, "%.*s", (int)len, text);
    for (size_t i = 0; i < TIDE_COUNT(words); i++)
        if (strcmp(words[i], word) == 0)
            /* Only an ERROR has a code, which is negative. */
            return (strcmp(word, "ERROR") == 0) == (*code < 0);
    return false;
}

/* Returns true if the text is a valid argument of the kind. */
static bool is_good_text(enum sim_fault_kind kind, const char *text)
{
    char word[SIM_FAULT_WORD];
    int32_t code;
    if (kind == SIM_FAULT_CLOSE)
        return strcmp(text, "before") == 0 || strcmp(text, "after") == 0;
    if (kind == SIM_FAULT_SAYS || kind == SIM_FAULT_CLAIMS)
        return sim_fault_word(text, word, &code);
    return kind == SIM_FAULT_REFUSES || is_rpc_error(text);
}

/* Reads and checks the argument. given: there was a colon. */
static tide_status read_argument(struct rule *rule, bool given, tide_slice argument,
                                 struct tide_err *err)
{
    const char *word = kinds[rule->kind].word;
    enum argument wanted = kinds[rule->kind].argument;
    if (given == (wanted == ARGUMENT_NONE) && wanted != ARGUMENT_MAYBE)
        return tide_fail(err, TIDE_E_USAGE, "%s %s an argument", word,
                         given ? "takes no" : "needs");
    if (!given)
        return TIDE_OK;
    if (argument.len >= sizeof rule->argument)
        return tide_fail(err, TIDE_E_USAGE, "the argument of %s is too long", word);
    snprintf(rule->argument, sizeof rule->argument, "%.*s", TIDE_SLICE_FMT(argument));
    if (wanted == ARGUMENT_TEXT) {
        bool good = is_good_text(rule->kind, rule->argument);
        return good ? TIDE_OK
                    : tide_fail(err, TIDE_E_USAGE, "%s: expected %s", word, kinds[rule->kind].help);
    }
    if (tide_parse_u64(&rule->number, argument, UINT32_MAX) != TIDE_OK)
        return tide_fail(err, TIDE_E_USAGE, "%s: %s is no number", word, rule->argument);
    if (rule->kind == SIM_FAULT_STATUS && (rule->number < 200 || rule->number > 599))
        return tide_fail(err, TIDE_E_USAGE, "status: expected 200..599");
    return TIDE_OK;
}

/* Parses one fault. */
static tide_status read_rule(struct rule *rule, tide_slice text, struct tide_err *err)
{
    *rule = (struct rule){ .from = 1 };
    const uint8_t *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;
    if (!equals || text.len >= sizeof rule->text)
        return tide_fail(err, TIDE_E_USAGE, "expected METHOD=KIND[:ARGUMENT][@FROM][xCOUNT]");
    snprintf(rule->text, sizeof rule->text, "%.*s", TIDE_SLICE_FMT(text));
    tide_slice method = tide_slice_of(text.ptr, (size_t)(equals - text.ptr));
    tide_slice rest = tide_slice_of(equals + 1, text.len - method.len - 1);
    /* COUNT and FROM come last, so they are cut off before the argument is looked for. */
    cut_number(&rest, 'x', &rule->count);
    cut_number(&rest, '@', &rule->from);
    const uint8_t *colon = rest.len ? memchr(rest.ptr, ':', rest.len) : NULL;
    tide_slice word = tide_slice_of(rest.ptr, colon ? (size_t)(colon - rest.ptr) : rest.len);
    tide_slice argument = colon ? tide_slice_of(colon + 1, rest.len - word.len - 1) : word;
    if (!find_method(method, &rule->method))
        return tide_fail(err, TIDE_E_USAGE, "%.*s is no method", TIDE_SLICE_FMT(method));
    if (!find_kind(word, &rule->kind))
        return tide_fail(err, TIDE_E_USAGE, "%.*s is no kind of fault", TIDE_SLICE_FMT(word));
    if (!fits_method(rule->method, rule->kind))
        return tide_fail(err, TIDE_E_USAGE, "%.*s means nothing to %.*s", TIDE_SLICE_FMT(word),
                         TIDE_SLICE_FMT(method));
    return read_argument(rule, colon != NULL, argument, err);
}

/* --- setting and listing -------------------------------------------------------- */

tide_status sim_faults_add(struct sim_faults *faults, tide_slice text, struct tide_err *err)
{
    struct rule rule;
    tide_status status = read_rule(&rule, text, err);
    if (status != TIDE_OK)
        return tide_fail_context(err, "fault %.*s", (int)(text.len < 200 ? text.len : 200),
                                 (const char *)text.ptr);
    pthread_mutex_lock(&faults->lock);
    if (faults->count == TIDE_COUNT(faults->rules))
        status = tide_fail(err, TIDE_E_LIMIT, "at most %zu faults", TIDE_COUNT(faults->rules));
    else
        faults->rules[faults->count++] = rule;
    pthread_mutex_unlock(&faults->lock);
    return status;
}

void sim_faults_clear(struct sim_faults *faults)
{
    pthread_mutex_lock(&faults->lock);
    faults->count = 0;
    pthread_mutex_unlock(&faults->lock);
}

void sim_faults_list(struct sim_faults *faults, struct tide_buf *json)
{
    pthread_mutex_lock(&faults->lock);
    tide_buf_str(json, "[");
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct rule *rule = &faults->rules[i];
        tide_buf_str(json, i ? ",{\"fault\":" : "{\"fault\":");
        tide_buf_json_string(json, tide_slice_str(rule->text));
        tide_buf_putf(json, ",\"seen\":%" PRIu64 ",\"struck\":%" PRIu64 "}", rule->seen,
                      rule->struck);
    }
    tide_buf_str(json, "]\n");
    pthread_mutex_unlock(&faults->lock);
}

void sim_faults_help(struct tide_buf *text)
{
    for (size_t i = 0; i < TIDE_COUNT(kinds); i++) {
        bool colon = kinds[i].argument != ARGUMENT_NONE;
        tide_buf_putf(text, "  %s%s%s\n", kinds[i].word, colon ? ":" : "  ", kinds[i].help);
    }
}

/* --- matching calls ----------------------------------------------------------------- */

/* Returns true for kinds that are only proposed: the answer shows if there is anything to alter. */
static bool is_proposed(enum sim_fault_kind kind)
{
    enum where where = kinds[kind].where;
    return where == WHERE_LEDGERS || where == WHERE_PAGES || where == WHERE_EVENTS;
}

/* Returns true if the fault affects the method. */
static bool concerns(const struct rule *rule, const char *method)
{
    return rule->method < 0 || strcmp(methods[rule->method].name, method) == 0;
}

void sim_faults_match(struct sim_faults *faults, const char *method, struct sim_fault_hit *hit)
{
    *hit = (struct sim_fault_hit){ 0 };
    pthread_mutex_lock(&faults->lock);
    for (uint32_t i = 0; i < faults->count; i++) {
        struct rule *rule = &faults->rules[i];
        if (!concerns(rule, method))
            continue;
        rule->seen++;
        bool due = rule->seen >= rule->from && (!rule->count || rule->struck < rule->count);
        if (!due || sim_fault_on(hit, rule->kind))
            continue;
        /* A proposed fault counts when it strikes. */
        rule->struck += !is_proposed(rule->kind);
        hit->on |= (uint64_t)1 << rule->kind;
        hit->number[rule->kind] = rule->number;
        hit->rule[rule->kind] = i;
        if (kinds[rule->kind].argument == ARGUMENT_TEXT)
            memcpy(hit->text, rule->argument, sizeof hit->text);
    }
    pthread_mutex_unlock(&faults->lock);
}

bool sim_faults_strike(struct sim_faults *faults, const struct sim_fault_hit *hit,
                       enum sim_fault_kind kind)
{
    bool struck = false;
    pthread_mutex_lock(&faults->lock);
    uint32_t i = hit->rule[kind];
    /* The faults may have been cleared or replaced since sim_faults_match. */
    if (sim_fault_on(hit, kind) && i < faults->count && faults->rules[i].kind == kind) {
        struct rule *rule = &faults->rules[i];
        struck = !rule->count || rule->struck < rule->count;
        rule->struck += struck;
    }
    pthread_mutex_unlock(&faults->lock);
    return struck;
}
