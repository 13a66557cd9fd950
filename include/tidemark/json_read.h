/* Reads JSON with jansson and works around two defects. jansson's lexer ignores a failed allocation
 * and continues without the byte that it could not store, so a text that is read while memory is
 * short may come out changed: here such a reading fails. And jansson frees memory without erasing
 * it: tide_json_load_private reads a text with secrets or personal data and erases what is freed.
 *
 * Includes jansson.h for the few files that read JSON. */
#ifndef TIDEMARK_BASE_JSON_READ_H
#define TIDEMARK_BASE_JSON_READ_H

#include "tidemark/slice.h"

#include <jansson.h>

/* Does what json_loadb does. Returns NULL with "out of memory" in error->text if any allocation
 * failed meanwhile. Any thread. The caller frees the result with json_decref. */
json_t *tide_json_load(tide_slice text, size_t flags, json_error_t *error);

/* Reads a text that must not stay in memory: freed memory is overwritten first. error->text may
 * contain a part of the text. The caller frees the result with tide_json_wipe (NULL is allowed),
 * which must be its only owner. */
json_t *tide_json_load_private(tide_slice text, size_t flags, json_error_t *error);
void tide_json_wipe(json_t *root);

#endif
