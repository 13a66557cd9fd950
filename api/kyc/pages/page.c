/* Fills the KYC pages and sets the headers that say who may frame them. */
#include "api/kyc/pages/page.h"
#include "api/http/param.h"
#include "api/http/static_files.h"
#include "tidemark/json.h"

enum { POLICY_MAX = 8192, PAGE_DATA_MAX = 16384 }; /* bytes */

/* --- the document ------------------------------------------------------------------------ */

/* Appends text with the characters escaped that could end an HTML attribute or text. */
static void put_attribute(struct tide_buf *body, tide_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '&':
            tide_buf_str(body, "&amp;");
            break;
        case '<':
            tide_buf_str(body, "&lt;");
            break;
        case '>':
            tide_buf_str(body, "&gt;");
            break;
        case '"':
            tide_buf_str(body, "&quot;");
            break;
        default:
            tide_buf_u8(body, text.ptr[i]);
            break;
        }
    }
}

static const struct tide_kyc_brand *brand_of(const struct tide_kyc_sheet *sheet);
static void put_brand(struct tide_buf *out, const struct tide_kyc_sheet *sheet);

/* Appends the value of {{key}}. */
static void put_value(struct tide_buf *body, const struct tide_kyc_sheet *sheet, tide_slice key)
{
    if (tide_slice_eq_str(key, "data")) {
        put_attribute(body, sheet->data);
    } else if (tide_slice_eq_str(key, "brand")) {
        put_brand(body, sheet);
    } else if (tide_slice_eq_str(key, "*")) {
        put_attribute(body, tide_kyc_words_json(sheet->visit.words));
    } else {
        tide_slice text = tide_kyc_word_of(sheet->visit.words, key);
        assert(text.ptr); /* test_kyc_text checks every document */
        put_attribute(body, text);
    }
}

/* Appends the document with its {{…}} replaced. Values are not searched for {{ again. */
static void put_document(struct tide_buf *body, const struct tide_kyc_sheet *sheet)
{
    const struct tide_static_file *document = tide_static_file_of(sheet->document);
    assert(document); /* test_kyc_page checks every sheet */
    const uint8_t *at = document->text.ptr, *end = at + document->text.len, *open;
    while ((open = memmem(at, (size_t)(end - at), "{{", 2))) {
        const uint8_t *close = memmem(open, (size_t)(end - open), "}}", 2);
        assert(close);
        tide_buf_slice(body, tide_slice_of(at, (size_t)(open - at)));
        put_value(body, sheet, tide_slice_of(open + 2, (size_t)(close - open) - 2));
        at = close + 2;
    }
    tide_buf_slice(body, tide_slice_of(at, (size_t)(end - at)));
}

/* --- security headers -------------------------------------------------------------------- */

/* Copies the session's integrator, because another thread may replace the registered ones. Returns
 * NULL if the session has none. */
static const struct tide_kyc_integrator *find_integrator(struct tide_kyc_integrator *out,
                                                         const struct tide_kyc_visit *visit,
                                                         const struct tide_kyc_session *session)
{
    bool found = session && session->integrator[0] &&
                 tide_kyc_keys_integrator(visit->keys, out, tide_slice_str(session->integrator));
    return found ? out : NULL;
}

static const struct tide_kyc_provider *provider_of(const struct tide_kyc_sheet *sheet)
{
    if (!sheet->session)
        return NULL;
    return tide_kyc_provider_of(sheet->visit.settings, tide_slice_str(sheet->session->provider));
}

/* Returns the integrator's brand, else the brand of the KYC file. */
static const struct tide_kyc_brand *brand_of(const struct tide_kyc_sheet *sheet)
{
    const struct tide_kyc_integrator *integrator = sheet->integrator;
    return integrator && integrator->branded ? &integrator->brand : &sheet->visit.settings->brand;
}

/* Appends the brand as JSON. A branded integrator without a brand name shows its own name. */
static void put_brand(struct tide_buf *out, const struct tide_kyc_sheet *sheet)
{
    const struct tide_kyc_integrator *integrator = sheet->integrator;
    const struct tide_kyc_brand *brand = brand_of(sheet);
    const char *name = brand->name[0]                      ? brand->name
                       : integrator && integrator->branded ? integrator->name
                                                           : "Tidemark";
    struct tide_buf text;
    tide_buf_init(&text, PAGE_DATA_MAX);
    struct tide_json j = { .buf = &text };
    tide_json_open(&j, '{');
    tide_json_text(&j, "name", tide_slice_str(name));
    tide_json_word(&j, "color", brand->color);
    tide_json_word(&j, "colorDark", brand->color_dark);
    tide_json_word(&j, "logo", brand->logo);
    tide_json_close(&j, '}');
    put_attribute(out, tide_buf_view(&text));
    out->failed |= text.failed;
    tide_buf_release(&text);
}

/* Returns the scheme of a host of the KYC file. Hosts of this machine have no TLS; they are for
 * tests. */
static const char *scheme_of(const char *host)
{
    bool local = strncmp(host, "127.0.0.1", 9) == 0 || strncmp(host, "localhost", 9) == 0;
    return local ? "http://" : "https://";
}

/* Appends each origin of the provider's pages, between before and after. */
static void put_origins(struct tide_buf *out, const struct tide_kyc_provider *provider,
                        const char *before, const char *after)
{
    for (uint32_t i = 0; provider && i < provider->frame_host_count; i++) {
        tide_buf_str(out, before);
        tide_buf_str(out, scheme_of(provider->frame_hosts[i]));
        tide_buf_str(out, provider->frame_hosts[i]);
        tide_buf_str(out, after);
    }
}

/* Appends frame-ancestors. Returns true if any origin may frame the page. */
static bool put_ancestors(struct tide_buf *out, const struct tide_kyc_sheet *sheet)
{
    const struct tide_kyc_integrator *integrator = sheet->integrator;
    bool framed = sheet->session && sheet->framing == TIDE_KYC_FRAMED_BY_BOTH;
    tide_buf_str(out, "; frame-ancestors");
    if (framed)
        tide_buf_str(out, " 'self'");
    bool integrator_may_frame = integrator && sheet->framing != TIDE_KYC_FRAMED_NEVER;
    for (uint32_t i = 0; integrator_may_frame && i < integrator->origin_count; i++) {
        tide_buf_u8(out, ' ');
        tide_buf_str(out, integrator->origins[i]);
        framed = true;
    }
    if (!framed)
        tide_buf_str(out, " 'none'");
    return framed;
}

/* Sets Content-Security-Policy and X-Frame-Options. */
static void set_policy(struct tide_reply *reply, const struct tide_kyc_sheet *sheet)
{
    struct tide_buf policy;
    tide_buf_init(&policy, POLICY_MAX);
    tide_buf_str(&policy, "default-src 'none'; script-src 'self'; style-src 'self'; "
                          "connect-src 'self'; img-src 'self' ");
    tide_buf_str(&policy, brand_of(sheet)->logo);
    tide_buf_str(&policy, "; frame-src 'self'");
    put_origins(&policy, provider_of(sheet), " ", "");
    tide_buf_str(&policy, "; base-uri 'none'; form-action ");
    tide_buf_str(&policy, sheet->form ? "'self' " : "'none'");
    tide_buf_str(&policy, sheet->form ? sheet->visit.settings->public_url : "");
    tide_buf_str(&policy, "; require-trusted-types-for 'script'");
    bool framed = put_ancestors(&policy, sheet);
    tide_buf_u8(&policy, 0);
    if (policy.failed) {
        reply->body.failed = true;
    } else {
        tide_reply_header(reply, "Content-Security-Policy", (const char *)policy.ptr);
        /* X-Frame-Options cannot name origins, so a page that may be framed must not have it. */
        tide_reply_header(reply, "X-Frame-Options", framed ? "" : "DENY");
    }
    tide_buf_release(&policy);
}

/* Sets Permissions-Policy: this page and the provider's page may use the camera, no other page
 * may. */
static void set_permissions(struct tide_reply *reply, const struct tide_kyc_sheet *sheet)
{
    static const char *const features[] = { "camera",         "microphone",      "fullscreen",
                                            "autoplay",       "encrypted-media", "geolocation",
                                            "clipboard-write" };
    struct tide_buf value;
    tide_buf_init(&value, POLICY_MAX);
    for (size_t i = 0; i < TIDE_COUNT(features); i++) {
        tide_buf_putf(&value, "%s%s=(self", i ? ", " : "", features[i]);
        put_origins(&value, provider_of(sheet), " \"", "\"");
        tide_buf_u8(&value, ')');
    }
    tide_buf_u8(&value, 0);
    if (value.failed)
        reply->body.failed = true;
    else
        tide_reply_header(reply, "Permissions-Policy", (const char *)value.ptr);
    tide_buf_release(&value);
}

/* Copies the sheet, because the integrator that it points to lives only in this function. */
void tide_kyc_page(struct tide_reply *reply, const struct tide_kyc_sheet *of)
{
    struct tide_kyc_integrator integrator;
    struct tide_kyc_sheet filled = *of, *sheet = &filled;
    assert(of->session || of->framing == TIDE_KYC_FRAMED_NEVER);
    filled.integrator = find_integrator(&integrator, &of->visit, of->session);
    put_document(&reply->body, sheet);
    tide_slice language = tide_kyc_word_of(sheet->visit.words, TIDE_SLICE("lang"));
    char tag[16];
    assert(language.len > 0 && language.len < sizeof tag); /* test_kyc_text checks every language */
    snprintf(tag, sizeof tag, "%.*s", TIDE_SLICE_FMT(language));
    tide_reply_header(reply, "Content-Language", tag);
    reply->content_type = "text/html; charset=utf-8";
    reply->cache_control = "no-store";
    set_policy(reply, sheet);
    set_permissions(reply, sheet);
    /* The embedded page opens the provider in a tab and must stay its opener. */
    if (sheet->framing == TIDE_KYC_FRAMED_BY_THEM)
        tide_reply_header(reply, "Cross-Origin-Opener-Policy", "same-origin-allow-popups");
}

struct tide_kyc_visit tide_kyc_visit_of(const struct tide_kyc *kyc,
                                        const struct tide_request *request)
{
    tide_slice wanted = { 0 }, accept = { 0 };
    uint32_t times = 0;
    if (request) {
        const struct tide_param_value *lang = tide_request_param(request, TIDE_PARAM_lang);
        if (lang && lang->given)
            wanted = lang->text;
        accept = tide_request_header(request, "Accept-Language", &times);
    }
    return (struct tide_kyc_visit){
        .settings = kyc->settings,
        .keys = kyc->keys,
        .words = tide_kyc_words_for(kyc->texts, wanted, times == 1 ? accept : (tide_slice){ 0 }),
    };
}

void tide_kyc_page_gone(struct tide_reply *reply, struct tide_kyc_visit visit, uint16_t status)
{
    assert(status >= 400);
    const struct tide_kyc_sheet sheet = { .document = "/kyc",
                                          .data = TIDE_SLICE("{\"gone\":true}"),
                                          .visit = visit };
    tide_kyc_page(reply, &sheet);
    reply->status = status;
}

void tide_kyc_page_away(struct tide_reply *reply, struct tide_kyc_visit visit,
                        const struct tide_kyc_session *session)
{
    const struct tide_kyc_sheet sheet = { .document = "/kyc",
                                          .data = TIDE_SLICE("{\"away\":true}"),
                                          .visit = visit,
                                          .session = session,
                                          .framing = TIDE_KYC_FRAMED_BY_BOTH };
    tide_reply_reset(reply); /* discards the problem document */
    tide_kyc_page(reply, &sheet);
    reply->status = 503;
    reply->retry_after_s = 5;
}

/* --- a session --------------------------------------------------------------------------- */

static void put_item(struct tide_json *j, const char *text)
{
    tide_json_plain(j, tide_slice_str(text));
}

/* Appends the provider and the origins that its pages may have. */
static void put_provider(struct tide_json *j, const struct tide_kyc_sheet *sheet)
{
    const struct tide_kyc_provider *provider = provider_of(sheet);
    tide_json_name(j, "provider");
    tide_json_open(j, '{');
    tide_json_word(j, "key", sheet->session->provider);
    tide_json_text(j, "name", tide_slice_str(provider ? provider->name : sheet->session->provider));
    tide_json_close(j, '}');
    assert(!provider || provider->frame_host_count <= TIDE_KYC_HOSTS_MAX);
    tide_json_name(j, "frameOrigins");
    tide_json_open(j, '[');
    for (uint32_t i = 0; provider && i < provider->frame_host_count; i++) {
        char origin[TIDE_KYC_TEXT_BYTES + 8];
        snprintf(origin, sizeof origin, "%s%s", scheme_of(provider->frame_hosts[i]),
                 provider->frame_hosts[i]);
        put_item(j, origin);
    }
    tide_json_close(j, ']');
}

static void put_start(struct tide_json *j, const struct tide_kyc_sheet *sheet)
{
    char token[TIDE_KYC_TOKEN_BYTES], url[TIDE_KYC_TOKEN_BYTES + 16];
    tide_kyc_token(token, sheet->visit.settings, TIDE_KYC_FOR_START, sheet->session->id);
    int len = snprintf(url, sizeof url, "/kyc/start/%s", token);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    tide_json_word(j, "startUrl", url);
}

/* Appends the session's data for the page's script. "parents" are the origins that get messages. */
static void put_session(struct tide_json *j, const struct tide_kyc_sheet *sheet)
{
    const struct tide_kyc_session *session = sheet->session;
    const struct tide_kyc_integrator *integrator = sheet->integrator;
    char token[TIDE_KYC_TOKEN_BYTES];
    tide_json_name(j, "session");
    tide_json_open(j, '{');
    tide_json_word(j, "id", session->id);
    tide_json_word(j, "address", session->address);
    tide_json_word(j, "mode", tide_kyc_mode_text(session->mode));
    tide_json_word(j, "state", tide_kyc_public_state(session->state));
    put_provider(j, sheet);
    put_start(j, sheet);
    tide_kyc_token(token, sheet->visit.settings, TIDE_KYC_FOR_EMBED, session->id);
    tide_json_word(j, "token", token);
    if (integrator) {
        tide_json_text(j, "integrator", tide_slice_str(integrator->name));
        if (integrator->origin_count)
            tide_json_word(j, "backUrl", integrator->origins[0]);
    }
    tide_json_close(j, '}');
    tide_json_name(j, "parents");
    tide_json_open(j, '[');
    for (uint32_t i = 0; integrator && i < integrator->origin_count; i++)
        put_item(j, integrator->origins[i]);
    tide_json_close(j, ']');
}

void tide_kyc_page_session(struct tide_reply *reply, struct tide_kyc_visit visit,
                           const struct tide_kyc_session *session, enum tide_kyc_framing framing,
                           bool returned)
{
    assert(session); /* a page without a session could not be framed */
    struct tide_kyc_sheet sheet = {
        .document = "/kyc", .visit = visit, .session = session, .framing = framing
    };
    struct tide_kyc_integrator integrator;
    struct tide_buf data;
    tide_buf_init(&data, PAGE_DATA_MAX);
    sheet.integrator = find_integrator(&integrator, &visit, session);
    struct tide_json j = { .buf = &data };
    tide_json_open(&j, '{');
    tide_json_bool(&j, "embed", framing == TIDE_KYC_FRAMED_BY_THEM);
    tide_json_bool(&j, "returned", returned);
    put_session(&j, &sheet);
    tide_json_close(&j, '}');
    sheet.data = tide_buf_view(&data);
    reply->body.failed |= data.failed;
    tide_kyc_page(reply, &sheet);
    tide_buf_release(&data);
}
