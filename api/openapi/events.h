/* The events of the catalogue in the notation of README.md. */
#ifndef API_OPENAPI_EVENTS_H
#define API_OPENAPI_EVENTS_H

#include "api/openapi/texts.h"

/* Calls put for each kind: "liquidity_pool_swap". */
void openapi_each_kind(void (*put)(void *self, const char *kind), void *self);

/* Adds the schemas EventKind, EventFields and Event, and of each kind <Kind>Fields and <Kind>Event.
 * The files must have been read: an event has the fields of the schema EventPlace too. */
void openapi_read_events(struct openapi_texts *texts);

#endif
