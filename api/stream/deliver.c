/* Delivery: the filters of a subscriber, and the part of a ledger that it gets. A position moves
 * only when the message is in the buffer, so that every function may be called again for the
 * rest. */
#include "api/stream/stream_impl.h"
#include "tidemark/answer.h"
#include "tidemark/catalogue.h"

enum { STORED_VERIFIED = 2 }; /* status "verified" in the contract's record */

/* --- filters ------------------------------------------------------------ */

static bool wants_kind(const struct tide_subscriber *sub, uint16_t kind)
{
    for (uint32_t i = 0; i < sub->kind_count; i++)
        if (sub->kinds[i] == kind)
            return true;
    return sub->kind_count == 0;
}

static bool wants_asset(const struct tide_subscriber *sub, const struct tide_hot_symbol *asset)
{
    for (uint32_t i = 0; i < sub->asset_count; i++)
        if (memcmp(&sub->assets[i], asset, sizeof *asset) == 0)
            return true;
    return sub->asset_count == 0;
}

/* Returns whether the note matches the pool filter. Only events of the pools' contract have a
 * pool as their subject. */
static bool wants_subject(const struct tide_subscriber *sub, const struct stream_note *note)
{
    tide_slice pool = tide_hot_symbol_slice(&sub->pool);
    return pool.len == 0 || (note->kind < TIDE_EV_COUNT &&
                             tide_events()[note->kind].role == TIDE_ROLE_liquidity_pool &&
                             tide_slice_eq(note->subject, pool));
}

bool stream_wants_note(const struct tide_subscriber *sub, const struct stream_note *note)
{
    if (note->position.class == STREAM_PRICE)
        return stream_wants_topic(sub, TIDE_TOPIC_PRICE) && wants_asset(sub, &note->position.asset);
    return stream_wants_topic(sub, TIDE_TOPIC_EVENT) && wants_kind(sub, note->kind) &&
           wants_subject(sub, note) &&
           (!sub->contract[0] || tide_slice_eq_str(note->contract, sub->contract)) &&
           (!sub->party[0] ||
            (note->addresses.len && memmem(note->addresses.ptr, note->addresses.len, sub->party,
                                           strlen(sub->party)) != NULL));
}

/* --- compliance ------------------------------------------------------------ */

/* Returns the position as an id: with the time at which compliance was evaluated, if that is
 * later than the close of the last ledger. */
static struct stream_position id_at(const struct tide_subscriber *sub,
                                    struct stream_position position)
{
    bool later = sub->seen > sub->closed_ms / 1000;
    position.time = stream_wants_topic(sub, TIDE_TOPIC_COMPLIANCE) && later ? sub->seen : 0;
    return position;
}

struct stream_position stream_id(const struct tide_subscriber *sub)
{
    return sub->delivered.class == STREAM_TIME ? sub->delivered : id_at(sub, sub->delivered);
}

/* Returns the first second at which a valid attestation has expired, or 0 if none expires. */
static uint64_t lapse_time(const struct tide_hot_person *person, uint64_t now)
{
    bool lapses = person->recorded && person->status == STORED_VERIFIED &&
                  person->expires_at != TIDE_HOT_NEVER && person->expires_at < INT64_MAX;
    return lapses && person->expires_at >= now ? person->expires_at + 1 : 0;
}

struct tide_standing stream_judge(struct tide_subscriber *sub, struct stream_watch *watch,
                                  uint32_t ledger, uint64_t now)
{
    struct stream_source *source = &sub->stream->options.source;
    struct tide_standing standing;
    bool blocked =
        watch->person.recorded && source->blocked(source->self, watch->person.jurisdiction, ledger);
    tide_rule_standing(&standing, &watch->person, blocked, now);
    watch->lapses_at = lapse_time(&watch->person, now);
    watch->due = false;
    return standing;
}

/* Compares what a "compliance" message shows. */
static bool same_standing(const struct tide_standing *a, const struct tide_standing *b)
{
    return a->status == b->status && a->reason == b->reason && a->compliant == b->compliant &&
           a->needs_kyc == b->needs_kyc && a->valid_until == b->valid_until;
}

tide_slice stream_standing_text(struct tide_event_stream *stream, const struct stream_watch *watch,
                                const struct tide_standing *standing,
                                const struct stream_moment *when)
{
    struct tide_buf *text = &stream->text;
    struct tide_json j = { .buf = text };
    char who[TIDE_HOT_ADDRESS_TEXT];
    tide_hot_address_text(who, &watch->address);
    tide_buf_reset(text);
    tide_buf_str(text, "event: compliance\ndata: ");
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", when->ledger);
    tide_json_time_ms(&j, "closedAt", when->closed_ms);
    tide_json_word(&j, "address", who);
    tide_json_bool(&j, "compliant", standing->compliant);
    tide_json_bool(&j, "needsKyc", standing->needs_kyc);
    tide_answer_reason(&j, standing);
    tide_json_time(&j, "evaluatedAt", when->now);
    tide_json_close(&j, '}');
    tide_buf_str(text, "\n\n");
    return stream_text(stream);
}

/* Sends an address's standing if it differs from the one sent before. The caller then moves the
 * position, sent or not. Returns false if there was no room; the standing is then still due. */
static bool send_standing(struct tide_subscriber *sub, struct stream_watch *watch,
                          const struct stream_moment *when, struct stream_position id)
{
    struct tide_standing standing = stream_judge(sub, watch, when->ledger, when->now);
    if (same_standing(&standing, &watch->standing))
        return true;
    tide_slice text = stream_standing_text(sub->stream, watch, &standing, when);
    if (!stream_sub_put(sub, &id, text)) {
        watch->due = true;
        return false;
    }
    watch->standing = standing;
    return true;
}

/* Returns the watch that lapses first, at the second `until` or before, or NULL. */
static struct stream_watch *next_lapse(struct tide_subscriber *sub, uint64_t until)
{
    struct stream_watch *next = NULL;
    for (uint32_t i = 0; i < sub->watch_count; i++) {
        struct stream_watch *watch = &sub->watches[i];
        if (watch->lapses_at && watch->lapses_at <= until &&
            (!next || watch->lapses_at < next->lapses_at))
            next = watch;
    }
    return next;
}

bool stream_deliver_lapses(struct tide_subscriber *sub, uint64_t until)
{
    struct stream_watch *watch;
    while ((watch = next_lapse(sub, until))) {
        uint64_t at = watch->lapses_at;
        assert(at > 0 && at <= until); /* next_lapse chose it */
        struct stream_moment when = { sub->delivered.ledger, sub->closed_ms, at };
        struct stream_position id = { .ledger = sub->delivered.ledger,
                                      .class = STREAM_TIME,
                                      .address = watch->address,
                                      .time = at };
        if (!send_standing(sub, watch, &when, id)) {
            watch->lapses_at = at; /* stream_judge moved it: this lapse is not sent yet */
            return false;
        }
        sub->delivered = id;
        sub->seen = at > sub->seen ? at : sub->seen;
    }
    return true;
}

/* --- a piece ------------------------------------------------------------ */

static struct stream_watch *find_watch(struct tide_subscriber *sub,
                                       const struct tide_hot_address *address)
{
    for (uint32_t i = 0; i < sub->watch_count; i++)
        if (tide_hot_address_eq(&sub->watches[i].address, address))
            return &sub->watches[i];
    return NULL;
}

/* Updates the record. "Frozen" and ComplianceRec are separate entries: a change of one leaves
 * the other. */
static void apply_change(struct stream_watch *watch, const struct stream_change *change)
{
    uint8_t frozen = watch->person.frozen;
    watch->due = true;
    if (change->frozen_entry) {
        watch->person.frozen = change->person.frozen;
    } else {
        watch->person = change->person;
        watch->person.frozen = frozen;
    }
}

/* Applies the ledger's changes, and marks the standings that it may have changed as due. A
 * second call has no effect. */
static void apply_changes(struct tide_subscriber *sub, const struct stream_piece *piece,
                          uint64_t now)
{
    for (uint32_t i = 0; i < piece->change_count; i++) {
        struct stream_watch *watch = find_watch(sub, &piece->changes[i].address);
        if (watch)
            apply_change(watch, &piece->changes[i]);
    }
    for (uint32_t i = 0; i < sub->watch_count; i++) {
        struct stream_watch *watch = &sub->watches[i];
        watch->due |= piece->blocks_changed || (watch->lapses_at && watch->lapses_at <= now);
    }
}

/* Sends the due standings in order of address. `now` never goes back: a lapse that was sent
 * before stays true. */
static bool deliver_compliance(struct tide_subscriber *sub, const struct stream_piece *piece)
{
    uint64_t closed = piece->closed_ms / 1000;
    uint64_t now = sub->seen > closed ? sub->seen : closed;
    struct stream_moment when = { piece->ledger, piece->closed_ms, now };
    apply_changes(sub, piece, now);
    for (uint32_t i = 0; i < sub->watch_count; i++) {
        struct stream_watch *watch = &sub->watches[i];
        struct stream_position position = { .ledger = piece->ledger,
                                            .class = STREAM_COMPLIANCE,
                                            .address = watch->address };
        if (!watch->due)
            continue;
        if (!send_standing(sub, watch, &when, id_at(sub, position)))
            return false;
        if (stream_position_cmp(&position, &sub->delivered) > 0)
            sub->delivered = position;
    }
    return true;
}

/* Sends the end of a ledger: standings that changed, then the ledger's own message. */
static bool deliver_whole(struct tide_subscriber *sub, const struct stream_piece *piece)
{
    assert(piece->last && piece->ledger >= sub->delivered.ledger);
    if (stream_wants_topic(sub, TIDE_TOPIC_COMPLIANCE) && !deliver_compliance(sub, piece))
        return false;
    struct stream_position id = stream_whole(piece->ledger);
    uint64_t closed = piece->closed_ms / 1000;
    uint64_t seen = sub->seen > closed ? sub->seen : 0;
    id.time = stream_wants_topic(sub, TIDE_TOPIC_COMPLIANCE) ? seen : 0;
    if (stream_wants_topic(sub, TIDE_TOPIC_LEDGER) && !stream_sub_put(sub, &id, piece->text))
        return false;
    sub->delivered = stream_whole(piece->ledger);
    sub->closed_ms = piece->closed_ms;
    sub->seen = seen ? seen : closed;
    return true;
}

bool stream_deliver(struct tide_subscriber *sub, const struct stream_piece *piece)
{
    assert(stream_position_cmp(&piece->end, &sub->delivered) > 0); /* stream_piece_after chose it */
    /* Lapses before this ledger's close come first, because positions have one order. */
    if (piece->ledger > sub->delivered.ledger && piece->closed_ms &&
        !stream_deliver_lapses(sub, piece->closed_ms / 1000 - 1))
        return false;
    for (uint32_t i = 0; i < piece->note_count; i++) {
        const struct stream_note *note = &piece->notes[i];
        if (stream_position_cmp(&note->position, &sub->delivered) <= 0)
            continue;
        struct stream_position id = id_at(sub, note->position);
        if (stream_wants_note(sub, note) && !stream_sub_put(sub, &id, note->text))
            return false;
        sub->delivered = note->position;
    }
    if (piece->last)
        return deliver_whole(sub, piece);
    assert(stream_position_cmp(&piece->end, &sub->delivered) >= 0); /* notes end before it */
    sub->delivered = piece->end;
    return true;
}
