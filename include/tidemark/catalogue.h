/* The catalogue as data: what each contract role puts on the ledger. Built once from
 * schema/catalogue/all.def, which says what the lines mean; constant from then on, any thread.
 *
 * Decoding, the tables (table.h), their comments, exports and the simulator's names all follow
 * from it. A new event is one place to edit, and a migration for its table. */
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

/* TIDE_IN_liquidity_pool … : index of tide_instances() */
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
    TIDE_T_TEXT,     /* string that is UTF-8 without NUL; others do not fit   */
    TIDE_T_ENUM_U32, /* int8                                                  */
    TIDE_T_ENUM_SYM, /* [symbol]: text                                        */
    TIDE_T_VEC_SYM,  /* text[]                                                */
    TIDE_T_VEC_ADDR, /* text[]                                                */
    TIDE_T_VEC_U32,  /* int8[]                                                */
    TIDE_T_VEC_U64,  /* numeric[]                                             */
    TIDE_T_ANY,      /* json, as tide_scval_json writes it                    */
};

enum tide_place {
    TIDE_P_TOPIC,
    TIDE_P_TOPIC_OPT, /* may be absent; at most one of an event */
    TIDE_P_DATA,
    TIDE_P_DATA_OPT, /* may be void or absent */
    TIDE_P_SCALAR,   /* the data itself; beside a present DATA_OPT a member of the data map */
    TIDE_P_ITEM,     /* an element of the data vec, in order */
    TIDE_P_KEY,
    TIDE_P_FIELD,
    TIDE_P_SUB,    /* member of a struct inside the value */
    TIDE_P_ACTION, /* not on the ledger: the DAO call data of the field before it, decoded */
    TIDE_P_VALUE,
    TIDE_P_SLOT,
};

struct tide_field {
    const char *column; /* column name */
    const char *name;   /* name on the ledger: member, storage key; topics and keys have none */
    const char *outer;  /* SUB: name of the struct it is in */
    const char *answer_name; /* events: name in answers; NULL: the column in camelCase */
    const char *doc;
    enum tide_type type;
    enum tide_place place;
    bool vec_key;    /* SLOT: the storage key is [symbol] */
    bool is_private; /* a person's jurisdiction */
    bool hidden;     /* events: in the table, in no answer of the API */
    bool is_amount;  /* events: I128 with 7 decimals; answers show it scaled too */
    bool subject;    /* what event.log shows as pool or market */
};

enum tide_kind_class { TIDE_KIND_EVENT, TIDE_KIND_ENTRY, TIDE_KIND_INSTANCE };

#define TIDE_FIELDS_MAX       24u
#define TIDE_KIND_INDEXES_MAX 4u

struct tide_kind {
    enum tide_kind_class class;
    enum tide_role role;
    const char *id;   /* swap, asset_config, instance: the table is <role>_<id> */
    const char *name; /* on the ledger: "swap", "price", "AssetConfig" */
    const char *doc;
    bool temporary; /* entries */
    bool system;    /* host event */
    bool nothing;   /* the data is an empty vec, not an empty map */
    bool by_ledger; /* entries: their history has an index by ledger */
    uint32_t field_count;
    const struct tide_field *fields; /* in the order of the columns */
    const char *indexes[TIDE_KIND_INDEXES_MAX];
    int table;       /* number of event.<…>; entries, instances: of history.<…> */
    int state_table; /* entries, instances: number of state.<…>; else -1 */
};

const struct tide_kind *tide_events(void);    /* TIDE_EV_COUNT of them */
const struct tide_kind *tide_entries(void);   /* TIDE_EN_COUNT */
const struct tide_kind *tide_instances(void); /* TIDE_IN_COUNT */

enum { TIDE_ANSWER_NAME_BYTES = 64 };

/* The name of an event's field in answers: "poolId" of pool_id, unless the catalogue names it. */
void tide_field_answer_name(char out[TIDE_ANSWER_NAME_BYTES], const struct tide_field *field);
/* True when answers write the number as a string: it exceeds 2^53, or is an id or a ledger. */
bool tide_field_is_string(const struct tide_field *field);

/* The first event of that role and name, or NULL. Kinds that share a name (two shapes of one
 * event) are found one after the other: pass the one before as after. */
const struct tide_kind *tide_event_find(enum tide_role role, tide_slice name,
                                        const struct tide_kind *after);
/* The entry of that role whose key begins with the symbol variant, or NULL. */
const struct tide_kind *tide_entry_find(enum tide_role role, tide_slice variant);
/* The instance of that role, or NULL (wallets). */
const struct tide_kind *tide_instance_find(enum tide_role role);
/* True when argument index of that function is a person's jurisdiction. */
bool tide_arg_private(enum tide_role role, tide_slice function, uint32_t index);
/* The public functions of that role's contract, up to NULL; none for wallets. */
const char *const *tide_functions(enum tide_role role);

#endif
