/* Any bytes as a lake's .config.json, and as the name of an object: the layout of an accepted name
 * gives that name again. */
#include "indexer/source/lake_layout.h"
#include "tests/fuzz/fuzz.h"

static void try_name(const char *text)
{
    struct lake_name name;
    if (!lake_layout_parse(&name, text) || name.folder)
        return;
    assert(name.first <= name.last);
    struct lake_layout layout = { name.last - name.first + 1, 1 };
    if (layout.batch == 0 || name.first % layout.batch)
        return;
    char key[TIDE_OBJECT_KEY_MAX];
    lake_layout_key(key, &layout, name.last, 0);
    struct lake_name again;
    bool good = lake_layout_parse(&again, key);
    assert(good && again.first == name.first && again.last == name.last);
    (void)good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lake_layout layout = { 0 };
    char passphrase[256];
    struct tide_err err = { 0 };
    if (lake_config_parse(&layout, passphrase, tide_slice_of(data, size), &err) == TIDE_OK)
        assert(layout.batch && layout.partition && strlen(passphrase) < sizeof passphrase);
    else
        assert(*err.text);
    char name[128];
    if (size < sizeof name) {
        if (size)
            memcpy(name, data, size);
        name[size] = '\0';
        try_name(name);
    }
    return 0;
}
