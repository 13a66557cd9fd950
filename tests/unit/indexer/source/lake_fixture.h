/* Small valid ledgers and lakes for the tests of the sources, written byte by byte as the wire
 * format defines, without the code under test. */
#ifndef TIDEMARK_TESTS_LAKE_FIXTURE_H
#define TIDEMARK_TESTS_LAKE_FIXTURE_H

#include "indexer/source/source.h"
#include "tidemark/zstd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

static inline void put_zeros(struct tide_buf *out, size_t n)
{
    while (n--)
        tide_buf_u8(out, 0);
}

/* Appends a LedgerCloseMeta V0 without transactions. One SCP entry with a quorum set of `pad`
 * validators (36 bytes each) sets its size. */
static inline void put_ledger(struct tide_buf *out, uint32_t sequence, uint32_t pad)
{
    tide_buf_be32(out, 0); /* V0 */
    put_zeros(out, 32);    /* hash */
    tide_buf_be32(out, 22);
    put_zeros(out, 32 + 32 + 8); /* previous hash; txSetHash, closeTime */
    tide_buf_be32(out, 0);       /* upgrades */
    tide_buf_be32(out, 0);       /* StellarValue ext */
    put_zeros(out, 64);          /* results, buckets */
    tide_buf_be32(out, sequence);
    put_zeros(out, 8 + 8 + 4 + 8 + 4 + 4 + 4 + 4 * 32); /* totalCoins … skipList */
    tide_buf_be32(out, 0);                              /* header ext */
    tide_buf_be32(out, 0);                              /* entry ext */
    put_zeros(out, 32 + 4);                             /* txSet: hash, no transactions */
    put_zeros(out, 4 + 4);                              /* txProcessing, upgradesProcessing */
    tide_buf_be32(out, 1);                              /* scpInfo */
    tide_buf_be32(out, 0);                              /* V0 */
    tide_buf_be32(out, 1);                              /* quorum sets */
    tide_buf_be32(out, 1);                              /* threshold */
    tide_buf_be32(out, pad);
    put_zeros(out, (size_t)36 * pad);
    tide_buf_be32(out, 0);        /* inner sets */
    tide_buf_be32(out, sequence); /* ledgerMessages */
    tide_buf_be32(out, 0);
}

/* Appends a LedgerCloseMetaBatch with the ledgers from .. to and the header start .. end. */
static inline void put_batch(struct tide_buf *out, uint32_t start, uint32_t end, uint32_t from,
                             uint32_t to, uint32_t pad)
{
    tide_buf_be32(out, start);
    tide_buf_be32(out, end);
    tide_buf_be32(out, to - from + 1);
    for (uint32_t s = from; s <= to; s++)
        put_ledger(out, s, pad);
}

static inline void write_file(const char *folder, const char *name, tide_slice bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
    fclose(f);
}

static inline void write_packed(const char *folder, const char *name, tide_slice plain)
{
    struct tide_buf packed;
    tide_buf_init(&packed, 64u << 20);
    assert_int_equal(tide_zstd_compress(&packed, plain, 1), TIDE_OK);
    write_file(folder, name, tide_buf_view(&packed));
    tide_buf_release(&packed);
}

static inline void make_folder(char path[64])
{
    snprintf(path, 64, "/tmp/tide-lake-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void remove_folder(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf -- '%s'", path);
    assert_int_equal(system(command), 0);
}

/* Reads until the source gives no ledger. Checks that sequences follow each other. Returns the last
 * status. */
static inline tide_status drain(const struct tide_source *source, uint32_t *count, uint32_t *last,
                                struct tide_err *err)
{
    tide_slice lcm;
    uint32_t sequence = 0;
    *count = 0;
    for (;;) {
        tide_status status = source->ops->next(source->self, &lcm, &sequence, err);
        if (status)
            return status;
        assert_true(lcm.len > 300);
        if (*count)
            assert_int_equal(sequence, *last + 1);
        *last = sequence;
        ++*count;
    }
}

#endif
