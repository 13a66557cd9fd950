#include "indexer/write/rows/lives.h"
#include "indexer/database/words.h"
#include "indexer/decode/keyed_hash.h"
#include "indexer/write/rows/tuple.h"

enum { BYTES_MAX = INT32_MAX, SLOTS_FIRST = 1 << 6 };

enum {
    AT_KEY = TUPLE_KEY,
    AT_TX = TUPLE_TX,
    AT_SEQ = TUPLE_SEQ,
    AT_REMOVED = TUPLE_CONTRACT + 56 + 4,
    AT_DURABILITY = AT_REMOVED + 1 + 4, /* in history.ttl and history.raw */
    AT_LIVE_UNTIL = AT_DURABILITY + 2,  /* in history.ttl: the length comes first */
    AT_KEY_END = AT_TX + 4              /* key, ledger and transaction are compared as they are */
};

/* A row of history.ttl, and the version that may carry it. */
struct life {
    const uint8_t *row;
    int64_t value;  /* 0: the row stays alone */
    size_t version; /* index in lives */
    uint32_t seq;   /* the version's number */
    bool found, raw;
};

tide_status write_lives_open(struct write_lives *lives, struct tide_err *err)
{
    *lives = (struct write_lives){ .alone = 0 };
    tide_buf_init(&lives->lives, BYTES_MAX);
    tide_buf_init(&lives->found, BYTES_MAX);
    tide_buf_init(&lives->slots, BYTES_MAX);
    return keyed_hash_seed(&lives->seed) ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "writer");
}

void write_lives_close(struct write_lives *lives)
{
    tide_buf_release(&lives->lives);
    tide_buf_release(&lives->found);
    tide_buf_release(&lives->slots);
}

/* Returns room for count items that are 0, or NULL without memory. */
static void *put_zeros(struct tide_buf *buf, size_t count, size_t size)
{
    tide_buf_reset(buf);
    uint8_t *room = count <= BYTES_MAX / size ? tide_buf_room(buf, count * size) : NULL;
    if (!room)
        return NULL;
    memset(room, 0, count * size);
    buf->len = count * size;
    return room;
}

/* Returns the slot of the key in the row's transaction: its own, or a free one. */
static uint32_t *find_slot(const struct write_lives *lives, const uint8_t *row)
{
    const struct life *found = (const struct life *)(const void *)lives->found.ptr;
    uint32_t *slots = (uint32_t *)(void *)lives->slots.ptr;
    uint32_t mask = (uint32_t)(lives->slots.len / sizeof *slots) - 1;
    uint32_t slot = (uint32_t)keyed_hash(lives->seed, row + AT_KEY, tide_be32(row + AT_TX)) & mask;
    while (slots[slot] &&
           memcmp(found[slots[slot] - 1].row + AT_KEY, row + AT_KEY, AT_KEY_END - AT_KEY) != 0)
        slot = (slot + 1) & mask;
    return &slots[slot];
}

/* Returns the value that a version of the same transaction has in its place. 0: no version can have
 * it. */
static int64_t value_of(const uint8_t *row)
{
    bool live = tide_be32(row + AT_LIVE_UNTIL) == 8;
    uint64_t live_until = live ? tide_be64(row + AT_LIVE_UNTIL + 4) : 0;
    uint32_t seq = tide_be32(row + AT_SEQ);
    assert(!live || !row[AT_REMOVED]); /* the decoder tells no lifetime of what is gone */
    if (live && (live_until == 0 || live_until > UINT32_MAX))
        return 0;
    return seq > 0 && seq <= INT32_MAX ? tide_life((uint32_t)live_until, seq) : 0;
}

/* Notes the rows of history.ttl. Of several of one key in a transaction the last one counts. */
static bool note_lives(struct write_lives *lives, const struct tide_rows *rows)
{
    uint32_t slots = SLOTS_FIRST;
    while (slots < 2 * rows->count && slots < UINT32_MAX / 4)
        slots *= 2;
    struct life *found = put_zeros(&lives->found, rows->count, sizeof *found);
    if (!found || !put_zeros(&lives->slots, slots, sizeof(uint32_t)))
        return false;
    const uint8_t *row = rows->copy.ptr;
    for (uint32_t i = 0; i < rows->count; i++, row = tuple_next(row)) {
        found[i] = (struct life){ .row = row, .value = value_of(row) };
        *find_slot(lives, row) = i + 1;
    }
    return true;
}

/* Returns whether the version's table says the durability that the lifetime's row has. */
static bool has_durability(const struct tide_table *table, const uint8_t *version,
                           const uint8_t *life)
{
    bool persistent = life[AT_DURABILITY + 1] != 0;
    return table->life == TIDE_LIFE_COLUMN
               ? memcmp(version + AT_DURABILITY, life + AT_DURABILITY, 2) == 0
               : persistent == (table->life == TIDE_LIFE_PERSISTENT);
}

/* Looks for the lifetimes of one table's versions. */
static void match_table(struct write_lives *lives, const struct tide_table *table,
                        const struct tide_rows *rows, size_t first)
{
    const uint8_t *row = rows->copy.ptr;
    bool raw = table->life == TIDE_LIFE_COLUMN;
    for (uint64_t i = 0; i < rows->count; i++, row = tuple_next(row)) {
        uint32_t at = *find_slot(lives, row), seq = tide_be32(row + AT_SEQ);
        if (at == 0)
            continue;
        struct life *life = (struct life *)(void *)lives->found.ptr + (at - 1);
        if (life->value == 0 || life->row[AT_REMOVED] != row[AT_REMOVED] ||
            !has_durability(table, row, life->row) ||
            (life->found && (seq < life->seq || (seq == life->seq && life->raw))))
            continue;
        life->found = true;
        life->raw = raw;
        life->seq = seq;
        life->version = first + i;
    }
}

/* Writes what was found to the rows of the versions, and leaves out the lifetimes' own. */
static void put_lives(struct write_lives *lives, uint32_t ttl)
{
    const struct life *found = (const struct life *)(const void *)lives->found.ptr;
    int64_t *values = (int64_t *)(void *)lives->lives.ptr;
    size_t count = lives->found.len / sizeof *found;
    lives->alone = count;
    for (size_t i = 0; i < count; i++) {
        if (!found[i].found)
            continue;
        values[found[i].version] = found[i].value;
        values[lives->first[ttl] + i] = TIDE_WORDS_LEAVE_OUT;
        lives->alone--;
    }
}

tide_status write_lives_match(struct write_lives *lives, const struct write_plan *plan,
                              const struct tide_batch *batch, struct tide_err *err)
{
    const uint32_t ttl = TIDE_TABLE_HISTORY_TTL;
    size_t count = 0;
    lives->alone = 0;
    tide_buf_reset(&lives->lives);
    if (!write_plan_has_contracts(plan) || batch->rows[ttl].count == 0)
        return TIDE_OK;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        lives->first[i] = count;
        count += plan->tables[i].kind == TIDE_TABLE_HISTORY ? batch->rows[i].count : 0;
    }
    if (!put_zeros(&lives->lives, count, sizeof(int64_t)) || !note_lives(lives, &batch->rows[ttl]))
        return tide_fail(err, TIDE_E_MEMORY, "writer: lifetimes of a batch");
    for (uint32_t i = 0; i < plan->table_count; i++)
        if (plan->tables[i].life && batch->rows[i].count)
            match_table(lives, &plan->tables[i], &batch->rows[i], lives->first[i]);
    put_lives(lives, ttl);
    return TIDE_OK;
}

const int64_t *write_lives_of(const struct write_lives *lives, uint32_t table)
{
    return lives->lives.len == 0
               ? NULL
               : (const int64_t *)(const void *)lives->lives.ptr + lives->first[table];
}
