/* Reads files that contain secrets. The caller wipes the bytes (tide_sign_wipe). */
#ifndef API_BASE_SECRET_H
#define API_BASE_SECRET_H

#include "tidemark/buf.h"

/* Appends a whole file to *out, without its last end of line. TIDE_E_CONFIG names the reason and
 * never contains a part of the file: the path is a symbolic link or no regular file, the file
 * belongs to another user, its mode gives others access, it is empty, or it is larger than the rest
 * of *out. A file below $CREDENTIALS_DIRECTORY may be owned by root and readable through an access
 * list, as systemd provides it. After a failure *out is unchanged. */
tide_status tide_secret_file(struct tide_buf *out, const char *path,
                             struct tide_err *err) TIDE_MUST_USE;
/* Writes the path of a secret's file: the setting, else systemd's credential of that name. Returns
 * false if there is neither, or the path does not fit. */
bool tide_secret_path(char *out, size_t size, const char *setting, const char *credential);

#endif
