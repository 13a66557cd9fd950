/* Where objects of a lake lie: a folder or a web server. One attempt per call; the caller decides
 * about retries. Calls with different lanes may run at the same time. */
#ifndef INDEXER_SOURCE_OBJECT_STORE_H
#define INDEXER_SOURCE_OBJECT_STORE_H

#include "indexer/source/source.h"
#include "tidemark/buf.h"
#include "tidemark/config.h"
#include "tidemark/status.h"

#define TIDE_OBJECT_KEY_MAX 128u
#define TIDE_LANES_MAX      65u /* one per worker and one for the source itself */

/* Where the bytes of one object go. */
struct object_sink {
    struct tide_buf bytes;
    /* Asked before bytes grows to total; false stops the transfer. */
    bool (*room)(void *self, size_t total);
    /* Asked now and then; true stops the transfer. */
    bool (*cancelled)(void *self);
    void *self;
};

/* Why an attempt failed, for the caller's retry. */
struct object_fault {
    bool again;        /* the same request may succeed later */
    bool no_room;      /* room said no */
    uint32_t after_ms; /* the server asked to wait; 0: did not */
};

/* Told of each name in a folder; false ends the listing. */
typedef bool (*object_name)(void *self, const char *name);

struct object_store_ops {
    /* The whole object. TIDE_E_MISSING, TIDE_E_IO, TIDE_E_LIMIT (too large), TIDE_E_MEMORY. */
    tide_status (*get)(void *self, uint32_t lane, const char *key, struct object_sink *sink,
                       struct object_fault *fault, struct tide_err *err);
    /* TIDE_OK, TIDE_E_MISSING, TIDE_E_IO, TIDE_E_STOPPED. From the source's thread alone. */
    tide_status (*exists)(void *self, uint32_t lane, const char *key, struct object_fault *fault,
                          struct tide_err *err);
    /* Names in folder ("" is the root), in no order. NULL where a store cannot list. */
    tide_status (*list)(void *self, const char *folder, object_name each, void *each_self,
                        struct tide_err *err);
    void (*close)(void *self);
};

struct object_store {
    const struct object_store_ops *ops;
    void *self;
    const char *name; /* for messages: the folder or URL, without a slash at the end */
};

tide_status object_folder_open(struct object_store *out, const char *path, size_t object_max,
                               struct tide_err *err) TIDE_MUST_USE;
/* options: borrowed. stopping() ends exists() too. */
tide_status object_http_open(struct object_store *out, const char *url,
                             const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;

/* Appends to the sink: TIDE_OK, TIDE_E_LIMIT past max, TIDE_E_MEMORY, or TIDE_E_IO with
 * fault->no_room. */
tide_status object_sink_put(struct object_sink *sink, const void *bytes, size_t len, size_t max,
                            struct object_fault *fault);

#endif
