/* A store of a lake's objects: a folder or a web server. Each call is one attempt; the caller
 * retries. Calls with different client numbers may run at the same time. */
#ifndef INDEXER_SOURCE_OBJECT_STORE_H
#define INDEXER_SOURCE_OBJECT_STORE_H

#include "indexer/source/source.h"
#include "tidemark/buf.h"
#include "tidemark/config.h"
#include "tidemark/status.h"

#define TIDE_OBJECT_KEY_MAX 128u
/* HTTP clients: one for each worker and one for the source itself. */
#define TIDE_OBJECT_CLIENTS_MAX 65u
#define TIDE_OBJECT_RETRY_MS    250u /* first pause between attempts; doubles, with jitter */

/* The destination of one object's bytes, with callbacks of the caller. */
struct object_sink {
    struct tide_buf bytes;
    /* Called before bytes grows to total. false stops the transfer. */
    bool (*room)(void *self, size_t total);
    /* Called now and then. true stops the transfer. */
    bool (*cancelled)(void *self);
    void *self;
};

/* The reason why an attempt failed, for the caller's retry. */
struct object_fault {
    bool again;        /* the same request may succeed later */
    bool no_room;      /* `room` returned false */
    bool forbidden;    /* with TIDE_E_MISSING: the server answered 403, and may have the object */
    uint32_t after_ms; /* pause that the server asked for; 0: none */
};

/* Called with each name of a folder. false ends the listing. */
typedef bool (*object_name)(void *self, const char *name);

struct object_store_ops {
    /* Reads the whole object. TIDE_E_MISSING (also 403: a bucket that may not be listed answers so
     * for an object that is not there), TIDE_E_IO, TIDE_E_LIMIT (too large), TIDE_E_MEMORY. */
    tide_status (*get)(void *self, uint32_t client, const char *key, struct object_sink *sink,
                       struct object_fault *fault, struct tide_err *err);
    /* Returns TIDE_OK, TIDE_E_MISSING, TIDE_E_IO or TIDE_E_STOPPED. Only the source's thread calls
     * it. */
    tide_status (*exists)(void *self, uint32_t client, const char *key, struct object_fault *fault,
                          struct tide_err *err);
    /* Lists the names in folder ("" is the root), in no order. NULL if the store cannot be
     * listed. */
    tide_status (*list)(void *self, const char *folder, object_name each, void *each_self,
                        struct tide_err *err);
    void (*close)(void *self);
};

struct object_store {
    const struct object_store_ops *ops;
    void *self;
    const char *name; /* for messages: the folder or URL without a slash at its end */
};

tide_status object_folder_open(struct object_store *out, const char *path, size_t object_max,
                               struct tide_err *err) TIDE_MUST_USE;
/* options are borrowed. options->stopping ends exists(), too. */
tide_status object_http_open(struct object_store *out, const char *url,
                             const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
