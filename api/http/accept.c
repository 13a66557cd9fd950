/* Accept: media ranges with weights. */
#include "api/http/accept.h"
#include "api/http/weight.h"

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
