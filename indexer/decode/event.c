/* Rows of one contract event: to its typed table and event.log, or to event.raw with the reason. */
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
    tide_copy_time(out, d->closed_at);
    tide_copy_bytes(out, contract->address, 56);
}

/* Assigns the topics behind the event's name to fields. The kind's one optional topic is present if
 * the event has one topic more than the required ones. */
static bool collect_topics(struct tide_decode *d, const struct tide_kind *kind,
                           const tide_slice *topics, uint32_t count, tide_slice *values)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX && count > 0);
    uint32_t fixed = 0;
    uint32_t optional = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        fixed += kind->fields[i].place == TIDE_P_TOPIC;
        optional += kind->fields[i].place == TIDE_P_TOPIC_OPT;
    }
    uint32_t given = count - 1;
    if (given != fixed && given != fixed + optional)
        return value_reject(d, "topic count", (tide_slice){ 0 });
    bool with_optional = given > fixed;
    uint32_t at = 1;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        enum tide_place place = kind->fields[i].place;
        if (place == TIDE_P_TOPIC || (place == TIDE_P_TOPIC_OPT && with_optional))
            values[i] = topics[at++];
    }
    assert(at == count);
    return true;
}

/* Assigns the items of a vec to fields in order. Returns false, with the reason, if there are more
 * or fewer. */
static bool collect_items(struct tide_decode *d, const struct tide_kind *kind, tide_slice data,
                          tide_slice *values)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX);
    struct tide_xdr x = tide_xdr_of(data);
    if (tide_xdr_u32(&x) != TIDE_SCV_VEC || !tide_xdr_bool(&x))
        return value_reject(d, "data is not a vec", (tide_slice){ 0 });
    uint32_t count = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].place != TIDE_P_ITEM)
            continue;
        if (count-- == 0)
            return value_reject(d, "data vec too short", (tide_slice){ 0 });
        values[i] = tide_scval_span(&x);
    }
    return count == 0 || value_reject(d, "data vec too long", (tide_slice){ 0 });
}

static int field_with_place(const struct tide_kind *kind, enum tide_place place)
{
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].place == place)
            return (int)i;
    return -1;
}

/* Assigns the event's data to fields: an empty vec, a vec, a single value, or a map. */
static bool collect_data(struct tide_decode *d, const struct tide_kind *kind, tide_slice data,
                         tide_slice *values)
{
    if (kind->nothing || field_with_place(kind, TIDE_P_ITEM) >= 0)
        return collect_items(d, kind, data, values);
    int scalar = field_with_place(kind, TIDE_P_SCALAR);
    if (scalar >= 0 && tide_scval_type_of(data) != TIDE_SCV_MAP) {
        values[scalar] = data;
        return true;
    }
    tide_slice unknown = { 0 };
    if (!value_members(kind, NULL, data, values, &unknown))
        return value_reject(d, "data is not a map", (tide_slice){ 0 });
    /* A map in place of the single value is valid only if it holds another field, too. Otherwise
     * the row would not show which of the two forms the event had. */
    int beside = scalar >= 0 ? field_with_place(kind, TIDE_P_DATA_OPT) : -1;
    if (scalar >= 0 && (beside < 0 || values[beside].len == 0 || value_is_void(values[beside])))
        return value_reject(d, "map of a single value", (tide_slice){ 0 });
    return unknown.len == 0 || value_reject(d, "unknown field", unknown);
}

/* Appends the columns of the kind from `values`. A void member counts as absent. */
static bool put_fields(struct tide_decode *d, struct tide_buf *out, const struct tide_kind *kind,
                       tide_slice *values)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        bool optional = f->place == TIDE_P_TOPIC_OPT || f->place == TIDE_P_DATA_OPT;
        if (values[i].len && f->place == TIDE_P_DATA_OPT && value_is_void(values[i]))
            values[i].len = 0;
        if (values[i].len == 0 && !optional)
            return value_reject(d, "missing field", tide_slice_str(f->column));
        if (values[i].len == 0)
            tide_copy_null(out);
        else if (!value_put(d, out, f->type, values[i]))
            return value_reject(d, "type of field", tide_slice_str(f->column));
    }
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

/* Appends the event's rows as that kind. Returns false, with the reason and no rows, if the event
 * does not fit it. */
static bool try_kind(struct tide_decode *d, const struct tide_event *event,
                     const struct tide_contract *contract, const struct tide_kind *kind,
                     const tide_slice *topics)
{
    assert(kind->field_count <= TIDE_FIELDS_MAX && (unsigned)kind->table < TIDE_TABLES_MAX);
    tide_slice values[TIDE_FIELDS_MAX] = { { 0 } };
    if (kind->system != (event->type == 0))
        return value_reject(d, "event type", (tide_slice){ 0 });
    if (!collect_topics(d, kind, topics, event->topic_count, values) ||
        !collect_data(d, kind, event->data, values))
        return false;
    struct tide_rows *rows = decode_rows(d, kind->table);
    size_t mark = rows->copy.len;
    tide_copy_row(&rows->copy, (uint16_t)(EVENT_COMMON + kind->field_count));
    put_common(d, &rows->copy, event, contract);
    if (!put_fields(d, &rows->copy, kind, values)) {
        rows->copy.len = mark;
        return false;
    }
    if (kind == &tide_events()[TIDE_EV_synthetic_engine_market_created])
        relevance_discover(d, values[value_field_index(kind, "token")], true, event->tx);
    if (d->wanted[kind->table])
        rows->count++;
    else
        rows->copy.len = mark;
    if (d->wanted[TIDE_TABLE_EVENT_LOG])
        put_log(d, event, contract, kind, values);
    return true;
}

static void put_raw(struct tide_decode *d, const struct tide_event *event,
                    const struct tide_contract *contract)
{
    assert(d->reason[0]);
    d->counts.raw_events++;
    d->private_event |= contract->role == TIDE_ROLE_compliance_registry;
    if (!d->wanted[TIDE_TABLE_EVENT_RAW])
        return;
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
    for (uint32_t i = 1; i < count && d->late; i++)
        if (tide_scval_type_of(topics[i]) == TIDE_SCV_ADDRESS) {
            tide_slice address = { topics[i].ptr + 4, topics[i].len - 4 };
            (void)relevance_takes_part(d, address, (int32_t)event->index);
            (void)relevance_takes_part(d, address, KEPT_CALL);
        }
}

/* Returns whether events of that name are wanted: for a table of any of its kinds, or for
 * event.log. */
static bool is_wanted(const struct tide_decode *d, const struct tide_kind *kind, tide_slice name)
{
    bool wanted = d->wanted[TIDE_TABLE_EVENT_LOG];
    for (; kind && !wanted; kind = tide_event_find(kind->role, name, kind))
        wanted = d->wanted[kind->table];
    return wanted;
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
    if (!is_wanted(d, kind, name))
        return true; /* outside the index scope: not decoded, not counted */
    for (; kind; kind = tide_event_find(contract->role, name, kind)) {
        if (try_kind(d, event, contract, kind, topics)) {
            d->counts.events += d->wanted[kind->table] || d->wanted[TIDE_TABLE_EVENT_LOG];
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
    struct tide_event *later = decode_list_push(&d->later_events, sizeof *later);
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
        d->op_events++;
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
    if (contract->role == TIDE_ROLE_wallet || !d->want_events)
        return TIDE_OK;
    if (contract->role == TIDE_ROLE_stellar_asset)
        note_named(d, event, topics, kept);
    bool named = contract->role == TIDE_ROLE_stellar_asset && !d->protocol &&
                 names_deployment(d, topics, kept);
    if (contract->role == TIDE_ROLE_stellar_asset && !d->protocol && !named)
        return defer_event(d, event);
    d->as_asset |= named;
    store_event(d, event, contract, topics);
    return TIDE_OK;
}

/* Stores deferred events if the transaction reached the protocol. */
void decode_later_events(struct tide_decode *d)
{
    const struct tide_event *events = d->later_events.items;
    for (uint32_t i = 0; i < d->later_events.count && d->protocol; i++) {
        tide_slice topics[TOPICS_MAX];
        read_topics(topics, &events[i]);
        store_event(d, &events[i], tide_deployment_find(d->deployment, events[i].contract), topics);
    }
}
