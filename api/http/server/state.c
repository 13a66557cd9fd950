/* The table of the transitions between the states of a connection. */
#include "api/http/server/state.h"

#define TO(name) (1u << STATE_##name)

/* The states that each state allows next, as bits. A request can end in each state except
 * STATE_WAIT: the library does not close a suspended connection. */
static const unsigned next_states[STATE_COUNT] = {
    /* The request line restarts the deadline of a new connection. */
    [STATE_HEAD] = TO(HEAD) | TO(BODY) | TO(ANSWER) | TO(IDLE),
    [STATE_BODY] = TO(WAIT) | TO(ENCODE) | TO(ANSWER) | TO(IDLE),
    [STATE_WAIT] = TO(ANSWER),
    [STATE_ENCODE] = TO(WAIT) | TO(ANSWER) | TO(IDLE),
    [STATE_ANSWER] = TO(WRITE) | TO(STREAM) | TO(IDLE),
    [STATE_WRITE] = TO(IDLE),
    /* Each read restarts the deadline. */
    [STATE_STREAM] = TO(STREAM) | TO(IDLE),
    [STATE_IDLE] = TO(HEAD),
};

bool server_state_may(enum server_state from, enum server_state to)
{
    assert(from < STATE_COUNT && to < STATE_COUNT);
    return next_states[from] >> to & 1;
}

void server_state_move(enum server_state *state, enum server_state to)
{
    assert(server_state_may(*state, to));
    *state = to;
}
