#include "tidemark/catalogue.h"

#include "schema/catalogue/catalogue_impl.h"

#include <pthread.h>
#include <string.h>

enum line_kind {
    LINE_HEAD,
    LINE_FIELD,
    LINE_SYSTEM,
    LINE_SHAPE,
    LINE_FORM,
    LINE_SUBJECT,
    LINE_INDEX,
    LINE_BY_LEDGER,
    LINE_PACKED
};

/* One line of a .def file. */
struct line {
    enum line_kind kind;
    struct tide_kind head;
    struct tide_field field;
    const char *text; /* SUBJECT: name of the column; INDEX: list of columns; FORM: its topics */
    const char *name; /* FORM: its data */
    enum tide_shape shape; /* SHAPE, FORM */
};

#define TIDE_T_AMOUNT TIDE_T_I128 /* answers show it scaled (schema/event_fields.py) */

#define PERSISTENT false
#define TEMPORARY  true
#define FORM_SYM   false
#define FORM_VEC   true

#define FIELD_LINE(col, T, P, text_of, ...) \
    { .kind = LINE_FIELD,                   \
      .field = {                            \
          .column = col, .type = TIDE_T_##T, .place = TIDE_P_##P, .doc = text_of, __VA_ARGS__ } },

#define TIDE_EVENT(r, i, n, d) \
    { .kind = LINE_HEAD,       \
      .head = {                \
          .class = TIDE_KIND_EVENT, .role = TIDE_ROLE_##r, .id = #i, .name = n, .doc = d } },
#define TIDE_ENTRY(r, i, n, durability, d) \
    { .kind = LINE_HEAD,                   \
      .head = { .class = TIDE_KIND_ENTRY,  \
                .role = TIDE_ROLE_##r,     \
                .id = #i,                  \
                .name = n,                 \
                .doc = d,                  \
                .temporary = durability } },
#define TIDE_INSTANCE(r, d)                  \
    { .kind = LINE_HEAD,                     \
      .head = { .class = TIDE_KIND_INSTANCE, \
                .role = TIDE_ROLE_##r,       \
                .id = "instance",            \
                .name = "instance",          \
                .doc = d } },
#define TIDE_SYSTEM() { .kind = LINE_SYSTEM },
#define TIDE_SHAPE(s) { .kind = LINE_SHAPE, .shape = TIDE_SHAPE_##s },
#define TIDE_FORM(s, topics, data) \
    { .kind = LINE_FORM, .shape = TIDE_SHAPE_##s, .text = topics, .name = data },
#define TIDE_SUBJECT(f)         { .kind = LINE_SUBJECT, .text = #f },
#define TIDE_INDEX(columns)     { .kind = LINE_INDEX, .text = columns },
#define TIDE_BY_LEDGER()        { .kind = LINE_BY_LEDGER },
#define TIDE_PACKED()           { .kind = LINE_PACKED },
#define TIDE_TOPIC(f, T, d)     FIELD_LINE(#f, T, TOPIC, d, .name = #f)
#define TIDE_TOPIC_OPT(f, T, d) FIELD_LINE(#f, T, TOPIC_OPT, d, .name = #f)
#define TIDE_DATA(f, T, d)      FIELD_LINE(#f, T, DATA, d, .name = #f)
#define TIDE_DATA_OPT(f, T, d)  FIELD_LINE(#f, T, DATA_OPT, d, .name = #f)
#define TIDE_DATA_TYPED(f, d)                                                                \
    FIELD_LINE(#f, MUXED, DATA_OPT, d, .name = #f)                                           \
    FIELD_LINE(#f "_type", SYM, TYPE, "u64, string or bytes; void: written without a value", \
               .name = #f)
#define TIDE_KEY(f, T, d)           FIELD_LINE(#f, T, KEY, d, .name = #f)
#define TIDE_FIELD(f, T, d)         FIELD_LINE(#f, T, FIELD, d, .name = #f)
#define TIDE_FIELD_PRIVATE(f, T, d) FIELD_LINE(#f, T, FIELD, d, .name = #f, .is_private = true)
#define TIDE_FIELD_ACTION(f, T, d)          \
    FIELD_LINE(#f, T, FIELD, d, .name = #f) \
    FIELD_LINE("action", ANY, ACTION, "What " #f " will do, decoded", .name = #f)
#define TIDE_SUB(o, f, T, d)        FIELD_LINE(#o "_" #f, T, SUB, d, .name = #f, .outer = #o)
#define TIDE_VALUE(T, d)            FIELD_LINE("value", T, VALUE, d, .name = "value")
#define TIDE_SLOT(c, k, form, T, d) FIELD_LINE(#c, T, SLOT, d, .name = k, .vec_key = FORM_##form)

static const struct line lines[] = {
#include "schema/catalogue/all.def"
};

struct function {
    enum tide_role role;
    const char *name;
};

static const struct function functions[] = {
#define TIDE_FUNCTION(r, n) { TIDE_ROLE_##r, #n },
#include "schema/catalogue/all.def"
};

/* Each event has the forms that its lines name, or one that follows from its fields. */
enum {
    FORMS = (int)TIDE_EV_COUNT
#define TIDE_FORM(shape, topics, data) +1
#include "schema/catalogue/all.def"
};

enum { KINDS = (int)TIDE_EV_COUNT + (int)TIDE_EN_COUNT + (int)TIDE_IN_COUNT, SLOTS = 1024 };
static_assert(SLOTS > 2 * KINDS, "the hash table stays sparse");

/* Built once by build_catalogue(), constant from then on. */
static struct {
    struct tide_kind kinds[KINDS]; /* events, entries, instances */
    struct tide_field fields[TIDE_COUNT(lines)];
    struct tide_event_form forms[FORMS];
    uint32_t form_count;
    uint16_t slots[SLOTS]; /* index in kinds + 1, by class, role and name; linear probing */
    /* the functions of each role, each list ended by NULL */
    const char *function_names[TIDE_COUNT(functions) + TIDE_ROLE_COUNT];
    const char **functions_of[TIDE_ROLE_COUNT];
    pthread_once_t once;
} built = { .once = PTHREAD_ONCE_INIT };

static uint32_t slot_of(enum tide_kind_class class, enum tide_role role, tide_slice name)
{
    uint32_t h = ((uint32_t) class * 31u + (uint32_t)role) * 0x9e3779b1u ^ 0x811c9dc5u;
    for (size_t i = 0; i < name.len; i++)
        h = (h ^ name.ptr[i]) * 16777619u;
    return (h ^ h >> 15) & (SLOTS - 1);
}

static void enter_kind(uint32_t index)
{
    const struct tide_kind *kind = &built.kinds[index];
    uint32_t slot = slot_of(kind->class, kind->role, tide_slice_str(kind->name));
    while (built.slots[slot])
        slot = (slot + 1) & (SLOTS - 1);
    built.slots[slot] = (uint16_t)(index + 1);
}

static struct tide_field *field_of(struct tide_kind *kind, const char *column)
{
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].column, column) == 0)
            return &built.fields[&kind->fields[i] - built.fields];
    assert(0 && "SUBJECT names a field of its event");
    return NULL;
}

static void add_field(struct tide_kind *kind, struct tide_field *to, const struct tide_field *field)
{
    *to = *field;
    kind->field_count++;
    assert(kind->field_count <= TIDE_FIELDS_MAX);
}

static void add_part(struct tide_part *parts, uint32_t *count, struct tide_part part)
{
    assert(*count < TIDE_PARTS_MAX);
    parts[(*count)++] = part;
}

static uint32_t index_of(const struct tide_kind *kind, tide_slice column)
{
    uint32_t i = 0;
    while (i < kind->field_count && !tide_slice_eq_str(column, kind->fields[i].column))
        i++;
    assert(i < kind->field_count && "FORM names fields of its event");
    return i;
}

/* Reads the fields that a FORM line names: "admin? to_address", "live_until_ledger:expiration". */
static void read_parts(const struct tide_kind *kind, const char *text, struct tide_part *parts,
                       uint32_t *count)
{
    for (; *text; text += *text == ' ') {
        size_t len = strcspn(text, " "), colon = strcspn(text, ": ");
        bool named = colon < len, optional = text[len - 1] == '?';
        tide_slice word = tide_slice_of(text, len - optional);
        tide_slice column = named ? tide_slice_of(text + colon + 1, word.len - colon - 1) : word;
        add_part(parts, count,
                 (struct tide_part){ .field = index_of(kind, column),
                                     .optional = optional,
                                     .name = named ? tide_slice_of(text, colon) : word });
        text += len;
    }
}

static struct tide_event_form *new_form(struct tide_kind *kind, enum tide_shape shape)
{
    assert(built.form_count < FORMS);
    struct tide_event_form *form = &built.forms[built.form_count++];
    form->shape = shape;
    kind->forms = kind->form_count++ ? kind->forms : form;
    return form;
}

static void add_form(struct tide_kind *kind, const struct line *line)
{
    struct tide_event_form *form = new_form(kind, line->shape);
    read_parts(kind, line->text, form->topics, &form->topic_count);
    read_parts(kind, line->name, form->data, &form->data_count);
}

/* Gives an event whose lines name no form the one that follows from its fields. */
static void end_kind(struct tide_kind *kind)
{
    if (!kind || kind->class != TIDE_KIND_EVENT || kind->form_count)
        return;
    struct tide_event_form *form = new_form(kind, kind->shape);
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        bool topic = f->place == TIDE_P_TOPIC || f->place == TIDE_P_TOPIC_OPT;
        struct tide_part part = { .field = i,
                                  .optional =
                                      f->place == TIDE_P_TOPIC_OPT || f->place == TIDE_P_DATA_OPT,
                                  .name = tide_slice_str(f->name) };
        if (topic)
            add_part(form->topics, &form->topic_count, part);
        else if (f->place != TIDE_P_TYPE)
            add_part(form->data, &form->data_count, part);
    }
}

static void apply_line(struct tide_kind *kind, const struct line *line, uint32_t *fields)
{
    switch (line->kind) {
    case LINE_HEAD:
        return;
    case LINE_FIELD:
        add_field(kind, &built.fields[(*fields)++], &line->field);
        return;
    case LINE_SYSTEM:
        kind->system = true;
        return;
    case LINE_SHAPE:
        kind->shape = line->shape;
        return;
    case LINE_FORM:
        add_form(kind, line);
        return;
    case LINE_BY_LEDGER:
        kind->by_ledger = true;
        return;
    case LINE_PACKED:
        assert(kind->class == TIDE_KIND_ENTRY); /* instances may stand in history.raw too */
        kind->packed = true;
        return;
    case LINE_SUBJECT:
        field_of(kind, line->text)->subject = true;
        return;
    case LINE_INDEX:
        for (uint32_t i = 0;; i++) {
            assert(i < TIDE_KIND_INDEXES_MAX);
            if (!kind->indexes[i]) {
                kind->indexes[i] = line->text;
                return;
            }
        }
    }
}

static void build_functions(void)
{
    const char **next = built.function_names;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++) {
        built.functions_of[role] = next;
        for (size_t i = 0; i < TIDE_COUNT(functions); i++)
            if (functions[i].role == role)
                *next++ = functions[i].name;
        *next++ = NULL;
    }
    assert(next == built.function_names + TIDE_COUNT(built.function_names));
}

static void build_catalogue(void)
{
    uint32_t next[3] = { 0, TIDE_EV_COUNT, (uint32_t)TIDE_EV_COUNT + TIDE_EN_COUNT };
    uint32_t fields = 0;
    struct tide_kind *kind = NULL;
    for (size_t i = 0; i < TIDE_COUNT(lines); i++) {
        if (lines[i].kind == LINE_HEAD) {
            end_kind(kind);
            kind = &built.kinds[next[lines[i].head.class]++];
            *kind = lines[i].head;
            kind->fields = &built.fields[fields];
            kind->table = kind->state_table = -1;
        }
        assert(kind);
        apply_line(kind, &lines[i], &fields);
    }
    end_kind(kind);
    for (uint32_t i = 0; i < KINDS; i++)
        enter_kind(i);
    tide_tables_assign(built.kinds, KINDS);
    build_functions();
}

static struct tide_kind *kinds(void)
{
    pthread_once(&built.once, build_catalogue);
    return built.kinds;
}

const struct tide_kind *tide_events(void)
{
    return kinds();
}

const struct tide_kind *tide_entries(void)
{
    return kinds() + TIDE_EV_COUNT;
}

static const struct tide_kind *find_kind(enum tide_kind_class class, enum tide_role role,
                                         tide_slice name, const struct tide_kind *after)
{
    const struct tide_kind *all = kinds();
    bool passed = after == NULL;
    for (uint32_t slot = slot_of(class, role, name); built.slots[slot];
         slot = (slot + 1) & (SLOTS - 1)) {
        const struct tide_kind *kind = &all[built.slots[slot] - 1];
        if (kind->class == class && kind->role == role && passed &&
            tide_slice_eq_str(name, kind->name))
            return kind;
        passed |= kind == after;
    }
    return NULL;
}

const struct tide_kind *tide_event_find(enum tide_role role, tide_slice name,
                                        const struct tide_kind *after)
{
    return find_kind(TIDE_KIND_EVENT, role, name, after);
}

const struct tide_kind *tide_entry_find(enum tide_role role, tide_slice variant)
{
    return find_kind(TIDE_KIND_ENTRY, role, variant, NULL);
}

const struct tide_kind *tide_instance_find(enum tide_role role)
{
    return find_kind(TIDE_KIND_INSTANCE, role, TIDE_SLICE("instance"), NULL);
}

const char *const *tide_functions(enum tide_role role)
{
    kinds();
    return (const char *const *)built.functions_of[role];
}
