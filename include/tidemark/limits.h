/* Bounds of what the programs read and store: ledgers, deployment files, lake objects, rows and
 * JSON. Several programs share them. A bound of one module's own loop, buffer or queue stands
 * beside its code as …_MAX, a bound that is a setting in the list of settings. */
#ifndef TIDEMARK_LIMITS_H
#define TIDEMARK_LIMITS_H

#define TIDE_LEDGER_BYTES_MAX (64u << 20) /* one LedgerCloseMeta, decompressed      */
#define TIDE_XDR_DEPTH_MAX    1500u       /* nested types, as stellar-core allows   */
/* Transactions of one ledger: as many as its bytes can hold. The network's own limit is a setting
 * of the network. */
#define TIDE_TXS_PER_LEDGER_MAX (TIDE_LEDGER_BYTES_MAX / 56u)
/* contracts of one deployment: the file's, and discovered tokens */
#define TIDE_CONTRACTS_MAX 6144u
/* discovered tokens that markets name; the DAO makes markets */
#define TIDE_MARKET_TOKENS_MAX   1024u
#define TIDE_FILE_CONTRACTS_MAX  1024u        /* contracts that a deployment file names */
#define TIDE_ACCOUNTS_MAX        4096u        /* named accounts of one deployment       */
#define TIDE_OBJECT_BYTES_MAX    (256u << 20) /* one data-lake object, compressed      */
#define TIDE_ZSTD_WINDOW_LOG_MAX 25           /* decompression window: 32 MiB         */
/* One table's rows in one batch: more than 8 times the largest ledger and the largest batch_mib. */
#define TIDE_TABLE_BYTES_MAX   (1u << 30)
#define TIDE_JSON_BYTES_MAX    (64u << 20) /* one line of JSON output                */
#define TIDE_STORED_JSON_MAX   (64u << 10) /* a JSON column; a longer value stays XDR */
#define TIDE_STORED_JSON_DEPTH 64u         /* nesting depth of a JSON column */
#define TIDE_STORED_JSON_SPARE 64u         /* bytes of a JSON column beyond twice the value's XDR */

#endif
