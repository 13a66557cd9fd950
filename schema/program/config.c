#include "schema/program/config_impl.h"
#include "tidemark/log.h"
#include "tidemark/nearest.h"
#include "tidemark/text.h"

#include <errno.h>

const struct tide_setting tide_settings[TIDE_SETTING_COUNT] = {
#define AT(name)                   offsetof(struct tide_config, name)
#define TIDE_GROUP(title)          { TIDE_SETTING_GROUP, title, 0, "", 0, 0, "", "" },
#define TIDE_BOOL(name, def, help) { TIDE_SETTING_BOOL, #name, AT(name), def, 0, 0, "", help },
#define TIDE_U32(name, def, min, max, unit, help) \
    { TIDE_SETTING_U32, #name, AT(name), def, min, max, unit, help },
#define TIDE_ENUM(name, def, choices, help) \
    { TIDE_SETTING_ENUM, #name, AT(name), def, 0, 0, choices, help },
#define TIDE_TEXT(name, def, help) { TIDE_SETTING_TEXT, #name, AT(name), def, 0, 0, "", help },
#define TIDE_PATH(name, def, help) { TIDE_SETTING_PATH, #name, AT(name), def, 0, 0, "", help },
#define TIDE_SECRET(name, help)    { TIDE_SETTING_SECRET, #name, AT(name), "", 0, 0, "", help },
#include "tidemark/config.def"
#undef AT
};

enum { NAME_MAX_BYTES = 64 };

/* The place where each setting was given in one source: line or argument, 0 for none. */
struct seen {
    uint32_t at[TIDE_SETTING_COUNT];
};

static bool same_name(const char *name, tide_slice text)
{
    size_t len = strlen(name);
    if (len != text.len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = (char)text.ptr[i];
        if ((c == '-' ? '_' : c) != (name[i] == '-' ? '_' : name[i]))
            return false;
    }
    return true;
}

static const struct tide_setting *find_setting(tide_slice name)
{
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind != TIDE_SETTING_GROUP && same_name(tide_settings[i].name, name))
            return &tide_settings[i];
    return NULL;
}

static void *field(struct tide_config *config, const struct tide_setting *s)
{
    assert(s->kind != TIDE_SETTING_GROUP && s->offset < sizeof *config);
    return (uint8_t *)config + s->offset;
}

static const void *field_of(const struct tide_config *config, const struct tide_setting *s)
{
    return (const uint8_t *)config + s->offset;
}

/* Writes "1..256 MiB", "true or false" or "one of a, b, c". */
void tide_setting_bounds(struct tide_buf *out, const struct tide_setting *s)
{
    if (s->kind == TIDE_SETTING_BOOL)
        tide_buf_str(out, "true or false");
    else if (s->kind == TIDE_SETTING_U32)
        tide_buf_putf(out, "%u..%u %s", s->min, s->max, s->unit);
    else if (s->kind == TIDE_SETTING_ENUM)
        for (const char *p = s->unit; *p; p++)
            tide_buf_putf(out, *p == '|' ? ", " : "%c", *p);
    else
        tide_buf_str(out, s->kind == TIDE_SETTING_PATH ? "a path" : "text");
}

/* Returns the index of value in "a|b|c", or -1. */
static int choice(const char *choices, tide_slice value)
{
    int index = 0;
    for (const char *p = choices;; index++) {
        size_t len = strcspn(p, "|");
        if (tide_slice_eq(tide_slice_of(p, len), value))
            return index;
        if (p[len] == '\0')
            return -1;
        p += len + 1;
    }
}

static tide_status refuse_value(const struct tide_setting *s, tide_slice value, const char *place,
                                struct tide_err *err)
{
    struct tide_buf bounds;
    tide_buf_init(&bounds, 512);
    tide_setting_bounds(&bounds, s);
    tide_slice shown = s->kind == TIDE_SETTING_SECRET ? TIDE_SLICE("…") : value;
    if (shown.len > 100)
        shown.len = 100;
    tide_fail(err, TIDE_E_CONFIG, "%s=%.*s (%s): expected %.*s", s->name, TIDE_SLICE_FMT(shown),
              place, TIDE_SLICE_FMT(tide_buf_view(&bounds)));
    tide_buf_release(&bounds);
    return TIDE_E_CONFIG;
}

static tide_status set_number(void *to, const struct tide_setting *s, tide_slice value,
                              const char *place, struct tide_err *err)
{
    assert(s->min <= s->max);
    uint64_t v = 0;
    if (tide_parse_u64(&v, value, s->max) != TIDE_OK || v < s->min)
        return refuse_value(s, value, place, err);
    *(uint32_t *)to = (uint32_t)v;
    return TIDE_OK;
}

static tide_status set_text(char *to, const struct tide_setting *s, tide_slice value,
                            const char *place, struct tide_err *err)
{
    if (value.len >= TIDE_CONFIG_TEXT_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s (%s): %zu bytes, at most %u fit", s->name, place,
                         value.len, TIDE_CONFIG_TEXT_MAX - 1);
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < 0x20 || value.ptr[i] == 0x7f)
            return tide_fail(err, TIDE_E_CONFIG, "%s (%s): control character at byte %zu", s->name,
                             place, i);
    if (value.len)
        memcpy(to, value.ptr, value.len);
    to[value.len] = '\0';
    return TIDE_OK;
}

static tide_status set_value(struct tide_config *config, const struct tide_setting *s,
                             tide_slice value, const char *place, struct tide_err *err)
{
    void *to = field(config, s);
    if (s->kind == TIDE_SETTING_U32)
        return set_number(to, s, value, place, err);
    if (s->kind == TIDE_SETTING_TEXT || s->kind == TIDE_SETTING_PATH ||
        s->kind == TIDE_SETTING_SECRET)
        return set_text(to, s, value, place, err);
    int index = choice(s->kind == TIDE_SETTING_BOOL ? "false|true" : s->unit, value);
    if (index < 0)
        return refuse_value(s, value, place, err);
    if (s->kind == TIDE_SETTING_BOOL)
        *(bool *)to = index == 1;
    else
        *(uint32_t *)to = (uint32_t)index;
    return TIDE_OK;
}

void tide_config_defaults(struct tide_config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        struct tide_err err;
        if (tide_settings[i].kind == TIDE_SETTING_GROUP)
            continue;
        tide_status status = set_value(config, &tide_settings[i],
                                       tide_slice_str(tide_settings[i].def), "default", &err);
        assert(status == TIDE_OK);
        (void)status;
    }
}

/* --- the file ---------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static tide_slice trim_blanks(tide_slice s)
{
    while (s.len && is_blank(s.ptr[0]))
        s = tide_slice_of(s.ptr + 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Notes that s is given at `number` (line or argument). Refuses a second time. */
static tide_status note_given(struct seen *seen, const struct tide_setting *s, uint32_t number,
                              const char *place, struct tide_err *err)
{
    assert(s >= tide_settings && s < tide_settings + TIDE_SETTING_COUNT);
    uint32_t *at = &seen->at[s - tide_settings];
    if (*at)
        return tide_fail(err, TIDE_E_CONFIG, "%s (%s): already given at %u", s->name, place, *at);
    *at = number;
    return TIDE_OK;
}

/* Settings of the past. A start that only called them unknown would not say what to do. */
static const struct {
    const char *name, *instead;
} gone[] = {
    { "api_tls_cert",
      "tidemark-api speaks plain HTTP; let Caddy, nginx or HAProxy end TLS before it" },
    { "api_tls_key", "give it to the proxy that ends TLS before tidemark-api" },
    { "only", "an index fills all tables; name a part of the protocol in the deployment file" },
};

static tide_status refuse_gone(tide_slice name, const char *place, struct tide_err *err)
{
    for (size_t i = 0; i < TIDE_COUNT(gone); i++)
        if (same_name(gone[i].name, name))
            return tide_fail(err, TIDE_E_CONFIG, "%s: %s is no setting any more: %s", place,
                             gone[i].name, gone[i].instead);
    return TIDE_OK;
}

static tide_status refuse_key(tide_slice key, const char *place, struct tide_err *err)
{
    if (refuse_gone(key, place, err))
        return TIDE_E_CONFIG;
    struct tide_nearest near = tide_nearest_of(key);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind != TIDE_SETTING_GROUP)
            tide_nearest_try(&near, tide_settings[i].name);
    return tide_fail(err, TIDE_E_CONFIG, "%s: unknown key %.*s%s%s%s", place,
                     key.len > 100 ? 100 : (int)key.len, (const char *)key.ptr,
                     near.found ? "; did you mean " : "", near.found ? near.found : "",
                     near.found ? "?" : "");
}

static tide_status parse_line(struct tide_config *config, struct seen *seen, tide_slice line,
                              uint32_t number, const char *origin, struct tide_err *err)
{
    char place[512];
    snprintf(place, sizeof place, "%.480s:%u", origin, number);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    line = trim_blanks(line);
    if (line.len == 0 || line.ptr[0] == '#')
        return TIDE_OK;
    if (line.ptr[0] == '[') {
        if (line.len < 3 || line.ptr[line.len - 1] != ']')
            return tide_fail(err, TIDE_E_CONFIG, "%s: a section is [name]", place);
        return TIDE_OK;
    }
    const uint8_t *equals = memchr(line.ptr, '=', line.len);
    if (!equals)
        return tide_fail(err, TIDE_E_CONFIG, "%s: expected key = value, [section] or # comment",
                         place);
    tide_slice key = trim_blanks(tide_slice_of(line.ptr, (size_t)(equals - line.ptr)));
    tide_slice value =
        trim_blanks(tide_slice_of(equals + 1, line.len - (size_t)(equals + 1 - line.ptr)));
    const struct tide_setting *s = find_setting(key);
    if (!s)
        return refuse_key(key, place, err);
    tide_status status = note_given(seen, s, number, place, err);
    return status ? status : set_value(config, s, value, place, err);
}

tide_status tide_config_parse(struct tide_config *config, tide_slice text, const char *origin,
                              struct tide_err *err)
{
    struct seen seen = { { 0 } };
    if (text.len > TIDE_CONFIG_FILE_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s: larger than %u bytes", origin,
                         TIDE_CONFIG_FILE_MAX);
    if (text.len && memchr(text.ptr, '\0', text.len))
        return tide_fail(err, TIDE_E_CONFIG, "%s: holds a NUL byte", origin);
    for (uint32_t number = 1; text.len; number++) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        tide_status status =
            parse_line(config, &seen, tide_slice_of(text.ptr, len), number, origin, err);
        if (status)
            return status;
        size_t step = len + (end != NULL);
        text = tide_slice_of(text.ptr + step, text.len - step);
    }
    return TIDE_OK;
}

static tide_status read_file(struct tide_config *config, const char *path, struct tide_err *err)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tide_fail(err, TIDE_E_CONFIG, "config=%s: %s", path, strerror(errno));
    char *text = malloc(TIDE_CONFIG_FILE_MAX + 1);
    if (!text) {
        fclose(file);
        return tide_fail(err, TIDE_E_MEMORY, "config=%s: out of memory", path);
    }
    size_t len = fread(text, 1, TIDE_CONFIG_FILE_MAX + 1, file);
    tide_status status = TIDE_OK;
    if (ferror(file))
        status = tide_fail(err, TIDE_E_CONFIG, "config=%s: cannot be read", path);
    fclose(file);
    if (!status)
        status = tide_config_parse(config, tide_slice_of(text, len), path, err);
    free(text);
    return status;
}

/* Reads a secret from a credential file of systemd, if it exists. */
static tide_status read_credential(struct tide_config *config, const struct tide_setting *s,
                                   const char *folder, struct tide_err *err)
{
    char path[TIDE_CONFIG_TEXT_MAX];
    int put = snprintf(path, sizeof path, "%s/tidemark_%s", folder, s->name);
    if (put < 0 || (size_t)put >= sizeof path)
        return tide_fail(err, TIDE_E_CONFIG, "CREDENTIALS_DIRECTORY: too long a path");
    FILE *file = fopen(path, "rbe");
    if (!file && errno == ENOENT)
        return TIDE_OK;
    if (!file)
        return tide_fail(err, TIDE_E_CONFIG, "%s: %s", path, strerror(errno));
    /* room for a value that is too long, which set_value refuses */
    char text[TIDE_CONFIG_TEXT_MAX + 2];
    size_t len = fread(text, 1, sizeof text, file);
    bool failed = ferror(file);
    fclose(file);
    if (failed)
        return tide_fail(err, TIDE_E_CONFIG, "%s: cannot be read", path);
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return set_value(config, s, tide_slice_of(text, len), path, err);
}

static tide_status read_credentials(struct tide_config *config, const char *folder,
                                    struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; folder && *folder && !status && i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind == TIDE_SETTING_SECRET)
            status = read_credential(config, &tide_settings[i], folder, err);
    return status;
}

/* --- environment and command line -------------------------------------------------------- */

/* Writes TIDEMARK_POLL_MS for poll_ms. */
static void name_variable(char out[NAME_MAX_BYTES], const char *setting)
{
    size_t at = (size_t)snprintf(out, NAME_MAX_BYTES, "TIDEMARK_");
    for (const char *p = setting; *p && at + 1 < NAME_MAX_BYTES; p++)
        out[at++] = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
    assert(at + 1 < NAME_MAX_BYTES);
    out[at] = '\0';
}

static tide_status read_environment(struct tide_config *config, char *(*getter)(const char *),
                                    struct tide_err *err)
{
    char name[NAME_MAX_BYTES];
    tide_status status = TIDE_OK;
    for (size_t i = 0; !status && i < TIDE_SETTING_COUNT; i++) {
        const struct tide_setting *s = &tide_settings[i];
        if (s->kind == TIDE_SETTING_GROUP)
            continue;
        name_variable(name, s->name);
        const char *value = getter(name);
        if (value)
            status = set_value(config, s, tide_slice_str(value), name, err);
    }
    for (size_t i = 0; !status && i < TIDE_COUNT(gone); i++) {
        name_variable(name, gone[i].name);
        if (getter(name))
            status = refuse_gone(tide_slice_str(gone[i].name), name, err);
    }
    return status;
}

static struct tide_option *find_option(struct tide_option *options, tide_slice name)
{
    for (; options && options->name; options++)
        if (same_name(options->name, name))
            return options;
    return NULL;
}

/* The parts of one argument "--key[=value]". */
struct argument {
    const struct tide_setting *setting; /* setting or option: one is set, the other NULL */
    struct tide_option *option;
    bool is_config; /* --config, which is neither a setting nor an option */
    const char *value;
    int used; /* arguments consumed, 1 or 2 */
};

/* Refuses an unknown option. The value is not shown: it may be a secret. */
static tide_status refuse_option(tide_slice name, const struct tide_option *options,
                                 struct tide_err *err)
{
    if (refuse_gone(name, "command line", err))
        return TIDE_E_CONFIG;
    char meant[2 * TIDE_NEAREST_MAX] = "";
    struct tide_nearest near = tide_nearest_of(name);
    for (; options && options->name; options++)
        tide_nearest_try(&near, options->name);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind != TIDE_SETTING_GROUP)
            tide_nearest_try(&near, tide_settings[i].name);
    tide_nearest_try(&near, "config");
    tide_nearest_try(&near, "help");
    if (near.found)
        snprintf(meant, sizeof meant, "did you mean --%s? ", near.found);
    for (char *p = meant; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return tide_fail(err, TIDE_E_USAGE, "unknown option --%.*s; %s--help lists the options",
                     name.len > 100 ? 100 : (int)name.len, (const char *)name.ptr, meant);
}

/* Returns whether the next word is the number of an option whose value may be left out. */
static bool is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

static tide_status take_argument(struct argument *out, char **argv, struct tide_option *options,
                                 struct tide_err *err)
{
    assert(strncmp(argv[0], "--", 2) == 0);
    const char *text = argv[0] + 2;
    size_t len = strcspn(text, "=");
    tide_slice name = tide_slice_of(text, len);
    *out = (struct argument){ .option = find_option(options, name), .used = 1 };
    out->is_config = tide_slice_eq_str(name, "config");
    if (!out->option)
        out->setting = find_setting(name);
    if (!out->option && !out->setting && !out->is_config)
        return refuse_option(name, options, err);
    bool flag = out->option && out->option->flag;
    bool optional = out->option && out->option->optional;
    if (text[len] == '=') {
        if (flag)
            return tide_fail(err, TIDE_E_USAGE, "--%s takes no value", out->option->name);
        out->value = text + len + 1;
    } else if (flag || (optional && !is_number(argv[1]))) {
        out->value = "";
    } else if (out->setting && out->setting->kind == TIDE_SETTING_BOOL) {
        bool said = argv[1] && (strcmp(argv[1], "true") == 0 || strcmp(argv[1], "false") == 0);
        out->value = said ? argv[1] : "true";
        out->used = said ? 2 : 1;
    } else if (!argv[1]) {
        return tide_fail(err, TIDE_E_USAGE, "%.100s needs a value", argv[0]);
    } else {
        out->value = argv[1];
        out->used = 2;
    }
    return TIDE_OK;
}

static tide_status apply_argument(struct tide_config *config, struct seen *seen,
                                  const struct argument *arg, uint32_t number, struct tide_err *err)
{
    assert(arg->value && (arg->option || arg->setting || arg->is_config));
    if (arg->option) {
        if (arg->option->value)
            return tide_fail(err, TIDE_E_USAGE, "--%s is given twice", arg->option->name);
        arg->option->value = arg->value;
        return TIDE_OK;
    }
    if (arg->is_config)
        return TIDE_OK; /* find_file has read it before */
    tide_status status = note_given(seen, arg->setting, number, "command line", err);
    if (status)
        return status;
    return set_value(config, arg->setting, tide_slice_str(arg->value), "command line", err);
}

static tide_status read_arguments(struct tide_config *config, int *argc, char **argv,
                                  struct tide_option *options, struct tide_err *err)
{
    struct seen seen = { { 0 } };
    int kept = 1;
    int i = 1;
    for (; i < *argc;) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strncmp(argv[i], "--", 2) != 0) {
            argv[kept++] = argv[i++];
            continue;
        }
        struct argument arg;
        tide_status status = take_argument(&arg, argv + i, options, err);
        if (!status)
            status = apply_argument(config, &seen, &arg, (uint32_t)i, err);
        if (status)
            return status;
        i += arg.used;
    }
    while (i < *argc)
        argv[kept++] = argv[i++];
    assert(kept <= *argc);
    argv[kept] = NULL;
    *argc = kept;
    return TIDE_OK;
}

/* Finds the configuration file's path on the command line, else in the environment. */
static tide_status find_file(const char **path, int argc, char **argv, struct tide_option *options,
                             struct tide_err *err)
{
    bool given = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0;) {
        if (strncmp(argv[i], "--", 2) != 0) {
            i++;
            continue;
        }
        struct argument arg;
        tide_status status = take_argument(&arg, argv + i, options, err);
        if (status)
            return status;
        if (arg.is_config && given)
            return tide_fail(err, TIDE_E_CONFIG, "config=%s: a second file", arg.value);
        if (arg.is_config) {
            *path = arg.value;
            given = true;
        }
        i += arg.used;
    }
    return TIDE_OK;
}

tide_status tide_config_load(struct tide_config *config, int *argc, char **argv,
                             struct tide_option *options, char *(*getter)(const char *name),
                             struct tide_err *err)
{
    tide_config_defaults(config);
    const char *path = getter("TIDEMARK_CONFIG");
    tide_status status = find_file(&path, *argc, argv, options, err);
    if (!status && path && *path)
        status = read_file(config, path, err);
    if (!status)
        status = read_credentials(config, getter("CREDENTIALS_DIRECTORY"), err);
    if (!status)
        status = read_environment(config, getter, err);
    if (!status)
        status = read_arguments(config, argc, argv, options, err);
    return status;
}

const struct tide_option *tide_option_find(const struct tide_option *options, const char *name)
{
    while (options->name && strcmp(options->name, name) != 0)
        options++;
    assert(options->name);
    return options;
}

bool tide_option_given(const struct tide_option *options, const char *name)
{
    return tide_option_find(options, name)->value != NULL;
}

tide_status tide_option_u32(const struct tide_option *option, uint32_t min, uint32_t max,
                            uint32_t *out, struct tide_err *err)
{
    assert(min <= max);
    uint64_t v = 0;
    *out = 0;
    if (!option->value)
        return TIDE_OK;
    if (tide_parse_u64(&v, tide_slice_str(option->value), max) != TIDE_OK || v < min)
        return tide_fail(err, TIDE_E_USAGE, "--%s=%.100s: expected %u..%u", option->name,
                         option->value, min, max);
    *out = (uint32_t)v;
    return TIDE_OK;
}

/* --- what a person reads ----------------------------------------------------------------- */

static void put_value(struct tide_buf *out, const struct tide_config *config,
                      const struct tide_setting *s)
{
    const void *from = field_of(config, s);
    if (s->kind == TIDE_SETTING_BOOL) {
        tide_buf_str(out, *(const bool *)from ? "true" : "false");
    } else if (s->kind == TIDE_SETTING_U32) {
        tide_buf_putf(out, "%u", *(const uint32_t *)from);
    } else if (s->kind == TIDE_SETTING_ENUM) {
        const char *p = s->unit;
        for (uint32_t index = *(const uint32_t *)from; index; index--)
            p += strcspn(p, "|") + 1;
        tide_buf_put(out, p, strcspn(p, "|"));
    } else if (s->kind == TIDE_SETTING_SECRET) {
        tide_buf_str(out, "set");
    } else {
        char quoted[2 * TIDE_CONFIG_TEXT_MAX + 8];
        tide_buf_str(out, tide_log_quote(quoted, sizeof quoted, from));
    }
}

void tide_config_log(const struct tide_config *config, struct tide_buf *out)
{
    struct tide_config plain;
    tide_config_defaults(&plain);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        const struct tide_setting *s = &tide_settings[i];
        size_t size = s->kind == TIDE_SETTING_BOOL ? sizeof(bool) : sizeof(uint32_t);
        bool text = s->kind == TIDE_SETTING_TEXT || s->kind == TIDE_SETTING_PATH ||
                    s->kind == TIDE_SETTING_SECRET;
        const void *now = field_of(config, s);
        const void *was = field_of(&plain, s);
        if (s->kind == TIDE_SETTING_GROUP ||
            (text ? strcmp(now, was) == 0 : memcmp(now, was, size) == 0))
            continue;
        tide_buf_putf(out, "%s%s=", out->len ? " " : "", s->name);
        put_value(out, config, s);
    }
}

void tide_config_tell(const struct tide_config *config, const char *event)
{
    struct tide_buf text;
    tide_buf_init(&text, TIDE_CONFIG_FILE_MAX);
    tide_config_log(config, &text);
    if (text.len && !text.failed)
        tide_log(TIDE_INFO, event, "%.*s", TIDE_SLICE_FMT(tide_buf_view(&text)));
    tide_buf_release(&text);
}
