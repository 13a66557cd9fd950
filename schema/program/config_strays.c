#include "tidemark/config.h"
#include "tidemark/log.h"
#include "tidemark/nearest.h"

/* Variables that the programs and scripts read besides the settings: those of the simulator's
 * client, tools/demo and tools/with-stack. */
static const char *const known[] = {
#define TIDE_GROUP(title)
#define TIDE_BOOL(name, def, help)                #name,
#define TIDE_U32(name, def, min, max, unit, help) #name,
#define TIDE_ENUM(name, def, choices, help)       #name,
#define TIDE_TEXT(name, def, help)                #name,
#define TIDE_PATH(name, def, help)                #name,
#define TIDE_SECRET(name, help)                   #name,
#include "tidemark/config.def"
    "config", "state", "rpc_url", "api_url", "kyc_key", "stack", "console_url",
};

enum { LONGEST = TIDE_NEAREST_MAX, STRAYS_SAID_MAX = 16 };

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Returns the known name that is most similar, or NULL. */
static const char *nearest(tide_slice name)
{
    struct tide_nearest found = tide_nearest_of(name);
    for (size_t i = 0; i < TIDE_COUNT(known); i++)
        tide_nearest_try(&found, known[i]);
    return found.found;
}

static bool is_known(tide_slice name)
{
    for (size_t i = 0; i < TIDE_COUNT(known); i++) {
        size_t at = 0;
        while (at < name.len && known[i][at] && upper(known[i][at]) == (char)name.ptr[at])
            at++;
        if (at == name.len && !known[i][at])
            return true;
    }
    return false;
}

static void warn_of_stray(tide_slice name)
{
    char meant[LONGEST + 1] = "", shown[2 * LONGEST + 8], text[LONGEST + 16];
    const char *like = nearest(name);
    for (size_t i = 0; like && like[i] && i < LONGEST; i++) {
        meant[i] = upper(like[i]);
        meant[i + 1] = '\0';
    }
    snprintf(text, sizeof text, "TIDEMARK_%.*s", name.len > LONGEST ? LONGEST : (int)name.len,
             (const char *)name.ptr);
    tide_log_quote(shown, sizeof shown, text);
    if (like)
        tide_log(TIDE_WARN, "config.unknown", "variable=%s nearest=TIDEMARK_%s", shown, meant);
    else
        tide_log(TIDE_WARN, "config.unknown", "variable=%s", shown);
}

void tide_config_strays(char *const *variables)
{
    static const char prefix[] = "TIDEMARK_";
    size_t count = 0;
    for (; variables && *variables && count < STRAYS_SAID_MAX; variables++) {
        const char *name = *variables + strlen(prefix);
        if (strncmp(*variables, prefix, strlen(prefix)) != 0)
            continue;
        tide_slice text = tide_slice_of(name, strcspn(name, "="));
        if (is_known(text))
            continue;
        warn_of_stray(text);
        count++;
    }
}
