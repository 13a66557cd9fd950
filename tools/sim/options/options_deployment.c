/* Writing of deployment.json. */
#include "tidemark/text.h"
#include "tools/sim/options/options.h"

enum { TEXT_MAX = 1 << 20, PATH_TEXT = 4096 }; /* bytes */

/* Returns the path: --deployment, or deployment.json in the folder that contains the lake's
 * folder. */
static tide_status deployment_path(const struct sim_settings *s, char path[PATH_TEXT],
                                   struct tide_err *err)
{
    int len = s->deployment ? snprintf(path, PATH_TEXT, "%s", s->deployment)
                            : snprintf(path, PATH_TEXT, "%s/../deployment.json", s->lake);
    if (len < 0 || len >= PATH_TEXT)
        return tide_fail(err, TIDE_E_USAGE, "the name of --deployment is too long");
    return TIDE_OK;
}

tide_status sim_settings_deployment(const struct sim_settings *s, const struct parties *parties,
                                    uint32_t last, struct tide_err *err)
{
    char path[PATH_TEXT];
    struct tide_buf json;
    if (!s->deployment && !s->lake)
        return TIDE_OK;
    tide_status status = deployment_path(s, path, err);
    if (status != TIDE_OK)
        return status;
    tide_buf_init(&json, TEXT_MAX);
    parties_deployment(&json, parties, (uint32_t)s->first_ledger, last);
    FILE *file = fopen(path, "wb");
    bool whole = file && !json.failed && fwrite(json.ptr, 1, json.len, file) == json.len;
    if (file && fclose(file) != 0)
        whole = false;
    tide_buf_release(&json);
    return whole ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot write %s", path);
}
