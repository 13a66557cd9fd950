/* Bounds that several programs share and that no type owns. A bound (…_MAX) that belongs to one
 * type or call stands in the header that declares it and names it; one that a single file uses
 * stands in this file. tools/check/limits proves both. A bound that is a setting stands in the list
 * of settings. */
#ifndef TIDEMARK_LIMITS_H
#define TIDEMARK_LIMITS_H

#define TIDE_LEDGER_BYTES_MAX (64u << 20) /* one LedgerCloseMeta, decompressed */
#define TIDE_JSON_BYTES_MAX   (64u << 20) /* one line of JSON output           */

#endif
