/* The unit tests of one top folder as one program. `unit_api clocks` runs the file test_clocks.c.
 * Without an argument the program runs all files. CMake writes the list. */
#include <stdio.h>
#include <string.h>

#define UNIT(name) int test_##name(void);
#include UNIT_LIST
#undef UNIT

static const struct {
    const char *name;
    int (*run)(void);
} units[] = {
#define UNIT(name) { #name, test_##name },
#include UNIT_LIST
#undef UNIT
};

enum { SKIPPED = 77, UNIT_COUNT = sizeof units / sizeof units[0] };

int main(int argc, char **argv)
{
    int failed = 0;
    int found = 0;
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], units[i].name) != 0)
            continue;
        int code = units[i].run();
        found++;
        if (argc > 1)
            return code;
        failed += code != 0 && code != SKIPPED;
    }
    if (found == 0)
        fprintf(stderr, "%s: no such unit test\n", argv[1]);
    return failed != 0 || found == 0;
}
