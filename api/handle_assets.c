/* GET /api/sdk/assets?partnerId=. A token's address identifies an asset: markets and entries of
 * catalogs that name one token are one asset. It is the protocol's own when it has a market under
 * a symbol that no catalog has for it: whoever puts somebody else's token into a catalog does not
 * take it away. */
#include "api/handle.h"
#include "api/pairs.h"

#include <stdlib.h>

enum { CLAIMS_MAX = 200000 };

/* A market, or an entry of a catalog. */
struct claim {
    struct tide_hot_address token;
    const struct tide_hot_market *market;   /* NULL: an entry                                  */
    const struct tide_hot_catalog *catalog; /* of a market: the entry of its symbol, or NULL   */
    bool asked;                             /* an entry of the live catalog that is asked for  */
};

struct gathering {
    struct tide_view *view;
    struct claim *claims;
    uint32_t count, max;
    bool failed; /* memory, or too many */
    struct tide_pairs pairs;
    const uint32_t *partner; /* NULL: all */
};

static struct claim *add_claim(struct gathering *g, const struct tide_hot_address *token)
{
    if (g->count == g->max) {
        uint32_t max = g->max ? 2 * g->max : 64;
        struct claim *more = max <= CLAIMS_MAX ? realloc(g->claims, max * sizeof *more) : NULL;
        g->failed |= !more;
        if (!more)
            return NULL;
        g->claims = more;
        g->max = max;
    }
    g->claims[g->count] = (struct claim){ .token = *token };
    return &g->claims[g->count++];
}

/* A market is a partner's when the catalog has its symbol with its token. */
static const struct tide_hot_catalog *catalog_of(struct gathering *g,
                                                 const struct tide_hot_market *market)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_CATALOG, &market->symbol);
    const struct tide_hot_catalog *entry = tide_view_get(g->view, &key);
    return entry && tide_hot_address_eq(&entry->token, &market->token) ? entry : NULL;
}

static bool gather_market(void *self, tide_slice key, const void *record)
{
    struct gathering *g = self;
    const struct tide_hot_market *market = record;
    (void)key;
    if (!market->listed)
        return true;
    struct claim *claim = add_claim(g, &market->token);
    if (!claim)
        return false;
    claim->market = market;
    claim->catalog = catalog_of(g, market);
    return true;
}

static bool gather_entry(void *self, tide_slice key, const void *record)
{
    struct gathering *g = self;
    const struct tide_hot_catalog *entry = record;
    (void)key;
    struct claim *claim = add_claim(g, &entry->token);
    if (!claim)
        return false;
    claim->catalog = entry;
    claim->asked = g->partner && entry->live && entry->partner_id == *g->partner;
    return true;
}

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

static bool gather(struct gathering *g)
{
    struct tide_hot_key markets = tide_hot_key(TIDE_HOT_MARKET);
    struct tide_hot_key catalog = tide_hot_key(TIDE_HOT_CATALOG);
    tide_view_scan(g->view, &markets, gather_market, g);
    tide_view_scan(g->view, &catalog, gather_entry, g);
    if (g->count)
        qsort(g->claims, g->count, sizeof *g->claims, by_token);
    bool read = tide_pairs_read(&g->pairs, g->view);
    return read && !g->failed;
}

/* --- as text --------------------------------------------------------------------------------- */

/* The token's own symbol, else what the market or the catalog calls it. */
static void put_names(struct tide_json *j, struct tide_view *view, const struct claim *c)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &c->token);
    const struct tide_hot_contract *token = tide_view_get(view, &key);
    tide_view_need(view, RECORD_TOKEN);
    tide_view_need(view, RECORD_ASSET);
    bool known = token && token->has_instance;
    if (known && token->symbol.len)
        tide_json_title(j, "symbol", &token->symbol);
    else
        tide_json_symbol(j, "symbol", c->market ? &c->market->symbol : &c->catalog->symbol);
    if (known) {
        tide_json_title(j, "name", &token->title);
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
        tide_json_symbol(j, name, symbol);
    else
        tide_json_null(j, name);
}

/* The entries of catalogs that name the token, of all partners or of the one asked for. */
static void put_entries(struct tide_json *j, const struct gathering *g, const struct claim *c,
                        uint32_t count)
{
    tide_json_name(j, "catalog");
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_hot_catalog *entry = c[i].catalog;
        if (c[i].market || (g->partner && !c[i].asked))
            continue;
        tide_json_open(j, '{');
        tide_json_symbol(j, "symbol", &entry->symbol);
        tide_json_u64(j, "partner", entry->partner_id);
        tide_json_bool(j, "live", entry->live);
        tide_json_symbol(j, "oracleSymbol", &entry->oracle_symbol);
        tide_json_amount(j, "debtCeiling", tide_hot_i128(entry->debt_ceiling), TIDE_WAD_DECIMALS);
        tide_json_time(j, "deployedAt", entry->deployed_at);
        tide_json_close(j, '}');
    }
    tide_json_close(j, ']');
}

/* The claims of one token, the first is what it is told by. */
static void put_asset(struct tide_json *j, const struct gathering *g, const struct claim *c,
                      uint32_t count)
{
    bool own = c->market && !c->catalog, asked = false;
    for (uint32_t i = 0; i < count; i++)
        asked |= c[i].asked;
    if (g->partner && !own && !asked)
        return;
    const struct tide_hot_pool *pool = tide_pairs_find(&g->pairs, &c->token);
    tide_json_open(j, '{');
    tide_json_address(j, "address", &c->token);
    put_names(j, g->view, c);
    tide_json_bool(j, "complete", tide_lookup_is_watched(g->view, &c->token));
    put_symbol_or_null(j, "market", c->market ? &c->market->symbol : NULL);
    put_symbol_or_null(j, "pool", pool ? &pool->id : NULL);
    if (asked && !own)
        tide_json_u64(j, "partner", *g->partner);
    else if (!own)
        tide_json_u64(j, "partner", c->catalog->partner_id);
    else
        tide_json_null(j, "partner");
    tide_json_bool(j, "live", own || asked || c->catalog->live);
    tide_json_bool(j, "enabled", c->market && c->market->enabled);
    put_entries(j, g, c, count);
    tide_json_close(j, '}');
}

static void answer(const struct gathering *g, struct tide_reply *reply)
{
    struct tide_json j = tide_view_answer(g->view, reply);
    size_t said = reply->body.len;
    uint32_t next;
    tide_json_name(&j, "items");
    tide_json_open(&j, '[');
    for (uint32_t i = 0; i < g->count; i = next) {
        for (next = i + 1; next < g->count; next++)
            if (!tide_hot_address_eq(&g->claims[next].token, &g->claims[i].token))
                break;
        put_asset(&j, g, &g->claims[i], next - i);
    }
    tide_json_close(&j, ']');
    tide_json_null(&j, "next");
    tide_json_close(&j, '}');
    tide_view_tag(reply, said);
}

/* The partner of that id, as the registry writes it: "7", not "007". */
static bool find_partner(struct tide_view *view, tide_slice text, uint32_t *out)
{
    uint64_t id = 0;
    if (tide_parse_u64(&id, text, UINT32_MAX) != TIDE_OK || (text.ptr[0] == '0' && text.len > 1))
        return false;
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_PARTNER, (uint32_t)id);
    *out = (uint32_t)id;
    return tide_view_get(view, &key) != NULL;
}

void tide_route_assets(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    const struct tide_param_value *partner = tide_request_param(request, TIDE_PARAM_partnerId);
    struct tide_view view;
    uint32_t id;
    if (!tide_view_open(&view, context, request, reply))
        return;
    struct gathering g = { .view = &view, .partner = partner->given ? &id : NULL };
    if (partner->given && !find_partner(&view, partner->text, &id)) {
        tide_reply_problem(reply, 404, "no_partner", "There is no partner of that id.");
    } else if (gather(&g)) {
        answer(&g, reply);
    } else {
        tide_reply_problem(reply, 503, "too_large", "There are more assets than one answer holds.");
    }
    free(g.claims);
    tide_pairs_release(&g.pairs);
    tide_view_close(&view, reply);
}
