#include "indexer/commands/command.h"
#include "indexer/follow/queue.h"
#include "tidemark/notify.h"
#include "tidemark/pg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what may help after a failure ---- */

/* clang-format off */
static const struct {
    const char *state;
    enum tide_pg_remedy want;
    const char *why;
} remedies[] = {
    { "40001", TIDE_PG_AGAIN,     "serialization failure"                },
    { "40P01", TIDE_PG_AGAIN,     "deadlock"                             },
    { "54000", TIDE_PG_AGAIN,     "queue of notifications full"          },
    { "55P03", TIDE_PG_AGAIN,     "lock time-out"                        },
    { "57014", TIDE_PG_AGAIN,     "statement time-out"                   },
    { "53100", TIDE_PG_AGAIN,     "disk full: room may be made"          },
    { "53300", TIDE_PG_RECONNECT, "too many connections"                 },
    { "57P01", TIDE_PG_RECONNECT, "administrator's shutdown"             },
    { "57P03", TIDE_PG_RECONNECT, "starting up"                          },
    { "57P05", TIDE_PG_RECONNECT, "idle session: we were stopped"        },
    { "25P03", TIDE_PG_RECONNECT, "idle in transaction: we were stopped" },
    { "08006", TIDE_PG_RECONNECT, "connection failure"                   },
    { "25006", TIDE_PG_RECONNECT, "read-only: a standby"                 },
    { "",      TIDE_PG_RECONNECT, "no answer at all"                     },
    { "23505", TIDE_PG_NONE,      "duplicate key: a bug or a person"     },
    { "42501", TIDE_PG_NONE,      "no permission"                        },
    { "42P01", TIDE_PG_NONE,      "no such table"                        },
    { "XX001", TIDE_PG_NONE,      "corruption"                           },
};
/* clang-format on */

static void each_sqlstate_has_its_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(remedies); i++)
        if (tide_pg_remedy_of(remedies[i].state) != remedies[i].want)
            fail_msg("%s: %s", remedies[i].state, remedies[i].why);
}

static void literals_are_quoted_or_refused(void **state)
{
    char out[8];
    (void)state;
    assert_true(tide_pg_quote_literal(out, sizeof out, "a'b"));
    assert_string_equal(out, "'a''b'");
    assert_false(tide_pg_quote_literal(out, sizeof out, "abcdefgh"));
}

/* ---- commands ---- */

static void every_command_is_declared_well(void **state)
{
    const struct tide_cli *cli = tide_indexer_cli();
    (void)state;
    for (size_t i = 0; i < cli->count; i++) {
        if (cli->rows[i].kind != TIDE_CLI_COMMAND)
            continue;
        assert_non_null(tide_command_function(cli->rows[i].name));
        assert_ptr_equal(tide_cli_command(cli, cli->rows[i].name), &cli->rows[i]);
    }
    assert_null(tide_command_function("nothing"));
}

/* ---- queue ---- */

static void a_queue_keeps_order_and_ends(void **state)
{
    struct tide_queue queue;
    int items[3];
    (void)state;
    tide_queue_init(&queue);
    assert_null(tide_queue_take(&queue, 1));
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++)
            assert_true(tide_queue_put(&queue, &items[i]));
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(tide_queue_take(&queue, -1), &items[i]);
    }
    assert_true(tide_queue_put(&queue, &items[0]));
    tide_queue_close(&queue);
    assert_false(tide_queue_put(&queue, &items[1]));
    assert_ptr_equal(tide_queue_take(&queue, -1), &items[0]);
    assert_null(tide_queue_take(&queue, -1));
    tide_queue_release(&queue);
}

static void *take_one(void *self)
{
    return tide_queue_take(self, -1);
}

static void a_waiting_taker_is_woken(void **state)
{
    struct tide_queue queue;
    pthread_t thread;
    void *got = NULL;
    int item;
    (void)state;
    tide_queue_init(&queue);
    assert_int_equal(pthread_create(&thread, NULL, take_one, &queue), 0);
    tide_queue_put(&queue, &item);
    pthread_join(thread, &got);
    assert_ptr_equal(got, &item);
    assert_int_equal(pthread_create(&thread, NULL, take_one, &queue), 0);
    tide_queue_close(&queue);
    pthread_join(thread, &got);
    assert_null(got);
    tide_queue_release(&queue);
}

/* ---- systemd ---- */

static void the_supervisor_is_notified(void **state)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    char name[64], text[32] = "";
    (void)state;
    int len = snprintf(name, sizeof name, "@tidemark-test-%ld", (long)getpid());
    memcpy(at.sun_path, name, (size_t)len);
    at.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    tide_notify(name, "READY=1");
    assert_int_equal(recv(fd, text, sizeof text - 1, MSG_DONTWAIT), 7);
    assert_string_equal(text, "READY=1");
    close(fd);
    tide_notify(name, "READY=1"); /* no process listens */
    tide_notify(NULL, "READY=1");
    tide_notify("relative", "READY=1");
}

int test_daemon(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sqlstate_has_its_remedy),
        cmocka_unit_test(literals_are_quoted_or_refused),
        cmocka_unit_test(every_command_is_declared_well),
        cmocka_unit_test(a_queue_keeps_order_and_ends),
        cmocka_unit_test(a_waiting_taker_is_woken),
        cmocka_unit_test(the_supervisor_is_notified),
    };
    return cmocka_run_group_tests_name("daemon", tests, NULL, NULL);
}
