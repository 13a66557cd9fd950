/* How each provider names its environments. */
#include "api/kyc/base/environment.h"

/* Prefixes of API keys. Keys of Veriff and Didit have none. */
bool tide_kyc_key_is_elsewhere(enum tide_kyc_type type, bool live, const char *api_key)
{
    static const struct {
        enum tide_kyc_type type;
        const char *begins;
        bool live;
    } keys[] = {
        { TIDE_KYC_SUMSUB, "sbx:", false },
        { TIDE_KYC_SUMSUB, "tst:", false }, /* older accounts */
        { TIDE_KYC_SUMSUB, "prd:", true },
        { TIDE_KYC_PERSONA, "persona_sandbox_", false },
        { TIDE_KYC_PERSONA, "persona_production_", true },
    };
    for (size_t i = 0; i < TIDE_COUNT(keys); i++)
        if (type == keys[i].type && strncmp(api_key, keys[i].begins, strlen(keys[i].begins)) == 0)
            return live != keys[i].live;
    return false;
}

/* Values of members of webhooks and answers. Persona and Veriff name no environment there: their
 * API keys belong to one. */
static const struct value {
    enum tide_kyc_type type;
    const char *member;
    const char *text; /* NULL: the boolean is_true */
    bool is_true, live;
} values[] = {
    { TIDE_KYC_SUMSUB, "sandboxMode", NULL, true, false },
    { TIDE_KYC_SUMSUB, "sandboxMode", NULL, false, true },
    { TIDE_KYC_DIDIT, "environment", "sandbox", false, false },
    { TIDE_KYC_DIDIT, "environment", "live", false, true },
    /* Didit's Python library calls the live environment "production" */
    { TIDE_KYC_DIDIT, "environment", "production", false, true },
};

static bool is_value(const struct value *value, const json_t *said)
{
    if (value->text)
        return json_is_string(said) && strcmp(json_string_value(said), value->text) == 0;
    return json_is_boolean(said) && json_is_true(said) == value->is_true;
}

bool tide_kyc_is_elsewhere(enum tide_kyc_type type, bool live, const json_t *said)
{
    bool named = false;
    for (size_t i = 0; i < TIDE_COUNT(values); i++) {
        const json_t *one = json_object_get(said, values[i].member);
        if (type != values[i].type || !one || json_is_null(one))
            continue;
        if (is_value(&values[i], one))
            return live != values[i].live;
        named = true;
    }
    return named;
}
