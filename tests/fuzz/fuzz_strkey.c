/* A text as a strkey: encoding an accepted address gives the same text. */
#include "tests/fuzz/promise.h"

#include "tidemark/strkey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    char text[TIDE_STRKEY_TEXT_MAX];
    uint8_t address[44];
    size_t len;
    tide_slice in = tide_slice_of(data, size);
    tide_status status = tide_strkey_decode(&kind, payload, &len, in);
    if (status == TIDE_OK) {
        size_t wrote = tide_strkey_encode(text, kind, tide_slice_of(payload, len));
        PROMISE(tide_slice_eq(in, tide_slice_of(text, wrote)));
    }
    size_t made = tide_strkey_to_address(address, in);
    PROMISE(made == 0 || status == TIDE_OK);
    if (made) {
        size_t wrote = tide_strkey_from_address(text, tide_slice_of(address, made));
        PROMISE(tide_slice_eq(in, tide_slice_of(text, wrote)));
    }
    if (size <= TIDE_STRKEY_PAYLOAD_MAX) {
        /* the address in XDR has the bytes that the text decodes to */
        size_t wrote = tide_strkey_from_address(text, in);
        if (wrote && tide_strkey_to_address(address, tide_slice_of(text, wrote)) == size)
            sum_bytes(tide_slice_of(address, size));
    }
    return 0;
}
