/* Decides which texts may be shown as names: no invisible characters, and none that change the
 * direction of reading. And which a spreadsheet may run. */
#include "tidemark/text.h"

struct range {
    uint32_t first, last;
};

/* Invisible characters: controls, direction marks, zero-width joiners, variation selectors,
 * fillers, line separators, tags (Unicode 15.1: Cc, Cf, Zl, Zp, Default_Ignorable_Code_Point),
 * private use, and code points that are no characters. */
static const struct range unseen[] = {
    { 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad },    { 0x034f, 0x034f },
    { 0x0600, 0x0605 },   { 0x061c, 0x061c },   { 0x06dd, 0x06dd },    { 0x070f, 0x070f },
    { 0x0890, 0x0891 },   { 0x08e2, 0x08e2 },   { 0x115f, 0x1160 },    { 0x17b4, 0x17b5 },
    { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },    { 0x2060, 0x206f },
    { 0x3164, 0x3164 },   { 0xe000, 0xf8ff },   { 0xfdd0, 0xfdef },    { 0xfe00, 0xfe0f },
    { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },    { 0xfffe, 0xffff },
    { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f },  { 0x1bca0, 0x1bca3 },
    { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff }, { 0xf0000, 0x10ffff },
};

/* Spaces, and combining marks, which need a letter before them. */
static const struct range blank[] = {
    { 0x0020, 0x0020 }, { 0x00a0, 0x00a0 }, { 0x0300, 0x036f }, { 0x0483, 0x0489 },
    { 0x0591, 0x05bd }, { 0x064b, 0x065f }, { 0x1680, 0x1680 }, { 0x1ab0, 0x1aff },
    { 0x1dc0, 0x1dff }, { 0x2000, 0x200a }, { 0x202f, 0x202f }, { 0x205f, 0x205f },
    { 0x20d0, 0x20ff }, { 0x2800, 0x2800 }, { 0x3000, 0x3000 }, { 0xfe20, 0xfe2f },
};

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Returns the character at text[*at] of well-formed UTF-8 and moves *at behind it. */
static uint32_t next_character(tide_slice text, size_t *at)
{
    uint8_t first = text.ptr[(*at)++];
    if (first < 0x80)
        return first;
    uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    uint32_t c = first & (0x3fu >> more);
    while (more--)
        c = c << 6 | (text.ptr[(*at)++] & 0x3fu);
    return c;
}

bool tide_text_is_name(tide_slice text)
{
    bool seen = false;
    if (!tide_utf8_valid(text))
        return false;
    for (size_t at = 0; at < text.len;) {
        uint32_t c = next_character(text, &at);
        if (is_in(unseen, TIDE_COUNT(unseen), c) || (c & 0xfffe) == 0xfffe)
            return false;
        seen |= !is_in(blank, TIDE_COUNT(blank), c);
    }
    return seen;
}
