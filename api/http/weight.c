/* Parts and weights of header lines. */
#include "api/http/weight.h"

#include <strings.h>

static tide_slice trim_blanks(tide_slice text)
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
    return trim_blanks(head);
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
