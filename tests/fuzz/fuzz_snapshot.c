/* Any bytes as a snapshot, and as changes to itself: every look-up returns and reads inside the
 * file. */
#include "tests/fuzz/promise.h"

#include "api/clients/c/tidemark_snapshot.h"

/* Refuses every file. A snapshot must open only if its check accepts it. */
static bool refuse_file(void *self, const unsigned char *head, const unsigned char *records,
                        size_t len)
{
    (void)self;
    sum_bytes(tide_slice_of(head, TIDEMARK_SNAPSHOT_RECORDS));
    sum_bytes(tide_slice_of(records, len));
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tidemark_snapshot base, changes;
    unsigned char address[TIDEMARK_ADDRESS_BYTES] = { 48 };
    char text[57] = { 0 };
    PROMISE(tidemark_snapshot_open(&base, data, size, refuse_file, NULL) != TIDEMARK_OK);
    if (tidemark_snapshot_open(&base, data, size, NULL, NULL) != TIDEMARK_OK)
        return 0;
    changes = base;
    PROMISE(size == TIDEMARK_SNAPSHOT_RECORDS + (size_t)base.count * TIDEMARK_SNAPSHOT_RECORD);
    struct tidemark_view view = { &base, NULL, UINT64_MAX, 0 };
    memcpy(text, data, size < 56 ? size : 56);
    (void)tidemark_compliant(&view, text, base.signed_at_ms);
    for (uint64_t i = 0; i <= base.count && i < 64; i++) {
        if (i < base.count)
            memcpy(address, data + TIDEMARK_SNAPSHOT_RECORDS + i * TIDEMARK_SNAPSHOT_RECORD,
                   sizeof address);
        const unsigned char *record = tidemark_record(&base, address);
        PROMISE(!record || memcmp(record, address, sizeof address) == 0);
        view.changes = NULL;
        enum tidemark_answer answer = tidemark_compliant_raw(&view, address, base.signed_at_ms);
        PROMISE(answer != TIDEMARK_YES || (record && base.complete && !base.is_changes));
        base.is_changes = false;
        changes.is_changes = true;
        changes.after = base.ledger;
        view.changes = &changes;
        (void)tidemark_compliant_raw(&view, address, UINT64_MAX);
        base.is_changes = tidemark_u32(data + 192) == 1;
    }
    return 0;
}
