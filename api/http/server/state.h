/* The states of a connection, and the transitions between them that are allowed. README.md of
 * this folder draws them. Pure. */
#ifndef API_HTTP_SERVER_STATE_H
#define API_HTTP_SERVER_STATE_H

#include "tidemark/base.h"

/* Each state has its deadline (server_set_state). */
enum server_state {
    STATE_HEAD,   /* waiting for, or receiving, a request's head */
    STATE_BODY,   /* receiving the body */
    STATE_WAIT,   /* suspended: an executor or the encoder works on the request */
    STATE_ENCODE, /* the reply is complete; the encoder shall compress it */
    STATE_ANSWER, /* the reply is complete and not yet queued in the library */
    STATE_WRITE,  /* sending the answer */
    STATE_STREAM, /* sending a stream */
    STATE_IDLE,   /* between requests */
    STATE_COUNT
};

/* Returns whether a connection in state `from` may enter the state `to`. */
bool server_state_may(enum server_state from, enum server_state to);
/* Sets *state. Ends the process if the transition is not allowed. */
void server_state_move(enum server_state *state, enum server_state to);

#endif
