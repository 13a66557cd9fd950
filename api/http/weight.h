/* Lists with weights in header lines: "gzip;q=0.5, zstd" (RFC 9110, 12.4.2). Pure. */
#ifndef API_HTTP_WEIGHT_H
#define API_HTTP_WEIGHT_H

#include "tidemark/slice.h"

#define TIDE_WEIGHT_MAX   1000
#define TIDE_WEIGHT_WRONG (-1)

/* Returns the text before the separator, without surrounding blanks, and leaves in *text what
 * follows it. */
tide_slice tide_header_cut(tide_slice *text, char separator);
/* Returns whether the text is that word, in any case. */
bool tide_header_is(tide_slice text, const char *word);
/* Returns a qvalue in thousandths: "0", "1", "0.5", "0.123", "1.000". Returns TIDE_WEIGHT_WRONG
 * for any other text. */
int tide_header_weight(tide_slice text);

#endif
