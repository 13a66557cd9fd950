/* The encoder: one thread that compresses large answers of look-ups, so that workers do not. It
 * never delays an answer for long: with ENCODER_BYTES in its queue it accepts no more, and
 * further answers go uncompressed. */
#include "api/http/server/server_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/lock.h"

#include <time.h>

enum {
    ENCODER_BYTES = 2 << 20, /* bytes of bodies in the queue: about 10 ms of work */
    ENCODER_WAKE_S = 5       /* seconds between two liveness marks while the queue is empty */
};

/* Waits for the next connection and removes it from the queue. Returns NULL when stopping and
 * the queue is empty. Needs the mutex. */
static struct server_conn *wait_for_conn(struct server_encoder *encoder)
{
    while (!encoder->first && !encoder->stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += ENCODER_WAKE_S;
        pthread_cond_timedwait(&encoder->wanted, &encoder->mutex, &until);
        tide_liveness_mark();
    }
    struct server_conn *conn = encoder->first;
    if (!conn)
        return NULL;
    encoder->first = conn->encode.next;
    if (!encoder->first)
        encoder->last = NULL;
    return conn;
}

/* Compresses until stopped. After tide_server_wake the connection belongs to its worker again. */
static void *encode_all(void *self)
{
    struct server_encoder *encoder = self;
    struct server_conn *conn;
    tide_liveness_begin("encoder", SERVER_HUNG_MS);
    pthread_mutex_lock(&encoder->mutex);
    while ((conn = wait_for_conn(encoder))) {
        size_t bytes = conn->reply.body.len;
        pthread_mutex_unlock(&encoder->mutex);
        tide_liveness_mark();
        server_compress(conn);
        tide_server_wake(&conn->wake);
        pthread_mutex_lock(&encoder->mutex);
        encoder->bytes -= bytes;
    }
    pthread_mutex_unlock(&encoder->mutex);
    tide_liveness_end();
    return NULL;
}

void server_encoder_submit(struct server_conn *conn)
{
    struct server_encoder *encoder = &conn->worker->server->encoder;
    size_t bytes = conn->reply.body.len;
    tide_lock_counted(&encoder->mutex, &conn->worker->waits);
    bool room = encoder->bytes + bytes <= ENCODER_BYTES;
    if (room) {
        conn->encode.next = NULL;
        *(encoder->last ? &encoder->last->encode.next : &encoder->first) = conn;
        encoder->last = conn;
        encoder->bytes += bytes;
        pthread_cond_signal(&encoder->wanted);
    }
    pthread_mutex_unlock(&encoder->mutex);
    if (room)
        server_add(&conn->worker->totals.waiting, 1);
    else
        conn->variant.encoding = TIDE_ENCODING_NONE;
    server_set_state(conn, room ? STATE_WAIT : STATE_ANSWER);
}

/* Waits use the monotonic clock: a wait that a change of the wall clock prolonged would look
 * like a hang. */
void server_encoder_init(struct server_encoder *encoder)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&encoder->mutex, NULL);
    pthread_cond_init(&encoder->wanted, &attr);
    pthread_condattr_destroy(&attr);
}

tide_status server_encoder_start(struct tide_server *server, struct tide_err *err)
{
    struct server_encoder *encoder = &server->encoder;
    int failed = pthread_create(&encoder->thread, NULL, encode_all, encoder);
    encoder->started = !failed;
    return failed ? tide_fail(err, TIDE_E_MEMORY, "cannot start a thread: %s", strerror(failed))
                  : TIDE_OK;
}

void server_encoder_stop(struct tide_server *server)
{
    struct server_encoder *encoder = &server->encoder;
    if (!encoder->started)
        return;
    pthread_mutex_lock(&encoder->mutex);
    encoder->stopping = true;
    pthread_cond_signal(&encoder->wanted);
    pthread_mutex_unlock(&encoder->mutex);
    pthread_join(encoder->thread, NULL);
    encoder->started = false;
}
