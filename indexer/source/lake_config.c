/* Reader of a data lake's .config.json. */
#include "indexer/source/lake_layout.h"

#include "tidemark/json_read.h"

static tide_status read_count(uint32_t *out, const json_t *root, const char *key,
                              struct tide_err *err)
{
    const json_t *value = json_object_get(root, key);
    json_int_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < 1 || v > UINT32_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s: expected 1..4294967295", key);
    *out = (uint32_t)v;
    return TIDE_OK;
}

static tide_status read_config(struct lake_layout *out, char passphrase[256], const json_t *root,
                               struct tide_err *err)
{
    const char *compression = json_string_value(json_object_get(root, "compression"));
    const json_t *network = json_object_get(root, "networkPassphrase");
    if (compression && strcmp(compression, "zstd") != 0)
        return tide_fail(err, TIDE_E_CONFIG, "compression: %.40s; this build reads zstd",
                         compression);
    if (!json_is_string(network) || json_string_length(network) > 255)
        return tide_fail(err, TIDE_E_CONFIG, "networkPassphrase: expected a text");
    snprintf(passphrase, 256, "%s", json_string_value(network));
    tide_status status = read_count(&out->batch, root, "ledgersPerBatch", err);
    return status ? status : read_count(&out->partition, root, "batchesPerPartition", err);
}

tide_status lake_config_parse(struct lake_layout *out, char passphrase[256], tide_slice json,
                              struct tide_err *err)
{
    json_error_t where;
    json_t *root = tide_json_load(json, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return tide_fail(err, TIDE_E_CONFIG, "line %d: %s", root ? 1 : where.line,
                         root ? "expected an object" : where.text);
    }
    tide_status status = read_config(out, passphrase, root, err);
    json_decref(root);
    return status;
}
