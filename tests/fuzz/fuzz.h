/* The function that each fuzz target defines: takes any bytes, must not crash, returns 0. */
#ifndef TIDEMARK_TESTS_FUZZ_H
#define TIDEMARK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
