/* Any bytes as a framed stream: the source gives ledgers in order or refuses the stream, and always
 * ends. */
#include "indexer/source/source.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    static struct tide_config config;
    tide_config_defaults(&config);
    snprintf(config.stream, sizeof config.stream, "/proc/self/fd/%d", fd);
    struct tide_source_options options = { .config = &config };
    struct tide_source source;
    struct tide_err err = { 0 };
    tide_status status = tide_source_open(&source, &options, &err);
    assert(status == TIDE_OK);
    tide_slice lcm;
    uint32_t sequence = 0, last = 0;
    while ((status = source.ops->next(source.self, &lcm, &sequence, &err)) == TIDE_OK) {
        assert(lcm.ptr && lcm.len > 0 && (last == 0 || sequence == last + 1));
        last = sequence;
    }
    assert(status == TIDE_E_EOF || *err.text);
    source.ops->close(source.self);
    close(fd);
    return 0;
}
