/* Without an engine a fuzz target is a test: it runs every file of its corpus, each of its
 * beginnings, and each with one byte altered; of large files every so many bytes. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 4 << 20, WHOLE_MAX = 4096, VARIANTS = 64 };

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
    static const uint8_t masks[] = { 0x01, 0x10, 0x80, 0xff };
    size_t step = len <= WHOLE_MAX ? 1 : len / VARIANTS + 1;
    for (size_t at = 0; at < len; at += step) {
        run(bytes, at);
        for (size_t i = 0; i < sizeof masks; i++) {
            bytes[at] ^= masks[i];
            run(bytes, len);
            bytes[at] ^= masks[i];
        }
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
