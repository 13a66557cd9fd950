/* Rows of one contract event: to the table of its kind, or to event.raw with the reason. */
#include "indexer/decode/decode_impl.h"

#include "indexer/base/copy.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"

#include <string.h>

enum {
    TOPICS_MAX = 16,
    EVENT_COMMON = 7,
    LOG_COLUMNS = EVENT_COMMON + 3,
    RAW_COLUMNS = EVENT_COMMON + 3
};

static void put_common(struct tide_decode *d, struct tide_buf *out, const struct tide_event *event,
                       const struct tide_contract *contract)
{
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_int4(out, (int32_t)d->header.sequence);
    tide_copy_int4(out, (int32_t)event->tx);
    tide_copy_int4(out, (int32_t)event->op);
    tide_copy_int4(out, (int32_t)event->index);
    tide_copy_time(out, d->closed_ms);
    tide_copy_bytes(out, contract->address, 56);
}

/* Returns whether the topics fit the form's types, if of its optional parts those of the mask are
 * there. Also assigns them to fields. */
static bool assign_topics(const struct tide_kind *kind, const struct tide_event_form *form,
                          const tide_slice *topics, uint32_t mask, tide_slice *values)
{
    uint32_t at = 1, optional = 0;
    bool fits = true;
    for (uint32_t i = 0; i < form->topic_count; i++) {
        const struct tide_part *part = &form->topics[i];
        bool there = !part->optional || (mask >> optional & 1);
        optional += part->optional;
        values[part->field] = there ? topics[at++] : (tide_slice){ 0 };
        fits &= !there || value_fits(kind->fields[part->field].type, values[part->field]);
    }
    return fits;
}

/* Assigns the topics behind the event's name to fields. Which of the optional ones are there
 * follows from their number and, where that leaves a choice, from their types. */
static bool collect_topics(struct tide_decode *d, const struct tide_kind *kind,
                           const struct tide_event_form *form, const tide_slice *topics,
                           uint32_t count, tide_slice *values)
{
    assert(count > 0 && form->topic_count <= TIDE_PARTS_MAX);
    uint32_t optional = 0, given = count - 1;
    for (uint32_t i = 0; i < form->topic_count; i++)
        optional += form->topics[i].optional;
    uint32_t fixed = form->topic_count - optional, any = UINT32_MAX;
    for (uint32_t mask = 0; mask < 1u << optional; mask++) {
        if (fixed + (uint32_t)__builtin_popcount(mask) != given)
            continue;
        any = mask;
        if (assign_topics(kind, form, topics, mask, values))
            return true;
    }
    if (any == UINT32_MAX)
        return value_reject(d, "topic count", (tide_slice){ 0 });
    (void)assign_topics(kind, form, topics, any, values); /* put_fields names the wrong type */
    return true;
}

/* Assigns the items of a vec to fields in order. Returns false, with the reason, if there are more
 * or fewer. */
static bool collect_items(struct tide_decode *d, const struct tide_event_form *form,
                          tide_slice data, tide_slice *values)
{
    struct tide_xdr x = tide_xdr_of(data);
    if (tide_xdr_u32(&x) != TIDE_SCV_VEC || !tide_xdr_bool(&x))
        return value_reject(d, "data is not a vec", (tide_slice){ 0 });
    uint32_t count = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < form->data_count; i++) {
        if (i == count)
            return value_reject(d, "data vec too short", (tide_slice){ 0 });
        values[form->data[i].field] = tide_scval_span(&x);
    }
    return count == form->data_count || value_reject(d, "data vec too long", (tide_slice){ 0 });
}

static const struct tide_part *part_named(const struct tide_event_form *form, tide_slice name)
{
    for (uint32_t i = 0; i < form->data_count; i++)
        if (tide_slice_eq(form->data[i].name, name))
            return &form->data[i];
    return NULL;
}

/* Assigns the members of a map to fields by their names. */
static bool collect_members(struct tide_decode *d, const struct tide_event_form *form,
                            tide_slice data, tide_slice *values)
{
    struct tide_xdr x = tide_xdr_of(data);
    if (tide_xdr_u32(&x) != TIDE_SCV_MAP || !tide_xdr_bool(&x))
        return value_reject(d, "data is not a map", (tide_slice){ 0 });
    uint32_t count = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < count; i++) {
        if (tide_xdr_u32(&x) != TIDE_SCV_SYMBOL)
            return value_reject(d, "data is not a map", (tide_slice){ 0 });
        tide_slice name = tide_xdr_var(&x, 32);
        const struct tide_part *part = part_named(form, name);
        /* A name that occurs twice counts as unknown; the host makes no such map. */
        if (!part || values[part->field].len)
            return value_reject(d, "unknown field", name);
        values[part->field] = tide_scval_span(&x);
    }
    return true;
}

static bool collect_data(struct tide_decode *d, const struct tide_event_form *form, tide_slice data,
                         tide_slice *values)
{
    if (form->shape == TIDE_SHAPE_VEC)
        return collect_items(d, form, data, values);
    if (form->shape == TIDE_SHAPE_MAP)
        return collect_members(d, form, data, values);
    assert(form->data_count == 1);
    values[form->data[0].field] = data;
    return true;
}

/* Returns whether the form has the field, and the field may not be absent in it. */
static bool is_required(const struct tide_event_form *form, uint32_t field)
{
    for (uint32_t i = 0; i < form->topic_count; i++)
        if (form->topics[i].field == field)
            return !form->topics[i].optional;
    for (uint32_t i = 0; i < form->data_count; i++)
        if (form->data[i].field == field)
            return !form->data[i].optional;
    return false;
}

/* Appends the type of an optional value; NULL where it is absent. */
static void put_type(struct tide_buf *out, tide_slice value)
{
    const char *type = value.len ? value_muxed_type(value) : NULL;
    if (type)
        tide_copy_bytes(out, type, strlen(type));
    else
        tide_copy_null(out);
}

/* Appends the columns of the kind from `values`. A void member counts as absent. */
static bool put_fields(struct tide_decode *d, struct tide_buf *out, const struct tide_kind *kind,
                       const struct tide_event_form *form, tide_slice *values)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        bool absent = values[i].len == 0;
        absent |= f->place == TIDE_P_DATA_OPT && value_is_void(values[i]);
        if (f->place == TIDE_P_TYPE)
            put_type(out, values[i - 1]);
        else if (absent && is_required(form, i))
            return value_reject(d, "missing field", tide_slice_str(f->column));
        else if (absent)
            tide_copy_null(out);
        else if (!value_put(d, out, f->type, values[i]))
            return value_reject(d, "type of field", tide_slice_str(f->column));
    }
    if (kind->form_count > 1)
        tide_copy_int2(out, (int16_t)(form - kind->forms));
    return true;
}

/* Returns whether an earlier address field has the same value: event.log lists an address once. */
static bool address_seen_before(const struct tide_kind *kind, const tide_slice *values, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (kind->fields[i].type == TIDE_T_ADDR && tide_slice_eq(values[i], values[at]))
            return true;
    return false;
}

/* Appends the row of event.log: the table's name, the subject and all addresses of the event. */
static void put_log(struct tide_decode *d, const struct tide_event *event,
                    const struct tide_contract *contract, const struct tide_kind *kind,
                    const tide_slice *values)
{
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_EVENT_LOG);
    uint32_t count;
    const char *table = tide_tables(&count)[kind->table].name;
    tide_copy_row(&rows->copy, LOG_COLUMNS);
    put_common(d, &rows->copy, event, contract);
    tide_copy_bytes(&rows->copy, table, strlen(table));
    int subject = -1;
    uint32_t addresses = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].subject && kind->fields[i].type == TIDE_T_SYM)
            subject = (int)i;
        addresses += kind->fields[i].type == TIDE_T_ADDR && values[i].len &&
                     !address_seen_before(kind, values, i);
    }
    if (subject < 0 || !value_put(d, &rows->copy, TIDE_T_SYM, values[subject]))
        tide_copy_null(&rows->copy);
    struct tide_copy_array array = tide_copy_array_begin(&rows->copy, TIDE_OID_TEXT, addresses);
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].type == TIDE_T_ADDR && values[i].len &&
            !address_seen_before(kind, values, i))
            (void)value_put(d, &rows->copy, TIDE_T_ADDR,
                            values[i]); /* the value fitted the event's own row */
    tide_copy_array_end(&rows->copy, array);
    rows->count++;
}

/* Appends the event's row as that form of the kind. Returns false, with the reason and no row, if
 * the event does not fit it. */
static bool try_form(struct tide_decode *d, const struct tide_event *event,
                     const struct tide_contract *contract, const struct tide_kind *kind,
                     const struct tide_event_form *form, const tide_slice *topics,
                     tide_slice *values)
{
    memset(values, 0, TIDE_FIELDS_MAX * sizeof *values);
    if (!collect_topics(d, kind, form, topics, event->topic_count, values) ||
        !collect_data(d, form, event->data, values))
        return false;
    struct tide_rows *rows = decode_rows(d, kind->table);
    size_t mark = rows->copy.len;
    tide_copy_row(&rows->copy,
                  (uint16_t)(EVENT_COMMON + kind->field_count + (kind->form_count > 1)));
    put_common(d, &rows->copy, event, contract);
    if (!put_fields(d, &rows->copy, kind, form, values)) {
        rows->copy.len = mark;
        return false;
    }
    rows->count++;
    return true;
}

/* Returns whether the event's data has the shape of the form. */
static bool has_shape(const struct tide_kind *kind, const struct tide_event_form *form,
                      tide_slice data)
{
    int type = tide_scval_type_of(data);
    if (form->shape != TIDE_SHAPE_VALUE)
        return type == (form->shape == TIDE_SHAPE_MAP ? TIDE_SCV_MAP : TIDE_SCV_VEC);
    return (type != TIDE_SCV_MAP && type != TIDE_SCV_VEC) ||
           value_fits(kind->fields[form->data[0].field].type, data);
}

/* Tries the forms of the kind whose shape the data has: the reason is then about the form that was
 * meant. If none has it, tries the first one, for the reason. */
static bool try_forms(struct tide_decode *d, const struct tide_event *event,
                      const struct tide_contract *contract, const struct tide_kind *kind,
                      const tide_slice *topics, tide_slice *values)
{
    assert(kind->form_count > 0);
    bool tried = false, fits = false;
    for (uint32_t i = 0; i < kind->form_count && !fits; i++) {
        if (!has_shape(kind, &kind->forms[i], event->data))
            continue;
        fits = try_form(d, event, contract, kind, &kind->forms[i], topics, values);
        tried = true;
    }
    return tried ? fits : try_form(d, event, contract, kind, &kind->forms[0], topics, values);
}

/* Appends the event's rows as that kind. Returns false, with the reason and no rows, if the event
 * does not fit it. */
static bool try_kind(struct tide_decode *d, const struct tide_event *event,
                     const struct tide_contract *contract, const struct tide_kind *kind,
                     const tide_slice *topics)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX && (unsigned)kind->table < TIDE_TABLES_MAX);
    tide_slice values[TIDE_FIELDS_MAX];
    if (kind->system != (event->type == 0))
        return value_reject(d, "event type", (tide_slice){ 0 });
    if (!try_forms(d, event, contract, kind, topics, values))
        return false;
    if (kind == &tide_events()[TIDE_EV_synthetic_engine_market_created])
        relevance_discover(d, values[value_field_index(kind, "token")], true, event->tx);
    if (d->with_log)
        put_log(d, event, contract, kind, values);
    return true;
}

static void put_raw(struct tide_decode *d, const struct tide_event *event,
                    const struct tide_contract *contract)
{
    assert(d->reason[0]);
    d->counts.raw_events++;
    d->events.private_event |= contract->role == TIDE_ROLE_compliance_registry;
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_EVENT_RAW);
    tide_copy_row(&rows->copy, RAW_COLUMNS);
    put_common(d, &rows->copy, event, contract);
    tide_copy_int2(&rows->copy, (int16_t)event->type);
    tide_copy_bytes(&rows->copy, d->reason, strlen(d->reason));
    tide_copy_bytes(&rows->copy, event->xdr.ptr, event->xdr.len);
    rows->count++;
}

/* Returns whether a topic is an address that the deployment names. Events of Stellar assets come
 * from the whole network: they are stored inside a transaction of the protocol, or if they name
 * such an address. */
static bool names_deployment(const struct tide_decode *d, const tide_slice *topics, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (tide_scval_type_of(topics[i]) == TIDE_SCV_ADDRESS &&
            relevance_names(d, (tide_slice){ topics[i].ptr + 4, topics[i].len - 4 }))
            return true;
    return false;
}

/* Notes the addresses for which the event and its call are kept, if a token is found later. */
static void note_named(struct tide_decode *d, const struct tide_event *event,
                       const tide_slice *topics, uint32_t count)
{
    assert(count <= TOPICS_MAX);
    for (uint32_t i = 1; i < count && d->kept.late; i++)
        if (tide_scval_type_of(topics[i]) == TIDE_SCV_ADDRESS) {
            tide_slice address = { topics[i].ptr + 4, topics[i].len - 4 };
            (void)relevance_takes_part(d, address, (int32_t)event->index);
            (void)relevance_takes_part(d, address, KEPT_CALL);
        }
}

/* Tries all kinds of the event's name. Returns false, with the reason, if it fits none. */
static bool try_kinds(struct tide_decode *d, const struct tide_event *event,
                      const struct tide_contract *contract, const tide_slice *topics)
{
    tide_slice name = { 0 };
    if (event->topic_count > 0 && tide_scval_type_of(topics[0]) == TIDE_SCV_SYMBOL)
        name = (tide_slice){ topics[0].ptr + 8, tide_be32(topics[0].ptr + 4) };
    const struct tide_kind *kind = tide_event_find(contract->role, name, NULL);
    if (!kind)
        return value_reject(d, "unknown event", name);
    for (; kind; kind = tide_event_find(contract->role, name, kind)) {
        if (try_kind(d, event, contract, kind, topics)) {
            d->counts.events++;
            return true;
        }
    }
    return false;
}

static void store_typed_or_raw(struct tide_decode *d, const struct tide_event *event,
                               const struct tide_contract *contract, const tide_slice *topics)
{
    assert(event->topic_count <= TOPICS_MAX);
    if (try_kinds(d, event, contract, topics))
        return;
    put_raw(d, event, contract);
    d->counts.events++;
}

bool decode_event_again(struct tide_decode *d, const struct tide_event *event)
{
    const struct tide_contract *contract = tide_deployment_find(d->deployment, event->contract);
    tide_slice topics[TOPICS_MAX];
    struct tide_xdr x = tide_xdr_of(event->topics);
    if (!contract || event->topic_count > TOPICS_MAX)
        return false;
    for (uint32_t i = 0; i < event->topic_count; i++)
        topics[i] = tide_scval_span(&x);
    return try_kinds(d, event, contract, topics);
}

/* Stores the event in its typed table or raw. More than TOPICS_MAX topics fit no kind. */
static void store_event(struct tide_decode *d, const struct tide_event *event,
                        const struct tide_contract *contract, const tide_slice *topics)
{
    if (event->topic_count <= TOPICS_MAX) {
        store_typed_or_raw(d, event, contract, topics);
        return;
    }
    value_reject(d, "topic count", (tide_slice){ 0 });
    put_raw(d, event, contract);
    d->counts.events++;
}

static void read_topics(tide_slice topics[TOPICS_MAX], const struct tide_event *event)
{
    struct tide_xdr x = tide_xdr_of(event->topics);
    uint32_t kept = event->topic_count < TOPICS_MAX ? event->topic_count : TOPICS_MAX;
    for (uint32_t i = 0; i < kept; i++)
        topics[i] = tide_scval_span(&x);
}

/* Keeps an event of a Stellar asset until the transaction's end shows whether the protocol takes
 * part. */
static tide_status defer_event(struct tide_decode *d, const struct tide_event *event)
{
    struct tide_event *later = decode_list_push(&d->events.later_events, sizeof *later);
    if (!later)
        return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": events of a transaction",
                         d->header.sequence);
    *later = *event;
    return TIDE_OK;
}

tide_status decode_event(struct tide_decode *d, const struct tide_tx *tx,
                         const struct tide_event *event)
{
    if (event->level != TIDE_EVENT_OP)
        return TIDE_OK;
    if (event->op == 0)
        d->events.op_events++;
    if (!event->contract || !tx->successful)
        return TIDE_OK;
    const struct tide_contract *contract = tide_deployment_find(d->deployment, event->contract);
    if (!contract)
        return TIDE_OK;
    tide_slice topics[TOPICS_MAX];
    read_topics(topics, event);
    uint32_t kept = event->topic_count < TOPICS_MAX ? event->topic_count : TOPICS_MAX;
    if (relevance_may_show(d, contract))
        relevance_see_event(d, contract, kept ? topics[kept - 1] : (tide_slice){ 0 }, event->tx);
    if (contract->unsettled)
        return TIDE_OK;
    relevance_touched(d, contract);
    if (contract->role == TIDE_ROLE_wallet)
        return TIDE_OK;
    if (contract->role == TIDE_ROLE_stellar_asset)
        note_named(d, event, topics, kept);
    bool named = contract->role == TIDE_ROLE_stellar_asset && !d->reach.protocol &&
                 names_deployment(d, topics, kept);
    if (contract->role == TIDE_ROLE_stellar_asset && !d->reach.protocol && !named)
        return defer_event(d, event);
    d->reach.asset |= named;
    store_event(d, event, contract, topics);
    return TIDE_OK;
}

/* Stores deferred events if the transaction reached the protocol. */
void decode_later_events(struct tide_decode *d)
{
    const struct tide_event *events = d->events.later_events.items;
    for (uint32_t i = 0; i < d->events.later_events.count && d->reach.protocol; i++) {
        tide_slice topics[TOPICS_MAX];
        read_topics(topics, &events[i]);
        store_event(d, &events[i], tide_deployment_find(d->deployment, events[i].contract), topics);
    }
}
