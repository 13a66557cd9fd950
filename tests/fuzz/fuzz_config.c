/* Any bytes as a configuration file: the reader refuses the file with a message, or every value is
 * in bounds. */
#include "tests/fuzz/fuzz.h"
#include "tidemark/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tide_config config;
    struct tide_err err = { 0 };
    tide_config_defaults(&config);
    tide_status status = tide_config_parse(&config, tide_slice_of(data, size), "f", &err);
    if (status)
        assert(status == TIDE_E_CONFIG && *err.text);
    assert(config.batch_mib >= 1 && config.batch_mib <= 256);
    assert(config.proof <= 2);
    struct tide_buf out;
    tide_buf_init(&out, 64u << 10);
    tide_config_log(&config, &out);
    assert(!out.failed);
    tide_buf_release(&out);
    return 0;
}
