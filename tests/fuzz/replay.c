/* Runs all fuzz targets in one program without a fuzzing engine. `fuzz_replay NAME FILE...` calls
 * the target NAME with every file, with prefixes of it, and with copies that have one byte changed.
 * For files above WHOLE_MAX bytes only a sample of the variants runs. TIDE_LONG tries four masks
 * for each byte instead of one, and every byte of the other files instead of PLACES. CMake writes
 * the list of targets. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int target_fn(const uint8_t *data, size_t size);

#define TARGET(name) target_fn fuzz_##name;
#include FUZZ_LIST
#undef TARGET

static const struct {
    const char *name;
    target_fn *run;
} targets[] = {
#define TARGET(name) { #name, fuzz_##name },
#include FUZZ_LIST
#undef TARGET
};

static target_fn *target;

enum { INPUT_MAX = 4 << 20, WHOLE_MAX = 4096, VARIANTS = 64, PLACES = 512 };

static void run_target(const uint8_t *bytes, size_t len)
{
    /* The copy is exactly as long as the input, so that a sanitizer sees a read past its end. */
    uint8_t *copy = calloc(1, len ? len : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, len);
    target(copy, len);
    free(copy);
}

/* Returns the distance between two bytes that are changed. */
static size_t step_of(size_t len, bool every)
{
    if (len > WHOLE_MAX)
        return len / (every ? VARIANTS : VARIANTS / 8) + 1;
    return every || len <= PLACES ? 1 : (len + PLACES - 1) / PLACES;
}

static void run_variants(uint8_t *bytes, size_t len)
{
    static const uint8_t masks[] = { 0x01, 0x10, 0x80, 0xff };
    bool every = getenv("TIDE_LONG") != NULL;
    size_t step = step_of(len, every);
    for (size_t at = 0; at < len; at += step) {
        run_target(bytes, at);
        for (size_t i = 0; i < sizeof masks; i++) {
            if (!every && at / step % sizeof masks != i)
                continue;
            bytes[at] ^= masks[i];
            run_target(bytes, len);
            bytes[at] ^= masks[i];
        }
    }
}

static int replay(char **files, int count)
{
    uint8_t *bytes = calloc(1, INPUT_MAX);
    if (!bytes)
        return 1;
    run_target(bytes, 0);
    for (int i = 0; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        if (!file) {
            fprintf(stderr, "%s: cannot be read\n", files[i]);
            free(bytes);
            return 1;
        }
        size_t len = fread(bytes, 1, INPUT_MAX, file);
        fclose(file);
        run_target(bytes, len);
        run_variants(bytes, len);
    }
    free(bytes);
    printf("%d files\n", count);
    return count > 0 ? 0 : 1; /* a target without a corpus tests nothing */
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(argv[1], targets[i].name) == 0)
            target = targets[i].run;
    if (!target) {
        fprintf(stderr, "usage: fuzz_replay TARGET FILE...\n");
        return 64;
    }
    return replay(argv + 2, argc - 2);
}
