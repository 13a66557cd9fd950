/* perf lookups CACHE COUNT FILE: writes compliance records of made-up addresses into a hot cache
 * that no feeder fills, and the addresses as text into FILE. All kinds of standing occur; every
 * tenth address is a contract. */
#include "perf.h"
#include "tidemark/hash.h"
#include "tidemark/hot.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A range of addresses to write, from and to (exclusive). */
struct fill {
    uint32_t from, to;
    struct tide_hot_person shape; /* a valid record: its provider and times */
};

/* Returns made-up address i: the SHA-256 of its number as the key, so runs agree on the
 * addresses. */
static struct tide_hot_address address_of(uint32_t i)
{
    char seed[32];
    struct tide_hot_address address = { .kind = i % 10 == 9 ? TIDE_STRKEY_CONTRACT
                                                            : TIDE_STRKEY_ACCOUNT };
    int len = snprintf(seed, sizeof seed, "people/%u", i);
    assert(len > 0 && (size_t)len < sizeof seed);
    tide_sha256(address.key, tide_slice_of(seed, (size_t)len));
    return address;
}

/* Writes the records of the range. The cache calls this function again from the start if it had to
 * enlarge the map in between. */
static tide_status add_addresses(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct fill *p = self;
    tide_status status = TIDE_OK;
    for (uint32_t i = p->from; i < p->to && status == TIDE_OK; i++) {
        struct tide_hot_address address = address_of(i);
        struct tide_hot_person person = p->shape;
        person.status = i % 6;
        person.frozen = i % 50 == 7;
        person.whitelisted = i % 20 == 3;
        person.expires_at = i % 3 ? 0 : 1900000000 + i;
        struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &address);
        status = sink->put(sink->self, &key, &person, err);
    }
    return status;
}

/* Writes the addresses as strkeys, one a line, for lookups.lua. */
static void print_addresses(FILE *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[TIDE_STRKEY_TEXT_MAX];
        struct tide_hot_address address = address_of(i);
        size_t size = tide_strkey_encode(text, (enum tide_strkey)address.kind,
                                         tide_slice_of(address.key, sizeof address.key));
        assert(size == 56 && "the text of an account or a contract");
        fprintf(out, "%.*s\n", (int)size, text);
    }
}

int perf_lookups(int argc, char **argv)
{
    enum { STEP = 50000 }; /* records of one transaction of the cache */
    struct tide_err err;
    struct tide_hot *hot;
    bool mine;
    if (argc != 3)
        return 64;
    struct tide_hot_options options = { .dir = argv[0] };
    uint32_t count = (uint32_t)strtoul(argv[1], NULL, 10);
    struct fill p = { .shape = { .recorded = 1, .jurisdiction = 840, .updated_at = 1760000000 } };
    FILE *out = perf_open_file(argv[2], "w");
    if (tide_hot_open(&hot, &options, &err) != TIDE_OK || tide_hot_refresh(hot, &err) != TIDE_OK ||
        tide_hot_lock(hot, &mine, &err) != TIDE_OK)
        perf_die("lookups", &err);
    for (p.from = 0; p.from < count; p.from = p.to) {
        p.to = count - p.from > STEP ? p.from + STEP : count;
        if (tide_hot_update(hot, add_addresses, &p, &err) != TIDE_OK)
            perf_die("lookups", &err);
    }
    tide_hot_close(hot);
    print_addresses(out, count);
    return fclose(out) == 0 ? 0 : 1;
}
