/* Any bytes as a deployment file: the reader refuses it and names the key, or finds every contract
 * by its id. */
#include "tests/fuzz/fuzz.h"
#include "tidemark/deployment.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("deployment", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct tide_deployment *d = NULL;
    struct tide_err err = { 0 };
    tide_status status = tide_deployment_read(&d, path, &err);
    close(fd);
    if (status) {
        assert(!d && *err.text);
        return 0;
    }
    for (uint32_t i = 0; i < d->contract_count; i++)
        assert(tide_deployment_find(d, d->contracts[i].id) == &d->contracts[i]);
    free(d);
    return 0;
}
