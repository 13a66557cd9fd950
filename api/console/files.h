/* The console's pages, which tools/dashboard builds and the program carries. */
#ifndef API_CONSOLE_FILES_H
#define API_CONSOLE_FILES_H

#include "api/http/reply.h"
#include "api/http/static_files.h"

/* "console.html" only if it was built. */
extern const struct tide_static_file tide_console_files[];
extern const size_t tide_console_file_count;

/* Fills the reply with the file of that name, or with a problem. */
void console_file(struct tide_reply *reply, tide_slice name);

#endif
