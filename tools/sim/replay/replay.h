/* Declarations that replay*.c share. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "tools/sim/host/host.h"
#include <jansson.h>

#define REPLAY_FILE_MAX (1u << 30) /* bytes of one file */

/* A file of JSON objects, one a line. One line is read ahead. */
struct replay_lines {
    const char *path;
    struct tide_buf bytes;
    size_t at;
    uint32_t number; /* number of `line`, from 1 */
    json_t *line;    /* the present line; NULL at the end; owned */
};

/* Reads a file and its first line. Returns TIDE_E_IO or TIDE_E_DECODE. */
tide_status replay_lines_open(struct replay_lines *lines, const char *path,
                              struct tide_err *err) TIDE_MUST_USE;
/* Reads the next line. Returns TIDE_E_DECODE if it is no JSON object. */
tide_status replay_lines_next(struct replay_lines *lines, struct tide_err *err) TIDE_MUST_USE;
void replay_lines_close(struct replay_lines *lines);

/* Return a field's text or whole number; "" or 0 if it is absent. */
const char *replay_text(const json_t *object, const char *field);
uint64_t replay_number(const json_t *object, const char *field);

/* Opens the model and creates contracts and accounts as they were before the first call. path is
 * deployment.json. */
tide_status replay_world(struct sim_host *h, const char *path, struct tide_err *err) TIDE_MUST_USE;

/* Parses a strkey G… or C…. Returns false for any other text. */
bool replay_address(struct sim_addr *out, const char *text);
/* Converts a function's arguments from JSON by their types (sim_types_fit), at most
 * REPLAY_ARGS_MAX. Bytes lie in arena. Returns false if they do not fit: such a call has wrong
 * arguments. */
bool replay_args(struct tide_arena *arena, sim_val *out, uint32_t *count, const char *types,
                 const json_t *args);
#define REPLAY_ARGS_MAX 32u
/* Returns the value in the JSON form of the fixtures, as a new reference. */
json_t *replay_json(const sim_val *val);

#endif
