#include "tidemark/record_json.h"

void tide_record_json_address(struct tide_json *j, const char *name,
                              const struct tide_hot_address *address)
{
    char text[TIDE_HOT_ADDRESS_TEXT];
    if (address->kind == 0) {
        tide_json_null(j, name);
        return;
    }
    tide_hot_address_text(text, address);
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, TIDE_HOT_ADDRESS_TEXT - 1));
}

void tide_record_json_symbol(struct tide_json *j, const char *name,
                             const struct tide_hot_symbol *symbol)
{
    tide_json_text(j, name, tide_hot_symbol_slice(symbol));
}

void tide_record_json_title(struct tide_json *j, const char *name,
                            const struct tide_hot_name *title)
{
    size_t len = title->len < TIDE_HOT_NAME_MAX ? title->len : TIDE_HOT_NAME_MAX;
    tide_json_text(j, name, tide_slice_of(title->text, len));
}

void tide_record_json_title_or_null(struct tide_json *j, const char *name,
                                    const struct tide_hot_name *title)
{
    if (title)
        tide_record_json_title(j, name, title);
    else
        tide_json_null(j, name);
}
