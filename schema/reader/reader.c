#include "tidemark/reader.h"

uint32_t tide_reader_unkept(const struct tide_reader *reader)
{
    uint32_t needs = reader->needs;
    for (int kind = 0; kind < (int)TIDE_HOT_KIND_COUNT; kind++)
        if (reader->kinds & 1u << kind)
            needs |= project_sources_of((enum tide_hot_kind)kind);
    return needs & reader->unkept;
}
