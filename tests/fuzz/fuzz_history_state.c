/* Any bytes as a checkpoint's state file. */
#include "indexer/archive/history_state.h"
#include "tests/fuzz/promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct history_state state;
    struct tide_err err = { 0 };
    uint8_t hash[TIDE_HASH_BYTES];
    if (history_state_parse(&state, tide_slice_of(data, size), &err) != TIDE_OK) {
        PROMISE(*err.text);
        return 0;
    }
    PROMISE(state.version >= 1 && state.version <= 2 && state.current_ledger > 0);
    PROMISE(strlen(state.passphrase) < sizeof state.passphrase);
    history_state_hash(hash, &state);
    return 0;
}
