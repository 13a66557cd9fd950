/* The search for an entry in the buckets of a proof: which one decides, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "indexer/verify/proof_buckets.h"
#include "tests/unit/schema/wire/literal.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"
#include "tidemark/xdr_skip.h"

#define META       "ffffffff 0000001c 00000000 "
#define META_HOT   "ffffffff 0000001c 00000001 00000001 "
#define KEY        "00000001 32*c1 0000000f 00000001 61000000 00000001 "
#define OTHER_KEY  "00000001 32*c1 0000000f 00000001 62000000 00000001 "
#define OTHER_TIME "00000001 32*c1 0000000f 00000001 61000000 00000000 "
/* arm, ledger, contract data, ext; the key's fields; value, ext */
#define DATA(arm, ledger, key, value) \
    arm ledger "00000006 00000000 " key "00000003 " value "00000000 "
#define LIVE "00000000 "
#define INIT "00000002 "
#define ONE  "00000001 "
#define TWO  "00000002 "
#define GONE "00000001 00000006 "

struct world {
    char folder[64];
    struct tide_config config;
    struct archive *archive;
    struct proof_claim claim;
    struct literal key;
};

/* --- files ----------------------------------------------------------------------------------- */

static uint32_t crc_of(tide_slice bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= bytes.ptr[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static void put_le(struct tide_buf *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        tide_buf_u8(out, (uint8_t)(value >> 8 * i));
}

/* Writes gzip with one stored block. */
static void write_packed(const char *path, tide_slice bytes)
{
    struct tide_buf out;
    tide_buf_init(&out, 128 << 10);
    tide_buf_put(&out, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
    put_le(&out, (uint32_t)bytes.len, 2);
    put_le(&out, ~(uint32_t)bytes.len, 2);
    tide_buf_slice(&out, bytes);
    put_le(&out, crc_of(bytes), 4);
    put_le(&out, (uint32_t)bytes.len, 4);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out.ptr, 1, out.len, file), out.len);
    assert_int_equal(fclose(file), 0);
    tide_buf_release(&out);
}

static void bucket_path(const struct world *w, const uint8_t *hash, char path[256])
{
    char key[ARCHIVE_KEY_MAX];
    archive_bucket_key(key, hash);
    snprintf(path, 256, "%s/%s", w->folder, key);
    for (char *at = path + strlen(w->folder) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        (void)mkdir(path, 0755);
        *at = '/';
    }
}

/* Writes a bucket of these records, and names it at that place of a list. */
static void put_bucket(struct world *w, enum bucket_list list, uint32_t rank,
                       const char *const *records)
{
    char path[256];
    struct tide_buf bytes;
    struct history_level *level =
        &(list == BUCKET_LIST_LIVE ? w->claim.buckets.live : w->claim.buckets.hot)[rank / 2];
    uint8_t *hash = rank % 2 ? level->snap : level->curr;
    tide_buf_init(&bytes, 60 << 10);
    for (; *records; records++) {
        struct literal l;
        literal_open(&l, *records);
        tide_buf_be32(&bytes, UINT32_C(1) << 31 | (uint32_t)l.buf.len);
        tide_buf_slice(&bytes, tide_buf_view(&l.buf));
        literal_close(&l);
    }
    tide_sha256(hash, tide_buf_view(&bytes));
    bucket_path(w, hash, path);
    write_packed(path, tide_buf_view(&bytes));
    tide_buf_release(&bytes);
}

static void open_world(struct world *w)
{
    struct tide_err err;
    *w = (struct world){ .claim = { .kind = PROOF_ENTRY, .buckets = { .version = 2 } } };
    snprintf(w->folder, sizeof w->folder, "/tmp/buckets.XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    tide_config_defaults(&w->config);
    const struct archive_options options = { .places = w->folder, .config = &w->config };
    assert_int_equal(archive_open(&w->archive, &options, &err), TIDE_OK);
    literal_open(&w->key, "00000006 " KEY);
    w->claim.key = tide_buf_view(&w->key.buf);
    struct tide_xdr x = tide_xdr_of(w->claim.key);
    skip_ledger_key(&x, &w->claim.of);
    assert_int_equal(tide_xdr_end(&x), TIDE_OK);
}

static void close_world(struct world *w)
{
    char command[96];
    archive_close(w->archive);
    literal_close(&w->key);
    snprintf(command, sizeof command, "rm -rf '%s'", w->folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder of its own */
}

/* Searches, and returns the value's number; 0: there is no entry. */
static uint32_t find_number(struct world *w, struct proof_entry *e)
{
    struct tide_err err = { 0 };
    tide_status status = proof_find_entry(e, &w->claim, w->archive, &err);
    assert_int_equal(status, TIDE_OK);
    assert_int_equal(e->place == PROOF_PLACE_NONE, e->value.len == 0);
    uint32_t number = e->value.len == 8 ? tide_be32(e->value.ptr + 4) : 0;
    tide_buf_release(&e->value);
    return number;
}

static tide_status find_failure(struct world *w)
{
    struct tide_err err = { 0 };
    struct proof_entry e;
    tide_status status = proof_find_entry(&e, &w->claim, w->archive, &err);
    tide_buf_release(&e.value);
    assert_true(status == TIDE_OK || *err.text);
    return status;
}

#define BUCKET(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* --- tests ----------------------------------------------------------------------------------- */

static void the_youngest_bucket_decides(void **state)
{
    struct world w;
    struct proof_entry e;
    (void)state;
    open_world(&w);
    put_bucket(&w, BUCKET_LIST_LIVE, 0, BUCKET(META, DATA(LIVE, "00000063 ", OTHER_KEY, ONE)));
    put_bucket(&w, BUCKET_LIST_LIVE, 3, BUCKET(META, DATA(INIT, "0000002a ", KEY, TWO)));
    put_bucket(&w, BUCKET_LIST_LIVE, 20, BUCKET(META, DATA(LIVE, "00000007 ", KEY, ONE)));
    assert_int_equal(find_number(&w, &e), 2);
    assert_int_equal(e.place, PROOF_PLACE_LIVE);
    assert_int_equal(e.rank, 3);
    assert_int_equal(e.last_modified, 42);
    assert_int_equal(e.buckets, 2); /* the older one is not read */
    put_bucket(&w, BUCKET_LIST_LIVE, 1, BUCKET(META, GONE KEY));
    assert_int_equal(find_number(&w, &e), 0);
    assert_int_equal(e.rank, 1);
    put_bucket(&w, BUCKET_LIST_LIVE, 0, BUCKET(META, DATA(LIVE, "00000064 ", KEY, ONE)));
    assert_int_equal(find_number(&w, &e), 1);
    assert_int_equal(e.buckets, 1);
    close_world(&w);
}

static void an_evicted_entry_is_in_the_hot_archive(void **state)
{
    struct world w;
    struct proof_entry e;
    (void)state;
    open_world(&w);
    put_bucket(&w, BUCKET_LIST_HOT_ARCHIVE, 5, BUCKET(META_HOT, DATA(LIVE, "0000002a ", KEY, TWO)));
    assert_int_equal(find_number(&w, &e), 2);
    assert_int_equal(e.place, PROOF_PLACE_ARCHIVED);
    put_bucket(&w, BUCKET_LIST_LIVE, 4, BUCKET(META, GONE KEY));
    assert_int_equal(find_number(&w, &e), 2);
    put_bucket(&w, BUCKET_LIST_HOT_ARCHIVE, 2, BUCKET(META_HOT, GONE KEY)); /* restored */
    assert_int_equal(find_number(&w, &e), 0);
    assert_int_equal(e.list, BUCKET_LIST_HOT_ARCHIVE);
    put_bucket(&w, BUCKET_LIST_LIVE, 0, BUCKET(META, DATA(LIVE, "00000064 ", KEY, ONE)));
    assert_int_equal(find_number(&w, &e), 1);
    assert_int_equal(e.place, PROOF_PLACE_LIVE);
    w.claim.buckets.version = 1; /* before protocol 23 there is no hot archive */
    memset(w.claim.buckets.live, 0, sizeof w.claim.buckets.live);
    assert_int_equal(find_number(&w, &e), 0);
    assert_int_equal(e.buckets, 0);
    close_world(&w);
}

static void other_keys_do_not_count(void **state)
{
    struct world w;
    struct proof_entry e;
    (void)state;
    open_world(&w);
    put_bucket(&w, BUCKET_LIST_LIVE, 0,
               BUCKET(META, DATA(LIVE, "00000063 ", OTHER_TIME, ONE),
                      DATA(LIVE, "00000063 ", OTHER_KEY, ONE)));
    assert_int_equal(find_number(&w, &e), 0);
    assert_int_equal(e.rank, UINT32_MAX);
    assert_int_equal(e.buckets, 1);
    close_world(&w);
}

/* Nothing is said of an entry if a bucket that may have it is missing or is another one. */
static void each_bucket_is_needed(void **state)
{
    struct world w;
    char path[256], other[256];
    (void)state;
    open_world(&w);
    put_bucket(&w, BUCKET_LIST_LIVE, 0, BUCKET(META, DATA(LIVE, "00000063 ", OTHER_KEY, ONE)));
    put_bucket(&w, BUCKET_LIST_LIVE, 1, BUCKET(META, DATA(LIVE, "0000002a ", KEY, ONE)));
    put_bucket(&w, BUCKET_LIST_LIVE, 2, BUCKET(META, DATA(LIVE, "0000002a ", KEY, TWO)));
    assert_int_equal(find_failure(&w), TIDE_OK);
    bucket_path(&w, w.claim.buckets.live[0].curr, path);
    bucket_path(&w, w.claim.buckets.live[1].curr, other);
    assert_int_equal(rename(other, path), 0); /* an older value under the youngest name */
    assert_int_equal(find_failure(&w), TIDE_E_CHAIN);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(find_failure(&w), TIDE_E_MISSING);
    close_world(&w);
}

static void a_key_twice_is_refused(void **state)
{
    struct world w;
    (void)state;
    open_world(&w);
    put_bucket(&w, BUCKET_LIST_LIVE, 0,
               BUCKET(META, DATA(LIVE, "00000063 ", KEY, ONE), DATA(LIVE, "00000063 ", KEY, TWO)));
    assert_int_equal(find_failure(&w), TIDE_E_DECODE);
    put_bucket(
        &w, BUCKET_LIST_LIVE, 0,
        BUCKET(META, DATA(LIVE, "00000063 ", OTHER_KEY, ONE), DATA(LIVE, "00000063 ", KEY, TWO)));
    assert_int_equal(find_failure(&w), TIDE_E_DECODE); /* not sorted */
    close_world(&w);
}

int test_proof_buckets(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_youngest_bucket_decides),
        cmocka_unit_test(an_evicted_entry_is_in_the_hot_archive),
        cmocka_unit_test(other_keys_do_not_count),
        cmocka_unit_test(each_bucket_is_needed),
        cmocka_unit_test(a_key_twice_is_refused),
    };
    return cmocka_run_group_tests_name("proof_buckets", tests, NULL, NULL);
}
