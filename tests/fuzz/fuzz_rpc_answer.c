/* Any bytes as the answer of an RPC server. The first byte chooses the expected
 * answer. The target checks an accepted answer against itself. The body lies in memory of exactly
 * its size. */
#include "schema/rpc/answer.h"
#include "schema/rpc/json_scan.h"
#include "tests/fuzz/fuzz.h"

static tide_status look_at(void *self, const struct tide_rpc_event *event, struct tide_err *err)
{
    (void)err;
    assert(event->id.len && event->topic_count <= TIDE_RPC_TOPICS_MAX);
    ++*(uint32_t *)self;
    return TIDE_OK;
}

static struct tide_rpc_error error;

static void try_page(uint8_t *body, size_t len, struct tide_err *err)
{
    static struct tide_rpc_page page;
    if (tide_rpc_answer_read(&tide_rpc_ledgers_question, &error, &page, body, len, 7, err) !=
        TIDE_OK)
        return;
    assert(page.count <= TIDE_RPC_PAGE_MAX);
    for (uint32_t i = 0; i < page.count; i++) {
        const struct tide_rpc_ledger *l = &page.ledgers[i];
        assert(i == 0 || l->sequence > page.ledgers[i - 1].sequence);
        assert(l->lcm.ptr >= body && l->lcm.ptr + l->lcm.len <= body + len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tide_err err = { 0 };
    if (size == 0)
        return 0;
    size_t len = size - 1;
    uint8_t *body = malloc(len + !len);
    if (!body)
        return 0;
    if (len)
        memcpy(body, data + 1, len);
    struct tide_rpc_network network;
    struct tide_rpc_latest latest;
    uint32_t count = 0;
    struct tide_rpc_events events = { .each = look_at, .self = &count };
    tide_status status = TIDE_OK;
    switch (data[0] % 5) {
    case 0:
        try_page(body, len, &err);
        break;
    case 1:
        status = tide_rpc_answer_read(&tide_rpc_get_network, &error, &network, body, len, 7, &err);
        assert(strlen(network.passphrase) < sizeof network.passphrase);
        break;
    case 2:
        status = tide_rpc_answer_read(&tide_rpc_latest_ledger, &error, &latest, body, len, 7, &err);
        break;
    case 3:
        status =
            tide_rpc_answer_read(&tide_rpc_events_question, &error, &events, body, len, 7, &err);
        assert(status || count == events.count);
        break;
    default: {
        struct json_scan s = json_scan_of(body, len);
        json_scan_skip(&s);
        json_scan_end(&s);
        assert(s.fault || s.depth == 0);
    }
    }
    assert(status == TIDE_OK || *err.text);
    free(body);
    return 0;
}
