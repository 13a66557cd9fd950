#include "tidemark/json_read.h"
#include "tidemark/sign.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Set if an allocation of this thread failed; checked after the reading. */
static _Thread_local bool memory_failed;
/* True while this thread reads a secret: memory that jansson frees is then overwritten. */
static _Thread_local bool is_private;

static void *noting_malloc(size_t size)
{
    void *p = malloc(size);
    memory_failed |= p == NULL;
    return p;
}

static void wiping_free(void *p)
{
    if (is_private && p)
        tide_sign_wipe(p, malloc_usable_size(p));
    free(p);
}

static void install_allocator(void)
{
    json_set_alloc_funcs(noting_malloc, wiping_free);
}

json_t *tide_json_load(tide_slice text, size_t flags, json_error_t *error)
{
    assert(error);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_allocator);
    memory_failed = false;
    json_t *root = json_loadb((const char *)text.ptr, text.len, flags, error);
    if (!memory_failed)
        return root;
    json_decref(root);
    snprintf(error->text, sizeof error->text, "out of memory");
    return NULL;
}

json_t *tide_json_load_private(tide_slice text, size_t flags, json_error_t *error)
{
    assert(!is_private); /* readings of one thread are not nested */
    is_private = true;
    json_t *root = tide_json_load(text, flags, error);
    is_private = false;
    return root;
}

void tide_json_wipe(json_t *root)
{
    assert(!is_private);
    is_private = true;
    json_decref(root);
    is_private = false;
}
