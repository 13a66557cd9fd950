/* A ring of ledgers whose bytes are in a file without a name. */
#include "tools/sim/ledger/ledger_store.h"
#include "tidemark/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* One place of the ring. */
struct slot {
    struct ledger_info info;
    uint64_t at;     /* offset of the ledger's bytes in the file */
    uint64_t *heads; /* first eight bytes of the transactions' hashes, outer and inner; owned */
    size_t head_count;
};

struct ledger_store {
    pthread_rwlock_t lock; /* guards all fields below; the bytes in the file need no lock */
    int file;
    uint64_t end;      /* length of the file: where the next ledger is written */
    uint64_t given_up; /* bytes of the file in front of this offset are given back */
    struct slot *ring;
    uint32_t retention; /* places of the ring */
    uint32_t count;     /* ledgers in the ring */
    uint32_t latest;    /* newest ledger, valid if count > 0 */
};

/* --- opening ------------------------------------------------------------------ */

/* Returns a temporary file that disappears when it is closed, or -1. */
static int nameless_file(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int len =
        snprintf(path, sizeof path, "%s/tidemark-sim.XXXXXX", folder && *folder ? folder : "/tmp");
    if (len < 0 || (size_t)len >= sizeof path)
        return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

tide_status ledger_store_open(struct ledger_store **store, uint32_t retention, struct tide_err *err)
{
    assert(retention > 0);
    struct ledger_store *s = calloc(1, sizeof *s);
    *store = s;
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the ledgers");
    pthread_rwlock_init(&s->lock, NULL);
    s->retention = retention;
    s->file = nameless_file();
    s->ring = calloc(retention, sizeof *s->ring);
    if (!s->ring)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for %u ledgers", retention);
    if (s->file < 0)
        return tide_fail(err, TIDE_E_IO, "no temporary file for the ledgers: %s", strerror(errno));
    return TIDE_OK;
}

void ledger_store_close(struct ledger_store *s)
{
    if (!s)
        return;
    if (s->file >= 0)
        close(s->file);
    for (uint32_t i = 0; s->ring && i < s->retention; i++)
        free(s->ring[i].heads);
    free(s->ring);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

/* --- look-up by sequence ------------------------------------------------------ */

static uint32_t oldest_of(const struct ledger_store *s)
{
    return s->latest - s->count + 1;
}

static bool is_stored(const struct ledger_store *s, uint32_t sequence)
{
    return s->count > 0 && sequence >= oldest_of(s) && sequence <= s->latest;
}

static struct slot *slot_of(const struct ledger_store *s, uint32_t sequence)
{
    assert(s->count <= s->retention);
    return &s->ring[sequence % s->retention];
}

bool ledger_store_range(struct ledger_store *s, struct ledger_info *oldest,
                        struct ledger_info *latest)
{
    pthread_rwlock_rdlock(&s->lock);
    bool any = s->count > 0;
    if (any) {
        *oldest = slot_of(s, oldest_of(s))->info;
        *latest = slot_of(s, s->latest)->info;
    }
    pthread_rwlock_unlock(&s->lock);
    return any;
}

/* Copies the slot under the lock. heads of the copy may be freed at any time and must not be
 * read. */
static bool find_slot(struct ledger_store *s, uint32_t sequence, struct slot *out)
{
    pthread_rwlock_rdlock(&s->lock);
    bool there = is_stored(s, sequence);
    if (there)
        *out = *slot_of(s, sequence);
    pthread_rwlock_unlock(&s->lock);
    return there;
}

bool ledger_store_info(struct ledger_store *s, uint32_t sequence, struct ledger_info *info)
{
    struct slot slot;
    bool there = find_slot(s, sequence, &slot);
    if (there)
        *info = slot.info;
    return there;
}

bool ledger_store_read(struct ledger_store *s, uint32_t sequence, struct tide_buf *lcm,
                       struct ledger_info *info)
{
    struct slot slot;
    if (!find_slot(s, sequence, &slot))
        return false;
    uint8_t *to = tide_buf_room(lcm, slot.info.len);
    if (!to || pread(s->file, to, slot.info.len, (off_t)slot.at) != (ssize_t)slot.info.len)
        return false;
    lcm->len += slot.info.len;
    *info = slot.info;
    /* Look for the ledger again: if a newer one took its slot during the read, its bytes in the
     * file may have been overwritten, too. */
    return find_slot(s, sequence, &slot);
}

/* --- transactions ------------------------------------------------------------- */

/* Returns the first eight bytes of a hash. */
static uint64_t head_of(const uint8_t hash[TIDE_HASH_BYTES])
{
    uint64_t head;
    memcpy(&head, hash, sizeof head);
    return head;
}

static bool has_head(const struct slot *slot, uint64_t head)
{
    for (size_t i = 0; i < slot->head_count; i++) {
        if (slot->heads[i] == head)
            return true;
    }
    return false;
}

uint32_t ledger_store_find(struct ledger_store *s, const uint8_t hash[TIDE_HASH_BYTES])
{
    uint64_t head = head_of(hash);
    uint32_t found = 0;
    pthread_rwlock_rdlock(&s->lock);
    for (uint32_t i = 0; i < s->count && !found; i++) {
        if (has_head(slot_of(s, s->latest - i), head))
            found = s->latest - i;
    }
    pthread_rwlock_unlock(&s->lock);
    return found;
}

/* --- adding ------------------------------------------------------------------- */

/* Result of the walk over a new ledger. */
struct found {
    struct ledger_info info;
    const uint8_t *lcm;
    struct tide_buf heads; /* a uint64_t for each hash */
};

static tide_status on_header(void *self, const struct tide_ledger_header *h)
{
    struct found *found = self;
    struct ledger_info *info = &found->info;
    info->sequence = h->sequence;
    info->protocol = h->protocol;
    info->close_time = h->close_time;
    memcpy(info->hash, h->hash, TIDE_HASH_BYTES);
    info->header_at = (uint32_t)(h->header_xdr.ptr - found->lcm);
    info->header_len = (uint32_t)h->header_xdr.len;
    info->entry_at = (uint32_t)(h->history_entry.ptr - found->lcm);
    info->entry_len = (uint32_t)h->history_entry.len;
    return TIDE_OK;
}

/* Records a transaction's hashes. Its content is not visited. */
static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct found *found = self;
    uint64_t head = head_of(tx->hash);
    *inside = false;
    found->info.txs++;
    tide_buf_put(&found->heads, &head, sizeof head);
    if (tx->inner_hash) {
        head = head_of(tx->inner_hash);
        tide_buf_put(&found->heads, &head, sizeof head);
    }
    return TIDE_OK;
}

/* Gives the bytes in front of the oldest ledger back to the file system. If the file system cannot
 * punch holes, the bytes stay. */
static void punch_old_bytes(struct ledger_store *s)
{
    enum { WORTH_IT = 16 << 20 }; /* bytes */
    uint64_t keep = slot_of(s, oldest_of(s))->at;
    assert(keep >= s->given_up && keep <= s->end);
    if (keep - s->given_up < WORTH_IT)
        return;
    (void)fallocate(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->given_up,
                    (off_t)(keep - s->given_up));
    s->given_up = keep;
}

/* Enters a ledger whose bytes are in the file already. heads moves to the store. */
static void publish_ledger(struct ledger_store *s, const struct ledger_info *info,
                           struct tide_buf *heads)
{
    pthread_rwlock_wrlock(&s->lock);
    assert(s->count == 0 || info->sequence == s->latest + 1);
    assert(heads->len % sizeof(uint64_t) == 0);
    struct slot *slot = slot_of(s, info->sequence);
    free(slot->heads);
    *slot = (struct slot){ .info = *info,
                           .at = s->end,
                           .heads = (uint64_t *)(void *)heads->ptr,
                           .head_count = heads->len / sizeof(uint64_t) };
    heads->ptr = NULL;
    s->latest = info->sequence;
    s->count += s->count < s->retention;
    s->end += info->len;
    punch_old_bytes(s);
    pthread_rwlock_unlock(&s->lock);
}

tide_status ledger_store_add(struct ledger_store *s, tide_slice lcm, struct tide_err *err)
{
    struct found found = { .lcm = lcm.ptr };
    const struct tide_walk walk = { .self = &found, .header = on_header, .tx = on_tx };
    tide_buf_init(&found.heads, 64u << 20);
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    found.info.len = (uint32_t)lcm.len;
    if (status == TIDE_OK && found.heads.failed)
        status = tide_fail(err, TIDE_E_MEMORY, "no memory for a ledger's transactions");
    /* Only the adding thread changes the fields, so it reads them without the lock. */
    if (status == TIDE_OK && s->count > 0 && found.info.sequence != s->latest + 1)
        status = tide_fail(err, TIDE_E_CHAIN, "ledger %u does not follow %u", found.info.sequence,
                           s->latest);
    if (status == TIDE_OK && pwrite(s->file, lcm.ptr, lcm.len, (off_t)s->end) != (ssize_t)lcm.len)
        status = tide_fail(err, TIDE_E_IO, "cannot keep a ledger: %s", strerror(errno));
    if (status == TIDE_OK)
        publish_ledger(s, &found.info, &found.heads);
    tide_buf_release(&found.heads);
    return status;
}
