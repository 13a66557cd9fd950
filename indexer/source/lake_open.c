/* Finds out how a lake names its objects, when the lake is opened. */
#include "indexer/source/lake_impl.h"
#include "tidemark/clock.h"

enum { CONFIG_BYTES = 64 << 10 };

static bool has_config_room(void *self, size_t total)
{
    (void)self;
    return total <= CONFIG_BYTES;
}

/* Returns whether the time is over; *self is its end, 0: none. */
static bool is_over(void *self)
{
    const int64_t *end_ms = self;
    return *end_ms && tide_now_ms() >= *end_ms;
}

/* Fetches .config.json, with as many tries as an object, or within patience_ms. TIDE_E_MISSING if
 * the lake has none. */
static tide_status fetch_config(struct lake *l, struct object_sink *sink, struct tide_err *err)
{
    const struct tide_clock *clock = tide_clock_system();
    uint32_t patience_ms = l->options.patience_ms;
    int64_t end_ms = patience_ms ? tide_now_ms() + patience_ms : 0;
    sink->self = &end_ms;
    for (uint32_t n = 1;; n++) {
        struct object_fault fault = { 0 };
        tide_buf_reset(&sink->bytes);
        tide_status status = l->store.ops->get(l->store.self, TIDE_OBJECT_CLIENTS_MAX - 1,
                                               ".config.json", sink, &fault, err);
        if (status == TIDE_E_MISSING && fault.forbidden)
            err->code = status = TIDE_E_IO; /* perhaps the lake has one */
        if (status == TIDE_E_STOPPED)
            return tide_fail(err, TIDE_E_IO, "%s: no answer within %u ms", l->store.name,
                             patience_ms);
        if (status != TIDE_E_IO || !fault.again || is_over(&end_ms) ||
            n >= l->options.config->http_tries)
            return status;
        for (uint32_t ms = 0; ms < l->options.config->http_retry_ms && !lake_is_stopping(l);
             ms += 50)
            clock->sleep_ms(clock->self, 50);
        if (lake_is_stopping(l))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
}

tide_status lake_find_layout(struct lake *l, struct tide_err *err)
{
    char passphrase[256];
    struct object_sink sink = { .room = has_config_room, .cancelled = is_over };
    tide_buf_init(&sink.bytes, CONFIG_BYTES);
    tide_status status = fetch_config(l, &sink, err);
    if (status == TIDE_OK) {
        status = lake_config_parse(&l->layout, passphrase, tide_buf_view(&sink.bytes), err);
        if (status)
            tide_fail_context(err, "%s/.config.json", l->store.name);
        else if (l->options.passphrase && strcmp(l->options.passphrase, passphrase) != 0)
            status = tide_fail(err, TIDE_E_CHAIN,
                               "%s/.config.json: the lake is of network \"%s\", the deployment of "
                               "\"%s\"",
                               l->store.name, passphrase, l->options.passphrase);
    } else if (status == TIDE_E_MISSING) {
        struct lake_listing listing = { 0 };
        status = l->store.ops->list ? lake_layout_list(&listing, &l->store, err) : TIDE_OK;
        l->layout = listing.layout;
        if (!status && l->layout.batch == 0)
            l->layout = (struct lake_layout){ l->options.config->lake_ledgers_per_batch,
                                              l->options.config->lake_batches_per_partition };
    }
    tide_buf_release(&sink.bytes);
    return status;
}
