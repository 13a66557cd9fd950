/* The texts of --help, in lines of at most TIDE_HELP_COLUMNS. */
#include "schema/program/config_impl.h"

/* Counts characters, not bytes, of UTF-8. */
static uint32_t width(const char *text, size_t len)
{
    uint32_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

void tide_help_wrap(struct tide_buf *out, uint32_t column, const char *text)
{
    uint32_t at = column;
    while (*text) {
        size_t len = strcspn(text, " \n");
        uint32_t wide = width(text, len);
        if (at > column && at + 1 + wide > TIDE_HELP_COLUMNS) {
            tide_buf_putf(out, "\n%*s", (int)column, "");
            at = column;
        }
        tide_buf_putf(out, "%s%.*s", at > column ? " " : "", (int)len, text);
        at += wide + (at > column);
        text += len;
        text += strspn(text, " \n");
    }
    tide_buf_u8(out, '\n');
}

void tide_help_entry(struct tide_buf *out, uint32_t column, const char *left, const char *text)
{
    uint32_t wide = 2 + width(left, strlen(left));
    tide_buf_putf(out, "  %s", left);
    if (wide + 2 > column)
        tide_buf_putf(out, "\n%*s", (int)column, "");
    else
        tide_buf_putf(out, "%*s", (int)(column - wide), "");
    tide_help_wrap(out, column, text);
}

bool tide_setting_is_in(const char *patterns, const char *name)
{
    for (const char *p = patterns; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        bool prefix = len && p[len - 1] == '*';
        if (strncmp(name, p, len - prefix) == 0 && (prefix || name[len] == '\0'))
            return true;
        p += len;
    }
    return false;
}

void tide_setting_value(struct tide_buf *out, const struct tide_setting *s)
{
    static const char *const words[] = {
        [TIDE_SETTING_GROUP] = "",     [TIDE_SETTING_BOOL] = "true|false",
        [TIDE_SETTING_U32] = "N",      [TIDE_SETTING_ENUM] = NULL,
        [TIDE_SETTING_TEXT] = "TEXT",  [TIDE_SETTING_PATH] = "PATH",
        [TIDE_SETTING_SECRET] = "TEXT"
    };
    assert((size_t)s->kind < TIDE_COUNT(words));
    tide_buf_str(out, words[s->kind] ? words[s->kind] : s->unit);
}

/* Writes "(1..256 MiB, default 4)", or nothing for a text whose default is empty. */
static void put_default(struct tide_buf *out, const struct tide_setting *s)
{
    if (s->kind == TIDE_SETTING_U32) {
        tide_buf_str(out, " (");
        tide_setting_bounds(out, s);
        tide_buf_putf(out, ", default %s)", s->def);
    } else if (*s->def) {
        tide_buf_putf(out, " (default %s)", s->def);
    }
}

static void put_setting(struct tide_buf *out, const struct tide_setting *s)
{
    enum { COLUMN = 30 };
    struct tide_buf left, text;
    tide_buf_init(&left, 512);
    tide_buf_init(&text, 2048);
    tide_buf_str(&left, "--");
    for (const char *p = s->name; *p; p++)
        tide_buf_u8(&left, *p == '_' ? '-' : (uint8_t)*p);
    tide_buf_u8(&left, ' ');
    tide_setting_value(&left, s);
    tide_buf_u8(&left, 0);
    tide_buf_str(&text, s->help);
    put_default(&text, s);
    tide_buf_u8(&text, 0);
    assert(!left.failed && !text.failed);
    tide_help_entry(out, COLUMN, (const char *)left.ptr, (const char *)text.ptr);
    tide_buf_release(&left);
    tide_buf_release(&text);
}

void tide_config_help(struct tide_buf *out, const char *patterns)
{
    const struct tide_setting *group = NULL; /* the group whose title is not printed yet */
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        const struct tide_setting *s = &tide_settings[i];
        if (s->kind == TIDE_SETTING_GROUP)
            group = s;
        else if (!patterns || tide_setting_is_in(patterns, s->name)) {
            if (group)
                tide_buf_putf(out, "\n[%s]\n", group->name);
            group = NULL;
            put_setting(out, s);
        }
    }
}
