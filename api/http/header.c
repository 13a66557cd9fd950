/* Parts and weights of header lines; Accept. */
#include "api/http/header.h"

#include <strings.h>

tide_slice tide_header_trim(tide_slice text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = tide_slice_of(text.ptr + 1, text.len - 1);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

tide_slice tide_header_cut(tide_slice *text, char separator)
{
    const uint8_t *at = text->len ? memchr(text->ptr, separator, text->len) : NULL;
    size_t len = at ? (size_t)(at - text->ptr) : text->len;
    tide_slice head = tide_slice_of(text->ptr, len);
    *text = at ? tide_slice_of(at + 1, text->len - len - 1) : tide_slice_of(text->ptr + len, 0);
    return tide_header_trim(head);
}

bool tide_header_is(tide_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp((const char *)text.ptr, word, text.len) == 0;
}

/* Accepts at most three digits after the point, as RFC 9110 demands. No floating point, so that
 * equal weights compare equal. */
int tide_header_weight(tide_slice text)
{
    static const int unit[] = { 100, 10, 1 };
    if (text.len == 0 || text.len > 5 || (text.ptr[0] != '0' && text.ptr[0] != '1') ||
        (text.len > 1 && text.ptr[1] != '.'))
        return TIDE_WEIGHT_WRONG;
    int weight = (text.ptr[0] - '0') * TIDE_WEIGHT_MAX;
    for (size_t i = 2; i < text.len; i++) {
        assert(i - 2 < TIDE_COUNT(unit));
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return TIDE_WEIGHT_WRONG;
        weight += (text.ptr[i] - '0') * unit[i - 2];
    }
    return weight <= TIDE_WEIGHT_MAX ? weight : TIDE_WEIGHT_WRONG;
}

/* --- Accept ------------------------------------------------------------------------------ */

/* Reads one media range. A malformed weight makes the range count as absent. */
static void read_range(struct tide_accept *accept, tide_slice item, const char *second)
{
    tide_slice type = tide_header_cut(&item, ';');
    int weight = TIDE_WEIGHT_MAX;
    while (item.len) {
        tide_slice parameter = tide_header_cut(&item, ';');
        if (parameter.len > 2 && (parameter.ptr[0] | 0x20) == 'q' && parameter.ptr[1] == '=')
            weight = tide_header_weight(tide_slice_of(parameter.ptr + 2, parameter.len - 2));
    }
    if (weight == TIDE_WEIGHT_WRONG)
        return;
    if (tide_header_is(type, second))
        accept->second = weight;
    else if (tide_header_is(type, "application/json"))
        accept->json = weight;
    else if (tide_header_is(type, "application/*"))
        accept->group = weight;
    else if (tide_header_is(type, "*/*"))
        accept->any = weight;
}

void tide_accept_read(struct tide_accept *accept, tide_slice value, const char *second)
{
    while (value.len)
        read_range(accept, tide_header_cut(&value, ','), second);
}

/* Returns JSON's weight: the most specific range decides. */
static int weight_of_json(const struct tide_accept *accept)
{
    if (accept->json >= 0)
        return accept->json;
    if (accept->group >= 0)
        return accept->group;
    return accept->any >= 0 ? accept->any : 0;
}

enum tide_form tide_accept_form(const struct tide_accept *accept)
{
    int json = weight_of_json(accept);
    assert(json <= TIDE_WEIGHT_MAX && accept->second <= TIDE_WEIGHT_MAX);
    if (accept->second <= 0 || accept->second < json)
        return TIDE_FORM_PLAIN;
    return json > 0 ? TIDE_FORM_EITHER : TIDE_FORM_SECOND;
}
