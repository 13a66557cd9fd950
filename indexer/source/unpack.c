/* Decompression of an object, in the reader's thread or ahead in a thread of its own. */
#include "indexer/source/unpack.h"
#include "tidemark/zstd.h"

#include <pthread.h>
#include <stdlib.h>

/* UNPACK_AHEAD is divided into pieces. A thread that waits for room is woken when half of the
 * pieces are free: a switch between threads costs as much as decompressing many bytes. */
enum { PIECES = 8, PIECE_BYTES = UNPACK_AHEAD / PIECES, PIECES_LOW = PIECES / 2 };
static_assert((int)PIECES * (int)PIECE_BYTES == (int)UNPACK_AHEAD, "pieces fill the memory");
static_assert(PIECES_LOW > 0 && PIECES_LOW < PIECES, "a waiting thread is woken");

struct unpack {
    /* The thread owns zstd and packed while it runs, otherwise the reader owns them. */
    struct tide_unzstd *zstd;
    tide_slice packed;
    bool started;
    pthread_t thread;
    uint8_t *bytes; /* PIECES of PIECE_BYTES */
    size_t used;    /* bytes of the first piece that the reader has taken */
    bool ahead;     /* the thread decompresses this object */

    pthread_mutex_t lock;        /* protects everything below */
    pthread_cond_t wanted;       /* the thread may have work */
    pthread_cond_t changed;      /* the reader may go on */
    bool closing, running, busy; /* busy: the thread works outside the lock */
    bool full;                   /* the thread waits until PIECES_LOW are left */
    uint32_t first, count;       /* filled pieces */
    size_t len[PIECES];
    bool spent; /* no piece follows the filled ones */
    tide_status status;
    const char *what;
};

/* ---- the thread ---- */

/* Decompresses the next piece. Call with the lock, which is released meanwhile. */
static void fill_piece(struct unpack *u)
{
    assert(u->count < PIECES && !u->busy);
    uint32_t at = (u->first + u->count) % PIECES;
    size_t made = 0;
    const char *what = NULL;
    u->busy = true;
    pthread_mutex_unlock(&u->lock);
    tide_status status = tide_unzstd_read(u->zstd, &u->packed, u->bytes + (size_t)at * PIECE_BYTES,
                                          PIECE_BYTES, &made, &what);
    pthread_mutex_lock(&u->lock);
    u->busy = false;
    assert(made <= PIECE_BYTES);
    u->len[at] = made;
    u->count += made > 0;
    u->status = status;
    u->what = what;
    u->spent = status != TIDE_OK || made < PIECE_BYTES;
    u->full = u->count == PIECES;
    pthread_mutex_unlock(&u->lock);
    /* Signalled without the lock, so that the reader gets it at once. */
    pthread_cond_signal(&u->changed);
    pthread_mutex_lock(&u->lock);
}

static void *run_worker(void *self)
{
    struct unpack *u = self;
    pthread_mutex_lock(&u->lock);
    while (!u->closing) {
        if (u->running && !u->spent && !u->full)
            fill_piece(u);
        else
            pthread_cond_wait(&u->wanted, &u->lock);
    }
    pthread_mutex_unlock(&u->lock);
    return NULL;
}

/* Starts the thread at first use. Returns false if there is no memory or no thread. */
static bool start_thread(struct unpack *u)
{
    if (!u->bytes)
        u->bytes = malloc(UNPACK_AHEAD);
    if (u->bytes && !u->started)
        u->started = pthread_create(&u->thread, NULL, run_worker, u) == 0;
    return u->started;
}

/* ---- its reader ---- */

void unpack_begin(struct unpack *u, tide_slice packed, bool ahead)
{
    unpack_end(u);
    tide_unzstd_reset(u->zstd);
    u->packed = packed;
    u->ahead = ahead && start_thread(u);
    pthread_mutex_lock(&u->lock);
    u->spent = false;
    u->status = TIDE_OK;
    u->running = u->ahead;
    pthread_mutex_unlock(&u->lock);
    pthread_cond_signal(&u->wanted);
}

/* Waits for the thread, which may be reading the object's bytes. */
void unpack_end(struct unpack *u)
{
    pthread_mutex_lock(&u->lock);
    u->running = false;
    while (u->busy)
        pthread_cond_wait(&u->changed, &u->lock);
    u->count = 0;
    u->full = false;
    u->spent = true;
    pthread_mutex_unlock(&u->lock);
    u->used = 0;
}

static tide_status read_here(struct unpack *u, uint8_t *out, size_t size, size_t *made,
                             const char **what)
{
    if (u->status == TIDE_OK)
        u->status = tide_unzstd_read(u->zstd, &u->packed, out, size, made, &u->what);
    *what = u->what;
    return u->status;
}

/* Waits for a filled piece. Returns false if none follows. */
static bool wait_piece(struct unpack *u)
{
    pthread_mutex_lock(&u->lock);
    while (u->count == 0 && !u->spent)
        pthread_cond_wait(&u->changed, &u->lock);
    bool any = u->count > 0;
    pthread_mutex_unlock(&u->lock);
    return any;
}

static void drop_piece(struct unpack *u)
{
    assert(u->used == u->len[u->first]);
    u->used = 0;
    pthread_mutex_lock(&u->lock);
    assert(u->count > 0);
    u->first = (u->first + 1) % PIECES;
    u->count--;
    bool low = u->full && u->count <= PIECES_LOW;
    if (low)
        u->full = false;
    pthread_mutex_unlock(&u->lock);
    if (low)
        pthread_cond_signal(&u->wanted);
}

size_t unpack_ready(struct unpack *u)
{
    size_t bytes = 0;
    if (!u->ahead)
        return 0;
    pthread_mutex_lock(&u->lock);
    for (uint32_t i = 0; i < u->count; i++)
        bytes += u->len[(u->first + i) % PIECES];
    pthread_mutex_unlock(&u->lock);
    assert(u->used <= bytes);
    return bytes - u->used;
}

tide_status unpack_read(struct unpack *u, uint8_t *out, size_t size, size_t *made,
                        const char **what)
{
    *made = 0;
    if (!u->ahead)
        return read_here(u, out, size, made, what);
    while (*made < size && wait_piece(u)) {
        assert(u->used < u->len[u->first]); /* drop_piece removed a piece that was used up */
        size_t left = u->len[u->first] - u->used;
        size_t n = left < size - *made ? left : size - *made;
        memcpy(out + *made, u->bytes + (size_t)u->first * PIECE_BYTES + u->used, n);
        *made += n;
        u->used += n;
        if (n == left)
            drop_piece(u);
    }
    if (*made == size)
        return TIDE_OK;
    *what = u->what; /* the thread is done with the object and no longer writes these */
    return u->status;
}

bool unpack_exhausted(struct unpack *u)
{
    bool read = !u->ahead || !wait_piece(u);
    return read && u->status == TIDE_OK && u->packed.len == 0 && tide_unzstd_complete(u->zstd);
}

/* ---- life ---- */

tide_status unpack_open(struct unpack **out)
{
    struct unpack *u = calloc(1, sizeof *u);
    if (!u)
        return TIDE_E_MEMORY;
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->wanted, NULL);
    pthread_cond_init(&u->changed, NULL);
    tide_status status = tide_unzstd_open(&u->zstd);
    if (status != TIDE_OK) {
        unpack_close(u);
        return status;
    }
    *out = u;
    return TIDE_OK;
}

void unpack_close(struct unpack *u)
{
    if (!u)
        return;
    pthread_mutex_lock(&u->lock);
    u->closing = true;
    pthread_mutex_unlock(&u->lock);
    pthread_cond_signal(&u->wanted);
    if (u->started)
        pthread_join(u->thread, NULL);
    pthread_cond_destroy(&u->changed);
    pthread_cond_destroy(&u->wanted);
    pthread_mutex_destroy(&u->lock);
    tide_unzstd_close(u->zstd);
    free(u->bytes);
    free(u);
}
