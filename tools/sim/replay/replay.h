/* Replaying recorded calls: what replay*.c share. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "tools/sim/host/host.h"
#include <jansson.h>

#define REPLAY_FILE_MAX   (1u << 30) /* bytes of one file */
#define REPLAY_STATES_MAX 8u

/* Lines of JSON objects, one ahead. */
struct replay_lines {
    const char *path;
    struct tide_buf bytes;
    size_t at;
    uint32_t number; /* of the line in hand, 1-based */
    json_t *line;    /* in hand; NULL at the end */
};

tide_status replay_lines_open(struct replay_lines *lines, const char *path,
                              struct tide_err *err) TIDE_MUST_USE;
/* Takes the next line in hand. */
tide_status replay_lines_next(struct replay_lines *lines, struct tide_err *err) TIDE_MUST_USE;
void replay_lines_close(struct replay_lines *lines);

/* A field's text or whole number; "" or 0 when it is not there. */
const char *replay_text(const json_t *object, const char *field);
uint64_t replay_number(const json_t *object, const char *field);

/* The world as it was before the first call. */
tide_status replay_world(struct sim_host *h, const char *path, struct tide_err *err) TIDE_MUST_USE;

/* strkey G… or C… */
bool replay_address(struct sim_addr *out, const char *text);
/* Values of a function's arguments by their types; bytes lie in arena. False when they do not
 * fit, as a call with wrong arguments. At most max. */
bool replay_args(struct tide_arena *arena, sim_val *out, uint32_t *count, const char *types,
                 const json_t *args);
#define REPLAY_ARGS_MAX 32u
/* A new reference: the value in the fixtures' JSON form. */
json_t *replay_json(const sim_val *val);

#endif
