/* jansson, with one thing mended: its lexer ignores an allocation that fails and goes on without
 * the byte it could not keep, so a text read while memory is short may come out changed. Here such
 * a reading is no reading.
 *
 * Includes jansson.h for those few files that read JSON. */
#ifndef TIDEMARK_BASE_JSON_READ_H
#define TIDEMARK_BASE_JSON_READ_H

#include "tidemark/slice.h"

#include <jansson.h>

/* json_loadb; NULL with "out of memory" in error->text when any allocation failed meanwhile.
 * Any thread. The result is the caller's (json_decref). */
json_t *tide_json_load(tide_slice text, size_t flags, json_error_t *error);

#endif
