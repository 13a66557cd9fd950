/* Any bytes as the console's file of people, and as a certificate that a proxy passes: an accepted
 * file names each person and each certificate once, a refusal names the line. */
#include "api/console/people.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void look_at(const struct console_people *all)
{
    assert(*all->origin && all->count && all->count <= CONSOLE_PEOPLE_MAX);
    for (uint32_t a = 0; a < all->count; a++) {
        const struct console_person *one = &all->people[a];
        assert(*one->name && console_role_name(one->role));
        assert(one->certificate_count && one->certificate_count <= CONSOLE_CERTIFICATES_MAX);
        for (uint32_t b = a + 1; b < all->count; b++) {
            assert(strcmp(one->name, all->people[b].name) != 0);
            assert(memcmp(one->certificates[0], all->people[b].certificates[0], TIDE_HASH_BYTES));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct console_people *people = NULL;
    struct tide_err err = { 0 };
    uint8_t hash[TIDE_HASH_BYTES];
    if (console_people_parse(&people, tide_slice_of(data, size), &err) == TIDE_OK)
        look_at(people);
    else
        assert(!people && err.code && *err.text);
    free(people);
    (void)console_fingerprint(hash, tide_slice_of(data, size));
    return 0;
}
