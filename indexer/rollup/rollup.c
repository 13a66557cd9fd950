/* Puts the pieces of a rollup's statement together. */
#include "indexer/rollup/rollup.h"

#include <assert.h>

static void put_piece(struct tide_buf *out, const struct tide_rollup_piece *piece,
                      const struct tide_rollup_writer *writer)
{
    switch (piece->kind) {
    case TIDE_ROLLUP_TEXT:
        tide_buf_str(out, piece->text);
        break;
    case TIDE_ROLLUP_VALUE:
        assert(piece->value < 3);
        if (writer->values)
            tide_buf_str(out, writer->values[piece->value]);
        else
            tide_buf_putf(out, "$%u", piece->value + 1);
        break;
    case TIDE_ROLLUP_INTO:
        tide_buf_putf(out, "%s.\"%s\"", writer->into, piece->table);
        break;
    case TIDE_ROLLUP_BESIDE:
    case TIDE_ROLLUP_NEEDS:
        writer->put(writer->self, out, piece);
        break;
    }
}

void tide_rollup_write(struct tide_buf *out, const struct tide_rollup *rollup,
                       const struct tide_rollup_writer *writer)
{
    for (size_t i = 0; i < rollup->count; i++)
        put_piece(out, &rollup->pieces[i], writer);
    tide_buf_u8(out, 0);
}
