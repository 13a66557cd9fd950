/* Limits TLS handshakes. libmicrohttpd looks at each pending one in every turn of the loop, and
 * accepts some ten connections in a turn. So many pending ones delay new connections. */
#include "api/http/server/server_impl.h"

static void list_newest(struct server_handshakes *list, struct server_conn *conn)
{
    conn->handshake.older = list->newest;
    if (list->newest)
        list->newest->handshake.newer = conn;
    else
        list->oldest = conn;
    list->newest = conn;
    list->count++;
}

static void unlist(struct server_handshakes *list, struct server_conn *conn)
{
    struct server_handshake *one = &conn->handshake;
    assert(list->count > 0);
    if (one->newer)
        one->newer->handshake.older = one->older;
    else
        list->newest = one->older;
    if (one->older)
        one->older->handshake.newer = one->newer;
    else
        list->oldest = one->newer;
    list->count--;
    *one = (struct server_handshake){ 0 };
}

bool server_handshake_admitted(struct server_worker *worker, const struct tide_peer *peer)
{
    struct tide_server *server = worker->server;
    struct tide_rate_client who = { .peer = tide_peer_key(peer), .factor = 1 };
    if (!server->tls || tide_peer_is_proxy(&server->proxies, peer))
        return true;
    return tide_conn_limit_handshake_room(server->limit, &who.peer) &&
           !tide_rate_spent(server->rate, &who, TIDE_RATE_HANDSHAKE, worker->now_ms);
}

/* Returns the oldest handshake of the address that has most of them, so that no number of
 * handshakes from a few addresses ends one of another address. */
static struct server_conn *find_victim(const struct server_worker *worker)
{
    struct server_conn *victim = NULL;
    uint32_t most = 0;
    for (struct server_conn *at = worker->handshakes.oldest; at; at = at->handshake.newer) {
        struct tide_peer key = tide_peer_key(&at->peer);
        uint32_t count = tide_conn_limit_handshakes(worker->server->limit, &key);
        if (count > most) {
            most = count;
            victim = at;
        }
    }
    return victim;
}

void server_handshake_begin(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    struct tide_peer key = tide_peer_key(&conn->peer);
    if (!worker->server->tls)
        return;
    tide_conn_limit_begin_handshake(worker->server->limit, &key);
    list_newest(&worker->handshakes, conn);
    conn->handshake.pending = true;
    server_add(&worker->totals.handshakes, 1);
    if (worker->handshakes.count > SERVER_HANDSHAKES)
        server_cut(find_victim(worker));
}

void server_handshake_end(struct server_conn *conn, bool done)
{
    struct server_worker *worker = conn->worker;
    struct tide_rate_client who = { .peer = tide_peer_key(&conn->peer), .factor = 1 };
    if (!conn->handshake.pending)
        return;
    unlist(&worker->handshakes, conn);
    tide_conn_limit_end_handshake(worker->server->limit, &who.peer);
    server_add(&worker->totals.handshakes, -1);
    if (done)
        return;
    server_add(&worker->totals.handshakes_failed, 1);
    (void)tide_rate_take(worker->server->rate, &who, TIDE_RATE_HANDSHAKE, 1, worker->now_ms);
}
