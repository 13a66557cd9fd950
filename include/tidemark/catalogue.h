/* The catalogue as data: what each contract role writes to the ledger. It is built once from
 * schema/catalogue/all.def, which explains the lines. It is constant afterwards; any thread may
 * read.
 *
 * Decoding, the tables (table.h), their comments, exports and the simulator's names all follow from
 * it. A new event is a change in one place, and a migration for its table. */
#ifndef TIDEMARK_CATALOGUE_H
#define TIDEMARK_CATALOGUE_H

#include "tidemark/deployment.h"
#include "tidemark/slice.h"

/* TIDE_EV_liquidity_pool_swap … : index of tide_events() */
enum tide_event_id {
#define TIDE_EVENT(role, id, name, doc) TIDE_EV_##role##_##id,
#include "schema/catalogue/all.def"
    TIDE_EV_COUNT
};

/* TIDE_EN_liquidity_pool_pool … : index of tide_entries() */
enum tide_entry_id {
#define TIDE_ENTRY(role, id, variant, durability, doc) TIDE_EN_##role##_##id,
#include "schema/catalogue/all.def"
    TIDE_EN_COUNT
};

/* TIDE_IN_liquidity_pool … : the instances of all roles that have one */
enum tide_instance_id {
#define TIDE_INSTANCE(role, doc) TIDE_IN_##role,
#include "schema/catalogue/all.def"
    TIDE_IN_COUNT
};

enum tide_type {
    TIDE_T_BOOL,
    TIDE_T_U32,      /* int8                                                  */
    TIDE_T_U64,      /* numeric(20,0)                                         */
    TIDE_T_I128,     /* numeric(39,0)                                         */
    TIDE_T_SYM,      /* text                                                  */
    TIDE_T_ADDR,     /* text: strkey                                          */
    TIDE_T_BYTES,    /* bytea                                                 */
    TIDE_T_B32,      /* bytea of 32                                           */
    TIDE_T_STR,      /* string, any bytes: bytea                              */
    TIDE_T_TEXT,     /* string that is UTF-8 without NUL; other strings are stored raw */
    TIDE_T_ENUM_U32, /* int8                                                  */
    TIDE_T_ENUM_SYM, /* [symbol]: text                                        */
    TIDE_T_VEC_SYM,  /* text[]                                                */
    TIDE_T_VEC_ADDR, /* text[]                                                */
    TIDE_T_VEC_U32,  /* int8[]                                                */
    TIDE_T_VEC_U64,  /* numeric[]                                             */
    TIDE_T_ANY,      /* json, as tide_scval_json writes it                    */
    TIDE_T_MUXED,    /* the same, of a u64, a string or bytes                 */
};

enum tide_place {
    TIDE_P_TOPIC,
    TIDE_P_TOPIC_OPT, /* may be absent */
    TIDE_P_DATA,
    TIDE_P_DATA_OPT, /* may be void or absent */
    /* the whole data; if a DATA_OPT beside it is present, a member of the data map */
    TIDE_P_TYPE, /* not on the ledger: the type of the DATA_OPT before it */
    TIDE_P_KEY,
    TIDE_P_FIELD,
    TIDE_P_SUB,    /* member of a struct inside the value */
    TIDE_P_ACTION, /* not on the ledger: the decoded DAO call data of the field before it */
    TIDE_P_VALUE,
    TIDE_P_SLOT,
};

struct tide_field {
    const char *column; /* column name */
    const char *name;   /* name on the ledger: member or storage key; NULL for topics and keys */
    const char *outer;  /* SUB: name of the struct that contains it */
    const char *doc;
    enum tide_type type;
    enum tide_place place;
    bool vec_key;    /* SLOT: the storage key is [symbol] */
    bool is_private; /* a person's jurisdiction */
    bool subject;    /* event.log shows this field as pool or market */
};

/* How an event's data is written: a map of its fields, the one field alone, a vec in order. */
enum tide_shape { TIDE_SHAPE_MAP, TIDE_SHAPE_VALUE, TIDE_SHAPE_VEC };

#define TIDE_PARTS_MAX 20u

/* A field in a topic or in the data of a form. */
struct tide_part {
    uint32_t field;
    bool optional;
    tide_slice name; /* data: its name in the map */
};

/* A form in which an event is written. */
struct tide_event_form {
    enum tide_shape shape;
    uint32_t topic_count, data_count;
    struct tide_part topics[TIDE_PARTS_MAX]; /* behind the event's name, in order */
    struct tide_part data[TIDE_PARTS_MAX];
};

enum tide_kind_class { TIDE_KIND_EVENT, TIDE_KIND_ENTRY, TIDE_KIND_INSTANCE };

#define TIDE_FIELDS_MAX       24u
#define TIDE_KIND_INDEXES_MAX 5u

struct tide_kind {
    enum tide_kind_class class;
    enum tide_role role;
    const char *id;   /* swap, asset_config, instance: the table is <role>_<id> */
    const char *name; /* on the ledger: "swap", "price", "AssetConfig" */
    const char *doc;
    bool temporary;        /* entries */
    bool system;           /* host event */
    enum tide_shape shape; /* events: of the data, if no form is named */
    /* events: the forms in which it may be written, at least one. With several of them the table
     * has the column form behind the fields */
    const struct tide_event_form *forms;
    uint32_t form_count;
    bool by_ledger; /* entries: the history table has an index by ledger */
    bool packed;    /* entries: versions of a key in a ledger share a stored row */
    uint32_t field_count;
    const struct tide_field *fields; /* in the order of the columns */
    const char *indexes[TIDE_KIND_INDEXES_MAX];
    int table;       /* index of event.<…>; of entries and instances, of history.<…> */
    int state_table; /* entries, instances: index of state.<…>; else -1 */
};

const struct tide_kind *tide_events(void);  /* TIDE_EV_COUNT of them */
const struct tide_kind *tide_entries(void); /* TIDE_EN_COUNT */

/* Returns the first event of that role and name after `after` (NULL: the first), or NULL. Two
 * shapes of one event share a name: pass the first one as after to get the second. */
const struct tide_kind *tide_event_find(enum tide_role role, tide_slice name,
                                        const struct tide_kind *after);
/* Returns the entry of that role whose key begins with the symbol variant, or NULL. */
const struct tide_kind *tide_entry_find(enum tide_role role, tide_slice variant);
/* Returns the instance of that role, or NULL (wallets). */
const struct tide_kind *tide_instance_find(enum tide_role role);
/* Returns the public functions of that role's contract, ended by NULL; none for wallets. */
const char *const *tide_functions(enum tide_role role);

#endif
