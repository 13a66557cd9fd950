/* The catalogue: its lines become kinds and tables that fit together. */
#include "tidemark/catalogue.h"
#include "tidemark/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_name_means_what_its_role_says(void **state)
{
    (void)state;
    const struct tide_kind *pool =
        tide_event_find(TIDE_ROLE_liquidity_pool, TIDE_SLICE("claim"), NULL);
    const struct tide_kind *stability =
        tide_event_find(TIDE_ROLE_stability_pool, TIDE_SLICE("claim"), NULL);
    assert_ptr_equal(pool, &tide_events()[TIDE_EV_liquidity_pool_claim]);
    assert_ptr_equal(stability, &tide_events()[TIDE_EV_stability_pool_claim]);
    assert_null(tide_event_find(TIDE_ROLE_oracle, TIDE_SLICE("claim"), NULL));
    assert_null(tide_event_find(TIDE_ROLE_liquidity_pool, TIDE_SLICE("clai"), NULL));
    assert_null(tide_event_find(TIDE_ROLE_liquidity_pool, TIDE_SLICE("claims"), NULL));
    assert_null(tide_event_find(TIDE_ROLE_liquidity_pool, TIDE_SLICE(""), NULL));
    assert_null(tide_event_find(TIDE_ROLE_wallet, TIDE_SLICE("transfer"), NULL));
}

static void every_kind_is_found_by_its_name(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++) {
        const struct tide_kind *want = &tide_events()[i], *at = NULL;
        tide_slice name = tide_slice_str(want->name);
        do {
            at = tide_event_find(want->role, name, at);
        } while (at && at != want);
        assert_ptr_equal(at, want);
    }
    for (uint32_t i = 0; i < TIDE_EN_COUNT; i++) {
        const struct tide_kind *want = &tide_entries()[i];
        assert_ptr_equal(tide_entry_find(want->role, tide_slice_str(want->name)), want);
    }
}

static void two_shapes_share_the_name_price(void **state)
{
    (void)state;
    const struct tide_kind *first = tide_event_find(TIDE_ROLE_oracle, TIDE_SLICE("price"), NULL);
    assert_non_null(first);
    const struct tide_kind *second = tide_event_find(TIDE_ROLE_oracle, TIDE_SLICE("price"), first);
    assert_non_null(second);
    assert_string_not_equal(first->id, second->id);
    assert_null(tide_event_find(TIDE_ROLE_oracle, TIDE_SLICE("price"), second));
}

/* The host sorts a map by the names of its members. The simulator writes them in the order of the
 * catalogue. */
static void members_stand_in_the_order_of_maps(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++) {
        const struct tide_kind *kind = &tide_events()[i];
        for (uint32_t k = 0; k < kind->form_count; k++) {
            const struct tide_event_form *form = &kind->forms[k];
            for (uint32_t f = 1; f < form->data_count && form->shape == TIDE_SHAPE_MAP; f++) {
                tide_slice before = form->data[f - 1].name, name = form->data[f].name;
                size_t least = before.len < name.len ? before.len : name.len;
                int order = memcmp(before.ptr, name.ptr, least);
                assert_true(order < 0 || (order == 0 && before.len < name.len));
            }
        }
    }
    for (uint32_t i = 0; i < TIDE_EN_COUNT; i++) {
        const struct tide_kind *kind = &tide_entries()[i];
        const char *last = "";
        for (uint32_t f = 0; f < kind->field_count; f++) {
            if (kind->fields[f].place != TIDE_P_FIELD)
                continue;
            assert_true(strcmp(last, kind->fields[f].name) < 0);
            last = kind->fields[f].name;
        }
    }
}

/* An event that two forms fit would have the row of either. */
static void forms_of_an_event_differ(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++) {
        const struct tide_kind *kind = &tide_events()[i];
        assert_in_range(kind->form_count, 1, 9); /* one digit of the column form */
        for (uint32_t k = 0; k < kind->form_count; k++) {
            const struct tide_event_form *form = &kind->forms[k];
            assert_true(form->shape != TIDE_SHAPE_VALUE || form->data_count == 1);
            for (uint32_t j = 0; j < k; j++) {
                bool same = kind->forms[j].shape == form->shape &&
                            kind->forms[j].data_count == form->data_count;
                for (uint32_t f = 0; f < form->data_count && same; f++)
                    same = tide_slice_eq(kind->forms[j].data[f].name, form->data[f].name);
                assert_false(same);
            }
        }
    }
}

static void columns_have_names_of_their_own(void **state)
{
    (void)state;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    assert_int_equal(count, (int)TIDE_TABLE_FIXED_COUNT + (int)TIDE_EV_COUNT +
                                2 * ((int)TIDE_EN_COUNT + (int)TIDE_IN_COUNT));
    for (uint32_t t = 0; t < count; t++) {
        assert_true(strlen(tables[t].name) <= 48); /* and _p999_999999999: PostgreSQL's 63 */
        assert_int_equal(tide_table_find(tables[t].schema, tables[t].name), (int)t);
        for (uint32_t i = 0; i < tables[t].column_count; i++) {
            assert_non_null(tables[t].columns[i].comment);
            for (uint32_t j = 0; j < i; j++)
                assert_string_not_equal(tables[t].columns[i].name, tables[t].columns[j].name);
        }
    }
    assert_int_equal(tide_table_find("state", "no_such"), -1);
}

static void state_and_history_are_pairs(void **state)
{
    (void)state;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t t = 0; t < count; t++) {
        const struct tide_table *a = &tables[t], *b = &tables[a->pair];
        assert_int_equal(b->pair, t);
        assert_string_equal(a->name, b->name);
        if (a->kind != TIDE_TABLE_STATE)
            continue;
        assert_int_equal(b->kind, TIDE_TABLE_HISTORY);
        assert_int_equal(a->column_count + 1, b->column_count);
        for (uint32_t i = 0, j = 0; j < b->column_count; j++) {
            if (strcmp(b->columns[j].name, "removed") == 0)
                continue;
            assert_string_equal(a->columns[i].name, b->columns[j].name);
            assert_int_equal(a->columns[i].type, b->columns[j].type);
            i++;
        }
    }
}

static void jurisdictions_are_private_and_nothing_else_hides(void **state)
{
    (void)state;
    uint32_t count, hidden = 0;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t t = 0; t < count; t++) {
        for (uint32_t i = 0; i < tables[t].column_count; i++) {
            const struct tide_column *c = &tables[t].columns[i];
            if (strcmp(c->name, "jurisdiction") == 0) {
                assert_true(c->is_private);
                hidden++;
            }
        }
    }
    assert_int_equal(hidden, 4); /* ComplianceRec and Kyc, current and history */
}

/* Events of all kinds are rows of one table. No two columns of a kind are in one place, and each has
 * the type of its place. */
static void columns_of_events_have_places_of_their_own(void **state)
{
    (void)state;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    const struct tide_table *stored = tables[TIDE_TABLE_EVENT_LOG].stored;
    for (uint32_t k = 0; k < TIDE_EV_COUNT; k++) {
        const struct tide_table *t = &tables[tide_events()[k].table];
        uint64_t taken = 0;
        assert_ptr_equal(t->stored, stored);
        assert_int_equal(t->number, k + 1);
        for (uint32_t i = 0; i < t->column_count; i++) {
            const struct tide_column *c = &t->columns[i], *place = &stored->columns[c->slot];
            assert_int_equal(place->type, c->keyed ? TIDE_PG_INT4 : c->type);
            assert_int_equal(place->nullable, i >= 7);
            assert_false(taken >> c->slot & 1);
            taken |= UINT64_C(1) << c->slot;
            if (c->also)
                assert_int_equal(stored->columns[c->also].type, TIDE_PG_INT4);
        }
    }
}

/* A call is in the row of its transaction. What the two have under one name is one column only if it
 * is one fact. */
static void a_call_completes_its_transaction(void **state)
{
    (void)state;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    const struct tide_table *tx = &tables[TIDE_TABLE_TX], *call = &tables[TIDE_TABLE_CALL];
    static const char *const both[] = { "deployment", "ledger", "tx", "closed_at", "hash", "ok" };
    assert_ptr_equal(tx->stored, call->stored);
    assert_true(tide_table_owns(tables, TIDE_TABLE_TX) && call->completes);
    assert_false(tide_table_owns(tables, TIDE_TABLE_CALL));
    assert_int_equal(tx->column_count + call->column_count - TIDE_COUNT(both),
                     tx->stored->column_count);
    for (size_t i = 0; i < TIDE_COUNT(both); i++)
        for (uint32_t k = 0; k < call->column_count; k++)
            if (strcmp(call->columns[k].name, both[i]) == 0)
                assert_true(call->columns[k].slot < tx->column_count);
}

/* Events have an index on the first address and one on the second, so a third one could not be
 * found. */
static void no_event_names_three_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_EV_COUNT; i++) {
        const struct tide_kind *kind = &tide_events()[i];
        for (uint32_t k = 0; k < kind->form_count; k++) {
            const struct tide_event_form *form = &kind->forms[k];
            uint32_t addresses = 0;
            for (uint32_t f = 0; f < form->topic_count; f++)
                addresses += kind->fields[form->topics[f].field].type == TIDE_T_ADDR;
            for (uint32_t f = 0; f < form->data_count; f++)
                addresses += kind->fields[form->data[f].field].type == TIDE_T_ADDR;
            assert_in_range(addresses, 0, 2);
        }
    }
}

static void optional_fields_are_the_nullable_columns(void **state)
{
    (void)state;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    const struct tide_table *transfer =
        &tables[tide_events()[TIDE_EV_stellar_asset_transfer].table];
    const struct tide_table *swap = &tables[tide_events()[TIDE_EV_liquidity_pool_swap].table];
    assert_string_equal(swap->name, "liquidity_pool_swap");
    for (uint32_t i = 0; i < swap->column_count; i++)
        assert_false(swap->columns[i].nullable);
    for (uint32_t i = 0; i < transfer->column_count; i++)
        assert_int_equal(transfer->columns[i].nullable,
                         strncmp(transfer->columns[i].name, "to_muxed_id", 11) == 0);
}

static void functions_of_a_role_are_distinct(void **state)
{
    (void)state;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++) {
        const char *const *all = tide_functions((enum tide_role)role);
        assert_true(!all[0] == (role == TIDE_ROLE_wallet));
        for (uint32_t i = 0; all[i]; i++)
            for (uint32_t j = 0; j < i; j++)
                assert_string_not_equal(all[i], all[j]);
    }
}

int test_catalogue(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_means_what_its_role_says),
        cmocka_unit_test(every_kind_is_found_by_its_name),
        cmocka_unit_test(two_shapes_share_the_name_price),
        cmocka_unit_test(members_stand_in_the_order_of_maps),
        cmocka_unit_test(forms_of_an_event_differ),
        cmocka_unit_test(columns_have_names_of_their_own),
        cmocka_unit_test(state_and_history_are_pairs),
        cmocka_unit_test(jurisdictions_are_private_and_nothing_else_hides),
        cmocka_unit_test(columns_of_events_have_places_of_their_own),
        cmocka_unit_test(a_call_completes_its_transaction),
        cmocka_unit_test(no_event_names_three_addresses),
        cmocka_unit_test(optional_fields_are_the_nullable_columns),
        cmocka_unit_test(functions_of_a_role_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
