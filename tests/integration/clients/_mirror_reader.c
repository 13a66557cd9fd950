/* Plain functions over tidemark_snapshot.h, which _snapshot.py and _mirror.py call. The caller
 * keeps the bytes of an opened file in place. */
#include "tidemark_snapshot.h"

#include <stdlib.h>

static struct tidemark_snapshot opened[2];

int load(int which, const unsigned char *bytes, size_t size)
{
    return (int)tidemark_snapshot_open(&opened[which], bytes, size, NULL, NULL);
}

int ask(int changes, const char *address, uint64_t now_ms, uint64_t stale_after_ms,
        uint64_t ledger_age_s)
{
    struct tidemark_view view = { &opened[0], changes ? &opened[1] : NULL, stale_after_ms,
                                  ledger_age_s };
    return (int)tidemark_compliant(&view, address, now_ms);
}

struct tidemark_mirror *mirror_new(uint64_t stale_after_ms, uint64_t ledger_age_s,
                                   const unsigned char *deployment)
{
    struct tidemark_mirror *mirror = calloc(1, sizeof *mirror);
    if (!mirror)
        abort();
    mirror->view.stale_after_ms = stale_after_ms;
    mirror->view.ledger_age_s = ledger_age_s;
    mirror->deployment = deployment;
    return mirror;
}

struct tidemark_snapshot *snapshot_new(const unsigned char *bytes, size_t size)
{
    struct tidemark_snapshot *file = calloc(1, sizeof *file);
    if (!file || tidemark_snapshot_open(file, bytes, size, NULL, NULL) != TIDEMARK_OK)
        abort();
    return file;
}

int mirror_take(struct tidemark_mirror *mirror, const struct tidemark_snapshot *base,
                const struct tidemark_snapshot *changes, uint64_t now_ms)
{
    return (int)tidemark_mirror_take(mirror, base, changes, now_ms);
}

void mirror_keys(struct tidemark_mirror *mirror, const unsigned char (*kids)[32], size_t count,
                 uint64_t at_ms)
{
    tidemark_mirror_keys(mirror, kids, count, at_ms);
}

int mirror_ask(const struct tidemark_mirror *mirror, const char *address, uint64_t now_ms)
{
    return (int)tidemark_mirror_compliant(mirror, address, now_ms);
}
