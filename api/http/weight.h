/* Lists in header lines with weights: "gzip;q=0.5, zstd" (RFC 9110, 12.4.2). Pure. */
#ifndef API_HTTP_WEIGHT_H
#define API_HTTP_WEIGHT_H

#include "tidemark/slice.h"

#define TIDE_WEIGHT_MAX   1000
#define TIDE_WEIGHT_WRONG (-1)

/* What stands before the separator, without spaces around it; *text becomes what follows it. */
tide_slice tide_header_cut(tide_slice *text, char separator);
/* Whether the text is that word, of any case. */
bool tide_header_is(tide_slice text, const char *word);
/* Thousandths of a qvalue: "0", "1", "0.5", "0.123", "1.000"; TIDE_WEIGHT_WRONG when it is none. */
int tide_header_weight(tide_slice text);

#endif
