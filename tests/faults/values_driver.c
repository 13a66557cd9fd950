/* Tells tests how the ledger's values became rows.
 *
 * usage: values_driver kinds            the catalogue's kinds with their fields, as a JSON array
 *        values_driver values < HEX     the JSON of each line's ScVal
 *        values_driver events < HEX     type, topics and data of each line's ContractEvent */
#include "indexer/decode/redecode.h"
#include "tidemark/catalogue.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(prefix, name) [TIDE_##prefix##_##name] = #name
static const char *const types[] = {
    NAME(T, BOOL),     NAME(T, U32),      NAME(T, U64),     NAME(T, I128),     NAME(T, SYM),
    NAME(T, ADDR),     NAME(T, BYTES),    NAME(T, B32),     NAME(T, STR),      NAME(T, TEXT),
    NAME(T, ENUM_U32), NAME(T, ENUM_SYM), NAME(T, VEC_SYM), NAME(T, VEC_ADDR), NAME(T, VEC_U32),
    NAME(T, VEC_U64),  NAME(T, ANY),      NAME(T, MUXED),
};
static const char *const places[] = {
    NAME(P, TOPIC),  NAME(P, TOPIC_OPT), NAME(P, DATA),  NAME(P, DATA_OPT),
    NAME(P, TYPE),   NAME(P, KEY),       NAME(P, FIELD), NAME(P, SUB),
    NAME(P, ACTION), NAME(P, VALUE),     NAME(P, SLOT),
};
static const char *const shapes[] = { NAME(SHAPE, MAP), NAME(SHAPE, VALUE), NAME(SHAPE, VEC) };

static void put_parts(struct tide_buf *json, const char *name, const struct tide_part *parts,
                      uint32_t count)
{
    tide_buf_putf(json, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        tide_buf_putf(json, "%s[%u,\"%.*s\"]", i ? "," : "", parts[i].field,
                      TIDE_SLICE_FMT(parts[i].name));
    tide_buf_u8(json, ']');
}

static void put_field(struct tide_buf *json, const struct tide_field *field)
{
    tide_buf_putf(json, "{\"column\":\"%s\",\"type\":\"%s\",\"place\":\"%s\",\"vec_key\":%s",
                  field->column, types[field->type], places[field->place],
                  field->vec_key ? "true" : "false");
    tide_buf_putf(json, ",\"name\":\"%s\",\"outer\":\"%s\"}", field->name ? field->name : "",
                  field->outer ? field->outer : "");
}

static void put_kind(struct tide_buf *json, const struct tide_kind *kind)
{
    static const char *const classes[] = { "event", "entry", "instance" };
    uint32_t count;
    tide_buf_putf(json, "{\"class\":\"%s\",\"name\":\"%s\",\"table\":\"%s\",\"temporary\":%s",
                  classes[kind->class], kind->name ? kind->name : "",
                  tide_tables(&count)[kind->table].name, kind->temporary ? "true" : "false");
    tide_buf_putf(json, ",\"system\":%s,\"fields\":[", kind->system ? "true" : "false");
    for (uint32_t i = 0; i < kind->field_count; i++) {
        tide_buf_str(json, i ? "," : "");
        put_field(json, &kind->fields[i]);
    }
    tide_buf_str(json, "],\"forms\":[");
    for (uint32_t i = 0; i < kind->form_count; i++) {
        const struct tide_event_form *form = &kind->forms[i];
        tide_buf_putf(json, "%s{\"shape\":\"%s\"", i ? "," : "", shapes[form->shape]);
        put_parts(json, "topics", form->topics, form->topic_count);
        put_parts(json, "data", form->data, form->data_count);
        tide_buf_u8(json, '}');
    }
    tide_buf_str(json, "]}");
}

static void put_kinds(struct tide_buf *json, const struct tide_kind *kinds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tide_buf_str(json, json->len > 1 ? ",\n" : "");
        put_kind(json, &kinds[i]);
    }
}

static bool put_event(struct tide_buf *json, tide_slice xdr)
{
    struct tide_raw_event event;
    bool ok = tide_raw_event_read(&event, xdr);
    struct tide_xdr x = tide_xdr_of(event.topics);
    tide_buf_putf(json, "{\"type\":\"%s\",\"topics\":", ok && event.system ? "system" : "contract");
    for (uint32_t i = 0; i < event.topic_count && ok; i++) {
        tide_buf_u8(json, i ? ',' : '[');
        ok = tide_scval_json(json, tide_scval_span(&x)) == TIDE_OK;
    }
    tide_buf_str(json, event.topic_count ? "],\"data\":" : "[],\"data\":");
    ok = ok && tide_scval_json(json, event.data) == TIDE_OK;
    tide_buf_u8(json, '}');
    return ok;
}

static bool put_line(struct tide_buf *json, const char *line, bool event)
{
    struct tide_buf xdr;
    tide_buf_init(&xdr, TIDE_JSON_BYTES_MAX);
    bool ok = tide_raw_hex(&xdr, tide_slice_of(line, strcspn(line, "\n")));
    if (ok)
        ok = event ? put_event(json, tide_buf_view(&xdr))
                   : tide_scval_json(json, tide_buf_view(&xdr)) == TIDE_OK;
    tide_buf_release(&xdr);
    return ok;
}

int main(int argc, char **argv)
{
    struct tide_buf json;
    char *line = NULL;
    size_t size = 0;
    bool ok = argc == 2;
    tide_buf_init(&json, TIDE_JSON_BYTES_MAX);
    if (ok && strcmp(argv[1], "kinds") == 0) {
        tide_buf_u8(&json, '[');
        put_kinds(&json, tide_events(), TIDE_EV_COUNT);
        put_kinds(&json, tide_entries(), TIDE_EN_COUNT);
        for (int role = 0; role < (int)TIDE_ROLE_COUNT; role++)
            if (tide_instance_find((enum tide_role)role))
                put_kinds(&json, tide_instance_find((enum tide_role)role), 1);
        printf("%.*s]\n", (int)json.len, (const char *)json.ptr);
    } else {
        while (ok && getline(&line, &size, stdin) > 0) {
            tide_buf_reset(&json);
            ok = put_line(&json, line, strcmp(argv[1], "events") == 0);
            printf("%.*s\n", (int)json.len, (const char *)json.ptr);
        }
    }
    free(line);
    tide_buf_release(&json);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}
