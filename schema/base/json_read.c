#include "json_read.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Set by this thread's allocations, looked at when its reading is done. */
static _Thread_local bool memory_failed;

static void *noting_malloc(size_t size)
{
    void *p = malloc(size);
    memory_failed |= p == NULL;
    return p;
}

static void install(void)
{
    json_set_alloc_funcs(noting_malloc, free);
}

json_t *tide_json_load(tide_slice text, size_t flags, json_error_t *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    memory_failed = false;
    json_t *root = json_loadb((const char *)text.ptr, text.len, flags, error);
    if (!memory_failed)
        return root;
    json_decref(root);
    snprintf(error->text, sizeof error->text, "out of memory");
    return NULL;
}
