/* The interface through which rows change records: in the hot cache within its writer's
 * transaction, or in a record set in memory. */
#ifndef TIDEMARK_HOT_SINK_H
#define TIDEMARK_HOT_SINK_H

#include "tidemark/hot_record.h"
#include "tidemark/status.h"

struct tide_hot_sink {
    void *self;
    /* Copies the record of that key to out (tide_hot_record_size bytes). If there is none, out is
     * zeroed and *found is false. */
    tide_status (*get)(void *self, const struct tide_hot_key *key, void *out, bool *found,
                       struct tide_err *err);
    tide_status (*put)(void *self, const struct tide_hot_key *key, const void *record,
                       struct tide_err *err);
    /* Deletes the record of that key, if there is one. */
    tide_status (*drop)(void *self, const struct tide_hot_key *key, struct tide_err *err);
};

#endif
