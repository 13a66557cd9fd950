/* Without an engine a fuzz target is a test: it runs every file of its corpus, each of its
 * beginnings up to a bound, and each with one bit turned at a stride. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 4 << 20, VARIANTS = 64 };

static void run(const uint8_t *bytes, size_t len)
{
    /* Exactly as long as the input, so that a sanitizer sees a step over its end. */
    uint8_t *copy = calloc(1, len ? len : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static void run_variants(uint8_t *bytes, size_t len)
{
    size_t step = len / VARIANTS + 1;
    for (size_t at = 0; at < len; at += step) {
        run(bytes, at);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        run(bytes, len);
        bytes[at] ^= (uint8_t)(1u << at % 8);
    }
}

int main(int argc, char **argv)
{
    uint8_t *bytes = calloc(1, INPUT_MAX);
    if (!bytes)
        return 1;
    run(bytes, 0);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        size_t len = fread(bytes, 1, INPUT_MAX, file);
        fclose(file);
        run(bytes, len);
        run_variants(bytes, len);
    }
    free(bytes);
    printf("%d files\n", argc - 1);
    return argc > 1 ? 0 : 1; /* a target without a corpus tests nothing */
}
