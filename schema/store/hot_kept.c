/* People looked up before. An entry is good while its stamp is the reader's, and the reader takes a
 * new one whenever meta says that a person changed, or that this is another generation. What a
 * snapshot was lent from the table stays as it is until the snapshot ends: from the first loan on
 * nothing is put. */
#include "schema/store/hot_impl.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { WAYS = 2 };

struct entry {
    struct tide_hot_address who;
    uint8_t found;
    uint32_t stamp; /* 0: free */
    struct tide_hot_person person;
};

struct hot_kept {
    size_t bytes, buckets;
    uint32_t stamp;
    uint32_t generation;
    uint64_t people;
    uint64_t hits, misses;
    bool lent;
    struct entry *entries;
};

void tide_hot_reader_keep(struct tide_hot_reader *reader, size_t bytes)
{
    assert(!atomic_load(&reader->busy));
    hot_kept_close(reader->kept);
    reader->kept = NULL;
    reader->meta_txn = 0;
    struct hot_kept *kept = bytes < WAYS * sizeof(struct entry) ? NULL : calloc(1, sizeof *kept);
    if (!kept)
        return;
    kept->bytes = bytes;
    kept->buckets = bytes / (WAYS * sizeof(struct entry));
    kept->entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (kept->entries == MAP_FAILED) {
        free(kept);
        return;
    }
    /* Best effort; touched now, so that no look-up pays for it. */
    madvise(kept->entries, bytes, MADV_HUGEPAGE);
    memset(kept->entries, 0, bytes);
    reader->kept = kept;
}

void tide_hot_reader_kept(const struct tide_hot_reader *reader, uint64_t *hits, uint64_t *misses)
{
    *hits = reader->kept ? reader->kept->hits : 0;
    *misses = reader->kept ? reader->kept->misses : 0;
}

void hot_kept_close(struct hot_kept *kept)
{
    if (!kept)
        return;
    munmap(kept->entries, kept->bytes);
    free(kept);
}

/* Keys are hashes or points of a curve: eight of their bytes spread well. A client that makes keys
 * of one bucket slows its own look-ups only. */
static struct entry *bucket_of(const struct hot_kept *kept, const struct tide_hot_key *key)
{
    uint64_t word;
    memcpy(&word, key->bytes + 9, sizeof word);
    word *= 0x9e3779b97f4a7c15u;
    return kept->entries + WAYS * (size_t)((word >> 32) * kept->buckets >> 32);
}

void tide_hot_expect(const struct tide_hot_reader *reader, const struct tide_hot_key *person)
{
    const struct entry *e = reader->kept ? bucket_of(reader->kept, person) : NULL;
    if (e) {
        __builtin_prefetch(e);
        __builtin_prefetch((const char *)e + 64);
    }
}

void hot_kept_begin(struct hot_kept *kept, const struct tide_hot_meta *meta, bool changed)
{
    kept->lent = false;
    if (!changed ||
        (kept->stamp && kept->generation == meta->generation && kept->people == meta->people))
        return;
    kept->generation = meta->generation;
    kept->people = meta->people;
    if (++kept->stamp == 0) { /* after four billion changes */
        memset(kept->entries, 0, kept->buckets * WAYS * sizeof(struct entry));
        kept->stamp = 1;
    }
}

static bool is_of(const struct hot_kept *kept, const struct entry *e,
                  const struct tide_hot_key *key)
{
    return e->stamp == kept->stamp && memcmp(&e->who, key->bytes + 1, sizeof e->who) == 0;
}

bool hot_kept_get(struct hot_kept *kept, const struct tide_hot_key *key, const void **record)
{
    struct entry *e = bucket_of(kept, key);
    if (!is_of(kept, e, key) && !is_of(kept, ++e, key)) {
        kept->misses++;
        return false;
    }
    kept->hits++;
    kept->lent = true;
    *record = e->found ? &e->person : NULL;
    return true;
}

/* The older of the two goes: the newer is first. */
void hot_kept_put(struct hot_kept *kept, const struct tide_hot_key *key, const void *record)
{
    struct entry *e = bucket_of(kept, key);
    if (kept->lent)
        return;
    if (e[0].stamp == kept->stamp)
        e[1] = e[0];
    memcpy(&e->who, key->bytes + 1, sizeof e->who);
    e->found = record != NULL;
    e->stamp = kept->stamp;
    if (record)
        memcpy(&e->person, record, sizeof e->person);
}
