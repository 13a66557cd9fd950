/* GET /api/sdk/assets?partnerId=. An asset is identified by its token's address: all markets and
 * catalog entries that name one token are one asset. An asset is the protocol's own if it has a
 * market whose symbol no catalog lists with its token. A partner that lists another's token in
 * its catalog does not take it away. */
#include "api/routes/handlers.h"
#include "api/routes/pairs.h"

#include <stdlib.h>

enum {
    ASSETS_PAGE = 1000,     /* assets of one page */
    ENTRIES_OF_ASSET = 256, /* catalog entries that one asset lists */
    ENTRIES_PAGE = 8192,    /* the asset with which a page has this many entries is its last */
    CLAIMS_ROOM = 1 << 15,  /* claims in memory; beyond it those of later pages are dropped */
    /* Bytes of JSON at most, with each byte of its names escaped, without entries */
    ASSET_BYTES = 2048,
    ENTRY_BYTES = 384 /* bytes of JSON of an entry at most */
};
static_assert(ASSETS_PAGE * ASSET_BYTES + (ENTRIES_PAGE + ENTRIES_OF_ASSET) * ENTRY_BYTES <
                  TIDE_REPLY_BODY_MAX,
              "a page fits into an answer");

/* A claim on a token: a market or a catalog entry that names the token. */
struct claim {
    struct tide_hot_address token;
    const struct tide_hot_market *market; /* NULL: this is a catalog entry */
    /* For a market: the catalog entry of its symbol, or NULL. */
    const struct tide_hot_catalog *catalog;
    /* set in the last listed catalog entry of an asset: the number of entries that the answer
     * leaves out */
    uint32_t unlisted;
};

/* The claims of one page. Memory is bounded by the page and the markets: claims of later pages
 * are dropped while gathering. */
struct gathering {
    struct tide_reader *reader;
    struct claim *claims;
    uint32_t count, max;
    bool failed; /* no memory */
    bool more;   /* there is another page */
    bool resumed;
    struct tide_hot_address after; /* if resumed: the page begins after this token */
    struct tide_hot_address last;  /* if more: the page's last token */
    struct tide_reader_page page;
    struct tide_pairs pairs;
    /* NULL: all partners; otherwise only live entries of this one are gathered */
    const uint32_t *partner;
};

/* --- order of claims ----------------------------------------------------------------- */

static int by_text(const struct tide_hot_symbol *a, const struct tide_hot_symbol *b)
{
    return memcmp(a->text, b->text, sizeof a->text);
}

/* Returns the rank of a claim. The claim with the lowest rank describes the asset: the
 * protocol's own market, a partner's market, a live entry, another entry. */
static int claim_rank(const struct claim *c)
{
    assert(c->market || c->catalog);
    if (c->market)
        return c->catalog ? 1 : 0;
    return c->catalog->live ? 2 : 3;
}

static int by_token(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    int order = memcmp(&a->token, &b->token, sizeof a->token);
    if (order == 0)
        order = claim_rank(a) - claim_rank(b);
    if (order != 0)
        return order;
    if (a->market)
        return by_text(&a->market->symbol, &b->market->symbol);
    order = (a->catalog->deployed_at > b->catalog->deployed_at) -
            (a->catalog->deployed_at < b->catalog->deployed_at);
    return order ? order : by_text(&a->catalog->symbol, &b->catalog->symbol);
}

/* --- gathering of a page ------------------------------------------------------------------- */

/* Returns the index after the last claim of the token at `from`. */
static uint32_t token_end(const struct gathering *g, uint32_t from)
{
    assert(from < g->count);
    uint32_t to = from + 1;
    while (to < g->count && tide_hot_address_eq(&g->claims[to].token, &g->claims[from].token))
        to++;
    return to;
}

/* Returns whether the token of these claims (count > 0) is an asset of the answer. */
static bool is_asset(const struct gathering *g, const struct claim *c, uint32_t count)
{
    assert(count > 0);
    return !g->partner || (c->market && !c->catalog) || !c[count - 1].market;
}

/* Moves the claims [from, to) of one token to g->claims[*kept], without the entries that its
 * asset does not list. Returns the number of listed entries. */
static uint32_t keep_token(struct gathering *g, uint32_t *kept, uint32_t from, uint32_t to)
{
    assert(from < to && to <= g->count && *kept <= from);
    uint32_t entries = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct claim claim = g->claims[i];
        if (entries == ENTRIES_OF_ASSET) {
            assert(*kept > 0); /* the entries before */
            g->claims[*kept - 1].unlisted += 1 + claim.unlisted;
            continue;
        }
        assert(*kept <= i);
        g->claims[(*kept)++] = claim;
        entries += !claim.market;
    }
    assert(entries <= ENTRIES_OF_ASSET);
    return entries;
}

/* Sorts the claims and keeps those of the page. Tokens after the page can never come into it:
 * further claims only make the page end earlier. */
static void keep_page(struct gathering *g)
{
    uint32_t kept = 0, assets = 0, entries = 0, next;
    if (g->count)
        qsort(g->claims, g->count, sizeof *g->claims, by_token);
    for (uint32_t i = 0; i < g->count; i = next) {
        next = token_end(g, i);
        bool asset = is_asset(g, &g->claims[i], next - i);
        if (asset && (assets == ASSETS_PAGE || entries >= ENTRIES_PAGE)) {
            g->more = true;
            break;
        }
        if (asset)
            g->last = g->claims[i].token;
        assets += asset;
        entries += keep_token(g, &kept, i, next);
    }
    assert(kept <= g->count && assets <= ASSETS_PAGE);
    g->count = kept;
}

/* Makes room for a claim: first by dropping claims of later pages, then by a larger array. */
static bool make_room(struct gathering *g)
{
    if (g->count == g->max && g->max >= CLAIMS_ROOM)
        keep_page(g);
    if (g->max && g->count <= g->max / 2)
        return true;
    uint32_t max = g->max ? 2 * g->max : 64;
    struct claim *more = realloc(g->claims, max * sizeof *more);
    g->failed |= !more;
    if (!more)
        return false;
    g->claims = more;
    g->max = max;
    return true;
}

/* Adds a claim, unless its token is outside the page. Returns false without memory. */
static bool add_claim(struct gathering *g, const struct claim *claim)
{
    bool before = g->resumed && memcmp(&claim->token, &g->after, sizeof g->after) <= 0;
    if (before || (g->more && memcmp(&claim->token, &g->last, sizeof g->last) > 0))
        return true;
    if (g->count == g->max && !make_room(g))
        return false;
    assert(g->count < g->max);
    g->claims[g->count++] = *claim;
    return true;
}

/* Returns the catalog entry of a market's symbol if it names the market's token (then the market
 * is the partner's), or NULL. */
static const struct tide_hot_catalog *find_catalog(struct gathering *g,
                                                   const struct tide_hot_market *market)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_CATALOG, &market->symbol);
    const struct tide_hot_catalog *entry = tide_reader_get(g->reader, &key);
    return entry && tide_hot_address_eq(&entry->token, &market->token) ? entry : NULL;
}

static bool gather_market(void *self, tide_slice key, const void *record)
{
    struct gathering *g = self;
    const struct tide_hot_market *market = record;
    (void)key;
    if (!market->listed)
        return true;
    return add_claim(g, &(struct claim){ .token = market->token,
                                         .market = market,
                                         .catalog = find_catalog(g, market) });
}

static bool gather_entry(void *self, tide_slice key, const void *record)
{
    struct gathering *g = self;
    const struct tide_hot_catalog *entry = record;
    (void)key;
    if (g->partner && !(entry->live && entry->partner_id == *g->partner))
        return true;
    return add_claim(g, &(struct claim){ .token = entry->token, .catalog = entry });
}

static void gather_claims(struct gathering *g)
{
    struct tide_hot_key markets = tide_hot_key(TIDE_HOT_MARKET);
    struct tide_hot_key catalog = tide_hot_key(TIDE_HOT_CATALOG);
    tide_reader_scan(g->reader, &markets, gather_market, g);
    tide_reader_scan(g->reader, &catalog, gather_entry, g);
    keep_page(g);
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Writes the token's own names, or the symbol of the market or catalog if they are not known. */
static void put_names(struct tide_json *j, struct tide_reader *reader, const struct claim *c)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &c->token);
    const struct tide_hot_contract *token = tide_reader_get(reader, &key);
    bool known = token && token->has_instance;
    if (known && token->symbol.len)
        tide_record_json_title(j, "tokenSymbol", &token->symbol);
    else
        tide_record_json_symbol(j, "tokenSymbol",
                                c->market ? &c->market->symbol : &c->catalog->symbol);
    if (known) {
        tide_record_json_title(j, "name", &token->title);
    } else {
        tide_json_null(j, "name");
    }
    tide_answer_decimals(j, reader, &c->token);
}

static void put_symbol_or_null(struct tide_json *j, const char *name,
                               const struct tide_hot_symbol *symbol)
{
    if (symbol)
        tide_record_json_symbol(j, name, symbol);
    else
        tide_json_null(j, name);
}

/* Writes the catalog entries that name the token, of all partners or of the requested one. */
static void put_entries(struct tide_json *j, struct tide_reader *reader, const struct claim *c,
                        uint32_t count)
{
    uint32_t decimals = tide_lookup_decimals(reader, &c->token);
    uint32_t listed = 0, unlisted = 0;
    tide_json_name(j, "catalog");
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_hot_catalog *entry = c[i].catalog;
        if (c[i].market)
            continue;
        tide_json_open(j, '{');
        tide_record_json_symbol(j, "symbol", &entry->symbol);
        tide_json_u64(j, "partnerId", entry->partner_id);
        tide_json_bool(j, "live", entry->live);
        tide_record_json_symbol(j, "oracleSymbol", &entry->oracle_symbol);
        tide_json_amount(j, "debtCeiling", tide_hot_i128(entry->debt_ceiling), decimals);
        tide_json_stored_time(j, "deployedAt", entry->deployed_at);
        tide_json_close(j, '}');
        listed++;
        unlisted += c[i].unlisted;
    }
    tide_json_close(j, ']');
    if (unlisted)
        tide_json_u32(j, "catalogCount", listed + unlisted);
}

/* Writes an asset from the claims of its token; the first claim describes it. */
static void put_asset(struct tide_json *j, const struct gathering *g, const struct claim *c,
                      uint32_t count)
{
    assert(count > 0);
    bool own = c->market && !c->catalog;
    assert(own || c->catalog);
    bool asked = g->partner && !c[count - 1].market;
    const struct tide_hot_pool *pool = tide_pairs_find(&g->pairs, &c->token);
    tide_json_open(j, '{');
    tide_record_json_address(j, "address", &c->token);
    tide_record_json_address(j, "token", &c->token);
    put_names(j, g->reader, c);
    tide_json_bool(j, "complete", tide_lookup_is_watched(g->reader, &c->token));
    put_symbol_or_null(j, "market", c->market ? &c->market->symbol : NULL);
    put_symbol_or_null(j, "pool", pool ? &pool->id : NULL);
    if (asked && !own)
        tide_json_u64(j, "partnerId", *g->partner);
    else if (!own)
        tide_json_u64(j, "partnerId", c->catalog->partner_id);
    else
        tide_json_null(j, "partnerId");
    tide_json_bool(j, "live", own || asked || c->catalog->live);
    tide_json_bool(j, "enabled", c->market && c->market->enabled);
    put_entries(j, g->reader, c, count);
    tide_json_close(j, '}');
}

static void put_next(struct tide_json *j, const struct gathering *g)
{
    char last[TIDE_HOT_ADDRESS_TEXT] = "";
    if (g->more) {
        /* A claim without address cannot be last: its token sorts before all others */
        assert(g->last.kind);
        tide_hot_address_text(last, &g->last);
    }
    tide_reader_page_next(j, &g->page, tide_slice_str(last));
}

static void write_answer(const struct gathering *g, struct tide_reply *reply)
{
    struct tide_json j = tide_reader_answer(g->reader, reply);
    uint32_t next;
    tide_json_name(&j, "items");
    tide_json_open(&j, '[');
    for (uint32_t i = 0; i < g->count; i = next) {
        next = token_end(g, i);
        if (is_asset(g, &g->claims[i], next - i))
            put_asset(&j, g, &g->claims[i], next - i);
    }
    tide_json_close(&j, ']');
    put_next(&j, g);
    tide_json_close(&j, '}');
}

/* Reads a partner's id as the registry writes it ("7", not "007"). Returns false if there is no
 * such partner. */
static bool find_partner(struct tide_reader *reader, tide_slice text, uint32_t *out)
{
    uint64_t id = 0;
    if (tide_parse_u64(&id, text, UINT32_MAX) != TIDE_OK || (text.ptr[0] == '0' && text.len > 1))
        return false;
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_PARTNER, (uint32_t)id);
    *out = (uint32_t)id;
    return tide_reader_get(reader, &key) != NULL;
}

/* Reads the cursor. Returns false if it is of another request. */
static bool read_page(struct gathering *g, const struct tide_request *request)
{
    if (!tide_reader_page_read(&g->page, g->reader, request))
        return false;
    g->resumed = g->page.after[0] != 0;
    return !g->resumed || tide_hot_address_parse(&g->after, tide_slice_str(g->page.after));
}

static void answer_page(struct gathering *g, struct tide_reply *reply)
{
    bool paired = tide_pairs_read(&g->pairs, g->reader);
    gather_claims(g);
    if (g->failed)
        tide_reply_problem(reply, 503, "no_memory",
                           "There was no memory for the assets. Retry in a moment.");
    else if (paired)
        write_answer(g, reply);
    else
        tide_reply_problem(reply, 503, "too_large", "There are more pools than one answer holds.");
}

void tide_route_assets(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    const struct tide_param_value *partner = tide_request_param(request, TIDE_PARAM_partnerId);
    struct tide_reader reader;
    uint32_t id;
    if (!tide_reader_open(&reader, context, request, reply))
        return;
    struct gathering g = { .reader = &reader, .partner = partner->given ? &id : NULL };
    if (!read_page(&g, request))
        tide_cursor_refuse(reply);
    else if (partner->given && !find_partner(&reader, partner->text, &id))
        tide_reply_problem(reply, 404, "no_partner", "There is no partner of that id.");
    else
        answer_page(&g, reply);
    free(g.claims);
    tide_pairs_release(&g.pairs);
    tide_reader_close(&reader, reply);
}
