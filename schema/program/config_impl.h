/* config.def as rows, for config*.c and cli*.c. */
#ifndef SCHEMA_PROGRAM_CONFIG_IMPL_H
#define SCHEMA_PROGRAM_CONFIG_IMPL_H

#include "tidemark/config.h"

enum tide_setting_kind {
    TIDE_SETTING_GROUP,
    TIDE_SETTING_BOOL,
    TIDE_SETTING_U32,
    TIDE_SETTING_ENUM,
    TIDE_SETTING_TEXT,
    TIDE_SETTING_PATH,
    TIDE_SETTING_SECRET,
};

struct tide_setting {
    enum tide_setting_kind kind;
    const char *name; /* name of the setting, or title of a group */
    size_t offset;    /* offset of the member in struct tide_config */
    const char *def;
    uint32_t min, max;
    const char *unit; /* unit, or the choices of an enum */
    const char *help;
};

enum {
    TIDE_SETTING_COUNT = 0
#define TIDE_GROUP(title)                         +1
#define TIDE_BOOL(name, def, help)                +1
#define TIDE_U32(name, def, min, max, unit, help) +1
#define TIDE_ENUM(name, def, choices, help)       +1
#define TIDE_TEXT(name, def, help)                +1
#define TIDE_PATH(name, def, help)                +1
#define TIDE_SECRET(name, help)                   +1
#include "tidemark/config.def"
};

extern const struct tide_setting tide_settings[TIDE_SETTING_COUNT];

/* Appends the accepted values: "1..256 MiB", "true or false", "one, two". */
void tide_setting_bounds(struct tide_buf *out, const struct tide_setting *setting);

/* Appends the placeholder of --help: "PATH", "N", "none|results|events". */
void tide_setting_value(struct tide_buf *out, const struct tide_setting *setting);

/* Appends text in lines of at most TIDE_HELP_COLUMNS. The first begins at column (where out's last
 * line ends), the others are indented to it. Ends the last line. */
#define TIDE_HELP_COLUMNS 80u
void tide_help_wrap(struct tide_buf *out, uint32_t column, const char *text);
/* Appends "  left  text": left padded to column, or on a line of its own if it is longer. */
void tide_help_entry(struct tide_buf *out, uint32_t column, const char *left, const char *text);

/* Returns whether patterns (names, and prefixes that end in "*", separated by blanks) match
 * name. */
bool tide_setting_is_in(const char *patterns, const char *name);

#endif
