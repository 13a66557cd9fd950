/* Functions that make tables and SQL from the catalogue. Private to schema/catalogue. */
#ifndef SCHEMA_CATALOGUE_CATALOGUE_IMPL_H
#define SCHEMA_CATALOGUE_CATALOGUE_IMPL_H

#include "tidemark/catalogue.h"
#include "tidemark/table.h"

/* Builds all tables and writes each kind's table numbers into it. Called once, by the catalogue. */
void tide_tables_assign(struct tide_kind *kinds, uint32_t count);

/* Writes the SQL of chain.event_fields. */
void tide_event_fields_write_sql(FILE *out);

#endif
