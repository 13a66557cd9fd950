/* Positions: their order, and their text in both directions. Only the text that
 * stream_position_text writes is accepted, so that equal positions have equal ids. */
#include "api/stream/position.h"
#include "tidemark/text.h"

#include <stdio.h>

static_assert(STREAM_EVENT == 0 && STREAM_PRICE == 1 && STREAM_COMPLIANCE == 2 &&
                  STREAM_WHOLE == 3 && STREAM_TIME == 4,
              "clients keep positions over releases");
static_assert(STREAM_POSITION_TEXT > 5 + 1 + 10 + 3 + TIDE_HOT_ADDRESS_TEXT + 1 + 20, "all fit");

static int cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int cmp_event(const struct stream_position *a, const struct stream_position *b)
{
    int by = cmp_u64(a->tx, b->tx);
    by = by ? by : cmp_u64(a->op, b->op);
    return by ? by : cmp_u64(a->event, b->event);
}

/* The order decides what a resumed subscriber gets, so it must not change between releases. */
int stream_position_cmp(const struct stream_position *a, const struct stream_position *b)
{
    int by = cmp_u64(a->ledger, b->ledger);
    by = by ? by : cmp_u64(a->class, b->class);
    if (by)
        return by;
    switch (a->class) {
    case STREAM_EVENT:
        return cmp_event(a, b);
    case STREAM_PRICE:
        return memcmp(&a->asset, &b->asset, sizeof a->asset);
    case STREAM_TIME:
        by = cmp_u64(a->time, b->time);
        return by ? by : memcmp(&a->address, &b->address, sizeof a->address);
    case STREAM_COMPLIANCE:
        return memcmp(&a->address, &b->address, sizeof a->address);
    case STREAM_WHOLE:
        break;
    }
    return 0;
}

/* --- text -------------------------------------------------------------------------------- */

/* Writes the part after the ledger; nothing for a complete ledger. */
static int write_suffix(char *out, size_t size, const struct stream_position *position)
{
    char who[TIDE_HOT_ADDRESS_TEXT];
    tide_slice asset = tide_hot_symbol_slice(&position->asset);
    switch (position->class) {
    case STREAM_EVENT:
        return snprintf(out, size, ":e:%u-%u-%u", position->tx, position->op, position->event);
    case STREAM_PRICE:
        return snprintf(out, size, ":p:%.*s", TIDE_SLICE_FMT(asset));
    case STREAM_COMPLIANCE:
    case STREAM_TIME:
        tide_hot_address_text(who, &position->address);
        return snprintf(out, size, ":%c:%s", position->class == STREAM_TIME ? 't' : 'c', who);
    case STREAM_WHOLE:
        break;
    }
    return 0;
}

size_t stream_position_text(char out[STREAM_POSITION_TEXT], uint16_t deployment,
                            const struct stream_position *position)
{
    int len = snprintf(out, STREAM_POSITION_TEXT, "%u:%u", deployment, position->ledger);
    len += write_suffix(out + len, STREAM_POSITION_TEXT - (size_t)len, position);
    if (position->time)
        len += snprintf(out + len, STREAM_POSITION_TEXT - (size_t)len, "@%llu",
                        (unsigned long long)position->time);
    assert(len > 0 && (size_t)len < STREAM_POSITION_TEXT);
    return (size_t)len;
}

/* Returns the part of *text before the first c, and leaves in *text what follows it. Without c,
 * returns all of it. */
static tide_slice split_at(tide_slice *text, char c)
{
    const uint8_t *at = text->len ? memchr(text->ptr, c, text->len) : NULL;
    tide_slice head = *text;
    if (at)
        head.len = (size_t)(at - text->ptr);
    size_t used = at ? head.len + 1 : head.len;
    *text = tide_slice_of(text->ptr + used, text->len - used);
    return head;
}

/* Reads a number of at most max without leading zeros. */
static bool read_number(uint64_t *out, tide_slice text, uint64_t max)
{
    bool padded = text.len > 1 && text.ptr[0] == '0';
    return !padded && tide_parse_u64(out, text, max) == TIDE_OK;
}

/* Parses "TX-OP-EVENT". The limits are those of PostgreSQL's integer. */
static bool parse_event(struct stream_position *position, tide_slice text)
{
    uint64_t tx, op, event;
    tide_slice a = split_at(&text, '-'), b = split_at(&text, '-');
    if (!read_number(&tx, a, INT32_MAX) || !read_number(&op, b, INT32_MAX) ||
        !read_number(&event, text, INT32_MAX))
        return false;
    position->class = STREAM_EVENT;
    position->tx = (uint32_t)tx;
    position->op = (uint32_t)op;
    position->event = (uint32_t)event;
    return true;
}

static bool parse_asset(struct stream_position *position, tide_slice text)
{
    position->class = STREAM_PRICE;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
              (c >= 'a' && c <= 'z')))
            return false;
    }
    return text.len > 0 && tide_hot_symbol_of(&position->asset, text);
}

/* Parses the part after the ledger, such as "e:4-0-2". */
static bool parse_suffix(struct stream_position *position, tide_slice text)
{
    if (text.len < 3 || text.ptr[1] != ':')
        return false;
    tide_slice value = tide_slice_of(text.ptr + 2, text.len - 2);
    switch (text.ptr[0]) {
    case 'e':
        return parse_event(position, value);
    case 'p':
        return parse_asset(position, value);
    case 'c':
    case 't':
        position->class = text.ptr[0] == 'c' ? STREAM_COMPLIANCE : STREAM_TIME;
        return tide_hot_address_parse(&position->address, value);
    default:
        return false;
    }
}

tide_status stream_position_parse(struct stream_position *out, uint16_t *deployment,
                                  tide_slice text)
{
    uint64_t id, ledger;
    bool timed = text.len && memchr(text.ptr, '@', text.len);
    tide_slice rest = split_at(&text, '@');
    *out = (struct stream_position){ .class = STREAM_WHOLE };
    if (timed && (!read_number(&out->time, text, INT64_MAX) || out->time == 0))
        return TIDE_E_DECODE;
    tide_slice first = split_at(&rest, ':');
    bool more = rest.len && memchr(rest.ptr, ':', rest.len);
    tide_slice second = split_at(&rest, ':');
    if (!read_number(&id, first, INT16_MAX) || id == 0 || !read_number(&ledger, second, INT32_MAX))
        return TIDE_E_DECODE;
    *deployment = (uint16_t)id;
    out->ledger = (uint32_t)ledger;
    if (more && !parse_suffix(out, rest))
        return TIDE_E_DECODE;
    if (out->class < STREAM_WHOLE && out->ledger == 0) /* a part of no ledger: none is before it */
        return TIDE_E_DECODE;
    return out->class == STREAM_TIME && !timed ? TIDE_E_DECODE : TIDE_OK;
}
