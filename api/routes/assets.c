/* GET /api/sdk/assets?partnerId=. A token's address identifies an asset: markets and entries of
 * catalogs that name one token are one asset. It is the protocol's own when it has a market under
 * a symbol that no catalog has for it: a partner that lists another's token in its
 * catalog does not take it away. */
#include "api/routes/handlers.h"
#include "api/routes/pairs.h"

#include <stdlib.h>

enum {
    ASSETS_PAGE = 1000,     /* assets in an answer                                        */
    ENTRIES_OF_ASSET = 256, /* entries of catalogs that an asset lists                    */
    ENTRIES_PAGE = 8192,    /* the asset with which a page lists so many is its last      */
    CLAIMS_ROOM = 1 << 15,  /* claims held at once; past it those of later pages go       */
    ASSET_BYTES = 2048,     /* JSON at most, with each byte of its names escaped; no entries */
    ENTRY_BYTES = 384
};
static_assert(ASSETS_PAGE * ASSET_BYTES + (ENTRIES_PAGE + ENTRIES_OF_ASSET) * ENTRY_BYTES <
                  TIDE_REPLY_BODY_MAX,
              "a page fits into an answer");

/* A market, or an entry of a catalog. */
struct claim {
    struct tide_hot_address token;
    const struct tide_hot_market *market;   /* NULL: an entry                                */
    const struct tide_hot_catalog *catalog; /* of a market: the entry of its symbol, or NULL */
    uint32_t unlisted; /* of the last entry that its asset lists: how many follow it */
};

/* Memory is bounded by the page and the markets: claims of later pages are dropped on the way. */
struct gathering {
    struct tide_reader *reader;
    struct claim *claims;
    uint32_t count, max;
    bool failed; /* memory */
    bool more;   /* there is another page */
    bool resumed;
    struct tide_hot_address after; /* resumed: the page begins behind it */
    struct tide_hot_address last;  /* more: of the page                  */
    struct tide_reader_page page;
    struct tide_pairs pairs;
    const uint32_t *partner; /* NULL: all; else of entries its live ones alone are gathered */
};

/* --- in order ------------------------------------------------------------------- */

static int by_text(const struct tide_hot_symbol *a, const struct tide_hot_symbol *b)
{
    return memcmp(a->text, b->text, sizeof a->text);
}

/* What an asset is told by: the protocol's own market, a partner's, a live entry, another. */
static int rank(const struct claim *c)
{
    if (c->market)
        return c->catalog ? 1 : 0;
    return c->catalog->live ? 2 : 3;
}

static int by_token(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    int order = memcmp(&a->token, &b->token, sizeof a->token);
    if (order == 0)
        order = rank(a) - rank(b);
    if (order != 0)
        return order;
    if (a->market)
        return by_text(&a->market->symbol, &b->market->symbol);
    order = (a->catalog->deployed_at > b->catalog->deployed_at) -
            (a->catalog->deployed_at < b->catalog->deployed_at);
    return order ? order : by_text(&a->catalog->symbol, &b->catalog->symbol);
}

/* --- a page of them -------------------------------------------------------------------------- */

/* The end of the claims of one token. */
static uint32_t end_of(const struct gathering *g, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < g->count && tide_hot_address_eq(&g->claims[to].token, &g->claims[from].token))
        to++;
    return to;
}

/* Whether the token of these claims, count > 0, is an asset of the answer. */
static bool is_asset(const struct gathering *g, const struct claim *c, uint32_t count)
{
    return !g->partner || (c->market && !c->catalog) || !c[count - 1].market;
}

/* Moves the claims from .. to of one token to g->claims[kept], without the entries that its asset
 * does not list. Returns how many entries it lists, and where the next token's claims go. */
static uint32_t keep_token(struct gathering *g, uint32_t *kept, uint32_t from, uint32_t to)
{
    uint32_t entries = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct claim claim = g->claims[i];
        if (entries == ENTRIES_OF_ASSET) {
            g->claims[*kept - 1].unlisted += 1 + claim.unlisted;
            continue;
        }
        assert(*kept <= i);
        g->claims[(*kept)++] = claim;
        entries += !claim.market;
    }
    return entries;
}

/* Leaves the claims that the page needs of those gathered, in order. What is behind it then never
 * comes into it: more claims only make the page end earlier. */
static void keep_page(struct gathering *g)
{
    uint32_t kept = 0, assets = 0, entries = 0, next;
    if (g->count)
        qsort(g->claims, g->count, sizeof *g->claims, by_token);
    for (uint32_t i = 0; i < g->count; i = next) {
        next = end_of(g, i);
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
    g->count = kept;
}

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

/* False: no memory. */
static bool add_claim(struct gathering *g, const struct claim *claim)
{
    bool before = g->resumed && memcmp(&claim->token, &g->after, sizeof g->after) <= 0;
    if (before || (g->more && memcmp(&claim->token, &g->last, sizeof g->last) > 0))
        return true;
    if (g->count == g->max && !make_room(g))
        return false;
    g->claims[g->count++] = *claim;
    return true;
}

/* A market is a partner's when the catalog has its symbol with its token. */
static const struct tide_hot_catalog *catalog_of(struct gathering *g,
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
                                         .catalog = catalog_of(g, market) });
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

static void gather(struct gathering *g)
{
    struct tide_hot_key markets = tide_hot_key(TIDE_HOT_MARKET);
    struct tide_hot_key catalog = tide_hot_key(TIDE_HOT_CATALOG);
    tide_reader_scan(g->reader, &markets, gather_market, g);
    tide_reader_scan(g->reader, &catalog, gather_entry, g);
    keep_page(g);
}

/* --- as text --------------------------------------------------------------------------------- */

/* The token's own symbol, else what the market or the catalog calls it. */
static void put_names(struct tide_json *j, struct tide_reader *reader, const struct claim *c)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &c->token);
    const struct tide_hot_contract *token = tide_reader_get(reader, &key);
    tide_reader_need(reader, PROJECT_TOKEN);
    tide_reader_need(reader, PROJECT_ASSET);
    bool known = token && token->has_instance;
    if (known && token->symbol.len)
        tide_record_json_title(j, "tokenSymbol", &token->symbol);
    else
        tide_record_json_symbol(j, "tokenSymbol",
                                c->market ? &c->market->symbol : &c->catalog->symbol);
    if (known) {
        tide_record_json_title(j, "name", &token->title);
        tide_json_u32(j, "decimals", token->decimals);
    } else {
        tide_json_null(j, "name");
        tide_json_null(j, "decimals");
    }
}

static void put_symbol_or_null(struct tide_json *j, const char *name,
                               const struct tide_hot_symbol *symbol)
{
    if (symbol)
        tide_record_json_symbol(j, name, symbol);
    else
        tide_json_null(j, name);
}

/* The entries of catalogs that name the token, of all partners or of the one asked for. */
static void put_entries(struct tide_json *j, const struct claim *c, uint32_t count)
{
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
        tide_json_amount(j, "debtCeiling", tide_hot_i128(entry->debt_ceiling), TIDE_WAD_DECIMALS);
        tide_json_time(j, "deployedAt", entry->deployed_at);
        tide_json_close(j, '}');
        listed++;
        unlisted += c[i].unlisted;
    }
    tide_json_close(j, ']');
    if (unlisted)
        tide_json_u32(j, "catalogCount", listed + unlisted);
}

/* The claims of one token, the first is what it is told by. */
static void put_asset(struct tide_json *j, const struct gathering *g, const struct claim *c,
                      uint32_t count)
{
    bool own = c->market && !c->catalog;
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
    put_entries(j, c, count);
    tide_json_close(j, '}');
}

static void put_next(struct tide_json *j, const struct gathering *g)
{
    char last[TIDE_HOT_ADDRESS_TEXT] = "";
    if (g->more) {
        assert(g->last.kind); /* tokens of no address are the first asset of several */
        tide_hot_address_text(last, &g->last);
    }
    tide_reader_page_next(j, &g->page, tide_slice_str(last));
}

static void answer(const struct gathering *g, struct tide_reply *reply)
{
    struct tide_json j = tide_reader_answer(g->reader, reply);
    uint32_t next;
    tide_json_name(&j, "items");
    tide_json_open(&j, '[');
    for (uint32_t i = 0; i < g->count; i = next) {
        next = end_of(g, i);
        if (is_asset(g, &g->claims[i], next - i))
            put_asset(&j, g, &g->claims[i], next - i);
    }
    tide_json_close(&j, ']');
    put_next(&j, g);
    tide_json_close(&j, '}');
}

/* The partner of that id, as the registry writes it: "7", not "007". */
static bool find_partner(struct tide_reader *reader, tide_slice text, uint32_t *out)
{
    uint64_t id = 0;
    if (tide_parse_u64(&id, text, UINT32_MAX) != TIDE_OK || (text.ptr[0] == '0' && text.len > 1))
        return false;
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_PARTNER, (uint32_t)id);
    *out = (uint32_t)id;
    return tide_reader_get(reader, &key) != NULL;
}

/* False: the cursor is of another question. */
static bool read_place(struct gathering *g, const struct tide_request *request)
{
    if (!tide_reader_page_read(&g->page, g->reader, request))
        return false;
    g->resumed = g->page.after[0] != 0;
    return !g->resumed || tide_hot_address_parse(&g->after, tide_slice_str(g->page.after));
}

static void answer_page(struct gathering *g, struct tide_reply *reply)
{
    bool paired = tide_pairs_read(&g->pairs, g->reader);
    gather(g);
    if (g->failed)
        tide_reply_problem(reply, 503, "no_memory", "The assets could not be put in order.");
    else if (paired)
        answer(g, reply);
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
    if (!read_place(&g, request))
        tide_cursor_refuse(reply);
    else if (partner->given && !find_partner(&reader, partner->text, &id))
        tide_reply_problem(reply, 404, "no_partner", "There is no partner of that id.");
    else
        answer_page(&g, reply);
    free(g.claims);
    tide_pairs_release(&g.pairs);
    tide_reader_close(&reader, reply);
}
