#include "api/base/program.h"
#include "tidemark/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void tide_program_log(const struct tide_config *config)
{
    tide_log_level_set((enum tide_log_level)config->log_level);
    tide_log_json_set(config->log_format == 1);
    tide_config_strays(environ);
}

tide_status tide_program_port(const char *path, uint16_t port, struct tide_err *err)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%u\n", port);
    if (!*path)
        return TIDE_OK;
    assert(len > 0 && (size_t)len < sizeof text);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool written = fd >= 0 && write(fd, text, (size_t)len) == len;
    if (fd >= 0)
        close(fd);
    return written ? TIDE_OK
                   : tide_fail(err, TIDE_E_IO, "cannot write %s: %s", path, strerror(errno));
}
