/* Functions that make tables and SQL from the catalogue. Private to schema/catalogue. */
#ifndef SCHEMA_CATALOGUE_CATALOGUE_IMPL_H
#define SCHEMA_CATALOGUE_CATALOGUE_IMPL_H

#include "tidemark/catalogue.h"
#include "tidemark/table.h"

/* Builds all tables and writes each kind's table numbers into it. Called once, by the catalogue. */
void tide_tables_assign(struct tide_kind *kinds, uint32_t count);

/* The SQL of chain.event_fields, made by schema/event_fields.py. */
extern const char tide_event_fields_sql[];

#endif
