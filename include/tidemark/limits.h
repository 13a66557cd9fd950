/* Every bound in the system, in one place, with its unit in its name. A loop,
 * a buffer or a queue that has no line here is a bug. */
#ifndef TIDEMARK_LIMITS_H
#define TIDEMARK_LIMITS_H

#define TIDE_LEDGER_BYTES_MAX    (64u << 20) /* one LedgerCloseMeta, decompressed      */
#define TIDE_XDR_DEPTH_MAX       1500u       /* nested types, as stellar-core allows   */
#define TIDE_SCVAL_DEPTH_MAX     500u        /* the contract host's own limit          */
#define TIDE_TXS_PER_LEDGER_MAX  100000u     /* more is refused, never cut             */
#define TIDE_EVENTS_PER_OP_MAX   100000u
#define TIDE_CONTRACTS_MAX       5120u /* of one deployment: the file's, and discovered tokens */
#define TIDE_FILE_CONTRACTS_MAX  1024u /* contracts that a deployment file names */
#define TIDE_ACCOUNTS_MAX        4096u /* named accounts of one deployment       */
#define TIDE_OBJECT_BYTES_MAX    (256u << 20) /* one data-lake object, compressed      */
#define TIDE_ZSTD_WINDOW_LOG_MAX 25           /* decompression window: 32 MiB         */
#define TIDE_TABLE_BYTES_MAX     (256u << 20) /* one table's rows in one batch         */
#define TIDE_JSON_BYTES_MAX      (64u << 20)  /* one line of JSON output                */
#define TIDE_STORED_JSON_MAX     (64u << 10)  /* a JSON column; a longer value stays XDR */
#define TIDE_STORED_JSON_DEPTH   64u          /* its nested values                      */
#define TIDE_STORED_JSON_SPARE   64u          /* its bytes beyond twice the value's XDR */

#endif
