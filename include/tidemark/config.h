/* Configuration: config.def as a struct. Later sources override earlier ones:
 *
 *   defaults < file (--config FILE or TIDEMARK_CONFIG) < credentials < environment
 *   (TIDEMARK_<KEY>) < --key
 *
 * File         lines "key = value", "[section]" (ignored), "# comment"; a value is the rest of its
 *              line, trimmed; CRLF is accepted
 * Credentials  $CREDENTIALS_DIRECTORY/tidemark_<key>, only for secrets: a file with the value, as
 *              systemd's LoadCredential=tidemark:FOLDER provides it; a final end of line is dropped
 * Command line --key value, --key=value; dashes and underscores are the same; a boolean may
 *              stand alone (--stop-at-end); "--" ends the options
 * Refused      unknown keys, a key given twice in one source, values that do not fit. The message
 *              names key, value, place and bounds. A secret's value is never shown.
 * Warned about variables TIDEMARK_… that the programs do not know: tide_config_strays */
#ifndef TIDEMARK_CONFIG_H
#define TIDEMARK_CONFIG_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_CONFIG_TEXT_MAX 1024u
#define TIDE_CONFIG_FILE_MAX (64u << 10)

struct tide_config {
#define TIDE_GROUP(title)
#define TIDE_BOOL(name, def, help)                bool name;
#define TIDE_U32(name, def, min, max, unit, help) uint32_t name;
#define TIDE_ENUM(name, def, choices, help)       uint32_t name;
#define TIDE_TEXT(name, def, help)                char name[TIDE_CONFIG_TEXT_MAX];
#define TIDE_PATH(name, def, help)                char name[TIDE_CONFIG_TEXT_MAX];
#define TIDE_SECRET(name, help)                   char name[TIDE_CONFIG_TEXT_MAX];
#include "tidemark/config.def"
};

/* An option of one command, beside the settings: --from 812, --json. A flag takes no value; an
 * optional value is a number or left out. value is NULL until given ("" without a value) and
 * borrows from argv. A list ends with name NULL. */
struct tide_option {
    const char *name; /* name with dashes, without the leading two */
    bool flag, optional;
    const char *value;
};

void tide_config_defaults(struct tide_config *config);

/* Reads all sources: defaults, file, credentials, environment, command line. getter is getenv, or a
 * test's. On success argv[1 … *argc - 1] are the words that are no options, in order. options may
 * be NULL. TIDE_E_CONFIG for a setting, TIDE_E_USAGE for an unknown option. */
tide_status tide_config_load(struct tide_config *config, int *argc, char **argv,
                             struct tide_option *options, char *(*getter)(const char *name),
                             struct tide_err *err) TIDE_MUST_USE;

/* Reads the text of a configuration file; origin is its name in messages. */
tide_status tide_config_parse(struct tide_config *config, tide_slice text, const char *origin,
                              struct tide_err *err) TIDE_MUST_USE;

/* Appends --help's list of the settings that patterns name (names, and prefixes that end in "*",
 * separated by blanks); NULL: all. */
void tide_config_help(struct tide_buf *out, const char *patterns);
/* Appends "key=value" of the settings that differ from their defaults, for the start-up log line.
 * Values are quoted; a secret appears as "set". */
void tide_config_log(const struct tide_config *config, struct tide_buf *out);
/* Logs that line as an event of that name. Does nothing if all settings have their defaults. */
void tide_config_tell(const struct tide_config *config, const char *event);

/* Logs a warning for each variable TIDEMARK_NAME that the programs do not know, with the most
 * similar known name: a mistyped variable has no effect. variables is environ; values are not
 * shown. Call after the log is set up. At most 16 lines. */
void tide_config_strays(char *const *variables);

/* Returns the option of that name, which must be declared, for tide_option_u32 and the like. */
const struct tide_option *tide_option_find(const struct tide_option *options, const char *name);
bool tide_option_given(const struct tide_option *options, const char *name);
/* Reads a decimal option value within min..max. Sets 0 and returns TIDE_OK if option->value is
 * NULL. */
tide_status tide_option_u32(const struct tide_option *option, uint32_t min, uint32_t max,
                            uint32_t *out, struct tide_err *err) TIDE_MUST_USE;

#endif
