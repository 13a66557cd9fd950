/* Where records are changed: the hot cache within its writer's transaction, or a few records in
 * memory. Code that applies rows to records writes through this. */
#ifndef TIDEMARK_HOT_SINK_H
#define TIDEMARK_HOT_SINK_H

#include "tidemark/hot_record.h"
#include "tidemark/status.h"

struct tide_hot_sink {
    void *self;
    /* The record of that key into out (tide_hot_record_size of its kind); zeros and *found false
     * when there is none. */
    tide_status (*get)(void *self, const struct tide_hot_key *key, void *out, bool *found,
                       struct tide_err *err);
    tide_status (*put)(void *self, const struct tide_hot_key *key, const void *record,
                       struct tide_err *err);
    /* No record of that key is fine. */
    tide_status (*drop)(void *self, const struct tide_hot_key *key, struct tide_err *err);
};

#endif
