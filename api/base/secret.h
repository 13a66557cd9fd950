/* Files that hold secrets. What is read is the caller's to wipe (tide_sign_wipe). */
#ifndef API_BASE_SECRET_H
#define API_BASE_SECRET_H

#include "tidemark/buf.h"

/* A file that holds secrets, whole, appended to *out; one end of line at its end is dropped.
 * Refused, and the message says which: a link, anything but a regular file, of another owner, a
 * mode that lets others at it, empty, larger than what *out may still hold. Under
 * $CREDENTIALS_DIRECTORY systemd's own form will do: root's, readable through an access list.
 * TIDE_E_CONFIG; no message holds any of the file. *out is as it was after a failure. */
tide_status tide_secret_file(struct tide_buf *out, const char *path,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
