/* Bytes written as text, for tests that must not make their input with the code under test.
 *
 *   "0000000f"   hex, any length, white space between
 *   "32*a1"      a byte repeated
 *   "@name"      marks the offset: literal_at */
#ifndef TESTS_LITERAL_H
#define TESTS_LITERAL_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL_MARKS = 32, LITERAL_NAME = 16 };

struct literal {
    struct tide_buf buf;
    struct {
        char name[LITERAL_NAME];
        size_t at;
    } marks[LITERAL_MARKS];
    size_t mark_count;
};

static inline void literal_token(struct literal *l, const char *text, size_t len)
{
    const char *star = memchr(text, '*', len);
    uint8_t bytes[512];
    if (*text == '@') {
        assert(len - 1 < LITERAL_NAME && l->mark_count < LITERAL_MARKS);
        memcpy(l->marks[l->mark_count].name, text + 1, len - 1);
        l->marks[l->mark_count++].at = l->buf.len;
        return;
    }
    if (star) {
        int count = (int)strtol(text, NULL, 10);
        tide_status status = tide_hex_decode(bytes, 1, tide_slice_of(star + 1, 2));
        assert(status == TIDE_OK);
        for (int i = 0; status == TIDE_OK && i < count; i++)
            tide_buf_u8(&l->buf, bytes[0]);
        return;
    }
    assert(len % 2 == 0 && len / 2 <= sizeof bytes);
    tide_status status = tide_hex_decode(bytes, len / 2, tide_slice_of(text, len));
    assert(status == TIDE_OK);
    if (status == TIDE_OK)
        tide_buf_put(&l->buf, bytes, len / 2);
}

static inline void literal_open(struct literal *l, const char *text)
{
    memset(l, 0, sizeof *l);
    tide_buf_init(&l->buf, 1 << 20);
    while (*text) {
        size_t len = strcspn(text, " \n");
        if (len)
            literal_token(l, text, len);
        text += len + (text[len] != 0);
    }
}

static inline size_t literal_at(const struct literal *l, const char *name)
{
    for (size_t i = 0; i < l->mark_count; i++)
        if (strcmp(l->marks[i].name, name) == 0)
            return l->marks[i].at;
    abort(); /* no such mark: the test is wrong */
}

static inline tide_slice literal_between(const struct literal *l, const char *from, const char *to)
{
    size_t at = literal_at(l, from);
    return tide_slice_of(l->buf.ptr + at, literal_at(l, to) - at);
}

static inline void literal_close(struct literal *l)
{
    tide_buf_release(&l->buf);
}

/* A LedgerCloseMeta V2 with one contract call in a parallel phase. The hashes are zero. A test that
 * needs valid hashes fills them in at @hash, @sethash, @resulthash, @txhash and @callhash. */
/* clang-format off: one line is one part of the ledger */
static const char ledger_literal[] =
    "00000002 00000001 00000000 00000000000003e8 " /* V2, ext v1: fee write 1000 */
    "@hash 32*00 @header "                         /* ledgerHeader.hash, header */
    "00000017 32*11 "                              /* protocol 23, previous hash */
    "@sethash 32*00 000000006553f100 "             /* txSetHash, closeTime */
    "00000001 00000008 0000000100000018 "          /* one upgrade: version 24 */
    "00000001 00000000 32*22 00000040 64*33 "      /* signed value */
    "@resulthash 32*00 32*44 0000002a "            /* result set, bucket list, sequence 42 */
    "0000000000000005 0000000000000006 00000001 0000000000000007 " /* coins … idPool */
    "00000064 004c4b40 000003e8 128*55 "                           /* baseFee … skipList */
    "00000001 00000000 00000000 "                                  /* header ext v1 */
    "@headerend 00000000 "
    "@set 00000001 32*11 00000002 "                 /* generalized set, two phases */
    "00000000 00000000 "                            /* classic: no component */
    "00000001 00000000 00000001 00000001 00000001 " /* parallel: 1 stage, 1 cluster, 1 tx */
    "@envelope 00000002 @tx 00000000 32*a1 00000064 0000000000000009 " /* source, fee, seq */
    "00000001 0000000000000000 00000000ffffffff "                      /* time bounds */
    "00000001 00000002 68690000 "                                      /* memo text hi */
    "00000001 00000000 00000018 "                        /* 1 op, no source, invoke host function */
    "00000000 00000001 32*c1 00000008 7472616e73666572 " /* contract c1, transfer */
    "00000001 00000003 00000007 "                        /* args: u32 7 */
    "00000001 00000000 00000000 00000001 32*c1 00000008 7472616e73666572 00000000 00000000 "
    "00000001 00000001 00000001 00000002 " /* soroban data, ext 1: [2] */
    "00000001 00000007 32*cc "             /* read only: code cc */
    "00000001 00000006 00000001 32*c1 0000000f 00000001 61000000 00000001 " /* read write */
    "00001000 00000200 00000100 0000000000000abc "                          /* resources, fee */
    "@txend 00000001 deadbeef 00000040 64*66 "                              /* one signature */
    "@setend "
    "00000001 00000000 " /* txProcessing, result meta ext */
    "@pair @txhash 32*00 0000000000000063 00000000 00000001 "
    "00000000 00000018 00000000 @callhash 32*00 00000000 @pairend "
    "00000002 " /* fee processing: STATE, UPDATED account */
    "00000003 00000029 00000000 00000000 32*a1 00000000000003e8 0000000000000008 00000001 "
    "00000000 00000000 00000003 61626300 01000000 00000001 00000000 32*77 00000001 "
    "00000001 16*00 00000002 00000000 00000000 00000001 00000001 00000000 32*78 "
    "00000003 00000000 00000029 000000006553f0f0 00000001 00000000 00000000 "
    "00000001 0000002a 00000000 00000000 32*a1 0000000000000385 0000000000000009 00000000 "
    "00000000 00000000 00000000 01000000 00000000 00000000 00000000 "
    "00000004 00000000 00000000 00000001 00000000 " /* meta V4, nothing before, 1 operation */
    "00000003 "                                     /* changes */
    "00000000 0000002a 00000006 00000000 @contract 00000001 32*c1 "
    "@key 0000000f 00000001 61000000 @keyend 00000001 "
    "@val 0000000a 0000000000000000000000000000002a @valend 00000000 "
    "00000000 0000002a 00000009 32*b7 00001000 00000000 "
    "00000002 00000001 00000000 32*a1 00000001 55534400 00000000 32*a2 "
    "@events 00000001 " /* operation events */
    "@event 00000000 00000001 32*c1 00000001 00000000 00000002 "
    "@topics 0000000f 00000008 7472616e73666572 00000003 00000001 "
    "@data 0000000a ffffffffffffffffffffffffffffffff @eventsend "
    "00000000 " /* txChangesAfter */
    "00000001 00000001 00000000 0000000000000001 0000000000000002 0000000000000003 "
    "00000001 @return 00000001 @returnend "
    "00000001 00000002 00000000 00000001 32*c2 00000001 00000000 00000000 00000001 " /* stage 2 */
    "00000001 00000001 00000000 00000000 00000002 00000000 00000000 00000001 " /* diagnostic */
    "00000000 "                                                                /* post fee */
    "00000001 00000001 00000018 00000000 "                                     /* upgrade */
    "00000000 0000000000000400 " /* scpInfo, live state bytes */
    "@evicted 00000001 00000009 32*ee ";
/* clang-format on */

#endif
