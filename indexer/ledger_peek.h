/* The sequence of a LedgerCloseMeta, read from its first bytes. */
#ifndef TIDEMARK_INDEXER_LEDGER_PEEK_H
#define TIDEMARK_INDEXER_LEDGER_PEEK_H

#include "tidemark/slice.h"

/* 0 when the bytes are no LedgerCloseMeta of a version this build knows. */
uint32_t ledger_peek_sequence(tide_slice lcm);

#endif
