#include "indexer/source/rpc/size.h"

/* WANTED_FIRST: pages before a larger one is tried. WANTED_MOST: the same after many refusals.
 * GROWTH_PART: the part by which a page then grows. */
enum { WANTED_FIRST = 16, WANTED_MOST = 1024, GROWTH_PART = 4 };

struct rpc_size rpc_size_of(uint32_t first, uint32_t most)
{
    assert(first > 0 && most > 0);
    return (struct rpc_size){
        .most = most, .next = first < most ? first : most, .safe = most, .wanted = WANTED_FIRST
    };
}

/* Back to what the server gave. Returns false if that was not less. */
static bool end_trying(struct rpc_size *size, uint32_t asked)
{
    bool tried = size->trying && size->safe < asked;
    size->wanted = tried && size->wanted < WANTED_MOST ? 2 * size->wanted : size->wanted;
    size->trying = false;
    size->next = size->safe;
    return tried;
}

bool rpc_size_refused(struct rpc_size *size, uint32_t asked)
{
    assert(asked > 0);
    size->good = 0;
    if (end_trying(size, asked))
        return true;
    size->safe = asked > 1 ? asked / 2 : size->most;
    size->next = asked > 1 ? size->safe : 1;
    return asked > 1;
}

/* After enough whole pages, lets the next one be larger than those before. */
static void count_page(struct rpc_size *size, uint32_t asked, uint32_t given)
{
    if (size->trying && given > size->safe) {
        size->trying = false;
        size->safe = given;
        size->good = 0;
        size->wanted = size->wanted > WANTED_FIRST ? size->wanted / 2 : WANTED_FIRST;
    }
    size->good += given == asked && asked >= size->safe;
    size->trying = size->trying || (size->good >= size->wanted && size->safe < size->most);
}

void rpc_size_given(struct rpc_size *size, uint32_t asked, uint32_t given, size_t fit)
{
    assert(asked > 0);
    count_page(size, asked, given);
    uint64_t next = 2 * (uint64_t)size->next, more = size->safe / GROWTH_PART;
    uint64_t most = size->trying ? size->safe + (more ? more : 1) : size->safe;
    most = most < size->most ? most : size->most;
    next = next < most ? next : most;
    next = fit < next ? fit : next;
    size->next = next ? (uint32_t)next : 1;
}

void rpc_size_limit(struct rpc_size *size, uint32_t ledgers)
{
    if (ledgers && ledgers < size->next)
        size->next = ledgers;
}
