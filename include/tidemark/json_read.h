/* jansson, with two things mended. Its lexer ignores an allocation that fails and goes on without
 * the byte it could not keep, so a text read while memory is short may come out changed: here such
 * a reading is no reading. And it leaves what it read in memory that it gave back: here a text
 * with secrets or personal data can be read so that nothing stays.
 *
 * Includes jansson.h for those few files that read JSON. */
#ifndef TIDEMARK_BASE_JSON_READ_H
#define TIDEMARK_BASE_JSON_READ_H

#include "tidemark/slice.h"

#include <jansson.h>

/* json_loadb; NULL with "out of memory" in error->text when any allocation failed meanwhile.
 * Any thread. The result is the caller's (json_decref). */
json_t *tide_json_load(tide_slice text, size_t flags, json_error_t *error);

/* The same of a text that must not stay in memory: what is freed is overwritten first. error->text
 * may hold a piece of it. The result is given back by tide_json_wipe (NULL is fine), which wants
 * to be its only holder. */
json_t *tide_json_load_private(tide_slice text, size_t flags, json_error_t *error);
void tide_json_wipe(json_t *root);

#endif
